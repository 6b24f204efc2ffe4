// 256 partitions: SBUF has 128.
//
// RUN: %expect_exit 1 kiln run %s:too_tall zeros:256x64:float32 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:256-partitions.cpp:12: error[P-01]: tile 'tile' needs 256 partitions, the core has 128
// CHECK-NEXT:help: split dim 0 into 2 tiles of at most 128 or move 2 into a free dim: (128, 2, 64)
#include "nl/nl.h"
using nl::Tensor;

Tensor too_tall(Tensor a) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);
  Tensor tile = nl::ndarray({256, 64}, a.dtype(), nl::sbuf, {.name = "tile"});
  nisa::dma_copy({.dst = tile, .src = a});
  nisa::dma_copy({.dst = out, .src = tile});
  return out;
}
NL_KERNEL(too_tall, "a")
