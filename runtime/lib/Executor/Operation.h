//===- Operation.h - a decoded instruction and the program it belongs to ----------------------===//
//
// Everything about a program that does not change from run to run: resolved
// accesses, typed fields, the handler to call, the plans of transfers. Made
// once by decodeImage, read by any number of runs at a time.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_EXECUTOR_OPERATION_H
#define KILNRT_LIB_EXECUTOR_OPERATION_H

#include "kiln/ISA/Args.h"
#include "kilnrt/Machine/Storage.h"

#include <array>
#include <map>
#include <memory>
#include <new>
#include <vector>

namespace kilnrt {

class Core;
struct Operation;

//---- dispatch -----------------------------------------------------------===//

// One handler per row of the table: a row without one does not link.
// Preconditions of every handler: the verifier's rules hold, all bytes of the
// inputs are written, the write of the outputs is noted.
#define KILN_INST(Name, mnemonic, opcode)                                                          \
  Status exec##Name(Core &core, const Operation &op, const isa::Name##Args &args);
#include "kiln/ISA/Insts.inc"
#undef KILN_INST

/// Room for the fields of any instruction.
inline constexpr size_t kMaxArgsBytes = 64;

/// Bytes an operand moves by in each iteration of the loops around it, outermost first.
using LoopShift = std::array<int64_t, isa::kMaxLoopDepth>;

/// An operand that lies where a register of the engine says; see isa::Access.
struct IndexedPlace {
  bool isIndexed = false;
  uint16_t number = 0;   ///< of the register
  int64_t stepBytes = 0; ///< an index moves the operand by
  int64_t extent = 0;    ///< indices are below it
  int64_t lastByte = 0;  ///< the operand may end here, in its partition or tensor
  bool operator==(const IndexedPlace &) const = default;
};
/// Bytes that the indices of an operation move its operands by.
using IndexBytes = std::array<int64_t, isa::kMaxOperands>;

struct Operation {
  using Run = Status (*)(Core &, const Operation &);

  Run run = nullptr;
  const Place *places = nullptr;     ///< one for each operand of the row; of the first iteration
  const LoopShift *shifts = nullptr; ///< one for each operand; null: none moves
  const IndexedPlace *indices = nullptr; ///< one for each operand; null: none is indexed
  alignas(8) std::array<std::byte, kMaxArgsBytes> args{};
  isa::Opcode opcode{};
  isa::Engine engine = isa::Engine::Unknown;
  uint8_t operands = 0;
  uint8_t outputs = 0;         ///< bit i: operand i is written
  uint8_t staged = 0;          ///< bit i: input i is copied before anything is written
  uint8_t loops = 0;           ///< around it
  bool notesOwnWrites = false; ///< the handler notes its writes: they depend on what they find
  Sync sync;
  uint32_t index = 0; ///< in its stream
  uint32_t order = 0;
  uint32_t location = kNone;
  uint32_t transfer = kNone; ///< DMA: index into Image::transfers

  bool isLoopEdge() const {
    return opcode == isa::Opcode::LoopBegin || opcode == isa::Opcode::LoopEnd;
  }
  bool isDma() const { return transfer != kNone; }
  const isa::InstDesc &desc() const { return *isa::findInstruction(opcode); }
  template <typename Args>
  const Args &argsAs() const {
    return *std::launder(reinterpret_cast<const Args *>(args.data()));
  }
};

//---- transfers ----------------------------------------------------------===//

/// Operands of every transfer.
inline constexpr unsigned kTransferDst = 0, kTransferSrc = 1;
static_assert(isa::DmaCopyArgs::dst == kTransferDst && isa::DmaCopyArgs::src == kTransferSrc &&
              isa::DmaTransposeArgs::dst == kTransferDst &&
              isa::DmaTransposeArgs::src == kTransferSrc);

/// How a transfer is cut into shares: `rows` rows, of which engine k of n moves
/// [k * rows / n, (k + 1) * rows / n). Of a copy they are the partitions of dst if it is
/// on chip, else of src if that is, else the rows of whichever has more; of a transpose they are
/// the partitions of dst, which are the columns of src.
struct TransferPlan {
  Place dst, src;
  uint32_t ring = 0;
  uint32_t rows = 1;
  int64_t rowElements = 1;
  /// Both sides have `rows` rows: a share is rows of each. Otherwise elements
  /// are paired one by one.
  bool isByRows = false;
  /// A transpose: blocks of columns in a row of src. 0: a copy.
  int64_t blocks = 0;
  /// The sides may share bytes: a share is read as a whole before it is
  /// written.
  bool isStaged = false;
  /// Patterns of a share of floor(rows / n) and of one more rows, when
  /// isByRows or a transpose; null for 0 rows.
  std::array<const Pattern *, 2> dstRows{}, srcRows{};
};

/// Rows of the share of engine `k`.
struct RowRange {
  uint32_t first, count;
};
RowRange shareOf(const TransferPlan &plan, unsigned k);

//---- image --------------------------------------------------------------===//

/// A loop of the program; it lies at the same place in every stream.
struct Loop {
  isa::LoopBeginArgs control{isa::makeInstruction(isa::Opcode::LoopBegin)};
  uint32_t location = kNone;
  /// Of each stream: indices of its loop_begin and its loop_end.
  std::array<uint32_t, kEngineSlots> begin{}, end{};
  uint32_t after = 0; ///< number of the first loop that begins behind it

  bool isCounted() const { return control.kind == isa::LoopKind::Count; }
  std::vector<uint32_t> tensors; ///< declared in it
};

struct Image {
  explicit Image(const Program &program) : layout(program) {}

  Program info; ///< without streams
  Layout layout;
  std::array<std::vector<Operation>, kEngineSlots> streams;
  std::vector<TransferPlan> transfers;
  /// Of the prints, by order: the dims the author sees, which places do not keep.
  std::map<uint32_t, std::vector<int64_t>> printShapes;
  std::vector<Loop> loops;                     ///< in the order of their beginnings
  std::vector<std::vector<Place>> placeChunks; ///< storage of Operation::places; chunks never grow
  std::vector<std::vector<LoopShift>> shiftChunks;    ///< storage of Operation::shifts, alike
  std::vector<std::vector<IndexedPlace>> indexChunks; ///< and of Operation::indices
  std::vector<uint64_t> accessCounts; ///< of each tensor, over all iterations; saturating
  std::vector<uint32_t> inputs,
      outputs; ///< tensors in argument and result order
};

/// An operation as the author of its writes, and back.
inline Author authorOf(const Operation &op) { return Author(op.engine) << 32 | op.index; }
inline const Operation &operationOf(const Image &image, Author author) {
  return image.streams[size_t(author >> 32)][size_t(author & 0xFFFFFFFF)];
}

/// Decodes a verified program.
Expected<std::unique_ptr<Image>> decodeImage(const Program &program);

} // namespace kilnrt

#endif // KILNRT_LIB_EXECUTOR_OPERATION_H
