// 02: transpose a matrix on the Tensor Engine.
//
//   kiln run examples/02_transpose.cpp:transpose iota:300x200:float32 -o t.npy
//
// Partitions cannot be permuted by an access pattern: a tile's rows lie in different lanes. The Tensor
// Engine can exchange rows and columns of a 128 x 128 tile on its way from SBUF to PSUM. It moves bits, so
// NaN, Inf and -0 arrive as they were.

#include "nl/host.h"
#include "nl/nl.h"

using nl::Chunk, nl::Tensor;

// out[n, m] = a[m, n] for a matrix of any size.
Tensor transpose(Tensor a) {
  nl::require(a.ndim() == 2, "a is a matrix, not a tensor of rank {}", a.ndim());
  const auto [M, N] = a.dims<2>();
  Tensor out = nl::ndarray({N, M}, a.dtype(), nl::shared_hbm, {.name = "out"});
  const auto side = nl::tile_size.pmax; // both sides of a block end up on partitions
  for (Chunk m : nl::tiles(M, side))
    for (Chunk n : nl::tiles(N, side)) {
      Tensor block = nl::ndarray({m.size, n.size}, a.dtype());
      nisa::dma_copy({.dst = block, .src = a(m, n)});

      // The Tensor Engine writes PSUM, and DMA cannot read PSUM: one copy in between.
      Tensor flipped = nl::ndarray({n.size, m.size}, a.dtype(), nl::psum);
      nisa::nc_transpose({.dst = flipped, .data = block});
      Tensor result = nl::ndarray({n.size, m.size}, a.dtype());
      nisa::tensor_copy({.dst = result, .src = flipped});
      nisa::dma_copy({.dst = out(n, m), .src = result});
    }
  return out;
}

NL_KERNEL(transpose, "a")

int main() {
  nl::SelfCheck check("02_transpose");
  for (const char *shape : {"1x1", "1x300", "127x129", "128x128", "300x200"})
    for (const char *dtype : {"float32", "bfloat16", "float16"}) {
      const std::string form = std::string(shape) + ":" + dtype;
      nl::Array a(("randn:" + form + ":3").c_str());
      // The values arithmetic would not keep.
      const double special[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf(), -0.0};
      for (int64_t i = 0; i < a.size() && i < 4; ++i)
        a.set(i * 37 % a.size(), special[i]);
      const int64_t M = a.shape()[0], N = a.shape()[1];
      const int64_t width = static_cast<int64_t>(a.bytes.size()) / a.size();

      nl::Array expected({N, M}, a.dtype());
      for (int64_t m = 0; m < M; ++m)
        for (int64_t n = 0; n < N; ++n)
          for (int64_t byte = 0; byte < width; ++byte)
            expected.bytes[(n * M + m) * width + byte] = a.bytes[(m * N + n) * width + byte];
      check.expect(nl::execute("transpose", {a}).front().sameBits(expected), form);
    }
  return check.finish();
}
