//===- Trace.h - what tracing a kernel leaves behind ------------------------------------------===//
//
// The DSL records plain data; conversion to the nisa dialect is a separate step, so that neither
// kernel code nor the tracer sees MLIR. Everything is indexed by position: tensors, locations,
// instructions.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TRACE_TRACE_H
#define KILN_TRACE_TRACE_H

#include "kiln/ISA/Diagnostic.h"
#include "kiln/ISA/Instruction.h"
#include "kiln/Tile/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln::trace {

inline constexpr uint32_t kNone = UINT32_MAX;

enum class TensorRole : uint8_t { Internal, Input, Output };

struct Tensor {
  std::string name; ///< the author's, or "arg0", "t12" made up by the tracer; unique in a trace
  isa::Memory memory = isa::Memory::Sbuf;
  isa::DType dtype = isa::DType::Float32;
  TensorRole role = TensorRole::Internal;
  std::vector<int64_t> shape;
  uint32_t index = 0; ///< Input: parameter number; Output: result number
  std::optional<std::pair<uint32_t, uint64_t>> address; ///< (first partition, byte) chosen by hand
  uint32_t location = kNone;
  bool isNamed = false;  ///< the author chose the name
  bool isShared = false; ///< declared in shared_hbm
  uint32_t loop = kNone; ///< the loop it was declared in; kNone: in none
};

/// A loop of the device around the instructions [begin, end), which are at least one.
struct Loop {
  uint32_t begin = 0, end = 0;
  isa::LoopControl control;
  uint32_t parent = kNone; ///< the loop around it, always smaller than the own index
  uint32_t location = kNone;
};

struct Location {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t caller = kNone; ///< index of the call site, always smaller than the own index
};

struct Instruction {
  isa::Instruction inst; ///< accesses name tensors by their index in Trace::tensors
  uint32_t location = kNone;
};

/// A loop over nl::affine_range, which promises independent iterations.
struct ClaimedLoop {
  uint32_t location = kNone;
  std::vector<uint32_t> iterations; ///< first instruction of each, and the first one after the last
};

/// A finished trace. Tensors are numbered by their first use, in operand order, so that the trace
/// does not depend on the order in which a host compiler evaluates call arguments.
struct Trace {
  std::string kernel;
  std::vector<std::string> files; ///< relative to the folder of the kernel file where possible
  std::vector<Location> locations;
  std::vector<Tensor> tensors;
  std::vector<Instruction> instructions; ///< bodies of loops once
  std::vector<std::string> texts;        ///< what prints show in front, each once
  std::vector<Loop> loops;               ///< by beginning, outer ones first
  std::vector<ClaimedLoop> claimedLoops; ///< in the order they began
  /// Values and what becomes of them; no nodes when the kernel has no values. Buffer i is tensor i,
  /// locations are those of the trace, and border nodes stand in program order: their positions
  /// never fall.
  tile::Graph graph;

  CallChain chain(uint32_t location) const;
  /// Iterations of each loop around instruction `index`, outermost first.
  std::vector<int64_t> tripCounts(uint32_t index) const;
};

} // namespace kiln::trace

#endif // KILN_TRACE_TRACE_H
