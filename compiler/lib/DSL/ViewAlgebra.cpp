//===- ViewAlgebra.cpp - slicing, reordering and regrouping strides ---------------------------===//
//
// S, T and o of the comments are shape, strides and offset of a view, primes mark the result. On
// chip dim 0 is the partition dim: its stride is not the author's to change, and its start is kept
// apart from o.
//
//===------------------------------------------------------------------------------------------===//

#include "ViewAlgebra.h"

#include <algorithm>

namespace kiln::trace {

using nl::detail::Index;
using nl::detail::View;

View wholeView(nl::Buffer buffer, nl::DType dtype, const nl::Shape &shape) {
  View view;
  view.buffer = buffer;
  view.dtype = dtype;
  view.rank = static_cast<uint8_t>(std::min(shape.size(), nl::detail::maxRank));
  int64_t stride = 1;
  for (unsigned i = view.rank; i-- > 0;) {
    view.shape[i] = shape[i];
    view.stride[i] = stride;
    stride = multiply(stride, shape[i]);
  }
  return view;
}

bool isContiguous(const View &view) {
  int64_t expected = 1;
  for (unsigned i = view.rank; i-- > (nl::is_on_chip(view.buffer) ? 1u : 0u);) {
    if (view.shape[i] == 1)
      continue;
    if (view.stride[i] != expected)
      return false;
    expected = multiply(expected, view.shape[i]);
  }
  return true;
}

//---- dims ---------------------------------------------------------------===//

std::optional<unsigned> ViewAlgebra::resolveDim(int dim, unsigned end) {
  int64_t resolved = dim < 0 ? int64_t(dim) + end : dim;
  if (resolved >= 0 && resolved < end)
    return static_cast<unsigned>(resolved);
  fault("V-01", text("dim ", dim, " is outside the ", unsigned(view.rank), " dims of ", name()),
        text("dims are numbered 0 to ", end - 1, ", or -", end, " to -1 from the end"));
  return std::nullopt;
}

std::optional<unsigned> ViewAlgebra::resolveFreeDim(int dim, unsigned end) {
  std::optional<unsigned> d = resolveDim(dim, end);
  if (!d || *d != 0 || !onChip())
    return d;
  fault("V-06", text("dim 0 of ", name(), " is the partition dim and stays in place on chip"),
        "transposing partitions is nisa::nc_transpose");
  return std::nullopt;
}

void ViewAlgebra::removeDim(unsigned d) {
  std::copy(view.shape + d + 1, view.shape + view.rank, view.shape + d);
  std::copy(view.stride + d + 1, view.stride + view.rank, view.stride + d);
  --view.rank;
  view.shape[view.rank] = view.stride[view.rank] = 0;
}

void ViewAlgebra::insertDim(unsigned d, int64_t extent, int64_t stride) {
  std::copy_backward(view.shape + d, view.shape + view.rank, view.shape + view.rank + 1);
  std::copy_backward(view.stride + d, view.stride + view.rank, view.stride + view.rank + 1);
  view.shape[d] = extent;
  view.stride[d] = stride;
  ++view.rank;
}

int64_t ViewAlgebra::extentProduct(unsigned first) const {
  int64_t n = 1;
  for (unsigned i = first; i < view.rank; ++i)
    n = multiply(n, view.shape[i]);
  return n;
}

//---- subscripts ---------------------------------------------------------===//

bool ViewAlgebra::checkMoves(unsigned d, const nl::detail::Moves &moves) {
  if (!moves.any())
    return true;
  if (!state || !state->areOpen(moves)) {
    fault(
        "C-05",
        text("an index of dim ", d, " of ", name(), " belongs to an nl::affine_for that has ended"),
        "use it inside the body of its loop only");
    return false;
  }
  if (!onChip() || d != 0)
    return true;
  fault(
      "P-08", text("the first partition of ", name(), " cannot move with a loop"),
      "let the loop move a free dim, or a dim in HBM; or write the iterations out with a C++ for");
  return false;
}

ViewAlgebra::Extremes ViewAlgebra::extremesOf(const nl::detail::Position &position) const {
  Extremes result{position.value, position.value, {}, {}};
  if (!position.moves.any())
    return result;
  std::string low, high;
  for (size_t l = 0; l < state->open.size(); ++l) {
    const int64_t step = position.moves.step[l], last = state->open[l].tripCount - 1;
    if (step == 0)
      continue;
    const int64_t way = multiply(step, last);
    int64_t &end = step < 0 ? result.low : result.high;
    if (__builtin_add_overflow(end, way, &end))
      end = way < 0 ? INT64_MIN : INT64_MAX;
    const char *separator = low.empty() ? "" : ", ";
    low += text(separator, step < 0 ? last : 0);
    high += text(separator, step < 0 ? 0 : last);
  }
  const bool isOne = low.find(',') == std::string::npos;
  result.atLow = text(isOne ? " where the index is " : " where the indices are ", low);
  result.atHigh = text(isOne ? " where the index is " : " where the indices are ", high);
  return result;
}

void ViewAlgebra::moveStart(unsigned d, const nl::detail::Position &start) {
  if (onChip() && d == 0) {
    view.partition += static_cast<uint32_t>(start.value);
    return;
  }
  view.offset += start.value * view.stride[d];
  view.moves.add(start.moves, view.stride[d]);
}

// S'_d = ceil((b - a) / s), T'_d = s * T_d, o' = o + a * T_d.
void ViewAlgebra::sliceDim(unsigned d, const nl::Slice &range) {
  subject = static_cast<int>(d);
  const int64_t extent = view.shape[d];
  nl::detail::Position start = range.start;
  const bool isMoving = start.moves.any() || range.stop.moves.any();
  int64_t stop = range.stop.open ? extent : range.stop.value;
  if (range.fromEnd && !isMoving && start.value < 0)
    start.value += extent;
  if (range.fromEnd && !isMoving && stop < 0)
    stop += extent;
  const int64_t size = stop - start.value;
  size_t before = faults.size();
  bool isClear = checkMoves(d, start.moves);
  if (isClear && !(start.moves == range.stop.moves)) {
    fault("V-02",
          text("the slice of dim ", d, " of ", name(), " has another size in each iteration"),
          "move both bounds alike, as nl::ds(start, size) does");
    isClear = false;
  }
  if (range.step < 1)
    fault("V-02",
          text("the step of a slice must be at least 1, dim ", d, " of ", name(), " is sliced by ",
               range.step),
          "use a step of at least 1; a view cannot run backwards");
  if (isClear)
    checkRange(d, start, size);
  if (onChip() && d == 0 && range.step > 1)
    fault("P-08",
          text("partitions cannot be strided, ", name(), " is sliced by ", range.step, " in dim 0"),
          "a tile covers consecutive partitions: use nisa::dma_copy, or a matmul with a selection "
          "matrix");
  int64_t step = std::max<int64_t>(range.step, 1);
  view.shape[d] = std::max<int64_t>((size + step - 1) / step, 1);
  if (faults.size() != before)
    return;
  moveStart(d, start);
  view.stride[d] = multiply(view.stride[d], step);
}

/// The slice [start, start + size) of dim d holds elements of the dim only, in every iteration.
void ViewAlgebra::checkRange(unsigned d, const nl::detail::Position &start, int64_t size) {
  const int64_t extent = view.shape[d];
  const Extremes ends = extremesOf(start);
  const bool isLow = ends.low < 0 || size <= 0;
  const int64_t first = isLow ? ends.low : ends.high;
  const std::string &where = isLow ? ends.atLow : ends.atHigh;
  auto spelled = [&] { return text("slice [", first, ", ", first + size, ")"); };
  if (size <= 0)
    fault("V-02", text(spelled(), " of dim ", d, " of ", name(), " is empty"),
          "slice takes start and end, ds start and size; skip the statement when nothing is left");
  else if (first < 0 || first >= extent)
    fault("V-01",
          text(spelled(), " is outside dim ", d, " of ", name(), " (extent ", extent, ")", where),
          where.empty() ? text("slice between 0 and ", extent)
                        : "run the loop less often, or start it elsewhere");
  else if (first > extent - size)
    fault("P-14",
          text(spelled(), " exceeds dim ", d, " of ", name(), " (extent ", extent, ")", where),
          where.empty() ? text("clip it with nl::tiles(", extent, ", ", size, ") or std::min(end, ",
                               extent, ")")
                        : "run the loop less often, and treat what is left behind it");
}

// o' = o + i * T_d; the dim stays, with extent 1.
void ViewAlgebra::selectElement(unsigned d, const nl::detail::Position &index, bool fromEnd) {
  subject = static_cast<int>(d);
  const int64_t extent = view.shape[d];
  nl::detail::Position i = index;
  if (fromEnd && !i.moves.any() && i.value < 0)
    i.value += extent;
  view.shape[d] = 1;
  if (!checkMoves(d, i.moves))
    return;
  const Extremes ends = extremesOf(i);
  if (ends.low < 0 || ends.high >= extent) {
    const bool isLow = ends.low < 0;
    const int64_t found = i.moves.any() ? (isLow ? ends.low : ends.high) : index.value;
    const std::string &where = isLow ? ends.atLow : ends.atHigh;
    return fault("V-01",
                 text("index ", found, " is outside dim ", d, " of ", name(), " (extent ", extent,
                      ")", where),
                 !where.empty() ? "run the loop less often, or start it elsewhere"
                 : extent == 1  ? std::string("use index 0")
                                : text("use 0 to ", extent - 1, ", or -", extent,
                                       " to -1 counted from the end"));
  }
  if (onChip() && d == 0)
    view.keepsPartition = true;
  moveStart(d, i);
}

void ViewAlgebra::subscript(std::span<const Index> indices, unsigned count) {
  unsigned dots = 0;
  for (const Index &i : indices)
    dots += i.kind == Index::Kind::Dots;
  if (count - dots > view.rank || count > indices.size())
    return fault(
        "V-03",
        text(count - dots, " indices for a rank-", unsigned(view.rank), " tensor, ", name()),
        text("its shape is ", tupleText({view.shape, view.rank}), ": give at most ",
             unsigned(view.rank)));
  if (dots > 1)
    return fault("V-03",
                 text("nl::dots stands once in a subscript, ", name(), " has it ", dots, " times"),
                 "write nl::_ for each of the other dims");
  std::array<bool, nl::detail::maxRank> drop{};
  unsigned d = 0;
  for (const Index &i : indices) {
    switch (i.kind) {
    case Index::Kind::Dots:
      d += view.rank - (count - 1);
      continue;
    case Index::Kind::Element:
      selectElement(d, i.range.start, i.range.fromEnd);
      drop[d] = true;
      break;
    case Index::Kind::Register:
      selectElement(d, nl::detail::RunTimeIndex(i.reg));
      drop[d] = true;
      break;
    case Index::Kind::Range:
      sliceDim(d, i.range);
      break;
    case Index::Kind::Whole:
      break;
    }
    ++d;
  }
  if (onChip())
    drop[0] = false; // A partition stays a dim.
  const unsigned smallest = onChip() ? 2 : 1;
  // Inner dims survive longest: the one that keeps the view at its smallest rank is the last.
  for (unsigned k = 0; k < view.rank && view.rank > smallest;) {
    if (!drop[k]) {
      ++k;
      continue;
    }
    removeDim(k);
    std::copy(drop.begin() + k + 1, drop.end(), drop.begin() + k);
  }
}

void ViewAlgebra::slice(int dim, const nl::Slice &range) {
  if (std::optional<unsigned> d = resolveDim(dim, view.rank))
    sliceDim(*d, range);
}

void ViewAlgebra::select(int dim, const nl::detail::Position &index) {
  std::optional<unsigned> d = resolveFreeDim(dim, view.rank);
  if (!d)
    return;
  selectElement(*d, index, /*fromEnd=*/true);
  if (view.rank > (onChip() ? 2u : 1u))
    removeDim(*d);
}

/// An index is one whole number.
void ViewAlgebra::checkIndexTensor(const View &index, std::string_view what) {
  if (index.trace == 0)
    return fault(
        "K-08",
        text("the index of ", what, " of ", name(), " is an empty handle: it names no tensor"),
        "assign it the result of nl::ndarray first");
  if (index.index != 0)
    return fault("V-12", text("the index of ", what, " of ", name(), " lies where an index says"),
                 "load it with nisa::register_alloc, and index by that register");
  int64_t elements = 1;
  for (unsigned i = 0; i < index.rank; ++i)
    elements = multiply(elements, index.shape[i]);
  if (elements == 1 && !isa::isFloat(toIsa(index.dtype)))
    return;
  fault("D-14",
        text("the index of ", what, " of ", name(), " must be one whole number, got ",
             isa::name(toIsa(index.dtype)), " ", tupleText({index.shape, index.rank})),
        elements == 1 ? "copy it to an int32 tile with nisa::tensor_copy first"
                      : "take a view of one element of it");
}

void ViewAlgebra::indexBy(const nl::detail::RunTimeIndex &index, int64_t step, int64_t extent,
                          std::string_view what) {
  if (index.isTensor)
    checkIndexTensor(index.tensor, what);
  else if (index.reg.trace() != view.trace)
    return fault("K-08",
                 text("the index of ", what, " of ", name(),
                      index.reg.trace() == 0 ? " is an empty handle: it names no register"
                                             : " is a register of another trace"),
                 "make it with nisa::register_alloc inside the kernel");
  if (view.index != 0)
    return fault("V-12", text(name(), " already lies where a register says"),
                 "a view has one index known at run time; add the registers up, or copy first");
  view.index = index.isTensor ? 1 : index.reg.number() + 1;
  view.indexIsTensor = index.isTensor;
  view.indexStep = step;
  view.indexExtent = extent;
}

void ViewAlgebra::selectElement(unsigned d, const nl::detail::RunTimeIndex &index) {
  subject = static_cast<int>(d);
  const int64_t extent = view.shape[d];
  view.shape[d] = 1;
  if (onChip() && d == 0)
    return fault("B-14", text("an index known at run time cannot choose a partition of ", name()),
                 "index a free dim, or keep the data in HBM");
  indexBy(index, view.stride[d], extent, text("dim ", d));
}

void ViewAlgebra::select(int dim, const nl::detail::RunTimeIndex &index) {
  const std::optional<unsigned> d = resolveDim(dim, view.rank);
  if (!d)
    return;
  selectElement(*d, index);
  if (view.rank > (onChip() ? 2u : 1u))
    removeDim(*d);
}

//---- order and repetition -----------------------------------------------===//

// S'_k = S_order(k), T'_k = T_order(k).
void ViewAlgebra::permute(const nl::Shape &order) {
  std::array<bool, nl::detail::maxRank> used{};
  View result = view;
  bool valid = order.size() == view.rank;
  for (unsigned k = 0; valid && k < view.rank; ++k) {
    int64_t from = order[k] < 0 ? order[k] + view.rank : order[k];
    valid = from >= 0 && from < view.rank && !used[from];
    if (!valid)
      break;
    used[from] = true;
    result.shape[k] = view.shape[from];
    result.stride[k] = view.stride[from];
  }
  if (!valid)
    return fault("V-03",
                 text("permute takes each of the ", unsigned(view.rank), " dims of ", name(),
                      " once, got ", tupleText(order)),
                 text("name the dims 0 to ", view.rank - 1, " in their new order"));
  if (onChip() && order[0] != 0 && order[0] != -int64_t(view.rank))
    fault("V-06",
          text("dim 0 of ", name(),
               " is the partition dim and stays in place on chip, permute puts dim ", order[0],
               " there"),
          "transposing partitions is nisa::nc_transpose");
  view = result;
}

// S'_d = n, T'_d = 0.
void ViewAlgebra::broadcast(int dim, int64_t size) {
  std::optional<unsigned> d = resolveFreeDim(dim, view.rank);
  if (!d)
    return;
  if (view.shape[*d] != 1)
    fault("V-07",
          text("only extent-1 dims can be broadcast, dim ", *d, " of ", name(), " has extent ",
               view.shape[*d]),
          text("take one element of it first, as in slice(", *d,
               ", 0, 1), or add a dim with "
               "expand_dim(",
               *d, ")"));
  if (size < 1)
    fault("V-02", text("broadcast of dim ", *d, " of ", name(), " to ", size, " is empty"),
          "broadcast to an extent of at least 1");
  view.shape[*d] = std::max<int64_t>(size, 1);
  view.stride[*d] = 0;
}

void ViewAlgebra::expandDim(int dim) {
  std::optional<unsigned> d = resolveFreeDim(dim, view.rank + 1u);
  if (!d)
    return;
  if (view.rank == nl::detail::maxRank)
    return fault("S-06",
                 text("expand_dim gives ", name(), " rank ", view.rank + 1, ", a view has at most ",
                      nl::detail::maxRank, " dims"),
                 "merge two dims first");
  insertDim(*d, 1, *d < view.rank ? multiply(view.stride[*d], view.shape[*d]) : 1);
}

void ViewAlgebra::squeezeDim(int dim) {
  std::optional<unsigned> d = resolveFreeDim(dim, view.rank);
  if (!d)
    return;
  if (view.shape[*d] != 1)
    return fault("V-07",
                 text("only extent-1 dims can be squeezed, dim ", *d, " of ", name(),
                      " has extent ", view.shape[*d]),
                 text("select one of its elements, as in select(", *d,
                      ", 0), or merge it with a neighbour by flatten_dims"));
  if (view.rank <= (onChip() ? 2u : 1u))
    return fault("P-02",
                 onChip() ? text("squeezing dim ", *d, " would leave ", name(),
                                 " without a free dim, on-chip tensors have at least one")
                          : text("squeezing dim ", *d, " would leave ", name(), " without a dim"),
                 "keep the dim");
  removeDim(*d);
}

//---- regrouping ---------------------------------------------------------===//

/// Replaces the one -1 by what is left of `total`. False, with a fault, for an empty or open shape.
bool ViewAlgebra::fillOpenExtent(nl::Shape &shape, int64_t total) {
  if (shape.size() == 0 || shape.size() > nl::detail::maxRank) {
    fault("S-06",
          text("a shape of ", shape.size(), " dims for ", name(), ", a view has 1 to ",
               nl::detail::maxRank),
          "merge dims that are used together");
    return false;
  }
  int open = -1;
  int64_t known = 1;
  for (unsigned i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int>(i);
    } else if (shape[i] < 1) {
      fault("V-02",
            text("extent ", shape[i], " in ", tupleText(shape), " for ", name(),
                 ": extents are at least 1, and one may be -1"),
            "use extents of at least 1");
      return false;
    } else {
      known = multiply(known, shape[i]);
    }
  }
  if (open < 0)
    return true;
  if (total % known != 0) {
    fault("V-04",
          text("the -1 in ", tupleText(shape), " has no value: ", total, " elements of ", name(),
               " are not a multiple of ", known),
          text("choose extents whose product divides ", total));
    return false;
  }
  shape[open] = total / known;
  return true;
}

/// Gives the dims from `first` on the extents `target`, keeping the row-major sequence: walks old
/// and new extents side by side, and each group of old dims that a group of new dims shares must be
/// one run. Precondition: equal products, room for the rank.
bool ViewAlgebra::regroup(unsigned first, const nl::Shape &target) {
  std::array<unsigned, nl::detail::maxRank> source{}; // old dims of more than one element
  unsigned oldCount = 0, newCount = target.size();
  for (unsigned i = first; i < view.rank; ++i)
    if (view.shape[i] != 1)
      source[oldCount++] = i;
  std::array<int64_t, nl::detail::maxRank> strides{};
  for (unsigned o = 0, n = 0; n < newCount;) {
    if (o == oldCount) { // only extents of 1 are left
      strides[n++] = 1;
      continue;
    }
    unsigned oEnd = o + 1, nEnd = n + 1;
    int64_t oldRun = view.shape[source[o]], newRun = target[n];
    while (oldRun != newRun) {
      if (newRun < oldRun)
        newRun *= target[nEnd++];
      else
        oldRun *= view.shape[source[oEnd++]];
    }
    for (unsigned k = o; k + 1 < oEnd; ++k) {
      unsigned outer = source[k], inner = source[k + 1];
      if (view.stride[outer] == multiply(view.stride[inner], view.shape[inner]))
        continue;
      fault("V-05",
            text("dims ", outer, " and ", inner, " of ", name(),
                 " are not adjacent in memory (strides ", view.stride[outer], ", ",
                 view.stride[inner], ")"),
            "copy to a fresh tile first");
      return false;
    }
    int64_t stride = view.stride[source[oEnd - 1]];
    for (unsigned k = nEnd; k-- > n;) {
      strides[k] = stride;
      stride = multiply(stride, target[k]);
    }
    o = oEnd;
    n = nEnd;
  }
  view.rank = static_cast<uint8_t>(first + newCount);
  for (unsigned k = 0; k < nl::detail::maxRank - first; ++k) {
    view.shape[first + k] = k < newCount ? target[k] : 0;
    view.stride[first + k] = k < newCount ? strides[k] : 0;
  }
  return true;
}

// T'_j = T_d * product of the extents right of j.
void ViewAlgebra::reshapeDim(int dim, nl::Shape shape) {
  std::optional<unsigned> d = resolveFreeDim(dim, view.rank);
  if (!d || !fillOpenExtent(shape, view.shape[*d]))
    return;
  int64_t product = 1;
  for (int64_t extent : shape)
    product = multiply(product, extent);
  if (product != view.shape[*d])
    return fault(
        "V-04",
        text("dim ", *d, " of ", name(), " has ", view.shape[*d], " elements, ", tupleText(shape),
             " has ", product),
        text("make the extents multiply to ", view.shape[*d], ", or write one of them as -1"));
  if (view.rank - 1 + shape.size() > nl::detail::maxRank)
    return fault("S-06",
                 text("reshape_dim gives ", name(), " rank ", view.rank - 1 + shape.size(),
                      ", a view has at most ", nl::detail::maxRank, " dims"),
                 "merge two dims first");
  int64_t stride = view.stride[*d];
  removeDim(*d);
  for (unsigned k = shape.size(); k-- > 0;) {
    insertDim(*d, shape[k], stride);
    stride = multiply(stride, shape[k]);
  }
}

// S' = product of the extents, T' = T_last.
void ViewAlgebra::flattenDims(int first, int last) {
  std::optional<unsigned> a = resolveFreeDim(first, view.rank), b = resolveDim(last, view.rank);
  if (!a || !b)
    return;
  if (*a > *b)
    return fault("V-03",
                 text("flatten_dims takes the first and the last dim, got ", first, " and ", last,
                      " of ", name()),
                 text("write flatten_dims(", last, ", ", first, ")"));
  int64_t run = 1;
  for (unsigned i = *a; i <= *b; ++i)
    run = multiply(run, view.shape[i]);
  for (unsigned k = *a; k <= *b; ++k)
    for (unsigned j = k + 1; j <= *b; ++j) {
      if (view.shape[k] == 1 || view.shape[j] == 1)
        continue;
      if (view.stride[k] != multiply(view.stride[j], view.shape[j])) {
        fault("V-05",
              text("dims ", k, " and ", j, " of ", name(), " are not adjacent in memory (strides ",
                   view.stride[k], ", ", view.stride[j], ")"),
              "copy to a fresh tile first");
        return;
      }
      break; // j is the next dim of more than one element
    }
  int64_t stride = view.stride[*b];
  for (unsigned k = *b + 1; k-- > *a;)
    if (view.shape[k] != 1) {
      stride = view.stride[k];
      break;
    }
  for (unsigned k = *b; k > *a; --k)
    removeDim(k);
  view.shape[*a] = run;
  view.stride[*a] = stride;
}

void ViewAlgebra::reshape(nl::Shape shape) {
  const unsigned first = onChip() ? 1 : 0;
  int64_t total = extentProduct(0);
  if (!fillOpenExtent(shape, total))
    return;
  const std::string old = tupleText({view.shape, view.rank});
  int64_t product = 1;
  for (int64_t extent : shape)
    product = multiply(product, extent);
  if (product != total)
    return fault("V-04",
                 text("cannot reshape ", name(), " from ", old, " to ", tupleText(shape), ": ",
                      total, " elements become ", product),
                 text("make the extents multiply to ", total, ", or write one of them as -1"));
  if (onChip() && shape.size() < 2)
    return fault("P-02",
                 text("reshape to ", tupleText(shape), " leaves ", name(),
                      " without a free dim, on-chip tensors have at least one"),
                 text("keep dim 0 and flatten the rest: reshape({", view.shape[0], ", -1})"));
  if (onChip() && shape[0] != view.shape[0])
    return fault("V-04",
                 text("reshape cannot change the partition extent of an on-chip tile: ", name(),
                      " has ", view.shape[0], ", ", tupleText(shape), " has ", shape[0]),
                 "partitions move by nisa::dma_copy or nisa::nc_transpose");
  nl::Shape target;
  for (unsigned i = first; i < shape.size(); ++i)
    target.push_back(shape[i]);
  regroup(first, target);
}

//---- dtypes and raw patterns --------------------------------------------===//

// Ratio r of the element sizes: S'_last = r * S_last, T' = r * T elsewhere, o' = r * o.
void ViewAlgebra::viewAs(nl::DType dtype) {
  const int64_t from = isa::bytesOf(toIsa(view.dtype)), to = isa::bytesOf(toIsa(dtype));
  const unsigned last = view.rank - 1u;
  std::string_view target = isa::name(toIsa(dtype));
  view.dtype = dtype;
  if (from == to)
    return;
  if (view.indexStep * from % to != 0)
    return fault("D-15",
                 text("the index of ", name(), " steps by ", view.indexStep * from,
                      " bytes, which are no whole number of ", target),
                 "view the tensor before the index is applied");
  if (to > from)
    view.indexStep = view.indexStep * from / to;
  if (view.shape[last] != 1 && view.stride[last] != 1)
    return fault("D-15",
                 text("view(", target, ") needs a contiguous last dim, dim ", last, " of ", name(),
                      " has stride ", view.stride[last]),
                 "copy to a fresh tile first");
  if (from > to) {
    const int64_t r = from / to;
    view.offset *= r;
    for (int64_t &step : view.moves.step)
      step = multiply(step, r);
    view.indexStep = multiply(view.indexStep, r);
    for (unsigned i = 0; i < view.rank; ++i)
      view.stride[i] = multiply(view.stride[i], r);
    view.shape[last] = multiply(view.shape[last], r);
    view.stride[last] = onChip() && last == 0 ? view.stride[last] : 1;
    return;
  }
  const int64_t r = to / from;
  auto whole = [&](int64_t n, std::string_view what) {
    if (n % r == 0)
      return true;
    fault("D-15",
          text(n, " elements of ", from, from == 1 ? " byte" : " bytes", " (", what, " of ", name(),
               ") are not a whole number of ", target),
          text("take a multiple of ", r, " elements"));
    return false;
  };
  if (!whole(view.shape[last], text("dim ", last)) || !whole(view.offset, "the offset"))
    return;
  for (unsigned i = onChip() ? 1 : 0; i < last; ++i)
    if (view.shape[i] != 1 && !whole(view.stride[i], text("the stride of dim ", i)))
      return;
  for (int64_t step : view.moves.step)
    if (!whole(step, "what a loop adds to the offset"))
      return;
  for (int64_t &step : view.moves.step)
    step /= r;
  view.offset /= r;
  for (unsigned i = 0; i < last; ++i)
    view.stride[i] /= r;
  view.shape[last] /= r;
  view.stride[last] = 1;
}

/// The step of a run-time offset is that of the tensor, whatever the pattern's.
void ViewAlgebra::indexStorage(const View &storage, const nl::ApOptions &options, int64_t from,
                               int64_t to) {
  const int64_t d = options.indirect_dim;
  if (d < 0 || d >= storage.rank)
    return fault(
        "V-01",
        text("indirect_dim ", d, " is outside the ", unsigned(storage.rank), " dims of ", name()),
        "name a dim of the tensor, counted from 0");
  if (onChip() && d == 0)
    return fault("B-14", text("an index known at run time cannot choose a partition of ", name()),
                 "set indirect_dim to a free dim, or keep the data in HBM");
  if (storage.stride[d] * from % to != 0)
    return fault("D-15",
                 text("an index of dim ", d, " of ", name(), " steps by ", storage.stride[d] * from,
                      " bytes, which are no whole number of elements of ", to),
                 "use a dtype whose size divides the step");
  indexBy(*options.scalar_offset, storage.stride[d] * from / to, storage.shape[d], text("dim ", d));
}

void ViewAlgebra::accessPattern(const View &storage, const nl::Pattern &pattern,
                                const nl::ApOptions &options) {
  const nl::DType dtype = options.dtype.value_or(storage.dtype);
  const int64_t from = isa::bytesOf(toIsa(storage.dtype)), to = isa::bytesOf(toIsa(dtype));
  const bool isWhole = view.offset == 0 && !view.moves.any() && view.partition == 0 &&
                       view.dtype == storage.dtype && isContiguous(view) &&
                       (!onChip() || view.shape[0] == storage.shape[0]) &&
                       extentProduct(0) == multiply(storage.shape[0], storage.stride[0]);
  if (!isWhole)
    return fault("V-16", "ap addresses the whole storage and would ignore this view",
                 text("call it on ", name(), " or use view methods"));
  if (pattern.size() > nl::detail::maxRank || pattern.empty())
    return fault("S-06",
                 text("a pattern of ", pattern.size(), " pairs for ", name(), ", a view has 1 to ",
                      nl::detail::maxRank, " dims"),
                 "merge pairs that step through neighbours");
  if (onChip() && pattern.size() < 2)
    return fault("P-02",
                 text("a pattern of 1 pair for ", name(),
                      ", on-chip tensors have a partition pair and at least one free pair"),
                 "add the pair {1, 1}");
  View result;
  result.trace = view.trace;
  result.tensor = view.tensor;
  result.buffer = view.buffer;
  result.dtype = dtype;
  result.rank = static_cast<uint8_t>(pattern.size());
  int64_t low = options.offset.value_or(0), high = low;
  for (unsigned i = 0; i < result.rank; ++i) {
    result.stride[i] = pattern[i].step.value;
    result.shape[i] = pattern[i].num.value;
    if (result.shape[i] < 1)
      return fault("V-02",
                   text("pair ", i, " of the pattern for ", name(), " counts ", result.shape[i],
                        " elements"),
                   "a pair is {step, count} with a count of at least 1");
    int64_t reach = multiply(result.stride[i], result.shape[i] - 1);
    int64_t &end = reach < 0 ? low : high;
    if ((i > 0 || !onChip()) && __builtin_add_overflow(end, reach, &end))
      return fault("V-11", text("the pattern for ", name(), " reaches past every storage"),
                   "reduce its steps or counts");
  }
  // Elements of the pattern's dtype: of one partition on chip, of the tensor in HBM.
  int64_t held = onChip() ? storage.stride[0] : extentProduct(0);
  held = held * from / to;
  view = result;
  view.offset = options.offset.value_or(0);
  if (options.scalar_offset)
    indexStorage(storage, options, from, to);
  if (!onChip()) {
    if (low < 0 || high >= held)
      fault("V-11",
            low < 0 ? text("the pattern for ", name(), " starts at element ", low)
                    : text("the pattern for ", name(), " ends at element ", high, ", ", held, " ",
                           isa::name(toIsa(dtype)), " are allocated"),
            low < 0 ? text("raise its offset by ", -low)
                    : text("the last element is ", held - 1, ": reduce the counts or the offset"));
    return;
  }
  if (view.stride[0] != held)
    return fault("V-10",
                 text("the first pair must be [", held, ", n]: every partition of ", name(),
                      " is accessed alike, got [", view.stride[0], ", ", view.shape[0], "]"),
                 text("start the pattern with {", held, ", ", view.shape[0], "}"));
  int64_t first = view.offset >= 0 ? view.offset / held : -1;
  if (first < 0 || first + view.shape[0] > storage.shape[0])
    return fault("V-11",
                 text("the pattern for ", name(), " covers partitions ", first, " to ",
                      first + view.shape[0] - 1, " of ", storage.shape[0]),
                 text("count at most ", storage.shape[0], " partitions from the offset on"));
  low -= first * held;
  high -= first * held;
  if (low < 0 || high >= held)
    return fault("V-11",
                 text("the pattern for ", name(), " reaches element ", low < 0 ? low : high,
                      " of a partition, ", held, " ", isa::name(toIsa(dtype)), " are allocated"),
                 text("stay within elements 0 to ", held - 1, " of the partition"));
  view.partition = static_cast<uint32_t>(first);
  view.offset -= first * held;
}

} // namespace kiln::trace
