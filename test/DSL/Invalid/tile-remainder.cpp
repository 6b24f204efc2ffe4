// expect: [C-02] elements have no remainder: no instruction computes it
#include "nl/nl.h"
nl::Tensor misuse(nl::Tensor x) { return x % 2; }
