//===- Partitions.td - rules about shapes and partitions --------------------------------------===//

#ifndef KILN_TABLE_RULES_PARTITIONS_TD
#define KILN_TABLE_RULES_PARTITIONS_TD

include "Base.td"

def : RuleText<"P-01", "A tile has at most 128 partitions",
  "SBUF and PSUM have 128 partitions and dim 0 of an on-chip tensor is the partition dim",
  "split dim 0 into tiles of 128, or move part of it into a free dim"> {
  let arguments = "zeros:256x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({256, 64}, x.dtype()); // SBUF has 128 partitions
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(256, nl::tile_size.pmax)) {
        Tensor t = nl::ndarray({r.size, 64}, x.dtype());
        nisa::dma_copy(t, x(r, _));
        nisa::dma_copy(y(r, _), t);
      }
      return y;
    }
  }];
}

def : RuleText<"P-02", "An on-chip tensor has a partition dim and at least one free dim",
  "dim 0 selects a partition, the rest lies inside it, so a tensor of rank 1 has no place",
  "write (N, 1) for a column or (1, N) for a row"> {
  let arguments = "rand:128:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128}, x.dtype()); // partitions, but nothing in them
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 1}, x.dtype()); // a column
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-03", "Dim 0 is the partition dim",
  "a small dim 0 that counts blocks leaves most partitions idle",
  "keep a vector of tiles, or fold the blocks into a free dim"> {
  let severity = "warning";
  let arguments = "rand:4x128x512:bf16";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({4, 128, 512}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({4, 128, 512}, x.dtype()); // 4 partitions, not 4 blocks
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({4, 128, 512}, x.dtype(), nl::shared_hbm);
      for (int block : {0, 1, 2, 3}) {
        Tensor t = nl::ndarray({128, 512}, x.dtype());
        nisa::dma_copy(t, x(block));
        nisa::dma_copy(y(block), t);
      }
      return y;
    }
  }];
}

def : RuleText<"P-04", "Operands use the same number of partitions",
  "every partition computes on its own data; the hardware never broadcasts across partitions. A chain through reduction registers uses one number too",
  "replicate the operand first: a DMA with partition stride 0, or a matmul with a column of ones"> {
  let arguments = "rand:128x64:float32 rand:1x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor row) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::load(row); // 128 and 1 partitions
      nisa::tensor_tensor(t, t, b, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor row) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy(b, row.broadcast(0, 128)); // the row to every partition
      nisa::tensor_tensor(t, t, b, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-05", "Operands hold the same number of elements a partition",
  "elements are paired by their position in the flattened free sequence",
  "take equal slices, broadcast a free dim, or use tensor_scalar for one value a partition"> {
  let arguments = "rand:128x64:float32 rand:128x1:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor column) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::load(column); // 64 elements and 1
      nisa::tensor_tensor(t, t, b, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor column) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::load(column);
      nisa::tensor_scalar(t, t, nl::add, b); // one value for each partition
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-06", "An access starts at a legal partition",
  "the engines read partitions in quadrants: more than 64 partitions start at 0, 33 to 64 at 0 or 64, up to 32 at a multiple of 32; two SBUF inputs share their start, and so do the instructions of a chain through reduction registers",
  "move the slice to a legal start, or copy the rows first"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      Tensor rows = t(ds(48, 36), _); // 36 partitions start at 0 or 64
      nisa::tensor_scalar(rows, rows, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      Tensor rows = t(ds(64, 36), _);
      nisa::tensor_scalar(rows, rows, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-07", "An access does not cross a half",
  "33 to 64 partitions lie in one half of the array",
  "start at 0 or 64, or split the access"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      Tensor rows = t(ds(32, 48), _); // partitions 32 to 79
      nisa::tensor_scalar(rows, rows, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      for (Tensor rows : {t(ds(32, 32), _), t(ds(64, 16), _)})
        nisa::tensor_scalar(rows, rows, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-08", "Partitions are consecutive",
  "an access covers a range of partitions; there is no partition stride",
  "use DMA or a matmul with a selection matrix"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), even = nl::ndarray({64, 64}, x.dtype());
      nisa::tensor_copy(even, t(nl::slice(0, 128, 2), _));
      nl::store(y, even);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, x.dtype(), nl::shared_hbm);
      Tensor even = nl::load(x(nl::slice(0, 128, 2), _)); // a DMA takes any rows
      nl::store(y, even);
      return y;
    }
  }];
}

def : RuleText<"P-09", "Partitions are not reduced",
  "a reduction runs along the free dims of one partition",
  "transpose first, or multiply by a column of ones"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({1, 64}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), sum = nl::ndarray({1, 64}, nl::float32);
      nisa::tensor_reduce(sum, nl::add, t, 0); // over the partitions
      nl::store(y, sum);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({1, 64}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), ones = nl::ones({128, 1}, x.dtype());
      Tensor acc = nl::ndarray({1, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, ones, t); // a matmul sums over partitions
      Tensor sum = nl::ndarray({1, 64}, nl::float32);
      nisa::tensor_copy(sum, acc);
      nl::store(y, sum);
      return y;
    }
  }];
}

def : RuleText<"P-10", "Reduced dims are trailing",
  "a reduction folds the innermost free dims",
  "permute the view so that the reduced dims come last"> {
  let arguments = "rand:128x4x16:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 16}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), sum = nl::ndarray({128, 16}, nl::float32);
      nisa::tensor_reduce(sum, nl::add, t, 1); // dim 1 of 3
      nl::store(y, sum);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 16}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), sum = nl::ndarray({128, 16}, nl::float32);
      nisa::tensor_reduce(sum, nl::add, t.permute({0, 2, 1}), 2);
      nl::store(y, sum);
      return y;
    }
  }];
}

def : RuleText<"P-11", "Both matmul inputs span the same partitions",
  "the contraction dim of both lies on the partitions",
  "pass the operand as [K, M], or transpose it"> {
  let arguments = "rand:64x128:float32 rand:128x32:float32";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) { // a[M, K], b[K, N]
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b); // M and K on the partitions
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, left, right);
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) { // a[M, K], b[K, N]
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a.permute({1, 0})), right = nl::load(b); // K on both
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, left, right);
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-12", "The result has the shape the instruction writes",
  "a matmul writes (stationary free, moving free), a transpose swaps, a reduction keeps the other dims",
  "declare dst with the shape in the message"> {
  let arguments = "rand:128x64:float32 rand:128x32:float32";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) { // a[K, M], b[K, N]
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({32, 64}, nl::float32, nl::psum); // N x M
      nisa::nc_matmul(acc, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({32, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y.permute({1, 0}), t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) { // a[K, M], b[K, N]
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum); // M x N
      nisa::nc_matmul(acc, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-13", "A partition index keeps its dim",
  "on chip, indexing dim 0 gives extent 1",
  "use squeeze_dim on free dims, or index an HBM tensor"> {
  let severity = "note";
  let arguments = "rand:64x4x16:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor t = nl::load(x);                // 64 partitions of 4x16
      const auto [h, w] = t(3).dims<2>();    // 1x4x16: a partition stays a dim
      Tensor y = nl::ndarray({h, w}, x.dtype(), nl::shared_hbm);
      nl::store(y, t(3));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      const auto [h, w] = x(3).dims<2>();    // in HBM an index drops its dim: 4x16
      Tensor t = nl::load(x(3));
      Tensor y = nl::ndarray({h, w}, x.dtype(), nl::shared_hbm);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"P-14", "A slice stays inside its dim",
  "the last tile of a dim is smaller when the tile size does not divide it",
  "clip with nl::tiles(n, t) or std::min(end, n)"> {
  let arguments = "rand:500x8:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({500, 8}, x.dtype(), nl::shared_hbm);
      for (int64_t m = 0; m < 500; m += 128) // the last tile would end at 512
        nl::store(y(ds(m, 128), _), nl::load(x(ds(m, 128), _)));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({500, 8}, x.dtype(), nl::shared_hbm);
      for (Chunk m : nl::tiles(500, 128)) // 128, 128, 128, 116
        nl::store(y(m, _), nl::load(x(m, _)));
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_PARTITIONS_TD
