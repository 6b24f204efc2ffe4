//===- Views.cpp - the methods of nl::Tensor --------------------------------------------------===//
//
// Each view method runs the algebra and reports its faults at the author's line; the poisoned
// result keeps the tracing of what follows quiet. Of a value, whose elements lie nowhere, the view
// becomes an operation that moves them.
//
//===------------------------------------------------------------------------------------------===//

#include "Movement.h"
#include "ViewAlgebra.h"

#include <algorithm>

namespace nl {
namespace {

using kiln::trace::TraceState;
using kiln::trace::ViewAlgebra;
using kiln::trace::ViewKind;

/// Runs `operation` on the view of `tensor`; `kind` is what it does to a value.
template <class Operation>
Tensor apply(const Tensor &tensor, const char *method, SrcLoc loc, ViewKind kind,
             Operation operation) {
  TraceState *state = TraceState::current();
  const detail::View &view = tensor.raw();
  if (view.trace == 0 && !view.poison) {
    // Nothing is known of an empty handle, so nothing can be said of its views.
    if (state)
      state->report({"K-08", kiln::trace::text(method, " of an empty handle: it names no tensor"),
                     "assign it the result of nl::ndarray first"},
                    loc);
    else
      kiln::trace::reportOutsideKernel(kiln::trace::text("nl::Tensor::", method), loc);
    detail::View poison;
    poison.poison = true;
    return Tensor(poison);
  }
  ViewAlgebra algebra(
      view, [&] { return state ? state->describe(view) : std::string("this tensor"); }, state);
  operation(algebra);
  for (kiln::trace::Fault &fault : algebra.faults) {
    algebra.view.poison = true;
    if (view.poison)
      break; // reported where it went wrong first
    if (state) {
      const kiln::trace::TensorRecord *record = state->find(view);
      fault.declared = record ? record->place : 0;
      state->report(fault, loc, state->partitionNote(view, state->capture(loc)));
    } else {
      kiln::trace::reportOutsideKernel(kiln::trace::text("nl::Tensor::", method), loc);
    }
  }
  if (is_value(view.buffer) && !algebra.view.poison)
    return kiln::trace::moveValue(tensor, algebra.view, kind, method, loc);
  return Tensor(algebra.view);
}

/// T-04 for a view of the bytes of a value, which has none.
std::optional<Tensor> refuseBytes(const Tensor &tensor, const char *method, SrcLoc loc) {
  TraceState *state = TraceState::current();
  if (!is_value(tensor.buffer()) || !state)
    return std::nullopt;
  detail::View poison = tensor.raw();
  poison.poison = true;
  if (!tensor.raw().poison)
    state->report({"T-04",
                   kiln::trace::text(method, " of ", state->describe(tensor.raw()),
                                     ": a value has elements, and no bytes to view"),
                   "nl::store it to a tensor declared with nl::ndarray, and view that"},
                  loc);
  return Tensor(poison);
}

} // namespace

/// `view`, which `index` places: the trace remembers a tensor that does.
static Tensor placedBy(const detail::RunTimeIndex &index, const Tensor &view) {
  TraceState *state = TraceState::current();
  if (!state || !index.isTensor || view.raw().poison)
    return view;
  detail::View numbered = view.raw();
  numbered.index = state->numberOfIndex(Tensor(index.tensor));
  return Tensor(numbered);
}

Tensor Tensor::subscript(const detail::Index *indices, unsigned count, SrcLoc loc) const {
  const std::span list(indices, std::min(count, detail::maxRank));
  if (std::ranges::any_of(
          list, [](const detail::Index &i) { return i.kind == detail::Index::Kind::Register; }))
    if (std::optional<Tensor> poison = refuseBytes(*this, "subscript by a register", loc))
      return *poison;
  return apply(*this, "subscript", loc, ViewKind::Select,
               [&](ViewAlgebra &a) { a.subscript(list, count); });
}

Tensor Tensor::slice(int dim, detail::Position start, detail::Position end, int64_t step,
                     SrcLoc loc) const {
  return apply(*this, "slice", loc, ViewKind::Select,
               [&](ViewAlgebra &a) { a.slice(dim, Slice{start, end, step, false}); });
}

Tensor Tensor::select(int dim, detail::Position index, SrcLoc loc) const {
  return apply(*this, "select", loc, ViewKind::Select,
               [&](ViewAlgebra &a) { a.select(dim, index); });
}

/// By an index known when the kernel runs; a poisoned one has been reported.
static Tensor selectAt(const Tensor &tensor, int dim, const detail::RunTimeIndex &index,
                       const char *what, SrcLoc loc) {
  if (std::optional<Tensor> poison = refuseBytes(tensor, what, loc))
    return *poison;
  const Tensor result =
      apply(tensor, "select", loc, ViewKind::Select, [&](ViewAlgebra &a) { a.select(dim, index); });
  return placedBy(index, result);
}

Tensor Tensor::select(int dim, const Reg &index, SrcLoc loc) const {
  return selectAt(*this, dim, index, "select by a register", loc);
}

Tensor Tensor::select(int dim, const Tensor &index, SrcLoc loc) const {
  return selectAt(*this, dim, index, "select by a tensor", loc);
}

Tensor Tensor::permute(const Shape &order, SrcLoc loc) const {
  if (is_value(view_.buffer) && !view_.poison && order.size() == view_.rank)
    return transpose(*this, order, loc);
  return apply(*this, "permute", loc, ViewKind::Regroup, [&](ViewAlgebra &a) { a.permute(order); });
}

Tensor Tensor::broadcast(int dim, int64_t size, SrcLoc loc) const {
  return apply(*this, "broadcast", loc, ViewKind::Repeat,
               [&](ViewAlgebra &a) { a.broadcast(dim, size); });
}

Tensor Tensor::expand_dim(int dim, SrcLoc loc) const {
  return apply(*this, "expand_dim", loc, ViewKind::Regroup,
               [&](ViewAlgebra &a) { a.expandDim(dim); });
}

Tensor Tensor::squeeze_dim(int dim, SrcLoc loc) const {
  return apply(*this, "squeeze_dim", loc, ViewKind::Regroup,
               [&](ViewAlgebra &a) { a.squeezeDim(dim); });
}

Tensor Tensor::reshape_dim(int dim, const Shape &shape, SrcLoc loc) const {
  return apply(*this, "reshape_dim", loc, ViewKind::Regroup,
               [&](ViewAlgebra &a) { a.reshapeDim(dim, shape); });
}

Tensor Tensor::flatten_dims(int first, int last, SrcLoc loc) const {
  return apply(*this, "flatten_dims", loc, ViewKind::Regroup,
               [&](ViewAlgebra &a) { a.flattenDims(first, last); });
}

Tensor Tensor::reshape(const Shape &shape, SrcLoc loc) const {
  return apply(*this, "reshape", loc, ViewKind::Regroup, [&](ViewAlgebra &a) { a.reshape(shape); });
}

Tensor Tensor::view(DType dtype, SrcLoc loc) const {
  if (std::optional<Tensor> poison = refuseBytes(*this, "view", loc))
    return *poison;
  return apply(*this, "view", loc, ViewKind::Regroup, [&](ViewAlgebra &a) { a.viewAs(dtype); });
}

Tensor Tensor::ap(const Pattern &pattern, const ApOptions &options, SrcLoc loc) const {
  if (std::optional<Tensor> poison = refuseBytes(*this, "ap", loc))
    return *poison;
  const Tensor result = apply(*this, "ap", loc, ViewKind::Regroup, [&](ViewAlgebra &a) {
    TraceState *state = TraceState::current();
    const kiln::trace::TensorRecord *record = state ? state->find(view_) : nullptr;
    // A poisoned or foreign tensor has been, or will be, reported where an instruction uses it.
    if (record)
      a.accessPattern(kiln::trace::wholeView(record->buffer, record->dtype, record->shape), pattern,
                      options);
  });
  return options.scalar_offset ? placedBy(*options.scalar_offset, result) : result;
}

//---- questions ----------------------------------------------------------===//

int64_t Tensor::dim(int i, SrcLoc loc) const {
  int64_t d = i < 0 ? int64_t(i) + view_.rank : i;
  if (d >= 0 && d < view_.rank)
    return view_.shape[d];
  if (TraceState *state = TraceState::current())
    state->fatal({"V-01",
                  kiln::trace::text("dim ", i, " is outside the ", unsigned(view_.rank),
                                    " dims of ", state->describe(view_)),
                  kiln::trace::text("its shape is ", kiln::trace::tupleText(shape()))},
                 loc);
  kiln::trace::reportOutsideKernel("nl::Tensor::dim", loc);
  return 1;
}

void Tensor::requireRank(unsigned rank, SrcLoc loc) const {
  if (view_.rank == rank)
    return;
  if (TraceState *state = TraceState::current()) {
    const kiln::trace::TensorRecord *record = state->find(view_);
    const bool isWhole = !record || record->shape == shape();
    state->fatal({"K-10",
                  kiln::trace::text(isWhole ? "" : "this view of ", state->describe(view_), " is ",
                                    kiln::trace::tupleText(shape()), " ",
                                    kiln::isa::name(kiln::trace::toIsa(view_.dtype)),
                                    ", expected rank ", rank),
                  "pass a tensor of that rank, or reshape it"},
                 loc, state->partitionNote(view_, state->capture(loc)));
  }
  kiln::trace::reportOutsideKernel("nl::Tensor::dims", loc);
}

std::string Tensor::name() const {
  TraceState *state = TraceState::current();
  const kiln::trace::TensorRecord *record = state ? state->find(view_) : nullptr;
  return record ? record->name : std::string();
}

std::vector<std::pair<int64_t, int64_t>> Tensor::get_pattern() const {
  std::vector<std::pair<int64_t, int64_t>> pattern;
  for (unsigned i = 0; i < view_.rank; ++i)
    pattern.push_back({view_.stride[i], view_.shape[i]});
  return pattern;
}

bool Tensor::is_contiguous() const { return kiln::trace::isContiguous(view_); }

} // namespace nl
