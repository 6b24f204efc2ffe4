//===- Fold.h - from a view to the access of an instruction -----------------------------------===//
//
// An instruction has no views: it holds, for each operand, the elements it touches. Folding turns
// the strides of a view into that access pattern, with adjacent dims merged.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_FOLD_H
#define KILN_LIB_DSL_FOLD_H

#include "kiln/ISA/Instruction.h"
#include "nl/core.h"

namespace kiln::trace {

/// Whether dims that lie side by side become one: always, except where an instruction counts dims.
enum class FreeDims { Merge, Keep };

/// The access of `view` to tensor `tensor`. The sequence of elements, row-major, is the view's.
/// On chip dim 0 becomes the partitions, the rest the free dims. In HBM dim 0 becomes the rows (a
/// 1-D view is one row). Precondition: rank at most maxFreeDims + 1, all extents at least 1.
isa::Access foldView(const nl::detail::View &view, uint32_t tensor,
                     FreeDims dims = FreeDims::Merge);

/// The access of an HBM view that meets an on-chip operand of `rows` partitions in a transfer: cut
/// into that many rows where its strides allow it, as foldView otherwise. The sequence of elements
/// does not change.
isa::Access foldRows(const nl::detail::View &view, uint32_t tensor, int64_t rows);

} // namespace kiln::trace

#endif // KILN_LIB_DSL_FOLD_H
