//===- RandomInstruction.h - random legal instances of any row of the table -------------------===//
//
// A walk through the legal instances of a row. It begins at the row's example in the table and
// draws changes: of partitions, counts, patterns, dtypes, memories, fields, engines. What the rules
// refuse is drawn again. Nothing here names an instruction, so a new row is covered as soon as it
// has an example.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_RANDOMINSTRUCTION_H
#define KILN_TEST_REFERENCE_RANDOMINSTRUCTION_H

#include "kiln/ISA/Rules.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kiln::reference {

/// A tensor of an instance. On chip `shape` is partitions and elements; in HBM, elements.
struct InstanceTensor {
  isa::Memory memory = isa::Memory::Sbuf;
  isa::DType dtype = isa::DType::Float32;
  std::vector<int64_t> shape;
};

/// An instruction with one tensor for each operand it has; `Access::tensor` is the operand's
/// number.
struct Instance {
  isa::Instruction inst;
  std::array<InstanceTensor, isa::kMaxOperands> tensors;
};

/// Id of the first rule `instance` breaks; nothing when it is legal. `tripCounts` are the
/// iterations of the loops around it, outermost first.
std::optional<std::string> brokenRule(const Instance &instance,
                                      std::span<const int64_t> tripCounts = {});

/// A rule an instance breaks, and the operand at fault; -1 for the whole instruction.
struct Breach {
  std::string rule;
  int operand;
};
/// Every rule `instance` breaks; none when it is legal.
std::vector<Breach> brokenRules(const Instance &instance, std::span<const int64_t> tripCounts = {});

/// Makes the tensor of a present operand just large enough for its access and `slack` elements
/// more. In HBM the rows of the access come to lie one after another.
void fitTensor(Instance &instance, unsigned operand, int64_t slack = 0);

/// Draws legal instances of one row, all of them a function of the seed.
class InstanceWalk {
public:
  using Rng = std::mt19937_64;

  /// `example` is the row's line of the table, without "nisa."; empty for a row that has none,
  /// which then begins with every field at its default.
  InstanceWalk(const isa::InstDesc &desc, std::string_view example, uint64_t seed);

  /// Whether a legal instance to begin with was found. `next` needs one.
  bool isStarted() const { return started; }
  /// Why not: what the last draw was refused for.
  const std::string &why() const { return obstacle; }
  /// The next legal instance, another than the last.
  const Instance &next();
  /// Instances drawn and put to the rules since the start, and how many of them were legal.
  uint64_t drawn() const { return draws; }
  uint64_t legal() const { return kept; }

private:
  void start(std::string_view example);
  void drawSingle(Instance &instance);
  void drawField(Instance &instance, const isa::FieldDesc &field);
  void change(Instance &instance);
  void changePartitions(Instance &instance);
  void changeCounts(Instance &instance);
  void changeDtype(Instance &instance);
  void changeOperand(Instance &instance);
  void changeField(Instance &instance);
  void layOut(Instance &instance, unsigned operand, int64_t count);
  void fitTensors(Instance &instance);
  uint64_t below(uint64_t n) { return rng() % n; }
  bool isOneIn(unsigned n) { return below(n) == 0; }
  double drawReal(bool isSingle);

  const isa::InstDesc &desc;
  Rng rng;
  Instance current;
  bool started = false;
  std::string obstacle;
  uint64_t draws = 0, kept = 0;
};

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_RANDOMINSTRUCTION_H
