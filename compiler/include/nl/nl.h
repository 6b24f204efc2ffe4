//===- nl.h - the kernel language, all of it --------------------------------------------------===//
//
// What a kernel file includes. The layers, each including the one before: core.h (tensors and
// views), operators.h, isa.h (instructions), math.h (whole tensors), lang.h (tile functions),
// kernel.h (kernels), util.h (loops and checks), memory.h (addresses by hand). removed.h says what
// became of names NKI had once.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_NL_H
#define NL_NL_H

#include "nl/memory.h"
#include "nl/removed.h"
#include "nl/util.h"

#endif // NL_NL_H
