//===- chains.cpp - row statistics folded over column tiles
//---------------------------------------===//
//
// Rows are longer than a tile, so every fold is a chain of instructions through the reduction
// registers of its engine, between loads, copies and stores of other engines.
//
//===----------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nisa::reduce_cmd;
using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

/// Columns of a tile.
constexpr int64_t kWidth = 150;

reduce_cmd linkOf(Chunk tile) {
  return tile.start == 0 ? reduce_cmd::reset_reduce : reduce_cmd::reduce;
}

} // namespace

/// The sum of exp(x), the maximum of 2x, and the maximum of x in columns [first, end) of every row;
/// and 2x in bfloat16.
std::tuple<Tensor, Tensor, Tensor, Tensor> row_statistics(Tensor x, int64_t first, int64_t end) {
  const auto [M, N] = x.dims<2>();
  Tensor sums = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm, {.name = "sums"}),
         largest = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm, {.name = "largest"}),
         inside = nl::ndarray({M, 1}, nl::float32, nl::shared_hbm, {.name = "inside"}),
         doubled = nl::ndarray({M, N}, nl::bfloat16, nl::shared_hbm, {.name = "doubled"});
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax)) {
    auto column = [&] { return nl::ndarray({m.size, 1}, nl::float32); };
    Tensor sum = column(), most = column(), mostInside = column();
    Tensor low = nl::full({m.size, 1}, double(first), nl::float32),
           high = nl::full({m.size, 1}, double(end), nl::float32);
    std::vector<Tensor> tiles;
    for (Chunk c : nl::tiles(N, kWidth)) {
      const bool isLast = c.start + c.size == N;
      Tensor in = nl::load(x(m, c));
      tiles.push_back(in);
      Tensor e = nl::ndarray({m.size, c.size}, nl::float32),
             d = nl::ndarray({m.size, c.size}, nl::bfloat16);
      nisa::activation({.dst = e,
                        .op = nl::exp,
                        .data = in,
                        .reduce_op = nl::add,
                        .reduce_res = isLast ? sum : Tensor(),
                        .reduce_cmd = linkOf(c)});
      nisa::tensor_scalar_reduce({.dst = d,
                                  .data = in,
                                  .op0 = nl::multiply,
                                  .operand0 = 2,
                                  .reduce_op = nl::maximum,
                                  .reduce_res = isLast ? most : Tensor(),
                                  .reduce_cmd = linkOf(c)});
      nl::store(doubled(m, c), d);
    }
    for (Chunk c : nl::tiles(N, kWidth))
      nisa::range_select({.dst = tiles[size_t(c.index)],
                          .on_true_tile = tiles[size_t(c.index)],
                          .comp_op0 = nl::greater_equal,
                          .comp_op1 = nl::less,
                          .bound0 = low,
                          .bound1 = high,
                          .reduce_cmd = linkOf(c),
                          .reduce_res = c.start + c.size == N ? mostInside : Tensor(),
                          .range_start = c.start});
    nl::store(sums(m, _), sum);
    nl::store(largest(m, _), most);
    nl::store(inside(m, _), mostInside);
  }
  return {sums, largest, inside, doubled};
}

NL_KERNEL(row_statistics, "x", "first", "end")
