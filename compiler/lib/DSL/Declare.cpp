//===- Declare.cpp - nl::ndarray --------------------------------------------------------------===//

#include "TraceState.h"
#include "ViewAlgebra.h"

#include <algorithm>

namespace nl {
namespace {

using kiln::trace::Fault;
using kiln::trace::Place;
using kiln::trace::text;
using kiln::trace::TraceState;
namespace isa = kiln::isa;

/// Names stand in IR, assembler text and reports, which spell them without quotes.
bool isLegalName(const std::string &name) {
  auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !name.empty() && (name[0] < '0' || name[0] > '9') && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), legal);
}

/// The name the tensor gets: the wished one, or none after a report.
std::string checkedName(TraceState &state, const std::string &wish, Place place) {
  if (wish.empty())
    return {};
  if (!isLegalName(wish)) {
    state.log.report({"M-13",
                      text("name '", wish,
                           "' is not made of letters, digits, '_' and '.', a letter or '_' first"),
                      "rename the tensor"},
                     place);
    return {};
  }
  auto taken = state.names.find(wish);
  if (taken == state.names.end())
    return wish;
  const kiln::trace::TensorRecord &other = state.tensors[taken->second];
  unsigned line = state.locations.chain(other.place).front().line;
  state.log.report({"M-13", text("name '", wish, "' is already used at line ", line),
                    "leave the name out, or add the loop index to it"},
                   place, {{text("'", wish, "' is ", state.declaration(other)), other.place}});
  return {};
}

/// A handle of the declared shape that stands in for a tensor with an error.
Tensor poisoned(const Shape &shape, DType dtype, Buffer buffer) {
  Shape sane;
  for (int64_t extent : shape)
    sane.push_back(std::max<int64_t>(extent, 1));
  detail::View view = kiln::trace::wholeView(buffer, dtype, sane);
  view.poison = true;
  return Tensor(view);
}

} // namespace

Tensor ndarray(const Shape &shape, DType dtype, Buffer buffer, const NdarrayOptions &options,
               SrcLoc loc) {
  TraceState *state = TraceState::current();
  if (!state) {
    kiln::trace::reportOutsideKernel("nl::ndarray", loc);
    return poisoned(shape, dtype, buffer);
  }
  Place place = state->capture(loc);
  state->countStatement();
  if (is_value(buffer)) {
    state->log.report({"T-04", "nl::ndarray declares memory, and a value is not memory",
                       "choose nl::sbuf, nl::psum, nl::hbm or nl::shared_hbm"},
                      place);
    return poisoned(shape, dtype, sbuf);
  }
  // The shape keeps five extents; checkTensor is to see how many were written.
  std::vector<int64_t> extents(shape.begin(), shape.end());
  extents.resize(shape.size(), 1);

  isa::TensorView view;
  view.name = options.name;
  view.memory = kiln::trace::toIsa(buffer);
  view.dtype = kiln::trace::toIsa(dtype);
  view.shape = extents;
  std::optional<isa::TensorAddress> address;
  bool legal = true;
  if (options.address) {
    const Address &a = *options.address;
    if (a.partition < 0 || a.partition > UINT32_MAX || a.byte < 0) {
      state->log.report({a.byte < 0 ? "M-03" : "M-07",
                         text("address {", a.partition, ", ", a.byte,
                              "} is outside the memory: partition and byte are at least 0"),
                         "leave the address out to let the compiler place the tile"},
                        place);
      legal = false;
    } else {
      address =
          isa::TensorAddress{static_cast<uint32_t>(a.partition), static_cast<uint64_t>(a.byte)};
    }
  }
  int subject = 0;
  legal &= isa::checkTensor(view, address, [&](isa::Violation v) {
    state->log.report({v.rule, std::move(v.message), std::move(v.help), subject++}, place);
  });
  std::string name = checkedName(*state, options.name, place);
  if (!legal)
    return poisoned(shape, dtype, buffer);

  kiln::trace::TensorRecord record;
  record.name = std::move(name);
  record.buffer = buffer;
  record.dtype = dtype;
  record.shape = shape;
  record.address = options.address;
  record.place = place;
  return state->declare(std::move(record));
}

} // namespace nl
