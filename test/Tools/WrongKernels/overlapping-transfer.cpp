// A transfer from a tile onto itself, one row further: its DMA engines run in no order. The same rows of two
// halves (control) share nothing.
//
// RUN: %expect_exit 1 kiln run %s:shift iota:128x4:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// RUN: kiln run %s:halves iota:128x4:float32
// CHECK:overlapping-transfer.cpp:17: error[V-09]: dst 't' and src overlap in one tensor: a transfer's 16 engines move their shares in no order
// CHECK-NEXT:overlapping-transfer.cpp:15: note: 't' is this 128x4 float32 tile in sbuf
// CHECK-NEXT:help: copy to a second tensor first, or split the transfer so that no part reads what it writes
#include "nl/nl.h"
using nl::ds, nl::Tensor;

Tensor shift(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray({128, 4}, x.dtype(), nl::sbuf, {.name = "t"});
  nisa::dma_copy(t, x);
  nisa::dma_copy(t(ds(1, 127)), t(ds(0, 127)));
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(shift, "x")

Tensor halves(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray({128, 4}, x.dtype());
  nisa::dma_copy(t, x);
  nisa::dma_copy(t(ds(64, 64)), t(ds(0, 64)));
  nisa::dma_copy(t(nl::_, nl::slice(0, 4, 2)), t(nl::_, nl::slice(1, 4, 2)));
  nisa::dma_copy(y, t);
  return y;
}
NL_KERNEL(halves, "x")
