//===- Values.td - rules about whole tensors --------------------------------------------------===//

#ifndef KILN_TABLE_RULES_VALUES_TD
#define KILN_TABLE_RULES_VALUES_TD

include "Base.td"

def : RuleText<"T-01", "Shapes broadcast",
  "functions of several tensors pair elements by NumPy's rules: dims count from the last, and extents are "
  "equal or 1",
  "give the smaller operand dims of extent 1 where it is to repeat"> {
  let arguments = "rand:200x300:float32 rand:200:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor offsets) {
      return nl::exp(x + offsets); // 300 columns, but 200 offsets
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor offsets) {
      return nl::exp(x + nl::reshape(offsets, {200, 1})); // one for each row
    }
  }];
}

def : RuleText<"T-02", "Operands of a matmul agree",
  "the last dim of x and the last but one of y are the contraction; leading dims broadcast",
  "set transpose_x or transpose_y, or reshape a vector to a row or a column"> {
  let arguments = "rand:200x64:bfloat16 rand:300x64:bfloat16";
  let wrong = [{
    Tensor kernel(Tensor q, Tensor k) {
      return nl::matmul(q, k); // 64 columns of q, but 300 rows of k
    }
  }];
  let right = [{
    Tensor kernel(Tensor q, Tensor k) {
      return nl::matmul(q, k, {.transpose_y = true}); // k holds [N, K]
    }
  }];
}

def : RuleText<"T-03", "Axes are dims of the operand",
  "axes are numbered from 0, or from -1 backwards, and each is named once",
  "use an axis the tensor has; the last one is -1"> {
  let arguments = "rand:200x300:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      return nl::softmax(x, 2); // dims 0 and 1 only
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      return nl::softmax(x, -1);
    }
  }];
}

def : RuleText<"T-04", "A value is not memory",
  "the result of an nl:: function has no bytes until the compiler gives it some, so nothing writes to it or "
  "looks at them",
  "write to a tensor of nl::ndarray, or compute a new value; nl::store writes a value to memory"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor v = nl::exp(x);
      nisa::memset(v(_, ds(0, 8)), 0); // v is no tile
      return v;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor v = nl::exp(x), y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor zeros = nl::zeros({128, 8}, x.dtype());
      nl::store(y(_, ds(0, 8)), zeros);
      nl::store(y(_, ds(8, 56)), v(_, ds(8, 56)));
      return y;
    }
  }];
}

def : RuleText<"T-05", "An instruction reads a value as a tile",
  "passed to a nisa:: function a value fills one SBUF tile: 2 to 5 dims, at most 128 partitions, and the "
  "rest of the dims inside a partition",
  "pass parts of it, by subscripts, or nl::store it to HBM"> {
  let arguments = "rand:200x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor v = nl::exp(x), y = nl::ndarray({200, 64}, x.dtype(), nl::shared_hbm);
      nisa::dma_copy(y, v); // 200 rows in one tile
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor v = nl::exp(x), y = nl::ndarray({200, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(200, nl::tile_size.pmax))
        nisa::dma_copy(y(r, _), v(r, _));
      return y;
    }
  }];
}

def : RuleText<"T-06", "A hint can be kept",
  "nl::hint is a wish the compiler keeps or refuses with the reason; it never drops one",
  "ask for what the message allows, or leave the hint out"> {
  let arguments = "rand:200x300:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      return nl::hint(nl::exp(x), {.tile = {256, 300}}); // 200 rows
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      return nl::hint(nl::exp(x), {.tile = {100, 300}});
    }
  }];
}

def : RuleText<"T-07", "Values fit beside the kernel's own tiles",
  "the compiler cuts values to tiles of what SBUF has left where the kernel's own tiles are fullest; one "
  "operation in its smallest tiles has to fit",
  "let tiles of your own be smaller, or compute values in a kernel without them"> {
  let arguments = "rand:128x64:float32 rand:64x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor w) {
      Tensor y = nl::ndarray({128, 53180}, x.dtype(), nl::shared_hbm);
      Tensor all = nl::ndarray({128, 53180}, x.dtype(), nl::sbuf); // 212720 of 212984 bytes
      nisa::memset(all, 1);
      nisa::tensor_copy(all(_, ds(0, 64)), nl::matmul(x, w));
      nisa::dma_copy(y, all);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor w) {
      Tensor y = nl::ndarray({128, 52064}, x.dtype(), nl::shared_hbm);
      Tensor rest = nl::ndarray({128, 52000}, x.dtype(), nl::sbuf); // 4984 bytes are left
      nisa::memset(rest, 1);
      nisa::dma_copy(y(_, ds(64, 52000)), rest);
      nl::store(y(_, ds(0, 64)), nl::matmul(x, w));
      return y;
    }
  }];
}

def : RuleText<"T-08", "Whole tensors are computed outside loops of the device",
  "the body of nl::affine_for is traced once and runs many times; the compiler cuts whole tensors into loops "
  "of its own",
  "compute the value before the loop, or write the iterations out with a C++ for"> {
  let arguments = "rand:4x128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({4, 128, 64}, x.dtype(), nl::shared_hbm);
      nl::affine_for(4, [&](nl::Index i) {
        nl::store(y(i), nl::softmax(x(i))); // part of the loop
      });
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      return nl::softmax(x); // all four at once
    }
  }];
}

#endif // KILN_TABLE_RULES_VALUES_TD
