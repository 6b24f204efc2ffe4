//===- Core.h - the state of one run ----------------------------------------------------------===//
//
// Memories, semaphores and the reduction registers of one core, and what a
// handler may ask of them. Owned by one run; two cores share nothing but the
// image.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_CORE_H
#define KILNRT_LIB_EXECUTOR_CORE_H

#include "Operation.h"
#include "kilnrt/Debug.h"
#include "kilnrt/Executor.h"
#include "kilnrt/Machine/Storage.h"
#include "kilnrt/Semantics/Matmul.h"

namespace kilnrt {

/// The reduction registers of one engine, by row of the tile.
struct ReductionRegisters {
  std::array<float, isa::machine.numPartitions> values{};
  /// Rows [0, defined) hold a value; the others were never set.
  uint32_t defined = 0;
  uint32_t partition = 0; ///< first partition of the tile that set them
};

class Core {
public:
  Core(const Image &image, const RunOptions &options);

  const Image &image;
  const RunOptions &options;
  Storage memory;
  std::array<uint64_t, isa::machine.numSemaphores> semaphores{};
  std::array<ReductionRegisters, kEngineSlots> reductions; ///< by engine
  /// Of the sequencers, by engine. They start at 0.
  std::array<std::array<int32_t, isa::machine.maxSequencerRegisters>, kEngineSlots> registers{};
  std::vector<DevicePrint> prints; ///< for RunResult
  /// Number of the iteration at hand of each loop that is open, outermost first; 0 beyond. One for
  /// all engines: they meet at the edges of loops, with nothing in flight.
  std::array<int64_t, isa::kMaxLoopDepth> iteration{};

  /// Reads the registers that say where operands of `op` lie, as its stream starts it: into
  /// `indices`, which is what `op` is executed with. `isSkipped`: an index is out of range, and
  /// the transfer says that then nothing moves.
  Status readIndices(const Operation &op, IndexBytes &bytes, bool &isSkipped) const;
  /// Bytes by which indices move the operands of the operation at hand.
  IndexBytes indices{};
  /// `op` with its operands where the iteration at hand has them; valid until the next call.
  const Operation &atIteration(const Operation &op) {
    return op.shifts || op.indices ? moved(op) : op;
  }

  // Below, `op` is one that atIteration gave.

  /// Checks the inputs, notes the writes, runs the handler. Not for DMA.
  Status execute(const Operation &op);
  /// Moves the share of rows `range` of a transfer; all rows make the whole
  /// transfer.
  Status executeShare(const Operation &op, RowRange range);
  /// The accesses of `op` are over.
  void release(const Operation &op) {
    for (unsigned i = 0; i < op.operands; ++i)
      if (op.places[i].present())
        memory.release(op.places[i].tensor);
  }

  /// The observer lets the stream begin `op`. Precondition: there is one.
  bool mayBegin(const Operation &op) const;
  /// A step begins: what is read and written from here on is its doing.
  void beginStep(const Operation &op, uint32_t share, bool completes) {
    if (options.observer)
      step = stepOf(op, share, completes);
  }
  void endStep() {
    if (options.observer)
      options.observer->ends(step);
  }

  //---- for handlers ----
  /// Notes a write of operand `operand` to all of `place`, before it happens.
  void noteWrite(unsigned operand, const Place &place) {
    if (options.observer)
      options.observer->writes(step, operand, place);
    memory.noteWrite(place);
  }
  /// The same for an accumulating matmul, which sets the cells itself.
  void noteMatmul(unsigned operand, const Place &place) {
    if (options.observer)
      options.observer->writes(step, operand, place);
    memory.noteMatmul(place);
  }
  bool has(const Operation &op, unsigned operand) const { return op.places[operand].present(); }
  Tile output(const Operation &op, unsigned operand) const {
    return memory.tile(op.places[operand]);
  }
  ConstTile input(const Operation &op, unsigned operand) const {
    if (stagedInputs >> operand & 1)
      return staged[operand];
    return memory.tile(op.places[operand]);
  }
  /// The stationary operand of a matmul, packed; kept while the next matmuls
  /// use the same one.
  const LoadedStationary &stationary(const Operation &op);
  /// The first element in which the moving operand of a matmul is no identity;
  /// asked once for bytes that stay.
  std::optional<MatrixElement> movingNonIdentity(const Operation &op);

private:
  RunStep stepOf(const Operation &op, uint32_t share, bool completes) const;
  const Operation &moved(const Operation &op);
  int64_t shiftOf(const Operation &op, unsigned operand) const {
    int64_t bytes = op.indices ? indices[operand] : 0;
    for (unsigned l = 0; op.shifts && l < isa::kMaxLoopDepth; ++l)
      bytes += op.shifts[operand][l] * iteration[l];
    return bytes;
  }
  Status moveShare(const Operation &op, const TransferPlan &plan, RowRange range);
  Status checkInput(const Operation &op, unsigned operand, const Place &place);
  /// Moves elements [first, end) of a transfer whose sides have different rows.
  Status executePieces(const Operation &op, const TransferPlan &plan, int64_t first, int64_t end);
  /// Replaces an input by a copy of it.
  void stage(const Operation &op, unsigned operand);

  /// Which inputs of `op` are copied before it writes anything, where bytes are filled again: all
  /// when an output takes its bytes from another tensor, which may be an input.
  uint8_t inputsToStage(const Operation &op) const;

  uint8_t stagedInputs = 0; ///< of the operation at hand
  std::array<ConstTile, isa::kMaxOperands> staged;
  /// Bytes that something was derived from.
  struct Source {
    Place place; ///< absent: none
    uint64_t version = 0;
  };
  /// The bytes of `place` are still those of `source`; if not, they become its.
  bool isStill(Source &source, const Place &place) const;

  RunStep step; ///< at hand, for the observer
  LoadedStationary loaded;
  Source loadedFrom, knownIdentity;
  std::array<std::vector<std::byte>, isa::kMaxOperands> stagedBytes;
  Operation movedOp;
  std::array<Place, isa::kMaxOperands> movedPlaces;
};

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_CORE_H
