//===- ReferenceFunctions.cpp - the functions of the engines by MPFR --------------------------===//
//
// Each is evaluated with far more digits than an fp32 number has and rounded once. Formulas that
// would cancel are written another way with the same value.
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceNumbers.h"

#include <bit>
#include <cmath>
#include <limits>
#include <mpfr.h>

namespace kiln::reference {

using isa::ActFn;

namespace {

/// Digits that a result keeps, and those it may lose near the zero of a derivative.
constexpr int kDigits = 110;

/// A number of MPFR that frees itself.
class Real {
public:
  explicit Real(mpfr_prec_t digits) { mpfr_init2(v, digits); }
  Real(const Real &) = delete;
  Real &operator=(const Real &) = delete;
  ~Real() { mpfr_clear(v); }
  operator mpfr_ptr() { return v; }

private:
  mpfr_t v;
};

/// The fp32 number nearest to `x`: cut off to a double that is odd if anything was cut off, which
/// then rounds as `x` itself.
Single nearest(mpfr_ptr x) {
  if (mpfr_nan_p(x))
    return kNaN;
  double cut = mpfr_get_d(x, MPFR_RNDZ);
  if (std::isfinite(cut) && mpfr_cmp_d(x, cut) != 0)
    cut = std::bit_cast<double>(std::bit_cast<uint64_t>(cut) | 1);
  return rounded(cut);
}

/// What the formulas share: the argument and numbers of one length.
class Evaluation {
public:
  explicit Evaluation(double x, mpfr_prec_t digits)
      : digits(digits), x(digits), r(digits), s(digits), t(digits) {
    mpfr_set_d(this->x, x, MPFR_RNDN);
  }

  Single of(ActFn fn);
  /// The result of `of` has left even the range of MPFR: it is too small.
  bool hasUnderflowed() { return mpfr_zero_p(r); }

private:
  /// to = 1 / (1 + exp(-a)).
  void sigmoid(mpfr_ptr to, mpfr_ptr a) {
    mpfr_neg(to, a, MPFR_RNDN);
    mpfr_exp(to, to, MPFR_RNDN);
    mpfr_add_ui(to, to, 1, MPFR_RNDN);
    mpfr_ui_div(to, 1, to, MPFR_RNDN);
  }
  /// to = a times a decimal number of the table, which means just that decimal number.
  void times(mpfr_ptr to, mpfr_ptr a, const char *decimal) {
    Real factor(digits);
    mpfr_set_str(factor, decimal, 10, MPFR_RNDN);
    mpfr_mul(to, a, factor, MPFR_RNDN);
  }
  /// to = Phi(x) = erfc(-x / sqrt(2)) / 2.
  void normal(mpfr_ptr to) {
    mpfr_sqrt_ui(to, 2, MPFR_RNDN);
    mpfr_div(to, x, to, MPFR_RNDN);
    mpfr_neg(to, to, MPFR_RNDN);
    mpfr_erfc(to, to, MPFR_RNDN);
    mpfr_div_2ui(to, to, 1, MPFR_RNDN);
  }
  /// to = exp(-x * x / 2) / sqrt(2 pi).
  void density(mpfr_ptr to) {
    Real root(digits);
    mpfr_const_pi(root, MPFR_RNDN);
    mpfr_mul_2ui(root, root, 1, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_sqr(to, x, MPFR_RNDN);
    mpfr_div_2ui(to, to, 1, MPFR_RNDN);
    mpfr_neg(to, to, MPFR_RNDN);
    mpfr_exp(to, to, MPFR_RNDN);
    mpfr_div(to, to, root, MPFR_RNDN);
  }
  /// r = s + a * s * (1 - s) with s the sigmoid of a: both derivatives of a sigmoid times x.
  void sigmoidSlope(mpfr_ptr a) {
    sigmoid(s, a);
    mpfr_neg(t, a, MPFR_RNDN);
    sigmoid(r, t); // 1 - s
    mpfr_mul(r, r, s, MPFR_RNDN);
    mpfr_mul(r, r, a, MPFR_RNDN);
    mpfr_add(r, r, s, MPFR_RNDN);
  }
  void geluTanh();
  void mish();
  void sine();

  mpfr_prec_t digits;
  Real x, r, s, t;
};

/// x/2 * (1 + tanh(u)) is x * sigmoid(2 u).
void Evaluation::geluTanh() {
  mpfr_sqr(s, x, MPFR_RNDN);
  mpfr_mul(s, s, x, MPFR_RNDN);
  times(s, s, "0.044715");
  mpfr_add(s, s, x, MPFR_RNDN);
  mpfr_const_pi(t, MPFR_RNDN);
  mpfr_ui_div(t, 2, t, MPFR_RNDN);
  mpfr_sqrt(t, t, MPFR_RNDN);
  mpfr_mul(s, s, t, MPFR_RNDN);
  mpfr_mul_2ui(s, s, 1, MPFR_RNDN);
  sigmoid(r, s);
  mpfr_mul(r, r, x, MPFR_RNDN);
}

/// tanh(ln(1 + e)) is q / (q + 2) with q = e * (e + 2).
void Evaluation::mish() {
  if (mpfr_cmp_d(x, 200) > 0) { // the rest is below 2^-500, and e * e may be infinite
    mpfr_set(r, x, MPFR_RNDN);
    mpfr_nextbelow(r);
    return;
  }
  mpfr_exp(s, x, MPFR_RNDN);
  mpfr_add_ui(t, s, 2, MPFR_RNDN);
  mpfr_mul(s, s, t, MPFR_RNDN);
  mpfr_add_ui(t, s, 2, MPFR_RNDN);
  mpfr_div(r, s, t, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
}

/// The sine in the domain of the table, outside it the cubic about the nearer pi.
void Evaluation::sine() {
  const isa::ActFnInfo &info = isa::info(ActFn::Sin);
  if (mpfr_cmp_d(x, info.low) >= 0 && mpfr_cmp_d(x, info.high) <= 0) {
    mpfr_sin(r, x, MPFR_RNDN);
    return;
  }
  mpfr_const_pi(t, MPFR_RNDN);
  if (mpfr_cmp_d(x, 0) > 0)
    mpfr_neg(t, t, MPFR_RNDN);
  mpfr_add(t, x, t, MPFR_RNDN); // d
  mpfr_sqr(s, t, MPFR_RNDN);
  mpfr_mul(s, s, t, MPFR_RNDN);
  mpfr_div_ui(s, s, 6, MPFR_RNDN);
  mpfr_sub(r, s, t, MPFR_RNDN);
}

Single Evaluation::of(ActFn fn) {
  switch (fn) {
  case ActFn::Sigmoid:
    sigmoid(r, x);
    break;
  case ActFn::Gelu:
    normal(r);
    mpfr_mul(r, r, x, MPFR_RNDN);
    break;
  case ActFn::GeluDx:
    normal(s);
    density(t);
    mpfr_mul(t, t, x, MPFR_RNDN);
    mpfr_add(r, s, t, MPFR_RNDN);
    break;
  case ActFn::GeluApprxTanh:
    geluTanh();
    break;
  case ActFn::GeluApprxSigmoid:
    times(s, x, "1.702");
    sigmoid(r, s);
    mpfr_mul(r, r, x, MPFR_RNDN);
    break;
  case ActFn::GeluApprxSigmoidDx: {
    Real a(digits);
    times(a, x, "1.702");
    sigmoidSlope(a);
    break;
  }
  case ActFn::Silu:
    sigmoid(r, x);
    mpfr_mul(r, r, x, MPFR_RNDN);
    break;
  case ActFn::SiluDx:
    sigmoidSlope(x);
    break;
  case ActFn::Tanh:
    mpfr_tanh(r, x, MPFR_RNDN);
    break;
  case ActFn::Softplus:
    mpfr_exp(r, x, MPFR_RNDN);
    mpfr_log1p(r, r, MPFR_RNDN);
    if (mpfr_inf_p(r)) // exp left the range of MPFR; the rest is nothing
      mpfr_set(r, x, MPFR_RNDN);
    break;
  case ActFn::Mish:
    mish();
    break;
  case ActFn::Erf:
    mpfr_erf(r, x, MPFR_RNDN);
    break;
  case ActFn::ErfDx:
    mpfr_sqr(s, x, MPFR_RNDN);
    mpfr_neg(s, s, MPFR_RNDN);
    mpfr_exp(s, s, MPFR_RNDN);
    mpfr_const_pi(t, MPFR_RNDN);
    mpfr_sqrt(t, t, MPFR_RNDN);
    mpfr_ui_div(t, 2, t, MPFR_RNDN);
    mpfr_mul(r, s, t, MPFR_RNDN);
    break;
  case ActFn::Exp:
    mpfr_exp(r, x, MPFR_RNDN);
    break;
  case ActFn::Log:
    mpfr_log(r, x, MPFR_RNDN);
    break;
  case ActFn::Sin:
    sine();
    break;
  case ActFn::Arctan:
    mpfr_atan(r, x, MPFR_RNDN);
    break;
  case ActFn::Sqrt:
    mpfr_sqrt(r, x, MPFR_RNDN);
    break;
  default:
    mpfr_set_nan(r);
    break;
  }
  return nearest(r);
}

/// The limit of a function at an infinity, which its formula does not always have.
Single limitOf(ActFn fn, bool isPlus) {
  switch (fn) {
  case ActFn::Gelu:
  case ActFn::GeluApprxTanh:
  case ActFn::GeluApprxSigmoid:
  case ActFn::Silu:
  case ActFn::Mish:
    return isPlus ? kInfinity : Single(0x80000000); // from below
  case ActFn::GeluDx:
  case ActFn::GeluApprxSigmoidDx:
  case ActFn::SiluDx:
    return isPlus ? kOne : Single(0x80000000); // from below
  case ActFn::Sigmoid:
    return isPlus ? kOne : kZero;
  case ActFn::Softplus:
    return isPlus ? kInfinity : kZero;
  case ActFn::ErfDx:
    return kZero;
  case ActFn::Sin: // of the cubic
    return isPlus ? kInfinity : kMinusInfinity;
  default:
    return kNaN;
  }
}

bool hasLimit(ActFn fn) { return limitOf(fn, true) != kNaN; }

} // namespace

Single applyFunction(ActFn fn, Single x) {
  if (isNaN(x))
    return kNaN;
  double value = valueOf(x);
  switch (fn) {
  case ActFn::Copy:
    return x;
  case ActFn::Square:
    return multiply(x, x);
  case ActFn::Relu:
    return value > 0 ? x : kZero;
  case ActFn::Abs:
    return x & 0x7FFFFFFF;
  case ActFn::Sign:
    return value > 0 ? kOne : value < 0 ? kOne | 0x80000000 : kZero;
  case ActFn::Reciprocal:
    return divide(kOne, x);
  case ActFn::Rsqrt:
    return reciprocalRoot(x);
  default:
    break;
  }
  if (std::isinf(value) && hasLimit(fn))
    return limitOf(fn, value > 0);
  // A tiny argument's own digits stand far behind the leading ones of 1 + x and the like.
  int exponent = value == 0 || std::isinf(value) ? 0 : std::ilogb(value);
  Evaluation evaluation(value, kDigits + 2 * std::max(0, -exponent));
  Single result = evaluation.of(fn);
  if (evaluation.hasUnderflowed() && value != 0 && hasLimit(fn))
    return limitOf(fn, value > 0); // with the sign it comes near 0 with
  return result;
}

Single reciprocalRoot(Single x) {
  double value = valueOf(x);
  if (value == 0) // 1 / sqrt(-0) is 1 / -0
    return divide(kOne, x);
  Real r(kDigits);
  mpfr_set_d(r, value, MPFR_RNDN);
  mpfr_rec_sqrt(r, r, MPFR_RNDN);
  return nearest(r);
}

Single power(Single x, Single y) {
  // An exact power of two fp32 numbers that lies in the middle of two has at most 25 digits, so
  // MPFR, which rounds correctly, gives it exactly.
  Real base(kDigits), exponent(kDigits);
  mpfr_set_d(base, valueOf(x), MPFR_RNDN);
  mpfr_set_d(exponent, valueOf(y), MPFR_RNDN);
  mpfr_pow(base, base, exponent, MPFR_RNDN);
  return nearest(base);
}

} // namespace kiln::reference
