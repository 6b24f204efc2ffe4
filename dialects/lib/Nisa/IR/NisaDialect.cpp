//===- NisaDialect.cpp - the dialect, its type and its access attribute -----------------------===//
//
// Text of the access pattern itself is in NisaText.cpp, shared with the ops.
//
//===------------------------------------------------------------------------------------------===//

#include "InstImpl.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nisa;

#include "kiln/Dialect/Nisa/IR/NisaDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaAttrs.cpp.inc"

llvm::hash_code kiln::isa::hash_value(const Access &a) {
  return llvm::hash_combine(a.dtype, a.rank, a.partitionStart, a.partitionCount, a.rowStep,
                            a.offset,
                            llvm::hash_combine_range(a.step.begin(), a.step.begin() + a.rank),
                            llvm::hash_combine_range(a.num.begin(), a.num.begin() + a.rank),
                            a.indexRegister, a.indexStep);
}

SideEffects::Resource *kiln::nisa::resourceOf(isa::Memory memory) {
  switch (memory) {
  case isa::Memory::Sbuf:
    return SbufResource::get();
  case isa::Memory::Psum:
    return PsumResource::get();
  case isa::Memory::Hbm:
    return HbmResource::get();
  }
  llvm_unreachable("a memory the table does not have");
}

void NisaDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/Dialect/Nisa/IR/NisaTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Dialect/Nisa/IR/NisaAttrs.cpp.inc"
      >();
  registerOps();

  Builder builder(getContext());
  for (int32_t i = 0; i < kNumSmallInts; ++i)
    smallInts[i] = builder.getI32IntegerAttr(i);
  zero = builder.getF64FloatAttr(0.0);
  one = builder.getF64FloatAttr(1.0);
}

IntegerAttr NisaDialect::getI32Attr(int32_t value) const {
  if (value >= 0 && value < kNumSmallInts)
    return smallInts[value];
  return Builder(getContext()).getI32IntegerAttr(value);
}

FloatAttr NisaDialect::getF64Attr(double value) const {
  // By bits: -0 and 0 are different values of a field.
  if (isa::bitsOf(value) == isa::bitsOf(0.0))
    return zero;
  if (value == 1.0)
    return one;
  return Builder(getContext()).getF64FloatAttr(value);
}

//===----------------------------------------------------------------------===//
// !nisa.buf
//===----------------------------------------------------------------------===//

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

Type BufType::parse(AsmParser &parser) {
  StringRef memory, dtype;
  SmallVector<int64_t> shape;
  SMLoc start = parser.getCurrentLocation(), place = start;
  if (parser.parseLess() || parser.parseKeyword(&memory))
    return {};
  auto memoryValue = isa::valueOf(isa::memoryCases(), toView(memory));
  if (!memoryValue) {
    parser.emitError(place) << "no memory is called '" << memory << "'";
    return {};
  }
  if (parser.parseComma() || parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return {};
  place = parser.getCurrentLocation();
  if (parser.parseKeyword(&dtype))
    return {};
  auto dtypeValue = isa::parseDType(toView(dtype));
  if (!dtypeValue) {
    parser.emitError(place) << "no element type is called '" << dtype << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufType>(start, parser.getContext(), isa::Memory(*memoryValue),
                                    ArrayRef<int64_t>(shape), *dtypeValue);
}

void BufType::print(AsmPrinter &printer) const {
  printer << '<' << toRef(isa::name(getMemory())) << ", ";
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << toRef(isa::info(getDtype()).shortName) << '>';
}

LogicalResult BufType::verify(function_ref<InFlightDiagnostic()> emitError, isa::Memory memory,
                              ArrayRef<int64_t> shape, isa::DType) {
  // Sizes are rules of the allocation, where there is a name to blame.
  unsigned least = memory == isa::Memory::Hbm ? 1 : 2;
  if (shape.size() < least || shape.size() > isa::machine.maxRank)
    return emitError() << "a buffer in " << toRef(isa::name(memory)) << " has " << least << " to "
                       << unsigned(isa::machine.maxRank) << " dims, not " << shape.size();
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent < 1)
      return emitError() << "dim " << dim << " has extent " << extent
                         << ", which must be at least 1";
    if (llvm::MulOverflow(elements, extent, elements))
      return emitError() << "a buffer has at most 2^63 - 1 elements";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// #nisa.access
//===----------------------------------------------------------------------===//

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  isa::Access access;
  StringRef dtype;
  SmallVector<int64_t> perIteration;
  SMLoc start = parser.getCurrentLocation(), place;
  if (parser.parseLess())
    return {};
  place = parser.getCurrentLocation();
  if (parser.parseKeyword(&dtype))
    return {};
  auto dtypeValue = isa::parseDType(toView(dtype));
  if (!dtypeValue) {
    parser.emitError(place) << "no element type is called '" << dtype << "'";
    return {};
  }
  if (parser.parseComma() || instimpl::parseAccess(parser, access, perIteration) ||
      parser.parseGreater())
    return {};
  access.dtype = *dtypeValue;
  access.tensor = 0;
  return parser.getChecked<AccessAttr>(start, parser.getContext(), access,
                                       ArrayRef<int64_t>(perIteration));
}

void AccessAttr::print(AsmPrinter &printer) const {
  const isa::Access &access = getAccess();
  printer << '<' << toRef(isa::info(access.dtype).shortName) << ", ";
  instimpl::printAccess(printer.getStream(), access, getPerIteration(),
                        /*onChip=*/access.rowStep == 0);
  printer << '>';
}

LogicalResult AccessAttr::verify(function_ref<InFlightDiagnostic()> emitError, isa::Access access,
                                 ArrayRef<int64_t>) {
  if (access.rank > isa::kMaxFreeDims)
    return emitError() << "an access has at most " << isa::kMaxFreeDims << " free dims, not "
                       << unsigned(access.rank);
  if (access.partitionCount < 1)
    return emitError() << "an access touches at least 1 row";
  if (access.partitionStart != 0 && access.rowStep != 0)
    return emitError() << "an access has a first partition (on chip) or a row "
                          "step (in HBM), not both";
  if (access.isIndexed() && (access.indexStep < 0 || access.indexExtent < 1))
    return emitError() << "an index steps by at least 0 and is below at least 1, not by "
                       << access.indexStep << " below " << access.indexExtent;
  for (unsigned i = 0; i < access.rank; ++i)
    if (access.num[i] < 1)
      return emitError() << "free dim " << i << " has count " << access.num[i]
                         << ", which must be at least 1";
  return success();
}
