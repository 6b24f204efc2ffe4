//===- ProofFixture.h - a program in few lines, its proof in words ----------------------------===//

#ifndef KILN_TEST_UNIT_PROOF_PROOFFIXTURE_H
#define KILN_TEST_UNIT_PROOF_PROOFFIXTURE_H

#include "kilnrt/Proof.h"

#include <gtest/gtest.h>

namespace kilnrt::test {

/// A verified program from the text of its further tensors and its streams. There are `x` (input)
/// and `y` (output) of 32x64 f32 in HBM; `a`, `b`, `c`, `d` of 32x16 f32 in SBUF, next to each
/// other from byte 0, 64, 128 and 192 on; `p` and `q` of 32x16 f32 in the first banks of PSUM; and
/// locations @1 to @40, which are lines 1 to 40 of kernel.cpp. The default flags are placed and
/// synchronised.
Program programOf(std::string_view text, std::string_view flags = "placed synchronised");

/// Assembles, verifies and proves.
Proof proofOf(std::string_view text, const ProofOptions &options = {},
              std::string_view flags = "placed synchronised");

/// "races proven, deadlock proven, memory proven", and why something is not.
std::string answersText(const Proof &proof);
/// All of a finding but its graph: message, rule, place, help, notes.
std::string findingText(const Finding &finding);
/// The answers, and all findings with their graphs, a blank line before each.
std::string reportText(const Proof &proof);

inline constexpr const char *kAllProven = "races proven, deadlock proven, memory proven\n";

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_PROOF_PROOFFIXTURE_H
