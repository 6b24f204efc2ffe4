// A DMA that reads PSUM.
//
// RUN: %expect_exit 1 kiln run %s:from_psum zeros:64x32:float32 zeros:64x48:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:dma-from-psum.cpp:19: error[B-04]: DMA has no path from PSUM, src 'acc' is in PSUM
// CHECK-NEXT:dma-from-psum.cpp:17: note: 'acc' is this 32x48 float32 tile in psum
// CHECK-NEXT:dma-from-psum.cpp:13: note: dst is this 32x48 float32 tensor in shared_hbm
// CHECK-NEXT:help: tensor_copy 'acc' to an SBUF tile, then store that
#include "nl/nl.h"
using nl::Tensor;

Tensor from_psum(Tensor lhsT, Tensor rhs) {
  Tensor out = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
  Tensor left = nl::ndarray({64, 32}, nl::float32), right = nl::ndarray({64, 48}, nl::float32);
  nisa::dma_copy({.dst = left, .src = lhsT});
  nisa::dma_copy({.dst = right, .src = rhs});
  Tensor acc = nl::ndarray({32, 48}, nl::float32, nl::psum, {.name = "acc"});
  nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right});
  nisa::dma_copy({.dst = out, .src = acc});
  return out;
}
NL_KERNEL(from_psum, "lhsT", "rhs")
