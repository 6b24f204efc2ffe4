// expect: [C-02] a tensor is not changed in place by an operator (write x = x + y for a new value
#include "nl/nl.h"
void misuse(nl::Tensor x, nl::Tensor y) { x += y; }
