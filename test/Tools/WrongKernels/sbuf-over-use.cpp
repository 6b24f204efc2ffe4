// More live tiles than a partition of SBUF holds: the memory report.
//
// RUN: %expect_exit 1 kiln run %s:too_much zeros:128x60000:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:sbuf-over-use.cpp:16: error[M-01]: SBUF peaks at 240000 of 212984 bytes per partition at line 16; largest live: 't0' and 5 more (line 15, 40000 bytes each)
// CHECK-NEXT:sbuf-over-use.cpp:15: note: 't0' and 5 more hold 240000 bytes per partition, live from line 16 to line 20
// CHECK-NEXT:help: 't1' (40000 bytes) lies idle from line 16 to line 20: load or compute it again for the later use, and all fits
#include "nl/nl.h"
using nl::Tensor;

Tensor too_much(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);
  std::vector<Tensor> parts;
  for (nl::Chunk c : nl::tiles(a.dim(1), 10000)) {
    Tensor part = nl::ndarray({128, c.size}, a.dtype());
    nisa::dma_copy({.dst = part, .src = a(nl::_, c)});
    parts.push_back(part);
  }
  for (nl::Chunk c : nl::tiles(a.dim(1), 10000))
    nisa::dma_copy({.dst = out(nl::_, c), .src = parts[c.index]});
  return out;
}
NL_KERNEL(too_much, "a")
