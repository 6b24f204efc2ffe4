//===- Dtypes.td - rules about data types -----------------------------------------------------===//

#ifndef KILN_TABLE_RULES_DTYPES_TD
#define KILN_TABLE_RULES_DTYPES_TD

include "Base.td"

def : RuleText<"D-01", "A matmul does not mix 32-bit and narrower operands",
  "the array runs either in fp32 passes or in 16-bit passes",
  "cast one operand while copying it to SBUF"> {
  let arguments = "rand:128x64:float32 rand:128x32:bf16";
  let wrong = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, nl::load(a), nl::load(b)); // float32 and bfloat16
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor a, Tensor b) {
      Tensor y = nl::ndarray({64, 32}, nl::float32, nl::shared_hbm);
      Tensor acc = nl::ndarray({64, 32}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, nl::load(a, nl::bfloat16), nl::load(b));
      Tensor t = nl::ndarray({64, 32}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-02", "A matmul result is float32",
  "PSUM accumulates in fp32 on trn2",
  "declare dst float32 and narrow it in the copy that evacuates PSUM"> {
  let arguments = "rand:128x64:bf16";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::bfloat16, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::bfloat16, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::bfloat16);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::bfloat16, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::bfloat16); // rounded here, once
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-03", "A transpose, a shuffle or a predicated copy moves bits",
  "it does no arithmetic and cannot convert",
  "give dst the data's dtype and cast in a separate copy"> {
  let arguments = "rand:128x64:bf16";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 128}, nl::float32, nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 128}, nl::float32, nl::psum);
      nisa::nc_transpose(xT, nl::load(x)); // bfloat16 to float32
      Tensor t = nl::ndarray({64, 128}, nl::float32);
      nisa::tensor_copy(t, xT);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 128}, nl::float32, nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 128}, nl::bfloat16, nl::psum);
      nisa::nc_transpose(xT, nl::load(x));
      Tensor t = nl::ndarray({64, 128}, nl::float32);
      nisa::tensor_copy(t, xT); // the cast
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-05", "trn2 does not compute with float8_e4m3fn",
  "the two e4m3 formats differ: trn2 has the one with infinities, float8_e4m3, whose largest value is 240",
  "convert to float8_e4m3 on the host, or view the bits as it where all values are below 256"> {
  let arguments = "rand:128x64:float8_e4m3fn";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x);
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x).view(nl::float8_e4m3); // the same bits
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-06", "The Tensor Engine takes floats",
  "it has no integer path",
  "convert to bfloat16 (exact to 2^8) or float32 (exact to 2^24)"> {
  let arguments = "iota:128x64:int32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x, nl::float32); // exact up to 2^24
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      nisa::nc_matmul(acc, a, a);
      Tensor t = nl::ndarray({64, 64}, nl::float32);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-07", "A fill value fits the tile",
  "an integer tile holds whole numbers of its range",
  "write a whole number inside the range"> {
  let arguments = "zeros:128x8:int32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x), n = nl::ndarray({128, 8}, nl::int32);
      nisa::memset(n, 2.5f);
      nisa::tensor_tensor(t, t, n, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x), n = nl::ndarray({128, 8}, nl::int32);
      nisa::memset(n, 2);
      nisa::tensor_tensor(t, t, n, nl::add);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-08", "Bit operators need integers of one width, and one class an instruction",
  "they work on raw bits; arithmetic works in fp32",
  "use integer tiles of one dtype, and do not mix the classes in one instruction"> {
  let arguments = "iota:128x8:int32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::bitwise_and, .operand0 = 7,
                           .op1 = nl::add, .operand1 = 1}); // bits, then arithmetic
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::bitwise_and, 7);
      nisa::tensor_scalar(t, t, nl::add, 1);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-09", "A scale tile is float32",
  "the engine reads the scalars of its arithmetic unconverted; bit operators take one of the data's width",
  "declare the scale or scalar tile float32"> {
  let arguments = "rand:128x64:float32 rand:128x1:bf16";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor scale) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), s = nl::load(scale); // bfloat16
      nisa::activation({.dst = t, .op = nl::exp, .data = t, .scale = s});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor scale) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), s = nl::load(scale, nl::float32);
      nisa::activation({.dst = t, .op = nl::exp, .data = t, .scale = s});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-10", "A per-partition operand is [P, 1]",
  "it holds one value for each partition",
  "slice or reshape the operand to one element a partition"> {
  let arguments = "rand:128x64:float32 rand:1x128:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor bias) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::load(bias); // a row
      nisa::activation({.dst = t, .op = nl::exp, .data = t, .bias = b});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor bias) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), b = nl::load(bias.permute({1, 0})); // a column
      nisa::activation({.dst = t, .op = nl::exp, .data = t, .bias = b});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-11", "A predicate is an unsigned integer tile",
  "the engine looks at the bits of the predicate: any that is not 0 selects",
  "produce it with a comparison into uint8"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), mask = nl::ndarray({128, 64}, nl::float32);
      nisa::tensor_scalar(mask, t, nl::less, 0.5f);
      nisa::tensor_copy_predicated(t, 0.0f, mask);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), mask = nl::ndarray({128, 64}, nl::uint8);
      nisa::tensor_scalar(mask, t, nl::less, 0.5f); // 1 or 0, narrowed by the engine
      nisa::tensor_copy_predicated(t, 0.0f, mask);
      nl::store(y, t);
      return y;
    }
  }];
}
def : RuleText<"D-12", "Hardware descriptors move raw bytes",
  "the hardware descriptor block does not convert",
  "make the dtypes equal, or leave dge_mode unset"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, nl::bfloat16, nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, nl::bfloat16);
      nisa::dma_copy({.dst = t, .src = x, .dge_mode = nisa::dge_mode::hwdge});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, nl::bfloat16, nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, nl::bfloat16);
      nisa::dma_copy({.dst = t, .src = x}); // converts on the way
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-13", "int32 values pass through float32",
  "the engines compute in float32, which holds whole numbers up to 2^24; only copies, bit operators and GpSimd's tensor_tensor on three int32 tiles keep all 32 bits",
  "use the instruction the message names"> {
  let severity = "warning";
  let arguments = "iota:128x8:int32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x), u = nl::ndarray({128, 8}, nl::int32);
      nisa::activation(u, nl::copy, t);
      nl::store(y, u);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, nl::int32, nl::shared_hbm);
      Tensor t = nl::load(x), u = nl::ndarray({128, 8}, nl::int32);
      nisa::tensor_copy(u, t);
      nl::store(y, u);
      return y;
    }
  }];
}

def : RuleText<"D-14", "Indices are whole numbers",
  "an index is loaded as the bits it has in memory, so those must be an integer's",
  "copy the indices to an int32 tile, and take the element that is meant"> {
  let arguments = "rand:16x64:float32 ones:1x1:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor row) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      Tensor index = nl::load(row); // a float32 1
      nisa::dma_copy(y, x.select(0, index).reshape({1, 64}));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor row) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      Tensor index = nl::ndarray({1, 1}, nl::int32);
      nisa::tensor_copy(index, nl::load(row));
      nisa::dma_copy(y, x.select(0, index).reshape({1, 64}));
      return y;
    }
  }];
}

def : RuleText<"D-15", "A view of another dtype has whole elements",
  "the bytes of the last dim become elements of the new dtype, so they must divide evenly and lie side by side",
  "slice the last dim to a multiple, or copy to a fresh tile"> {
  let arguments = "zeros:128x10:uint8";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 2}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x);                  // 10 bytes in a partition
      nl::store(y, t.view(nl::float32));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 2}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, ds(0, 8)).view(nl::float32)); // 8 bytes are two float32
      return y;
    }
  }];
}

def : RuleText<"D-16", "A reduction is no operator",
  "nl::max and nl::min fold a tile; instructions combine two values",
  "write nl::maximum or nl::minimum"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::max, 0.0f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::maximum, 0.0f);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"D-17", "A reduction operator reduces",
  "comparisons, shifts and unary operators have no fold",
  "use add, subtract, multiply, maximum, minimum or a bitwise or logical operator"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), top = nl::ndarray({128, 1}, nl::float32);
      nisa::tensor_reduce(top, nl::greater, t, 1);
      nl::store(y, top);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), top = nl::ndarray({128, 1}, nl::float32);
      nisa::tensor_reduce(top, nl::maximum, t, 1);
      nl::store(y, top);
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_DTYPES_TD
