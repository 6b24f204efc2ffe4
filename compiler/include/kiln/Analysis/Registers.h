//===- Registers.h - which engine needs which register, and under which number ----------------===//
//
// The kernel's registers are variables without a place. Each engine has registers of its own, and
// all of them use one numbering: a loop is decided by the register of the same number everywhere.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_REGISTERS_H
#define KILN_ANALYSIS_REGISTERS_H

#include "kiln/Analysis/Kernel.h"

#include <map>
#include <set>

namespace kiln::analysis {

/// What one instruction, or the edge of a loop, does with registers.
struct RegisterUse {
  enum Edge : uint8_t { None, Begin, End } edge = None;
  isa::Engine engine = isa::Engine::Unknown; ///< of an instruction that is no sequencer's
  bool isSequencer = false;                  ///< runs on whichever engines need what it does
  uint16_t sets = isa::kNoRegister;          ///< at a Begin: the counter
  std::vector<uint16_t> reads;
  bool any() const { return sets != isa::kNoRegister || !reads.empty(); }
};

struct RegisterPlan {
  /// Engines that run the kernel, in stream order; Sync where it has none but sequencers.
  std::vector<isa::Engine> engines;
  std::map<uint16_t, uint16_t> numbers;             ///< of the kernel's registers
  std::map<uint16_t, std::set<isa::Engine>> needed; ///< by register of the kernel: who reads it
  /// Registers live at once where there are more than an engine has; 0: they fit.
  uint32_t tooMany = 0;
  size_t at = 0; ///< the use where they are

  /// Engines that run a sequencer's instruction: those that need what it sets; one, if it writes
  /// memory.
  std::vector<isa::Engine> enginesOf(const RegisterUse &use) const;
};

/// `uses` in the order of the kernel, loops bracketed by Begin and End.
RegisterPlan planRegisters(const std::vector<RegisterUse> &uses);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_REGISTERS_H
