// A slice past the end of a dim: 500 is no multiple of 128.
//
// RUN: %expect_exit 1 kiln run %s:past_the_end zeros:500x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:view-out-of-bounds.cpp:16: error[P-14]: slice [384, 512) exceeds dim 0 of 'a' (extent 500)
// CHECK-NEXT:help: clip it with nl::tiles(500, 128) or std::min(end, 500)
// CHECK-NEXT:view-out-of-bounds.cpp:17: error[P-14]: slice [384, 512) exceeds dim 0 of the 500x8 float32 tensor of line 13 (extent 500)
// CHECK-NEXT:help: clip it with nl::tiles(500, 128) or std::min(end, 500)
#include "nl/nl.h"
using nl::Tensor;

Tensor past_the_end(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);
  for (int64_t m = 0; m < 4; ++m) {
    Tensor tile = nl::ndarray({128, 8}, a.dtype());
    nisa::dma_copy({.dst = tile, .src = a(nl::ds(m * 128, 128), nl::_)});
    nisa::dma_copy({.dst = out(nl::ds(m * 128, 128), nl::_), .src = tile});
  }
  return out;
}
NL_KERNEL(past_the_end, "a")
