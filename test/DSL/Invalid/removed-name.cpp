// expect: [K-11] nl::divide has no instruction (multiply by the result of nisa::reciprocal)
#include "nl/nl.h"
void misuse(nl::Tensor t) { nl::divide(t, t); }
