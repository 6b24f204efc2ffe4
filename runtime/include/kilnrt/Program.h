//===- Program.h - the program file: the border between compiler and runtime ------------------===//
//
// A program is tensors, constants, locations and one stream of encoded records
// for each engine. The container is FlatBuffers (Program.fbs); each stream is
// one byte vector of fixed little-endian records whose layout follows from the
// instruction table (Codec.h). `load` accepts nothing the verifier has not
// proven: sizes, indices, enum values, bounds of every access, every
// instruction rule, so that later stages need not check again.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_PROGRAM_H
#define KILNRT_PROGRAM_H

#include "kiln/ISA/Instruction.h"
#include "kilnrt/Expected.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kilnrt {

namespace isa = kiln::isa;

inline constexpr uint32_t kNone = UINT32_MAX;
/// Slots of the engine enum, for arrays by engine; not every value is an engine.
inline constexpr size_t kEngineSlots = size_t(isa::Engine::Sync) + 1;
/// Readers accept exactly this version; it grows with every change of a
/// released record or table.
inline constexpr uint32_t kProgramVersion = 4;
/// The only target there is.
inline constexpr std::string_view kTargetName = "trn2";

/// Bounds of this reader, not of the chip: a program beyond them is refused
/// before anything of its size is allocated.
struct Limits {
  static constexpr uint64_t fileBytes =
      (uint64_t{1} << 31) - 1024;                          ///< FlatBuffers' offsets are 31 bits
  static constexpr int64_t hbmBytes = int64_t{16} << 30;   ///< all HBM tensors together
  static constexpr int64_t onChipBytes = int64_t{1} << 30; ///< of one partition, while not placed
  static constexpr uint32_t callDepth = 1024;              ///< frames of one location chain
};

/// What holds about a program. Without `placed` every on-chip tensor lies in a
/// private byte range, and ranges may exceed the physical memory; without
/// `synchronised` streams run in one global order.
struct ProgramFlags {
  bool placed = false;
  bool scheduled = false;
  bool synchronised = false;
  bool operator==(const ProgramFlags &) const = default;
};

enum class TensorRole : uint8_t { Internal, Input, Output, Constant };

struct TensorInfo {
  std::string name; ///< the author's name, or one the compiler made up
  isa::Memory memory = isa::Memory::Hbm;
  isa::DType dtype = isa::DType::Float32;
  TensorRole role = TensorRole::Internal; ///< anything but Internal lies in HBM
  std::vector<int64_t> shape;             ///< on chip: dim 0 is the partition dim
  uint32_t index = 0;        ///< Input, Output: argument or result number; Constant: constant
  uint32_t partition = 0;    ///< on chip: first partition
  uint64_t byte = 0;         ///< on chip: first byte in the usable part of each partition
  uint32_t location = kNone; ///< where it was declared
  /// The loop it was declared in, numbered from 0 by the order of the loops' beginnings; kNone: in
  /// none. Each iteration finds it never written.
  uint32_t loop = kNone;

  /// Elements of one partition (on chip) or of the tensor (HBM).
  int64_t freeElements() const;
  /// Bytes of one partition (on chip) or of the tensor (HBM).
  int64_t freeBytes() const;
  bool operator==(const TensorInfo &) const = default;
};

/// "(3, 448)": the element that holds `byte` of `partition` of a tensor, by its declared shape.
std::string elementText(const TensorInfo &tensor, uint32_t partition, int64_t byte);

/// One frame of a source position; `caller` is the index of the call site it
/// was reached from.
struct Location {
  uint32_t file = 0; ///< index into Program::files
  uint32_t line = 0;
  uint32_t caller = kNone; ///< always smaller than the own index
  bool operator==(const Location &) const = default;
};

/// The synchronisation of one record. Semaphores start at 0 and only grow, until the streams meet
/// at the edge of a loop: there they start at 0 again.
struct Sync {
  static constexpr uint16_t kNoSemaphore = 0xFFFF;
  uint16_t waitSemaphore = kNoSemaphore; ///< blocks until the semaphore is at least waitValue
  uint32_t waitValue = 0;
  uint16_t updateSemaphore = kNoSemaphore;
  uint32_t updateValue = 0; ///< added at completion; a DMA adds 1 from each of its engines
  bool operator==(const Sync &) const = default;
};

/// One record of a stream.
struct Record {
  isa::Instruction inst;
  Sync sync;
  uint32_t order = 0;        ///< position in the program order of the whole kernel
  uint32_t location = kNone; ///< index into Program::locations
  bool operator==(const Record &) const = default;
};

struct Stream {
  isa::Engine engine = isa::Engine::Unknown;
  std::vector<std::byte> bytes; ///< records, back to back
  bool operator==(const Stream &) const = default;
};

struct Constant {
  std::vector<std::byte> data;
  bool operator==(const Constant &) const = default;
};

struct Program {
  std::string kernel; ///< name of the kernel
  std::string target = "trn2";
  ProgramFlags flags;
  std::vector<TensorInfo> tensors;
  std::vector<Constant> constants;
  std::vector<std::string> files;
  std::vector<Location> locations;
  std::vector<std::string> texts; ///< the author's, which prints number
  std::vector<Stream> streams;    ///< at most one for each engine, in the order of the Engine enum
  bool operator==(const Program &) const = default;

  /// The chain of `location`, innermost first; empty for kNone.
  kiln::CallChain chain(uint32_t location) const;
};

//---- records
//---------------------------------------------------------------------------------------===//

/// Whether `record` has an encoding: opcode, engine, dtypes and enum values of
/// the table, field values in the range of their kind (an f32 field exactly a
/// float), absent operands and unused array elements at their defaults.
/// Encoding and decoding such a record gives it back, bit for bit.
Status checkEncodable(const Record &record);
/// Appends the encoding of `record` to `out`. Precondition:
/// `checkEncodable(record)`.
void encodeRecord(const Record &record, std::vector<std::byte> &out);
/// Bytes of a record of `opcode` whose operands move with no loop; 0 when the table has no such
/// row.
size_t recordBytes(isa::Opcode opcode);
/// Bytes of the encoding of `inst`.
size_t recordBytes(const isa::Instruction &inst);
/// Decodes the record at the start of `bytes` and advances past it; on error
/// `bytes` stays. Rejects unknown opcodes, truncation, values the table does
/// not have and bytes no encoder writes, so that encoding the result gives the
/// same bytes.
Expected<Record> decodeRecord(std::span<const std::byte> &bytes);
/// All records of a stream.
Expected<std::vector<Record>> decodeStream(const Stream &stream);

//---- files
//-----------------------------------------------------------------------------------------===//

/// A hash of everything the meaning of a record's bytes depends on. Files carry
/// it, and `load` refuses a file written with another instruction table.
uint64_t tableChecksum();

/// The file's bytes: equal programs give equal bytes. A program `verify`
/// refuses for its size gives no bytes.
std::vector<std::byte> serialize(const Program &program);
/// Parses and verifies. Every malformed input gives a diagnostic; none crashes or hangs. Accepts
/// exactly the bytes `serialize` gives for the result.
Expected<Program> load(std::span<const std::byte> bytes);
/// `load` on a file.
Expected<Program> loadFile(const std::string &path);
/// Writes `serialize(program)` to `path`, over what is there.
Status saveFile(const Program &program, const std::string &path);
/// The verifier alone, on a program already in memory (the compiler's output
/// passes through it too).
Status verify(const Program &program);

//---- text
//------------------------------------------------------------------------------------------===//

/// Assembler text of the whole program; `assemble(disassemble(p))` equals `p`.
Expected<std::string> disassemble(const Program &program);
/// Parses assembler text. Diagnostics carry the line in `name` (a file name for
/// messages).
Expected<Program> assemble(std::string_view text, const std::string &name);
/// One instruction as text: "nc_matmul dst=acc[0+64, 0: 1x512] ...
/// engine=tensor". `tensorNames` spells the tensors, indexed like
/// `Access::tensor`. For messages; Asm.h has the lossless form and the parser.
std::string printInstruction(const isa::Instruction &inst,
                             std::span<const std::string> tensorNames);

} // namespace kilnrt

#endif // KILNRT_PROGRAM_H
