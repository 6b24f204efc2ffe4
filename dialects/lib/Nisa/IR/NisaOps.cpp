//===- NisaOps.cpp - the ops' generated code, and everything that needs it --------------------===//
//
// Kernel, allocation and loop are written here; instructions come from the
// table and forward to InstImpl.h. Only this file sees the generated bodies:
// they are the most expensive thing to compile in the dialects.
//
//===------------------------------------------------------------------------------------------===//

#include "InstImpl.h"
#include "kiln/Dialect/Nisa/IR/RealText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::nisa;

#include "kiln/Dialect/Nisa/IR/NisaInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// The head of a loop
//===----------------------------------------------------------------------===//

namespace {
/// Places in the attribute `control`.
enum ControlPlace : unsigned {
  Kind,
  First,
  FirstRegister,
  Last,
  LastRegister,
  StepBy,
  Reg,
  Places
};
} // namespace

isa::LoopControl kiln::nisa::controlOf(int64_t tripCount, DenseI64ArrayAttr attr) {
  isa::LoopControl control;
  control.tripCount = tripCount;
  if (!attr || attr.size() != Places)
    return control;
  control.kind = isa::LoopKind(attr[Kind]);
  control.first = int32_t(attr[First]);
  control.firstRegister = uint16_t(attr[FirstRegister]);
  control.last = int32_t(attr[Last]);
  control.lastRegister = uint16_t(attr[LastRegister]);
  control.step = uint32_t(attr[StepBy]);
  control.reg = uint16_t(attr[Reg]);
  return control;
}

isa::LoopControl kiln::nisa::controlOf(ForOp loop) {
  return controlOf(int64_t(loop.getTripCount()), loop.getControlAttr());
}

DenseI64ArrayAttr kiln::nisa::controlAttr(MLIRContext *context, const isa::LoopControl &control) {
  if (control.isCounted())
    return {};
  return DenseI64ArrayAttr::get(context,
                                {int64_t(control.kind), control.first, control.firstRegister,
                                 control.last, control.lastRegister, control.step, control.reg});
}

void kiln::nisa::setControl(ForOp loop, const isa::LoopControl &control) {
  loop.setControlAttr(controlAttr(loop.getContext(), control));
}

/// A register, or a number where there is none.
static void printBound(OpAsmPrinter &printer, uint16_t reg, int32_t number) {
  if (reg == isa::kNoRegister)
    printer << number;
  else
    printer << 'r' << reg;
}

static void printLoopControl(OpAsmPrinter &printer, Operation *, IntegerAttr tripCount,
                             DenseI64ArrayAttr attr) {
  const isa::LoopControl control = controlOf(tripCount.getInt(), attr);
  switch (control.kind) {
  case isa::LoopKind::Count:
    printer << control.tripCount;
    return;
  case isa::LoopKind::While:
    printer << "while r" << control.reg;
    return;
  case isa::LoopKind::Once:
    printer << "if r" << control.reg;
    return;
  case isa::LoopKind::Range:
    printer << 'r' << control.reg << " = ";
    printBound(printer, control.firstRegister, control.first);
    printer << " to ";
    printBound(printer, control.lastRegister, control.last);
    if (control.step != 1)
      printer << " step " << control.step;
  }
}

static ParseResult parseNumber32(OpAsmParser &parser, int32_t &value) {
  SMLoc place = parser.getCurrentLocation();
  int64_t wide;
  if (parseNumber(parser, wide))
    return failure();
  value = int32_t(wide);
  return value == wide
             ? success()
             : parser.emitError(place) << "the number " << wide << " does not fit 32 bits";
}

static ParseResult parseBound(OpAsmParser &parser, uint16_t &reg, int32_t &number) {
  // A number is tried first: an optional keyword would take nothing else for an error.
  APInt wide;
  OptionalParseResult parsed = parser.parseOptionalDecimalInteger(wide);
  if (!parsed.has_value()) {
    int64_t found;
    if (parseRegister(parser, found))
      return failure();
    reg = uint16_t(found);
    return success();
  }
  if (failed(*parsed))
    return failure();
  if (wide.getSignificantBits() > 32)
    return parser.emitError(parser.getCurrentLocation(), "the number does not fit 32 bits");
  number = int32_t(wide.getSExtValue());
  return success();
}

static ParseResult parseLoopControl(OpAsmParser &parser, IntegerAttr &tripCount,
                                    DenseI64ArrayAttr &attr) {
  isa::LoopControl control;
  int64_t reg = isa::kNoRegister;
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("while"))) {
    control.kind = isa::LoopKind::While;
    if (parseRegister(parser, reg))
      return failure();
  } else if (succeeded(parser.parseOptionalKeyword("if"))) {
    control.kind = isa::LoopKind::Once;
    if (parseRegister(parser, reg))
      return failure();
  } else {
    APInt trips;
    OptionalParseResult counted = parser.parseOptionalInteger(trips);
    if (counted.has_value()) {
      if (failed(*counted))
        return failure();
      if (trips.getSignificantBits() > 64)
        return parser.emitError(parser.getCurrentLocation(), "the number does not fit 64 bits");
      tripCount = builder.getI64IntegerAttr(trips.getSExtValue());
      return success();
    }
    control.kind = isa::LoopKind::Range;
    if (parseRegister(parser, reg) || parser.parseEqual() ||
        parseBound(parser, control.firstRegister, control.first) || parser.parseKeyword("to") ||
        parseBound(parser, control.lastRegister, control.last))
      return failure();
    int32_t step = 1;
    if (succeeded(parser.parseOptionalKeyword("step")) && parseNumber32(parser, step))
      return failure();
    control.step = uint32_t(step);
  }
  control.reg = uint16_t(reg);
  tripCount = builder.getI64IntegerAttr(1);
  attr = controlAttr(parser.getContext(), control);
  return success();
}

#define GET_OP_CLASSES
#include "kiln/Dialect/Nisa/IR/NisaOps.cpp.inc"

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }

void NisaDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Nisa/IR/NisaOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Building and changing instructions
//===----------------------------------------------------------------------===//

namespace {
/// What depends on the class of an instruction op, as plain functions.
struct InstClass {
  Operation *(*create)(OpBuilder &, Location, const instimpl::InstAttrs &, ValueRange) = nullptr;
  void (*assign)(Operation *, const instimpl::InstAttrs &) = nullptr;
};

template <typename OpT>
Operation *createInst(OpBuilder &builder, Location loc, const instimpl::InstAttrs &attrs,
                      ValueRange buffers) {
  typename OpT::Properties properties;
  instimpl::assign<OpT>(properties, attrs);
  auto name = RegisteredOperationName::lookup(TypeID::get<OpT>(), builder.getContext());
  assert(name && "the nisa dialect is not loaded");
  return builder.insert(
      Operation::create(loc, *name, TypeRange(), buffers, DictionaryAttr::get(loc.getContext()),
                        OpaqueProperties(&properties), BlockRange(), /*numRegions=*/0));
}

/// One entry a row, in the order of isa::instructions(); rows without an op
/// stay empty.
class InstClasses {
public:
  InstClasses() : classes(isa::instructions().size()) {
    add<
#define GET_OP_LIST
#include "kiln/Dialect/Nisa/IR/NisaOps.cpp.inc"
        >();
  }
  const InstClass &operator[](const isa::InstDesc &desc) const {
    return classes[&desc - isa::instructions().data()];
  }

private:
  template <typename... OpTs>
  void add() {
    (addOne<OpTs>(), ...);
  }
  template <typename OpT>
  void addOne() {
    if constexpr (requires { OpT::kOpcode; }) {
      const isa::InstDesc *desc = isa::findInstruction(OpT::kOpcode);
      classes[desc - isa::instructions().data()] = {
          createInst<OpT>, [](Operation *op, const instimpl::InstAttrs &attrs) {
            instimpl::assign<OpT>(cast<OpT>(op).getProperties(), attrs);
          }};
    }
  }
  std::vector<InstClass> classes;
};
} // namespace

static const InstClass &classOf(const isa::InstDesc &desc) {
  static const InstClasses classes;
  return classes[desc];
}

Operation *kiln::nisa::buildInstruction(OpBuilder &builder, Location loc,
                                        const isa::Instruction &inst, ArrayRef<Value> tensors) {
  const isa::InstDesc &desc = inst.desc();
  return classOf(desc).create(
      builder, loc,
      instimpl::attrsOf(builder.getContext(), desc, inst, instimpl::loopsAround(builder)),
      instimpl::presentBuffers(desc, inst, tensors));
}

void kiln::nisa::setAccess(InstOpInterface op, unsigned operand, AccessAttr access) {
  const isa::InstDesc &desc = descOf(op);
  instimpl::InstAttrs attrs;
  op.copyAttrs(attrs.data());
  assert(attrs[operand] && access && "only a present operand has an access");
  attrs[operand] = access;
  classOf(desc).assign(op, attrs);
}

void kiln::nisa::setEngine(InstOpInterface op, isa::Engine engine) {
  const isa::InstDesc &desc = descOf(op);
  instimpl::InstAttrs attrs;
  op.copyAttrs(attrs.data());
  attrs[desc.operands.size() + desc.fields.size()] =
      cast<NisaDialect>(op->getDialect())->getI32Attr(int32_t(engine));
  classOf(desc).assign(op, attrs);
}

//===----------------------------------------------------------------------===//
// nisa.alloc
//===----------------------------------------------------------------------===//

void AllocOp::build(OpBuilder &builder, OperationState &state, BufType type, StringRef name) {
  state.getOrAddProperties<Properties>().tensorName = builder.getStringAttr(name);
  state.addTypes(type);
}

std::optional<isa::TensorAddress> AllocOp::getAddress() {
  if (!getPartition() || !getByte())
    return std::nullopt;
  return isa::TensorAddress{*getPartition(), *getByte()};
}

void AllocOp::setAddress(isa::TensorAddress address) {
  setPartition(address.partition);
  setByte(address.byte);
}

SmallVector<char> AllocOp::getDataBytes() {
  auto data = dyn_cast_if_present<DenseElementsAttr>(getDataAttr());
  if (!data)
    return {};
  ArrayRef<char> raw = data.getRawData();
  if (!data.isSplat())
    return llvm::to_vector(raw);
  SmallVector<char> bytes;
  for (int64_t i = 0, e = data.getNumElements(); i < e; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getBuffer(), getTensorName());
}

void AllocOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  SideEffects::Resource *resource = resourceOf(getType().getMemory());
  if (isInternal())
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0), resource);
  else // the caller sees it, used or not
    effects.emplace_back(MemoryEffects::Write::get(), resource);
}

static LogicalResult verifyData(AllocOp op, BufType type) {
  auto data = dyn_cast<DenseElementsAttr>(*op.getData());
  if (!data)
    return op.emitError() << "constant '" << op.getTensorName() << "' needs its data as dense<...>";
  // The table's short names are MLIR's spellings, so no list of dtypes is
  // repeated here.
  Type element = parseType(toRef(isa::info(type.getDtype()).shortName), op.getContext());
  auto expected = RankedTensorType::get(type.getShape(), element);
  if (data.getType() != expected)
    return op.emitError() << "constant '" << op.getTensorName() << "' holds " << type
                          << ", its data is " << data.getType();
  return success();
}

LogicalResult AllocOp::verify() {
  BufType type = getType();
  StringRef name = getTensorName();
  if (name.empty())
    return emitError() << "a buffer needs a name";
  unsigned roles = bool(getInput()) + bool(getOutput()) + bool(getData());
  if (roles > 1)
    return emitError() << "'" << name << "' is one of input, output and constant, not " << roles
                       << " of them";
  if (roles == 1 && type.isOnChip())
    return emitError() << "'" << name << "' is "
                       << (getData() ? "a constant" : "a parameter or result")
                       << " of the kernel, which lies in hbm, not in "
                       << toRef(isa::name(type.getMemory()));
  if (getPartition().has_value() != getByte().has_value())
    return emitError() << "the address of '" << name << "' is a partition and a byte";
  if (getPartition() && !type.isOnChip())
    return emitError() << "'" << name << "' lies in hbm and has no address";
  if (getData() && failed(verifyData(*this, type)))
    return failure();
  const bool isInLoop = llvm::isa<ForOp>((*this)->getParentOp());
  if (roles == 1 && (isInLoop || getLoop()))
    return emitError() << "'" << name << "' is "
                       << (getData() ? "a constant" : "a parameter or result")
                       << " of the kernel and belongs to no loop";
  if (isInLoop && getLoop())
    return emitError() << "'" << name << "' stands in its loop and needs no number of one";

  return success(
      isa::checkTensor(viewOf(getBuffer()), getAddress(), [&](const isa::Violation &violation) {
        InFlightDiagnostic diag = mlir::emitError(getLoc());
        diag << '[' << toRef(violation.rule) << "] " << violation.message;
        if (!violation.help.empty())
          diag.attachNote() << "help: " << violation.help;
      }));
}

//===----------------------------------------------------------------------===//
// nisa.kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.getOrAddProperties<Properties>().sym_name = builder.getStringAttr(name);
  state.addRegion()->emplaceBlock();
}

namespace {
/// Numbers of parameters or of results, as they are met.
class Numbering {
public:
  explicit Numbering(StringRef what) : what(what) {}

  LogicalResult add(AllocOp op, uint32_t number) {
    auto [it, isNew] = seen.try_emplace(number, op);
    if (isNew)
      return success();
    InFlightDiagnostic diag = op.emitError() << what << " " << number << " is declared twice";
    diag.attachNote(it->second.getLoc()) << "first declared here";
    return diag;
  }

  LogicalResult verifyDense(KernelOp kernel) const {
    for (uint32_t i = 0; i < seen.size(); ++i)
      if (!seen.contains(i))
        return kernel.emitError() << what << " " << i << " is missing: the " << seen.size() << " "
                                  << what << "s are numbered from 0 without gaps";
    return success();
  }

private:
  StringRef what;
  std::map<uint32_t, AllocOp> seen; // DenseMap reserves two numbers a kernel may use
};
} // namespace

static LogicalResult verifyFlags(KernelOp kernel, AllocOp alloc) {
  if (kernel.getPlaced() && alloc.getType().isOnChip() && !alloc.getAddress())
    return alloc.emitError() << "'" << alloc.getTensorName()
                             << "' has no address in a placed kernel";
  return success();
}

static LogicalResult verifyScheduled(KernelOp kernel) {
  WalkResult result = kernel.walk([](InstOpInterface inst) {
    if (engineOf(inst) != isa::Engine::Unknown)
      return WalkResult::advance();
    inst->emitError() << "'" << toRef(descOf(inst).mnemonic)
                      << "' has no engine in a scheduled kernel";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The texts of prints are there, and so are the loops they count.
static LogicalResult verifyPrints(KernelOp kernel) {
  const size_t count = kernel.getTexts() ? kernel.getTexts()->size() : 0;
  WalkResult result = kernel.walk([&](DevicePrintOp print) {
    const auto steps = llvm::count_if(print.getStep(), [](int64_t step) { return step != 0; });
    const unsigned depth = loopDepth(print);
    if (print.getText() >= count)
      print.emitError() << "text " << print.getText() << " is shown, the kernel has " << count;
    else if (steps > depth)
      print.emitError() << "the iterations of " << steps << " loops are shown, there are " << depth
                        << " around it";
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelOp::verifyRegions() {
  Numbering inputs("input"), outputs("output");
  llvm::StringMap<AllocOp> names;
  SmallVector<AllocOp> allocs;
  walk([&](AllocOp alloc) { allocs.push_back(alloc); });
  for (AllocOp alloc : allocs) {
    auto [it, isNew] = names.try_emplace(alloc.getTensorName(), alloc);
    if (!isNew) {
      InFlightDiagnostic diag = alloc.emitError()
                                << "[M-13] name '" << alloc.getTensorName() << "' is already used";
      diag.attachNote(it->second.getLoc()) << "first used here";
      return diag;
    }
    if (auto number = alloc.getInput(); number && failed(inputs.add(alloc, *number)))
      return failure();
    if (auto number = alloc.getOutput(); number && failed(outputs.add(alloc, *number)))
      return failure();
    if (failed(verifyFlags(*this, alloc)))
      return failure();
  }
  if (failed(inputs.verifyDense(*this)) || failed(outputs.verifyDense(*this)))
    return failure();
  if (failed(verifyPrints(*this)))
    return failure();
  return getScheduled() ? verifyScheduled(*this) : success();
}

//===----------------------------------------------------------------------===//
// nisa.for
//===----------------------------------------------------------------------===//

void ForOp::build(OpBuilder &builder, OperationState &state, int64_t tripCount) {
  state.getOrAddProperties<Properties>().tripCount = builder.getI64IntegerAttr(tripCount);
  state.addRegion()->emplaceBlock();
}

void ForOp::build(OpBuilder &builder, OperationState &state, const isa::LoopControl &control) {
  build(builder, state, control.tripCount);
  state.getOrAddProperties<Properties>().control = controlAttr(builder.getContext(), control);
}

int64_t ForOp::getIterations() { return int64_t(getTripCount()); }

LogicalResult ForOp::verify() {
  if (getIterations() < 1)
    return emitError() << "a loop runs at least once, not " << getIterations() << " times";
  if (DenseI64ArrayAttr attr = getControlAttr()) {
    const isa::LoopControl control = controlOf(*this);
    if (attr.size() != Places || attr[Kind] < 0 || attr[Kind] > int64_t(isa::LoopKind::Once))
      return emitError() << "the control of a loop is " << unsigned(Places)
                         << " numbers, the first of them its kind";
    if (control.reg == isa::kNoRegister)
      return emitError() << "a loop that registers decide has one";
    if (control.step < 1 || control.step > uint32_t(INT32_MAX))
      return emitError() << "the step of a loop is 1 to " << INT32_MAX << ", not "
                         << int32_t(control.step);
    if (getIterations() != 1)
      return emitError() << "a loop that registers decide has no trip count";
  }
  // Before the body: an instruction holds a step for each of so many loops.
  if (unsigned depth = loopDepth(*this); depth >= isa::kMaxLoopDepth)
    return emitError() << "the loop stands inside " << depth << " others, at most "
                       << isa::kMaxLoopDepth << " stand inside one another";
  return success();
}

LogicalResult ForOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!llvm::isa<AllocOp, InstOpInterface, ForOp>(op)) {
      InFlightDiagnostic diag = op.emitError()
                                << "a loop holds buffers, instructions and loops, not '"
                                << op.getName() << "'";
      diag.attachNote(getLoc()) << "the loop is here";
      return diag;
    }
  return success();
}
