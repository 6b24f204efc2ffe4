// expect: nl::device_print takes the text first
#include "nl/nl.h"
void misuse(nl::Tensor x) { nl::device_print(x, "x = "); }
