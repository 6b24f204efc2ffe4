//===- Registers.cpp - registers, what computes them, and the loops they decide ---------------===//
//
// A register is a number of the trace. Its instructions are recorded once; the compiler gives each
// engine that needs a register its own copy of what computes it.
//
//===------------------------------------------------------------------------------------------===//

#include "Emitter.h"
#include "TraceState.h"

#include "kiln/ISA/Args.h"
#include "nl/util.h"

using kiln::trace::Emitter;
using kiln::trace::Row;
using kiln::trace::text;
using kiln::trace::TraceState;
namespace isa = kiln::isa;

namespace {

/// Whether `value` fits a register.
bool isNumber(Emitter &e, std::string_view what, int64_t value) {
  if (value >= INT32_MIN && value <= INT32_MAX)
    return true;
  if (e.usable())
    e.fault("C-06", text(what, " is ", value, ", a register holds ", INT32_MIN, " to ", INT32_MAX),
            "use a number of 32 bits");
  return false;
}

/// A register or a number, in the fields for them.
void setTerm(Emitter &e, unsigned registerWord, unsigned valueWord, std::string_view what,
             const nl::RegTerm &term) {
  if (term.isRegister)
    e.readRegister(registerWord, what, term.reg);
  else if (isNumber(e, what, term.value))
    e.word(valueWord, term.value);
}

} // namespace

//---- instructions -------------------------------------------------------===//

namespace nisa {

nl::Reg register_alloc(SrcLoc loc) { return register_alloc(nl::RegTerm(0, loc)); }

nl::Reg register_alloc(const nl::RegTerm &x) {
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel("nisa::register_alloc", x.loc);
    return {};
  }
  const nl::Reg reg = state->newRegister(x.loc);
  register_move({.dst = reg, .src = x}, x.loc);
  return reg;
}

nl::Reg register_alloc(const Tensor &x, SrcLoc loc) {
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel("nisa::register_alloc", loc);
    return {};
  }
  const nl::Reg reg = state->newRegister(loc);
  register_load({.dst = reg, .src = x}, loc);
  return reg;
}

void register_move(const RegisterMove &args, SrcLoc loc) {
  static const Row row(isa::Opcode::RegisterMove);
  static const unsigned dst = row.word("dst"), src = row.word("src"), value = row.word("value");
  Emitter e(row, loc);
  e.writeRegister(dst, "dst", args.dst);
  setTerm(e, src, value, "src", args.src);
  e.record();
}

void register_load(const RegisterLoad &args, SrcLoc loc) {
  static const Row row(isa::Opcode::RegisterLoad);
  static const unsigned dst = row.word("dst");
  Emitter e(row, loc);
  e.writeRegister(dst, "dst", args.dst);
  e.operand(isa::RegisterLoadArgs::src, args.src);
  e.record();
}

void register_store(const RegisterStore &args, SrcLoc loc) {
  static const Row row(isa::Opcode::RegisterStore);
  static const unsigned src = row.word("src");
  Emitter e(row, loc);
  e.operand(isa::RegisterStoreArgs::dst, args.dst);
  e.readRegister(src, "src", args.src);
  e.record();
}

void register_alu(const RegisterAlu &args, SrcLoc loc) {
  static const Row row(isa::Opcode::RegisterAlu);
  static const unsigned dst = row.word("dst"), src = row.word("src"), op = row.word("op"),
                        src1 = row.word("src1"), value = row.word("value");
  Emitter e(row, loc);
  e.writeRegister(dst, "dst", args.dst);
  e.readRegister(src, "src", args.src);
  e.aluOp(op, args.op, "op");
  setTerm(e, src1, value, "src1", args.src1);
  e.record();
}

} // namespace nisa

//---- operators ----------------------------------------------------------===//

nl::Reg nl::detail::compute(const RegTerm &left, const char *op, const RegTerm &right) {
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel("arithmetic on nl::Reg", right.loc);
    return {};
  }
  const Reg from = left.isRegister ? left.reg : nisa::register_alloc(left);
  const Reg result = state->newRegister(right.loc);
  Op token{};
  token.name = op;
  token.alu = int(*isa::valueOf(isa::aluOpCases(), op));
  nisa::register_alu({.dst = result, .src = from, .op = token, .src1 = right}, right.loc);
  return result;
}

//---- loops --------------------------------------------------------------===//

namespace nl::detail {

RegisterLoopScope::RegisterLoopScope(const RegTerm &lower, const RegTerm &upper, int64_t step,
                                     SrcLoc loc) {
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel("nl::fori_loop", loc);
    return;
  }
  isa::LoopControl control;
  control.kind = isa::LoopKind::Range;
  if (step < 1 || step > INT32_MAX)
    state->report({"C-06",
                   text("the step of nl::fori_loop is ", step, ", it is encoded in the loop: 1 to ",
                        INT32_MAX),
                   "count up; compute a falling number from the counter in the body"},
                  loc);
  else
    control.step = uint32_t(step);
  const auto bound = [&](const RegTerm &term, std::string_view what, int32_t &number,
                         uint16_t &reg) {
    if (term.isRegister)
      reg = state->registerOf(term.reg, text(what, " of nl::fori_loop"), loc).value_or(0);
    else if (term.value < INT32_MIN || term.value > INT32_MAX)
      state->report({"C-06",
                     text(what, " of nl::fori_loop is ", term.value, ", a register holds ",
                          INT32_MIN, " to ", INT32_MAX),
                     "count in 32 bits"},
                    loc);
    else
      number = int32_t(term.value);
  };
  bound(lower, "the lower bound", control.first, control.firstRegister);
  bound(upper, "the upper bound", control.last, control.lastRegister);
  reg_ = state->newRegister(loc);
  control.reg = uint16_t(reg_.number());
  state->beginLoop(control, "nl::fori_loop", loc);
  state->giveToLoop(control.reg);
  isOpen = true;
}

RegisterLoopScope::RegisterLoopScope(const Reg &condition, bool isOnce, SrcLoc loc)
    : reg_(condition) {
  const char *function = isOnce ? "nl::if_" : "nl::while_loop";
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel(function, loc);
    return;
  }
  isa::LoopControl control;
  control.kind = isOnce ? isa::LoopKind::Once : isa::LoopKind::While;
  control.reg = state->registerOf(condition, text("the condition of ", function), loc).value_or(0);
  state->beginLoop(control, function, loc);
  isOpen = true;
}

RegisterLoopScope::~RegisterLoopScope() {
  if (TraceState *state = TraceState::current(); state && isOpen)
    state->endLoop();
}

Reg conditionOf(const Reg &init, SrcLoc loc) { return nisa::register_alloc(RegTerm(init, loc)); }

void setCondition(const Reg &condition, const Reg &next, SrcLoc loc) {
  nisa::register_move({.dst = condition, .src = RegTerm(next, loc)}, loc);
}

} // namespace nl::detail
