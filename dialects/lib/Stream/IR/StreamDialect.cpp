//===- StreamDialect.cpp - queues, semaphores and what must hold of them ----------------------===//
//
// The verifiers prove what makes happens-before decidable for later checkers:
// the same loops in all queues, one producer a semaphore between their edges, waits that can be
// met, queues in program order. Whether the waits suffice is the business of the checker after
// synchronisation.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Stream/IR/Stream.h"

#include "kiln/Dialect/Nisa/IR/NisaInst.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::stream;

static StringRef toRef(std::string_view s) { return {s.data(), s.size()}; }
static std::string_view toView(StringRef s) { return {s.data(), s.size()}; }

static ParseResult parseEngine(AsmParser &parser, IntegerAttr &engine) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  auto value = isa::valueOf(isa::engineCases(), toView(name));
  if (!value)
    return parser.emitError(place) << "no engine is called '" << name << "'";
  engine = parser.getBuilder().getI32IntegerAttr(int32_t(*value));
  return success();
}

static void printEngine(AsmPrinter &printer, Operation *, IntegerAttr engine) {
  printer << toRef(isa::name(isa::Engine(engine.getInt())));
}

/// Unsigned 32 bits, which MLIR's own format would print as negative.
static ParseResult parseWord(AsmParser &parser, IntegerAttr &word) {
  uint32_t value;
  if (parser.parseInteger(value))
    return failure();
  word = parser.getBuilder().getI32IntegerAttr(int32_t(value));
  return success();
}

static void printWord(AsmPrinter &printer, Operation *, IntegerAttr word) {
  printer << uint32_t(word.getInt());
}

#include "kiln/Dialect/Stream/IR/StreamDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Dialect/Stream/IR/StreamAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Stream/IR/StreamOps.cpp.inc"

void StreamDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/Dialect/Stream/IR/StreamAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Stream/IR/StreamOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #stream.sync
//===----------------------------------------------------------------------===//

Attribute SyncAttr::parse(AsmParser &parser, Type) {
  uint32_t order = 0, waitValue = 0, updateValue = 0;
  int32_t waitSemaphore = -1, updateSemaphore = -1;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("order") || parser.parseInteger(order))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    bool isWait = succeeded(parser.parseOptionalKeyword("wait"));
    if (!isWait && parser.parseKeyword("update", " or 'wait'"))
      return {};
    int32_t &semaphore = isWait ? waitSemaphore : updateSemaphore;
    if (semaphore != -1) {
      parser.emitError(parser.getCurrentLocation()) << "one wait and one update at most";
      return {};
    }
    uint16_t number;
    if (parser.parseInteger(number))
      return {};
    semaphore = number;
    ParseResult sign = isWait               ? parser.parseKeyword("reaches")
                       : parser.parsePlus() ? failure()
                                            : parser.parseEqual();
    if (sign || parser.parseInteger(isWait ? waitValue : updateValue))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<SyncAttr>(start, parser.getContext(), order, waitSemaphore, waitValue,
                                     updateSemaphore, updateValue);
}

void SyncAttr::print(AsmPrinter &printer) const {
  printer << "<order " << getOrder();
  if (hasWait())
    printer << ", wait " << getWaitSemaphore() << " reaches " << getWaitValue();
  if (hasUpdate())
    printer << ", update " << getUpdateSemaphore() << " += " << getUpdateValue();
  printer << '>';
}

static LogicalResult checkSemaphore(function_ref<InFlightDiagnostic()> emitError, int64_t semaphore,
                                    uint32_t value, StringRef verb) {
  if (semaphore >= int64_t(isa::machine.numSemaphores))
    return emitError() << "there is no semaphore " << semaphore << ": a core has "
                       << int64_t(isa::machine.numSemaphores) << ", counted from 0";
  if (value == 0)
    return emitError() << verb << " semaphore " << semaphore << " by 0 does nothing";
  return success();
}

LogicalResult SyncAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint32_t,
                               int32_t waitSemaphore, uint32_t waitValue, int32_t updateSemaphore,
                               uint32_t updateValue) {
  if (waitSemaphore >= 0 &&
      failed(checkSemaphore(emitError, waitSemaphore, waitValue, "waiting for")))
    return failure();
  if (updateSemaphore >= 0 &&
      failed(checkSemaphore(emitError, updateSemaphore, updateValue, "raising")))
    return failure();
  return success();
}

SyncAttr kiln::stream::syncOf(Operation *op) {
  return dyn_cast_if_present<SyncAttr>(op->getDiscardableAttr(kSyncAttrName));
}

void kiln::stream::setSync(Operation *op, SyncAttr sync) {
  op->setDiscardableAttr(kSyncAttrName, sync);
}

uint64_t kiln::stream::raiseOf(isa::Opcode opcode, uint32_t updateValue) {
  return isa::findInstruction(opcode)->isTransfer
             ? uint64_t(updateValue) * uint64_t(isa::machine.dmaEngines)
             : updateValue;
}

LogicalResult StreamDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() != kSyncAttrName)
    return op->emitError() << "the stream dialect has no attribute '" << attr.getName().getValue()
                           << "'";
  if (!llvm::isa<SyncAttr>(attr.getValue()))
    return op->emitError() << "'" << kSyncAttrName << "' is a #stream.sync, not "
                           << attr.getValue();
  if (!llvm::isa<nisa::InstOpInterface>(op))
    return op->emitError() << "'" << kSyncAttrName << "' belongs to an instruction, not to '"
                           << op->getName() << "'";
  if (!llvm::isa_and_present<QueueOp, LoopOp>(op->getParentOp()))
    return op->emitError() << "'" << kSyncAttrName << "' has a meaning in a stream.queue only";
  return success();
}

//===----------------------------------------------------------------------===//
// stream.queue
//===----------------------------------------------------------------------===//

void QueueOp::build(OpBuilder &builder, OperationState &state, isa::Engine engine) {
  state.getOrAddProperties<Properties>().engine = builder.getI32IntegerAttr(int32_t(engine));
  state.addRegion()->emplaceBlock();
}

/// The position of an op of a queue in the program order, if it has one.
static std::optional<uint32_t> orderOf(Operation *op) {
  if (auto wait = dyn_cast<WaitOp>(op))
    return wait.getOrder();
  if (SyncAttr sync = syncOf(op))
    return sync.getOrder();
  return std::nullopt;
}

static LogicalResult verifyQueued(QueueOp queue, nisa::InstOpInterface inst) {
  StringRef mnemonic = toRef(nisa::descOf(inst).mnemonic);
  if (!syncOf(inst))
    return inst->emitError() << "'" << mnemonic << "' in a queue needs '" << kSyncAttrName << "'";
  if (isa::Engine engine = nisa::engineOf(inst); engine != queue.getEngine())
    return inst->emitError() << "'" << mnemonic << "' runs on " << toRef(isa::name(engine))
                             << " but stands in the queue of "
                             << toRef(isa::name(queue.getEngine()));
  return success();
}

namespace {
/// Positions of a queue ascend, through its loops too.
class OrderCheck {
public:
  LogicalResult next(Operation *op, uint32_t order) {
    if (last && order <= *last)
      return op->emitError() << "order " << order << " follows order " << *last
                             << " in the same queue; a queue keeps the "
                                "program's order";
    last = order;
    return success();
  }

private:
  std::optional<uint32_t> last;
};
} // namespace

static LogicalResult verifyBlock(QueueOp queue, Block &block, OrderCheck &orders) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      if (failed(orders.next(&op, loop.getFirst())) ||
          failed(verifyBlock(queue, loop.getBody().front(), orders)) ||
          failed(orders.next(&op, loop.getLast())))
        return failure();
      continue;
    }
    auto inst = dyn_cast<nisa::InstOpInterface>(op);
    if (!inst && !llvm::isa<WaitOp>(op))
      return op.emitError() << "a queue holds instructions, stream.loop and stream.wait, not '"
                            << op.getName() << "'";
    if (inst && failed(verifyQueued(queue, inst)))
      return failure();
    if (failed(orders.next(&op, *orderOf(&op))))
      return failure();
  }
  return success();
}

LogicalResult QueueOp::verifyRegions() {
  auto isEngine = [&](const isa::EnumCase &c) { return c.value == uint32_t(getEngine()); };
  if (getEngine() == isa::Engine::Unknown || llvm::none_of(isa::engineCases(), isEngine))
    return emitError() << "a queue needs a real engine";
  OrderCheck orders;
  return verifyBlock(*this, getBody().front(), orders);
}

//===----------------------------------------------------------------------===//
// stream.loop
//===----------------------------------------------------------------------===//

void LoopOp::build(OpBuilder &builder, OperationState &state, int64_t tripCount, uint32_t first,
                   uint32_t last) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.tripCount = builder.getI64IntegerAttr(tripCount);
  properties.first = builder.getI32IntegerAttr(int32_t(first));
  properties.last = builder.getI32IntegerAttr(int32_t(last));
  state.addRegion()->emplaceBlock();
}

int64_t LoopOp::getIterations() { return int64_t(getTripCount()); }

LogicalResult LoopOp::verify() {
  if (getIterations() < 1 || getIterations() > int64_t(UINT32_MAX))
    return emitError() << "a loop of a stream runs 1 to " << UINT32_MAX << " times, not "
                       << getIterations();
  if (unsigned depth = nisa::loopDepth(*this); depth >= isa::kMaxLoopDepth)
    return emitError() << "the loop stands inside " << depth << " others, at most "
                       << isa::kMaxLoopDepth << " stand inside one another";
  return success();
}

//===----------------------------------------------------------------------===//
// stream.wait
//===----------------------------------------------------------------------===//

void WaitOp::build(OpBuilder &builder, OperationState &state, uint32_t order, uint32_t semaphore,
                   uint32_t value) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.order = builder.getI32IntegerAttr(int32_t(order));
  properties.semaphore = builder.getI32IntegerAttr(int32_t(semaphore));
  properties.value = builder.getI32IntegerAttr(int32_t(value));
}

LogicalResult WaitOp::verify() {
  return checkSemaphore([&] { return emitError(); }, getSemaphore(), getValue(), "waiting for");
}

//===----------------------------------------------------------------------===//
// stream.program
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &, OperationState &state) { state.addRegion()->emplaceBlock(); }

QueueOp kiln::stream::getOrCreateQueue(OpBuilder &builder, ProgramOp program, isa::Engine engine) {
  Block &body = program.getBody().front();
  Block::iterator place = body.begin();
  for (; place != body.end(); ++place) {
    auto queue = cast<QueueOp>(*place);
    if (queue.getEngine() == engine)
      return queue;
    if (queue.getEngine() > engine)
      break;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(&body, place);
  return QueueOp::create(builder, program.getLoc(), engine);
}

namespace {
/// What the queues together say about each semaphore in one epoch.
class Semaphores {
public:
  LogicalResult addUpdate(QueueOp queue, nisa::InstOpInterface inst, SyncAttr sync);
  /// Every wait can be met once all updates have happened.
  LogicalResult verifyWait(Operation *op, uint32_t semaphore, uint32_t value);

private:
  /// The DMA rings of one engine complete in any order, so each is a producer
  /// of its own; -1 is the engine itself.
  struct Producer {
    isa::Engine engine;
    int64_t ring;
    Operation *first;
    uint64_t total = 0;
  };
  static std::string describe(isa::Engine engine, int64_t ring) {
    std::string text = toRef(isa::name(engine)).str();
    return ring < 0 ? text : text + " DMA ring " + std::to_string(ring);
  }
  std::map<uint32_t, Producer> producers;
};

/// One queue in its order, with the edges of its loops between the other ops.
struct Walk {
  /// An instruction, a wait, or a loop at its beginning or end.
  struct Step {
    Operation *op;
    uint32_t order;
    size_t epoch; ///< edges before it in the queue
    bool isEdge = false, isBegin = false;
  };
  std::vector<Step> steps;
  size_t epoch = 0;

  explicit Walk(QueueOp queue) { add(queue.getBody().front()); }
  void add(Block &block) {
    for (Operation &op : block) {
      auto loop = dyn_cast<LoopOp>(op);
      if (!loop) {
        if (std::optional<uint32_t> order = orderOf(&op))
          steps.push_back({&op, *order, epoch});
        continue;
      }
      steps.push_back({&op, loop.getFirst(), epoch++, true, true});
      add(loop.getBody().front());
      steps.push_back({&op, loop.getLast(), epoch++, true, false});
    }
  }
};
} // namespace

LogicalResult Semaphores::addUpdate(QueueOp queue, nisa::InstOpInterface inst, SyncAttr sync) {
  const int64_t ring = nisa::descOf(inst).isTransfer ? int64_t(nisa::ringOf(inst)) : -1;
  auto [it, isNew] = producers.try_emplace(uint32_t(sync.getUpdateSemaphore()),
                                           Producer{queue.getEngine(), ring, inst});
  Producer &producer = it->second;
  if (producer.engine != queue.getEngine() || producer.ring != ring) {
    InFlightDiagnostic diag = inst->emitError()
                              << "semaphore " << sync.getUpdateSemaphore() << " is raised by "
                              << describe(queue.getEngine(), ring) << " and by "
                              << describe(producer.engine, producer.ring)
                              << "; a semaphore has one producer";
    diag.attachNote(producer.first->getLoc()) << "first raised here";
    return diag;
  }
  producer.total += raiseOf(inst.getOpcode(), sync.getUpdateValue());
  return success();
}

LogicalResult Semaphores::verifyWait(Operation *op, uint32_t semaphore, uint32_t value) {
  auto it = producers.find(semaphore);
  uint64_t total = it == producers.end() ? 0 : it->second.total;
  if (value <= total)
    return success();
  return op->emitError() << "this wait never ends: semaphore " << semaphore << " must reach "
                         << value << ", all updates add up to " << total;
}

/// Every position of the program order is taken once.
static LogicalResult verifyOrders(ArrayRef<Walk> walks) {
  struct Place {
    uint32_t order;
    size_t position; // where it stands in the text: decides which of two is "first"
    Operation *op;
  };
  std::vector<Place> taken;
  for (const Walk &walk : walks)
    for (const Walk::Step &step : walk.steps)
      taken.push_back({step.order, taken.size(), step.op});
  llvm::sort(taken, [](const Place &a, const Place &b) {
    return std::tie(a.order, a.position) < std::tie(b.order, b.position);
  });
  auto twice = std::adjacent_find(taken.begin(), taken.end(), [](const Place &a, const Place &b) {
    return a.order == b.order;
  });
  if (twice == taken.end())
    return success();
  InFlightDiagnostic diag = std::next(twice)->op->emitError()
                            << "order " << twice->order << " is taken twice";
  diag.attachNote(twice->op->getLoc()) << "first taken here";
  return diag;
}

/// All queues have the loops of the first one.
static LogicalResult verifyLoops(ArrayRef<Walk> walks) {
  auto edgesOf = [](const Walk &walk) {
    return llvm::to_vector(
        llvm::make_filter_range(walk.steps, [](const Walk::Step &s) { return s.isEdge; }));
  };
  auto describe = [](const Walk::Step &edge) -> std::string {
    if (!edge.isBegin)
      return "the end of a loop";
    auto loop = cast<LoopOp>(edge.op);
    if (loop.getControl())
      return "a loop that registers decide";
    return "a loop of " + std::to_string(loop.getIterations()) + " iterations";
  };
  if (walks.empty())
    return success();
  const SmallVector<Walk::Step> first = edgesOf(walks.front());
  for (const Walk &walk : walks.drop_front()) {
    const SmallVector<Walk::Step> edges = edgesOf(walk);
    for (size_t i = 0; i < std::max(first.size(), edges.size()); ++i) {
      std::string here = i < edges.size() ? describe(edges[i]) : "nothing";
      std::string there = i < first.size() ? describe(first[i]) : "nothing";
      if (here == there)
        continue;
      Operation *op = i < edges.size() ? edges[i].op : first[i].op;
      return op->emitError() << "the queues have different loops: one has " << here
                             << " where the first has " << there;
    }
  }
  return success();
}

static LogicalResult verifySemaphores(ArrayRef<QueueOp> queues, ArrayRef<Walk> walks) {
  std::vector<Semaphores> epochs(walks.empty() ? 0 : walks.front().epoch + 1);
  for (auto [queue, walk] : llvm::zip_equal(queues, walks))
    for (const Walk::Step &step : walk.steps)
      if (SyncAttr sync = syncOf(step.op); sync && sync.hasUpdate())
        if (failed(epochs[step.epoch].addUpdate(queue, cast<nisa::InstOpInterface>(step.op), sync)))
          return failure();
  for (const Walk &walk : walks)
    for (const Walk::Step &step : walk.steps) {
      SyncAttr sync = syncOf(step.op);
      if (sync && sync.hasWait() &&
          failed(epochs[step.epoch].verifyWait(step.op, uint32_t(sync.getWaitSemaphore()),
                                               sync.getWaitValue())))
        return failure();
      if (auto wait = dyn_cast<WaitOp>(step.op))
        if (failed(epochs[step.epoch].verifyWait(step.op, wait.getSemaphore(), wait.getValue())))
          return failure();
    }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  std::optional<isa::Engine> last;
  for (Operation &op : getBody().front()) {
    auto queue = dyn_cast<QueueOp>(op);
    if (!queue)
      return op.emitError() << "a program holds queues, not '" << op.getName() << "'";
    if (last && queue.getEngine() <= *last)
      return op.emitError() << "the queue of " << toRef(isa::name(queue.getEngine()))
                            << " follows the queue of " << toRef(isa::name(*last))
                            << "; there is one an engine, in the order of "
                               "engines";
    last = queue.getEngine();
  }
  SmallVector<QueueOp> queues(getBody().getOps<QueueOp>());
  std::vector<Walk> walks(queues.begin(), queues.end());
  if (failed(verifyOrders(walks)) || failed(verifyLoops(walks)))
    return failure();
  return verifySemaphores(queues, walks);
}
