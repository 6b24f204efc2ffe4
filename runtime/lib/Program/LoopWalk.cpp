//===- LoopWalk.cpp - the loops of the streams, read one record after another -----------------===//

#include "LoopWalk.h"

#include "kiln/ISA/Args.h"

#include <fmt/format.h>

#include <algorithm>

namespace kilnrt {

static std::string edgeText(int64_t edge) {
  return edge == 0 ? "the end of a loop" : fmt::format("a loop of {} iterations", edge);
}

void LoopWalk::startStream(isa::Engine engine) {
  isFirst = first == isa::Engine::Unknown;
  if (isFirst)
    first = engine;
  passed = 0;
  begun = 0;
  trips.clear();
  numbers.clear();
}

std::string LoopWalk::pass(const isa::Instruction &edge) {
  std::string fault =
      edge.opcode == isa::Opcode::LoopBegin ? open(isa::LoopBeginArgs(edge).tripCount) : close();
  ++passed;
  return fault;
}

std::string LoopWalk::open(int64_t tripCount) {
  if (tripCount == 0)
    return "a loop runs at least once, not 0 times";
  if (trips.size() == isa::kMaxLoopDepth)
    return fmt::format("the loop stands inside {} others, at most {} stand inside one another",
                       trips.size(), isa::kMaxLoopDepth);
  trips.push_back(tripCount);
  numbers.push_back(begun++);
  return compare(tripCount);
}

std::string LoopWalk::close() {
  if (trips.empty())
    return "no loop is open that could end here";
  trips.pop_back();
  numbers.pop_back();
  return compare(0);
}

std::string LoopWalk::compare(int64_t edge) {
  if (isFirst) {
    edges.push_back(edge);
    return {};
  }
  if (passed < edges.size() && edges[passed] == edge)
    return {};
  return fmt::format("the streams have different loops: here is {}, the {} stream has {} there",
                     edgeText(edge), isa::name(first),
                     passed < edges.size() ? edgeText(edges[passed]) : "none");
}

std::string LoopWalk::endStream() {
  if (!trips.empty())
    return fmt::format("the stream ends inside a loop of {} iterations", trips.back());
  if (passed < edges.size())
    return fmt::format(
        "the streams have different loops: this one ends, the {} stream has {} there",
        isa::name(first), edgeText(edges[passed]));
  return {};
}

bool LoopWalk::isInside(uint32_t loop) const {
  return std::find(numbers.begin(), numbers.end(), loop) != numbers.end();
}

uint32_t LoopWalk::loops() const {
  return uint32_t(std::count_if(edges.begin(), edges.end(), [](int64_t e) { return e != 0; }));
}

} // namespace kilnrt
