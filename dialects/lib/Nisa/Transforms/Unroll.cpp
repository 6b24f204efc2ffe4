//===- Unroll.cpp - write the iterations of loops out, or some of them ------------------------===//
//
// Two halves: a plan that says what becomes of each loop, made from counts alone, and a writer that
// is purely mechanical. The offset of each access is affine in the iteration numbers, so a copy
// needs its offset added up and its coefficients scaled.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/Dialect/Nisa/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::nisa {

#define GEN_PASS_DEF_UNROLLPASS
#include "kiln/Dialect/Nisa/Transforms/Passes.h.inc"

namespace {

using namespace mlir;

/// Instructions of `block` once its loops are written out, saturating.
uint64_t unrolledSize(Block &block) {
  uint64_t size = 0;
  for (Operation &op : block) {
    uint64_t here = llvm::isa<InstOpInterface>(op) ? 1 : 0;
    if (auto loop = dyn_cast<ForOp>(op); loop && loop.getControl())
      here = UINT64_MAX; // it stays
    else if (loop)
      here = llvm::SaturatingMultiply(uint64_t(loop.getTripCount()),
                                      unrolledSize(loop.getBody().front()));
    size = llvm::SaturatingAdd(size, here);
  }
  return size;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

struct Limits {
  uint64_t fully; ///< instructions of a nest that is written out
  uint64_t body;  ///< instructions worth having in a body
  uint64_t factor;
};

/// What becomes of a loop: its iterations in groups of `factor`, each group written out in the body
/// of a rolled loop; what is left over is written out behind it.
struct Fate {
  uint64_t factor = 1;
  uint64_t groups = 0; ///< 0: everything is left over, no loop stays
};

class Plan {
public:
  Plan(KernelOp kernel, Limits limits) : limits(limits) {
    size = plan(kernel.getBody().front(), limits.fully);
  }

  Fate of(ForOp loop) const { return fates.lookup(loop); }
  /// Instructions of the kernel afterwards.
  uint64_t instructions() const { return size; }
  /// A loop that stays and has more iterations than a program can count.
  ForOp tooLong() const { return longLoop; }
  /// Whether any loop changes.
  bool changes() const { return isChanging; }

private:
  /// Decides for the loops of `block`; a nest of at most `fully` instructions is written out.
  uint64_t plan(Block &block, uint64_t fully) {
    uint64_t total = 0;
    for (Operation &op : block) {
      uint64_t here = llvm::isa<InstOpInterface>(op) ? 1 : 0;
      if (auto loop = dyn_cast<ForOp>(op))
        here = plan(loop, fully);
      total = llvm::SaturatingAdd(total, here);
    }
    return total;
  }

  uint64_t plan(ForOp loop, uint64_t fully) {
    Block &body = loop.getBody().front();
    const auto trips = uint64_t(loop.getIterations());
    if (loop.getControl()) {
      fates[loop] = {1, 1};
      const uint64_t inside = plan(body, limits.body);
      return inside;
    }
    const uint64_t whole = llvm::SaturatingMultiply(trips, unrolledSize(body));
    if (whole <= fully) {
      loop.walk([&](ForOp inner) { fates[inner] = {}; });
      isChanging = true;
      return whole;
    }
    const uint64_t inside = plan(body, limits.body);
    bool holdsLoops = false;
    for (ForOp inner : body.getOps<ForOp>())
      holdsLoops |= stays(inner);
    Fate &fate = fates[loop];
    if (trips > 1) {
      fate.factor = holdsLoops ? 1 : chooseFactor(trips, inside);
      fate.groups = trips / fate.factor;
      if (fate.groups > UINT32_MAX && !longLoop)
        longLoop = loop;
    }
    isChanging |= fate.factor > 1 || fate.groups == 0;
    const uint64_t copies = fate.groups == 0 ? trips : fate.factor + trips % fate.factor;
    return llvm::SaturatingMultiply(copies, inside);
  }

  bool stays(ForOp loop) const {
    if (of(loop).groups > 0)
      return true;
    return llvm::any_of(loop.getBody().front().getOps<ForOp>(),
                        [&](ForOp inner) { return stays(inner); });
  }

  /// As many copies as make the body worth a meeting of all engines at its end; of the larger half
  /// of the counts the largest that leaves nothing over, if there is one.
  uint64_t chooseFactor(uint64_t trips, uint64_t inside) const {
    const uint64_t wish =
        std::min({limits.body / std::max<uint64_t>(inside, 1), limits.factor, trips / 2});
    const uint64_t most = std::max<uint64_t>(wish, 1);
    for (uint64_t factor = most; factor > most / 2; --factor)
      if (trips % factor == 0)
        return factor;
    return most;
  }

  Limits limits;
  llvm::DenseMap<Operation *, Fate> fates;
  uint64_t size = 0;
  ForOp longLoop;
  bool isChanging = false;
};

//===----------------------------------------------------------------------===//
// The writer
//===----------------------------------------------------------------------===//

/// What a copy makes of its coefficient for one loop around it.
struct Action {
  bool isDropped; ///< the loop is gone, else it stays
  int64_t factor; ///< iterations of the old loop in one of the new
  int64_t number; ///< of this copy
};

class Writer {
public:
  Writer(KernelOp kernel, const Plan &plan) : plan(plan), builder(kernel.getContext()) {
    kernel.walk([&](AllocOp alloc) {
      if (alloc->getParentOp() == kernel)
        taken.insert(alloc.getTensorName());
    });
  }

  /// Replaces `loop`, which stands in the kernel itself.
  void replace(ForOp loop) {
    builder.setInsertionPoint(loop);
    writeLoop(loop);
    loop.erase();
  }

private:
  void writeLoop(ForOp loop) {
    const Fate fate = plan.of(loop);
    Block &body = loop.getBody().front();
    const int64_t trips = loop.getIterations(), factor = int64_t(fate.factor);
    int64_t done = 0;
    if (fate.groups > 0) {
      auto rolled = ForOp::create(builder, loop.getLoc(), int64_t(fate.groups));
      rolled.setControlAttr(loop.getControlAttr());
      rolled->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&rolled.getBody().front());
      for (int64_t copy = 0; copy < factor; ++copy)
        writeBody(body, {false, factor, copy});
      done = int64_t(fate.groups) * factor;
    }
    for (; done < trips; ++done)
      writeBody(body, {true, 1, done});
  }

  void writeBody(Block &body, Action action) {
    actions.push_back(action);
    for (Operation &op : body) {
      if (auto loop = dyn_cast<ForOp>(op)) {
        writeLoop(loop);
        continue;
      }
      Operation *copy = builder.clone(op, mapping);
      if (auto alloc = dyn_cast<AllocOp>(copy))
        alloc.setTensorName(freshName(alloc.getTensorName()));
      else
        fixOffsets(cast<InstOpInterface>(copy));
      if (auto print = dyn_cast<DevicePrintOp>(copy))
        fixNumbers(print);
    }
    actions.pop_back();
  }

  /// A print shows the author's iterations: those of a loop that goes become numbers, those of one
  /// that stays count in its groups. The loops around it that have no step are gone already.
  void fixNumbers(DevicePrintOp print) {
    SmallVector<int64_t> base(print.getBase()), step(print.getStep());
    const Action *action = actions.begin();
    for (auto [first, each] : llvm::zip_equal(base, step)) {
      if (each == 0 || action == actions.end())
        continue;
      first += each * action->number;
      each = action->isDropped ? 0 : each * action->factor;
      ++action;
    }
    print.setBase(base);
    print.setStep(step);
  }

  void fixOffsets(InstOpInterface op) {
    for (auto [i, access] : llvm::enumerate(accessesOf(op))) {
      if (!access || access.getPerIteration().empty())
        continue;
      isa::Access fixed = access.getAccess();
      SmallVector<int64_t, isa::kMaxLoopDepth> left;
      for (auto [coefficient, action] : llvm::zip_equal(access.getPerIteration(), actions)) {
        fixed.offset += coefficient * action.number;
        if (!action.isDropped)
          left.push_back(coefficient * action.factor);
      }
      if (llvm::all_of(left, [](int64_t c) { return c == 0; }))
        left.clear();
      setAccess(op, unsigned(i), AccessAttr::get(op->getContext(), fixed, left));
    }
  }

  /// The first copy of a buffer keeps its name, later ones count: "t", "t.1", "t.2".
  std::string freshName(StringRef name) {
    std::string fresh = name.str();
    for (unsigned &next = copies[name]; !taken.insert(fresh).second;)
      fresh = (name + "." + Twine(++next)).str();
    return fresh;
  }

  const Plan &plan;
  OpBuilder builder;
  SmallVector<Action> actions; ///< of the loops around, outermost first
  IRMapping mapping;           ///< buffers of loops to those of the copy at hand
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> copies;
};

struct UnrollPass : impl::UnrollPassBase<UnrollPass> {
  using UnrollPassBase::UnrollPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    const Plan plan(kernel, {fullLimit, bodyTarget, maxFactor});
    // What the kernel has without loops was bounded by whoever made it. The location alone: an
    // error of an op prints all that is inside.
    if (plan.changes() && plan.instructions() > maxInstructions) {
      InFlightDiagnostic diag = mlir::emitError(kernel.getLoc())
                                << "[K-12] writing the loops out gives " << plan.instructions()
                                << " instructions, more than " << maxInstructions.getValue();
      diag.attachNote() << "help: let one instruction do more: a larger tile, "
                           "or more free dims in an access";
      return signalPassFailure();
    }
    if (ForOp loop = plan.tooLong()) {
      InFlightDiagnostic diag = mlir::emitError(loop.getLoc())
                                << "[K-12] a loop of " << loop.getIterations()
                                << " iterations, more than " << UINT32_MAX << " even in groups of "
                                << plan.of(loop).factor;
      diag.attachNote() << "help: put a loop inside a loop, or let one iteration do more";
      return signalPassFailure();
    }
    if (!plan.changes())
      return;
    Writer writer(kernel, plan);
    for (ForOp loop : llvm::make_early_inc_range(kernel.getBody().front().getOps<ForOp>()))
      writer.replace(loop);
  }
};

} // namespace
} // namespace kiln::nisa
