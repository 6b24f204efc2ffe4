//===- Numbers.h - numbers of a graph in their dtype ------------------------------------------===//

#ifndef KILN_TILE_NUMBERS_H
#define KILN_TILE_NUMBERS_H

#include "kiln/ISA/Types.h"

namespace kiln::tile {

/// The stored bits of `number` in `dtype`: rounded once to nearest even; integers saturate, a NaN
/// becomes the canonical one or 0.
uint32_t encodeNumber(isa::DType dtype, double number);

/// The number those bits are: what a splat of `number` really holds.
double numberIn(isa::DType dtype, double number);

} // namespace kiln::tile

#endif // KILN_TILE_NUMBERS_H
