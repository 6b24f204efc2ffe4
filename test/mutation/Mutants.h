//===- Mutants.h - programs with one thing wrong ----------------------------------------------===//
//
// Every way to spoil one wait, one update, one rotation or one pair of neighbours of a program. A
// mutant is a few numbers; the program is made when it is needed.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_MUTATION_MUTANTS_H
#define KILN_TEST_MUTATION_MUTANTS_H

#include "kilnrt/Program.h"

#include <string>

namespace kilnrt::mutation {

enum class MutationKind : uint8_t {
  DropWait,       ///< the record waits for nothing
  WeakenWait,     ///< for 1 less, or for one transfer less
  RetargetWait,   ///< for another semaphore of the epoch
  MoveWait,       ///< the wait changes places with that of the record before or behind
  DropUpdate,     ///< the record raises nothing
  WeakenUpdate,   ///< by 1 less
  RetargetUpdate, ///< another semaphore of the epoch
  MoveUpdate,     ///< the update changes places with that of the record before or behind
  ShrinkRotation, ///< tensors that take turns at k addresses get k - 1 of them, or one
  SwapNeighbours, ///< two records that follow each other on an engine
};
inline constexpr size_t kMutationKinds = size_t(MutationKind::SwapNeighbours) + 1;
/// "drop-wait".
std::string_view nameOf(MutationKind kind);

struct Mutant {
  MutationKind kind = MutationKind::DropWait;
  uint32_t stream = 0; ///< index into Program::streams
  uint32_t record = 0; ///< position in the stream, of the first of two
  /// The new value or semaphore; which of two neighbours (0 before, 1 behind); the rotation.
  uint32_t argument = 0;
  uint32_t variant =
      0; ///< ShrinkRotation: 0 all tensors in turns, 1 those of the last address only
  bool operator==(const Mutant &) const = default;
};

/// A program, decoded once, and all its mutants in a fixed order.
class Mutator {
public:
  /// Precondition: `program` passes the verifier.
  explicit Mutator(const Program &program);

  const std::vector<Mutant> &mutants() const { return all; }
  /// The program of a mutant. It need not pass the verifier.
  Program apply(const Mutant &mutant) const;
  /// "weaken-wait vector[12] #40 nc_matmul: s3>=4 becomes s3>=3".
  std::string describe(const Mutant &mutant) const;

private:
  struct Rotation {
    std::vector<uint32_t> tensors; ///< as declared
    /// Partition and byte, by first use.
    std::vector<std::pair<uint32_t, uint64_t>> addresses;
  };

  Program program;
  std::vector<std::vector<Record>> streams;
  std::vector<Rotation> rotations;
  std::vector<Mutant> all;

  void addSyncs(uint32_t stream);
  void addWait(uint32_t stream, uint32_t record,
               const std::vector<std::pair<uint16_t, uint64_t>> &totals);
  void addUpdate(uint32_t stream, uint32_t record,
                 const std::vector<std::pair<uint16_t, uint64_t>> &totals);
  void addSwaps(uint32_t stream);
  void addRotations();
  void change(std::vector<Record> &records, const Mutant &mutant) const;
  void shrink(Program &mutated, const Mutant &mutant) const;
};

} // namespace kilnrt::mutation

#endif // KILN_TEST_MUTATION_MUTANTS_H
