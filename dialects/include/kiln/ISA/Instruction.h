//===- Instruction.h - one instruction as a value, and its description ------------------------===//
//
// `Instruction` is the neutral form that the DSL, the passes, the codec, the
// assembler and the executor exchange: an opcode, up to kMaxOperands accesses,
// and field words (both generated capacities). `InstDesc` is the table's record
// in C++; generic code (codec, assembler, op parser) walks it instead of naming
// instructions.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_INSTRUCTION_H
#define KILN_ISA_INSTRUCTION_H

#include "kiln/ISA/Types.h"

#include <array>
#include <string_view>

namespace kiln::isa {

// enum class Opcode : uint16_t, kMaxOperands, kMaxFieldWords. Not in Types.h:
// the number formats and the host side know no instruction, and a new row does
// not compile them again.
#include "kiln/ISA/Opcodes.h.inc"

inline constexpr unsigned kMaxFreeDims = machine.maxFreeDims;
inline constexpr unsigned kMaxLoopDepth = machine.maxLoopDepth;
inline constexpr uint32_t kNoTensor = UINT32_MAX;
/// No register of a sequencer.
inline constexpr uint16_t kNoRegister = UINT16_MAX;

/// What is added to the offset of an access when it runs.
enum class Indexing : uint8_t {
  None,
  Scalar, ///< `indexStep` times the register `indexRegister`
  Vector, ///< to row w: `indexStep` times element w of the operand `offsets`; HBM, transfers only
};

/// The elements of one tensor an instruction touches.
///
/// Element (w, i0..ik) of the access lies
///   on chip: in partition `partitionStart + w` of the tensor, at element
///   `offset + sum step_j * i_j`
///            of that partition;
///   in HBM:  at element `offset + w * rowStep + sum step_j * i_j` of the
///   tensor.
/// Elements count in `dtype`, which may differ from the tensor's. Free dims are
/// outermost first; the flattened sequence is row-major over (w, i0..ik). On
/// chip rank >= 1 and all nums >= 1.
struct Access {
  uint32_t tensor = kNoTensor; ///< index into the owner's tensor list;
                               ///< kNoTensor: operand absent
  DType dtype = DType::Float32;
  uint8_t rank = 0;            ///< free dims used, 0 to kMaxFreeDims
  uint32_t partitionStart = 0; ///< on chip: relative to the tensor's first partition; HBM: 0
  uint32_t partitionCount = 1; ///< rows
  int64_t rowStep = 0;         ///< HBM: elements from row to row; on chip: 0
  int64_t offset = 0;
  std::array<int64_t, kMaxFreeDims> step{};
  std::array<int64_t, kMaxFreeDims> num{};
  /// Added to `offset` from one iteration to the next of each loop around the instruction,
  /// outermost first; 0 for loops it does not move with, and where there is no loop.
  std::array<int64_t, kMaxLoopDepth> loopStep{};

  /// Where the run decides: an index v, 0 <= v < indexExtent, adds `v * indexStep` elements to the
  /// offset. What else the access says is where it lies for v = 0. A Vector access ignores
  /// `rowStep`.
  Indexing indexing = Indexing::None;
  uint16_t indexRegister = kNoRegister; ///< Scalar; else kNoRegister
  int64_t indexStep = 0;                ///< elements; >= 0
  int64_t indexExtent = 0;              ///< values an index may have: the extent of the indexed dim

  bool present() const { return tensor != kNoTensor; }
  /// Which elements it touches is known only when it runs.
  bool isIndexed() const { return indexing != Indexing::None; }
  /// Elements of one row.
  int64_t freeElements() const {
    int64_t n = 1;
    for (unsigned i = 0; i < rank; ++i)
      n *= num[i];
    return n;
  }
  int64_t elements() const { return freeElements() * partitionCount; }
  /// Some iteration of a loop touches other elements than the first.
  bool moves() const { return loopStep != std::array<int64_t, kMaxLoopDepth>{}; }
  /// Loops up to the innermost one it moves with.
  unsigned loopSteps() const {
    unsigned n = kMaxLoopDepth;
    while (n > 0 && loopStep[n - 1] == 0)
      --n;
    return n;
  }
  bool operator==(const Access &) const = default;
};

/// Everything an indexed access may touch in the first iteration of the loops around it: its
/// partitions of a tensor on chip, all of one in HBM. `freeElements` are those of a partition, or
/// of the tensor, in its own `dtype`.
Access hullOf(const Access &access, bool isOnChip, DType dtype, int64_t freeElements);

/// What decides how often the body of a loop runs. Registers are kNoRegister where a number stands,
/// or nothing.
struct LoopControl {
  LoopKind kind = LoopKind::Count;
  int64_t tripCount = 1; ///< Count; 1 for the others, with which no operand moves
  int32_t first = 0, last = 0;
  uint16_t firstRegister = kNoRegister, lastRegister = kNoRegister;
  uint32_t step = 1;
  uint16_t reg = kNoRegister; ///< the counter, or the condition
  bool isCounted() const { return kind == LoopKind::Count; }
  bool operator==(const LoopControl &) const = default;
};

/// Smallest and largest element index (within a partition on chip, within the
/// tensor in HBM) an access touches in the first iteration of the loops around it.
/// Precondition: nums >= 1.
struct ElementRange {
  int64_t first, last;
};
ElementRange elementRange(const Access &);

enum class FieldKind : uint8_t { Bool, Enum, I32, U32, F32, F64, Register };

struct FieldDesc {
  std::string_view name;
  FieldKind kind;
  uint8_t word;                 ///< index of its first word in Instruction::fields
  uint8_t words;                ///< how many values of that kind
  bool required;                ///< no default
  int64_t init;                 ///< default, in the representation of Instruction::fields
  EnumCases cases;              ///< for Enum
  uint64_t allowed;             ///< for Enum: bit (1 << value) of the cases the row takes
  std::string_view allowedRule; ///< the rule another case breaks
  std::string_view doc;
  /// [step, num] pairs, written "[1x512]"; other fields of several words are lists, "[1 2 3]".
  bool isPattern() const { return kind == FieldKind::I32 && words > 1 && words % 2 == 0; }
  bool allows(uint64_t value) const {
    return value < 64 ? allowed >> value & 1 : allowed == ~uint64_t(0);
  }
};

struct OperandDesc {
  std::string_view name;
  bool isOutput, isOptional, isColumn;
  bool keepsOld;                     ///< output: elements may stay as they were
  uint32_t memories;                 ///< bit (1 << Memory)
  uint32_t dtypes;                   ///< bit (1 << DType)
  uint32_t minElements, maxElements; ///< of a partition; 0 and 0: any number
  uint32_t maxDims;                  ///< free dims of the access; 0: as many as it has
  int32_t immediate;                 ///< field read when the operand is absent; -1: none
  std::string_view doc;
  bool allows(Memory m) const { return memories >> unsigned(m) & 1; }
  bool allows(DType t) const { return dtypes >> unsigned(t) & 1; }
};

struct RuleDesc {
  std::string_view id, text;
};

struct CostDesc {
  Engine engine;
  int perElementNum, perElementDen, issueCycles, latencyCycles, floorCycles;
  std::string_view source, confidence;
};

/// What a row does to the accumulators of its engine: one fp32 register for each row of the tile,
/// kept from instruction to instruction.
struct AccumulatorDesc {
  bool isUsed;
  int32_t field;     ///< the field with the command; -1: it is always `command`
  ReduceCmd command; ///< when field is -1
  bool idleLoses;    ///< idle leaves them without a value, not as they are
};

struct InstDesc {
  Opcode opcode;
  std::string_view mnemonic, summary;
  std::span<const Engine> engines; ///< legal engines, the default first
  std::span<const OperandDesc> operands;
  std::span<const FieldDesc> fields;
  std::span<const RuleDesc> rules;
  std::span<const CostDesc> costs;
  std::string_view spec;
  bool isInternal;
  AccumulatorDesc accumulators;
  bool isTransfer;        ///< a DMA ring completes it; only its trigger runs on the engine
  bool isObserver;        ///< writes nothing, reaches every memory, no port of an engine limits it
  bool isSequencer;       ///< works on registers; reaches every memory, an element at a time
  bool crossesPartitions; ///< an output depends on other partitions than its own

  const FieldDesc *field(std::string_view name) const;
  int operandIndex(std::string_view name) const; ///< -1 when there is none
  bool runsOn(Engine e) const;
};

/// First tile input (no column) every instruction of a row has: the operand the others are measured
/// against.
unsigned mainInput(const InstDesc &desc);

/// All rows in opcode order.
std::span<const InstDesc> instructions();
const InstDesc *findInstruction(Opcode);
const InstDesc *findInstruction(std::string_view mnemonic);

/// One instruction. Field words hold bool, enum, i32 and u32 values as
/// themselves, f32 and f64 as the bits of a double (exact for every f32).
/// Access fields through the typed accessors or the generated argument structs
/// of Args.h.
struct Instruction {
  Opcode opcode{};
  Engine engine = Engine::Unknown;
  std::array<Access, kMaxOperands> operands{};
  std::array<int64_t, kMaxFieldWords> fields{};

  const InstDesc &desc() const { return *findInstruction(opcode); }
  int64_t word(std::string_view field, unsigned i = 0) const;
  double real(std::string_view field) const;
  void setWord(std::string_view field, int64_t v, unsigned i = 0);
  void setReal(std::string_view field, double v);
  bool operator==(const Instruction &) const = default;
};

/// An instruction of `opcode` with every field at its default and no operands.
Instruction makeInstruction(Opcode opcode);

inline int64_t bitsOf(double v) { return __builtin_bit_cast(int64_t, v); }
inline double realOf(int64_t bits) { return __builtin_bit_cast(double, bits); }

} // namespace kiln::isa

#endif // KILN_ISA_INSTRUCTION_H
