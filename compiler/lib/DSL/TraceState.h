//===- TraceState.h - everything one trace knows ----------------------------------------------===//
//
// One object per traceKernel call, found through a thread-local pointer by the functions kernels
// call. It owns the declared tensors, the recorded instructions, the places and the diagnostics.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_TRACESTATE_H
#define KILN_LIB_DSL_TRACESTATE_H

#include "Locations.h"
#include "Text.h"
#include "kiln/ISA/Accumulators.h"
#include "kiln/ISA/Rules.h"
#include "kiln/Tile/Graph.h"

#include <map>
#include <set>

namespace kiln::trace {

/// A broken rule before it has a place.
struct Fault {
  std::string_view rule;
  std::string message, help;
  int subject = -1; ///< tells faults of one statement apart: the operand or dim at fault
  /// Found while the arguments of a call were made. Host compilers make them in different orders.
  bool isArgument = false;
  Place declared = 0; ///< of the tensor at fault, which tells the faults of two arguments apart
};

/// Leaves the kernel after a fatal error; thrown and caught inside libkiln, it only passes through
/// the author's frames.
struct __attribute__((visibility("default"))) Abort {};

/// A declared tensor.
struct TensorRecord {
  std::string name; ///< the author's; empty: unnamed so far
  nl::Buffer buffer = nl::sbuf;
  nl::DType dtype = nl::float32;
  TensorRole role = TensorRole::Internal;
  nl::Shape shape;
  uint32_t index = 0; ///< parameter or result number
  std::optional<nl::Address> address;
  Place place = 0;
  bool written = false;
  bool updated = false;    ///< the output of an nl::InOut parameter
  uint32_t loop = kNone;   ///< the loop it was declared in, index into TraceState::loops
  uint32_t loopNumber = 0; ///< OpenLoop::number of that loop; 0: in none
  Place loopPlace = 0;     ///< of that loop
  std::string_view loopFunction = "nl::affine_for"; ///< what the author called for it

  bool onChip() const { return nl::is_on_chip(buffer); }
};

/// What the trace knows of a value beside its node.
struct ValueRecord {
  /// The dtype the author gave it, or the floats it was computed from agree in.
  std::optional<isa::DType> result;
  uint32_t effects = 0;    ///< writes by values in front of it
  uint32_t buffer = kNone; ///< the tensor that holds it for instructions; kNone: none yet
};

/// Values in the order they were made. Views name TensorRecords, and locations hold Places.
struct Values {
  tile::Graph graph;
  std::vector<ValueRecord> records; ///< one for each node
  uint32_t effects = 0;             ///< stores and materialisations so far
};

/// A loop over nl::affine_range.
struct LoopRecord {
  Place place;
  std::vector<uint32_t> iterations; ///< first instruction of each; the end too once it has ended
};

/// Errors of one trace, bounded and without repetition: an error of an unrolled loop is reported
/// once.
class DiagnosticLog {
public:
  struct Note {
    std::string message;
    Place place;
    std::string rule = {}; ///< of a note that has one of its own
  };

  DiagnosticLog(LocationTable &locations, size_t limit) : locations(locations), limit(limit) {}

  void report(const Fault &fault, Place place, std::vector<Note> notes = {});
  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  /// All of them, with places: by file and line, and on one line in the order they were found;
  /// those of arguments by rule and text, before those of the call.
  std::vector<Diagnostic> finish();

private:
  struct Entry {
    Fault fault;
    Place place;
    std::vector<Note> notes;
    size_t repetitions = 0;
  };
  LocationTable &locations;
  size_t limit;
  size_t errors = 0;
  size_t dropped = 0;
  std::vector<Entry> entries;
  std::map<std::tuple<std::string_view, Place, int, Place>, size_t> seen; ///< index into entries
};

/// A loop whose body is being traced.
struct OpenLoop {
  uint32_t number = 0;                          ///< what indices call it; never 0
  int64_t tripCount = 1;                        ///< at least 1, for the checks of the body
  std::string_view function = "nl::affine_for"; ///< what the author called
  uint32_t loop = kNone;                        ///< index into TraceState::loops
  Place place = 0;
  isa::AccumulatorChains before; ///< as the loop began
  isa::AccumulatorChains entry;  ///< as far as known, as every iteration begins
};

/// A register of the kernel. It exists in the loop it was made in, as tensors do: behind a loop
/// that ran not at all nothing would have set it.
struct RegisterRecord {
  uint32_t loopNumber = 0; ///< of that loop; 0: none
  Place loopPlace = 0;
  std::string_view loopFunction;
};

class TraceState {
public:
  TraceState(const nl::detail::KernelEntry &kernel, const TraceOptions &options);
  ~TraceState();
  TraceState(const TraceState &) = delete;
  TraceState &operator=(const TraceState &) = delete;

  /// The trace of this thread; null outside kernels.
  static TraceState *current();

  //---- what kernel functions do
  //--------------------------------------------------------------------

  /// The place of a statement; remembers it for lastTracedLine.
  Place capture(const nl::SrcLoc &loc);
  /// Stops a kernel that never ends (K-12). Wrong statements count too: a loop of them has no end
  /// either.
  void countStatement();
  void report(const Fault &fault, const nl::SrcLoc &loc,
              std::vector<DiagnosticLog::Note> notes = {}) {
    log.report(fault, capture(loc), std::move(notes));
  }
  [[noreturn]] void fatal(const Fault &fault, const nl::SrcLoc &loc,
                          std::vector<DiagnosticLog::Note> notes = {});

  /// Adds a tensor without checks and returns its handle.
  nl::Tensor declare(TensorRecord record);
  /// The record `view` names; null for an empty, poisoned or foreign handle, and for a value.
  TensorRecord *find(const nl::detail::View &view);
  /// "'w'", or "the 128x512 float32 tile of line 33", "... value of line 33". Of another trace:
  /// "'w', which belongs to a finished trace of 'matmul'".
  std::string describe(const nl::detail::View &view);
  /// The note (P-13) that explains the shape of a view in which an index chose a partition; nothing
  /// for other views.
  std::vector<DiagnosticLog::Note> partitionNote(const nl::detail::View &view, Place place) const;
  /// "this 128x512 float32 tile in sbuf", for the note at its declaration.
  std::string declaration(const TensorRecord &record) const;

  /// The SBUF tile that holds `value`, a handle of this trace, for instructions to read; the same
  /// one each time. `role` is what messages call it. Poisoned after a report (T-05, T-08).
  nl::Tensor materialize(const nl::Tensor &value, std::string_view role, const nl::SrcLoc &loc);
  /// Tells the graph of values of the tensors declared so far.
  void describeBuffers();

  /// Begins and ends an nl::affine_for. A loop of no iterations is traced for its checks and leaves
  /// nothing behind.
  nl::detail::Moves beginLoop(int64_t tripCount, const nl::SrcLoc &loc);
  /// Begins a loop that registers decide.
  void beginLoop(const isa::LoopControl &control, std::string_view function, const nl::SrcLoc &loc);
  /// A new register; kNoRegister plus a report when there are too many to number.
  nl::Reg newRegister(const nl::SrcLoc &loc);
  /// The number of `reg`, which `what` names in messages; nothing after a report (K-08).
  std::optional<uint16_t> registerOf(const nl::Reg &reg, std::string_view what,
                                     const nl::SrcLoc &loc);
  /// The loop that register `number` exists in, where it has ended; null where not.
  const RegisterRecord *ended(uint16_t number) const {
    const RegisterRecord &record = registers[number];
    return isInside(record.loopNumber) ? nullptr : &record;
  }
  /// The innermost open loop owns register `number`: it is its counter.
  void giveToLoop(uint16_t number);
  /// Whether an open loop counts with register `number`: the line of that loop.
  std::optional<Place> countedBy(uint16_t number) const;
  void endLoop();
  /// Whether all loops that `moves` names are open; what is wrong with them otherwise.
  bool areOpen(const nl::detail::Moves &moves) const;
  /// Whether the loop that indices call `number` is open; 0 stands for the kernel.
  bool isInside(uint32_t number) const;
  /// The number, plus 1, of a tensor that says where a view lies.
  uint32_t numberOfIndex(const nl::Tensor &tensor) {
    indexTensors.push_back(tensor);
    return static_cast<uint32_t>(indexTensors.size());
  }
  /// The number of a text that prints show.
  uint32_t numberOf(std::string_view text);
  unsigned line(Place place) { return locations.chain(place).front().line; }

  //---- the frame around the kernel
  //------------------------------------------------------------------

  void bindParameters(std::span<const driver::Arg> args, std::vector<nl::detail::ArgValue> &values);
  void takeResults(const std::vector<nl::Tensor> &results);
  Trace finish();

  const nl::detail::KernelEntry &kernel;
  const TraceOptions &options;
  const uint32_t number; ///< distinguishes the handles of different traces
  LocationTable locations;
  DiagnosticLog log;
  Place kernelPlace;
  std::vector<TensorRecord> tensors;
  std::map<std::string, uint32_t, std::less<>> names; ///< the author's names
  std::vector<Instruction> instructions;              ///< locations hold Places until finish
  isa::AccumulatorChains chains;                      ///< after the instructions so far
  Values values;
  std::vector<std::string> texts; ///< what prints show in front
  std::map<std::string, uint32_t, std::less<>> textNumbers;
  std::vector<Loop> loops;               ///< locations hold Places until finish
  std::vector<OpenLoop> open;            ///< outermost first
  uint32_t skipping = 0;                 ///< open loops of no iterations
  std::vector<RegisterRecord> registers; ///< by number
  std::vector<nl::Tensor> indexTensors;  ///< that say where views lie
  std::vector<LoopRecord> claimedLoops;
  std::vector<Place> emptyLoops; ///< loops over ranges without an element, where C-12 may come from
  size_t statements = 0;         ///< instructions and tensors so far, wrong ones too
  nl::SrcLoc last;

private:
  nl::detail::View identityView(uint32_t tensor) const;
  void takeResult(const nl::Tensor &result, uint32_t number);
  void takeValue(const nl::detail::View &result, uint32_t number);
  void checkWritten(const TensorRecord &record);
  std::vector<DiagnosticLog::Note> busiestLine();
  std::vector<uint32_t> useOrder(const std::vector<tile::Node> &nodes) const;
  void nameTensors(Trace &trace) const;
  /// The nodes that matter, in the order of the finished trace, which does not depend on the order
  /// they were made in. Operands are numbered anew, views and locations are not.
  std::vector<tile::Node> orderedNodes() const;

  void openLoop(const isa::LoopControl &control, std::string_view function, Place place);
  void checkLoopDepth(std::string_view function, const nl::SrcLoc &loc);

  uint32_t lastLoop = 0;
  TraceState *outer; ///< the trace this one interrupts; normally null
};

/// Reports an nl:: or nisa:: call made outside a kernel: it has no trace to be reported in, so the
/// next finished trace of the process shows it.
void reportOutsideKernel(std::string_view function, const nl::SrcLoc &loc);
/// True when a call was made outside a kernel and is not taken yet.
bool calledOutsideKernel();
/// Takes the calls reported so far.
std::vector<Diagnostic> takeCallsOutsideKernel(const std::string &kernelFile);

} // namespace kiln::trace

#endif // KILN_LIB_DSL_TRACESTATE_H
