// Both inputs of one instruction in PSUM.
//
// RUN: %expect_exit 1 kiln run %s:both_psum zeros:64x32:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:two-psum-inputs.cpp:21: error[B-03]: only one of the two inputs may be in PSUM, data1 'x' and data2 'y' both are
// CHECK-NEXT:two-psum-inputs.cpp:18: note: 'y' is this 64x32 float32 tile in psum
// CHECK-NEXT:two-psum-inputs.cpp:15: note: dst is this 64x32 float32 tile in sbuf
// CHECK-NEXT:two-psum-inputs.cpp:17: note: 'x' is this 64x32 float32 tile in psum
// CHECK-NEXT:help: copy one to SBUF
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
