// An engine access that starts at partition 1, inside a helper: the chain names both lines.
//
// RUN: %expect_exit 1 kiln run %s:shifted zeros:64x16:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:start-partition-1.cpp:15: error[P-06]: data 'tile' covers partitions 1 to 32; 1 to 32 partitions must start at 0, 32, 64 or 96
// CHECK-NEXT:  called from start-partition-1.cpp:24
// CHECK-NEXT:start-partition-1.cpp:21: note: 'tile' is this 64x16 float32 tile in sbuf
// CHECK-NEXT:start-partition-1.cpp:23: note: dst is this 32x16 float32 tile in sbuf
// CHECK-NEXT:help: take partitions 0 to 31, or dma_copy the rows to a legal start first
#include "nl/nl.h"
using nl::Tensor;

namespace {
void double_rows(Tensor dst, Tensor src) {
  nisa::tensor_scalar({.dst = dst, .data = src, .op0 = nl::multiply, .operand0 = 2.0f});
}
} // namespace

Tensor shifted(Tensor a) {
  Tensor out = nl::ndarray({32, 16}, a.dtype(), nl::shared_hbm);
  Tensor tile = nl::ndarray({64, 16}, a.dtype(), nl::sbuf, {.name = "tile"});
  nisa::dma_copy({.dst = tile, .src = a});
  Tensor doubled = nl::ndarray({32, 16}, a.dtype());
  double_rows(doubled, tile(nl::ds(1, 32), nl::_));
  nisa::dma_copy({.dst = out, .src = doubled});
  return out;
}
NL_KERNEL(shifted, "a")
