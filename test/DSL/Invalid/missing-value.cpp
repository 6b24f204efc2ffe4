// expect: no matching function for call to
#include "nl/nl.h"
void misuse(nl::Tensor t) { nisa::memset({.dst = t}); }
