// expect: [D-16] nl::max reduces a tile and is no operator (the element-wise operator is nl::maximum)
#include "nl/nl.h"
nl::Tensor misuse(nl::Tensor x, nl::Tensor y) { return nl::max(x, y); }
