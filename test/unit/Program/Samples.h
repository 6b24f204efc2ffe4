//===- Samples.h - programs and records the tests start from ----------------------------------===//
//
// Small programs made by hand, and records with random legal content driven by
// the instruction table, so that a new row is tested without a new test.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_PROGRAM_SAMPLES_H
#define KILN_TEST_UNIT_PROGRAM_SAMPLES_H

#include "kilnrt/Program.h"

#include <functional>
#include <random>

namespace kilnrt::samples {

/// Copies HBM 128x512xf32 'x' to 'y' through two SBUF tiles: DMA in,
/// tensor_copy, DMA out; placed and synchronised, with a helper chain.
Program copy();
/// Copies HBM 192x64xf32 'x' to 'y' in a loop of 3 inside one of 2, through a tile declared in the
/// inner loop; placed and synchronised.
Program loops();
/// A matmul against a constant identity, then a copy, a memset and a DMA out:
/// neither placed nor synchronised; one tensor name is used twice.
Program matmul();

/// The whole of tensor `tensor` of `program` as one access.
isa::Access whole(const Program &program, uint32_t tensor);
/// Appends `record` to the stream of its engine, which is made when missing.
void append(Program &program, const Record &record);
/// The records of `engine`'s stream, changed by `change`, encoded again.
/// Without checks: the result may be refused by the verifier.
void edit(Program &program, isa::Engine engine, size_t record,
          const std::function<void(Record &)> &change);

using Rng = std::mt19937_64;
/// A record of `desc` with random encodable content: every field value its
/// kind allows, every number an access can hold, any engine. Tensors are
/// below `tensors`. Rules of the machine are not kept.
Record randomRecord(const isa::InstDesc &desc, uint32_t tensors, Rng &rng);
/// A program as no compiler makes it: odd names, every role, random records
/// of every instruction. It assembles and encodes; it does not verify.
Program randomProgram(Rng &rng);

} // namespace kilnrt::samples

#endif // KILN_TEST_UNIT_PROGRAM_SAMPLES_H
