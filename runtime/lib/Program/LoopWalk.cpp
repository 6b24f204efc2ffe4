//===- LoopWalk.cpp - the loops of the streams, read one record after another -----------------===//

#include "LoopWalk.h"

#include "kiln/ISA/Args.h"

#include <fmt/format.h>

#include <algorithm>

namespace kilnrt {

static std::string edgeText(const std::optional<isa::Instruction> &edge) {
  if (!edge)
    return "the end of a loop";
  const isa::LoopBeginArgs loop(*edge);
  if (loop.kind == isa::LoopKind::Count)
    return fmt::format("a loop of {} iterations", loop.tripCount);
  return fmt::format("a loop of kind '{}'", isa::name(loop.kind));
}

/// What is wrong with the fields of a beginning; empty when nothing is.
static std::string faultOf(const isa::LoopBeginArgs &loop) {
  const isa::LoopBeginArgs blank(isa::makeInstruction(isa::Opcode::LoopBegin));
  const bool isCount = loop.kind == isa::LoopKind::Count;
  const bool isRange = loop.kind == isa::LoopKind::Range;
  if (loop.tripCount == 0 || loop.step == 0)
    return isCount ? "a loop runs at least once, not 0 times"
                   : "a loop counts by at least 1, not 0";
  const bool hasBounds = loop.first != blank.first || loop.last != blank.last ||
                         loop.firstRegister != isa::kNoRegister ||
                         loop.lastRegister != isa::kNoRegister || loop.step != blank.step;
  if ((!isRange && hasBounds) || (!isCount && loop.tripCount != blank.tripCount) ||
      (isCount && loop.reg != isa::kNoRegister))
    return fmt::format("a loop of kind '{}' has fields of another kind", isa::name(loop.kind));
  if (!isCount && loop.reg == isa::kNoRegister)
    return fmt::format("a loop of kind '{}' has no register", isa::name(loop.kind));
  if ((loop.firstRegister != isa::kNoRegister && loop.first != 0) ||
      (loop.lastRegister != isa::kNoRegister && loop.last != 0))
    return "a bound of the loop is a register and a number";
  return {};
}

void LoopWalk::startStream(isa::Engine engine) {
  isFirst = first == isa::Engine::Unknown;
  if (isFirst)
    first = engine;
  passed = 0;
  begun = 0;
  trips.clear();
  opened.clear();
  numbers.clear();
}

std::string LoopWalk::pass(const isa::Instruction &edge) {
  std::string fault = edge.opcode == isa::Opcode::LoopBegin ? open(edge) : close();
  ++passed;
  return fault;
}

std::string LoopWalk::open(const isa::Instruction &edge) {
  const isa::LoopBeginArgs loop(edge);
  if (std::string fault = faultOf(loop); !fault.empty())
    return fault;
  if (trips.size() == isa::kMaxLoopDepth)
    return fmt::format("the loop stands inside {} others, at most {} stand inside one another",
                       trips.size(), isa::kMaxLoopDepth);
  trips.push_back(loop.tripCount);
  opened.push_back(edge);
  numbers.push_back(begun++);
  isa::Instruction alike = edge; // but for the engine
  alike.engine = isa::Engine::Unknown;
  return compare(std::move(alike));
}

std::string LoopWalk::close() {
  if (trips.empty())
    return "no loop is open that could end here";
  trips.pop_back();
  opened.pop_back();
  numbers.pop_back();
  return compare(std::nullopt);
}

std::string LoopWalk::compare(Edge edge) {
  if (isFirst) {
    edges.push_back(std::move(edge));
    return {};
  }
  if (passed < edges.size() && edges[passed] == edge)
    return {};
  const std::string there = passed < edges.size() ? edgeText(edges[passed]) : "none";
  std::string here = edgeText(edge);
  if (here == there)
    here += " with other bounds, step or register";
  return fmt::format("the streams have different loops: here is {}, the {} stream has {} there",
                     here, isa::name(first), there);
}

std::string LoopWalk::endStream() {
  if (!trips.empty())
    return fmt::format("the stream ends inside {}", edgeText(opened.back()));
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
  return uint32_t(std::ranges::count_if(edges, &Edge::has_value));
}

} // namespace kilnrt
