// expect: the body of nl::affine_for returns nothing
#include "nl/nl.h"
void misuse() {
  nl::affine_for(4, [](nl::Index) { return nl::ndarray({128, 1}, nl::float32); });
}
