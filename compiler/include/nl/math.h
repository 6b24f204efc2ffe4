//===- math.h - functions of whole tensors ----------------------------------------------------===//
//
// The third way to write a kernel: math on tensors of any static shape. The compiler cuts them into
// tiles, chooses layouts, fuses and schedules.
//
//   nl::Tensor attention(nl::Tensor q, nl::Tensor k, nl::Tensor v, float scale) {
//     return nl::matmul(nl::softmax(nl::matmul(q, k, {.transpose_y = true}) * scale), v);
//   }
//
// The result of such a function is a *value*: rank 1 to 5, no memory, never written to. Operands
// are values, numbers, and tensors in memory (parameters, nl::ndarray on chip or in HBM), of which
// the call takes a snapshot: what the kernel writes to them later does not change the value. A
// value becomes memory
//   - when it is returned: a fresh tensor in shared HBM;
//   - by nl::store(dst, value), dst in HBM or on chip;
//   - as an input of a nisa:: function: the compiler fills an SBUF tile (T-05 when it does not
//   fit).
// nisa:: functions never write a value (T-04).
//
// dtypes. Everything computes in float32, each operation rounded on its own, and the result is
// float32 unless `.dtype` says otherwise: that rounds once, to nearest even. Other roundings are at
// nl::cast, at a 16-bit operand of nl::matmul, at nl::store and at a return, nowhere else, so what
// the compiler fuses never changes a bit. What only moves elements (transpose, reshape, subscripts,
// concatenate, pad) keeps the dtype. Two operands of int32 or uint32 are combined exactly where
// `.dtype` is that type too; functions of one operand, reductions and other integers go through
// float32.
//
// A value that is returned gets the dtype its last `.dtype` or nl::cast said; otherwise that of the
// float tensors it was computed from when they agree (all bfloat16: bfloat16), and float32 when
// they do not. Numbers and integers have no say in that.
//
// Shapes broadcast as in NumPy: dims count from the last, extents are equal or 1 (T-01). Subscripts
// and view methods of a value make new values; any dim may be sliced, stepped, permuted, repeated.
//
// Values cannot be computed inside nl::affine_for (T-08).
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_MATH_H
#define NL_MATH_H

#include "nl/isa.h"

namespace nl {

//---- arithmetic and comparisons -----------------------------------------===//
// Functions of one and two operands are those of nl/operators.h, called: nl::exp(x), nl::gelu(x),
// nl::maximum(x, y), nl::equal(x, 0), nl::logical_and(p, q). Comparisons and logic give 1 and 0.

inline Tensor operator+(const Term &x, const Term &y) { return add(x, y, {}, x.loc); }
inline Tensor operator-(const Term &x, const Term &y) { return subtract(x, y, {}, x.loc); }
inline Tensor operator*(const Term &x, const Term &y) { return multiply(x, y, {}, x.loc); }
/// x times reciprocal(y); for a number y times 1 / y, rounded to float32. There is no division.
Tensor operator/(const Term &x, const Term &y);
inline Tensor operator<(const Term &x, const Term &y) { return less(x, y, {}, x.loc); }
inline Tensor operator<=(const Term &x, const Term &y) { return less_equal(x, y, {}, x.loc); }
inline Tensor operator>(const Term &x, const Term &y) { return greater(x, y, {}, x.loc); }
inline Tensor operator>=(const Term &x, const Term &y) { return greater_equal(x, y, {}, x.loc); }
inline Tensor operator==(const Term &x, const Term &y) { return equal(x, y, {}, x.loc); }
inline Tensor operator!=(const Term &x, const Term &y) { return not_equal(x, y, {}, x.loc); }

/// x times -1.
Tensor negative(const Term &x, const MathOptions &options = {}, SrcLoc loc = SrcLoc::current());
inline Tensor operator-(const Term &x) { return negative(x, {}, x.loc); }
/// 1 where x is 0, else 0.
Tensor logical_not(const Term &x, const MathOptions &options = {}, SrcLoc loc = SrcLoc::current());
/// Where cond is not 0 the element of x, else that of y, bits unchanged when both have one dtype
/// (which the result then has). Checks T-01.
Tensor where(const Term &cond, const Term &x, const Term &y, const MathOptions &options = {},
             SrcLoc loc = SrcLoc::current());
/// x in another dtype: to nearest even; to an integer saturating, NaN becomes 0.
Tensor cast(const Term &x, DType dtype, SrcLoc loc = SrcLoc::current());

//---- matrix product -----------------------------------------------------===//

/// Options of nl::matmul.
struct MatmulOptions {
  bool transpose_x = false;        ///< x holds [.., K, M]
  bool transpose_y = false;        ///< y holds [.., N, K]
  std::optional<DType> dtype = {}; ///< of the result; float32 when absent
};
/// [.., M, K] times [.., K, N]; leading dims broadcast. The operands are both float32, or both
/// 16-bit floats; where one is float32 and the other is not, the float32 one is rounded to the
/// other's dtype. Sums in float32, 128 rows of K at a time. Checks T-02, D-06.
Tensor matmul(const Tensor &x, const Tensor &y, const MatmulOptions &options = {},
              SrcLoc loc = SrcLoc::current());
/// The same, with NKI's position of transpose_x.
inline Tensor matmul(const Tensor &x, const Tensor &y, bool transpose_x,
                     SrcLoc loc = SrcLoc::current()) {
  return matmul(x, y, MatmulOptions{.transpose_x = transpose_x}, loc);
}

//---- reductions ---------------------------------------------------------===//

/// Options of reductions.
struct ReduceOptions {
  std::optional<DType> dtype = {}; ///< of the result, rounded once; float32 when absent
  bool keepdims = false;           ///< the reduced dims stay, with extent 1
};
/// Folds over one axis, or several: `nl::sum(x, {1, 2})`; negative ones count from the last.
/// Reducing all dims leaves a value of shape (1). Checks T-03.
Tensor sum(const Term &x, const Axes &axis, const ReduceOptions &options = {},
           SrcLoc loc = SrcLoc::current());
Tensor prod(const Term &x, const Axes &axis, const ReduceOptions &options = {},
            SrcLoc loc = SrcLoc::current());
/// sum(x) times 1 / n, rounded to float32.
Tensor mean(const Term &x, const Axes &axis, const ReduceOptions &options = {},
            SrcLoc loc = SrcLoc::current());
/// mean(square(x - mean(x))).
Tensor var(const Term &x, const Axes &axis, const ReduceOptions &options = {},
           SrcLoc loc = SrcLoc::current());

namespace detail {

enum class Fold : uint8_t { Max, Min, All };
Tensor fold(Fold kind, const Term &x, const Axes &axis, const ReduceOptions &options, SrcLoc loc);

/// nl::max and its like: functions, and D-16 where an operator is wanted.
template <Fold Kind>
struct Reduction {
  Tensor operator()(const Term &x, const Axes &axis, const ReduceOptions &options = {},
                    SrcLoc loc = SrcLoc::current()) const {
    return fold(Kind, x, axis, options, loc);
  }
  template <class T>
    requires std::is_same_v<T, Op>
  operator T() const {
    refuse<T>();
    return {};
  }
  template <class A, Handle B>
  Tensor operator()(const A &, const B &) const {
    refuse<A>();
    return {};
  }

private:
  template <class T>
  static void refuse() {
    static_assert(never<T> || Kind != Fold::Max, "[D-16] nl::max reduces a tile and is no operator "
                                                 "(the element-wise operator is nl::maximum)");
    static_assert(never<T> || Kind != Fold::Min, "[D-16] nl::min reduces a tile and is no operator "
                                                 "(the element-wise operator is nl::minimum)");
    static_assert(never<T> || Kind != Fold::All, "[D-16] nl::all reduces a tile and is no operator "
                                                 "(the element-wise operator is nl::logical_and)");
  }
};

} // namespace detail

/// The largest element, `nl::max(x, axis)`; NaN if there is one. The element-wise function of two
/// operands is nl::maximum.
inline constexpr detail::Reduction<detail::Fold::Max> max{};
/// The smallest element, `nl::min(x, axis)`; NaN if there is one.
inline constexpr detail::Reduction<detail::Fold::Min> min{};
/// 1 where no element is 0, else 0: `nl::all(x, axis)`.
inline constexpr detail::Reduction<detail::Fold::All> all{};

//---- normalisations -----------------------------------------------------===//

/// exp(x - max) / sum(exp(x - max)) along an axis; the quotient is a product with the reciprocal.
/// Checks T-03.
Tensor softmax(const Term &x, int64_t axis = -1, const MathOptions &options = {},
               SrcLoc loc = SrcLoc::current());

/// Options of nl::rms_norm and nl::layer_norm.
struct NormOptions {
  double epsilon = 1e-6;           ///< rounded to float32, added to the mean square
  std::optional<DType> dtype = {}; ///< of the result; float32 when absent
};
/// x * rsqrt(mean(square(x)) + epsilon) * w over the last dim; w broadcasts to x. Checks T-01.
Tensor rms_norm(const Term &x, const Tensor &w, const NormOptions &options = {},
                SrcLoc loc = SrcLoc::current());
/// The same without a weight.
Tensor rms_norm(const Term &x, const NormOptions &options = {}, SrcLoc loc = SrcLoc::current());
/// c * rsqrt(mean(square(c)) + epsilon) * gamma + beta over the last dim, with c = x - mean(x), the
/// mean taken twice so that a large one costs no digits. Checks T-01.
Tensor layer_norm(const Term &x, const Tensor &gamma, const Tensor &beta,
                  const NormOptions &options = {}, SrcLoc loc = SrcLoc::current());
/// The same without beta, and without both.
Tensor layer_norm(const Term &x, const Tensor &gamma, const NormOptions &options = {},
                  SrcLoc loc = SrcLoc::current());
Tensor layer_norm(const Term &x, const NormOptions &options = {}, SrcLoc loc = SrcLoc::current());

//---- movement -----------------------------------------------------------===//

/// All dims reversed, or dim i of the result is dim order[i] of x. Checks T-03.
Tensor transpose(const Term &x, const Shape &order = {}, SrcLoc loc = SrcLoc::current());
/// The elements in row-major order with another shape; one extent may be -1. Checks V-04.
Tensor reshape(const Term &x, const Shape &shape, SrcLoc loc = SrcLoc::current());
/// x repeated to `shape` by NumPy's rules. Checks T-01.
Tensor broadcast_to(const Term &x, const Shape &shape, SrcLoc loc = SrcLoc::current());
/// A dim of extent 1 in front of dim `axis` (axis = rank or -1 appends it). Checks T-03, S-06.
Tensor expand_dims(const Term &x, int64_t axis, SrcLoc loc = SrcLoc::current());
/// The operands side by side along an axis; they have one dtype and agree in the other dims.
/// Checks T-01, T-03, D-03.
Tensor concatenate(const std::vector<Tensor> &list, int64_t axis, SrcLoc loc = SrcLoc::current());
/// The operands side by side along a new axis. Checks T-01, T-03, S-06.
Tensor stack(const std::vector<Tensor> &list, int64_t axis = 0, SrcLoc loc = SrcLoc::current());

/// Elements that nl::pad puts around one dim.
struct PadWidth {
  detail::Int before, after;
};
/// `value` around x: one PadWidth for each dim. Checks V-02, V-03.
Tensor pad(const Term &x, const std::vector<PadWidth> &widths, Scalar value = 0,
           SrcLoc loc = SrcLoc::current());

/// The index along `axis`, as int32: `nl::iota({4, 8}, 1)` is 0 to 7 in each row. Checks T-03.
Tensor iota(const Shape &shape, int64_t axis, const MathOptions &options = {},
            SrcLoc loc = SrcLoc::current());

//---- hints --------------------------------------------------------------===//

/// What nl::hint asks for.
struct HintOptions {
  std::optional<int64_t> partition_dim = {}; ///< the dim that lies on partitions
  std::vector<int64_t> tile = {};            ///< extents of a tile, one a dim; 0: free to choose
  std::optional<int64_t> buffers = {};       ///< tiles in flight
  std::optional<Buffer> in = {};             ///< nl::hbm: written out, not fused
};
/// The same value, with a wish for how it is computed. A wish that cannot be kept is refused with
/// the reason, never dropped (T-06).
Tensor hint(const Term &x, const HintOptions &options, SrcLoc loc = SrcLoc::current());

} // namespace nl

#endif // NL_MATH_H
