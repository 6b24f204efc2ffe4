//===- Sizes.td - rules about sizes of one instruction ----------------------------------------===//

#ifndef KILN_TABLE_RULES_SIZES_TD
#define KILN_TABLE_RULES_SIZES_TD

include "Base.td"

def : RuleText<"S-01", "A stationary operand has at most 128 columns",
  "the array has 128 columns",
  "loop over blocks of 128 columns"> {
  let arguments = "rand:64x256:bf16 rand:64x32:bf16";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) { // a[64, 256]
      Tensor y = nl::ndarray({256, 32}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b);
      Tensor acc = nl::ndarray({128, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, left, right);
      Tensor t = nl::ndarray({128, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y(ds(0, 128), _), t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) { // a[64, 256]
      Tensor y = nl::ndarray({256, 32}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b);
      for (Chunk m : nl::tiles(256, nl::tile_size.gemm_stationary_fmax)) {
        Tensor acc = nl::ndarray({m.size, 32}, nl::float32, nl::psum);
        nisa::nc_matmul(acc, left(_, m), right);
        Tensor t = nl::ndarray({m.size, 32}, nl::float32);
        nisa::tensor_copy(t, acc);
        nl::store(y(m, _), t);
      }
      return y;
    }
  }];
}

def : RuleText<"S-02", "A moving operand has at most 512 columns",
  "one matmul fills one PSUM bank: 512 fp32",
  "split the moving operand"> {
  let arguments = "rand:64x32:bf16 rand:64x1024:bf16";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) { // b[64, 1024]
      Tensor y = nl::ndarray({32, 1024}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({32, 1024}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({32, 1024}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) { // b[64, 1024]
      Tensor y = nl::ndarray({32, 1024}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b);
      for (Chunk n : nl::tiles(1024, nl::tile_size.gemm_moving_fmax)) {
        Tensor acc = nl::ndarray({32, n.size}, nl::float32, nl::psum);
        nisa::nc_matmul(acc, left, right(_, n));
        Tensor t = nl::ndarray({32, n.size}, nl::float32);
        nisa::tensor_copy(t, acc);
        nl::store(y(_, n), t);
      }
      return y;
    }
  }];
}

def : RuleText<"S-03", "A matmul result lies in one PSUM bank",
  "a pass cannot cross from one bank to the next",
  "split the moving operand so that a row of dst has at most 2048 bytes"> {
  let arguments = "rand:64x32:bf16 rand:64x512:bf16";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 512}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({32, 1024}, nl::float32, nl::psum); // two banks
      Tensor middle = acc(_, ds(256, 512));                       // half of each
      nisa::nc_matmul(middle, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({32, 512}, nl::float32);
      nisa::tensor_copy(t, middle);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 512}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({32, 1024}, nl::float32, nl::psum);
      Tensor second = acc(_, ds(512, 512)); // the second bank
      nisa::nc_matmul(second, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({32, 512}, nl::float32);
      nisa::tensor_copy(t, second);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-04", "At most eight PSUM banks are live",
  "PSUM has eight banks",
  "evacuate an accumulator before opening the next"> {
  let arguments = "rand:64x32:bf16";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({32, 9, 32}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x);
      std::vector<Tensor> acc;
      for (int i = 0; i < 9; ++i) { // nine accumulators, eight banks
        acc.push_back(nl::ndarray({32, 32}, nl::float32, nl::psum));
        nisa::nc_matmul(acc[i], a, a);
      }
      for (int i = 0; i < 9; ++i) {
        Tensor t = nl::ndarray({32, 32}, nl::float32);
        nisa::tensor_copy(t, acc[i]);
        nl::store(y(_, i), t);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({32, 9, 32}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x);
      for (int i = 0; i < 9; ++i) { // each is evacuated before its bank is used again
        Tensor acc = nl::ndarray({32, 32}, nl::float32, nl::psum);
        nisa::nc_matmul(acc, a, a);
        Tensor t = nl::ndarray({32, 32}, nl::float32);
        nisa::tensor_copy(t, acc);
        nl::store(y(_, i), t);
      }
      return y;
    }
  }];
}

def : RuleText<"S-05", "A transpose fits the engine",
  "the Tensor Engine transposes up to 128 x 128, the Vector Engine 32 x 32",
  "loop over blocks"> {
  let arguments = "rand:64x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, x.dtype(), nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 64}, x.dtype()); // in SBUF: the Vector Engine's
      nisa::nc_transpose(xT, nl::load(x));
      nl::store(y, xT);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, x.dtype(), nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 64}, x.dtype(), nl::psum); // the Tensor Engine's
      nisa::nc_transpose(xT, nl::load(x));
      Tensor t = nl::ndarray({64, 64}, x.dtype());
      nisa::tensor_copy(t, xT);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-06", "A view fits four free strides",
  "an instruction holds four free dims, a tensor five dims in all",
  "make two dims contiguous, or copy the tile once"> {
  let arguments = "rand:64x32:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).reshape({64, 2, 2, 2, 2, 2}); // six dims
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).reshape({64, 2, 2, 2, 4}); // five
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-07", "Steps and extents fit their fields",
  "a step is 16 bits signed, an extent 16 bits unsigned; an instruction touches a bounded number of elements",
  "split the access"> {
  let arguments = "zeros:128x50000:uint8";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 2}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), ends = nl::ndarray({128, 2}, x.dtype());
      nisa::tensor_copy(ends, t(_, nl::slice(0, 50000, 49999))); // a step of 49999
      nl::store(y, ends);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 2}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), ends = nl::ndarray({128, 2}, x.dtype());
      nisa::tensor_copy(ends(_, 0), t(_, 0));
      nisa::tensor_copy(ends(_, 1), t(_, -1));
      nl::store(y, ends);
      return y;
    }
  }];
}

def : RuleText<"S-08", "An operand has as many elements as the instruction takes",
  "some instructions work on a fixed number of elements of a partition, or hold at most so many",
  "take a view of that many, or split the tile"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 4}, x.dtype(), nl::shared_hbm);
      Tensor top = nl::ndarray({128, 4}, x.dtype()); // max8 finds eight
      nisa::max8(top, nl::load(x));
      nl::store(y, top);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 4}, x.dtype(), nl::shared_hbm);
      Tensor top = nl::ndarray({128, 8}, x.dtype());
      nisa::max8(top, nl::load(x));
      nl::store(y, top(_, ds(0, 4)));
      return y;
    }
  }];
}

def : RuleText<"S-09", "A DMA moves as many elements as it reads",
  "elements are paired one to one",
  "make the shapes hold equally many elements"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 32}, x.dtype());
      nisa::dma_copy(t, x); // 64 columns into 32
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 32}, x.dtype());
      nisa::dma_copy(t, x(_, ds(0, 32)));
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-10", "A DMA transpose swaps the first and the last dim",
  "it has three forms: axes (1, 0), (2, 1, 0) and (3, 1, 2, 0); hardware descriptors take few shapes of them",
  "give dst the shape in the message, or another dge_mode"> {
  let arguments = "rand:64x128:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 128}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({64, 128}, x.dtype()); // the shape of x, not of its transpose
      nisa::dma_transpose({.dst = t, .src = x});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_transpose({.dst = t, .src = x});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-11", "double_row takes two rows of 8-bit floats",
  "the array reads two rows from each partition at a time, for which 8 bits an element are room",
  "shape both operands (K, 2, columns), row k + K * i of the contraction in partition k, slot i"> {
  let arguments = "rand:64x2x32:float8_e4m3 rand:2x64x48:float8_e4m3";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b(0)); // one row a partition
      Tensor acc = nl::ndarray({32, 48}, nl::float32, nl::psum);
      nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right,
                       .perf_mode = nisa::matmul_perf_mode::double_row});
      Tensor t = nl::ndarray({32, 48}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b.permute({1, 0, 2})); // (64, 2, 48)
      Tensor acc = nl::ndarray({32, 48}, nl::float32, nl::psum);
      nisa::nc_matmul({.dst = acc, .stationary = left, .moving = right,
                       .perf_mode = nisa::matmul_perf_mode::double_row});
      Tensor t = nl::ndarray({32, 48}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"S-12", "A tile of the array has its place",
  "each partition feeds the row of the array of its own number, and column c writes partition c of PSUM",
  "let the inputs start at the row and dst at the column of tile_position"> {
  let arguments = "rand:32x32:bf16 rand:32x48:bf16";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b);
      Tensor acc = nl::ndarray({128, 48}, nl::float32, nl::psum);
      nisa::nc_matmul({.dst = acc(ds(32, 32), _), .stationary = left, .moving = right,
                       .tile_position = {0, 64}, .tile_size = {32, 32}});
      Tensor t = nl::ndarray({32, 48}, nl::float32);
      nisa::tensor_copy(t, acc(ds(32, 32), _));
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({32, 48}, nl::float32, nl::shared_hbm);
      Tensor left = nl::load(a), right = nl::load(b);
      Tensor acc = nl::ndarray({128, 48}, nl::float32, nl::psum);
      nisa::nc_matmul({.dst = acc(ds(64, 32), _), .stationary = left, .moving = right,
                       .tile_position = {0, 64}, .tile_size = {32, 32}});
      Tensor t = nl::ndarray({32, 48}, nl::float32);
      nisa::tensor_copy(t, acc(ds(64, 32), _));
      nl::store(y, t);
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_SIZES_TD
