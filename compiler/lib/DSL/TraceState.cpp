//===- TraceState.cpp - tensors and places of a running trace ---------------------------------===//

#include "TraceState.h"

#include "ViewAlgebra.h"

#include <atomic>

namespace kiln::trace {
namespace {

thread_local TraceState *currentTrace = nullptr;

/// Handles remember the number of their trace; nothing else depends on it.
uint32_t nextTraceNumber() {
  static std::atomic<uint32_t> last{0};
  uint32_t number = ++last;
  return number ? number : ++last; // 0 marks an empty handle
}

} // namespace

TraceState::TraceState(const nl::detail::KernelEntry &kernel, const TraceOptions &options)
    : kernel(kernel), options(options), number(nextTraceNumber()), locations(options),
      log(locations, options.maxDiagnostics), kernelPlace(locations.plain(kernel.place)),
      last(kernel.place), outer(std::exchange(currentTrace, this)) {}

TraceState::~TraceState() { currentTrace = outer; }

TraceState *TraceState::current() { return currentTrace; }

nl::SrcLoc lastTracedLine() { return currentTrace ? currentTrace->last : nl::SrcLoc{}; }

Place TraceState::capture(const nl::SrcLoc &loc) {
  last = loc;
  return locations.capture(loc);
}

void TraceState::countStatement() {
  if (++statements > options.maxStatements)
    fatal({"K-12",
           text("the kernel has made ", options.maxStatements,
                " instructions and tensors, its limit"),
           "end the loop, or make each instruction do more: wider tiles, longer DMAs"},
          last);
}

void TraceState::fatal(const Fault &fault, const nl::SrcLoc &loc) {
  report(fault, loc);
  throw Abort{};
}

nl::detail::View TraceState::identityView(uint32_t tensor) const {
  const TensorRecord &record = tensors[tensor];
  nl::detail::View view = wholeView(record.buffer, record.dtype, record.shape);
  view.trace = number;
  view.tensor = tensor;
  return view;
}

nl::Tensor TraceState::declare(TensorRecord record) {
  auto index = static_cast<uint32_t>(tensors.size());
  if (!record.name.empty())
    names.emplace(record.name, index);
  tensors.push_back(std::move(record));
  return nl::Tensor(identityView(index));
}

TensorRecord *TraceState::find(const nl::detail::View &view) {
  return view.trace == number && !view.poison && view.tensor < tensors.size()
             ? &tensors[view.tensor]
             : nullptr;
}

std::string TraceState::describe(const nl::detail::View &view) {
  const TensorRecord *record =
      view.trace == number && view.tensor < tensors.size() ? &tensors[view.tensor] : nullptr;
  if (!record)
    return view.trace == 0 ? "an empty handle"
                           : text("a ", shapeText({view.shape, view.rank}), " ",
                                  isa::name(toIsa(view.dtype)), " tensor of another trace");
  if (!record->name.empty())
    return text("'", record->name, "'");
  FileLine declared = locations.chain(record->place).front();
  return text("the ", shapeText(record->shape), " ", isa::name(toIsa(record->dtype)),
              record->onChip() ? " tile" : " tensor", " of line ", declared.line);
}

std::string TraceState::declaration(const TensorRecord &record) const {
  std::string what = text(shapeText(record.shape), " ", isa::name(toIsa(record.dtype)));
  if (record.role == TensorRole::Input)
    return text("this ", what, " parameter of the kernel");
  return text("this ", what, record.onChip() ? " tile in " : " tensor in ", nameOf(record.buffer));
}

} // namespace kiln::trace
