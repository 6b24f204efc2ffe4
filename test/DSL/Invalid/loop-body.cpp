// expect: the body of nl::affine_for takes an nl::Index
#include "nl/nl.h"
void misuse() {
  nl::affine_for(4, [] { nl::ndarray({128, 1}, nl::float32); });
}
