//===- HandlersGenerated.cpp - rows that are functions of their tiles -------------------------===//
//
// Generated from the rows marked isTileFunction: fetch tiles and fields, call the semantic
// function.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "kilnrt/Semantics/Rows.h"

using namespace kilnrt;

#include "kiln/ISA/Handlers.cpp.inc"
