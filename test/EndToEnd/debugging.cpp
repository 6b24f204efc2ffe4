//===- debugging.cpp - kernels that debugging.py looks into -----------------------------------===//

#include "nl/nl.h"

using nl::ds, nl::Tensor, nl::_;

/// Shows a part of `t`; its own line and the caller's belong to the print.
static void show(const Tensor &t) { nl::device_print("helper's", t(ds(1, 2), ds(0, 3))); }

/// Running sums of blocks of 4 rows, with prints of every memory if `shown`.
Tensor running_sums(Tensor x, bool shown) {
  const auto [rows, columns] = x.dims<2>();
  Tensor y = nl::ndarray({rows, columns}, nl::float32, nl::shared_hbm, {.name = "y"});
  Tensor sum = nl::zeros({4, columns}, nl::float32, nl::sbuf, {.name = "sum"});
  nl::affine_for(rows / 4, [&](nl::Index i) {
    Tensor t = nl::load(x(ds(i * 4, 4), _));
    nisa::tensor_tensor(sum, sum, t, nl::add);
    if (shown) {
      nl::device_print("sbuf", sum);
      show(sum);
    }
    nl::store(y(ds(i * 4, 4), _), sum);
    if (shown)
      nl::device_print("hbm", y(ds(i * 4 + 3, 1), _));
  });
  if (shown)
    nl::device_print("y = ", y);
  return y;
}
NL_KERNEL(running_sums, "x", "shown")

/// A nest: outer iterations stay, inner ones are partly written out.
Tensor nest(Tensor x, bool shown) {
  const auto [rows, columns] = x.dims<2>();
  Tensor y = nl::ndarray({rows, columns}, nl::float32, nl::shared_hbm);
  nl::affine_for(rows, [&](nl::Index i) {
    Tensor t = nl::load(x(ds(i, 1), _));
    nl::affine_for(columns, [&](nl::Index j) {
      Tensor element = t(_, ds(j, 1));
      nisa::tensor_scalar(element, element, nl::multiply, 2);
      if (shown)
        nl::device_print("element", element);
    });
    nl::store(y(ds(i, 1), _), t);
  });
  return y;
}
NL_KERNEL(nest, "x", "shown")

/// The accumulator of a matmul, and a transpose of bits through a view of another dtype.
Tensor product(Tensor a, Tensor b, bool shown) {
  Tensor y = nl::ndarray({a.dim(1), b.dim(1)}, nl::float32, nl::shared_hbm);
  Tensor acc = nl::ndarray({a.dim(1), b.dim(1)}, nl::float32, nl::psum, {.name = "acc"});
  Tensor s = nl::load(a), m = nl::load(b);
  for (int k = 0; k < 2; ++k) {
    nisa::nc_matmul({.dst = acc, .stationary = s, .moving = m, .accumulate = k > 0});
    if (shown)
      nl::device_print("acc", acc);
  }
  Tensor out = nl::ndarray(acc.shape(), nl::float32);
  nisa::tensor_copy(out, acc);
  nl::store(y, out);
  return y;
}
NL_KERNEL(product, "a", "b", "shown")

/// Prints, then reads what nobody wrote.
Tensor fails_after_print(Tensor x) {
  Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  Tensor t = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "t"});
  nisa::memset(t(_, ds(0, 1)), 7);
  nl::device_print("written", t(_, ds(0, 1)));
  nl::device_print("not written", t);
  nl::store(y, t);
  return y;
}
NL_KERNEL(fails_after_print, "x")
