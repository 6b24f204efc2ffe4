//===- ExactFunctions.cpp - correctly rounded functions, by MPFR ------------------------------===//
//
// Formulas stand as in the instruction table, rewritten only where they would cancel. Precision
// covers the smallest denormals: 1 + x needs 149 + 24 bits there.
//
//===------------------------------------------------------------------------------------------===//

#include "ExactFunctions.h"

#include <cmath>
#include <cstring>
#include <mpfr.h>
#include <random>

using kiln::isa::ActFn;

namespace kilnrt::test {
namespace {

/// A number of MPFR with the operators the formulas need.
class Real {
public:
  /// Bits of every number made from now on.
  static inline mpfr_prec_t precision = 480;

  Real(double d = 0) {
    mpfr_init2(value, precision);
    mpfr_set_d(value, d, MPFR_RNDN);
  }
  static Real decimal(const char *text) {
    Real r;
    mpfr_set_str(r.value, text, 10, MPFR_RNDN);
    return r;
  }
  Real(const Real &other) {
    mpfr_init2(value, precision);
    mpfr_set(value, other.value, MPFR_RNDN);
  }
  Real &operator=(const Real &other) {
    mpfr_set(value, other.value, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value); }

  float toFloat() const { return mpfr_get_flt(value, MPFR_RNDN); }

  mpfr_t value;
};

#define KILN_BINARY(op, fn)                                                                        \
  Real operator op(const Real &a, const Real &b) {                                                 \
    Real r;                                                                                        \
    fn(r.value, a.value, b.value, MPFR_RNDN);                                                      \
    return r;                                                                                      \
  }
KILN_BINARY(+, mpfr_add)
KILN_BINARY(-, mpfr_sub)
KILN_BINARY(*, mpfr_mul)
KILN_BINARY(/, mpfr_div)
#undef KILN_BINARY

#define KILN_UNARY(name, fn)                                                                       \
  Real name(const Real &a) {                                                                       \
    Real r;                                                                                        \
    fn(r.value, a.value, MPFR_RNDN);                                                               \
    return r;                                                                                      \
  }
KILN_UNARY(expOf, mpfr_exp)
KILN_UNARY(logOf, mpfr_log)
KILN_UNARY(logOnePlus, mpfr_log1p)
KILN_UNARY(sinOf, mpfr_sin)
KILN_UNARY(atanOf, mpfr_atan)
KILN_UNARY(tanhOf, mpfr_tanh)
KILN_UNARY(erfOf, mpfr_erf)
KILN_UNARY(erfcOf, mpfr_erfc)
#undef KILN_UNARY

Real sqrtOf(const Real &a) {
  Real r;
  mpfr_sqrt(r.value, a.value, MPFR_RNDN);
  return r;
}
Real pi() {
  Real r;
  mpfr_const_pi(r.value, MPFR_RNDN);
  return r;
}

/// Lower tail of the normal distribution.
Real phi(const Real &x) { return erfcOf(Real(0) - x / sqrtOf(2)) / 2; }
Real density(const Real &x) { return expOf(Real(0) - x * x / 2) / sqrtOf(Real(2) * pi()); }
Real sigmoid(const Real &w) { return Real(1) / (Real(1) + expOf(Real(0) - w)); }

Real sinOrCubic(float f, const Real &x) {
  const float high = 0x1.921fb6p+1f;
  if (std::fabs(f) <= high)
    return sinOf(x);
  const Real d = f > 0 ? x - pi() : x + pi();
  return d * (d * d / 6 - 1);
}

/// The formula of `fn` at a finite x.
Real formula(ActFn fn, float f) {
  const Real x(f);
  switch (fn) {
  case ActFn::Copy:
    return x;
  case ActFn::Square:
    return x * x;
  case ActFn::Sigmoid:
    return sigmoid(x);
  case ActFn::Relu:
    return f > 0 ? x : Real(0);
  case ActFn::Gelu:
    return x * phi(x);
  case ActFn::GeluDx:
    return phi(x) + x * density(x);
  case ActFn::GeluApprxTanh:
    return x *
           sigmoid(Real(2) * sqrtOf(Real(2) / pi()) * (x + Real::decimal("0.044715") * x * x * x));
  case ActFn::GeluApprxSigmoid:
    return x * sigmoid(Real::decimal("1.702") * x);
  case ActFn::GeluApprxSigmoidDx: {
    const Real w = Real::decimal("1.702") * x, s = sigmoid(w);
    return s + w * s * sigmoid(Real(0) - w);
  }
  case ActFn::Silu:
    return x * sigmoid(x);
  case ActFn::SiluDx:
    return sigmoid(x) * (Real(1) + x * sigmoid(Real(0) - x));
  case ActFn::Tanh:
    return tanhOf(x);
  case ActFn::Softplus:
    return f > 0 ? x + logOnePlus(expOf(Real(0) - x)) : logOnePlus(expOf(x));
  case ActFn::Mish: {
    const Real t = expOf(x), n = t * (t + 2);
    return x * n / (n + 2);
  }
  case ActFn::Erf:
    return erfOf(x);
  case ActFn::ErfDx:
    return Real(2) / sqrtOf(pi()) * expOf(Real(0) - x * x);
  case ActFn::Exp:
    return expOf(x);
  case ActFn::Log:
    return logOf(x);
  case ActFn::Sin:
    return sinOrCubic(f, x);
  case ActFn::Arctan:
    return atanOf(x);
  case ActFn::Sqrt:
    return sqrtOf(x);
  case ActFn::Rsqrt:
    return Real(1) / sqrtOf(x);
  case ActFn::Reciprocal:
    return Real(1) / x;
  case ActFn::Sign:
    return Real(f > 0 ? 1 : f < 0 ? -1 : 0);
  case ActFn::Abs:
    return Real(std::fabs(f));
  }
  return Real(0);
}

/// Limits at the infinities, zeros whose sign MPFR's formulas lose, and ranges so far out that the
/// formula would be slow.
float limitOrFormula(ActFn fn, float x) {
  const float infinity = HUGE_VALF;
  switch (fn) {
  case ActFn::Gelu:
  case ActFn::GeluApprxTanh:
  case ActFn::GeluApprxSigmoid:
  case ActFn::Silu:
  case ActFn::Mish:
    if (x == 0.0f || x > 1000.0f)
      return x;
    if (x < -1000.0f)
      return -0.0f;
    break;
  case ActFn::GeluDx:
  case ActFn::GeluApprxSigmoidDx:
  case ActFn::SiluDx:
    if (x < -1000.0f)
      return -0.0f;
    if (x > 1000.0f)
      return 1.0f;
    break;
  case ActFn::Sigmoid:
    if (std::fabs(x) > 1000.0f)
      return x > 0 ? 1.0f : 0.0f;
    break;
  case ActFn::Softplus:
    if (std::fabs(x) > 1000.0f)
      return x > 0 ? x : 0.0f;
    break;
  case ActFn::Erf:
  case ActFn::Tanh:
    if (std::fabs(x) > 1000.0f)
      return x > 0 ? 1.0f : -1.0f;
    break;
  case ActFn::ErfDx:
    if (std::fabs(x) > 1000.0f)
      return 0.0f;
    break;
  case ActFn::Sin:
    if (std::isinf(x) || x == 0.0f)
      return x;
    break;
  case ActFn::Arctan:
    if (std::isinf(x))
      return (x > 0 ? pi() / 2 : Real(0) - pi() / 2).toFloat();
    break;
  case ActFn::Reciprocal:
  case ActFn::Rsqrt:
    if (x == 0.0f)
      return std::copysign(infinity, x);
    if (std::isinf(x) && (fn == ActFn::Reciprocal || x > 0))
      return std::copysign(0.0f, x);
    break;
  case ActFn::Copy:
  case ActFn::Sqrt:
    if (std::isinf(x) && x > 0)
      return x;
    break;
  default:
    break;
  }
  return formula(fn, x).toFloat();
}

float canonicalNan(float x) { return std::isnan(x) ? floatOf(0x7FC00000u) : x; }

} // namespace

float exactActivation(ActFn fn, float x) {
  Real::precision = std::fabs(x) < 0x1p-20f ? 480 : 200;
  return canonicalNan(std::isnan(x) ? x : limitOrFormula(fn, x));
}

float exactPower(float x, float y) {
  Real::precision = 480;
  Real r;
  // MPFR follows the C standard's special cases and rounds correctly at any precision; 480 bits
  // hold every exact or tied result, so the second rounding is safe.
  mpfr_pow(r.value, Real(x).value, Real(y).value, MPFR_RNDN);
  return canonicalNan(r.toFloat());
}

uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

std::string describe(float x) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%08x (%.9g)", bitsOf(x), double(x));
  return text;
}

std::vector<float> specialFloats() {
  std::vector<uint32_t> centres = {0x00000000, 0x00000004, 0x00400000, 0x007FFFFF, 0x00800000,
                                   0x01000000, 0x7F7FFFFE, 0x7F800000, 0x7FC00000, 0x40490FDB,
                                   0x3FC90FDB, 0x3F490FDB, 0x40C90FDB, 0x42B17218, 0x42CFF1B5};
  for (int exponent = -140; exponent < 128; exponent += 3)
    centres.push_back(bitsOf(std::ldexp(1.0f, exponent)));
  for (float f :
       {1.5f, 3.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 10.0f, 12.0f, 14.0f, 20.0f, 88.0f, 104.0f})
    centres.push_back(bitsOf(f));
  std::vector<float> result;
  for (uint32_t centre : centres)
    for (uint32_t offset : {-3u, -2u, -1u, 0u, 1u, 2u, 3u})
      for (uint32_t sign : {0u, 0x80000000u})
        result.push_back(floatOf(((centre + offset) & 0x7FFFFFFFu) | sign));
  return result;
}

std::vector<float> randomFloats(uint32_t seed, size_t count) {
  std::mt19937 generator(seed);
  std::vector<float> result(count);
  for (float &x : result)
    x = floatOf(uint32_t(generator()));
  return result;
}

std::vector<ActFn> allActivations() {
  std::vector<ActFn> result;
  for (const kiln::isa::EnumCase &entry : kiln::isa::actFnCases())
    result.push_back(ActFn(entry.value));
  return result;
}

} // namespace kilnrt::test
