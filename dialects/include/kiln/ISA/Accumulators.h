//===- Accumulators.h - chains of instructions through the accumulators of an engine
//--------------===//
//
// The Scalar and the Vector Engine each have one fp32 reduction register for each row of a tile,
// which keeps its value from instruction to instruction. Instructions that hand a value on this way
// are a chain: it begins with a command that sets the registers, stays on one engine, and every
// link starts at the same partition and uses the same number of them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_ACCUMULATORS_H
#define KILN_ISA_ACCUMULATORS_H

#include "kiln/ISA/Rules.h"

namespace kiln::isa {

/// What an instruction does to the accumulators of its engine.
enum class AccumulatorStep : uint8_t {
  None,     ///< nothing
  Begin,    ///< sets them, whatever they held
  Continue, ///< goes on from what they hold
  Read,     ///< writes them out and leaves them alone
  Lose,     ///< leaves them without a value
};

/// The step of `inst`, an instruction of the row `desc`.
AccumulatorStep accumulatorStep(const Instruction &inst, const InstDesc &desc);

/// Follows the instructions of a core in program order.
class AccumulatorChains {
public:
  /// Judges the next instruction. Reports M-08 when it goes on from accumulators that hold nothing,
  /// P-04 and P-06 when it uses other partitions than the chain it continues. Precondition: the
  /// operands of `view` are sane.
  void follow(const InstView &view, const RuleSink &sink);
  /// An instruction of the row may have run, or not: nothing is known of its engine's accumulators.
  void forget(const InstDesc &desc);
  /// The same of every engine.
  void forgetAll();
  /// What was followed from `entry` on may not have run, and then things are as `before`: what it
  /// changed is not known.
  void mayBe(const AccumulatorChains &before, const AccumulatorChains &entry);

private:
  struct Chain {
    enum class State : uint8_t { Empty, Open, Unknown };
    State state = State::Empty;
    int64_t start = 0; ///< physical first partition of the main input
    int64_t count = 0;
    bool operator==(const Chain &) const = default;
  };
  Chain &chainOf(const InstDesc &desc);

  std::array<Chain, size_t(Engine::Sync) + 1> chains; ///< by engine
};

} // namespace kiln::isa

#endif // KILN_ISA_ACCUMULATORS_H
