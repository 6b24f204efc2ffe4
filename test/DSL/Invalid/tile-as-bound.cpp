// expect: [C-01] a tile has no value while the kernel is traced
#include "nl/nl.h"
void misuse(nl::Tensor tile) {
  for (int i = 0; i < tile; ++i)
    nl::ndarray({128, 1}, nl::float32);
}
