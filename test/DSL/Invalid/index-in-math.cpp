// expect: [C-02] the index of nl::affine_for has no value while the kernel is traced
#include "nl/nl.h"
void misuse(nl::Tensor x) {
  nl::affine_for(4, [&](nl::Index i) { x + i; });
}
