//===- Parse.h - graphs from text -------------------------------------------------------------===//

#ifndef KILN_TILE_PARSE_H
#define KILN_TILE_PARSE_H

#include "kiln/Tile/Graph.h"

namespace kiln::tile {

/// Reads what `print` writes: buffers, then nodes, a line each, numbered from 0 in order; empty
/// lines and lines that begin with "//" are skipped. On failure nothing, and `error` says where and
/// why: "line 3: 'foo' is no operation". The graph is as its text says; whether it obeys the rules
/// is the business of `verify`.
std::optional<Graph> parse(std::string_view text, std::string &error);

} // namespace kiln::tile

#endif // KILN_TILE_PARSE_H
