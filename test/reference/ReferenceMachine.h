//===- ReferenceMachine.h - what a program of the table means, instruction by instruction -----===//
//
// An interpreter of programs that are not placed: every tensor has bytes of its own, records run
// in program order, one at a time. It shares the encoding of programs with the product and nothing
// that computes. One function an instruction, in a file an engine family (Reference*Engine.cpp and
// the like); ReferenceRows.cpp lists them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCEMACHINE_H
#define KILN_TEST_REFERENCE_REFERENCEMACHINE_H

#include "ReferenceNumbers.h"

#include "kiln/ISA/Args.h"
#include "kilnrt/HostArray.h"
#include "kilnrt/Program.h"

#include <map>
#include <string>
#include <vector>

namespace kiln::reference {

using Bytes = std::vector<std::byte>;

/// A tensor of the machine: partition after partition on chip, one run of bytes in HBM.
struct MemoryTensor {
  kilnrt::TensorInfo info;
  Bytes bytes;
  /// PSUM: of each 4 bytes, whether they hold a sum of matmuls.
  std::vector<bool> isSum;
};

/// The elements of one access, in the order of the flattened sequence: row after row.
class Elements {
public:
  Elements() = default;
  Elements(MemoryTensor &tensor, const isa::Access &access, int64_t extraOffset);

  bool present() const { return tensor != nullptr; }
  isa::DType dtype() const { return type; }
  size_t rows() const { return rowCount; }
  size_t columns() const { return places.size() / rowCount; }
  size_t size() const { return places.size(); }

  uint32_t bits(size_t i) const;
  uint32_t bits(size_t row, size_t column) const { return bits(row * columns() + column); }
  std::vector<uint32_t> allBits() const;
  /// The elements widened to fp32.
  std::vector<Single> allSingles() const;
  /// Writes an element; what it covers in PSUM is no sum any more.
  void setBits(size_t i, uint32_t bits);
  void setBits(size_t row, size_t column, uint32_t bits) {
    setBits(row * columns() + column, bits);
  }
  /// Writes an fp32 value, narrowed.
  void set(size_t i, Single x) { setBits(i, narrow(type, x)); }
  bool isSum(size_t i) const;
  void setSum(size_t i);

private:
  MemoryTensor *tensor = nullptr;
  isa::DType type = isa::DType::Float32;
  size_t rowCount = 1;
  std::vector<size_t> places; ///< first byte of each element
};

/// A tensor that was shown.
struct Shown {
  std::string prefix;
  Bytes data;
  std::vector<int64_t> iterations;
  bool operator==(const Shown &) const = default;
};

class Machine {
public:
  /// A program that `verify` has accepted, neither placed nor synchronised, without inputs.
  explicit Machine(const kilnrt::Program &program);

  /// Runs it to its end. An error: an instruction has no reference, or breaks a rule of the run.
  kilnrt::Status run();
  /// The bytes of every output, in result order.
  std::vector<Bytes> outputs() const;
  const std::vector<Shown> &shown() const { return shows; }

  // For the instructions:
  const isa::Instruction &inst() const { return *current; }
  isa::Engine engine() const { return current->engine; }
  /// The elements of an operand of the current instruction; not present() when it is absent.
  Elements operand(unsigned index);
  /// One value a partition: operand `index`, or `immediate` in every row when it is absent.
  std::vector<Single> column(unsigned index, float immediate, size_t rows);
  int32_t &reg(uint16_t index) { return registers[size_t(engine())][index]; }
  /// The reduction registers of the current engine.
  std::vector<Single> &accumulators() { return reduction[engine()]; }
  void show(Shown s) { shows.push_back(std::move(s)); }
  std::string_view text(uint32_t index) const { return program.texts[index]; }
  /// Numbers of the iterations of the loops around the current instruction.
  const std::vector<int64_t> &iterations() const { return loops; }
  /// The current instruction breaks a rule that only the run can see.
  void fail(std::string why) { failure = std::move(why); }

private:
  /// A record, or a loop with what is in it.
  struct Node {
    const kilnrt::Record *record = nullptr;
    bool isLoop = false;
    std::vector<Node> body;
  };
  using Nodes = std::vector<Node>;
  /// The records of one stream up to the end of the loop they are in.
  Nodes nest(const std::vector<kilnrt::Record> &records, size_t &next) const;
  /// Runs `streams` side by side: the loop edges together, what is between them by order.
  kilnrt::Status runAll(const std::vector<const Nodes *> &streams);
  kilnrt::Status runLoop(const std::vector<const Node *> &loop);
  kilnrt::Status runRecord(const kilnrt::Record &record);

  const kilnrt::Program &program;
  std::vector<MemoryTensor> tensors;
  std::vector<std::vector<kilnrt::Record>> records;
  std::array<std::array<int32_t, isa::machine.maxSequencerRegisters>, kilnrt::kEngineSlots>
      registers{};
  std::map<isa::Engine, std::vector<Single>> reduction;
  std::vector<Shown> shows;
  std::vector<int64_t> loops;
  const isa::Instruction *current = nullptr;
  std::string failure;
};

/// What an instruction does to the machine.
using Row = void (*)(Machine &);
/// The reference of `mnemonic`; null when nobody has written one.
Row findRow(std::string_view mnemonic);

/// Takes `row` for the reference of `mnemonic` as long as it lives: for tests that a wrong result
/// is found.
class WrongRow {
public:
  WrongRow(std::string_view mnemonic, Row row);
  ~WrongRow();
};

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCEMACHINE_H
