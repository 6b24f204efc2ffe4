//===- Performance.td - rules about what costs time for nothing -------------------------------===//

#ifndef KILN_TABLE_RULES_PERFORMANCE_TD
#define KILN_TABLE_RULES_PERFORMANCE_TD

include "Base.td"

def : RuleText<"W-01", "A DMA moves long pieces",
  "each piece that lies side by side costs the same overhead: below 256 bytes there is little else, from 2048 on hardly any",
  "move more columns at once, or choose a layout in which they are neighbours"> {
  let severity = "warning";
  let isPerformance = 1;
  let arguments = "rand:128x64:float32";
  let flags = "-Wperf";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      for (Chunk c : nl::tiles(64, 16)) // 64 bytes of each row at a time
        nisa::dma_copy(t(_, c), x(_, c));
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy(t, x); // whole rows
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"W-02", "An instruction uses many partitions",
  "an engine works on all partitions at once; an instruction on eight of them takes as long as one on all",
  "give the partition dim the longest dim, or work on several rows at once"> {
  let severity = "warning";
  let isPerformance = 1;
  let arguments = "rand:8x8192:float32";
  let flags = "-Wperf";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({8, 8192}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x); // 8 partitions of 8192 elements
      for (Chunk c : nl::tiles(8192, 512))
        nisa::activation(t(_, c), nl::exp, t(_, c));
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({8, 8192}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 512}, x.dtype()); // the same elements on 128
      nisa::dma_copy(t, x);
      nisa::activation(t, nl::exp, t);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"W-03", "A float32 matmul is slow",
  "the array takes four passes for it: about 20 instead of 79 TFLOPS",
  "cast the operands to bfloat16 on the way to SBUF; sums stay float32"> {
  let severity = "warning";
  let isPerformance = 1;
  let arguments = "rand:128x128:float32";
  let flags = "-Wperf";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 128}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x);
      Tensor acc = nl::ndarray({128, 128}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({128, 128}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 128}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x, nl::bfloat16); // sums stay float32
      Tensor acc = nl::ndarray({128, 128}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({128, 128}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"W-05", "The wide operand is stationary",
  "a matmul takes as long as it has moving columns, however few stationary columns the array holds",
  "swap the operands: the result comes out transposed"> {
  let severity = "warning";
  let isPerformance = 1;
  let arguments = "rand:128x1:bf16 rand:128x512:bf16";
  let flags = "-Wperf";
  let wrong = [{
    Tensor kernel(Tensor v, Tensor m) { // v[128, 1], m[128, 512]
      Tensor y = nl::ndarray({1, 512}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({1, 512}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, nl::load(v), nl::load(m)); // one column of the array
      Tensor t = nl::ndarray({1, 512}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor v, Tensor m) {
      Tensor y = nl::ndarray({128, 4}, nl::float32, nl::shared_hbm); // transposed
      Tensor column = nl::load(v), matrix = nl::load(m);
      Tensor acc = nl::ndarray({128, 4}, nl::float32, nl::psum);
      for (Chunk n : nl::tiles(512, 128))
        nisa::nc_matmul(acc(_, n.index), matrix(_, n), column);
      Tensor t = nl::ndarray({128, 4}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"W-08", "An input is loaded once",
  "HBM is the slowest memory, and SBUF holds tiles from one use to the next",
  "load the tiles before the loop and keep them as far as SBUF has room"> {
  let severity = "warning";
  let isPerformance = 1;
  let arguments = "rand:128x512:float32";
  let flags = "-Wperf";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8, 512}, x.dtype(), nl::shared_hbm);
      for (int i = 0; i < 8; ++i) {
        Tensor t = nl::load(x); // the same elements each time
        nisa::tensor_scalar(t, t, nl::multiply, i);
        nl::store(y(_, i), t);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8, 512}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x); // once
      for (int i = 0; i < 8; ++i) {
        Tensor scaled = nl::ndarray({128, 512}, x.dtype());
        nisa::tensor_scalar(scaled, t, nl::multiply, i);
        nl::store(y(_, i), scaled);
      }
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_PERFORMANCE_TD
