//===- ReferenceVariants.h - instances farther apart than a walk's neighbours -----------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCEVARIANTS_H
#define KILN_TEST_REFERENCE_REFERENCEVARIANTS_H

#include "RandomInstruction.h"
#include "ReferenceData.h"

namespace kiln::reference {

/// A legal instance near `instance` in its shapes, but with an engine, dtypes, memories and fields
/// drawn anew, several at a time: a walk that changes one thing after another seldom comes to what
/// only goes together, such as an operator on bits with integers everywhere.
Instance vary(Instance instance, Rng &rng);

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCEVARIANTS_H
