// expect: nl::mgrid is gone: use nl::slice, nl::ds or Tensor::ap in the subscript
#include "nl/nl.h"
void misuse() { nl::mgrid(); }
