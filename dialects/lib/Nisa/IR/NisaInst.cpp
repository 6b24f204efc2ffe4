//===- NisaInst.cpp - what all instruction ops share ------------------------------------------===//
//
// Conversion to the neutral form, the verifier that hands it to the table's
// rules, memory effects. No instruction is named here, except where memory
// effects depend on a field.
//
//===------------------------------------------------------------------------------------------===//

#include "InstImpl.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nisa;

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

//===----------------------------------------------------------------------===//
// Attributes and fields
//===----------------------------------------------------------------------===//

static Attribute fieldAttr(const NisaDialect &dialect, const isa::FieldDesc &field,
                           const isa::Instruction &inst) {
  if (field.words > 1)
    return DenseI64ArrayAttr::get(dialect.getContext(),
                                  ArrayRef<int64_t>(inst.fields).slice(field.word, field.words));
  int64_t word = inst.fields[field.word];
  switch (field.kind) {
  case isa::FieldKind::Bool:
    return BoolAttr::get(dialect.getContext(), word != 0);
  case isa::FieldKind::Enum:
  case isa::FieldKind::I32:
  case isa::FieldKind::U32:
  case isa::FieldKind::Register:
    return dialect.getI32Attr(int32_t(word));
  case isa::FieldKind::F32:
  case isa::FieldKind::F64:
    return dialect.getF64Attr(isa::realOf(word));
  }
  llvm_unreachable("a field kind without an attribute");
}

/// Inverse of `fieldAttr`; a missing attribute stands for the default.
static void readField(isa::Instruction &inst, const isa::FieldDesc &field, Attribute attr) {
  auto words = MutableArrayRef<int64_t>(inst.fields).slice(field.word, field.words);
  if (!attr) {
    llvm::fill(words, field.init);
    return;
  }
  if (field.words > 1) {
    auto values = cast<DenseI64ArrayAttr>(attr).asArrayRef();
    std::copy_n(values.begin(), std::min(values.size(), words.size()), words.begin());
    return;
  }
  switch (field.kind) {
  case isa::FieldKind::Bool:
    words[0] = cast<BoolAttr>(attr).getValue();
    return;
  case isa::FieldKind::Enum:
  case isa::FieldKind::I32:
    words[0] = cast<IntegerAttr>(attr).getInt();
    return;
  case isa::FieldKind::U32:
  case isa::FieldKind::Register:
    words[0] = uint32_t(cast<IntegerAttr>(attr).getInt());
    return;
  case isa::FieldKind::F32:
  case isa::FieldKind::F64:
    words[0] = isa::bitsOf(cast<FloatAttr>(attr).getValueAsDouble());
    return;
  }
}

instimpl::InstAttrs instimpl::attrsOf(MLIRContext *context, const isa::InstDesc &desc,
                                      const isa::Instruction &inst, unsigned loops) {
  const NisaDialect &dialect = *context->getLoadedDialect<NisaDialect>();
  InstAttrs attrs{};
  Attribute *next = attrs.data();
  for (unsigned i = 0; i < desc.operands.size(); ++i, ++next)
    if (const isa::Access &access = inst.operands[i]; access.present())
      *next = AccessAttr::get(context, access,
                              access.moves() ? ArrayRef(access.loopStep).take_front(loops)
                                             : ArrayRef<int64_t>());
  for (const isa::FieldDesc &field : desc.fields)
    *next++ = fieldAttr(dialect, field, inst);
  *next = dialect.getI32Attr(int32_t(inst.engine));
  return attrs;
}

unsigned instimpl::loopsAround(const OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  Operation *parent = block ? block->getParentOp() : nullptr;
  return parent ? loopDepth(parent) + llvm::isa<LoopOpInterface>(parent) : 0;
}

SmallVector<Value, isa::kMaxOperands> instimpl::presentBuffers(const isa::InstDesc &desc,
                                                               const isa::Instruction &inst,
                                                               ArrayRef<Value> tensors) {
  SmallVector<Value, isa::kMaxOperands> buffers;
  for (unsigned i = 0; i < desc.operands.size(); ++i)
    if (inst.operands[i].present())
      buffers.push_back(tensors[inst.operands[i].tensor]);
  return buffers;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

const isa::InstDesc &kiln::nisa::descOf(InstOpInterface op) {
  return *isa::findInstruction(op.getOpcode());
}

std::array<AccessAttr, isa::kMaxOperands> kiln::nisa::accessesOf(InstOpInterface op) {
  instimpl::InstAttrs attrs;
  op.copyAttrs(attrs.data());
  std::array<AccessAttr, isa::kMaxOperands> accesses{};
  for (unsigned i = 0; i < descOf(op).operands.size(); ++i)
    accesses[i] = cast_if_present<AccessAttr>(attrs[i]);
  return accesses;
}

using Accesses = std::array<AccessAttr, isa::kMaxOperands>;
using Buffers = std::array<Value, isa::kMaxOperands>;

/// Buffers stand in operand order, without gaps for absent operands.
static Buffers buffersOf(InstOpInterface op, const Accesses &accesses) {
  Buffers buffers{};
  unsigned next = 0;
  for (auto [buffer, access] : llvm::zip(buffers, accesses))
    if (access && next < op->getNumOperands())
      buffer = op->getOperand(next++);
  return buffers;
}

Buffers kiln::nisa::buffersOf(InstOpInterface op) { return ::buffersOf(op, accessesOf(op)); }

static isa::Instruction
readInst(InstOpInterface op, function_ref<uint32_t(unsigned operand, unsigned place)> tensorOf) {
  const isa::InstDesc &desc = descOf(op);
  instimpl::InstAttrs attrs;
  op.copyAttrs(attrs.data());

  isa::Instruction inst;
  inst.opcode = desc.opcode;
  const Attribute *next = attrs.data();
  unsigned place = 0;
  for (unsigned i = 0; i < desc.operands.size(); ++i, ++next) {
    if (!*next)
      continue;
    auto attr = cast<AccessAttr>(*next);
    inst.operands[i] = attr.getAccess();
    llvm::copy(attr.getPerIteration().take_front(isa::kMaxLoopDepth),
               inst.operands[i].loopStep.begin());
    inst.operands[i].tensor = tensorOf(i, place++);
  }
  for (const isa::FieldDesc &field : desc.fields)
    readField(inst, field, *next++);
  if (*next)
    inst.engine = isa::Engine(cast<IntegerAttr>(*next).getInt());
  return inst;
}

isa::Instruction kiln::nisa::toInstruction(InstOpInterface op,
                                           function_ref<uint32_t(Value)> tensorIndex) {
  return readInst(op, [&](unsigned, unsigned place) { return tensorIndex(op->getOperand(place)); });
}

isa::Instruction kiln::nisa::toInstruction(InstOpInterface op) {
  return readInst(op, [](unsigned operand, unsigned) { return operand; });
}

isa::Engine kiln::nisa::engineOf(InstOpInterface op) {
  instimpl::InstAttrs attrs;
  op.copyAttrs(attrs.data());
  const isa::InstDesc &desc = descOf(op);
  auto engine = cast_if_present<IntegerAttr>(attrs[desc.operands.size() + desc.fields.size()]);
  return engine ? isa::Engine(engine.getInt()) : isa::Engine::Unknown;
}

isa::TensorView kiln::nisa::viewOf(Value buffer) {
  auto type = cast<BufType>(buffer.getType());
  isa::TensorView view;
  view.memory = type.getMemory();
  view.dtype = type.getDtype();
  view.shape = {type.getShape().data(), type.getShape().size()};
  if (auto alloc = buffer.getDefiningOp<AllocOp>()) {
    view.name = toView(alloc.getTensorName());
    if (auto address = alloc.getAddress())
      view.partitionBase = address->partition;
  }
  return view;
}

unsigned kiln::nisa::loopDepth(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    depth += llvm::isa<LoopOpInterface>(op);
  return depth;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Sends broken rules to MLIR: the rule's id in front, the way out and the
/// operand's buffer as notes.
class RuleReporter {
public:
  RuleReporter(InstOpInterface op, const Buffers &buffers) : op(op), buffers(buffers) {}

  void operator()(const isa::Violation &violation) {
    // Not op->emitError(): its note with the generic form of the op helps no author of a kernel.
    InFlightDiagnostic diag = emitError(op->getLoc());
    diag << '[' << toRef(violation.rule) << "] " << violation.message;
    if (violation.operand >= 0 && buffers[violation.operand])
      if (auto alloc = buffers[violation.operand].getDefiningOp<AllocOp>())
        diag.attachNote(alloc.getLoc()) << "'" << alloc.getTensorName() << "' is declared here";
    if (!violation.help.empty())
      diag.attachNote() << "help: " << violation.help;
  }

private:
  InstOpInterface op;
  const Buffers &buffers;
};
} // namespace

/// The loops around `access` move it by numbers that 64 bits hold.
static bool isReachable(const isa::Access &access, ArrayRef<int64_t> tripCounts) {
  int64_t low = access.offset, high = access.offset;
  for (auto [step, trips] : llvm::zip(access.loopStep, tripCounts)) {
    int64_t distance, &end = step < 0 ? low : high;
    if (llvm::MulOverflow(step, trips - 1, distance) || llvm::AddOverflow(end, distance, end))
      return false;
  }
  return true;
}

static SmallVector<int64_t> tripCountsAround(Operation *op) {
  SmallVector<int64_t> counts;
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<LoopOpInterface>(op))
      counts.push_back(loop.getIterations());
  std::reverse(counts.begin(), counts.end());
  return counts;
}

LogicalResult instimpl::verifyInst(InstOpInterface op) {
  const isa::InstDesc &desc = descOf(op);
  const Accesses accesses = accessesOf(op);
  const Buffers buffers = ::buffersOf(op, accesses);

  unsigned present = llvm::count_if(accesses, [](auto a) { return bool(a); });
  if (present != op->getNumOperands())
    return op->emitError() << "'" << toRef(desc.mnemonic) << "' has " << op->getNumOperands()
                           << " buffers and " << present << " accesses; each buffer has one";

  bool moves = false;
  unsigned depth = 0;
  for (auto [i, access] : llvm::enumerate(accesses)) {
    if (!access || access.getPerIteration().empty())
      continue;
    if (!std::exchange(moves, true))
      depth = loopDepth(op);
    if (access.getPerIteration().size() != depth)
      return op->emitError() << "operand '" << toRef(desc.operands[i].name) << "' has "
                             << access.getPerIteration().size()
                             << " loop coefficients, but there are " << depth << " loops around it";
  }

  isa::Instruction inst = toInstruction(op);
  isa::InstView view{inst, desc, {}};
  for (auto [i, buffer] : llvm::enumerate(buffers))
    if (buffer)
      view.tensors[i] = viewOf(buffer);
  RuleReporter reporter(op, buffers);
  isa::RuleSink report = std::ref(reporter);
  SmallVector<int64_t> tripCounts;
  if (moves) {
    tripCounts = tripCountsAround(op);
    for (auto [i, access] : llvm::enumerate(accesses))
      if (access && !isReachable(inst.operands[i], tripCounts))
        return op->emitError() << "the loops move operand '" << toRef(desc.operands[i].name)
                               << "' by more than 2^63 - 1 elements";
    view.tripCounts = tripCounts;
  }
  return success(isa::checkInstruction(view, report));
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

// The generator holds every transfer to a field of this name.
static constexpr StringLiteral kRing = "ring";

uint32_t nisa::ringOf(InstOpInterface op) {
  auto ring = op->getAttrOfType<IntegerAttr>(kRing);
  return ring ? uint32_t(ring.getInt()) : 0;
}

void nisa::setRing(InstOpInterface op, uint32_t ring) {
  op->setAttr(kRing, IntegerAttr::get(IntegerType::get(op->getContext(), 32), ring));
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void instimpl::getInstEffects(InstOpInterface op,
                              SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  const isa::InstDesc &desc = descOf(op);
  auto matmul = dyn_cast<NcMatmulOp>(op.getOperation());
  bool readsOutput = matmul && matmul.getAccumulate() != isa::Accumulate::Overwrite;
  if (desc.accumulators.isUsed) {
    effects.emplace_back(MemoryEffects::Read::get(), AccumulatorResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), AccumulatorResource::get());
  }
  if (desc.isObserver) // else it would be dead: it leaves nothing in any memory
    effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
  unsigned place = 0;
  for (auto [i, access] : llvm::enumerate(accessesOf(op))) {
    if (!access || place == op->getNumOperands())
      continue;
    OpOperand &operand = op->getOpOperand(place++);
    SideEffects::Resource *resource =
        resourceOf(cast<BufType>(operand.get().getType()).getMemory());
    bool isOutput = desc.operands[i].isOutput;
    if (!isOutput || readsOutput || desc.operands[i].keepsOld)
      effects.emplace_back(MemoryEffects::Read::get(), &operand, resource);
    if (isOutput)
      effects.emplace_back(MemoryEffects::Write::get(), &operand, resource);
  }
}
