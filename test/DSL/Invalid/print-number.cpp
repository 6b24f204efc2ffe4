// expect: nl::device_print shows a tensor
#include "nl/nl.h"
void misuse() { nl::device_print("n = ", 3); }
