// expect: [D-16] nl::all reduces a tile and is no operator (the element-wise operator is nl::logical_and)
#include "nl/nl.h"
void misuse(nl::Tensor t) {
  nisa::tensor_tensor({.dst = t, .data1 = t, .data2 = t, .op = nl::all});
}
