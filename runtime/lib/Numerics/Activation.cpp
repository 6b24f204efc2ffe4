//===- Activation.cpp - one entry for every activation function -------------------------------===//
//
// Finds the family kernel of a function. The families are separate files because each is compiled
// for every instruction set.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Numerics/Activation.h"

#include "ActivationKernels.h"

#include <cassert>

namespace kilnrt {

void activationRow(kiln::isa::ActFn fn, const float *x, float *out, size_t n) {
  [[maybe_unused]] const bool known =
      activationExpRow(fn, x, out, n) || activationErfRow(fn, x, out, n) ||
      activationLogTrigRow(fn, x, out, n) || activationSimpleRow(fn, x, out, n);
  assert(known && "an activation function without a kernel");
}

float applyActivation(kiln::isa::ActFn fn, float x) {
  float result = 0.0f;
  activationRow(fn, &x, &result, 1);
  return result;
}

} // namespace kilnrt
