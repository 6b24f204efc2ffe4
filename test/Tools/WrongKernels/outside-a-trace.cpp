// An instruction where no kernel is being traced: while the file is loaded.
//
// RUN: %expect_exit 1 kiln run %s:innocent zeros:64x8:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:outside-a-trace.cpp:10: error[K-07]: nl::ndarray called outside a kernel
// CHECK-NEXT:help: call it from the kernel function, on the thread that runs it
#include "nl/nl.h"
using nl::Tensor;

static Tensor early = nl::ndarray({64, 8}, nl::float32);

Tensor innocent(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);
  nisa::dma_copy({.dst = early, .src = a});
  nisa::dma_copy({.dst = out, .src = early});
  return out;
}
NL_KERNEL(innocent, "a")
