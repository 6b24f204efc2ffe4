//===- device_loops.cpp - reported faults about loops and addresses the run decides -----------===//

#include "nl/nl.h"

using nl::_, nl::ds, nl::Reg, nl::Tensor;

namespace {
Tensor stored(const Reg &reg) {
  Tensor y = nl::ndarray({1, 1}, nl::int32, nl::shared_hbm), t = nl::ndarray({1, 1}, nl::int32);
  nisa::register_store(t, reg);
  nl::store(y, t);
  return y;
}
} // namespace

/// The sum of the numbers of n iterations.
Tensor sum_of_counter(Tensor n) {
  Reg sum = nisa::register_alloc(0);
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) { nisa::register_move(sum, sum + i); });
  return stored(sum);
}
NL_KERNEL(sum_of_counter);

/// Iterations until a counter from n reaches 0.
Tensor count_down(Tensor n) {
  Reg left = nisa::register_alloc(n), count = nisa::register_alloc(0);
  nl::while_loop(left, [&](Reg) {
    nisa::register_move(count, count + 1);
    nisa::register_move(left, left - 1);
    return left;
  });
  return stored(count);
}
NL_KERNEL(count_down);

/// Writes the counter of its loop.
Tensor skips_by_hand(Tensor n) {
  Reg sum = nisa::register_alloc(0);
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) {
    nisa::register_move(i, i + 1); // has no effect on the loop
    nisa::register_move(sum, sum + i);
  });
  return stored(sum);
}
NL_KERNEL(skips_by_hand);

/// Two rows of two elements from column n on of a 4 x 4 tile, by DMA.
Tensor corner_of_tile(Tensor x, Tensor n) {
  Tensor y = nl::ndarray({2, 2}, x.dtype(), nl::shared_hbm);
  Tensor tile = nl::load(x);
  Reg column = nisa::register_alloc(n);
  nisa::dma_copy(y, tile.ap({{4, 2}, {1, 2}}, {.scalar_offset = column, .indirect_dim = 1}));
  return y;
}
NL_KERNEL(corner_of_tile);

/// Uses a register behind the loop that made it, which may not have run.
Tensor stale_register(Tensor n) {
  Reg made;
  nl::if_(nisa::register_alloc(n), [&] { made = nisa::register_alloc(7); });
  return stored(made); // behind its loop
}
NL_KERNEL(stale_register);

/// The same with a counter, and with a view that such a register places.
Tensor stale_counter(Tensor n) {
  Reg last;
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) { last = i; });
  return stored(last); // behind its loop
}
NL_KERNEL(stale_counter);
Tensor stale_view(Tensor x, Tensor n) {
  Tensor y = nl::ndarray({1, x.dim(1)}, x.dtype(), nl::shared_hbm), row;
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) {
    row = x.select(0, i).reshape({1, x.dim(1)});
    nisa::register_alloc(i);
  });
  nl::store(y, row); // a view of a loop
  return y;
}
NL_KERNEL(stale_view);

/// The sum over i < n of the sums over j < m, each carried in a tile.
Tensor nested_sums(Tensor x, Tensor n, Tensor m) { // x (n, m), n and m whole numbers
  Tensor y = nl::ndarray({1, 1}, x.dtype(), nl::shared_hbm);
  Tensor total = nl::ndarray({1, 1}, x.dtype()), row = nl::ndarray({1, x.dim(1)}, x.dtype());
  nisa::memset(total, 0);
  Reg rows = nisa::register_alloc(n), columns = nisa::register_alloc(m);
  nl::fori_loop(0, rows, [&](Reg i) {
    nisa::dma_copy(row, x.select(0, i).reshape({1, x.dim(1)}));
    nl::fori_loop(0, columns,
                  [&](Reg j) { nisa::tensor_tensor(total, total, row.select(1, j), nl::add); });
  });
  nl::store(y, total);
  return y;
}
NL_KERNEL(nested_sums);
