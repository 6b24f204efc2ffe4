// Two tiles placed by hand share bytes 16 to 31 of each partition while both live.
#include "nl/nl.h"
using nl::Tensor;
Tensor overlap(Tensor x) {
  Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
  Tensor a = nl::ndarray({128, 8}, x.dtype(), nl::sbuf, {.name = "a", .address = nl::Address{0, 0}});
  Tensor b = nl::ndarray({128, 8}, x.dtype(), nl::sbuf, {.name = "b", .address = nl::Address{0, 16}});
  nisa::dma_copy(a, x);
  nisa::memset(b, 1);
  nisa::tensor_tensor(a, a, b, nl::add);
  nisa::dma_copy(y, a);
  return y;
}
NL_KERNEL(overlap, "x")
