//===- HandlersVector.cpp - elementwise, folds, generators ------------------------------------===//
//
// Adapters: tiles and fields of an operation to the semantic function of its row.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"
#include "kilnrt/Semantics/Copy.h"
#include "kilnrt/Semantics/Elementwise.h"
#include "kilnrt/Semantics/Generate.h"
#include "kilnrt/Semantics/Reduce.h"

using namespace kilnrt;

Status kilnrt::execTensorCopy(Core &core, const Operation &op, const isa::TensorCopyArgs &args) {
  copyTile(core.input(op, args.src), core.output(op, args.dst));
  return Status::ok();
}

Status kilnrt::execMemset(Core &core, const Operation &op, const isa::MemsetArgs &args) {
  memsetTile(args.value, core.output(op, args.dst));
  return Status::ok();
}

Status kilnrt::execIota(Core &core, const Operation &op, const isa::IotaArgs &args) {
  iotaTile(args.pattern, args.offset, args.channelMultiplier, core.output(op, args.dst));
  return Status::ok();
}

Status kilnrt::execTensorTensor(Core &core, const Operation &op,
                                const isa::TensorTensorArgs &args) {
  const ConstTile a = core.input(op, args.data1), b = core.input(op, args.data2);
  const Tile dst = core.output(op, args.dst);
  const bool isInteger =
      isa::isWideInteger(a.dtype) && isa::isWideInteger(b.dtype) && isa::isWideInteger(dst.dtype);
  if (isa::info(args.op).isBitvec)
    tensorTensorBits(args.op, a, b, dst);
  else if (op.engine == isa::Engine::Gpsimd && isInteger && args.op != AluOp::Power)
    tensorTensorIntegers(args.op, a, b,
                         dst); // GpSimd has integer units; the Vector Engine goes through fp32
  else
    tensorTensor(args.op, a, b, dst);
  return Status::ok();
}

Status kilnrt::execTensorScalar(Core &core, const Operation &op,
                                const isa::TensorScalarArgs &args) {
  std::array<ConstTile, 2> columns;
  auto scalar = [&](unsigned operand, double value, ConstTile &column) -> Scalar {
    if (!core.has(op, operand))
      return {value, nullptr};
    column = core.input(op, operand);
    return {0, &column};
  };
  const ScalarStage first{args.op0, scalar(args.operand0, args.imm0, columns[0]), args.reverse0};
  const ScalarStage second{args.op1, scalar(args.operand1, args.imm1, columns[1]), args.reverse1};
  const ConstTile data = core.input(op, args.data);
  const Tile dst = core.output(op, args.dst);
  if (isa::info(args.op0).isBitvec)
    tensorScalarBits(data, first, second, dst);
  else
    tensorScalar(data, first, second, dst);
  return Status::ok();
}

Status kilnrt::execTensorReduce(Core &core, const Operation &op,
                                const isa::TensorReduceArgs &args) {
  const ConstTile data = core.input(op, args.data);
  const Tile dst = core.output(op, args.dst);
  const int64_t groupElements = data.elements / dst.elements;
  if (isa::info(args.op).isBitvec)
    tensorReduceBits(args.op, data, groupElements, dst);
  else
    tensorReduce(args.op, data, groupElements, args.negate, dst);
  return Status::ok();
}

Status kilnrt::execSemaphoreWait(Core &, const Operation &, const isa::SemaphoreWaitArgs &) {
  return Status::ok(); // the wait is its record's
}

Status kilnrt::execLoopBegin(Core &, const Operation &, const isa::LoopBeginArgs &) {
  return Status::ok(); // streams meet there, which is the runner's work
}

Status kilnrt::execLoopEnd(Core &, const Operation &, const isa::LoopEndArgs &) {
  return Status::ok(); // the same
}
