//===- Kernel.h - what the analyses know about a kernel ---------------------------------------===//
//
// A kernel as plain data: tensors and the instructions in program order,
// everything named by position. Passes fill it from IR once; every analysis
// takes it by reference, because an instruction is large. Nothing here knows
// IR, and nothing changes a kernel.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ANALYSIS_KERNEL_H
#define KILN_ANALYSIS_KERNEL_H

#include "kiln/ISA/Diagnostic.h"
#include "kiln/ISA/Instruction.h"
#include "kiln/ISA/Rules.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kiln::analysis {

inline constexpr uint32_t kNone = UINT32_MAX;

enum class TensorRole : uint8_t { Internal, Input, Output, Constant };

struct KernelTensor {
  std::string name; ///< the author's, or one the compiler made up
  isa::Memory memory = isa::Memory::Sbuf;
  isa::DType dtype = isa::DType::Float32;
  TensorRole role = TensorRole::Internal;    ///< anything but Internal lies in HBM
  std::vector<int64_t> shape;                ///< on chip: dim 0 is the partition dim
  std::optional<isa::TensorAddress> address; ///< chosen by hand; on chip only
  uint32_t location = kNone;                 ///< where it was declared
  /// Index of the loop it was declared in; each iteration has it anew. kNone: in none.
  uint32_t loop = kNone;

  bool isOnChip() const { return memory != isa::Memory::Hbm; }
  /// Partitions of an on-chip tensor.
  int64_t partitions() const { return shape.empty() ? 1 : shape.front(); }
  /// Bytes of one partition (on chip) or of the tensor (HBM).
  int64_t bytes() const;
};

/// One frame of a source position; `caller` is the index of the call site it
/// was reached from.
struct KernelLocation {
  uint32_t file = 0; ///< index into Kernel::files
  uint32_t line = 0;
  uint32_t caller = kNone; ///< always smaller than the own index
};

struct KernelInstruction {
  isa::Instruction inst; ///< engine resolved; operands name tensors by index
  uint32_t location = kNone;
};

/// A rolled loop around the instructions [begin, end), which are at least one.
struct KernelLoop {
  uint32_t begin = 0, end = 0;
  int64_t tripCount = 1;
  uint32_t parent = kNone; ///< the loop around it, always smaller than the own index
  uint32_t location = kNone;
};

struct Kernel {
  std::vector<std::string> files;
  std::vector<KernelLocation> locations;
  std::vector<KernelTensor> tensors;
  std::vector<KernelInstruction> instructions; ///< in program order, bodies of loops once
  std::vector<KernelLoop> loops;               ///< by beginning, outer ones first

  /// The chain of `location`, innermost first; empty for kNone.
  CallChain chain(uint32_t location) const;
  /// Line of the innermost frame of `location`; 0 when unknown.
  unsigned line(uint32_t location) const;
};

/// "line 12", or "an unknown line".
std::string lineText(const Kernel &kernel, uint32_t location);

/// "'x'", or "a tensor without a name".
std::string quotedName(const KernelTensor &tensor);

//---- streams --------------------------------------------------------------------------------===//

/// Engines of a core, in the order of the Engine enum. Their position here is
/// their stream number.
inline constexpr std::array<isa::Engine, 5> kEngines = {isa::Engine::Tensor, isa::Engine::Scalar,
                                                        isa::Engine::Gpsimd, isa::Engine::Vector,
                                                        isa::Engine::Sync};
inline constexpr unsigned kNumEngines = kEngines.size();
/// What completes in order: engines first, then DMA rings (what proves a transfer
/// complete proves the earlier ones of its ring).
inline constexpr unsigned kNumStreams = kNumEngines + isa::machine.dmaRings;

/// Stream number of `engine`; kNumEngines for Engine::Unknown.
constexpr unsigned engineStream(isa::Engine engine) {
  unsigned i = 0;
  while (i < kNumEngines && kEngines[i] != engine)
    ++i;
  return i;
}
/// Stream number of DMA ring `ring`.
constexpr unsigned ringStream(unsigned ring) { return kNumEngines + ring; }

/// True for the instructions that an engine only triggers and a DMA ring
/// completes.
inline bool isTransfer(const isa::Instruction &inst) { return inst.desc().isTransfer; }

/// What an instruction does with an operand. An accumulating matmul also reads
/// its dst, and so does an instruction that leaves elements of it alone; since a
/// write already waits for everything a read would wait for, that needs no third
/// case.
struct OperandUse {
  bool reads = false, writes = false;
};
/// Use of operand `i` of `inst`; neither for an absent operand.
OperandUse operandUse(const isa::Instruction &inst, unsigned i);

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_KERNEL_H
