//===- NisaOps.cpp - the ops' generated code, and everything that needs it --------------------===//
//
// Kernel, allocation and loop are written here; instructions come from the
// table and forward to InstImpl.h. Only this file sees the generated bodies:
// they are the most expensive thing to compile in the dialects.
//
//===------------------------------------------------------------------------------------------===//

#include "InstImpl.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::nisa;

#include "kiln/Dialect/Nisa/IR/NisaInterfaces.cpp.inc"

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

int64_t ForOp::getIterations() { return int64_t(getTripCount()); }

LogicalResult ForOp::verify() {
  if (getIterations() < 1)
    return emitError() << "a loop runs at least once, not " << getIterations() << " times";
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
