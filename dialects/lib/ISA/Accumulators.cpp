//===- Accumulators.cpp - chains of instructions through the accumulators of an engine
//------------===//

#include "kiln/ISA/Accumulators.h"

#include "RuleHelpers.h"

namespace kiln::isa {

using namespace rules;

AccumulatorStep accumulatorStep(const Instruction &inst, const InstDesc &desc) {
  const AccumulatorDesc &accumulators = desc.accumulators;
  if (!accumulators.isUsed)
    return AccumulatorStep::None;
  ReduceCmd command = accumulators.command;
  if (accumulators.field >= 0)
    command = ReduceCmd(inst.fields[desc.fields[size_t(accumulators.field)].word]);
  switch (command) {
  case ReduceCmd::Reset:
  case ReduceCmd::ResetReduce:
  case ReduceCmd::LoadReduce:
    return AccumulatorStep::Begin;
  case ReduceCmd::Reduce:
    return AccumulatorStep::Continue;
  case ReduceCmd::Idle:
    break;
  }
  if (accumulators.idleLoses)
    return AccumulatorStep::Lose;
  int readOut = desc.operandIndex("reduce_res");
  return readOut >= 0 && inst.operands[size_t(readOut)].present() ? AccumulatorStep::Read
                                                                  : AccumulatorStep::None;
}

AccumulatorChains::Chain &AccumulatorChains::chainOf(const InstDesc &desc) {
  // Rows with accumulators run on one engine: the registers are there.
  return chains[size_t(desc.engines.front())];
}

void AccumulatorChains::forget(const InstDesc &desc) {
  if (desc.accumulators.isUsed)
    chainOf(desc).state = Chain::State::Unknown;
}

void AccumulatorChains::forgetAll() {
  for (Chain &chain : chains)
    chain.state = Chain::State::Unknown;
}

void AccumulatorChains::mayBe(const AccumulatorChains &before, const AccumulatorChains &entry) {
  for (size_t i = 0; i < chains.size(); ++i)
    if (chains[i] == entry.chains[i])
      chains[i] = before.chains[i];
    else if (chains[i] != before.chains[i])
      chains[i].state = Chain::State::Unknown;
}

void AccumulatorChains::follow(const InstView &view, const RuleSink &sink) {
  AccumulatorStep step = accumulatorStep(view.inst, view.desc);
  if (step == AccumulatorStep::None)
    return;
  Chain &chain = chainOf(view.desc);
  if (step == AccumulatorStep::Lose) {
    chain.state = Chain::State::Empty;
    return;
  }
  unsigned main = mainInput(view);
  int64_t start = physicalStart(view, main), count = view.access(main).partitionCount;
  std::string_view verb = step == AccumulatorStep::Read ? " reads" : " continues from";
  if (step != AccumulatorStep::Begin && chain.state == Chain::State::Empty)
    report(sink, "M-08", -1,
           text(view.desc.mnemonic, verb, " the reduction registers of ",
                title(view.desc.engines.front()), ", which hold nothing here"),
           "begin the chain with reduce_cmd reset_reduce");
  else if (step != AccumulatorStep::Begin && chain.state == Chain::State::Open) {
    if (count != chain.count)
      report(sink, "P-04", int(main),
             text(view.describe(main), " uses ", counted(count, "partition"), ", the chain that ",
                  view.desc.mnemonic, verb, " uses ", chain.count),
             text("use ", chain.count, ", or begin a chain with reduce_cmd reset_reduce"));
    else if (start != chain.start)
      report(sink, "P-06", int(main),
             text(view.describe(main), " starts at partition ", start, ", the chain that ",
                  view.desc.mnemonic, verb, " starts at ", chain.start),
             text("copy ", quoted(view, main), " to partition ", chain.start,
                  " first, or begin a chain with reduce_cmd reset_reduce"));
  }
  // A read leaves the chain as it is; after a fault the rest is judged by this link.
  chain = {Chain::State::Open, start, count};
}

} // namespace kiln::isa
