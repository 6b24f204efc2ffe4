//===- Footprint.h - the exact bytes an operand touches ---------------------------------------===//
//
// Written from the page of the program file alone: an access names elements of a tensor, and the
// elements are bytes of its memory. Nothing is approximated. The bytes of a pattern are kept as
// sorted runs; equal patterns share them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_MUTATION_FOOTPRINT_H
#define KILN_TEST_MUTATION_FOOTPRINT_H

#include "kilnrt/Program.h"

#include <map>
#include <memory>

namespace kilnrt::mutation {

/// Bytes [first, end).
struct Run {
  int64_t first, end;
  bool operator==(const Run &) const = default;
};
/// Ascending, with a gap after each.
using Runs = std::vector<Run>;

/// The bytes of an access in the first iteration of the loops around it.
struct Footprint {
  uint32_t tensor = kNone;
  bool isWrite = false;
  uint32_t firstPartition = 0, endPartition = 1; ///< physical ones; HBM counts as one
  int64_t base = 0;                              ///< what the runs are relative to
  const Runs *runs = nullptr;
  /// Added to `base` from one iteration to the next, outermost loop first, in bytes.
  std::array<int64_t, isa::kMaxLoopDepth> loopStep{};

  int64_t low() const { return base + runs->front().first; }
  int64_t end() const { return base + runs->back().end; }
};

/// Makes footprints and owns their runs.
class Footprints {
public:
  /// Precondition: the access passes the verifier. `access` must be present.
  Footprint of(const Program &program, const isa::Access &access, bool isWrite);

private:
  std::map<std::vector<int64_t>, std::unique_ptr<Runs>> patterns;
};

/// Whether both touch some byte when `b` is moved by `shift` bytes. The tensors are not looked at:
/// both lie in one memory, or are one HBM tensor.
bool meet(const Footprint &a, const Footprint &b, int64_t shift = 0);

/// Whether the bytes of two tensors overlap. HBM tensors only overlap themselves.
bool overlap(const TensorInfo &a, const TensorInfo &b);

} // namespace kilnrt::mutation

#endif // KILN_TEST_MUTATION_FOOTPRINT_H
