// A print is a read: of what nothing has written it is an error like any other's.
//
// RUN: %expect_exit 3 kiln run %s:early zeros:128x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:print-unwritten.cpp:14: error[M-08]: device_print reads 't', which nothing has written
// CHECK-NEXT:print-unwritten.cpp:13: note: 't' is this 128x8 float32 tile in sbuf
// CHECK-NEXT:help: write 't' first: dma_copy, memset or a matmul
#include "nl/nl.h"
using nl::Tensor;

Tensor early(Tensor x) {
  Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray({128, 8}, x.dtype(), nl::sbuf, {.name = "t"});
  nl::device_print("t = ", t);
  nisa::dma_copy(t, x);
  nl::store(y, t);
  return y;
}
NL_KERNEL(early, "x")
