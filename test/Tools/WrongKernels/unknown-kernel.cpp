// A kernel name the file does not have.
//
// RUN: %expect_exit 1 kiln run %s:matmul zeros:64x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:unknown-kernel.cpp: error[X-04]: 'unknown-kernel.cpp' has no kernel 'matmul'
// CHECK-NEXT:help: it has matmul_tiled, matmul_blocked
#include "nl/nl.h"
using nl::Tensor;

Tensor matmul_tiled(Tensor a) { return a; }
Tensor matmul_blocked(Tensor a) { return a; }
NL_KERNEL(matmul_tiled, "a")
NL_KERNEL(matmul_blocked, "a")
