//===- TileOps.cpp - text, rules and effects of the ops ---------------------------------------===//

#include "OpImpl.h"

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Dialect/Nisa/IR/RealText.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

//===----------------------------------------------------------------------===//
// Parts of the text that a declarative format cannot say
//===----------------------------------------------------------------------===//

/// "[at 64, stride 512 1]", or nothing for the whole buffer.
static ParseResult parseView(OpAsmParser &parser, ViewAttr &view) {
  if (failed(parser.parseOptionalLSquare()))
    return success();
  return failure(opimpl::parseView(parser, view) || parser.parseRSquare());
}
static void printView(OpAsmPrinter &printer, Operation *, ViewAttr view) {
  if (!view)
    return;
  printer << '[';
  opimpl::printView(printer.getStream(), view);
  printer << ']';
}

/// "order chunks 128", or nothing where none is chosen.
static ParseResult parseOrder(OpAsmParser &parser, OrderAttr &attr) {
  Order order;
  if (succeeded(parser.parseOptionalKeyword("order")) && opimpl::parseOrder(parser, order))
    return failure();
  attr = OrderAttr::get(parser.getContext(), order);
  return success();
}
static void printOrder(OpAsmPrinter &printer, Operation *, OrderAttr attr) {
  if (attr.getOrder() == Order())
    return;
  printer << " order ";
  opimpl::printOrder(printer.getStream(), attr.getOrder());
}

/// A number that reads back with the same bits.
static ParseResult parseReal(OpAsmParser &parser, FloatAttr &attr) {
  double value;
  if (nisa::parseReal(parser, value, /*single=*/false))
    return failure();
  attr = parser.getBuilder().getF64FloatAttr(value);
  return success();
}
static void printReal(OpAsmPrinter &printer, Operation *, FloatAttr attr) {
  nisa::printReal(printer.getStream(), attr.getValueAsDouble(), /*single=*/false);
}

/// An enum of the table by its name.
static ParseResult parseCase(OpAsmParser &parser, IntegerAttr &attr, isa::EnumCases cases,
                             StringRef what) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  auto value = isa::valueOf(cases, toView(name));
  if (!value)
    return parser.emitError(place) << "no " << what << " is called '" << name << "'";
  attr = parser.getBuilder().getI32IntegerAttr(int32_t(*value));
  return success();
}
static ParseResult parseActFn(OpAsmParser &parser, IntegerAttr &attr) {
  return parseCase(parser, attr, isa::actFnCases(), "function");
}
static void printActFn(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << toRef(isa::nameOf(isa::actFnCases(), uint32_t(attr.getInt())));
}
static ParseResult parseAluOp(OpAsmParser &parser, IntegerAttr &attr) {
  return parseCase(parser, attr, isa::aluOpCases(), "operator");
}
static void printAluOp(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << toRef(isa::nameOf(isa::aluOpCases(), uint32_t(attr.getInt())));
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

#include "kiln/Dialect/Tile/IR/TileInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

LogicalResult opimpl::verifyNode(NodeOpInterface op) {
  for (Value operand : op->getOperands())
    if (!llvm::isa<nisa::BufType>(operand.getType()) &&
        !llvm::isa_and_present<NodeOpInterface>(operand.getDefiningOp()))
      return op->emitError("an operand is no result of a tile op");
  // The operands as values of their own: rules look at nothing but shape and dtype.
  Graph graph;
  Node node = toNode(op, [&](Value operand) {
    Node value;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.getType()).getShape();
    value.shape.assign(shape.begin(), shape.end());
    value.dtype = dtypeOf(operand);
    return graph.add(std::move(value));
  });
  nisa::AllocOp alloc;
  if (Value buffer = bufferOf(op)) {
    alloc = buffer.getDefiningOp<nisa::AllocOp>();
    if (!alloc)
      return op->emitError("the buffer is declared by a 'nisa.alloc'");
    node.view.buffer = uint32_t(graph.buffers.size());
    graph.buffers.push_back(toBuffer(alloc));
  }
  const NodeId id = graph.add(std::move(node));
  return success(
      tile::verify(graph, id, [&](std::string_view rule, std::string message, std::string help) {
        // Not op->emitError(): its note with the generic form helps no author of a kernel.
        InFlightDiagnostic diag = emitError(op->getLoc());
        if (!rule.empty())
          diag << '[' << toRef(rule) << "] ";
        diag << message;
        if (alloc)
          diag.attachNote(alloc.getLoc()) << "'" << alloc.getTensorName() << "' is declared here";
        if (!help.empty())
          diag.attachNote() << "help: " << help;
      }));
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

template <typename Effect, typename OpT>
static void addEffect(OpT op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(Effect::get(), &op.getBufferMutable(),
                       nisa::resourceOf(op.getBuffer().getType().getMemory()));
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect<MemoryEffects::Read>(*this, effects);
}
void StoreOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect<MemoryEffects::Write>(*this, effects);
}
void MaterializeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  addEffect<MemoryEffects::Write>(*this, effects);
}
