//===- registers.cpp - kernels whose loops and addresses the run decides ----------------------===//

#include "nl/nl.h"

using nl::_, nl::ds, nl::Reg, nl::Tensor;

namespace {

/// result = a op b.
Reg compute(const Reg &a, const nl::Op &op, const nl::RegTerm &b) {
  Reg result = nisa::register_alloc();
  nisa::register_alu({.dst = result, .src = a, .op = op, .src1 = b});
  return result;
}

/// Registers as the row of an output.
Tensor row_of(const std::vector<Reg> &registers) {
  const auto n = int64_t(registers.size());
  Tensor y = nl::ndarray({1, n}, nl::int32, nl::shared_hbm);
  Tensor t = nl::ndarray({1, n}, nl::int32);
  for (int64_t i = 0; i < n; ++i)
    nisa::register_store(t(_, ds(i, 1)), registers[size_t(i)]);
  nl::store(y, t);
  return y;
}

} // namespace

/// Rows [0, n) of x, four at a time, halved; the others are those of x.
Tensor scale_rows(Tensor x, Tensor n) {
  const int64_t F = x.dim(1);
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nisa::dma_copy(y, x);
  Reg rows = nisa::register_alloc(n);
  nl::fori_loop(0, rows,
                [&](Reg row) {
                  Tensor t = nl::load(x.ap({{F, 4}, {1, F}}, {.scalar_offset = row}));
                  nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::multiply, .operand0 = 0.5f});
                  nl::store(y.ap({{F, 4}, {1, F}}, {.scalar_offset = row}), t);
                },
                {.step = 4});
  return y;
}
NL_KERNEL(scale_rows);

/// The sums of 0 to n - 1, and of i * j for j < i < n.
Tensor sums(Tensor n) {
  Reg end = nisa::register_alloc(n), single = nisa::register_alloc(0),
      both = nisa::register_alloc(0);
  nl::fori_loop(0, end, [&](Reg i) {
    nisa::register_move(single, single + i);
    nl::fori_loop(0, i, [&](Reg j) { nisa::register_move(both, both + i * j); });
  });
  return row_of({single, both});
}
NL_KERNEL(sums);

/// Counts from n's first element to below its second by its third... which is a number: 3.
Tensor ranges(Tensor n) {
  Reg first = nisa::register_alloc(n.select(0, 0)), last = nisa::register_alloc(n.select(0, 1));
  Reg count = nisa::register_alloc(), sum = nisa::register_alloc();
  nl::fori_loop(first, last,
                [&](Reg i) {
                  nisa::register_move(count, count + 1);
                  nisa::register_move(sum, sum + i);
                },
                {.step = 3});
  return row_of({count, sum});
}
NL_KERNEL(ranges);

/// Steps until the Collatz sequence of n reaches 1, and its largest number.
Tensor collatz(Tensor n) {
  Reg c = nisa::register_alloc(n), steps = nisa::register_alloc(), most = nisa::register_alloc(n);
  nl::while_loop(compute(c, nl::not_equal, 1), [&](Reg) {
    Reg odd = compute(c, nl::bitwise_and, 1), even = compute(odd, nl::equal, 0);
    nl::if_(even, [&] { nisa::register_move(c, compute(c, nl::right_shift, 1)); });
    nl::if_(odd, [&] { nisa::register_move(c, c * 3 + 1); });
    nisa::register_move(most, compute(most, nl::maximum, c));
    nisa::register_move(steps, 1 + steps);
    return compute(c, nl::not_equal, 1);
  });
  return row_of({steps, most});
}
NL_KERNEL(collatz);

/// Doubles the first element of x until it is at least 100: the condition comes from memory, which
/// an engine writes in every iteration.
Tensor until_large(Tensor x) { // (1, 8) float32
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), small = nl::ndarray({1, 1}, nl::int32);
  const auto test = [&] {
    nisa::tensor_scalar(
        {.dst = small, .data = t(_, ds(0, 1)), .op0 = nl::less, .operand0 = 100.0f});
  };
  test();
  nl::while_loop(nisa::register_alloc(small), [&](Reg) {
    nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::multiply, .operand0 = 2.0f});
    test();
    return nisa::register_alloc(small);
  });
  nl::store(y, t);
  return y;
}
NL_KERNEL(until_large);

/// y[i] = x[index[i]]: the index of each row from memory, inside an affine loop.
Tensor take_rows(Tensor x, Tensor index) {
  const int64_t n = index.dim(0), F = x.dim(1);
  Tensor y = nl::ndarray({n, F}, x.dtype(), nl::shared_hbm);
  nl::affine_for(n, [&](nl::Index i) {
    Reg row = nisa::register_alloc(index(ds(i, 1)));
    Tensor t = nl::load(x.select(0, row).reshape({1, F}));
    nl::store(y(ds(i, 1), _), t);
  });
  return y;
}
NL_KERNEL(take_rows);

/// Column `c` of each of x's blocks, on chip, by an engine: (P, blocks, C) -> (P, blocks).
Tensor take_column(Tensor x, Tensor c) {
  Tensor y = nl::ndarray({x.dim(0), x.dim(1)}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), column = nl::ndarray({x.dim(0), x.dim(1)}, x.dtype());
  nisa::tensor_copy(column, t.select(2, nisa::register_alloc(c)));
  nl::store(y, column);
  return y;
}
NL_KERNEL(take_column);

/// Writes x to row r of y, and leaves it alone where y has no such row.
Tensor put_row(Tensor x, Tensor r) {
  Tensor y = nl::ndarray({5, x.dim(1)}, x.dtype(), nl::shared_hbm);
  Tensor zeros = nl::ndarray({5, x.dim(1)}, x.dtype());
  nisa::memset(zeros, 0);
  nl::store(y, zeros);
  Reg row = nisa::register_alloc(r);
  nisa::dma_copy(
      {.dst = y.select(0, row), .src = x.select(0, 0), .oob_mode = nisa::oob_mode::skip});
  return y;
}
NL_KERNEL(put_row);

/// A chain of sums through one SBUF tile, carried from iteration to iteration: a[i] + a[i - 1] +
/// ...
Tensor running_sum(Tensor x, Tensor n) { // (1, C)
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), sum = nl::ndarray({1, 1}, x.dtype()),
         out = nl::ndarray(x.shape(), x.dtype());
  nisa::memset(sum, 0);
  nisa::memset(out, 0);
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) {
    nisa::tensor_tensor(sum, sum, t.select(1, i), nl::add);
    nisa::tensor_copy(out.select(1, i), sum);
  });
  nl::store(y, out);
  return y;
}
NL_KERNEL(running_sum);

/// The same with the index in a tile: the view is taken once, before the loop, and every iteration
/// adds to the tile that places it.
Tensor bumped_sum(Tensor x, Tensor n) { // (1, C)
  Tensor y = nl::ndarray({1, 1}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), sum = nl::ndarray({1, 1}, x.dtype());
  Tensor at = nl::ndarray({1, 1}, nl::int32);
  nisa::memset(sum, 0);
  nisa::memset(at, 0);
  Tensor element = t.ap({{x.dim(1), 1}, {1, 1}}, {.scalar_offset = at, .indirect_dim = 1});
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg) {
    nisa::tensor_tensor(sum, sum, element, nl::add);
    nisa::tensor_scalar({.dst = at, .data = at, .op0 = nl::add, .operand0 = 2});
  });
  nl::store(y, sum);
  return y;
}
NL_KERNEL(bumped_sum);

/// Row index[0] of x to row index[1] of y, by tensors in HBM and in SBUF; x (A, B, C).
Tensor move_plane(Tensor x, Tensor index) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nisa::dma_copy(y, x);
  Tensor to = nl::ndarray({1, 1}, nl::uint8);
  nisa::tensor_copy(to, nl::load(index.select(0, 1).reshape({1, 1})));
  nisa::dma_copy(y.select(0, to), x.select(0, index.select(0, 0)));
  return y;
}
NL_KERNEL(move_plane);

/// y = x(_, r, _) on chip and x(r, _) in HBM: registers as subscripts; x (P, B, C).
std::array<Tensor, 2> subscripts(Tensor x, Tensor n) {
  const auto [P, B, C] = x.dims<3>();
  Tensor y = nl::ndarray({P, C}, x.dtype(), nl::shared_hbm);
  Tensor z = nl::ndarray({B, C}, x.dtype(), nl::shared_hbm);
  Reg r = nisa::register_alloc(n);
  Tensor t = nl::load(x), u = nl::ndarray({P, C}, x.dtype());
  nisa::tensor_copy(u, t(_, r, _));
  nl::store(y, u);
  nisa::dma_copy(z, x(r));
  return {y, z};
}
NL_KERNEL(subscripts);

/// n iterations of a small body.
Tensor spin(Tensor n) {
  Tensor y = nl::ndarray({1, 1}, nl::float32, nl::shared_hbm);
  Tensor t = nl::ndarray({1, 1}, nl::float32);
  nisa::memset(t, 0);
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg) {
    nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::add, .operand0 = 1.0f});
  });
  nl::store(y, t);
  return y;
}
NL_KERNEL(spin);

/// n times: what the iteration before copied from row i of x, for the first one row 0 of x. The
/// branch reads a tile that the text writes behind it, and continues a chain that it begins behind
/// it.
Tensor hand_on(Tensor x, Tensor n) { // (R, C) float32
  const int64_t C = x.dim(1);
  Tensor y = nl::ndarray({1, C}, x.dtype(), nl::shared_hbm);
  Tensor out = nl::load(x(ds(0, 1), _)), last = nl::ndarray({1, C}, x.dtype()),
         unused = nl::ndarray({1, C}, x.dtype());
  nl::fori_loop(0, nisa::register_alloc(n), [&](Reg i) {
    nl::if_(i, [&] {
      nisa::activation({.dst = unused,
                        .op = nl::copy,
                        .data = last,
                        .reduce_op = nl::add,
                        .reduce_cmd = nisa::reduce_cmd::reduce});
      nisa::tensor_copy(out, last);
    });
    Tensor row = nl::load(x.select(0, i).reshape({1, C}));
    nisa::activation({.dst = last,
                      .op = nl::copy,
                      .data = row,
                      .reduce_op = nl::add,
                      .reduce_cmd = nisa::reduce_cmd::reset_reduce});
  });
  nl::store(y, out);
  return y;
}
NL_KERNEL(hand_on);

/// Never ends.
Tensor forever(Tensor n) {
  Reg one = nisa::register_alloc(1);
  nl::while_loop(one, [&](Reg r) { return r; });
  return row_of({one});
}
NL_KERNEL(forever);
