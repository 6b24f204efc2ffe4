// expect: the index of nl::affine_for has no value while the kernel is traced
#include "nl/nl.h"
void misuse() {
  nl::affine_for(4, [](nl::Index i) {
    for (int j = 0; j < i; ++j)
      nl::ndarray({128, 1}, nl::float32);
  });
}
