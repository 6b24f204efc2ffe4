//===- Movement.cpp - moving elements of values, hints, stores --------------------------------===//
//
// The functions of nl/math.h that compute nothing, the view methods of value handles, and nl::store
// of a value.
//
//===------------------------------------------------------------------------------------------===//

#include "Movement.h"

#include <algorithm>

namespace nl {
namespace {

using kiln::trace::shapeText;
using kiln::trace::text;
using kiln::trace::tupleText;
using kiln::trace::Value;
using kiln::trace::ValueCall;
namespace isa = kiln::isa;
namespace tile = kiln::tile;

/// The extents an author wrote. More than the rank limit were counted only; they become 1, so that
/// the graph's rules see how many there are.
tile::Shape extents(const Shape &shape) {
  tile::Shape out(shape.begin(), shape.end());
  out.resize(shape.size(), 1);
  return out;
}

/// Puts the extent that makes `shape` hold x's elements in place of -1. False after a report.
bool fillOpenExtent(ValueCall &call, const Value &x, tile::Shape &shape) {
  const auto open = std::ranges::find(shape, -1);
  if (open == shape.end())
    return true;
  int64_t rest = 1, total = 1;
  for (int64_t extent : shape)
    rest = kiln::trace::multiply(rest, extent == -1 ? 1 : extent);
  for (int64_t extent : x.shape)
    total = kiln::trace::multiply(total, extent);
  if (std::ranges::count(shape, -1) == 1 && rest > 0 && total % rest == 0) {
    *open = total / rest;
    return true;
  }
  if (x.isPoison())
    return true;
  call.fault("V-04",
             text("nl::reshape of ", tupleText(x.shape), " to ", tupleText(shape),
                  ": no extent in place of -1 makes that ", total, " elements"),
             "one extent may be -1, and the others must divide the number of elements", {x});
  return false;
}

} // namespace

//---- functions ----------------------------------------------------------===//

Tensor transpose(const Term &x, const Shape &order, SrcLoc loc) {
  ValueCall call("nl::transpose", loc);
  const Value value = call.operand(x);
  const auto rank = static_cast<int64_t>(value.shape.size());
  tile::Node node;
  node.op = tile::Op::Transpose;
  node.dtype = value.dtype;
  for (int64_t axis : extents(order))
    node.axes.push_back(axis < 0 ? axis + rank : axis);
  for (int64_t d = rank; node.axes.size() < size_t(rank) && order.size() == 0;)
    node.axes.push_back(--d);
  return call.handle(call.add(std::move(node), {value}));
}

Tensor reshape(const Term &x, const Shape &shape, SrcLoc loc) {
  ValueCall call("nl::reshape", loc);
  const Value value = call.operand(x);
  tile::Shape to = extents(shape);
  if (!fillOpenExtent(call, value, to))
    return call.handle(call.poison(value.shape, value.dtype));
  return call.handle(call.reshape(value, std::move(to)));
}

Tensor broadcast_to(const Term &x, const Shape &shape, SrcLoc loc) {
  ValueCall call("nl::broadcast_to", loc);
  const Value value = call.operand(x);
  tile::Node node;
  node.op = tile::Op::Broadcast;
  node.dtype = value.dtype;
  node.shape = extents(shape);
  return call.handle(call.add(std::move(node), {value}));
}

Tensor expand_dims(const Term &x, int64_t axis, SrcLoc loc) {
  ValueCall call("nl::expand_dims", loc);
  const Value value = call.operand(x);
  const std::optional<int64_t> found = call.axis(axis, value, /*more=*/1);
  tile::Shape shape = value.shape;
  shape.insert(shape.begin() + found.value_or(0), 1);
  if (!found)
    return call.handle(call.poison(std::move(shape), value.dtype));
  return call.handle(call.reshape(value, std::move(shape)));
}

namespace {

Value joined(ValueCall &call, const std::vector<Value> &values, int64_t axis) {
  tile::Node node;
  node.op = tile::Op::Concat;
  node.axis = axis;
  node.dtype = values.front().dtype;
  return call.add(std::move(node), values);
}

/// The operands of nl::concatenate and nl::stack; none after a report.
std::vector<Value> operandsOf(ValueCall &call, const std::vector<Tensor> &list) {
  std::vector<Value> values;
  for (const Tensor &tensor : list)
    values.push_back(call.operand(tensor));
  if (values.empty())
    call.fault("T-01", text(call.function, " joins nothing"), "give it at least one tensor");
  return values;
}

} // namespace

Tensor concatenate(const std::vector<Tensor> &list, int64_t axis, SrcLoc loc) {
  ValueCall call("nl::concatenate", loc);
  const std::vector<Value> values = operandsOf(call, list);
  if (values.empty())
    return call.handle(call.poison({1}));
  const std::optional<int64_t> found = call.axis(axis, values.front());
  if (!found)
    return call.handle(call.poison(values.front().shape, values.front().dtype));
  return call.handle(joined(call, values, *found));
}

Tensor stack(const std::vector<Tensor> &list, int64_t axis, SrcLoc loc) {
  ValueCall call("nl::stack", loc);
  std::vector<Value> values = operandsOf(call, list);
  if (values.empty())
    return call.handle(call.poison({1}));
  const std::optional<int64_t> found = call.axis(axis, values.front(), /*more=*/1);
  if (!found)
    return call.handle(call.poison(values.front().shape, values.front().dtype));
  for (Value &value : values) {
    tile::Shape shape = value.shape;
    shape.insert(shape.begin() + std::min(*found, static_cast<int64_t>(shape.size())), 1);
    value = call.reshape(value, std::move(shape));
  }
  return call.handle(joined(call, values, *found));
}

Tensor pad(const Term &x, const std::vector<PadWidth> &widths, Scalar value, SrcLoc loc) {
  ValueCall call("nl::pad", loc);
  const Value operand = call.operand(x);
  tile::Node node;
  node.op = tile::Op::Pad;
  node.dtype = operand.dtype;
  node.number = value.value;
  for (const PadWidth &width : widths) {
    node.starts.push_back(width.before.value);
    node.ends.push_back(width.after.value);
  }
  if (!operand.isPoison() && !value.isInteger && !isa::isFloat(operand.dtype)) {
    call.fault("D-07",
               text("the value of nl::pad is floating, its operand is ", isa::name(operand.dtype)),
               "write a whole number", {operand});
    return call.handle(call.poison(operand.shape, operand.dtype));
  }
  return call.handle(call.add(std::move(node), {operand}));
}

Tensor iota(const Shape &shape, int64_t axis, const MathOptions &options, SrcLoc loc) {
  ValueCall call("nl::iota", loc);
  tile::Node node;
  node.op = tile::Op::Iota;
  node.shape = extents(shape);
  node.dtype = isa::DType::Int32;
  node.axis = axis < 0 ? axis + static_cast<int64_t>(node.shape.size()) : axis;
  const Value indices = call.add(std::move(node), {});
  return call.handle(options.dtype ? call.cast(indices, kiln::trace::toIsa(*options.dtype))
                                   : indices);
}

//---- hints --------------------------------------------------------------===//

namespace {

/// Reports a wish no plan could keep.
bool isPossible(ValueCall &call, const Value &x, const HintOptions &options) {
  const auto refuse = [&](std::string message, std::string help) {
    call.fault("T-06", std::move(message), std::move(help), {x});
    return false;
  };
  const auto rank = static_cast<int64_t>(x.shape.size());
  const std::string shape = tupleText(x.shape);
  if (!options.tile.empty() && std::ssize(options.tile) != rank)
    return refuse(text("the tile of nl::hint has ", options.tile.size(), " extents, the value ",
                       shape, " has ", rank, rank == 1 ? " dim" : " dims"),
                  "give one extent a dim; 0 leaves it to the compiler");
  for (size_t d = 0; d < options.tile.size(); ++d)
    if (options.tile[d] < 0 || options.tile[d] > x.shape[d])
      return refuse(text("the tile of nl::hint has extent ", options.tile[d], " in dim ", d,
                         ", the value ", shape, " allows 0 to ", x.shape[d]),
                    "0 leaves it to the compiler");
  if (options.buffers && *options.buffers < 1)
    return refuse(text("nl::hint asks for ", *options.buffers, " buffers"),
                  "one tile in flight is the least");
  if (options.in && !is_hbm(*options.in))
    return refuse(text("nl::hint asks for the value in ", kiln::trace::nameOf(*options.in)),
                  "only .in = nl::hbm can be asked for: SBUF and PSUM are the compiler's to share "
                  "out");
  return true;
}

} // namespace

Tensor hint(const Term &x, const HintOptions &options, SrcLoc loc) {
  ValueCall call("nl::hint", loc);
  const Value value = call.operand(x);
  std::optional<int64_t> dim;
  if (options.partition_dim)
    dim = call.axis(*options.partition_dim, value);
  const bool isLegal = dim.has_value() == options.partition_dim.has_value();
  if (value.isPoison() || !isLegal || !isPossible(call, value, options))
    return call.handle(value);
  tile::Hint &hint = call.state->values.graph[value.id].hint;
  if (dim)
    hint.partitionDim = dim;
  if (!options.tile.empty())
    hint.tile = options.tile;
  if (options.buffers)
    hint.buffers = options.buffers;
  if (options.in)
    hint.in = isa::Memory::Hbm;
  hint.location = call.place;
  return call.handle(value);
}

} // namespace nl

namespace kiln::trace {

//---- views of values ----------------------------------------------------===//

nl::Tensor moveValue(const nl::Tensor &value, const nl::detail::View &view, ViewKind kind,
                     const char *method, const nl::SrcLoc &loc) {
  ValueCall call(text("nl::Tensor::", method), loc);
  const Value x = call.operand(nl::Term(value, loc));
  const tile::Shape shape(view.shape, view.shape + view.rank);
  tile::Node node;
  node.dtype = x.dtype;
  switch (kind) {
  case ViewKind::Select:
    return call.handle(x.isPoison() ? call.poison(shape, x.dtype) : call.select(x, view));
  case ViewKind::Regroup:
    return call.handle(call.reshape(x, shape));
  case ViewKind::Repeat:
    node.op = tile::Op::Broadcast;
    node.shape = shape;
    return call.handle(call.add(std::move(node), {x}));
  }
  return call.handle(call.poison(shape, x.dtype));
}

//---- nl::store ----------------------------------------------------------===//

namespace {

/// Whether a value may be written to `dst`; reports otherwise.
bool admitTarget(ValueCall &call, const nl::detail::View &dst) {
  if (!call.admit(dst, "dst"))
    return false;
  TraceState &state = *call.state;
  const auto refuse = [&](std::string_view rule, std::string message, std::string help) {
    call.fault(rule, std::move(message), std::move(help));
    return false;
  };
  if (nl::is_value(dst.buffer))
    return refuse("T-04",
                  text("dst of nl::store is ", state.describe(dst), ", and a value is not memory"),
                  "store to a tensor declared with nl::ndarray; to change part of a value, build a "
                  "new one with nl::concatenate or nl::where");
  const TensorRecord &record = state.tensors[dst.tensor];
  if (record.role == TensorRole::Input)
    return refuse("K-02", text("'", record.name, "' is a kernel input and read-only"),
                  "declare the parameter as nl::InOut, or copy it to a tensor of your own");
  for (unsigned d = 0; d < dst.rank; ++d)
    if (dst.stride[d] == 0 && dst.shape[d] > 1)
      return refuse("V-08",
                    text("dst of nl::store repeats storage (stride 0 in dim ", d,
                         "): several values would land in one place"),
                    "store to a view without broadcast dims");
  return true;
}

} // namespace

void storeValue(const nl::Tensor &dst, const nl::Tensor &value, const nl::SrcLoc &loc) {
  TraceState *state = TraceState::current();
  if (value.raw().poison || dst.raw().poison) {
    // The reported error is the value's; dst is not to be blamed for what it lacks.
    if (TensorRecord *record = state ? state->find(dst.raw()) : nullptr)
      record->written = true;
    return;
  }
  ValueCall call("nl::store", loc);
  if (!call.usable())
    return;
  const bool isTarget = admitTarget(call, dst.raw());
  const Value x = call.operand(nl::Term(value, loc));
  if (TensorRecord *record = call.state->find(dst.raw()))
    record->written = true; // an error of this store is not to be blamed on what comes later
  if (!isTarget || x.isPoison())
    return;
  const tile::Shape shape(dst.raw().shape, dst.raw().shape + dst.rank());
  if (dst.size() != nl::Tensor(valueView(x.shape, x.dtype)).size())
    return call.fault(
        "S-09",
        text("dst of nl::store is ", tupleText(shape), ", the value is ", tupleText(x.shape)),
        "they must have as many elements: store to a part of dst, or use "
        "nl::broadcast_to",
        {x});
  call.write(tile::Op::Store, call.reshape(x, shape), dst.raw());
}

} // namespace kiln::trace
