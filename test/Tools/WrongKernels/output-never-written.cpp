// The loop that writes the output has no iterations: 100 / 128 is 0.
//
// RUN: %expect_exit 1 kiln run %s:nothing_done zeros:100x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:output-never-written.cpp:20: error[C-12]: 'out' is returned but never written
// CHECK-NEXT:output-never-written.cpp:12: note: 'out' is this 100x8 float32 tensor in shared_hbm
// CHECK-NEXT:help: store to it with nisa::dma_copy; a loop over M / N tiles runs 0 times when M < N, nl::ceil_div(M, N) and nl::tiles(M, N) count the last part
#include "nl/nl.h"
using nl::Tensor;

Tensor nothing_done(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (int64_t m = 0; m < a.dim(0) / 128; ++m) {
    Tensor tile = nl::ndarray({128, 8}, a.dtype());
    nisa::dma_copy({.dst = tile, .src = a(nl::ds(m * 128, 128), nl::_)});
    nisa::dma_copy({.dst = out(nl::ds(m * 128, 128), nl::_), .src = tile});
  }
  return out;
}
NL_KERNEL(nothing_done, "a")
