//===- Targets.h - running a test on every instruction set of the host ------------------------===//
//
// The kernels pick an instruction set at run time; these force each in turn. Hosts without AVX-512
// or AVX2 test what they have.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_NUMERICS_TARGETS_H
#define KILN_TEST_UNIT_NUMERICS_TARGETS_H

#include "hwy/targets.h"

#include <cstdint>
#include <vector>

namespace kilnrt::test {

/// Makes the kernels use `target` until it is destroyed.
class ForcedTarget {
public:
  explicit ForcedTarget(int64_t target) { force(target); }
  ~ForcedTarget() { force(0); }
  ForcedTarget(const ForcedTarget &) = delete;
  ForcedTarget &operator=(const ForcedTarget &) = delete;

private:
  static void force(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

/// Instruction sets the kernels are compiled for and this host has, best first; the last needs
/// nothing.
inline std::vector<int64_t> hostTargets() {
  std::vector<int64_t> targets;
  for (int64_t target : hwy::SupportedAndGeneratedTargets())
    if (target != HWY_SSSE3)
      targets.push_back(target);
  if (targets.empty() || targets.back() != HWY_STATIC_TARGET)
    targets.push_back(HWY_STATIC_TARGET);
  return targets;
}

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_NUMERICS_TARGETS_H
