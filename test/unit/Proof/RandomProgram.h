//===- RandomProgram.h - small synchronised programs, right and wrong ones --------------------===//
//
// Copies, fills, transfers and bare waits on a few streams, with and without loops, on tensors of
// which some take each other's bytes. Waits and updates are drawn so that about as many programs
// are free of races as not.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_PROOF_RANDOMPROGRAM_H
#define KILN_TEST_UNIT_PROOF_RANDOMPROGRAM_H

#include "kilnrt/Program.h"

namespace kilnrt::test {

/// The program of `seed`; `verify` accepts it.
Program randomProgram(uint64_t seed);

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_PROOF_RANDOMPROGRAM_H
