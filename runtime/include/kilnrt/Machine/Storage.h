//===- Storage.h - the bytes of one run and what is known about them --------------------------===//
//
// Blocks of bytes with a shadow: which bytes were written, through which
// tensor, and which PSUM cells hold a matmul sum. Answers questions and takes
// notes; it never fails and builds no message. The rules:
//
//  * The first write through a tensor, and the first after another tensor took
//  its bytes, makes it live:
//    its bytes become unwritten, its PSUM cells lose their sum, and every live
//    tensor that overlaps it by address is overwritten as a whole. In a
//    properly synchronised program all accesses through the old tensor happen
//    before that write, so the outcome does not depend on the schedule.
//  * A read needs a live tensor and every byte of it written since.
//  * A PSUM cell's bit is set by an accumulating matmul and cleared by every
//  other write to its bytes.
//
// Bits are kept lazily: a tensor known to be written as a whole (`full`) or
// whose cells are all alike needs none, which makes the common access one
// comparison.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_STORAGE_H
#define KILNRT_MACHINE_STORAGE_H

#include "kilnrt/Machine/ByteSet.h"
#include "kilnrt/Machine/Layout.h"
#include "kilnrt/Machine/Poison.h"
#include "kilnrt/Machine/Shadow.h"

#include <memory>

namespace kilnrt {

enum class ShadowMode : uint8_t {
  Off,     ///< matmul bits only
  Bytes,   ///< a byte counts as written whichever tensor wrote it
  Tensors, ///< a byte written through another tensor does not count
};

/// Who wrote; a number that means something to the caller. See Storage::setAuthor.
using Author = uint64_t;
inline constexpr Author kNoAuthor = ~Author{0};

/// Why bytes may not be read, and which.
struct UnwrittenBytes {
  enum Kind {
    Never,      ///< nothing was ever written through the tensor
    Partly,     ///< other bytes of it were
    Overwritten ///< another tensor was written over it
  } kind = Never;
  /// Of the tensor: those that were not written, or that the others took. None when the others took
  /// only bytes that are not asked for.
  ByteSet bytes;
  int64_t asked = 0;              ///< how many bytes were asked for
  uint32_t other = kNone;         ///< Overwritten: the first tensor that took bytes
  Author author = kNoAuthor;      ///< Overwritten: whose write took them; Partly: the last one that
                                  ///< wrote the tensor
  bool wasWrittenEarlier = false; ///< in an iteration before this one: see Storage::forget
  Author earlierAuthor = kNoAuthor; ///< who wrote it there last
};

/// The bytes that `place` touches, each once, as bytes of its tensor.
ByteSet bytesOf(const Place &place, const Layout &layout);

/// The matmul bits of an access.
enum class CellState : uint8_t { Clear, Set, Mixed };

class Storage {
public:
  /// Fresh memory is filled with `poison`. `refills`: so are the bytes of a tensor when another one
  /// takes its memory, and when the iteration ends that it is declared in; not with ShadowMode
  /// Bytes, where tensors may share their bytes on purpose.
  Storage(const Layout &layout, ShadowMode mode, const Poison &poison = {}, bool refills = false);

  /// Binds an HBM tensor to bytes that outlive the run. `written`: they count
  /// as written (inputs and constants, which no verified program writes to);
  /// otherwise they are filled with the poison.
  void bind(uint32_t tensor, std::byte *data, bool written);

  /// The bytes of `place`. Precondition: the tensor was bound, read or written
  /// before.
  std::byte *address(const Place &place) const {
    return blocks[place.block].data + place.partition * layout.blocks()[place.block].stride +
           place.byte;
  }
  Tile tile(const Place &place) const { return {place.shape(), address(place)}; }

  /// Every byte of `place` was written (always true with the shadow off).
  /// Allocates an untouched block.
  bool isWritten(const Place &place) {
    const TensorState &state = states[place.tensor];
    return state.full || isWrittenSlow(place);
  }
  /// Why isWritten(place) is false. Precondition: it is.
  UnwrittenBytes unwritten(const Place &place) const;
  /// The bytes of a whole tensor that were not written; nothing when all were.
  std::optional<UnwrittenBytes> unwritten(uint32_t tensor) const;
  /// The bytes of `place` whose cells hold no sum.
  ByteSet withoutSums(const Place &place) const;
  /// The bytes of `place` that others took when its tensor was overwritten.
  ByteSet taken(const Place &place) const;

  /// Who makes the writes that are noted from now on.
  void setAuthor(Author who) { author = who; }
  /// The last who wrote the tensor since it was declared or, in a loop, since the iteration began;
  /// kNoAuthor: nobody.
  Author lastAuthor(uint32_t tensor) const { return states[tensor].author; }

  /// One byte was, through `tensor`; `partition` and `byte` count in its block.
  bool isWritten(uint32_t tensor, uint32_t partition, int64_t byte) const;
  /// The block has bytes: it was bound, read or written.
  bool hasBytes(uint32_t block) const { return blocks[block].data != nullptr; }

  /// Notes a write of all bytes of `place`, before it happens.
  void noteWrite(const Place &place) {
    noteMatmul(place);
    if (states[place.tensor].hasCells)
      setCells(place, CellState::Clear);
  }
  /// The same for an accumulating matmul, whose cells are set by `setCells`.
  void noteMatmul(const Place &place) {
    activate(place);
    TensorState &state = states[place.tensor];
    ++state.writes;
    state.author = author;
    if (!state.full)
      setWritten(place);
  }
  /// Notes that some writes together covered the whole tensor:
  /// `activations(tensor)` is still what it was when the first of them was
  /// noted.
  void noteWholeWrite(uint32_t tensor) { states[tensor].full = mode != ShadowMode::Off; }
  /// Changes whenever the bytes of `place` may have; nothing when that is not known, because other
  /// tensors write them. Of equal places only.
  std::optional<uint64_t> contentVersion(const Place &place) const {
    if (!isLazy(place.block))
      return std::nullopt;
    const TensorState &state = states[place.tensor];
    return uint64_t(place.tensor) << 32 ^ state.writes;
  }
  bool refillsBytes() const { return refills; }
  /// The next write through the tensor takes its bytes from others.
  bool isTakingOver(uint32_t tensor) const { return !states[tensor].live; }
  /// How often the tensor became live.
  uint32_t activations(uint32_t tensor) const { return states[tensor].activations; }
  /// The tensor lost matmul sums to another one that took its bytes, and was
  /// not written since.
  bool lostSums(uint32_t tensor) const { return states[tensor].lostSums; }
  /// The tensor that took its bytes, and whose write that was.
  uint32_t overwrittenBy(uint32_t tensor) const { return states[tensor].overwrittenBy; }
  Author takenBy(uint32_t tensor) const { return states[tensor].takenBy; }

  CellState cells(const Place &place) const;
  /// `state` is Clear or Set.
  void setCells(const Place &place, CellState state);
  /// The bit of one cell; `partition` and `byte` count in the block.
  bool cell(const Place &place, uint32_t partition, int64_t byte) const;
  void setCell(const Place &place, uint32_t partition, int64_t byte);

  /// Makes a tensor as if it had never been written: a new iteration of the loop it is declared in
  /// begins.
  void forget(uint32_t tensor);

  /// One access less to come; a block of its own is given back after the last.
  void release(uint32_t tensor);
  /// Sets how many accesses of each tensor are to come. Without it nothing is
  /// given back.
  void expectAccesses(const std::vector<uint64_t> &counts) { remaining = counts; }

private:
  struct TensorState {
    bool live = false, full = false;
    bool hasCells = false;              ///< in PSUM
    CellState cells = CellState::Clear; ///< Clear and Set: of all cells,
                                        ///< whatever the bits say
    bool lostSums = false;
    uint32_t overwrittenBy = kNone;
    bool wasWrittenEarlier = false;
    uint32_t activations = 0;
    uint32_t writes = 0;
    uint64_t activatedAt = 0, retiredAt = 0; ///< on the clock of activations
    Author author = kNoAuthor;               ///< of the last write
    Author takenBy = kNoAuthor;              ///< of the write that made overwrittenBy live
    Author earlierAuthor = kNoAuthor;
  };
  struct AlignedDelete {
    void operator()(std::byte *data) const;
  };
  struct Block {
    std::byte *data = nullptr;
    std::unique_ptr<std::byte, AlignedDelete> owned;
    ColumnBits bytes, cells; ///< on chip
    LinearBits linear;       ///< HBM
    /// Shared blocks: live tensors that touch each stretch of granuleBytes.
    std::vector<std::vector<uint32_t>> granules;
  };

  /// A tensor's bits may say less than its state: nobody else looks at them.
  bool isLazy(uint32_t block) const {
    return mode == ShadowMode::Tensors || layout.blocks()[block].tensor != kNone;
  }
  bool isWrittenSlow(const Place &place);
  void activate(const Place &place) {
    if (!states[place.tensor].live)
      activateSlow(place);
  }
  void activateSlow(const Place &place);
  /// Which tensor of a shared block owns its bytes is kept.
  bool tracksOwners() const { return mode == ShadowMode::Tensors || refills; }
  void retireOverlapping(uint32_t tensor);
  void refill(uint32_t tensor);
  /// The stretches of a shared block that a tensor touches.
  std::span<std::vector<uint32_t>> granulesOf(uint32_t tensor);
  void allocate(uint32_t block);
  void setWritten(const Place &place);
  /// Gives cells their bits, so that they may differ.
  void spreadCells(uint32_t tensor);
  /// `partition` and `byte` count in the block.
  bool isByteWritten(const Block &block, uint32_t partition, int64_t byte) const;
  /// Bytes of `asked`, in each of `partitions` partitions from `first` on, all of them of the
  /// block, that are not written; as bytes of `tensor`.
  ByteSet unwrittenAmong(uint32_t tensor, uint32_t first, uint32_t partitions,
                         const std::vector<ByteInterval> &asked) const;
  UnwrittenBytes whyUnwritten(uint32_t tensor) const;
  PartitionMask maskOf(uint32_t tensor) const;

  const Layout &layout;
  ShadowMode mode;
  PoisonFill poison;
  bool refills;
  std::vector<Block> blocks;
  std::vector<TensorState> states;
  std::vector<uint64_t> remaining;
  Author author = kNoAuthor;
  uint64_t clock = 0; ///< counts activations
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_STORAGE_H
