//===- Buffers.td - rules about memories and engines ------------------------------------------===//

#ifndef KILN_TABLE_RULES_BUFFERS_TD
#define KILN_TABLE_RULES_BUFFERS_TD

include "Base.td"

def : RuleText<"B-01", "The Tensor Engine writes PSUM",
  "its results leave the array into the accumulator memory only",
  "allocate dst with nl::psum and copy it out afterwards"> {
  let arguments = "rand:128x64:float32 rand:128x32:float32";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor t = nl::ndarray({64, 32}, nl::float32); // SBUF
      nisa::nc_matmul(t, nl::load(a), nl::load(b));
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, nl::load(a), nl::load(b));
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-02", "The Tensor Engine reads SBUF",
  "its operands enter from the state buffer only",
  "copy the operand to SBUF first: tensor_copy from PSUM, dma_copy from HBM"> {
  let arguments = "rand:128x64:float32 rand:64x32:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor b) {
      Tensor y = nl::ndarray({128, 32}, nl::float32, nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 128}, nl::float32, nl::psum);
      nisa::nc_transpose(xT, nl::load(x));
      Tensor acc = nl::ndarray({128, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, xT, nl::load(b)); // xT is still in PSUM
      Tensor t = nl::ndarray({128, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor b) {
      Tensor y = nl::ndarray({128, 32}, nl::float32, nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 128}, nl::float32, nl::psum);
      nisa::nc_transpose(xT, nl::load(x));
      Tensor left = nl::ndarray({64, 128}, nl::float32);
      nisa::tensor_copy(left, xT);
      Tensor acc = nl::ndarray({128, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, left, nl::load(b));
      Tensor t = nl::ndarray({128, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-03", "At most one input lies in PSUM",
  "the Vector Engine has one read port into PSUM",
  "copy one of the inputs to SBUF"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor p = nl::ndarray({64, 64}, nl::float32, nl::psum);
      Tensor q = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(p, a, a);
      nisa::nc_matmul(q, a, a);
      nisa::tensor_tensor(t, p, q, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor p = nl::ndarray({64, 64}, nl::float32, nl::psum);
      Tensor q = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(p, a, a);
      nisa::nc_matmul(q, a, a);
      nisa::tensor_copy(t, p);
      nisa::tensor_tensor(t, t, q, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-04", "DMA reaches HBM and SBUF",
  "no DMA path leads into or out of PSUM",
  "tensor_copy the tile to SBUF, then DMA that"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      nisa::dma_copy(y, acc);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-05", "GpSimd does not reach PSUM",
  "the engine has no PSUM port",
  "use the Vector Engine, or copy the operand to SBUF"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      Tensor two = nl::full({64, 64}, 2, nl::float32), t = nl::empty_like(two);
      nisa::nc_matmul(acc, a, a);
      nisa::tensor_tensor(t, acc, two, nl::power); // power runs on GpSimd
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      Tensor two = nl::full({64, 64}, 2, nl::float32), t = nl::empty_like(two);
      nisa::nc_matmul(acc, a, a);
      nisa::tensor_copy(t, acc);
      nisa::tensor_tensor(t, t, two, nl::power);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-06", "Engines compute on chip",
  "only DMA reaches HBM",
  "load the tensor into an SBUF tile first"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::activation(t, nl::exp, x); // x is in HBM
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::activation(t, nl::exp, t);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-07", "The engine has the operation",
  "each engine implements part of the instruction set",
  "leave the engine out, or name one the message lists"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::subtract, .operand0 = 1.0f,
                           .engine = nisa::engine::scalar});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::add, .operand0 = -1.0f,
                           .engine = nisa::engine::scalar}); // multiply and add it has
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-08", "GpSimd runs tensor_scalar for rsqrt only",
  "its other operators are not exposed there",
  "leave the engine out"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::add, .operand0 = 1.0f,
                           .engine = nisa::engine::gpsimd});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::add, 1.0f);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-09", "A DMA trigger engine needs hardware descriptors",
  "only descriptors of the hardware block are triggered from a chosen engine",
  "add .dge_mode = nisa::dge_mode::hwdge, or leave the engine out"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.dst = t, .src = x, .engine = nisa::engine::scalar});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.dst = t, .src = x, .dge_mode = nisa::dge_mode::hwdge,
                      .engine = nisa::engine::scalar});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-11", "A copy on chip is an engine's work",
  "a DMA has a latency of about two microseconds; an engine copies a tile at once",
  "use nisa::tensor_copy"> {
  let severity = "warning";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), copy = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy(copy, t);
      nl::store(y, copy);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), copy = nl::ndarray({128, 64}, x.dtype());
      nisa::tensor_copy(copy, t);
      nl::store(y, copy);
      return y;
    }
  }];
}

def : RuleText<"B-12", "The operation exists on trn2",
  "some instructions came with trn3",
  "use the replacement in the message"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::exponential({.dst = t, .data = t});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::activation({.dst = t, .op = nl::exp, .data = t});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"B-14", "A register does not choose a partition",
  "all engines reach the partitions of an access by a start that is encoded in it",
  "index a free dim, or choose the row in HBM"> {
  let arguments = "rand:128x64:float32 zeros:1:int32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor n) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      nl::Reg row = nisa::register_alloc(n);
      Tensor t = nl::load(x);
      nl::store(y, t.select(0, row));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor n) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      nl::Reg row = nisa::register_alloc(n);
      nl::store(y, nl::load(x.select(0, row).reshape({1, 64})));
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_BUFFERS_TD
