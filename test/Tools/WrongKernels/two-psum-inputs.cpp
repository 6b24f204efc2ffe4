// Both inputs of one instruction in PSUM.
//
// RUN: %expect_exit 1 kiln run %s:both_psum zeros:64x32:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
//@CHECKS@
#include "nl/nl.h"
using nl::Tensor;

Tensor both_psum(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);
  Tensor tile = nl::ndarray({64, 32}, a.dtype());
  nisa::dma_copy({.dst = tile, .src = a});
  Tensor x = nl::ndarray({64, 32}, nl::float32, nl::psum, {.name = "x"});
  Tensor y = nl::ndarray({64, 32}, nl::float32, nl::psum, {.name = "y"});
  nisa::tensor_copy(x, tile);
  nisa::tensor_copy(y, tile);
  nisa::tensor_tensor({.dst = tile, .data1 = x, .data2 = y, .op = nl::add});
  nisa::dma_copy({.dst = out, .src = tile});
  return out;
}
NL_KERNEL(both_psum, "a")
