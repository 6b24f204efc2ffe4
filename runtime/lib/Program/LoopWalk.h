//===- LoopWalk.h - the loops of the streams, read one record after another -------------------===//
//
// Private to the library. All streams of a program have the same loops at the same places: the
// first stream says which, the others are compared with it. The edges of the loops cut a stream
// into epochs; epoch n of one stream runs beside epoch n of the others and nothing else.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROGRAM_LOOPWALK_H
#define KILNRT_LIB_PROGRAM_LOOPWALK_H

#include "kilnrt/Program.h"

#include <optional>

namespace kilnrt {

class LoopWalk {
public:
  static bool isEdge(isa::Opcode opcode) {
    return opcode == isa::Opcode::LoopBegin || opcode == isa::Opcode::LoopEnd;
  }

  /// A new stream starts.
  void startStream(isa::Engine engine);
  /// Passes an edge of the stream at hand. What is wrong with it; empty when nothing is.
  std::string pass(const isa::Instruction &edge);
  /// What the end of the stream leaves open or out; empty when nothing.
  std::string endStream();

  /// Iterations of the loops that are open, outermost first; 1 where the run decides: no operand
  /// moves with such a loop.
  std::span<const int64_t> tripCounts() const { return trips; }
  /// Whether loop number `loop` is open.
  bool isInside(uint32_t loop) const;
  /// Epochs before the one at hand.
  size_t epoch() const { return passed; }
  /// Loops of the streams.
  uint32_t loops() const;

private:
  using Edge = std::optional<isa::Instruction>; ///< a beginning; nothing for an end
  std::string open(const isa::Instruction &edge);
  std::string close();
  std::string compare(Edge edge);

  std::vector<Edge> edges; ///< of the first stream
  isa::Engine first = isa::Engine::Unknown;
  bool isFirst = false;
  // Of the stream at hand:
  size_t passed = 0;
  uint32_t begun = 0;
  std::vector<int64_t> trips;
  std::vector<Edge> opened;
  std::vector<uint32_t> numbers; ///< of the loops that are open
};

} // namespace kilnrt

#endif // KILNRT_LIB_PROGRAM_LOOPWALK_H
