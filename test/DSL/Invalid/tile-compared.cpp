// expect: [C-01] a tile has no value while the kernel is traced
#include "nl/nl.h"
int misuse(nl::Tensor tile) {
  if (tile > 0)
    return 1;
  return 0;
}
