// 01: add two vectors, three times.
//
//   kiln run examples/01_vector_add.cpp:vector_add_stream rand:25600:float32:1 rand:25600:float32:2
//
// A NeuronCore computes on tiles in SBUF: a matrix whose dim 0 lies on the 128 partitions (each a lane of
// the engines) and whose other dims lie inside a partition. HBM holds the vectors; DMA moves them in and
// out. The three kernels compute the same bits. What changes is how much each instruction does.
//
// This file is a kernel file for `kiln run` and a program that checks itself: build/bin/01_vector_add.

#include "nl/host.h"
#include "nl/nl.h"

using nl::Chunk, nl::ds, nl::Tensor;

namespace {

// Both inputs have one dtype and one length; the result has them too.
void check_inputs(Tensor a, Tensor b) {
  nl::require(a.ndim() == 1 && b.ndim() == 1, "a and b are vectors");
  nl::require(a.dim(0) == b.dim(0), "a has {} elements, b has {}: they must be equal", a.dim(0), b.dim(0));
  nl::require(a.dtype() == b.dtype(), "a is {}, b is {}: inputs share one dtype", a.dtype(), b.dtype());
}

// Adds `rows` rows of `width` elements that start at element `start`, as one tile. Every call makes fresh
// tiles, so the compiler may give them fresh addresses and let the next call load while this one adds.
void add_tile(Tensor out, Tensor a, Tensor b, int64_t start, int64_t rows, int64_t width) {
  const auto part = ds(start, rows * width);
  Tensor x = nl::ndarray({rows, width}, a.dtype());
  Tensor y = nl::ndarray({rows, width}, b.dtype());
  Tensor sum = nl::ndarray({rows, width}, out.dtype());
  // A DMA pairs elements in row-major order, so a vector fills the rows of a tile one after the other.
  nisa::dma_copy({.dst = x, .src = a(part).reshape({rows, width})});
  nisa::dma_copy({.dst = y, .src = b(part).reshape({rows, width})});
  nisa::tensor_tensor({.dst = sum, .data1 = x, .data2 = y, .op = nl::add});
  nisa::dma_copy({.dst = out(part).reshape({rows, width}), .src = sum});
}

} // namespace

// One partition works, 127 wait: every instruction adds one row of at most 512 elements.
Tensor vector_add_naive(Tensor a, Tensor b) {
  check_inputs(a, b);
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(a.dim(0), 512))
    add_tile(out, a, b, c.start, 1, c.size);
  return out;
}

// All 128 partitions work, one element each. The last tile may have fewer partitions.
Tensor vector_add_tiled(Tensor a, Tensor b) {
  check_inputs(a, b);
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(a.dim(0), nl::tile_size.pmax))
    add_tile(out, a, b, c.start, c.size, 1);
  return out;
}

// 128 partitions and up to 1000 elements in each: instructions and DMAs are long enough to be worth their
// start-up cost, and neighbouring tiles overlap. What does not fill a rectangle is added as one last row.
Tensor vector_add_stream(Tensor a, Tensor b) {
  check_inputs(a, b);
  constexpr int64_t kWidth = 1000;
  const int64_t n = a.dim(0), lanes = nl::tile_size.pmax;
  Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm, {.name = "out"});
  for (Chunk c : nl::tiles(n, lanes * kWidth)) {
    // The widest rectangle that uses all lanes, or as many as there are elements.
    const int64_t rows = c.size < lanes ? c.size : lanes;
    const int64_t width = c.size / rows, rest = c.size - rows * width;
    add_tile(out, a, b, c.start, rows, width);
    if (rest > 0)
      add_tile(out, a, b, c.start + rows * width, 1, rest);
  }
  return out;
}

NL_KERNEL(vector_add_naive, "a", "b")
NL_KERNEL(vector_add_tiled, "a", "b")
NL_KERNEL(vector_add_stream, "a", "b")

// Checks every kernel against the sum in double, rounded once to the dtype: that is what one add does.
int main() {
  nl::SelfCheck check("01_vector_add");
  for (const char *length : {"1", "127", "128", "129", "25600", "128001"})
    for (const char *dtype : {"float32", "bfloat16", "float16"}) {
      const std::string form = std::string(length) + ":" + dtype;
      const nl::Array a(("randn:" + form + ":1").c_str()), b(("randn:" + form + ":2").c_str());
      nl::Array sum = a;
      for (int64_t i = 0; i < sum.size(); ++i)
        sum.set(i, static_cast<float>(a[i] + b[i]));
      for (const char *kernel : {"vector_add_naive", "vector_add_tiled", "vector_add_stream"})
        check.expect(nl::execute(kernel, {a, b}).front().sameBits(sum), kernel + (" on " + form));
    }
  return check.finish();
}
