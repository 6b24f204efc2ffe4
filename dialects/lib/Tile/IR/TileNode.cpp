//===- TileNode.cpp - tile ops as nodes of a graph, and back ----------------------------------===//
//
// Reading goes through the ops' interface; building is the one place that names every op.
//
//===------------------------------------------------------------------------------------------===//

#include "OpImpl.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static std::vector<int64_t> toVector(ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

View kiln::tile::wholeView(nisa::BufType type) {
  View view;
  ArrayRef<int64_t> shape = type.getShape();
  view.stride.assign(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > (type.isOnChip() ? 1 : 0);)
    view.stride[i] = view.stride[i + 1] * shape[i + 1];
  return view;
}

Value kiln::tile::bufferOf(NodeOpInterface op) {
  for (Value operand : op->getOperands())
    if (llvm::isa<nisa::BufType>(operand.getType()))
      return operand;
  return {};
}

static View toView(ViewAttr attr, nisa::BufType type) {
  if (!attr)
    return wholeView(type);
  View view;
  view.partition = attr.getPartition();
  view.offset = attr.getOffset();
  view.stride = toVector(attr.getStrides());
  return view;
}

static Hint toHint(HintAttr attr) {
  Hint hint;
  if (!attr)
    return hint;
  hint.partitionDim = attr.getPartitionDim();
  hint.tile = toVector(attr.getTile());
  hint.buffers = attr.getBuffers();
  hint.in = attr.getMemory();
  return hint;
}

bool kiln::tile::hasValues(nisa::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front(), [](Operation &op) {
    return llvm::isa_and_present<TileDialect>(op.getDialect());
  });
}

Node kiln::tile::toNode(NodeOpInterface op, function_ref<NodeId(Value)> nodeOf) {
  Node node;
  node.op = op.getKind();
  op.writeNode(node);
  node.hint = toHint(op.getHintAttr());
  for (Value operand : op->getOperands())
    if (!llvm::isa<nisa::BufType>(operand.getType()))
      node.operands.push_back(nodeOf(operand));
  Value shaped = op->getNumResults() ? op->getResult(0) : op->getOperand(0);
  node.shape = toVector(cast<RankedTensorType>(shaped.getType()).getShape());
  node.dtype = op->getNumResults() ? dtypeOf(shaped)
                                   : cast<nisa::BufType>(bufferOf(op).getType()).getDtype();
  return node;
}

Buffer kiln::tile::toBuffer(nisa::AllocOp alloc) {
  Buffer buffer;
  nisa::BufType type = alloc.getType();
  buffer.name = alloc.getTensorName().str();
  buffer.memory = type.getMemory();
  buffer.dtype = type.getDtype();
  buffer.shape = toVector(type.getShape());
  if (auto input = alloc.getInput()) {
    buffer.role = Buffer::Role::Input;
    buffer.index = *input;
  } else if (auto output = alloc.getOutput()) {
    buffer.role = Buffer::Role::Output;
    buffer.index = *output;
  }
  return buffer;
}

void LoadOp::writeNode(Node &node) { node.view = toView(getViewAttr(), getBuffer().getType()); }
void StoreOp::writeNode(Node &node) { node.view = toView(getViewAttr(), getBuffer().getType()); }
void MaterializeOp::writeNode(Node &node) {
  node.view = toView(getViewAttr(), getBuffer().getType());
}
void SplatOp::writeNode(Node &node) { node.number = getNumber(); }
void IotaOp::writeNode(Node &node) { node.axis = int64_t(getDim()); }
void UnaryOp::writeNode(Node &node) { node.fn = getFn(); }
void BinaryOp::writeNode(Node &node) { node.alu = getAlu(); }
void SelectOp::writeNode(Node &) {}
void CastOp::writeNode(Node &) {}
void MatmulOp::writeNode(Node &node) {
  node.transposeX = getTransposeX();
  node.transposeY = getTransposeY();
  node.order = getOrder().getOrder();
}
void ReduceOp::writeNode(Node &node) {
  node.alu = getAlu();
  node.axes = toVector(getDims());
  node.keepDims = getKeepDims();
  node.order = getOrder().getOrder();
}
void TransposeOp::writeNode(Node &node) { node.axes = toVector(getPermutation()); }
void ReshapeOp::writeNode(Node &) {}
void SliceOp::writeNode(Node &node) {
  node.starts = toVector(getStarts());
  node.steps = toVector(getSteps());
}
void ConcatOp::writeNode(Node &node) { node.axis = int64_t(getDim()); }
void PadOp::writeNode(Node &node) {
  node.starts = toVector(getLow());
  node.ends = toVector(getHigh());
  node.number = getNumber();
}
void BroadcastOp::writeNode(Node &) {}
void SoftmaxOp::writeNode(Node &node) { node.axis = int64_t(getDim()); }
void RmsNormOp::writeNode(Node &node) { node.number = getEpsilon(); }
void LayerNormOp::writeNode(Node &node) { node.number = getEpsilon(); }

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static HintAttr toHintAttr(MLIRContext *context, const Hint &hint, LocationAttr place) {
  if (!hint.any())
    return {};
  return HintAttr::get(context, hint.partitionDim, hint.tile, hint.buffers, hint.in, place);
}

/// The whole of a buffer is no attribute, so that it has one form.
static ViewAttr toViewAttr(const Node &node, nisa::BufType type) {
  const View whole = wholeView(type);
  const View &view = node.view;
  if (view.partition == 0 && view.offset == 0 && view.stride == whole.stride &&
      ArrayRef<int64_t>(node.shape) == type.getShape())
    return {};
  return ViewAttr::get(type.getContext(), view.partition, view.offset, view.stride);
}

Operation *kiln::tile::buildNode(OpBuilder &b, Location loc, const Node &node, ValueRange operands,
                                 Value buffer, LocationAttr hintPlace) {
  MLIRContext *context = b.getContext();
  HintAttr hint = toHintAttr(context, node.hint, hintPlace);
  ViewAttr view;
  RankedTensorType type;
  if (buffer)
    view = toViewAttr(node, cast<nisa::BufType>(buffer.getType()));
  if (!node.isEffect())
    type = valueType(context, node.shape, node.dtype);
  const auto order = OrderAttr::get(context, node.order);

  switch (node.op) {
  case Op::Load:
    return LoadOp::create(b, loc, type, buffer, view, hint);
  case Op::Store:
    return StoreOp::create(b, loc, operands[0], buffer, view, hint);
  case Op::Materialize:
    return MaterializeOp::create(b, loc, operands[0], buffer, view, hint);
  case Op::Splat:
    return SplatOp::create(b, loc, type, b.getF64FloatAttr(node.number), hint);
  case Op::Iota:
    return IotaOp::create(b, loc, type, b.getI64IntegerAttr(node.axis), hint);
  case Op::Unary:
    return UnaryOp::create(b, loc, type, operands[0], b.getI32IntegerAttr(int32_t(node.fn)), hint);
  case Op::Binary:
    return BinaryOp::create(b, loc, type, operands[0], operands[1],
                            b.getI32IntegerAttr(int32_t(node.alu)), hint);
  case Op::Select:
    return SelectOp::create(b, loc, type, operands[0], operands[1], operands[2], hint);
  case Op::Cast:
    return CastOp::create(b, loc, type, operands[0], hint);
  case Op::Matmul:
    return MatmulOp::create(b, loc, type, operands[0], operands[1], node.transposeX,
                            node.transposeY, order, hint);
  case Op::Reduce:
    return ReduceOp::create(b, loc, type, operands[0], b.getI32IntegerAttr(int32_t(node.alu)),
                            b.getDenseI64ArrayAttr(node.axes),
                            node.keepDims ? b.getUnitAttr() : UnitAttr(), order, hint);
  case Op::Transpose:
    return TransposeOp::create(b, loc, type, operands[0], node.axes, hint);
  case Op::Reshape:
    return ReshapeOp::create(b, loc, type, operands[0], hint);
  case Op::Slice:
    return SliceOp::create(b, loc, type, operands[0], node.starts, node.steps, hint);
  case Op::Concat:
    return ConcatOp::create(b, loc, type, operands, b.getI64IntegerAttr(node.axis), hint);
  case Op::Pad:
    return PadOp::create(b, loc, type, operands[0], b.getDenseI64ArrayAttr(node.starts),
                         b.getDenseI64ArrayAttr(node.ends), b.getF64FloatAttr(node.number), hint);
  case Op::Broadcast:
    return BroadcastOp::create(b, loc, type, operands[0], hint);
  case Op::Softmax:
    return SoftmaxOp::create(b, loc, type, operands[0], b.getI64IntegerAttr(node.axis), hint);
  case Op::RmsNorm:
    return RmsNormOp::create(b, loc, type, operands, b.getF64FloatAttr(node.number), hint);
  case Op::LayerNorm:
    return LayerNormOp::create(b, loc, type, operands, b.getF64FloatAttr(node.number), hint);
  }
  llvm_unreachable("an operation without an op");
}
