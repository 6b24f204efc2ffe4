//===- assigned.cpp - assigning to a view must not look like a copy ---------------------------===//

#include "nl/nl.h"
using nl::_, nl::Tensor;

void assigned(nl::InOut y) {
  Tensor t = nl::ndarray({128, 16}, nl::float32), u = nl::ndarray({128, 1}, nl::float32);
  nisa::memset(u, 0.0f);
  t(_, 0) = u;
}
NL_KERNEL(assigned, "y")
