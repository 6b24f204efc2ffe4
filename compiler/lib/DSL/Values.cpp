//===- Values.cpp - operands, nodes and effects of nl:: functions -----------------------------===//

#include "Values.h"

#include "ViewAlgebra.h"

#include <algorithm>
#include <array>

namespace kiln::trace {

using isa::DType;
using tile::Node;
using tile::Op;

nl::detail::View valueView(const tile::Shape &shape, DType dtype) {
  return wholeView(nl::Buffer::value, static_cast<nl::DType>(dtype), nl::Shape(shape));
}

tile::View graphView(const nl::detail::View &view) {
  tile::View out;
  out.buffer = view.tensor;
  out.partition = view.partition;
  out.offset = view.offset;
  out.stride.assign(view.stride, view.stride + view.rank);
  if (nl::is_on_chip(view.buffer))
    out.stride[0] = 1;
  return out;
}

//---- dtypes of results --------------------------------------------------===//

namespace {

/// What operands say of the dtype of a result: integers and numbers nothing, floats their own,
/// float32 where they disagree.
std::optional<DType> agreementOf(const Values &values, std::span<const tile::NodeId> operands) {
  std::optional<DType> common;
  for (tile::NodeId id : operands) {
    const std::optional<DType> own = values.records[id].result;
    if (!own || !isa::isFloat(*own))
      continue;
    common = !common || common == own ? own : DType::Float32;
  }
  return common;
}

} // namespace

std::optional<DType> ValueCall::agreement(const Value &x, const Value &y) const {
  return agreementOf(state->values, std::array{x.id, y.id});
}

DType resultDType(const TraceState &state, tile::NodeId id) {
  const DType own = state.values.graph[id].dtype;
  return isa::isFloat(own) ? state.values.records[id].result.value_or(own) : own;
}

//---- calls --------------------------------------------------------------===//

namespace {

/// The trace a call may record in; null after a report.
TraceState *admitCall(std::string_view function, const nl::SrcLoc &loc) {
  TraceState *state = TraceState::current();
  if (!state) {
    reportOutsideKernel(function, loc);
    return nullptr;
  }
  if (state->open.empty())
    return state;
  state->report(
      {"T-08",
       text(function, " is called inside the ", state->open.back().function, " of line ",
            state->line(state->open.back().place), ", where whole tensors cannot be computed"),
       "compute the value before the loop, write the iterations out with a C++ for, or use "
       "nisa:: functions on tiles"},
      loc);
  return nullptr;
}

Place placeOf(TraceState *state, const nl::SrcLoc &loc) { return state ? state->capture(loc) : 0; }

} // namespace

ValueCall::ValueCall(std::string_view function, const nl::SrcLoc &loc)
    : state(admitCall(function, loc)), function(function), place(placeOf(state, loc)) {
  if (state)
    state->countStatement();
}

Value ValueCall::poison(tile::Shape shape, DType dtype) const {
  return {tile::kNone, std::move(shape), dtype};
}

nl::Tensor ValueCall::handle(const Value &value) const {
  nl::detail::View view = valueView(value.shape, value.dtype);
  view.poison = value.isPoison();
  view.trace = state ? state->number : 0;
  view.tensor = view.poison ? 0 : value.id;
  return nl::Tensor(view);
}

std::vector<DiagnosticLog::Note> ValueCall::notes(const std::vector<Value> &operands) const {
  std::vector<DiagnosticLog::Note> out;
  std::vector<tile::NodeId> done;
  for (const Value &value : operands) {
    if (value.isPoison() || std::ranges::count(done, value.id))
      continue;
    done.push_back(value.id);
    const Node &node = state->values.graph[value.id];
    if (node.op == Op::Splat)
      continue;
    if (node.op == Op::Load) {
      const TensorRecord &tensor = state->tensors[node.view.buffer];
      if (!tensor.name.empty()) {
        out.push_back({text("'", tensor.name, "' is ", state->declaration(tensor)), tensor.place});
        continue;
      }
    }
    out.push_back(
        {text("an operand is this ", shapeText(node.shape), " ", isa::name(node.dtype), " value"),
         node.location});
  }
  return out;
}

void ValueCall::fault(std::string_view rule, std::string message, std::string help,
                      const std::vector<Value> &operands) {
  if (!state)
    return;
  Fault fault{rule, std::move(message), std::move(help)};
  fault.isArgument = true; // calls stand in arguments of calls
  state->log.report(fault, place, notes(operands));
}

std::optional<int64_t> ValueCall::axis(int64_t axis, const Value &x, int64_t more) {
  const auto rank = static_cast<int64_t>(x.shape.size()) + more;
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (x.isPoison())
    return std::nullopt;
  fault("T-03",
        text("axis ", axis, " of ", function, " is outside the ", rank,
             rank == 1 ? " dim" : " dims", more ? " of the result" : " of its operand"),
        rank == 1
            ? std::string("the only axis is 0")
            : text("axes are numbered 0 to ", rank - 1, ", or -", rank, " to -1 from the end"),
        {x});
  return std::nullopt;
}

//---- operands -----------------------------------------------------------===//

bool ValueCall::admit(const nl::detail::View &view, std::string_view role) {
  auto refuse = [&](std::string_view rule, std::string message, std::string help) {
    fault(rule, std::move(message), std::move(help));
    return false;
  };
  if (view.trace == 0)
    return refuse("K-08", text(role, " of ", function, " is an empty handle: it names no tensor"),
                  "assign it the result of nl::ndarray or of an nl:: function first");
  if (view.trace != state->number)
    return refuse("K-08", text(role, " of ", function, " is ", state->describe(view)),
                  "declare tensors inside the kernel function");
  if (nl::is_value(view.buffer))
    return true;
  const TensorRecord &record = state->tensors[view.tensor];
  if (view.index != 0)
    return refuse("T-08",
                  text(role, " of ", function, " is a view of ", state->describe(view),
                       " whose place a register says"),
                  "copy it to a tile with nisa::dma_copy or nisa::tensor_copy first");
  if (record.loopNumber != 0)
    return refuse("C-05",
                  text(state->describe(view), " exists only inside the ", record.loopFunction,
                       " of line ", state->line(record.loopPlace)),
                  "declare it before the loop");
  if (view.moves.any())
    return refuse("C-05",
                  text(role, " of ", function, " is a view of ", state->describe(view),
                       " that moves with an nl::affine_for which has ended"),
                  "take the view with numbers of the host");
  if (view.dtype != record.dtype)
    return refuse("T-04",
                  text(role, " of ", function, " reads the bits of ", state->describe(view), " as ",
                       isa::name(toIsa(view.dtype)), ", they are ", isa::name(toIsa(record.dtype))),
                  "values have elements, not bits: use nisa:: functions, or nl::cast to convert");
  return true;
}

Value ValueCall::load(const nl::detail::View &view) {
  Node node;
  node.op = Op::Load;
  node.shape.assign(view.shape, view.shape + view.rank);
  node.dtype = toIsa(view.dtype);
  node.view = graphView(view);
  return add(std::move(node), {},
             isa::isFloat(toIsa(view.dtype)) ? std::optional(toIsa(view.dtype)) : std::nullopt);
}

Value ValueCall::operand(const nl::Term &term, DType numberDType) {
  if (term.isNumber)
    return splat(term.number, numberDType);
  const nl::detail::View &view = term.tensor.raw();
  const tile::Shape shape(view.shape, view.shape + view.rank);
  const DType dtype = toIsa(view.dtype);
  if (!state || view.poison || !admit(view, "an operand"))
    return poison(shape.empty() ? tile::Shape{1} : shape, dtype);
  if (nl::is_value(view.buffer))
    return {view.tensor, shape, dtype};
  return load(view);
}

Value ValueCall::splat(double number, DType dtype) {
  Node node;
  node.op = Op::Splat;
  node.shape = {1};
  node.dtype = dtype;
  node.number = number;
  return add(std::move(node), {});
}

//---- nodes --------------------------------------------------------------===//

namespace {

/// Shape of a result that has an error: what it would be without, as far as that can be told.
tile::Shape likelyShape(const Node &node, const std::vector<Value> &operands) {
  tile::Graph graph;
  Node like = node;
  for (const Value &value : operands) {
    Node operand;
    operand.shape = value.shape;
    like.operands.push_back(graph.add(std::move(operand)));
  }
  const auto quiet = [](std::string_view, const std::string &, const std::string &) {};
  tile::Shape shape =
      tile::inferShape(graph, like, quiet)
          .value_or(!node.shape.empty() || operands.empty() ? node.shape : operands.front().shape);
  std::erase_if(shape, [](int64_t extent) { return extent < 1; });
  return shape.empty() ? tile::Shape{1} : shape;
}

} // namespace

Value ValueCall::add(Node node, const std::vector<Value> &operands, std::optional<DType> result) {
  const DType dtype = node.dtype;
  if (!state || std::ranges::any_of(operands, &Value::isPoison))
    return poison(likelyShape(node, operands), dtype);
  for (const Value &value : operands)
    node.operands.push_back(value.id);
  node.location = place;
  const bool isEffect = node.isEffect();
  if (node.op == Op::Load || isEffect)
    node.position = static_cast<uint32_t>(state->instructions.size());
  Values &values = state->values;
  state->describeBuffers();
  auto complain = [&](std::string_view rule, std::string message, std::string help) {
    fault(rule, std::move(message), std::move(help), operands);
  };
  std::optional<tile::Shape> shape = tile::inferShape(values.graph, node, complain);
  if (!shape) {
    node.operands.clear();
    return poison(likelyShape(node, operands), dtype);
  }
  node.shape = *shape;
  // The condition of a select chooses, it is no part of the result.
  if (!result && !isEffect)
    result = agreementOf(values, std::span(node.operands).subspan(node.op == Op::Select));
  const tile::NodeId id = values.graph.add(std::move(node));
  values.records.push_back({result, values.effects, kNone});
  if (!tile::verify(values.graph, id, complain)) {
    values.graph.nodes.pop_back();
    values.records.pop_back();
    return poison(*shape, dtype);
  }
  values.effects += isEffect;
  return {id, *shape, dtype};
}

Value ValueCall::unary(isa::ActFn fn, const Value &x, std::optional<DType> dtype) {
  Node node;
  node.op = Op::Unary;
  node.fn = fn;
  node.dtype = dtype.value_or(DType::Float32);
  return add(std::move(node), {x}, dtype);
}

Value ValueCall::binary(isa::AluOp alu, const Value &x, const Value &y,
                        std::optional<DType> dtype) {
  Node node;
  node.op = Op::Binary;
  node.alu = alu;
  // Bits keep their type; arithmetic is float32.
  node.dtype = dtype.value_or(isa::info(alu).isBitvec ? x.dtype : DType::Float32);
  return add(std::move(node), {x, y}, dtype);
}

Value ValueCall::cast(const Value &x, DType dtype) {
  Node node;
  node.op = Op::Cast;
  node.dtype = dtype;
  return add(std::move(node), {x}, dtype);
}

Value ValueCall::reshape(const Value &x, tile::Shape shape) {
  if (shape == x.shape)
    return x;
  Node node;
  node.op = Op::Reshape;
  node.dtype = x.dtype;
  node.shape = std::move(shape);
  return add(std::move(node), {x});
}

Value ValueCall::select(const Value &x, const nl::detail::View &view) {
  const size_t rank = x.shape.size();
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank - 1; d-- > 0;)
    strides[d] = strides[d + 1] * x.shape[d + 1];
  // A row-major view tells where each dim starts; a dim of it that has several elements comes from
  // the one dim whose stride and extent its own stride lies between.
  Node node;
  node.op = Op::Slice;
  node.dtype = x.dtype;
  node.shape.assign(rank, 1);
  node.steps.assign(rank, 1);
  for (size_t d = 0; d < rank; ++d)
    node.starts.push_back(view.offset / strides[d] % x.shape[d]);
  for (unsigned k = 0; k < view.rank; ++k)
    for (size_t d = 0; d < rank && view.shape[k] > 1; ++d)
      if (view.stride[k] >= strides[d] && view.stride[k] < strides[d] * x.shape[d]) {
        node.shape[d] = view.shape[k];
        node.steps[d] = view.stride[k] / strides[d];
        break;
      }
  const tile::Shape shape(view.shape, view.shape + view.rank);
  const Value slice = node.shape == x.shape ? x : add(std::move(node), {x});
  return reshape(slice, shape);
}

void ValueCall::write(Op op, const Value &x, const nl::detail::View &target) {
  Node node;
  node.op = op;
  node.shape = x.shape;
  node.dtype = toIsa(target.dtype);
  node.view = graphView(target);
  if (add(std::move(node), {x}).isPoison())
    return;
  state->tensors[target.tensor].written = true;
}

//---- the border to memory -----------------------------------------------===//

void TraceState::describeBuffers() {
  for (size_t t = values.graph.buffers.size(); t < tensors.size(); ++t) {
    const TensorRecord &record = tensors[t];
    tile::Buffer buffer;
    buffer.name = record.name;
    buffer.memory = toIsa(record.buffer);
    buffer.dtype = toIsa(record.dtype);
    buffer.shape.assign(record.shape.begin(), record.shape.end());
    values.graph.buffers.push_back(std::move(buffer));
  }
}

namespace {

/// Why no SBUF tile holds a value; empty when one does.
Fault misfit(const std::string &what, const tile::Shape &shape, DType dtype) {
  const auto &machine = isa::machine;
  const std::string help = "cut it: subscripts of a value are values, and nl::store writes one of "
                           "any size to HBM";
  if (shape.size() < 2)
    return {"T-05", text(what, " has rank 1, a tile has a partition dim and at least one free dim"),
            text("reshape it to (1, ", shape.front(), ") or (", shape.front(), ", 1)")};
  if (shape[0] > machine.numPartitions)
    return {"T-05",
            text(what, " would need ", shape[0], " partitions, a tile has at most ",
                 machine.numPartitions),
            help};
  int64_t bytes = isa::bytesOf(dtype);
  for (size_t d = 1; d < shape.size(); ++d)
    bytes = multiply(bytes, shape[d]);
  if (bytes > machine.sbufUsableBytesPerPartition)
    return {"T-05",
            text(what, " would need ", bytes, " bytes of each partition, ",
                 machine.sbufUsableBytesPerPartition, " are usable"),
            help};
  return {};
}

} // namespace

nl::Tensor TraceState::materialize(const nl::Tensor &value, std::string_view role,
                                   const nl::SrcLoc &loc) {
  nl::detail::View poison = value.raw();
  poison.poison = true;
  if (value.raw().poison)
    return nl::Tensor(poison);
  const tile::NodeId id = value.raw().tensor;
  if (values.records[id].buffer != kNone)
    return nl::Tensor(identityView(values.records[id].buffer));
  if (!open.empty()) {
    report({"T-08",
            text(role, ", ", describe(value.raw()), ", is read inside the ", open.back().function,
                 " of line ", line(open.back().place), ", where whole tensors cannot be computed"),
            "nl::store it to an nl::ndarray tile before the loop"},
           loc);
    return nl::Tensor(poison);
  }
  const tile::Node &node = values.graph[id];
  const tile::Shape shape = node.shape;
  const DType dtype = node.dtype;
  if (Fault fault = misfit(text(role, ", ", describe(value.raw()), ","), shape, dtype);
      !fault.rule.empty()) {
    report(fault, loc, {{text("it is computed here"), node.location}});
    return nl::Tensor(poison);
  }
  ValueCall call(role, loc);
  TensorRecord record;
  record.buffer = nl::sbuf;
  record.dtype = static_cast<nl::DType>(dtype);
  record.shape = nl::Shape(shape);
  record.place = call.place;
  nl::Tensor tile = declare(std::move(record));
  call.write(Op::Materialize, {id, shape, dtype}, tile.raw());
  values.records[id].buffer = tile.raw().tensor;
  return tile;
}

} // namespace kiln::trace
