// expect: [H-04] assigning to a view moves no data
#include "nl/nl.h"
void misuse(nl::Tensor t, nl::Tensor x) { t(nl::_, 0) = x; }
