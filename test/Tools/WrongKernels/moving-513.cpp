// 513 moving columns in one matmul: one PSUM bank holds 512.
//
// RUN: %expect_exit 1 kiln run %s:too_wide zeros:64x32:bf16 zeros:64x513:bf16 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:moving-513.cpp:19: error[S-02]: moving has 513 columns, one matmul on trn2 moves at most 512 (one PSUM bank of float32)
// CHECK-NEXT:moving-513.cpp:15: note: moving is this 64x513 bfloat16 tile in sbuf
// CHECK-NEXT:moving-513.cpp:18: note: 'acc' is this 32x513 float32 tile in psum
// CHECK-NEXT:moving-513.cpp:15: note: stationary is this 64x32 bfloat16 tile in sbuf
// CHECK-NEXT:help: split the moving operand into 512 + 1
#include "nl/nl.h"
using nl::Tensor;

Tensor too_wide(Tensor lhsT, Tensor rhs) {
  Tensor out = nl::ndarray({32, 513}, nl::bfloat16, nl::shared_hbm);
  Tensor left = nl::ndarray({64, 32}, nl::bfloat16), right = nl::ndarray({64, 513}, nl::bfloat16);
  nisa::dma_copy({.dst = left, .src = lhsT});
  nisa::dma_copy({.dst = right, .src = rhs});
  Tensor acc = nl::ndarray({32, 513}, nl::float32, nl::psum, {.name = "acc"});
  nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right});
  Tensor tile = nl::ndarray({32, 513}, nl::bfloat16);
  nisa::tensor_copy(tile, acc);
  nisa::dma_copy({.dst = out, .src = tile});
  return out;
}
NL_KERNEL(too_wide, "lhsT", "rhs")
