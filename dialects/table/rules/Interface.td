//===- Interface.td - rules about kernels, arguments and launches -----------------------------===//

#ifndef KILN_TABLE_RULES_INTERFACE_TD
#define KILN_TABLE_RULES_INTERFACE_TD

include "Base.td"

def : RuleText<"K-01", "Results live in shared HBM",
  "the host reads them there",
  "allocate the result with nl::shared_hbm"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor t = nl::load(x);
      nisa::activation(t, nl::exp, t);
      return t; // on chip: the host cannot read it
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

def : RuleText<"K-02", "Inputs are read-only",
  "the host owns them",
  "declare the parameter nl::InOut, or write a copy"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(x, t); // an argument is read-only
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(InOut x) { // an argument the kernel updates
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(x, t);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"K-03", "A kernel returns something",
  "otherwise nothing of it is visible",
  "return the tensor it computes"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    void kernel(Tensor x) {
      Tensor t = nl::load(x);
      nisa::activation(t, nl::exp, t); // and then?
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

def : RuleText<"K-04", "Shared tensors are declared once",
  "shared_hbm is one memory for all cores of a launch, so each core declares the same tensors: at the top of the kernel, not in a loop or branch",
  "use nl::private_hbm for scratch, or move the declaration to the top"> {
  let severity = "warning";
  let arguments = "rand:256x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(256, 128)) {
        Tensor scratch = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
        nisa::dma_copy(scratch, x(r, _));
        nisa::dma_copy(y(r, _), scratch);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(256, 128)) {
        Tensor scratch = nl::ndarray({128, 64}, x.dtype(), nl::private_hbm);
        nisa::dma_copy(scratch, x(r, _));
        nisa::dma_copy(y(r, _), scratch);
      }
      return y;
    }
  }];
}

def : RuleText<"K-05", "trn2 joins one or two cores",
  "a logical core has at most two",
  "launch on 1 or 2"> {
  let arguments = "rand:128x64:float32";
  let flags = "--cores 4";
  let wrong = [{
    Tensor kernel(Tensor x) { // launched on 4 cores
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) { // launched on 1
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"K-06", "A kernel does not launch kernels",
  "while a kernel is traced nothing runs: there is no result to wait for",
  "call the function of the other kernel; its instructions become part of this one"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    #include "nl/host.h"
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::execute("relu", {nl::Array("rand:128x64:float32")}); // runs on the host
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    void relu(Tensor t) { nisa::tensor_scalar(t, t, nl::maximum, 0.0f); }

    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      relu(t); // its instructions become part of this kernel
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"K-07", "Instructions belong to a kernel",
  "they are recorded into the kernel being traced",
  "call them from a kernel function only"> {
  let form = "alone";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor factor = nl::full({128, 1}, 2, nl::float32); // when the file is loaded

    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::multiply, factor);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), factor = nl::full({128, 1}, 2, nl::float32);
      nisa::tensor_scalar(t, t, nl::multiply, factor);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"K-08", "A tensor belongs to one trace",
  "another trace numbers its tensors anew",
  "create or receive the tensor in this kernel"> {
  let arguments = "rand:128x64:float32";
  let flags = "--trace-twice";
  let wrong = [{
    Tensor kernel(Tensor x) {
      static Tensor kept = nl::load(x, {}); // of the first trace only
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, kept);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor t = nl::load(x);
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"K-09", "A kernel depends on its arguments only",
  "it is traced once for its shapes and the result is kept; --trace-twice compares two traces",
  "pass what changes as an argument"> {
  let arguments = "rand:128x64:float32";
  let flags = "--trace-twice";
  let wrong = [{
    Tensor kernel(Tensor x) {
      static int calls = 0;
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::add, ++calls); // another number each time
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_scalar(t, t, nl::add, 1);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"K-10", "Arguments match the parameters",
  "a kernel is traced for the shapes and dtypes it is given",
  "pass the arguments the message lists"> {
  let arguments = "rand:128x64:float32";
  let wrongArguments = "rand:1x128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) { // called with a 1x128x64 array
      const auto [M, N] = x.dims<2>();
      Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) { // called with a 128x64 array
      const auto [M, N] = x.dims<2>();
      Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"K-11", "A removed name",
  "NKI dropped it",
  "use the replacement in the message"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, nl::arange(32)));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, nl::slice(0, 32)));
      return y;
    }
  }];
}

def : RuleText<"K-12", "A kernel has a bounded number of instructions",
  "host loops are unrolled while tracing; one without an end would take all memory",
  "end the loop, enlarge the tiles, or run a smaller shape"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      int64_t column = 0;
      while (column < 64) // column never grows
        nisa::tensor_scalar(t(_, column), t(_, column), nl::multiply, 0.5f);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      for (int64_t column = 0; column < 64; ++column)
        nisa::tensor_scalar(t(_, column), t(_, column), nl::multiply, 0.5f);
      nl::store(y, t);
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_INTERFACE_TD
