// expect: dst
#include "nl/nl.h"
void misuse(nl::Tensor a, nl::Tensor b) { nisa::tensor_copy({.src = a, .dst = b}); }
