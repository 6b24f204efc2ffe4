// float32 and bfloat16 in one matmul.
//
// RUN: %expect_exit 1 kiln run %s:mixed zeros:64x32:float32 zeros:64x48:bf16 > %t 2>&1
// RUN: FileCheck %s --match-full-lines --strict-whitespace --input-file=%t
// CHECK:mixed-dtypes.cpp:20: error[D-01]: matmul cannot mix 32-bit and narrower operands: stationary 'left' is float32, moving 'right' is bfloat16
// CHECK-NEXT:mixed-dtypes.cpp:15: note: 'left' is this 64x32 float32 tile in sbuf
// CHECK-NEXT:mixed-dtypes.cpp:19: note: dst is this 32x48 float32 tile in psum
// CHECK-NEXT:mixed-dtypes.cpp:16: note: 'right' is this 64x48 bfloat16 tile in sbuf
// CHECK-NEXT:help: cast one while copying to SBUF
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
