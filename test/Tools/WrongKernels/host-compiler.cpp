// Two mistakes of the language, and one of C++: the known ones come first, then the host compiler's own words.
//
// RUN: %expect_exit 1 kiln run %s:mixed zeros:128x8:float32 --host-compiler g++ > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:host-compiler.cpp:20: error[H-01]: field 'dst' stands too late: C++ takes fields in the order of their declaration
// CHECK-NEXT:help: write dst first, then the others in the order nl/isa.h lists them
// CHECK-NEXT:host-compiler.cpp:21: error[K-11]: nl::divide has no instruction
// CHECK-NEXT:help: multiply by the result of nisa::reciprocal
// CHECK-NEXT:host-compiler.cpp: error[X-03]: the host compiler rejects the kernel file
// CHECK-NEXT:note: what g++ says:
// CHECK:{{.*}}host-compiler.cpp:22:{{.*}}error: 'z' was not declared in this scope{{.*}}
// CHECK:help: the messages above are {{.*}}g++'s; a kernel file is C++20
#include "nl/nl.h"
using nl::Tensor;

Tensor mixed(Tensor x) {
  Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x);
  Tensor u = nl::empty_like(t);
  nisa::dma_copy({.src = t, .dst = u});
  nisa::tensor_tensor(t, t, u, nl::divide);
  nl::store(y, z);
  return y;
}
NL_KERNEL(mixed, "x")
