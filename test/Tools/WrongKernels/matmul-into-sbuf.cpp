// A matmul that writes SBUF.
//
// RUN: %expect_exit 1 kiln run %s:into_sbuf zeros:64x32:float32 zeros:64x48:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:matmul-into-sbuf.cpp:19: error[B-01]: the Tensor Engine writes PSUM only, dst 'acc' is in SBUF
// CHECK-NEXT:matmul-into-sbuf.cpp:18: note: 'acc' is this 32x48 float32 tile in sbuf
// CHECK-NEXT:matmul-into-sbuf.cpp:15: note: stationary is this 64x32 float32 tile in sbuf
// CHECK-NEXT:matmul-into-sbuf.cpp:15: note: moving is this 64x48 float32 tile in sbuf
// CHECK-NEXT:help: allocate 'acc' with nl::psum and copy it out afterwards
#include "nl/nl.h"
using nl::Tensor;

Tensor into_sbuf(Tensor lhsT, Tensor rhs) {
  Tensor out = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
  Tensor left = nl::ndarray({64, 32}, nl::float32), right = nl::ndarray({64, 48}, nl::float32);
  nisa::dma_copy({.dst = left, .src = lhsT});
  nisa::dma_copy({.dst = right, .src = rhs});
  Tensor acc = nl::ndarray({32, 48}, nl::float32, nl::sbuf, {.name = "acc"});
  nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right});
  nisa::dma_copy({.dst = out, .src = acc});
  return out;
}
NL_KERNEL(into_sbuf, "lhsT", "rhs")
