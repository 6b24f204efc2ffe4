//===- Finish.cpp - results, and the finished trace -------------------------------------------===//
//
// Host compilers evaluate the arguments of a call in different orders, so the order in which
// tensors were declared means nothing. The finished trace numbers and names them by first use in
// operand order.
//
//===------------------------------------------------------------------------------------------===//

#include "TraceState.h"
#include "ViewAlgebra.h"

#include <algorithm>

namespace kiln::trace {

//---- results ------------------------------------------------------------===//

void TraceState::takeResult(const nl::Tensor &result, uint32_t resultNumber) {
  const nl::detail::View &view = result.raw();
  auto fault = [&](std::string_view rule, std::string message, std::string help, bool note = true) {
    std::vector<DiagnosticLog::Note> notes;
    if (TensorRecord *record = note ? find(view) : nullptr)
      notes.push_back({text(record->name.empty() ? text("result ", resultNumber) : describe(view),
                            " is ", declaration(*record)),
                       record->place});
    log.report({rule, std::move(message), std::move(help), static_cast<int>(resultNumber)},
               kernelPlace, std::move(notes));
  };
  if (view.poison)
    return;
  if (view.trace == 0)
    return fault("K-01", text("result ", resultNumber, " is an empty handle: it names no tensor"),
                 "return a tensor declared in nl::shared_hbm", false);
  if (nl::is_value(view.buffer) && view.trace == number)
    return takeValue(view, resultNumber);
  TensorRecord *record = find(view);
  if (!record)
    return fault("K-08", text("result ", resultNumber, " is ", describe(view)),
                 "return a tensor this call of the kernel declared", false);
  if (record->role == TensorRole::Input)
    return fault(
        "K-01",
        text("result ", resultNumber, " is ", describe(view), ", a parameter of the kernel"),
        "copy it to a tensor declared in nl::shared_hbm, or declare the parameter as nl::InOut");
  if (record->updated)
    return fault("K-01",
                 text("result ", resultNumber, " is ", describe(view),
                      ", an nl::InOut parameter, which is an output already"),
                 "return only tensors the kernel declared");
  if (record->role == TensorRole::Output)
    return fault("K-01",
                 text("result ", resultNumber, " is ", describe(view), ", which is result ",
                      record->index, " already"),
                 "return each tensor once");
  if (record->loopNumber != 0)
    return fault("C-05",
                 text("result ", resultNumber, " is ", describe(view),
                      ", which exists only inside the ", record->loopFunction, " of line ",
                      line(record->loopPlace)),
                 "declare it before the loop");
  if (record->buffer != nl::shared_hbm)
    return fault("K-01",
                 text("returned tensors must be in shared_hbm, ", describe(view), " is in ",
                      nameOf(record->buffer)),
                 record->onChip()
                     ? "declare the result in nl::shared_hbm and nisa::dma_copy the tile to it"
                     : "declare it in nl::shared_hbm");
  bool isWhole = view.offset == 0 && !view.moves.any() && isContiguous(view) &&
                 view.dtype == record->dtype &&
                 result.size() == nl::Tensor(identityView(view.tensor)).size();
  if (!isWhole)
    return fault(
        "K-01",
        text("result ", resultNumber, " is a view of ", describe(view), ", not the whole tensor"),
        "return the tensor itself, or a reshape of it");
  record->role = TensorRole::Output;
  record->index = resultNumber;
  record->shape =
      result.shape(); // accesses are linear, so a reshape of the whole changes none of them
  checkWritten(*record);
}

void TraceState::checkWritten(const TensorRecord &record) {
  // An instruction with an error was not recorded; its destination is not to be blamed. The same
  // holds for one that used a tensor made outside a kernel, which is an error of its own.
  if (record.written || log.hasErrors() || calledOutsideKernel())
    return;
  std::string name =
      record.name.empty() ? text("result ", record.index) : text("'", record.name, "'");
  std::vector<DiagnosticLog::Note> notes = {
      {text(name, " is ", declaration(record)), record.place}};
  constexpr size_t kShownLoops = 3;
  for (size_t i = 0; i < std::min(emptyLoops.size(), kShownLoops); ++i)
    notes.push_back({"this loop has no iterations", emptyLoops[i]});
  log.report({"C-12", text(name, " is returned but never written"),
              "store to it with nisa::dma_copy; a loop over M / N tiles runs 0 times when M < N, "
              "nl::ceil_div(M, N) and nl::tiles(M, N) count the last part",
              static_cast<int>(record.index)},
             kernelPlace, std::move(notes));
}

void TraceState::takeResults(const std::vector<nl::Tensor> &results) {
  uint32_t number = 0;
  for (const nl::Tensor &result : results)
    takeResult(result, number++);
  // Tensors the kernel updates in place follow the returned ones, in the order of the parameters.
  bool hasOutput = !results.empty();
  for (TensorRecord &record : tensors)
    if (record.updated) {
      record.index = number++;
      hasOutput = true;
    }
  if (!hasOutput)
    log.report({"K-03", text("kernel '", kernel.name, "' produces no output"),
                "return a tensor in nl::shared_hbm, or take an nl::InOut parameter"},
               kernelPlace);
}

//---- the finished trace -------------------------------------------------===//

/// Declared tensors in the order of the finished trace: inputs, outputs, then by first use, those
/// of instructions in front of those only values use.
std::vector<uint32_t> TraceState::useOrder(const std::vector<tile::Node> &nodes) const {
  std::vector<uint32_t> order, outputs;
  std::vector<bool> listed(tensors.size(), false);
  for (uint32_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == TensorRole::Internal)
      continue;
    listed[t] = true;
    (tensors[t].role == TensorRole::Input ? order : outputs).push_back(t);
  }
  auto byIndex = [this](uint32_t a, uint32_t b) { return tensors[a].index < tensors[b].index; };
  std::sort(order.begin(), order.end(), byIndex);
  std::sort(outputs.begin(), outputs.end(), byIndex);
  order.insert(order.end(), outputs.begin(), outputs.end());
  auto use = [&](uint32_t tensor) {
    if (listed[tensor])
      return;
    listed[tensor] = true;
    order.push_back(tensor);
  };
  for (const Instruction &instruction : instructions)
    for (const isa::Access &access : instruction.inst.operands)
      if (access.present())
        use(access.tensor);
  for (const tile::Node &node : nodes)
    if (node.view.buffer != tile::kNone)
      use(node.view.buffer);
  return order;
}

/// Names what the author did not: "out0" for results, "t0", "t1", ... for the rest, past names in
/// use.
void TraceState::nameTensors(Trace &trace) const {
  uint32_t next = 0;
  for (Tensor &tensor : trace.tensors) {
    if (!tensor.name.empty())
      continue;
    if (tensor.role == TensorRole::Output) {
      tensor.name = text("out", tensor.index);
      while (names.contains(tensor.name))
        tensor.name += "_";
      continue;
    }
    do
      tensor.name = text("t", next++);
    while (names.contains(tensor.name));
  }
}

namespace {

/// Locations of the finished trace: call sites before the statements they lead to, each chain once.
class LocationList {
public:
  LocationList(Trace &trace, LocationTable &table) : trace(trace), table(table) {}

  uint32_t operator()(Place place) {
    auto [slot, isNew] = done.try_emplace(place, kNone);
    if (!isNew)
      return slot->second;
    CallChain chain = table.chain(place);
    uint32_t caller = kNone;
    for (size_t i = chain.size(); i-- > 0;)
      caller = location(file(chain[i].file), chain[i].line, caller);
    return slot->second = caller;
  }

private:
  uint32_t file(const std::string &path) {
    auto [slot, isNew] = files.try_emplace(path, static_cast<uint32_t>(trace.files.size()));
    if (isNew)
      trace.files.push_back(path);
    return slot->second;
  }
  uint32_t location(uint32_t fileIndex, uint32_t line, uint32_t caller) {
    auto [slot, isNew] = locations.try_emplace({fileIndex, line, caller},
                                               static_cast<uint32_t>(trace.locations.size()));
    if (isNew)
      trace.locations.push_back({fileIndex, line, caller});
    return slot->second;
  }

  Trace &trace;
  LocationTable &table;
  std::unordered_map<Place, uint32_t> done;
  std::map<std::string, uint32_t> files;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> locations;
};

/// The tensors, as the graph of values sees them. A kernel without values has no graph.
void describeTensors(Trace &trace) {
  if (trace.graph.nodes.empty())
    return;
  for (const Tensor &tensor : trace.tensors) {
    tile::Buffer buffer;
    buffer.name = tensor.name;
    buffer.memory = tensor.memory;
    buffer.dtype = tensor.dtype;
    buffer.role = tensor.role == TensorRole::Input    ? tile::Buffer::Role::Input
                  : tensor.role == TensorRole::Output ? tile::Buffer::Role::Output
                                                      : tile::Buffer::Role::Internal;
    buffer.index = tensor.index;
    buffer.shape = tensor.shape;
    buffer.location = tensor.location;
    trace.graph.buffers.push_back(std::move(buffer));
  }
}

} // namespace

Trace TraceState::finish() {
  Trace trace;
  trace.kernel = kernel.name;
  LocationList locationOf(trace, locations);
  std::vector<tile::Node> nodes = orderedNodes();
  std::vector<uint32_t> renumbered(tensors.size(), kNone);
  for (uint32_t t : useOrder(nodes)) {
    renumbered[t] = static_cast<uint32_t>(trace.tensors.size());
    const TensorRecord &record = tensors[t];
    Tensor tensor;
    tensor.name = record.name;
    tensor.isNamed = !record.name.empty();
    tensor.isShared = record.buffer == nl::shared_hbm;
    tensor.memory = toIsa(record.buffer);
    tensor.dtype = toIsa(record.dtype);
    tensor.role = record.role;
    tensor.shape.assign(record.shape.begin(), record.shape.end());
    tensor.index = record.role == TensorRole::Internal ? 0 : record.index;
    if (record.address)
      tensor.address = {static_cast<uint32_t>(record.address->partition),
                        static_cast<uint64_t>(record.address->byte)};
    tensor.location = locationOf(record.place);
    tensor.loop = record.loop;
    trace.tensors.push_back(std::move(tensor));
  }
  nameTensors(trace);
  trace.instructions = std::move(instructions);
  for (Instruction &instruction : trace.instructions) {
    instruction.location = locationOf(instruction.location);
    for (isa::Access &access : instruction.inst.operands)
      if (access.present())
        access.tensor = renumbered[access.tensor];
  }
  for (LoopRecord &loop : claimedLoops)
    trace.claimedLoops.push_back({locationOf(loop.place), std::move(loop.iterations)});
  trace.texts = std::move(texts);
  trace.loops = std::move(loops);
  for (Loop &loop : trace.loops)
    loop.location = locationOf(loop.location);
  for (tile::Node &node : nodes) {
    node.location = locationOf(node.location);
    if (node.hint.location != tile::kNone)
      node.hint.location = locationOf(node.hint.location);
    if (node.view.buffer != tile::kNone)
      node.view.buffer = renumbered[node.view.buffer];
  }
  trace.graph.nodes = std::move(nodes);
  describeTensors(trace);
  return trace;
}

std::vector<int64_t> Trace::tripCounts(uint32_t index) const {
  std::vector<int64_t> counts;
  for (const Loop &loop : loops)
    if (loop.begin <= index && index < loop.end)
      counts.push_back(loop.control.tripCount);
  return counts;
}

CallChain Trace::chain(uint32_t location) const {
  CallChain chain;
  while (location != kNone) {
    const Location &l = locations[location];
    chain.push_back({files[l.file], l.line});
    location = l.caller;
  }
  return chain;
}

} // namespace kiln::trace
