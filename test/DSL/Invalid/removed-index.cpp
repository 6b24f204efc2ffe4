// expect: [K-11] nl::mgrid is gone (use nl::slice, nl::ds or Tensor::ap)
#include "nl/nl.h"
void misuse() { nl::mgrid(); }
