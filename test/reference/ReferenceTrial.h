//===- ReferenceTrial.h - one instruction with memory around it, run twice and compared -------===//
//
// A trial is an instance of a row and a seed. The seed draws what memory holds, what runs before
// and after the instruction (so that there are reduction registers to continue, sums to add to,
// registers to read), and whether it works in place. Trials become programs: constants are copied
// into tensors, the instruction runs, every byte of every tensor is copied out.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCETRIAL_H
#define KILN_TEST_REFERENCE_REFERENCETRIAL_H

#include "RandomInstruction.h"
#include "ReferenceData.h"

#include <optional>
#include <span>
#include <string>

namespace kiln::reference {

struct Trial {
  Instance instance;
  uint64_t seed = 0;
  bool isPlain = false; ///< no special values, whatever the seed says
};

/// The program that runs `trials` one after another. `outputs`, if given, receives the number of
/// the first output of each trial and, last, how many there are.
kilnrt::Program programOf(std::span<const Trial> trials, std::vector<size_t> *outputs = nullptr);

/// Whether a trial of this row is a program of its own: its edges stand in every stream, or it
/// needs other streams that do something.
bool standsAlone(isa::Opcode opcode);
/// That program.
kilnrt::Program programAlone(const Trial &trial);

/// Runs `program`, which has no inputs, on the executor and on the reference. Empty when both give
/// the same bytes, or both refuse; else what differs, with `program`'s own names.
std::string compare(const kilnrt::Program &program);

/// `trial`, or a smaller one that fails as well.
Trial shrink(Trial trial);

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCETRIAL_H
