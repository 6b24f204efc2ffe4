//===- ChainHelpers.h - helpers of Chain.cpp, in a file of their own -----------------------------------------===//

#ifndef KILN_TEST_DSL_CHAINHELPERS_H
#define KILN_TEST_DSL_CHAINHELPERS_H

#include "nl/nl.h"

/// Copies `src` to a fresh tile.
inline nl::Tensor fetch(const nl::Tensor &src) {
  nl::Tensor tile = nl::ndarray(src.shape(), src.dtype());
  nisa::dma_copy(tile, // line 11: a call of several lines
                 src);
  return tile;
}

/// A helper that blames its caller.
inline void put(const nl::Tensor &dst, const nl::Tensor &src, nl::SrcLoc loc = nl::SrcLoc::current()) {
  nisa::dma_copy(dst, src, loc);
}

#endif // KILN_TEST_DSL_CHAINHELPERS_H
