//===- Language.cpp - the out-of-line half of nl/lang.h and nl/util.h -------------------------===//

#include "Emitter.h"
#include "Movement.h"
#include "kiln/ISA/Args.h"
#include "nl/util.h"

#include <cstdio>

namespace nl {

using kiln::trace::text;
using kiln::trace::TraceState;

Tensor load(const Tensor &src, std::optional<DType> dtype, SrcLoc loc) {
  if (src.raw().poison) // reported already: what is loaded from it is no better
    return src;
  Shape shape = src.shape();
  if (shape.size() == 1)
    shape = {1, shape[0]};
  TraceState *state = TraceState::current();
  if (state && src.raw().trace != 0 && is_on_chip(src.buffer()))
    state->report({"B-06", text("nl::load reads HBM, ", state->describe(src.raw()), " is on chip"),
                   "use the tile itself, or nisa::tensor_copy"},
                  loc);
  if (state && src.raw().trace == state->number && is_value(src.buffer())) {
    state->report({"T-04", text("nl::load reads memory, ", state->describe(src.raw()), " is none"),
                   "use the value as it is: nl:: functions and inputs of nisa:: functions take it"},
                  loc);
    detail::View poison = src.raw();
    poison.poison = true;
    return Tensor(poison);
  }
  Tensor tile = ndarray(shape, dtype.value_or(src.dtype()), sbuf, {}, loc);
  nisa::dma_copy({.dst = tile, .src = src}, loc);
  return tile;
}

void store(const Tensor &dst, const Tensor &value, SrcLoc loc) {
  TraceState *state = TraceState::current();
  if (state && (is_value(dst.buffer()) || is_value(value.buffer())))
    return kiln::trace::storeValue(dst, value, loc);
  if (state && !dst.raw().poison && dst.raw().trace != 0 && is_on_chip(dst.buffer()))
    return state->report({"B-06",
                          text("nl::store writes HBM, ", state->describe(dst.raw()), " is on chip"),
                          "copy between tiles with nisa::tensor_copy"},
                         loc);
  nisa::dma_copy({.dst = dst, .src = value}, loc);
}

void device_print(std::string_view prefix, const Tensor &tensor, SrcLoc loc) {
  namespace isa = kiln::isa;
  static const kiln::trace::Row row(isa::Opcode::DevicePrint);
  static const unsigned label = row.word("text"), flat = row.word("flat"),
                        loops = row.word("loops"), step = row.word("step");
  kiln::trace::Emitter e(row, loc);
  // What is shown has the author's dims.
  e.operand(isa::DevicePrintArgs::data, tensor, kiln::trace::FreeDims::Keep);
  e.word(flat, tensor.raw().rank == 1);
  e.label(label, prefix);
  e.loopNumbers(loops, step);
  e.record();
}

Tiles tiles(detail::Int total, detail::Int tile, SrcLoc loc) {
  if (tile.value >= 1 && total.value >= 0) {
    if (total.value == 0)
      detail::emptyLoop(loc);
    return {total.value, tile.value};
  }
  TraceState *state = TraceState::current();
  if (state)
    state->fatal({"V-02",
                  tile.value < 1
                      ? text("nl::tiles needs tiles of at least 1 element, got ", tile.value)
                      : text("nl::tiles needs at least 0 elements, got ", total.value),
                  ""},
                 loc);
  kiln::trace::reportOutsideKernel("nl::tiles", loc);
  return {0, 1};
}

//---- nl::affine_for -----------------------------------------------------===//

detail::LoopScope::LoopScope(int64_t tripCount, SrcLoc loc) : index_(detail::Moves{}) {
  if (TraceState *state = TraceState::current())
    index_ = nl::Index(state->beginLoop(tripCount, loc));
  else
    kiln::trace::reportOutsideKernel("nl::affine_for", loc);
}

detail::LoopScope::~LoopScope() {
  if (TraceState *state = TraceState::current(); state && index_.moves().any())
    state->endLoop();
}

//---- loops --------------------------------------------------------------===//

namespace detail {

void emptyLoop(const SrcLoc &loc) {
  if (TraceState *state = TraceState::current())
    state->emptyLoops.push_back(state->capture(loc));
}

uint32_t enterLoop(const SrcLoc &loc) {
  TraceState *state = TraceState::current();
  if (!state)
    return kiln::trace::kNone;
  state->claimedLoops.push_back(
      {state->capture(loc), {static_cast<uint32_t>(state->instructions.size())}});
  return static_cast<uint32_t>(state->claimedLoops.size() - 1);
}

void nextIteration(uint32_t loop) {
  TraceState *state = TraceState::current();
  if (state && loop < state->claimedLoops.size())
    state->claimedLoops[loop].iterations.push_back(
        static_cast<uint32_t>(state->instructions.size()));
}

} // namespace detail

//---- nl::require --------------------------------------------------------===//

namespace detail {
namespace {

std::string spell(const FormatArg &arg) {
  switch (arg.kind) {
  case FormatArg::Kind::Integer:
    return std::to_string(arg.integer);
  case FormatArg::Kind::Unsigned:
    return std::to_string(static_cast<uint64_t>(arg.integer));
  case FormatArg::Kind::Real: {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", arg.real);
    return digits;
  }
  case FormatArg::Kind::Bool:
    return arg.integer ? "true" : "false";
  case FormatArg::Kind::Text:
    return arg.text;
  case FormatArg::Kind::Shape:
    return kiln::trace::shapeText(arg.shape);
  case FormatArg::Kind::Dtype:
    return std::string(kiln::isa::name(static_cast<kiln::isa::DType>(arg.integer)));
  }
  return "?";
}

/// Replaces each `{}` by the next value; `{{` and `}}` stand for braces, values left over are
/// appended.
std::string format(std::string_view pattern, const FormatArg *args, unsigned count) {
  std::string out;
  unsigned next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    std::string_view rest = pattern.substr(i, 2);
    if (rest == "{}" && next < count) {
      out += spell(args[next++]);
      ++i;
    } else {
      out += pattern[i];
      if (rest == "{{" || rest == "}}")
        ++i;
    }
  }
  while (next < count)
    out += " " + spell(args[next++]);
  return out;
}

} // namespace

void requireFailed(const Format &format, const FormatArg *args, unsigned count) {
  std::string message = detail::format(format.text, args, count);
  if (TraceState *state = TraceState::current())
    state->fatal({"", std::move(message), ""}, format.loc);
  kiln::trace::reportOutsideKernel("nl::require", format.loc);
  throw kiln::trace::Abort{};
}

} // namespace detail
} // namespace nl
