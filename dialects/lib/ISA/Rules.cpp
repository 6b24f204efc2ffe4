//===- Rules.cpp - entry points of the rules, and the names their messages use ----------------===//
//
// The order of checking: engine, fields and operands as the descriptors state
// them, then the relations between them, each a function named in the table.
// The rules themselves are in the other Rules files.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Rules.h"

#include "RuleHelpers.h"
#include "RulesLoops.h"

#include <algorithm>
#include <limits>

namespace kiln::isa {
namespace rules {

std::string joinOr(std::span<const std::string_view> names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0)
      out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

std::string_view title(Engine engine) {
  switch (engine) {
  case Engine::Unknown:
    return "no engine";
  case Engine::Tensor:
    return "the Tensor Engine";
  case Engine::Scalar:
    return "the Scalar Engine";
  case Engine::Gpsimd:
    return "GpSimd";
  case Engine::Vector:
    return "the Vector Engine";
  case Engine::Sync:
    return "the Sync Engine";
  }
  return "?";
}

std::string_view title(Memory memory) {
  switch (memory) {
  case Memory::Sbuf:
    return "SBUF";
  case Memory::Psum:
    return "PSUM";
  case Memory::Hbm:
    return "HBM";
  }
  return "?";
}

std::string quoted(const InstView &view, unsigned operand) {
  std::string_view name = view.tensors[operand].name;
  return name.empty() ? std::string(view.desc.operands[operand].name) : text("'", name, "'");
}

std::string shapeOf(const Access &access) {
  std::string out = text("(", access.partitionCount);
  for (unsigned i = 0; i < access.rank; ++i)
    out += text(", ", access.num[i]);
  return out + ")";
}

int64_t fieldOf(const InstView &view, std::string_view name, unsigned word) {
  const FieldDesc *field = view.desc.field(name);
  return field ? view.inst.fields[field->word + word] : 0;
}

int64_t freeElementsSaturated(const Access &access) {
  int64_t n = 1;
  for (unsigned i = 0; i < access.rank; ++i)
    n = mulSaturated(n, access.num[i]);
  return n;
}

ElementRange elementRangeSaturated(const Access &access) {
  ElementRange range{access.offset, access.offset};
  auto extend = [&range](int64_t step, int64_t num) {
    int64_t &end = step < 0 ? range.first : range.last;
    end = addSaturated(end, mulSaturated(step, num - 1));
  };
  extend(access.rowStep, access.partitionCount);
  for (unsigned i = 0; i < access.rank; ++i)
    extend(access.step[i], access.num[i]);
  return range;
}

std::string startRuleFor(uint32_t count) {
  constexpr int64_t quadrant = machine.partitionQuadrant, half = machine.numPartitions / 2;
  if (count > half)
    return text(half + 1, " to ", machine.numPartitions, " partitions must start at 0");
  if (count > quadrant)
    return text(quadrant + 1, " to ", half, " partitions must start at 0 or ", half);
  std::string starts = "0";
  for (int64_t s = quadrant; s < machine.numPartitions; s += quadrant)
    starts += text(s + quadrant == machine.numPartitions ? " or " : ", ", s);
  return text("1 to ", quadrant, " partitions must start at ", starts);
}

namespace {

void checkEngine(const InstView &view, const RuleSink &sink) {
  Engine engine = view.inst.engine;
  if (engine == Engine::Unknown || view.desc.runsOn(engine))
    return;
  std::vector<std::string_view> legal;
  for (Engine e : view.desc.engines)
    legal.push_back(name(e));
  report(sink, "B-07", -1,
         text(view.desc.mnemonic, " runs on ", joinOr(legal), ", not on ", name(engine)),
         "leave the engine unset, or name one that has the instruction");
}

bool anyInPsum(const InstView &view) {
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    if (view.access(i).present() && memoryOf(view, i) == Memory::Psum)
      return true;
  return false;
}

/// PSUM as destination of float data in SBUF is what the Tensor Engine can
/// transpose; the rest is not.
Engine chooseTransposeEngine(const InstView &view) {
  bool array = memoryOf(view, 0) == Memory::Psum && memoryOf(view, 1) == Memory::Sbuf &&
               isFloat(view.access(1).dtype);
  return array ? Engine::Tensor : Engine::Vector;
}

/// Only GpSimd raises to a power, and only GpSimd computes on 32-bit integers
/// without the detour through fp32. It has no PSUM port, so an integer tile in
/// PSUM falls back to the Vector Engine.
Engine chooseTensorTensorEngine(const InstView &view) {
  AluOp op = aluField(view, "op");
  if (op == AluOp::Power)
    return Engine::Gpsimd;
  bool allWide = true;
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    allWide &= isWideInteger(view.access(i).dtype);
  return allWide && !info(op).isBitvec && !anyInPsum(view) ? Engine::Gpsimd : Engine::Vector;
}

Engine chooseTensorScalarEngine(const InstView &view) {
  bool root = aluField(view, "op0") == AluOp::Rsqrt || aluField(view, "op1") == AluOp::Rsqrt;
  return root ? Engine::Gpsimd : Engine::Vector;
}

} // namespace
} // namespace rules

void runInstructionRules(const InstView &view, const RuleSink &sink) {
#include "kiln/ISA/RuleDispatch.cpp.inc"
}

int64_t TensorView::freeElements() const {
  int64_t n = 1;
  for (size_t i = memory == Memory::Hbm ? 0 : 1; i < shape.size(); ++i)
    n = rules::mulSaturated(n, shape[i]);
  return n;
}

std::string InstView::describe(unsigned operand) const {
  std::string_view role = desc.operands[operand].name, name = tensors[operand].name;
  return name.empty() ? std::string(role) : text(role, " '", name, "'");
}

bool isLegalStartPartition(uint32_t start, uint32_t count) {
  constexpr int64_t quadrant = machine.partitionQuadrant, all = machine.numPartitions;
  if (count == 0 || int64_t(start) + count > all)
    return false;
  if (count > all / 2)
    return start == 0;
  return start % (count > quadrant ? all / 2 : quadrant) == 0;
}

Engine chooseEngine(const InstView &view) {
  switch (view.desc.opcode) {
  case Opcode::NcTranspose:
    return rules::chooseTransposeEngine(view);
  case Opcode::TensorTensor:
    return rules::chooseTensorTensorEngine(view);
  case Opcode::TensorScalar:
    return rules::chooseTensorScalarEngine(view);
  case Opcode::DmaCopy:
    // Descriptors in software are GpSimd's work; all others are only triggered.
    return DgeMode(rules::fieldOf(view, "dge_mode")) == DgeMode::Swdge ? Engine::Gpsimd
                                                                       : Engine::Sync;
  default:
    return view.desc.engines.front();
  }
}

/// One iteration; loop steps do not count.
static bool checkOneIteration(const InstView &view, const RuleSink &sink) {
  bool clean = true;
  const RuleSink counting = [&clean, &sink](Violation v) {
    clean = false;
    sink(std::move(v));
  };
  rules::checkEngine(view, counting);
  bool sane = rules::checkFields(view, counting);
  sane &= rules::checkOperands(view, counting);
  // Relations between operands mean nothing while one of them is missing or has
  // no shape.
  if (sane)
    runInstructionRules(view, counting);
  return clean;
}

bool checkInstruction(const InstView &view, const RuleSink &sink) {
  if (std::ranges::none_of(view.inst.operands, &Access::moves))
    return checkOneIteration(view, sink);
  const rules::CheckOnce checkOnce = [&](const Instruction &inst) {
    return checkOneIteration({inst, view.desc, view.tensors}, sink);
  };
  return rules::checkInLoops(view, checkOnce, sink);
}

} // namespace kiln::isa
