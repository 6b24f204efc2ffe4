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

def : RuleText<"C-02", "A register has no value while tracing",
  "its value exists on the device only",
  "use it as a bound or an offset"> {
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

def : RuleText<"C-05", "What a loop declares stays inside it",
  "every iteration has tensors and indices of its own, so behind the loop there is none to name",
  "declare a tensor before the loop to carry what it holds out of it"> {
  let arguments = "rand:512x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor last;
      nl::affine_for(4, [&](nl::Index i) { last = nl::load(x(ds(i * 128, 128), _)); });
      nl::store(y, last); // of which iteration?
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor last = nl::ndarray({128, 64}, x.dtype());
      nl::affine_for(4, [&](nl::Index i) { nisa::dma_copy(last, x(ds(i * 128, 128), _)); });
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
      nl::affine_for(x.dim(0) / 128 - 2, [&](nl::Index) { nisa::tensor_tensor(t, t, t, nl::add); });
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::affine_for(x.dim(0) / 128, [&](nl::Index) { nisa::tensor_tensor(t, t, t, nl::add); });
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

#endif // KILN_TABLE_RULES_CONTROLFLOW_TD
