// expect: a kernel parameter is nl::Tensor, nl::InOut, int, int64_t, float, double, bool or
// std::string
#include "nl/nl.h"
nl::Tensor misuse(nl::Tensor x, const char *) { return x; }
NL_KERNEL(misuse)
