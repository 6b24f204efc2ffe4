//===- view_algebra.cpp - every way to make a view --------------------------------------------===//
//
// One kernel: view number `which` of x, in HBM or of a tile that was loaded from it, copied to a
// result of its shape. view_algebra.py has the same list in NumPy.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

#include <cstdio>
#include <functional>

using nl::_, nl::ds, nl::Tensor;

namespace {

/// In the order of view_algebra.py; x has 4x6x8 elements.
const std::function<Tensor(Tensor)> views[] = {
    [](Tensor t) { return t(nl::dots, nl::slice(1, 8, 3)); },
    [](Tensor t) { return t(ds(1, 2), nl::slice(-4, _), nl::slice(_, -1, 2)); },
    [](Tensor t) { return t(_, 2); },
    [](Tensor t) { return t(_, -1, 5); },
    [](Tensor t) { return t(2); },
    [](Tensor t) { return t(0, 0, 7); },
    [](Tensor t) { return t.slice(1, 1, 6, 2); },
    [](Tensor t) { return t.select(1, 3); },
    [](Tensor t) { return t.select(2, 0); },
    [](Tensor t) { return t.permute({0, 2, 1}); },
    [](Tensor t) { return t(_, ds(2, 1), _).broadcast(1, 5); },
    [](Tensor t) { return t.expand_dim(1); },
    [](Tensor t) { return t.expand_dim(3); },
    [](Tensor t) { return t(_, ds(5, 1), _).squeeze_dim(1); },
    [](Tensor t) { return t.reshape_dim(2, {2, -1}); },
    [](Tensor t) { return t.reshape_dim(1, {3, 2}).permute({0, 2, 1, 3}); },
    [](Tensor t) { return t.flatten_dims(1, 2); },
    [](Tensor t) { return t.reshape({4, 3, 16}); },
    [](Tensor t) { return t(_, nl::slice(0, 6, 2), _).reshape({4, 3, 2, 4}); },
    [](Tensor t) { return t.view(nl::int32); },
    [](Tensor t) { return t(_, ds(1, 3), _).view(nl::uint8); },
    [](Tensor t) { return t.ap({{48, 3}, {1, 5}, {9, 4}}, {.offset = 7}); },
    [](Tensor t) { return t.ap({{48, 4}, {0, 2}, {8, 6}}); },
    [](Tensor t) { return t(_, _, nl::slice(0, 8, 2))(_, ds(1, 4), nl::slice(1, 4, 2)); },
    // On chip these move or repeat the partition dim, which is refused.
    [](Tensor t) { return t.permute({1, 0, 2}); },
    [](Tensor t) { return t(nl::slice(0, 4, 2)); },
    [](Tensor t) { return t.reshape({24, 8}); },
    [](Tensor t) { return t.flatten_dims(0, 1); },
    [](Tensor t) { return t(ds(1, 1)).broadcast(0, 3); },
    [](Tensor t) { return t.expand_dim(0); },
    [](Tensor t) { return t.select(0, 1); },
    [](Tensor t) { return t.reshape_dim(0, {2, 2}); },
    [](Tensor t) { return t.ap({{96, 2}, {1, 8}}); },
    // Refused everywhere.
    [](Tensor t) { return t(_, 6); },
    [](Tensor t) { return t(_, nl::slice(3, 3)); },
    [](Tensor t) { return t(_, nl::slice(0, 6, 0)); },
    [](Tensor t) { return t(_, _, ds(5, 4)); },
    [](Tensor t) { return t(0, 0, 0, 0); },
    [](Tensor t) { return t.reshape({4, 50}); },
    [](Tensor t) { return t.permute({0, 2, 1}).flatten_dims(1, 2); },
    [](Tensor t) { return t.permute({0, 2, 1}).reshape({4, 48}); },
    [](Tensor t) { return t.broadcast(1, 2); },
    [](Tensor t) { return t.squeeze_dim(1); },
    [](Tensor t) { return t.permute({0, 1}); },
    [](Tensor t) { return t.ap({{48, 4}, {1, 49}}, {.offset = 0}); },
    [](Tensor t) { return t(_, ds(0, 2), _).ap({{48, 4}, {1, 8}}); },
    [](Tensor t) { return t.permute({0, 2, 1}).view(nl::uint8); },
    [](Tensor t) { return t.select(1, 6); },
    [](Tensor t) { return t.reshape({2, 2, 2, 3, 2, 4}); },
};

} // namespace

Tensor view_of(Tensor x, int which, bool is_on_chip) {
  const Tensor view = views[which](is_on_chip ? nl::load(x) : x);
  std::printf("contiguous %d pattern", view.is_contiguous());
  for (const auto &[stride, extent] : view.get_pattern())
    std::printf(" %d,%d", static_cast<int>(stride), static_cast<int>(extent));
  std::printf("\n");
  Tensor y = nl::ndarray(view.shape(), view.dtype(), nl::shared_hbm);
  nisa::dma_copy(y, view);
  return y;
}
NL_KERNEL(view_of, "x", "which", "is_on_chip")
