//===- Values.h - recording what nl:: functions compute ---------------------------------------===//
//
// A value is a node of the trace's graph; its handle says which. One call of an nl:: function is a
// ValueCall: it turns operands into values (numbers become splats, tensors in memory snapshots),
// adds nodes, and reports at the author's line what the graph's own rules refuse. An operand with a
// reported error makes a poisoned value, so that tracing goes on.
//
// Nodes are recorded in the order the host evaluates calls, which host compilers do not agree on;
// FinishValues.cpp numbers them anew.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_VALUES_H
#define KILN_LIB_DSL_VALUES_H

#include "TraceState.h"
#include "nl/math.h"

namespace kiln::trace {

/// A value while a call works on it.
struct Value {
  tile::NodeId id = tile::kNone; ///< kNone: poisoned
  tile::Shape shape;
  isa::DType dtype = isa::DType::Float32;

  bool isPoison() const { return id == tile::kNone; }
};

/// Row-major strides, as handles of values have them.
nl::detail::View valueView(const tile::Shape &shape, isa::DType dtype);

class ValueCall {
public:
  /// Begins a call of `function` ("nl::exp") at `loc`. Outside a kernel it reports K-07, inside an
  /// nl::affine_for T-08; either way every value of the call is poisoned.
  ValueCall(std::string_view function, const nl::SrcLoc &loc);
  /// What the trace itself adds, at a place it has.
  ValueCall(std::string_view function, TraceState &state, Place place)
      : state(&state), function(function), place(place) {}

  /// The value of an operand. A number becomes a splat of `numberDType`.
  Value operand(const nl::Term &term, isa::DType numberDType = isa::DType::Float32);
  /// A constant of shape (1).
  Value splat(double number, isa::DType dtype = isa::DType::Float32);

  /// Adds a node. Its operands are `operands`, its shape follows from them where the operation
  /// infers it. `result` is the dtype the author asked for.
  Value add(tile::Node node, const std::vector<Value> &operands,
            std::optional<isa::DType> result = {});
  Value unary(isa::ActFn fn, const Value &x, std::optional<isa::DType> dtype = {});
  Value binary(isa::AluOp alu, const Value &x, const Value &y,
               std::optional<isa::DType> dtype = {});
  Value cast(const Value &x, isa::DType dtype);
  Value reshape(const Value &x, tile::Shape shape);
  /// The elements `view`, a view of x's row-major elements, selects: a slice, and a reshape where
  /// dims were dropped.
  Value select(const Value &x, const nl::detail::View &view);

  /// Adds an effect: writes `x` to `target`, a handle of memory that is fit for it.
  void write(tile::Op op, const Value &x, const nl::detail::View &target);

  /// `axis` of `x` counted from the front; nothing after a report (T-03), which a poisoned value is
  /// spared. `more` dims may be named that x does not have.
  std::optional<int64_t> axis(int64_t axis, const Value &x, int64_t more = 0);
  /// The dtype the floats among the operands, as results, agree in.
  std::optional<isa::DType> agreement(const Value &x, const Value &y) const;
  void fault(std::string_view rule, std::string message, std::string help,
             const std::vector<Value> &operands = {});
  /// A value of this shape that stands in for one with an error.
  Value poison(tile::Shape shape, isa::DType dtype = isa::DType::Float32) const;
  nl::Tensor handle(const Value &value) const;

  /// Whether the call goes on.
  bool usable() const { return state != nullptr; }
  /// Whether `view`, of memory, can be read or written by a value; reports otherwise.
  bool admit(const nl::detail::View &view, std::string_view role);

  TraceState *state;
  const std::string function;
  const Place place;

private:
  Value load(const nl::detail::View &view);
  std::vector<DiagnosticLog::Note> notes(const std::vector<Value> &operands) const;
};

/// The dtype a value has as a result of the kernel.
isa::DType resultDType(const TraceState &state, tile::NodeId id);

/// How a graph sees a view of memory. Precondition: of an admitted tensor.
tile::View graphView(const nl::detail::View &view);

} // namespace kiln::trace

#endif // KILN_LIB_DSL_VALUES_H
