//===- TraceState.cpp - tensors and places of a running trace ---------------------------------===//

#include "TraceState.h"

#include "ViewAlgebra.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

namespace kiln::trace {
namespace {

thread_local TraceState *currentTrace = nullptr;

/// Handles remember the number of their trace; nothing else depends on it.
uint32_t nextTraceNumber() {
  static std::atomic<uint32_t> last{0};
  uint32_t number = ++last;
  return number ? number : ++last; // 0 marks an empty handle
}

/// What messages say of the tensors of a trace that is over.
struct FinishedTrace {
  uint32_t number;
  std::string kernel;
  std::map<uint32_t, std::string> names; ///< by tensor
};

/// The last few finished traces of the process.
struct FinishedTraces {
  std::mutex mutex;
  std::deque<FinishedTrace> traces;
};
FinishedTraces &finishedTraces() {
  static FinishedTraces finished;
  return finished;
}

void rememberTrace(FinishedTrace trace) {
  constexpr size_t kRemembered = 8;
  FinishedTraces &all = finishedTraces();
  std::lock_guard lock(all.mutex);
  all.traces.push_back(std::move(trace));
  if (all.traces.size() > kRemembered)
    all.traces.pop_front();
}

/// "'w', which belongs to a finished trace of 'matmul'", as far as that is remembered.
std::string describeForeign(const nl::detail::View &view) {
  std::string what =
      text("a ", shapeText({view.shape, view.rank}), " ", isa::name(toIsa(view.dtype)),
           nl::is_value(view.buffer) ? " value" : " tensor");
  FinishedTraces &all = finishedTraces();
  std::lock_guard lock(all.mutex);
  for (const FinishedTrace &trace : all.traces) {
    if (trace.number != view.trace)
      continue;
    if (auto name = trace.names.find(view.tensor);
        name != trace.names.end() && !nl::is_value(view.buffer))
      what = text("'", name->second, "'");
    return text(what, ", which belongs to a finished trace of '", trace.kernel, "'");
  }
  return text(what, ", which belongs to another trace");
}

} // namespace

TraceState::TraceState(const nl::detail::KernelEntry &kernel, const TraceOptions &options)
    : kernel(kernel), options(options), number(nextTraceNumber()), locations(options),
      log(locations, options.maxDiagnostics), kernelPlace(locations.plain(kernel.place)),
      last(kernel.place), outer(std::exchange(currentTrace, this)) {}

TraceState::~TraceState() {
  currentTrace = outer;
  FinishedTrace trace{number, kernel.name, {}};
  for (const auto &[name, index] : names)
    trace.names.emplace(index, name);
  rememberTrace(std::move(trace));
}

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
          last, busiestLine());
}

/// Where most of the statements come from: the loop to look at.
std::vector<DiagnosticLog::Note> TraceState::busiestLine() {
  std::unordered_map<Place, size_t> counts;
  for (const Instruction &instruction : instructions)
    ++counts[instruction.location];
  std::map<std::pair<std::string, unsigned>, std::pair<size_t, Place>> lines;
  for (auto [place, count] : counts) {
    const FileLine line = locations.chain(place).front();
    auto &[total, first] = lines.try_emplace({line.file, line.line}, 0, place).first->second;
    total += count;
    first = std::min(first, place);
  }
  auto most = std::ranges::max_element(lines, {}, [](const auto &l) { return l.second.first; });
  if (most == lines.end())
    return {};
  return {{text(most->second.first * 100 / instructions.size(),
                " % of the instructions come from here"),
           most->second.second}};
}

void TraceState::fatal(const Fault &fault, const nl::SrcLoc &loc,
                       std::vector<DiagnosticLog::Note> notes) {
  report(fault, loc, std::move(notes));
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
  if (!open.empty()) {
    record.loop = open.back().loop;
    record.loopNumber = open.back().number;
    record.loopPlace = open.back().place;
    record.loopFunction = open.back().function;
  }
  auto index = static_cast<uint32_t>(tensors.size());
  if (!record.name.empty())
    names.emplace(record.name, index);
  tensors.push_back(std::move(record));
  return nl::Tensor(identityView(index));
}

//---- loops --------------------------------------------------------------===//

nl::detail::Moves TraceState::beginLoop(int64_t tripCount, const nl::SrcLoc &loc) {
  Place place = capture(loc);
  countStatement();
  if (tripCount < 0 || tripCount > int64_t(UINT32_MAX))
    report({"C-06", text("nl::affine_for runs 0 to ", UINT32_MAX, " times, not ", tripCount),
            tripCount < 0 ? "skip the loop when there is nothing to do"
                          : "put a loop inside a loop, or let one iteration do more"},
           loc);
  checkLoopDepth("nl::affine_for", loc);
  if (tripCount <= 0)
    ++skipping;
  isa::LoopControl control;
  control.tripCount = tripCount;
  openLoop(control, "nl::affine_for", place);
  nl::detail::Moves moves;
  moves.step[open.size() - 1] = 1;
  moves.loop[open.size() - 1] = open.back().number;
  return moves;
}

void TraceState::openLoop(const isa::LoopControl &control, std::string_view function, Place place) {
  OpenLoop loop;
  loop.number = ++lastLoop;
  loop.tripCount = std::max<int64_t>(control.tripCount, 1);
  loop.function = function;
  loop.loop = static_cast<uint32_t>(loops.size());
  loop.place = place;
  loop.before = chains;
  // The iterations before may have ended otherwise than this one begins.
  if (!control.isCounted() && !open.empty())
    chains.forgetAll();
  loop.entry = chains;
  loops.push_back({static_cast<uint32_t>(instructions.size()), 0, control,
                   open.empty() ? kNone : open.back().loop, place});
  open.push_back(loop);
}

void TraceState::checkLoopDepth(std::string_view function, const nl::SrcLoc &loc) {
  if (open.size() == nl::detail::maxLoopDepth)
    fatal({"C-06",
           text("this ", function, " stands inside ", open.size(), " others, at most ",
                nl::detail::maxLoopDepth, " stand inside one another"),
           "write the iterations of one of them out with a C++ for"},
          loc);
}

void TraceState::beginLoop(const isa::LoopControl &control, std::string_view function,
                           const nl::SrcLoc &loc) {
  Place place = capture(loc);
  countStatement();
  checkLoopDepth(function, loc);
  openLoop(control, function, place);
}

//---- registers ----------------------------------------------------------===//

nl::Reg TraceState::newRegister(const nl::SrcLoc &loc) {
  if (registers.size() == isa::kNoRegister)
    fatal({"C-14", text("a kernel has at most ", registers.size(), " registers"),
           "reuse registers: nisa::register_move gives one a new value"},
          loc);
  registers.emplace_back();
  const auto made = uint16_t(registers.size() - 1);
  giveToLoop(made);
  return {number, made};
}

void TraceState::giveToLoop(uint16_t reg) {
  if (!open.empty())
    registers[reg] = {open.back().number, open.back().place, open.back().function};
}

std::optional<uint16_t> TraceState::registerOf(const nl::Reg &reg, std::string_view what,
                                               const nl::SrcLoc &loc) {
  if (reg.trace() == number) {
    const RegisterRecord *record = ended(uint16_t(reg.number()));
    if (!record)
      return uint16_t(reg.number());
    report({"C-05",
            text(what, " is a register that exists only inside the ", record->loopFunction,
                 " of line ", line(record->loopPlace)),
            "make it before the loop"},
           loc);
    return std::nullopt;
  }
  report({"K-08",
          reg.trace() == 0 ? text(what, " is an empty handle: it names no register")
                           : text(what, " is a register of another trace"),
          reg.trace() == 0 ? "assign it the result of nisa::register_alloc first"
                           : "make registers inside the kernel function"},
         loc);
  return std::nullopt;
}

std::optional<Place> TraceState::countedBy(uint16_t reg) const {
  for (const OpenLoop &loop : open)
    if (const isa::LoopControl &control = loops[loop.loop].control;
        control.kind == isa::LoopKind::Range && control.reg == reg)
      return loop.place;
  return std::nullopt;
}

void TraceState::endLoop() {
  const uint32_t index = open.back().loop;
  if (loops[index].control.tripCount <= 0)
    chains = open.back().before;
  else if (!loops[index].control.isCounted())
    chains.mayBe(open.back().before, open.back().entry);
  open.pop_back();
  Loop &loop = loops[index];
  loop.end = static_cast<uint32_t>(instructions.size());
  const bool isSkipped = loop.control.tripCount <= 0;
  skipping -= isSkipped;
  if (!isSkipped && loop.begin != loop.end)
    return;
  for (LoopRecord &claimed : claimedLoops)
    for (uint32_t &iteration : claimed.iterations)
      iteration = std::min(iteration, loop.begin);
  instructions.resize(loop.begin);
  loops.resize(index); // with those inside
}

bool TraceState::areOpen(const nl::detail::Moves &moves) const {
  for (unsigned i = 0; i < nl::detail::maxLoopDepth; ++i)
    if (moves.step[i] != 0 && (i >= open.size() || open[i].number != moves.loop[i]))
      return false;
  return !moves.isMixed;
}

bool TraceState::isInside(uint32_t loopNumber) const {
  return loopNumber == 0 || std::any_of(open.begin(), open.end(), [&](const OpenLoop &loop) {
           return loop.number == loopNumber;
         });
}

//---- names of tensors ---------------------------------------------------===//

TensorRecord *TraceState::find(const nl::detail::View &view) {
  const bool isTensor = view.trace == number && !view.poison && !nl::is_value(view.buffer);
  return isTensor && view.tensor < tensors.size() ? &tensors[view.tensor] : nullptr;
}

std::string TraceState::describe(const nl::detail::View &view) {
  if (nl::is_value(view.buffer) && view.trace == number && view.tensor < values.graph.nodes.size())
    return text("the ", shapeText({view.shape, view.rank}), " ", isa::name(toIsa(view.dtype)),
                " value of line ", line(values.graph[view.tensor].location));
  const TensorRecord *record = nl::is_value(view.buffer) ? nullptr
                               : view.trace == number && view.tensor < tensors.size()
                                   ? &tensors[view.tensor]
                                   : nullptr;
  if (!record)
    return view.trace == 0 ? "an empty handle" : describeForeign(view);
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

std::vector<DiagnosticLog::Note> TraceState::partitionNote(const nl::detail::View &view,
                                                           Place place) const {
  if (!view.keepsPartition)
    return {};
  return {{text("indexing a partition keeps it as extent 1: this view is ",
                tupleText({view.shape, view.rank})),
           place, "P-13"}};
}

uint32_t TraceState::numberOf(std::string_view text) {
  auto [known, isNew] = textNumbers.try_emplace(std::string(text), uint32_t(texts.size()));
  if (isNew)
    texts.emplace_back(text);
  return known->second;
}

} // namespace kiln::trace
