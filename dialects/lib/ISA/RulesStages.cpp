//===- RulesStages.cpp - rules of instructions with fused operators ---------------------------===//
//
// A stage is an operator field op0 or op1. Its second argument is a tile, the state of the
// instruction, or a scalar operand named operand0 or operand1; only the last may be left out, by a
// unary operator.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

namespace kiln::isa::rules {
namespace {

/// One operator of the instruction.
struct Stage {
  std::string_view field;
  AluOp op;
  int scalar; ///< operand with its second argument, if that is a scalar; else -1

  std::string of(const InstView &view) const { return text(field, " of ", view.desc.mnemonic); }
};

template <class Visit>
void forEachStage(const InstView &view, Visit visit) {
  static constexpr std::string_view names[][2] = {{"op0", "operand0"}, {"op1", "operand1"}};
  for (const auto &[field, argument] : names) {
    if (!view.desc.field(field))
      continue;
    int scalar = view.desc.operandIndex(argument);
    if (scalar >= 0 && view.desc.operands[unsigned(scalar)].immediate < 0)
      scalar = -1;
    visit(Stage{field, aluField(view, field), scalar});
  }
}

} // namespace

void arithmeticStages(const InstView &view, std::string_view id, const RuleSink &sink) {
  forEachStage(view, [&](const Stage &stage) {
    if (info(stage.op).isBitvec)
      report(sink, id, -1,
             text(stage.of(view), " must be arithmetic, ", info(stage.op).name, " works on bits"),
             "use tensor_scalar or tensor_tensor for bit operators");
  });
}

void vectorStages(const InstView &view, std::string_view id, const RuleSink &sink) {
  forEachStage(view, [&](const Stage &stage) {
    std::string_view spelling = info(stage.op).name;
    if (stage.op == AluOp::None)
      return report(sink, id, -1, text(stage.of(view), " is none, it needs an operator"),
                    text("name an operator as ", stage.field));
    if (stage.op == AluOp::Power)
      return report(sink, id, -1,
                    text("power runs on GpSimd only, ", stage.of(view), " cannot be power"),
                    "use tensor_tensor with power and a tile of exponents");
    if (stage.op == AluOp::Rsqrt || stage.op == AluOp::Reciprocal)
      return report(sink, id, -1, text(stage.of(view), " cannot be ", spelling),
                    stage.op == AluOp::Rsqrt ? "use activation with rsqrt first"
                                             : "use nisa::reciprocal first");
    if (info(stage.op).isUnary && stage.scalar < 0)
      report(sink, id, -1,
             text(stage.of(view), " needs a binary operator, ", spelling, " takes one argument"),
             "use tensor_scalar or activation for functions of one tile");
  });
}

void stageScalar(const InstView &view, std::string_view id, const RuleSink &sink) {
  forEachStage(view, [&](const Stage &stage) {
    if (stage.scalar < 0 || !info(stage.op).isUnary || stage.op == AluOp::None)
      return;
    unsigned operand = unsigned(stage.scalar);
    const FieldDesc &immediate = view.desc.fields[size_t(view.desc.operands[operand].immediate)];
    double value = realOf(view.inst.fields[immediate.word]);
    if (view.access(operand).present())
      report(sink, id, stage.scalar,
             text(info(stage.op).name, " takes no scalar, ", view.describe(operand), " has no use"),
             "leave the operand out");
    else if (value != 0)
      report(sink, id, -1,
             text(info(stage.op).name, " takes no scalar, ", immediate.name, " is ", value),
             "leave the operand out");
  });
}

} // namespace kiln::isa::rules
