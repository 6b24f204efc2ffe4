//===- ControlFlow.td - rules about values and loops of the host and the device ---------------===//

#ifndef KILN_TABLE_RULES_CONTROLFLOW_TD
#define KILN_TABLE_RULES_CONTROLFLOW_TD

include "Base.td"

def : RuleText<"C-01", "A tile has no value while tracing",
  "the kernel is recorded, not run, when the C++ executes",
  "use a comparison and a select instruction"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      if (t(0, 0)) // no element has a value yet
        nisa::tensor_scalar(t, t, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), mask = nl::ndarray({128, 64}, nl::float32);
      nisa::tensor_scalar(mask, t, nl::greater, 0.0f); // 1 or 0 for each element
      nisa::tensor_tensor(t, t, mask, nl::multiply);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"C-02", "Elements and loop indices have no value while tracing",
  "the kernel is recorded, not run: they exist on the device, when it runs",
  "use numbers of the host: shapes, parameters, indices of a C++ loop"> {
  let form = "host";
  let arguments = "rand:128x64:float32 2";
  let wrongArguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      int times = t(0, 0); // the number exists on the device only
      for (int i = 0; i < times; ++i)
        nisa::tensor_scalar(t, t, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, int times) { // a number of the host
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      for (int i = 0; i < times; ++i)
        nisa::tensor_scalar(t, t, nl::multiply, 2.0f);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"C-03", "The counter of a loop is read-only",
  "it is the loop that sets it, before each iteration",
  "use another register; to leave a loop early, use nl::while_loop"> {
  let arguments = "zeros:1:int32";
  let wrong = [{
    Tensor kernel(Tensor n) {
      Tensor y = nl::ndarray({1, 1}, nl::int32, nl::shared_hbm);
      nl::Reg sum = nisa::register_alloc(0);
      nl::fori_loop(0, nisa::register_alloc(n), [&](nl::Reg i) {
        nisa::register_move(i, i + 1); // meant to count in twos
        nisa::register_move(sum, sum + i);
      });
      Tensor t = nl::ndarray({1, 1}, nl::int32);
      nisa::register_store(t, sum);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor n) {
      Tensor y = nl::ndarray({1, 1}, nl::int32, nl::shared_hbm);
      nl::Reg sum = nisa::register_alloc(0);
      nl::fori_loop(0, nisa::register_alloc(n), [&](nl::Reg i) {
        nisa::register_move(sum, sum + i);
      }, {.step = 2});
      Tensor t = nl::ndarray({1, 1}, nl::int32);
      nisa::register_store(t, sum);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"C-04", "The body of a loop of the device returns nothing",
  "it is traced once; what it returned would be of no iteration",
  "carry state in a tensor declared before the loop"> {
  let form = "host";
  let arguments = "rand:256x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      nl::affine_for(2, [&](nl::Index i) {
        nl::store(y(ds(i * 128, 128), _), nl::load(x(ds(i * 128, 128), _)));
        return i;
      });
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      nl::affine_for(2, [&](nl::Index i) {
        nl::store(y(ds(i * 128, 128), _), nl::load(x(ds(i * 128, 128), _)));
      });
      return y;
    }
  }];
}

def : RuleText<"C-05", "What a loop declares stays inside it",
  "every iteration has tensors and indices of its own, so behind the loop there is none to name",
  "declare a tensor before the loop to carry what it holds out of it"> {
  let arguments = "rand:256x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor last;
      nl::affine_for(2, [&](nl::Index i) {
        last = nl::load(x(ds(i * 128, 128), _)); // a tile of this iteration
      });
      nl::store(y, last);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor last = nl::ndarray({128, 64}, x.dtype()); // one tile for all
      nl::affine_for(2, [&](nl::Index i) {
        nisa::dma_copy(last, x(ds(i * 128, 128), _));
      });
      nl::store(y, last);
      return y;
    }
  }];
}

def : RuleText<"C-06", "A loop of the device has a count it can count to",
  "its iterations are counted in 32 bits, and an access holds a step for each of four loops",
  "put a loop inside a loop, or write iterations out with a C++ for"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      const int64_t rows = x.dim(0);
      nl::affine_for(64 - rows, [&](nl::Index) { // -64 times
        nisa::tensor_scalar(t, t, nl::multiply, 0.5f);
      });
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      const int64_t rows = x.dim(0);
      nl::affine_for(rows - 64, [&](nl::Index) { // 64 times
        nisa::tensor_scalar(t, t, nl::multiply, 0.5f);
      });
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"C-11", "Iterations of nl::affine_range are independent",
  "the name promises that no iteration reads or writes what another one writes; matmuls that add to one PSUM tile are fine",
  "index by the loop variable, declare the tile inside the loop, or use nl::range"> {
  let severity = "warning";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      for (int64_t i : nl::affine_range(1, 64)) // a running sum needs its order
        nisa::tensor_tensor(t(_, i), t(_, i), t(_, i - 1), nl::add);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      for (int64_t i : nl::range(1, 64))
        nisa::tensor_tensor(t(_, i), t(_, i), t(_, i - 1), nl::add);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"C-12", "Every output is written",
  "an output nothing wrote would hold arbitrary bytes",
  "check that the loop that writes it runs; nl::ceil_div counts partial tiles"> {
  let arguments = "rand:100x8:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({100, 8}, x.dtype(), nl::shared_hbm);
      for (int64_t m : nl::range(100 / 128)) // 0 tiles
        nl::store(y(ds(m * 128, 128), _), nl::load(x(ds(m * 128, 128), _)));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({100, 8}, x.dtype(), nl::shared_hbm);
      for (Chunk m : nl::tiles(100, 128)) // one tile of 100
        nl::store(y(m, _), nl::load(x(m, _)));
      return y;
    }
  }];
}

def : RuleText<"C-14", "An engine has 64 registers",
  "the sequencer of an engine keeps the registers of the kernel that are live, and all engines use one numbering",
  "keep numbers in a tensor and load them where they are used"> {
  let arguments = "zeros:1:int32";
  let wrong = [{
    Tensor kernel(Tensor n) {
      Tensor y = nl::ndarray({1, 1}, nl::int32, nl::shared_hbm);
      std::vector<nl::Reg> all;
      for (int i = 0; i < 65; ++i)
        all.push_back(nisa::register_alloc(n));
      nl::Reg sum = nisa::register_alloc(0);
      for (nl::Reg r : all)
        nisa::register_move(sum, sum + r);
      Tensor t = nl::ndarray({1, 1}, nl::int32);
      nisa::register_store(t, sum);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor n) {
      Tensor y = nl::ndarray({1, 1}, nl::int32, nl::shared_hbm);
      nl::Reg sum = nisa::register_alloc(0);
      for (int i = 0; i < 65; ++i)
        nisa::register_move(sum, sum + nisa::register_alloc(n));
      Tensor t = nl::ndarray({1, 1}, nl::int32);
      nisa::register_store(t, sum);
      nl::store(y, t);
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_CONTROLFLOW_TD
