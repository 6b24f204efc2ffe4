//===- vector_add.cpp - vectors and matrices added in many ways -------------------------------===//
//
// The course versions of a vector add: cut into chunks of a given size, viewed as 128 rows, and
// with tiles placed by hand; and the tutorial's add of two matrices.
//
//===------------------------------------------------------------------------------------------===//

#include "nl/nl.h"

using nl::_, nl::Chunk, nl::ds, nl::Tensor;

namespace {

// out = a + b for tiles the caller declared.
void add_through(Tensor out, Tensor a, Tensor b, Tensor x, Tensor y, Tensor sum) {
  nisa::dma_copy({.dst = x, .src = a});
  nisa::dma_copy({.dst = y, .src = b});
  nisa::tensor_tensor({.dst = sum, .data1 = x, .data2 = y, .op = nl::add});
  nisa::dma_copy({.dst = out, .src = sum});
}

// The same with fresh tiles.
void add_tile(Tensor out, Tensor a, Tensor b) {
  add_through(out, a, b, nl::ndarray(a.shape(), a.dtype()), nl::ndarray(b.shape(), b.dtype()),
              nl::ndarray(out.shape(), out.dtype()));
}

// A vector as a matrix of 128 rows.
Tensor rows_of(Tensor vector) { return vector.reshape({nl::tile_size.pmax, -1}); }

// A tile of 128 rows at a byte of each partition that the author chose.
Tensor tile_at(int64_t byte, int64_t columns) {
  return nl::ndarray({nl::tile_size.pmax, columns}, nl::float32, nl::sbuf,
                     {.address = {{0, byte}}});
}

} // namespace

/// `chunk` elements at a time, each in a partition of its own: above 128 there are none left.
Tensor vector_add_chunks(Tensor a, Tensor b, int64_t chunk) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(a.dim(0), chunk)) {
    const auto column = [&](Tensor t) { return t(c).reshape({c.size, 1}); };
    add_tile(column(out), column(a), column(b));
  }
  return out;
}

/// Viewed as 128 rows, `free` columns at a time.
Tensor vector_add_rows(Tensor a, Tensor b, int64_t free) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(rows_of(a).dim(1), free))
    add_tile(rows_of(out)(_, c), rows_of(a)(_, c), rows_of(b)(_, c));
  return out;
}

/// As vector_add_rows for float32, with `slots` places for each operand, taken in turn.
Tensor vector_add_placed(Tensor a, Tensor b, int64_t free, int64_t slots) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  const int64_t bytes = free * 4;
  for (Chunk c : nl::tiles(rows_of(a).dim(1), free)) {
    const int64_t slot = 3 * (c.index % slots) * bytes;
    add_through(rows_of(out)(_, c), rows_of(a)(_, c), rows_of(b)(_, c), tile_at(slot, c.size),
                tile_at(slot + bytes, c.size), tile_at(slot + 2 * bytes, c.size));
  }
  return out;
}

/// A mistake: all three tiles lie at byte 0.
Tensor vector_add_overlapping(Tensor a, Tensor b, int64_t free) {
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(rows_of(a).dim(1), free))
    add_through(rows_of(out)(_, c), rows_of(a)(_, c), rows_of(b)(_, c), tile_at(0, c.size),
                tile_at(0, c.size), tile_at(0, c.size));
  return out;
}

/// Two matrices of one shape.
Tensor tensor_add(Tensor a, Tensor b) {
  const auto [M, N] = a.dims<2>();
  Tensor out = nl::ndarray({M, N}, a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk m : nl::tiles(M, nl::tile_size.pmax))
    for (Chunk n : nl::tiles(N, 512))
      add_tile(out(m, n), a(m, n), b(m, n));
  return out;
}

NL_KERNEL(vector_add_chunks, "a", "b", "chunk")
NL_KERNEL(vector_add_rows, "a", "b", "free")
NL_KERNEL(vector_add_placed, "a", "b", "free", "slots")
NL_KERNEL(vector_add_overlapping, "a", "b", "free")
NL_KERNEL(tensor_add, "a", "b")
