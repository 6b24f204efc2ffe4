//===- Cplusplus.td - rules about C++ ---------------------------------------------------------===//

#ifndef KILN_TABLE_RULES_CPLUSPLUS_TD
#define KILN_TABLE_RULES_CPLUSPLUS_TD

include "Base.td"

def : RuleText<"H-01", "Fields of an instruction stand in order",
  "C++ wants designated initialisers in the order of the declaration, which is that of NKI's parameters",
  "write dst first, then as nl/isa.h lists them"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.src = x, .dst = t}); // dst comes first
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.dst = t, .src = x});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"H-02", "Names of nl are written with nl::",
  "exp, log, sqrt and others are functions of the C library as well",
  "write nl::exp, and leave `using namespace nl` out"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    #include <cmath>
    using namespace nl;

    Tensor kernel(Tensor x) {
      Tensor y = ndarray({128, 64}, x.dtype(), shared_hbm);
      Tensor t = load(x);
      nisa::activation({.dst = t, .op = exp, .data = t}); // ::exp or nl::exp?
      store(y, t);
      return y;
    }
  }];
  let right = [{
    #include <cmath>

    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::activation({.dst = t, .op = nl::exp, .data = t});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"H-03", "Subscripts are separated by a call or braces",
  "in C++20 the comma in t[i, j] is an operator that drops i",
  "write t(i, j), or t[{i, j}]"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t[_, ds(0, 8)]); // in C++20 that is t[ds(0, 8)]
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, ds(0, 8)));
      return y;
    }
  }];
}

def : RuleText<"H-04", "A handle is no storage",
  "t(_, 0) makes a temporary handle; assigning to it would change nothing in the tile",
  "write nisa::tensor_copy(t(_, 0), x)"> {
  let form = "host";
  let arguments = "rand:128x64:float32 rand:128x1:float32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor column) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), c = nl::load(column);
      t(_, 0) = c; // a handle is no storage
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor column) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), c = nl::load(column);
      nisa::tensor_copy(t(_, 0), c);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"H-05", "Tiles are counted with the remainder",
  "in C++ the division M / t rounds down, so a loop over M / t tiles leaves the last rows out",
  "use nl::tiles(M, t) or nl::ceil_div(M, t)"> {
  let severity = "warning";
  let arguments = "rand:200x8:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({200, 8}, x.dtype(), nl::shared_hbm);
      for (int64_t m = 0; m < 200 / 128; ++m) // one tile, 72 rows are left
        nl::store(y(ds(m * 128, 128), _), nl::load(x(ds(m * 128, 128), _)));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({200, 8}, x.dtype(), nl::shared_hbm);
      for (Chunk m : nl::tiles(200, 128)) // 128 and 72
        nl::store(y(m, _), nl::load(x(m, _)));
      return y;
    }
  }];
}

def : RuleText<"H-06", "A lambda captures structured bindings by value",
  "clang before version 16 does not capture them by reference",
  "capture by value, as in [M = M], or use named variables"> {
  let form = "host";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      const auto [M, N] = x.dims<2>();
      auto tile = [&] { return nl::ndarray({M, N}, x.dtype()); }; // clang before 16
      Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm), t = tile();
      nisa::dma_copy(t, x);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      const auto [M, N] = x.dims<2>();
      auto tile = [&, M = M, N = N] { return nl::ndarray({M, N}, x.dtype()); };
      Tensor y = nl::ndarray({M, N}, x.dtype(), nl::shared_hbm), t = tile();
      nisa::dma_copy(t, x);
      nl::store(y, t);
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_CPLUSPLUS_TD
