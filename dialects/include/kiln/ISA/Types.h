//===- Types.h - enums, descriptors and limits of the instruction table in C++ ----------------===//
//
// Generated facts (Enums.h.inc, Machine.h.inc) and the few structs they are
// written in. Plain C++: the runtime, the compiler and the tools all include
// it. The table itself is dialects/table/*.td.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_TYPES_H
#define KILN_ISA_TYPES_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kiln::isa {

// enum class Engine, Memory, DType, AluOp, ActFn, ReduceCmd, Accumulate,
// DgeMode, OobMode, LoopKind, MatmulPerfMode : uint8_t; enumerators are the table's names in
// CamelCase (AluOp::BitwiseAnd).
#include "kiln/ISA/Enums.h.inc"

/// Numbers of the target; see the manual page "machine" for units and sources.
struct Machine {
#include "kiln/ISA/Machine.h.inc"
};
inline constexpr Machine machine{};

/// One enumerator as text: its NKI spelling.
struct EnumCase {
  std::string_view name;
  uint32_t value;
  std::string_view doc;
};
using EnumCases = std::span<const EnumCase>;

/// Cases of each enum in table order.
EnumCases engineCases();
EnumCases memoryCases();
EnumCases dtypeCases();
EnumCases aluOpCases();
EnumCases actFnCases();
EnumCases reduceCmdCases();
EnumCases accumulateCases();
EnumCases dgeModeCases();
EnumCases oobModeCases();
EnumCases loopKindCases();
EnumCases matmulPerfModeCases();

/// Spelling of `value`, or "?" when no case has it.
std::string_view nameOf(EnumCases cases, uint32_t value);
/// Value spelled `name`.
std::optional<uint32_t> valueOf(EnumCases cases, std::string_view name);

std::string_view name(Engine);
std::string_view name(Memory);
std::string_view name(DType); ///< NKI's name: "bfloat16"
std::string_view name(AluOp);
std::string_view name(ActFn);
std::string_view name(ReduceCmd);
std::string_view name(Accumulate);
std::string_view name(DgeMode);
std::string_view name(OobMode);
std::string_view name(LoopKind);
std::string_view name(MatmulPerfMode);

/// Facts of one dtype.
struct DTypeInfo {
  std::string_view name;      ///< "bfloat16"
  std::string_view shortName; ///< "bf16", as in buffer types and assembler text
  uint8_t bytes;
  bool isFloat;
  bool isSigned; ///< floats are
};
const DTypeInfo &info(DType);
inline unsigned bytesOf(DType t) { return info(t).bytes; }
inline bool isFloat(DType t) { return info(t).isFloat; }
/// Smallest and largest value of an integer dtype; both are exact.
struct IntegerRange {
  double low, high;
};
IntegerRange integerRange(DType t);
/// True for int32 and uint32, the integers GpSimd has units for.
inline bool isWideInteger(DType t) { return !isFloat(t) && bytesOf(t) == sizeof(uint32_t); }
/// The dtype spelled `text`, by either name.
std::optional<DType> parseDType(std::string_view text);

struct AluOpInfo {
  std::string_view name, formula;
  bool isBitvec, isUnary, isReduction;
};
const AluOpInfo &info(AluOp);

struct ActFnInfo {
  std::string_view name, formula;
  float low, high; ///< valid domain; -Inf and +Inf when all inputs are valid
};
const ActFnInfo &info(ActFn);

struct EngineInfo {
  std::string_view name, shortName; ///< "vector", "dve"
  uint32_t clockMHz;
};
/// Facts of a real engine (not Engine::Unknown).
const EngineInfo &info(Engine);

} // namespace kiln::isa

#endif // KILN_ISA_TYPES_H
