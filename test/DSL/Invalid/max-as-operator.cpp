// expect: [D-16] nl::max reduces a tile and is no operator (the element-wise operator is nl::maximum)
#include "nl/nl.h"
void misuse(nl::Tensor t) {
  nisa::tensor_tensor({.dst = t, .data1 = t, .data2 = t, .op = nl::max});
}
