// expect: the index of nl::affine_for has no value while the kernel is traced
#include "nl/nl.h"
void misuse() {
  nl::affine_for(4, [](nl::Index i) {
    if (i * 2 < 4)
      nl::ndarray({128, 1}, nl::float32);
  });
}
