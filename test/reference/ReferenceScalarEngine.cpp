//===- ReferenceScalarEngine.cpp - what the instructions of the Scalar Engine compute ---------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

namespace kiln::reference {

using isa::ReduceCmd;

namespace {

/// Both instructions; they have the same operands in the same places.
void activate(Machine &m, isa::ActFn fn, float bias, float scale, ReduceCmd command) {
  using Args = isa::ActivationArgs;
  Elements dst = m.operand(Args::dst), result = m.operand(Args::reduceRes);
  const Elements data = m.operand(Args::data);
  const std::vector<Single> x = data.allSingles();
  const std::vector<Single> biases = m.column(Args::bias, bias, data.rows());
  const std::vector<Single> scales = m.column(Args::scale, scale, data.rows());
  std::vector<Single> &sums = m.accumulators();
  sums.resize(isa::machine.numPartitions);
  for (size_t row = 0; row < data.rows(); ++row) {
    if (command == ReduceCmd::Reset || command == ReduceCmd::ResetReduce)
      sums[row] = kZero;
    for (size_t column = 0; column < data.columns(); ++column) {
      size_t i = row * data.columns() + column;
      Single y = applyFunction(fn, add(multiply(x[i], scales[row]), biases[row]));
      dst.set(i, y);
      if (command == ReduceCmd::Reduce || command == ReduceCmd::ResetReduce)
        sums[row] = add(sums[row], y);
    }
  }
  for (size_t row = 0; result.present() && row < data.rows(); ++row)
    result.set(row, sums[row]);
}

} // namespace

void activation(Machine &m) {
  const isa::ActivationArgs args(m.inst());
  activate(m, args.op, args.immBias, args.immScale, args.reduceCmd);
}

void activationReduce(Machine &m) {
  const isa::ActivationReduceArgs args(m.inst());
  activate(m, args.op, args.immBias, args.immScale, ReduceCmd::ResetReduce);
}

} // namespace kiln::reference
