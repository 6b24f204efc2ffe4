//===- RulesAccumulate.cpp - rules of instructions with accumulators
//------------------------------===//
//
// What one of them asks of itself; how several follow each other is in Accumulators.cpp.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

#include <bit>
#include <limits>

namespace kiln::isa::rules {

namespace {

ReduceCmd commandOf(const InstView &view) { return ReduceCmd(fieldOf(view, "reduce_cmd")); }

std::string_view spelled(ReduceCmd command) { return nameOf(reduceCmdCases(), uint32_t(command)); }

} // namespace

void readOutNeedsReduce(const InstView &view, std::string_view id, const RuleSink &sink) {
  int result = view.desc.operandIndex("reduce_res");
  if (commandOf(view) == ReduceCmd::Idle && view.access(unsigned(result)).present())
    report(sink, id, result,
           text("reduce_cmd of ", view.desc.mnemonic, " is idle, ", view.describe(unsigned(result)),
                " would receive nothing"),
           "set reduce_cmd to reset_reduce or reduce, or leave reduce_res out");
}

void loadedStart(const InstView &view, std::string_view id, const RuleSink &sink) {
  unsigned start = unsigned(view.desc.operandIndex("reduce_init"));
  if (commandOf(view) == ReduceCmd::LoadReduce)
    return;
  bool isTile = view.access(start).present();
  if (!isTile && realOf(fieldOf(view, "imm_reduce_init")) == 0)
    return;
  report(sink, id, isTile ? int(start) : -1,
         text(isTile ? view.describe(start) : std::string("reduce_init"),
              " has no use with reduce_cmd ", spelled(commandOf(view))),
         "set reduce_cmd to load_reduce, or leave reduce_init out");
}

void noReverse(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (fieldOf(view, "reverse0") != 0)
    report(sink, id, -1, text(view.desc.mnemonic, " cannot swap the arguments of op0"),
           "leave reverse0 out; scalar - x is x * -1 + scalar, in a tensor_scalar before it");
}

void lowestFill(const InstView &view, std::string_view id, const RuleSink &sink) {
  double value = realOf(fieldOf(view, "on_false_value"));
  constexpr float lowest = std::numeric_limits<float>::lowest();
  static_assert(std::bit_cast<uint32_t>(lowest) == 0xFF7FFFFFu);
  if (value != double(lowest))
    report(sink, id, -1,
           text("on_false_value of ", view.desc.mnemonic, " is ", value,
                ", the hardware fills with the lowest float32 only, ", double(lowest)),
           "leave on_false_value out");
}

} // namespace kiln::isa::rules
