// The loop that writes the output has no iterations: 100 / 128 is 0.
//
// RUN: %expect_exit 1 kiln run %s:nothing_done zeros:100x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
//@CHECKS@
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
