// float32 and bfloat16 in one matmul.
//
// RUN: %expect_exit 1 kiln run %s:mixed zeros:64x32:float32 zeros:64x48:bf16 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
//@CHECKS@
#include "nl/nl.h"
using nl::Tensor;

Tensor mixed(Tensor lhsT, Tensor rhs) {
  Tensor out = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
  Tensor left = nl::ndarray({64, 32}, lhsT.dtype(), nl::sbuf, {.name = "left"});
  Tensor right = nl::ndarray({64, 48}, rhs.dtype(), nl::sbuf, {.name = "right"});
  nisa::dma_copy({.dst = left, .src = lhsT});
  nisa::dma_copy({.dst = right, .src = rhs});
  Tensor acc = nl::ndarray({32, 48}, nl::float32, nl::psum);
  nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right});
  Tensor tile = nl::ndarray({32, 48}, nl::float32);
  nisa::tensor_copy(tile, acc);
  nisa::dma_copy({.dst = out, .src = tile});
  return out;
}
NL_KERNEL(mixed, "lhsT", "rhs")
