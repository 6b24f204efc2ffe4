//===- HandlersAccumulate.cpp - instructions with reduction registers
//-----------------------------===//
//
// The registers are state of the engine: an instruction sets them or goes on from what an earlier
// one of its stream left. Which rows hold a value, and for which partitions, is checked here at run
// time; the kernel language checks the same where it sees the whole program.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "Diagnose.h"
#include "kilnrt/Numerics/Fold.h"
#include "kilnrt/Semantics/Accumulate.h"
#include "kilnrt/Semantics/Activate.h"

using namespace kilnrt;
using isa::ReduceCmd;

//---- registers ----------------------------------------------------------===//

static ReductionRegisters &registersOf(Core &core, const Operation &op) {
  return core.reductions[size_t(op.engine)];
}

/// The operand whose rows the registers stand for.
static const Place &mainPlace(const Operation &op) { return op.places[isa::mainInput(op.desc())]; }

static std::string countedPartitions(uint32_t n) {
  return std::to_string(n) + (n == 1 ? " partition" : " partitions");
}

/// The registers of all rows of `op` have values, set for the same partitions.
static Status checkChain(Core &core, const Operation &op, std::string_view verb) {
  const ReductionRegisters &registers = registersOf(core, op);
  const uint32_t rows = mainPlace(op).shape().rows, partition = mainPlace(op).partition;
  const std::string subject = std::string(op.desc().mnemonic) + std::string(verb);
  if (registers.defined < rows)
    return faultAt(core.image, op, -1, "M-08",
                   subject + " the reduction register of row " + std::to_string(registers.defined) +
                       ", which was never set",
                   op.engine == isa::Engine::Scalar
                       ? "start the sum with reduce_cmd reset_reduce or reset"
                       : "start the chain with reduce_cmd reset_reduce");
  if (registers.defined > rows)
    return faultAt(core.image, op, -1, "P-04",
                   subject + " a chain of " + countedPartitions(registers.defined) + ", it uses " +
                       std::to_string(rows),
                   "use as many partitions as the instruction that began the chain");
  if (registers.partition != partition)
    return faultAt(core.image, op, -1, "P-06",
                   subject + " a chain that starts at partition " +
                       std::to_string(registers.partition) + ", it starts at " +
                       std::to_string(partition),
                   "copy its input to the partitions of the chain first");
  return Status::ok();
}

/// Brings the registers to where `command` begins: to `start`, or to what they hold.
static Status beginChain(Core &core, const Operation &op, ReduceCmd command, const Scalar &start) {
  if (command == ReduceCmd::Reduce)
    return checkChain(core, op, " continues from");
  ReductionRegisters &registers = registersOf(core, op);
  registers.defined = mainPlace(op).shape().rows;
  registers.partition = mainPlace(op).partition;
  loadScalar(start, registers.defined, registers.values.data());
  return Status::ok();
}

static Scalar scalarInput(const Core &core, const Operation &op, unsigned operand, float value,
                          ConstTile &column) {
  if (!core.has(op, operand))
    return {value, nullptr};
  column = core.input(op, operand);
  return {0, &column};
}

/// Writes the registers to the operand that receives them, if present. Last of all: it wins over
/// dst.
static void readOut(Core &core, const Operation &op, unsigned operand, bool isNegated = false) {
  if (core.has(op, operand))
    storeColumn(registersOf(core, op).values.data(), isNegated, core.output(op, operand));
}

//---- Scalar Engine ------------------------------------------------------===//

/// activation and activation_reduce, whose operands and factors have the same names.
template <typename Args>
static Status activate(Core &core, const Operation &op, const Args &args, ReduceCmd command) {
  const bool isReducing = command == ReduceCmd::Reduce || command == ReduceCmd::ResetReduce;
  const bool isReadOut = core.has(op, args.reduceRes);
  if (command != ReduceCmd::Idle) {
    if (Status status = beginChain(core, op, command, Scalar{}); !status)
      return status;
  } else if (isReadOut) {
    if (Status status = checkChain(core, op, " reads"); !status)
      return status;
  }
  ConstTile scaleColumn, biasColumn;
  const Scalar scale = scalarInput(core, op, args.scale, args.immScale, scaleColumn),
               bias = scalarInput(core, op, args.bias, args.immBias, biasColumn);
  activation(args.op, core.input(op, args.data), scale, bias, core.output(op, args.dst),
             isReducing ? registersOf(core, op).values.data() : nullptr);
  readOut(core, op, args.reduceRes);
  return Status::ok();
}

Status kilnrt::execActivation(Core &core, const Operation &op, const isa::ActivationArgs &args) {
  return activate(core, op, args, args.reduceCmd);
}

Status kilnrt::execActivationReduce(Core &core, const Operation &op,
                                    const isa::ActivationReduceArgs &args) {
  return activate(core, op, args, ReduceCmd::ResetReduce);
}

//---- Vector Engine ------------------------------------------------------===//

Status kilnrt::execTensorScalarReduce(Core &core, const Operation &op,
                                      const isa::TensorScalarReduceArgs &args) {
  ConstTile startColumn, scalarColumn;
  Scalar start{foldIdentity(args.reduceOp), nullptr};
  if (args.reduceCmd == ReduceCmd::LoadReduce)
    start = scalarInput(core, op, args.reduceInit, args.immReduceInit, startColumn);
  if (Status status = beginChain(core, op, args.reduceCmd, start); !status)
    return status;
  const ScalarStage stage{args.op0, scalarInput(core, op, args.operand0, args.imm0, scalarColumn),
                          false};
  tensorScalarReduce(core.input(op, args.data), stage, args.reduceOp, core.output(op, args.dst),
                     registersOf(core, op).values.data());
  readOut(core, op, args.reduceRes, args.reduceResNegate);
  return Status::ok();
}

/// Registers a selection takes the maximum into; null when it is idle, which leaves them undefined.
static Expected<float *> selectionMaxima(Core &core, const Operation &op, ReduceCmd command) {
  if (command == ReduceCmd::Idle) {
    registersOf(core, op).defined = 0;
    return static_cast<float *>(nullptr);
  }
  const Scalar lowest{foldIdentity(AluOp::Maximum), nullptr};
  if (Status status = beginChain(core, op, command, lowest); !status)
    return status.error();
  return registersOf(core, op).values.data();
}

Status kilnrt::execRangeSelect(Core &core, const Operation &op, const isa::RangeSelectArgs &args) {
  Expected<float *> maxima = selectionMaxima(core, op, args.reduceCmd);
  if (!maxima)
    return maxima.error();
  rangeSelect(core.input(op, args.onTrueTile), {args.compOp0, core.input(op, args.bound0)},
              {args.compOp1, core.input(op, args.bound1)}, args.rangeStart, args.onFalseValue,
              core.output(op, args.dst), *maxima);
  readOut(core, op, args.reduceRes);
  return Status::ok();
}

Status kilnrt::execSelectReduce(Core &core, const Operation &op,
                                const isa::SelectReduceArgs &args) {
  Expected<float *> maxima = selectionMaxima(core, op, args.reduceCmd);
  if (!maxima)
    return maxima.error();
  ConstTile column;
  const Scalar onFalse = scalarInput(core, op, args.onFalse, args.immOnFalse, column);
  selectReduce(core.input(op, args.predicate), args.reversePred, core.input(op, args.onTrue),
               onFalse, core.output(op, args.dst), *maxima);
  readOut(core, op, args.reduceRes);
  return Status::ok();
}
