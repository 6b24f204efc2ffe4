//===- ViewAlgebraTest.cpp - views against a model that lists elements ------------------------===//
//
// The model of a view is its shape and the list of storage elements in row-major order. Each
// operation is done on the strides and on the list; afterwards both must name the same elements in
// the same order, and so must the access the view folds into.
//
//===------------------------------------------------------------------------------------------===//

#include "ViewAlgebra.h"
#include "Fold.h"

#include <gtest/gtest.h>

#include <random>

namespace kiln::trace {
namespace {

using nl::detail::Index;
using nl::detail::View;

/// Shape and storage elements; on chip an element is partition * elements of a partition + element.
struct Model {
  std::vector<int64_t> shape;
  std::vector<int64_t> elements;

  int64_t at(const std::vector<int64_t> &index) const {
    int64_t flat = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      flat = flat * shape[i] + index[i];
    return elements[flat];
  }
};

/// Calls `body` for every index of `shape`, row-major.
template <class Body>
void forEachIndex(const std::vector<int64_t> &shape, Body body) {
  int64_t count = 1;
  for (int64_t n : shape)
    count *= n;
  std::vector<int64_t> index(shape.size());
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (size_t i = shape.size(); i-- > 0;) {
      index[i] = rest % shape[i];
      rest /= shape[i];
    }
    body(index);
  }
}

/// The model of shape `shape` whose element at `index` is `model.at(map(index))`.
template <class Map>
Model remap(const Model &model, std::vector<int64_t> shape, Map map) {
  Model result{std::move(shape), {}};
  forEachIndex(result.shape,
               [&](const std::vector<int64_t> &i) { result.elements.push_back(model.at(map(i))); });
  return result;
}

Model modelOf(const View &view) {
  Model m{{view.shape, view.shape + view.rank}, {}};
  int64_t base =
      view.offset + (nl::is_on_chip(view.buffer) ? int64_t(view.partition) * view.stride[0] : 0);
  forEachIndex(m.shape, [&](const std::vector<int64_t> &index) {
    int64_t e = base;
    for (unsigned i = 0; i < view.rank; ++i)
      e += index[i] * view.stride[i];
    m.elements.push_back(e);
  });
  return m;
}

/// Whether some strides name the model's elements.
bool isStrided(const Model &m) {
  std::vector<int64_t> stride(m.shape.size());
  for (size_t d = 0; d < m.shape.size(); ++d) {
    std::vector<int64_t> next(m.shape.size());
    next[d] = m.shape[d] > 1;
    stride[d] = m.at(next) - m.elements[0];
  }
  bool all = true;
  forEachIndex(m.shape, [&](const std::vector<int64_t> &index) {
    int64_t e = m.elements[0];
    for (size_t d = 0; d < index.size(); ++d)
      e += stride[d] * index[d];
    all &= e == m.at(index);
  });
  return all;
}

/// The elements of an access, in its order.
std::vector<int64_t> elementsOf(const isa::Access &a, bool onChip, int64_t partitionElements) {
  std::vector<int64_t> out;
  std::vector<int64_t> shape{a.partitionCount};
  for (unsigned i = 0; i < a.rank; ++i)
    shape.push_back(a.num[i]);
  forEachIndex(shape, [&](const std::vector<int64_t> &index) {
    int64_t e = a.offset +
                (onChip ? (a.partitionStart + index[0]) * partitionElements : index[0] * a.rowStep);
    for (unsigned i = 0; i < a.rank; ++i)
      e += index[i + 1] * a.step[i];
    out.push_back(e);
  });
  return out;
}

class RandomViews : public testing::TestWithParam<nl::Buffer> {
protected:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  View start() {
    const bool onChip = nl::is_on_chip(GetParam());
    nl::Shape shape;
    unsigned rank = pick(onChip ? 2 : 1, 4);
    for (unsigned i = 0; i < rank; ++i)
      shape.push_back(pick(1, i == 0 ? 8 : 5));
    return wholeView(GetParam(), nl::float32, shape);
  }

  /// One random operation on both; returns what it was.
  std::string step(ViewAlgebra &a, Model &m) {
    const bool onChip = nl::is_on_chip(GetParam());
    const unsigned rank = m.shape.size(), firstFree = onChip ? 1 : 0;
    switch (pick(0, 8)) {
    case 0: { // slice
      unsigned d = pick(0, rank - 1);
      int64_t n = m.shape[d], from = pick(0, n - 1), to = pick(from + 1, n),
              by = onChip && d == 0 ? 1 : pick(1, 3);
      a.slice(d, nl::Slice{from, to, by, false});
      std::vector<int64_t> shape = m.shape;
      shape[d] = (to - from + by - 1) / by;
      m = remap(m, shape, [&](std::vector<int64_t> i) { return i[d] = from + i[d] * by, i; });
      return "slice";
    }
    case 1: { // select
      if (rank <= (onChip ? 2u : 1u))
        return "";
      unsigned d = pick(firstFree, rank - 1);
      int64_t at = pick(0, m.shape[d] - 1);
      a.select(d, at);
      std::vector<int64_t> shape = m.shape;
      shape.erase(shape.begin() + d);
      m = remap(m, shape, [&](std::vector<int64_t> i) { return i.insert(i.begin() + d, at), i; });
      return "select";
    }
    case 2: { // permute
      std::vector<int64_t> order(rank);
      for (unsigned i = 0; i < rank; ++i)
        order[i] = i;
      std::shuffle(order.begin() + firstFree, order.end(), random);
      a.permute(order);
      std::vector<int64_t> shape;
      for (int64_t d : order)
        shape.push_back(m.shape[d]);
      m = remap(m, shape, [&](const std::vector<int64_t> &i) {
        std::vector<int64_t> source(rank);
        for (unsigned k = 0; k < rank; ++k)
          source[order[k]] = i[k];
        return source;
      });
      return "permute";
    }
    case 3: { // expand_dim, then broadcast
      if (rank == nl::detail::maxRank)
        return "";
      unsigned d = pick(firstFree, rank);
      int64_t n = pick(1, 3);
      a.expandDim(d);
      a.broadcast(d, n);
      std::vector<int64_t> shape = m.shape;
      shape.insert(shape.begin() + d, n);
      m = remap(m, shape, [&](std::vector<int64_t> i) { return i.erase(i.begin() + d), i; });
      return "expand_dim, broadcast";
    }
    case 4: { // squeeze_dim
      for (unsigned d = firstFree; d < rank; ++d)
        if (m.shape[d] == 1 && rank > (onChip ? 2u : 1u)) {
          a.squeezeDim(d);
          m.shape.erase(m.shape.begin() + d);
          return "squeeze_dim";
        }
      return "";
    }
    case 5: { // reshape_dim
      unsigned d = pick(firstFree, rank - 1);
      if (d >= rank || rank == nl::detail::maxRank)
        return "";
      int64_t n = m.shape[d], outer = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 1;
      a.reshapeDim(d, pick(0, 1) ? nl::Shape{outer, n / outer} : nl::Shape{outer, -1});
      m.shape[d] = n / outer;
      m.shape.insert(m.shape.begin() + d, outer);
      return "reshape_dim";
    }
    case 6: { // flatten_dims, legal or refused
      if (rank < firstFree + 2)
        return "";
      unsigned first = pick(firstFree, rank - 2), last = pick(first, rank - 1);
      return regroup(
          a, m, [&] { a.flattenDims(first, last); },
          [&](Model &w) {
            int64_t n = 1;
            for (unsigned i = first; i <= last; ++i)
              n *= w.shape[i];
            w.shape.erase(w.shape.begin() + first, w.shape.begin() + last);
            w.shape[first] = n;
          });
    }
    case 7: { // reshape the free dims to one, legal or refused
      int64_t n = 1;
      for (unsigned i = 1; i < rank; ++i)
        n *= m.shape[i];
      nl::Shape target{m.shape[0], n};
      return regroup(
          a, m, [&] { a.reshape(target); }, [&](Model &w) { w.shape = {w.shape[0], n}; });
    }
    default: { // subscripts of every kind
      std::vector<Index> list;
      std::vector<int64_t> shape;
      std::vector<std::pair<int64_t, bool>> base; // start, kept
      for (unsigned d = 0; d < rank; ++d) {
        int64_t n = m.shape[d];
        if (pick(0, 2) == 0) {
          int64_t at = pick(0, n - 1);
          list.push_back(pick(0, 1) ? Index(at) : Index(at - n));
          base.push_back({at, false});
        } else {
          int64_t from = pick(0, n - 1), size = pick(1, n - from);
          list.push_back(nl::ds(from, size));
          base.push_back({from, true});
          shape.push_back(size);
        }
      }
      // On chip dim 0 stays, and one more; in HBM one dim stays.
      unsigned kept = shape.size();
      auto keep = [&](unsigned d) {
        if (base[d].second)
          return;
        base[d].second = true;
        ++kept;
      };
      if (onChip)
        keep(0);
      if (kept < (onChip ? 2u : 1u))
        keep(rank - 1);
      shape.clear();
      for (unsigned d = 0; d < rank; ++d)
        if (base[d].second)
          shape.push_back(list[d].kind == Index::Kind::Range
                              ? list[d].range.stop.value - list[d].range.start.value
                              : 1);
      a.subscript(list, list.size());
      m = remap(m, shape, [&](const std::vector<int64_t> &i) {
        std::vector<int64_t> source;
        unsigned k = 0;
        for (unsigned d = 0; d < rank; ++d)
          source.push_back(base[d].first + (base[d].second ? i[k++] : 0));
        return source;
      });
      return "subscript";
    }
    }
  }

  /// A regrouping is refused exactly when no strides describe the list of elements.
  template <class Operation, class Change>
  std::string regroup(ViewAlgebra &a, Model &m, Operation operation, Change change) {
    Model wanted = m;
    change(wanted);
    operation();
    EXPECT_EQ(a.faults.empty(), isStrided(wanted));
    if (!a.faults.empty()) {
      EXPECT_EQ(a.faults.front().rule, "V-05");
      a.faults.clear();
      return "refused";
    }
    m = wanted;
    return "regrouped";
  }

  std::mt19937 random{20250301};
};

TEST_P(RandomViews, NameTheElementsOfTheModelInOrder) {
  const bool onChip = nl::is_on_chip(GetParam());
  int operations = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    View whole = start();
    ViewAlgebra algebra(whole, [] { return std::string("'t'"); });
    Model model = modelOf(whole);
    std::string history;
    for (int64_t n = pick(1, 5); n > 0; --n) {
      std::string done = step(algebra, model);
      operations += !done.empty();
      refused += done == "refused";
      history += done + "; ";
      ASSERT_TRUE(algebra.faults.empty()) << history << algebra.faults.front().message;
      if (model.elements.size() > 4000)
        break;
    }
    const View &view = algebra.view;
    Model found = modelOf(view);
    ASSERT_EQ(found.shape, model.shape) << history;
    ASSERT_EQ(found.elements, model.elements) << history;
    for (FreeDims mode : {FreeDims::Merge, FreeDims::Keep}) {
      isa::Access access = foldView(view, 0, mode);
      ASSERT_EQ(elementsOf(access, onChip, whole.stride[0]), model.elements) << history;
      ASSERT_GE(access.rank, 1);
      if (mode == FreeDims::Keep && view.rank > 1) {
        ASSERT_EQ(access.rank, view.rank - 1) << history;
      }
    }
    if (!onChip) {
      for (int64_t rows : {1, 2, 3, 4, 8, int(pick(1, 40))}) {
        ASSERT_EQ(elementsOf(foldRows(view, 0, rows), false, 0), model.elements)
            << history << rows << " rows";
      }
    }
    // Contiguous means what it says: each element follows the one before, inside a partition on
    // chip.
    bool follows = true;
    int64_t row = onChip ? model.elements.size() / model.shape[0] : model.elements.size();
    for (size_t i = 1; i < model.elements.size(); ++i)
      if (int64_t(i) % row != 0)
        follows &= model.elements[i] == model.elements[i - 1] + 1;
    ASSERT_EQ(isContiguous(view), follows) << history;
  }
  // The walk must reach the interesting cases.
  EXPECT_GT(operations, 5000);
  EXPECT_GT(refused, 50);
}

INSTANTIATE_TEST_SUITE_P(Memories, RandomViews, testing::Values(nl::sbuf, nl::psum, nl::shared_hbm),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

/// V-05 must not refuse what strides can say: every regrouping of a contiguous tensor is legal.
TEST(ViewAlgebra, RegroupsContiguousDimsIntoAnyShape) {
  const std::vector<nl::Shape> shapes = {{24},    {2, 12}, {12, 2},         {2, 3, 4},
                                         {1, 24}, {24, 1}, {2, 1, 3, 1, 4}, {3, 2, 2, 2}};
  for (const nl::Shape &from : shapes)
    for (const nl::Shape &to : shapes) {
      ViewAlgebra a(wholeView(nl::hbm, nl::float32, from), [] { return std::string("'t'"); });
      a.reshape(to);
      ASSERT_TRUE(a.faults.empty()) << tupleText(from) << tupleText(to) << a.faults.front().message;
      Model m = modelOf(a.view);
      for (int64_t i = 0; i < 24; ++i)
        ASSERT_EQ(m.elements[i], i);
    }
}

/// Reading as another dtype keeps the bytes: element e of size s covers bytes [e * s, (e + 1) * s).
TEST(ViewAlgebra, ReadsTheSameBytesAsAnotherDtype) {
  const nl::DType dtypes[] = {nl::float32, nl::bfloat16, nl::float16, nl::int32, nl::uint8};
  auto bytes = [](const View &view) {
    std::vector<int64_t> out;
    int64_t size = isa::bytesOf(toIsa(view.dtype));
    for (int64_t e : modelOf(view).elements)
      for (int64_t b = 0; b < size; ++b)
        out.push_back(e * size + b);
    return out;
  };
  for (nl::Buffer buffer : {nl::sbuf, nl::hbm})
    for (nl::DType from : dtypes)
      for (nl::DType to : dtypes)
        for (int64_t skip : {0, 1, 2, 4, 8}) {
          ViewAlgebra a(wholeView(buffer, from, {4, 6, 16}), [] { return std::string("'t'"); });
          a.slice(2, nl::Slice{skip, 16, 1, false});
          a.slice(0, nl::Slice{1, 3, 1, false});
          std::vector<int64_t> before = bytes(a.view);
          a.viewAs(to);
          // Strides 16 and 96 divide by every ratio of sizes; the skipped elements decide.
          int64_t ratio = std::max<int64_t>(1, isa::bytesOf(toIsa(to)) / isa::bytesOf(toIsa(from)));
          ASSERT_EQ(a.faults.empty(), skip % ratio == 0)
              << isa::name(toIsa(from)) << isa::name(toIsa(to)) << skip;
          if (!a.faults.empty()) {
            EXPECT_EQ(a.faults.front().rule, "D-15");
            continue;
          }
          EXPECT_EQ(a.view.dtype, to);
          EXPECT_EQ(bytes(a.view), before);
        }
}

TEST(ViewAlgebra, RawPatternsNameElementsOfTheStorage) {
  View hbm = wholeView(nl::hbm, nl::float32, {8, 16});
  ViewAlgebra rows(hbm, [] { return std::string("'x'"); });
  rows.accessPattern(hbm, {{0, 4}, {1, 16}}, {.offset = 16});
  ASSERT_TRUE(rows.faults.empty());
  EXPECT_EQ(modelOf(rows.view).shape, (std::vector<int64_t>{4, 16}));
  EXPECT_EQ(modelOf(rows.view).at({3, 5}), 21);

  View chip = wholeView(nl::sbuf, nl::int32, {64, 4, 8});
  ViewAlgebra part(chip, [] { return std::string("'t'"); });
  part.accessPattern(chip, {{64, 32}, {16, 2}, {1, 4}},
                     {.offset = 32 * 64 + 3, .dtype = nl::bfloat16});
  ASSERT_TRUE(part.faults.empty()) << part.faults.front().message;
  EXPECT_EQ(part.view.partition, 32u);
  EXPECT_EQ(part.view.offset, 3);
  EXPECT_EQ(part.view.dtype, nl::bfloat16);
}

//---- merging ------------------------------------------------------------===//

TEST(FoldView, MergesDimsThatLieSideBySide) {
  isa::Access a = foldView(wholeView(nl::sbuf, nl::float32, {128, 4, 8, 16}), 7);
  EXPECT_EQ(a.tensor, 7u);
  EXPECT_EQ(a.rank, 1);
  EXPECT_EQ(a.step[0], 1);
  EXPECT_EQ(a.num[0], 512);
  EXPECT_EQ(a.partitionCount, 128u);
  EXPECT_EQ(a.rowStep, 0);
}

TEST(FoldView, KeepsDimsApartThatWouldOutgrowAPattern) {
  // 65535 elements are one dim; 65536 do not fit the 16-bit count.
  EXPECT_EQ(foldView(wholeView(nl::sbuf, nl::uint8, {1, 3, 21845}), 0).rank, 1);
  EXPECT_EQ(foldView(wholeView(nl::sbuf, nl::uint8, {1, 2, 32768}), 0).rank, 2);
  EXPECT_EQ(foldView(wholeView(nl::hbm, nl::uint8, {1, 2, 32768}), 0).rank, 1);
}

TEST(FoldView, GivesOneElementASpellingOfItsOwn) {
  ViewAlgebra a(wholeView(nl::sbuf, nl::float32, {128, 512}), [] { return std::string(); });
  a.subscript(std::array{Index(nl::whole), Index(5)}, 2);
  isa::Access access = foldView(a.view, 0);
  EXPECT_EQ(access.rank, 1);
  EXPECT_EQ(access.step[0], 1);
  EXPECT_EQ(access.num[0], 1);
  EXPECT_EQ(access.offset, 5);
}

TEST(FoldRows, CutsAOneDimensionalTensorIntoTheRowsOfItsPartner) {
  View v = wholeView(nl::hbm, nl::float32, {1024});
  isa::Access column = foldRows(v, 0, 128);
  EXPECT_EQ(column.partitionCount, 128u);
  EXPECT_EQ(column.rowStep, 8);
  EXPECT_EQ(column.num[0], 8);
  isa::Access row = foldRows(v, 0, 1);
  EXPECT_EQ(row.partitionCount, 1u);
  EXPECT_EQ(row.num[0], 1024);
  // 1000 elements are no whole rows of 128: left as they are.
  isa::Access odd = foldRows(wholeView(nl::hbm, nl::float32, {1000}), 0, 128);
  EXPECT_EQ(odd.partitionCount, 1u);
  EXPECT_EQ(odd.num[0], 1000);
}

} // namespace
} // namespace kiln::trace
