// expect: the element-wise operator is nl::maximum
#include "nl/nl.h"
void misuse(nl::Tensor t) {
  nisa::tensor_tensor({.dst = t, .data1 = t, .data2 = t, .op = nl::max});
}
