// Whole tensors beside instructions: equal loads, a transpose that is a flag, a hint, a tile for nisa.
#include "nl/nl.h"
using nl::Tensor;
Tensor values(Tensor x, Tensor w) {
  Tensor logits = nl::matmul(x, nl::transpose(w));
  Tensor probabilities = nl::softmax(nl::hint(logits * 0.5f, {.partition_dim = 0}));
  Tensor unused = nl::exp(w);
  Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
  nisa::dma_copy(y, probabilities + logits);
  return y;
}
NL_KERNEL(values, "x", "w")
