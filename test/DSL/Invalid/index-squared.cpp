// expect: the index of nl::affine_for has no value while the kernel is traced
#include "nl/nl.h"
void misuse() {
  nl::Tensor x = nl::ndarray({128, 512}, nl::float32);
  nl::affine_for(4, [&](nl::Index i) { nisa::memset(x(nl::_, nl::ds(i * i, 16)), 0); });
}
