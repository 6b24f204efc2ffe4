//===- Chain.cpp - a kernel whose statements lie in helpers, lambdas and templates ---------------------------===//
//
// The test names these lines: keep them where they are.
//
//===--------------------------------------------------------------------------------------------===//

#include "ChainHelpers.h"

#include <algorithm>
#include <functional>

template <int N>
nl::Tensor twice(const nl::Tensor &x) {
  nl::Tensor t = fetch(x); // line 14
  nisa::tensor_scalar({.dst = t, .data = t, .op0 = nl::multiply, .operand0 = N}); // line 15
  return t;
}

nl::Tensor chain(nl::Tensor x) {
  nl::Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm); // line 20
  auto body = [&](int) {
    put(y, twice<2>(x)); // line 22
  };
  std::vector<int> once{1};
  std::for_each(once.begin(), once.end(), body); // line 25
  std::function<void()> later = [&] { fetch(x); }; // line 26
  later(); // line 27
  return y;
}
NL_KERNEL(chain, "x")

nl::Tensor wrong(nl::Tensor x) {
  return twice<2>(x(600)); // line 33
}
NL_KERNEL(wrong, "x")
