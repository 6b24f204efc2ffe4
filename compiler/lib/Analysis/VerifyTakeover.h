//===- VerifyTakeover.h - whole tensors follow whole tensors ----------------------------------===//
//
// The checker's half of Takeover.h, found again by brute force: memory is cut into equal buckets,
// each lists the tensors that lie in it now, and a tensor that arrives is compared with all of
// them. Private to the checker.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_ANALYSIS_VERIFYTAKEOVER_H
#define KILN_LIB_ANALYSIS_VERIFYTAKEOVER_H

#include "HappensBefore.h"

namespace kiln::analysis {

/// Two accesses of two tensors at one address that `order` leaves open.
struct OpenTakeover {
  uint32_t oldTensor, newTensor;
  uint32_t earlier, later; ///< instructions
};

/// Every access of an on-chip tensor must come after every access of each tensor it replaces.
/// At most `limit` violations, one for each pair of tensors. Tensors that are live at the same
/// time replace nothing: only overlaps placed by hand are.
std::vector<OpenTakeover> findOpenTakeovers(const Kernel &kernel, const Placement &placement,
                                            const HappensBefore &order, size_t limit);

} // namespace kiln::analysis

#endif // KILN_LIB_ANALYSIS_VERIFYTAKEOVER_H
