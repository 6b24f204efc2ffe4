//===- Types.cpp - spellings and facts of enums, dtypes, operators, functions, engines --------===//

#include "kiln/ISA/Types.h"

#include <limits>

namespace kiln::isa {
namespace {

#include "kiln/ISA/EnumCases.cpp.inc"

} // namespace

std::string_view nameOf(EnumCases cases, uint32_t value) {
  for (const EnumCase &c : cases)
    if (c.value == value)
      return c.name;
  return "?";
}

std::optional<uint32_t> valueOf(EnumCases cases, std::string_view name) {
  for (const EnumCase &c : cases)
    if (c.name == name)
      return c.value;
  return std::nullopt;
}

#include "kiln/ISA/Enums.cpp.inc"

const DTypeInfo &info(DType t) { return kDTypes[unsigned(t)]; }

IntegerRange integerRange(DType t) {
  const double span = double(uint64_t(1) << 8 * bytesOf(t));
  return info(t).isSigned ? IntegerRange{-span / 2, span / 2 - 1} : IntegerRange{0, span - 1};
}

std::optional<DType> parseDType(std::string_view text) {
  for (const EnumCase &c : dtypeCases())
    if (c.name == text || kDTypes[c.value].shortName == text)
      return DType(c.value);
  return std::nullopt;
}

const AluOpInfo &info(AluOp op) { return kAluOps[unsigned(op)]; }
const ActFnInfo &info(ActFn fn) { return kActFns[unsigned(fn)]; }

const EngineInfo &info(Engine engine) {
  for (const auto &e : kEngines)
    if (e.engine == engine)
      return e.info;
  static constexpr EngineInfo unknown{"unknown", "?", 0};
  return unknown;
}

} // namespace kiln::isa
