//===- TileDialect.cpp - the dialect, its types and attributes --------------------------------===//

#include "OpImpl.h"

#include "kiln/Dialect/Nisa/IR/RealText.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

#include "kiln/Dialect/Tile/IR/TileDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Tile/IR/TileAttrs.cpp.inc"

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

llvm::hash_code kiln::tile::hash_value(const Order &order) {
  return llvm::hash_combine(order.kind, order.chunk, order.fromIdentity);
}

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  registerOps();
}

//===----------------------------------------------------------------------===//
// Types of values
//===----------------------------------------------------------------------===//

Type kiln::tile::elementTypeOf(MLIRContext *context, isa::DType dtype) {
  const isa::DTypeInfo &info = isa::info(dtype);
  switch (dtype) {
  case isa::DType::Float32:
    return Float32Type::get(context);
  case isa::DType::BFloat16:
    return BFloat16Type::get(context);
  case isa::DType::Float16:
    return Float16Type::get(context);
  case isa::DType::Float8E4M3:
    return Float8E4M3Type::get(context);
  case isa::DType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case isa::DType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case isa::DType::TFloat32:
    return FloatTF32Type::get(context);
  case isa::DType::Int32:
  case isa::DType::UInt8:
  case isa::DType::Int8:
  case isa::DType::Int16:
  case isa::DType::UInt16:
  case isa::DType::UInt32:
    return IntegerType::get(context, 8u * info.bytes,
                            info.isSigned ? IntegerType::Signless : IntegerType::Unsigned);
  }
  llvm_unreachable("a dtype without an MLIR type");
}

std::optional<isa::DType> kiln::tile::dtypeOf(Type elementType) {
  for (const isa::EnumCase &c : isa::dtypeCases())
    if (auto dtype = isa::DType(c.value);
        elementTypeOf(elementType.getContext(), dtype) == elementType)
      return dtype;
  return std::nullopt;
}

RankedTensorType kiln::tile::valueType(MLIRContext *context, ArrayRef<int64_t> shape,
                                       isa::DType dtype) {
  return RankedTensorType::get(shape, elementTypeOf(context, dtype));
}

bool kiln::tile::isValueType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         dtypeOf(tensor.getElementType());
}

isa::DType kiln::tile::dtypeOf(Value value) {
  return *dtypeOf(cast<RankedTensorType>(value.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// "[1, 2]".
static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return nisa::parseNumber(parser, values.emplace_back());
  });
}

//===----------------------------------------------------------------------===//
// #tile.view
//===----------------------------------------------------------------------===//

void opimpl::printView(raw_ostream &os, ViewAttr view) {
  if (view.getPartition() != 0)
    os << "partition " << view.getPartition() << ", ";
  os << "at " << view.getOffset() << ", stride";
  for (int64_t stride : view.getStrides())
    os << ' ' << stride;
}

ParseResult opimpl::parseView(AsmParser &parser, ViewAttr &view) {
  int64_t partition = 0, offset = 0;
  SmallVector<int64_t> strides;
  SMLoc place = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("partition"))) {
    if (nisa::parseNumber(parser, partition) || parser.parseComma())
      return failure();
    if (partition < 0 || partition > UINT32_MAX)
      return parser.emitError(place)
             << "the partition " << partition << " is not between 0 and " << UINT32_MAX;
  }
  if (parser.parseKeyword("at") || nisa::parseNumber(parser, offset) || parser.parseComma() ||
      parser.parseKeyword("stride") || nisa::parseNumber(parser, strides.emplace_back()))
    return failure();
  for (;;) {
    APInt wide;
    OptionalParseResult next = parser.parseOptionalDecimalInteger(wide);
    if (!next.has_value())
      break;
    if (failed(*next))
      return failure();
    if (wide.getSignificantBits() > 64)
      return parser.emitError(parser.getCurrentLocation(), "the number does not fit 64 bits");
    strides.push_back(wide.getSExtValue());
  }
  view = ViewAttr::get(parser.getContext(), uint32_t(partition), offset, strides);
  return success();
}

Attribute ViewAttr::parse(AsmParser &parser, Type) {
  ViewAttr view;
  if (parser.parseLess() || opimpl::parseView(parser, view) || parser.parseGreater())
    return {};
  return view;
}

void ViewAttr::print(AsmPrinter &printer) const {
  printer << '<';
  opimpl::printView(printer.getStream(), *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #tile.order
//===----------------------------------------------------------------------===//

void opimpl::printOrder(raw_ostream &os, Order order) {
  switch (order.kind) {
  case Order::Kind::Any:
    os << "any";
    break;
  case Order::Kind::LeftToRight:
    os << "left_to_right";
    break;
  case Order::Kind::Chunks:
    os << "chunks " << order.chunk;
    break;
  }
  if (order.fromIdentity)
    os << " from_identity";
}

ParseResult opimpl::parseOrder(AsmParser &parser, Order &order) {
  StringRef kind;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind))
    return failure();
  if (kind == "any")
    order.kind = Order::Kind::Any;
  else if (kind == "left_to_right")
    order.kind = Order::Kind::LeftToRight;
  else if (kind == "chunks")
    order.kind = Order::Kind::Chunks;
  else
    return parser.emitError(place)
           << "no order is called '" << kind << "'; there are any, left_to_right and chunks N";
  if (order.kind == Order::Kind::Chunks && nisa::parseNumber(parser, order.chunk))
    return failure();
  order.fromIdentity = succeeded(parser.parseOptionalKeyword("from_identity"));
  return success();
}

Attribute OrderAttr::parse(AsmParser &parser, Type) {
  Order order;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || opimpl::parseOrder(parser, order) || parser.parseGreater())
    return {};
  return parser.getChecked<OrderAttr>(place, parser.getContext(), order);
}

void OrderAttr::print(AsmPrinter &printer) const {
  printer << '<';
  opimpl::printOrder(printer.getStream(), getOrder());
  printer << '>';
}

LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError, Order order) {
  if (order.kind != Order::Kind::Chunks && order.chunk != 0)
    return emitError() << "an order has a number of elements for chunks only, not " << order.chunk;
  return success();
}

//===----------------------------------------------------------------------===//
// #tile.hint
//===----------------------------------------------------------------------===//

namespace {
/// The parts of a hint, as they are met.
struct HintText {
  std::optional<int64_t> partitionDim, buffers;
  SmallVector<int64_t> tile;
  std::optional<isa::Memory> memory;
  LocationAttr place;

  ParseResult parsePart(AsmParser &parser) {
    SMLoc start = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    if (word == "partition_dim")
      return nisa::parseNumber(parser, partitionDim.emplace());
    if (word == "buffers")
      return nisa::parseNumber(parser, buffers.emplace());
    if (word == "tile")
      return parseNumbers(parser, tile);
    if (word == "place")
      return parser.parseAttribute(place);
    if (word == "in")
      return parseMemory(parser);
    return parser.emitError(start)
           << "a hint has no '" << word << "'; it has partition_dim, tile, buffers, in and place";
  }

  ParseResult parseMemory(AsmParser &parser) {
    SMLoc start = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    auto value = isa::valueOf(isa::memoryCases(), toView(word));
    if (!value)
      return parser.emitError(start) << "no memory is called '" << word << "'";
    memory = isa::Memory(*value);
    return success();
  }
};
} // namespace

Attribute HintAttr::parse(AsmParser &parser, Type) {
  HintText text;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return text.parsePart(parser); }))
    return {};
  return HintAttr::get(parser.getContext(), text.partitionDim, text.tile, text.buffers, text.memory,
                       text.place);
}

void HintAttr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  llvm::ListSeparator comma;
  os << '<';
  if (getPartitionDim())
    os << comma << "partition_dim " << *getPartitionDim();
  if (!getTile().empty())
    os << comma << "tile [" << llvm::interleaved(getTile()) << ']';
  if (getBuffers())
    os << comma << "buffers " << *getBuffers();
  if (getMemory())
    os << comma << "in " << toRef(isa::name(*getMemory()));
  if (getPlace()) {
    os << comma << "place ";
    printer.printAttribute(getPlace());
  }
  os << '>';
}
