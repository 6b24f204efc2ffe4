//===- Prove.h - the static proof in the words of the mutation score --------------------------===//

#ifndef KILN_TEST_MUTATION_PROVE_H
#define KILN_TEST_MUTATION_PROVE_H

#include "Score.h"

namespace kilnrt::mutation {

/// kilnrt::prove on `program`, with the default options.
ProofAnswer staticProof(const Program &program);

} // namespace kilnrt::mutation

#endif // KILN_TEST_MUTATION_PROVE_H
