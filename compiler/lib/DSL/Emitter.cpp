//===- Emitter.cpp - checking and recording instructions --------------------------------------===//

#include "Emitter.h"

#include <algorithm>

namespace kiln::trace {

/// What a kernel calls the row: what only looks is the language's, not the machine's.
static std::string functionOf(const isa::InstDesc &desc) {
  return text(desc.isObserver ? "nl::" : "nisa::", desc.mnemonic);
}

Emitter::Emitter(const Row &row, const nl::SrcLoc &loc)
    : row(row), state(TraceState::current()), loc(loc), inst(row.blank) {
  if (state)
    place = state->capture(loc);
  else
    reportOutsideKernel(functionOf(row.desc), loc);
}

void Emitter::fault(std::string_view rule, std::string message, std::string help) {
  if (!state)
    return;
  state->log.report({rule, std::move(message), std::move(help), subject++}, place,
                    operandNotes(-1));
  broken = true;
}

std::string Emitter::describe(unsigned operand) const {
  std::string role(row.desc.operands[operand].name);
  const isa::Access &access = inst.operands[operand];
  if (!access.present() || state->tensors[access.tensor].name.empty())
    return role;
  return text(role, " '", state->tensors[access.tensor].name, "'");
}

//---- fields -------------------------------------------------------------===//

void Emitter::aluOp(unsigned index, const nl::Op &op, std::string_view field, bool optional) {
  if (op.alu >= 0)
    return word(index, op.alu);
  if (!op.name && optional)
    return word(index, static_cast<int64_t>(isa::AluOp::None));
  if (!op.name)
    return fault("B-07", text(field, " of ", row.desc.mnemonic, " is missing"),
                 text("give it an operator, such as .", field, " = nl::add"));
  fault("B-07",
        text(field, " of ", row.desc.mnemonic, " is nl::", op.name,
             ", a function of the Scalar Engine"),
        "nisa::activation computes functions; an ALU operator is nl::add, nl::multiply, "
        "nl::maximum, ...");
}

void Emitter::function(unsigned index, const nl::Op &op, std::string_view field) {
  if (op.function >= 0)
    return word(index, op.function);
  if (!op.name)
    return fault("B-07", text(field, " of ", row.desc.mnemonic, " is missing"),
                 text("give it a function, such as .", field, " = nl::exp"));
  fault("B-07",
        text(field, " of ", row.desc.mnemonic, " is nl::", op.name, ", an operator of the ALUs"),
        "nisa::tensor_tensor and nisa::tensor_scalar compute with operators; functions are "
        "nl::exp, nl::relu, ...");
}

void Emitter::readRegister(unsigned index, std::string_view field, const nl::Reg &reg) {
  if (!usable())
    return;
  if (auto number = state->registerOf(reg, text(field, " of ", functionOf(row.desc)), loc))
    word(index, *number);
  else
    broken = true;
}

void Emitter::writeRegister(unsigned index, std::string_view field, const nl::Reg &reg) {
  readRegister(index, field, reg);
  if (!usable())
    return;
  if (auto loop = state->countedBy(uint16_t(reg.number())))
    fault("C-03",
          text(field, " of ", functionOf(row.desc), " is the counter of the nl::fori_loop of line ",
               state->line(*loop), ", which is read-only"),
          "use another register; to leave early, use nl::while_loop");
}

void Emitter::label(unsigned index, std::string_view label) {
  if (usable())
    word(index, state->numberOf(label));
}

void Emitter::loopNumbers(unsigned loops, unsigned step) {
  if (!usable())
    return;
  word(loops, static_cast<int64_t>(state->open.size()));
  for (unsigned l = 0; l < state->open.size(); ++l)
    word(step + l, 1);
}

//---- operands -----------------------------------------------------------===//

/// Whether the handle names a tensor of this trace. Reports it otherwise, except for absent
/// optional operands and for tensors whose error has been reported.
bool Emitter::admit(unsigned index, const nl::Tensor &tensor) {
  if (!state)
    return false;
  const nl::detail::View &view = tensor.raw();
  const isa::OperandDesc &desc = row.desc.operands[index];
  if (view.poison) {
    broken = true;
    return false;
  }
  if (view.trace == 0) {
    if (!desc.isOptional)
      fault(
          "K-08",
          text(desc.name, " of ", functionOf(row.desc), " is an empty handle: it names no tensor"),
          "assign it the result of nl::ndarray first");
    return false;
  }
  if (view.trace != state->number) {
    fault("K-08", text(desc.name, " of ", functionOf(row.desc), " is ", state->describe(view)),
          "declare tensors inside the kernel function");
    return false;
  }
  if (nl::is_value(view.buffer)) {
    if (!desc.isOutput)
      return true;
    fault("T-04",
          text(desc.name, " of ", functionOf(row.desc), " is ", state->describe(view),
               ", and a value is not memory"),
          "write to a tile declared with nl::ndarray; nl:: functions make new values");
    return false;
  }
  const TensorRecord &record = state->tensors[view.tensor];
  if (!state->isInside(record.loopNumber)) {
    fault("C-05",
          text(state->describe(view),
               record.name.empty() ? "" : text(" (line ", state->line(record.place), ")"),
               " exists only inside the ", record.loopFunction, " of line ",
               state->line(record.loopPlace)),
          "declare it before the loop");
    return false;
  }
  if (view.moves.any() && !state->areOpen(view.moves)) {
    fault("C-05",
          text(desc.name, " of ", functionOf(row.desc), " is a view of ", state->describe(view),
               " that moves with an nl::affine_for which has ended"),
          "take the view inside the body of the loop");
    return false;
  }
  if (view.index != 0 && !view.indexIsTensor)
    if (const RegisterRecord *ended = state->ended(uint16_t(view.index - 1))) {
      fault("C-05",
            text(desc.name, " of ", functionOf(row.desc), " is a view of ", state->describe(view),
                 " whose register exists only inside the ", ended->loopFunction, " of line ",
                 state->line(ended->loopPlace)),
            "take the view inside the body of the loop, or make the register before it");
      return false;
    }
  if (view.keepsPartition)
    partitionViews.push_back(view);
  return true;
}

std::optional<nl::Tensor> Emitter::inMemory(unsigned index, const nl::Tensor &tensor) {
  if (!admit(index, tensor))
    return std::nullopt;
  if (!nl::is_value(tensor.buffer()))
    return tensor;
  nl::Tensor tile = state->materialize(
      tensor, text(row.desc.operands[index].name, " of ", functionOf(row.desc)), loc);
  if (!tile.raw().poison)
    return tile;
  broken = true;
  return std::nullopt;
}

nl::detail::View Emitter::placed(const nl::detail::View &view) {
  if (!view.indexIsTensor)
    return view;
  const size_t errors = state->log.errorCount();
  const nl::Reg reg = nisa::register_alloc(nl::Tensor(state->indexTensors[view.index - 1]), loc);
  broken = broken || state->log.errorCount() != errors;
  nl::detail::View result = view;
  result.index = reg.number() + 1;
  result.indexIsTensor = false;
  return result;
}

void Emitter::operand(unsigned index, const nl::Tensor &tensor, FreeDims dims) {
  if (std::optional<nl::Tensor> memory = inMemory(index, tensor))
    inst.operands[index] = foldView(placed(memory->raw()), memory->raw().tensor, dims);
}

void Emitter::transferOperand(unsigned index, const nl::Tensor &tensor, const nl::Tensor &other) {
  std::optional<nl::Tensor> memory = inMemory(index, tensor);
  if (!memory)
    return;
  const nl::detail::View view = placed(memory->raw()), &partner = other.raw();
  bool cut = nl::is_hbm(view.buffer) && !nl::is_hbm(partner.buffer) && partner.rank != 0;
  inst.operands[index] = cut ? foldRows(view, view.tensor, partner.shape[0])
                             : foldView(view, view.tensor, FreeDims::Merge);
}

/// Where the operands were declared, the one at fault first, each tensor once.
std::vector<DiagnosticLog::Note> Emitter::operandNotes(int first) const {
  std::vector<DiagnosticLog::Note> notes;
  std::vector<uint32_t> done;
  auto add = [&](unsigned i) {
    const isa::Access &access = inst.operands[i];
    if (!access.present() || std::find(done.begin(), done.end(), access.tensor) != done.end())
      return;
    done.push_back(access.tensor);
    const TensorRecord &tensor = state->tensors[access.tensor];
    std::string name =
        tensor.name.empty() ? std::string(row.desc.operands[i].name) : text("'", tensor.name, "'");
    notes.push_back({text(name, " is ", state->declaration(tensor)), tensor.place});
  };
  if (first >= 0)
    add(static_cast<unsigned>(first));
  for (unsigned i = 0; i < row.desc.operands.size(); ++i)
    add(i);
  return notes;
}

//---- recording ----------------------------------------------------------===//

/// Rules an author breaks who expects an index to drop the partition dim.
static bool isAboutShapes(std::string_view rule) {
  return rule == "P-04" || rule == "P-05" || rule == "P-10" || rule == "P-11" || rule == "P-12";
}

void Emitter::record() {
  if (!state)
    return;
  state->countStatement();
  if (!usable())
    return state->chains.forget(row.desc);
  std::array<int64_t, isa::kMaxLoopDepth> tripCounts{};
  for (size_t l = 0; l < state->open.size(); ++l)
    tripCounts[l] = state->open[l].tripCount;
  isa::InstView view{inst, row.desc, {}, std::span(tripCounts).first(state->open.size())};
  for (unsigned i = 0; i < row.desc.operands.size(); ++i) {
    if (!inst.operands[i].present())
      continue;
    const TensorRecord &tensor = state->tensors[inst.operands[i].tensor];
    isa::TensorView &v = view.tensors[i];
    v.name = tensor.name;
    v.memory = toIsa(tensor.buffer);
    v.dtype = toIsa(tensor.dtype);
    v.shape = {tensor.shape.begin(), tensor.shape.end()};
    v.partitionBase = tensor.address ? static_cast<uint32_t>(tensor.address->partition) : 0;
  }
  bool legal = true;
  std::vector<std::pair<std::string_view, int>> reported;
  // An instruction in place has one fault, not one in dst and one in data.
  const auto isKnown = [&](const isa::Violation &v) {
    return v.operand >= 0 && std::ranges::any_of(reported, [&](const auto &r) {
             return r.first == v.rule && r.second != v.operand &&
                    inst.operands[r.second] == inst.operands[v.operand];
           });
  };
  auto report = [&](isa::Violation v) {
    legal = false;
    if (isKnown(v))
      return;
    if (v.operand >= 0)
      reported.emplace_back(v.rule, v.operand);
    std::vector<DiagnosticLog::Note> notes = operandNotes(v.operand);
    if (isAboutShapes(v.rule))
      for (const nl::detail::View &view : partitionViews)
        std::ranges::move(state->partitionNote(view, place), std::back_inserter(notes));
    state->log.report({v.rule, std::move(v.message), std::move(v.help), v.operand}, place,
                      std::move(notes));
  };
  if (isa::checkInstruction(view, report))
    state->chains.follow(view, report);
  else
    state->chains.forget(row.desc);
  for (unsigned i = 0; i < row.desc.operands.size(); ++i) {
    if (!row.desc.operands[i].isOutput || !inst.operands[i].present())
      continue;
    TensorRecord &tensor = state->tensors[inst.operands[i].tensor];
    tensor.written = tensor.written || state->skipping == 0;
    if (tensor.role != TensorRole::Input)
      continue;
    fault("K-02", text("'", tensor.name, "' is a kernel input and read-only"),
          "declare the parameter as nl::InOut, or copy it to a tensor of your own");
    legal = false;
  }
  if (legal)
    state->instructions.push_back({inst, place});
}

} // namespace kiln::trace
