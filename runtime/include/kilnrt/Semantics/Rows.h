//===- Rows.h - the semantic functions the table declares -------------------------------------===//
//
// One function for each row of the instruction table that is a function of its tiles and fields:
// fields first, then inputs, then outputs, each in the order of the record; an absent optional
// operand is null, and a scalar operand with the field it falls back on is one `Scalar`. The
// executor's handler of such a row is generated, so the function, in one of the files of
// lib/Semantics, is all a row needs. A row without it does not link.
//
// Every input is disjoint from the outputs or names the same elements; where a program has it
// otherwise, the executor passes a copy.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_SEMANTICS_ROWS_H
#define KILNRT_SEMANTICS_ROWS_H

#include "kilnrt/Semantics/Tile.h"

namespace kilnrt {

#include "kiln/ISA/TileFunctions.h.inc"

} // namespace kilnrt

#endif // KILNRT_SEMANTICS_ROWS_H
