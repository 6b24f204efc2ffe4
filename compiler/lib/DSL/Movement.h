//===- Movement.h - views and stores of values ------------------------------------------------===//
//
// What the methods of nl::Tensor and nl::store do when they meet a value.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_MOVEMENT_H
#define KILN_LIB_DSL_MOVEMENT_H

#include "Values.h"

namespace kiln::trace {

/// How a view of a value becomes a node.
enum class ViewKind {
  Select,  ///< slices and single elements
  Regroup, ///< the same elements with another shape
  Repeat,  ///< a dim of extent 1, repeated
};

/// The value `view`, which the view algebra made of the handle `value`, stands for.
nl::Tensor moveValue(const nl::Tensor &value, const nl::detail::View &view, ViewKind kind,
                     const char *method, const nl::SrcLoc &loc);

/// nl::store of a value.
void storeValue(const nl::Tensor &dst, const nl::Tensor &value, const nl::SrcLoc &loc);

} // namespace kiln::trace

#endif // KILN_LIB_DSL_MOVEMENT_H
