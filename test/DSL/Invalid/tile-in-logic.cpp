// expect: [C-01] a tile has no value while the kernel is traced
#include "nl/nl.h"
bool misuse(nl::Tensor tile, bool x) { return tile && x; }
