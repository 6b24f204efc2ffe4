//===- AluKernels.cpp - element-wise fp32 operators on rows -----------------------------------===//

#include "AluKernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "AluKernels.cpp"
#include "hwy/foreach_target.h" // IWYU pragma: keep

#include "AluOps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kilnrt {
namespace HWY_NAMESPACE {
namespace {
using kiln::isa::AluOp;

template <class Op>
HWY_INLINE void binaryRow(FloatSource x, FloatSource y, float *out, size_t n) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const F constantX = setF(x.value), constantY = setF(y.value);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const F vx = x.row ? hn::LoadU(d, x.row + i) : constantX;
    const F vy = y.row ? hn::LoadU(d, y.row + i) : constantY;
    hn::StoreU(canonicalF(Op::apply(vx, vy)), d, out + i);
  }
  if (i == n)
    return;
  const F vx = x.row ? loadSome(x.row + i, n - i) : constantX;
  const F vy = y.row ? loadSome(y.row + i, n - i) : constantY;
  storeSome(canonicalF(Op::apply(vx, vy)), out + i, n - i);
}

void aluRows(AluOp op, FloatSource x, FloatSource y, float *out, size_t n) {
  switch (op) {
#define KILNRT_ALU_CASE(name)                                                                      \
  case AluOp::name:                                                                                \
    return binaryRow<op::name>(x, y, out, n);
    KILNRT_ALU_CASE(Add)
    KILNRT_ALU_CASE(Subtract)
    KILNRT_ALU_CASE(Multiply)
    KILNRT_ALU_CASE(Maximum)
    KILNRT_ALU_CASE(Minimum)
    KILNRT_ALU_CASE(Equal)
    KILNRT_ALU_CASE(NotEqual)
    KILNRT_ALU_CASE(GreaterEqual)
    KILNRT_ALU_CASE(Greater)
    KILNRT_ALU_CASE(LessEqual)
    KILNRT_ALU_CASE(Less)
    KILNRT_ALU_CASE(LogicalAnd)
    KILNRT_ALU_CASE(LogicalOr)
    KILNRT_ALU_CASE(LogicalXor)
    KILNRT_ALU_CASE(Abs)
    KILNRT_ALU_CASE(Reciprocal)
#undef KILNRT_ALU_CASE
  default:
    break;
  }
}

void scaleBias(const float *x, float scale, float bias, float *out, size_t n) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const F s = setF(scale), b = setF(bias);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(canonicalF(hn::Add(hn::Mul(s, hn::LoadU(d, x + i)), b)), d, out + i);
  if (i < n)
    storeSome(canonicalF(hn::Add(hn::Mul(s, loadSome(x + i, n - i)), b)), out + i, n - i);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace kilnrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kilnrt/Numerics/Alu.h"

namespace kilnrt {
HWY_EXPORT(aluRows);
HWY_EXPORT(scaleBias);
void aluSources(kiln::isa::AluOp op, FloatSource x, FloatSource y, float *out, size_t n) {
  HWY_DYNAMIC_DISPATCH(aluRows)(op, x, y, out, n);
}
void scaleBiasRow(const float *x, float scale, float bias, float *out, size_t n) {
  HWY_DYNAMIC_DISPATCH(scaleBias)(x, scale, bias, out, n);
}
} // namespace kilnrt
#endif // HWY_ONCE
