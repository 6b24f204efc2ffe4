//===- ValueDiagnosticTest.cpp - what values refuse -------------------------------------------===//
//
// Every message whole, with the numbers it names. A kernel goes on after an error, so that one run
// shows all of them and no message is about a consequence.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace kiln;
using namespace kiln::test;
using nl::_;

namespace {

TensorArg f32(std::vector<int64_t> shape) { return {DType::Float32, std::move(shape)}; }

/// Lines of this file move; PointsAtTheStatementAndItsOperands looks at them.
std::string withoutLines(std::string text) {
  for (size_t at = text.find("line "); at != std::string::npos; at = text.find("line ", at + 1)) {
    const size_t digits = at + 5;
    const size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    if (end > digits)
      text.replace(digits, end - digits, "N");
  }
  return text;
}

/// Errors of a kernel of x, 128x512 float32, and y, 4x6 float32.
template <class Lambda>
std::string errorsIn(Lambda kernel, nl::SrcLoc place = nl::SrcLoc::current()) {
  return withoutLines(errorsOf(traceOf(kernel, {f32({128, 512}), f32({4, 6})}, {"x", "y"}, place)));
}

//---- shapes -------------------------------------------------------------===//

TEST(ValueDiagnostic, Broadcasting) {
  EXPECT_EQ(errorsIn([](Tensor x, Tensor y) { return x + y; }),
            "[T-01] 'add' of (128, 512) and (4, 6): these shapes do not broadcast, dim 0 is 128 "
            "and 4 (extents must be equal or 1, dims count from the last; reshape, slice or repeat "
            "one of the operands)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor y) { return nl::where(x, y, 0); }),
            "[T-01] 'select' of (128, 512), (4, 6) and (1,): these shapes do not broadcast, dim 0 "
            "is 128 and 4 (extents must be equal or 1, dims count from the last; reshape, slice or "
            "repeat one of the operands)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor y) { return nl::rms_norm(x, y); }),
            "[T-01] 'rmsnorm' of (128, 512): the factor is (4, 6), which does not broadcast to it "
            "(make it (1, 512) or (512,))");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::broadcast_to(y, {4, 7}); }),
            "[T-01] 'broadcast' of (4, 6) to (4, 7): dims, counted from the last, must be equal or "
            "1 (reshape the operand so that the dims to repeat have extent 1)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor y) { return nl::concatenate({x, y}, 0); }),
            "[T-01] 'concat' along axis 0 of (128, 512) and (4, 6): the other dims must be equal "
            "(reshape, slice or pad one of them, or choose another axis)");
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor) { return nl::concatenate({x, nl::cast(x, nl::int8)}, 0); }),
      "[D-03] 'concat' moves elements without changing them: its 2nd operand is int8, its result "
      "float32 (cast in a separate operation)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor) { return nl::concatenate({}, 0); }),
            "[T-01] nl::concatenate joins nothing (give it at least one tensor)");
}

TEST(ValueDiagnostic, Matmul) {
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor y) { return nl::matmul(x, y); }),
      "[T-02] 'matmul' of (128, 512) and (4, 6): the contraction dim is 512 in the first and 4 in "
      "the second (the last dim of the first must equal the last but one of the second)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor y) { return nl::matmul(x, nl::max(y, 0)); }),
            "[T-02] 'matmul' of (128, 512) and (6,): an operand has rank 1, both must have 2 or "
            "more (reshape a vector to one row (1, n) or one column (n, 1))");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) {
              return nl::matmul(nl::cast(x, nl::int32), x, {.transpose_y = true});
            }),
            "[D-06] the Tensor Engine has no integer path: the 1st operand of 'matmul' is int32 "
            "(cast to bfloat16 (exact up to 2^8) or float32 (exact up to 2^24))");
}

TEST(ValueDiagnostic, Axes) {
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::softmax(x, 2); }),
            "[T-03] axis 2 of nl::softmax is outside the 2 dims of its operand (axes are numbered "
            "0 to 1, or -2 to -1 from the end)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::sum(x, -3); }),
            "[T-03] axis -3 of nl::sum is outside the 2 dims of its operand (axes are numbered 0 "
            "to 1, or -2 to -1 from the end)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::sum(x, {0, -2}); }),
            "[T-03] 'reduce' of (128, 512) over axes (0, 0): axis 0 is named twice (name each axis "
            "once, in ascending order)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::sum(x, {0, 1, 0, 1, 0, 1}); }),
            "[T-03] nl::sum names 6 axes of 2 dims (name each axis once)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::max(nl::sum(x, 0), 1); }),
            "[T-03] axis 1 of nl::max is outside the 1 dim of its operand (the only axis is 0)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::transpose(x, {0, -2}); }),
            "[T-03] 'transpose' of (128, 512) with axes (0, 0): each of 0 to 1 must be named once "
            "(axes (1, 0) reverse all dims)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::transpose(x, {1, 0, 2, 3, 4, 5, 6}); }),
            "[T-03] 'transpose' of (128, 512) with axes (1, 0, 2, 3, 4, 1, 1): each of 0 to 1 must "
            "be named once (axes (1, 0) reverse all dims)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::expand_dims(x, 3); }),
            "[T-03] axis 3 of nl::expand_dims is outside the 3 dims of the result (axes are "
            "numbered 0 to 2, or -3 to -1 from the end)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::stack({x, x}, -4); }),
            "[T-03] axis -4 of nl::stack is outside the 3 dims of the result (axes are numbered 0 "
            "to 2, or -3 to -1 from the end)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::concatenate({x, x}, 2); }),
            "[T-03] axis 2 of nl::concatenate is outside the 2 dims of its operand (axes are "
            "numbered 0 to 1, or -2 to -1 from the end)");
  EXPECT_EQ(
      errorsIn([](Tensor, Tensor) { return nl::iota({4}, 1); }),
      "[T-03] 'iota' over axis 1 of a value of rank 1: axes are 0 to 0 (the last dim is axis 0)");
}

TEST(ValueDiagnostic, Extents) {
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor) { return nl::reshape(x, {3, -1}); }),
      "[V-04] nl::reshape of (128, 512) to (3, -1): no extent in place of -1 makes that 65536 "
      "elements (one extent may be -1, and the others must divide the number of elements)");
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor) { return nl::reshape(x, {-1, -1}); }),
      "[V-04] nl::reshape of (128, 512) to (-1, -1): no extent in place of -1 makes that 65536 "
      "elements (one extent may be -1, and the others must divide the number of elements)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::reshape(x, {128, 511}); }),
            "[V-04] 'reshape' of (128, 512) to (128, 511): 65536 elements are not 65408 (the "
            "extents must multiply to as many elements; slice or pad to change their number)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::reshape(x, {2, 2, 2, 2, 2, 2048}); }),
            "[S-06] the result of 'reshape' has rank 6, a value has rank 1 to 5: (2, 2, 2, 2, 2, "
            "1) (make neighbouring dims one with reshape)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor) { return nl::iota({4, 0}, 0); }),
            "[V-02] the result of 'iota' is (4, 0): dim 1 has extent 0, extents are 1 or more "
            "(leave out operations on nothing)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::pad(y, {{1, 1}}); }),
            "[V-03] 'pad' has 1 start for a value of rank 2 (give 2, one for each dim)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::pad(y, {{0, 1}, {-1, 0}}); }),
            "[V-02] 'pad' of (4, 6) puts -1 in front of dim 1 and 0 behind it; both are 0 or more "
            "(slice to make a value smaller)");
}

TEST(ValueDiagnostic, Subscripts) {
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y)(4, 7); }),
            "[V-01] index 4 is outside dim 0 of the 4x6 float32 value of line N (extent 4) (use 0 "
            "to 3, or -4 to -1 counted from the end)\n"
            "[V-01] index 7 is outside dim 1 of the 4x6 float32 value of line N (extent 6) (use 0 "
            "to 5, or -6 to -1 counted from the end)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y)(ds(2, 3), nl::slice(3, 3)); }),
            "[P-14] slice [2, 5) exceeds dim 0 of the 4x6 float32 value of line N (extent 4) (clip "
            "it with nl::tiles(4, 3) or std::min(end, 4))\n"
            "[V-02] slice [3, 3) of dim 1 of the 4x6 float32 value of line N is empty (slice takes "
            "start and end, ds start and size; skip the statement when nothing is left)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y)(0, 0, 0); }),
            "[V-03] 3 indices for a rank-2 tensor, the 4x6 float32 value of line N (its shape is "
            "(4, 6): give at most 2)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y).permute({0, 0}); }),
            "[T-03] 'transpose' of (4, 6) with axes (0, 0): each of 0 to 1 must be named once "
            "(axes (1, 0) reverse all dims)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y).permute({0}); }),
            "[V-03] permute takes each of the 2 dims of the 4x6 float32 value of line N once, got "
            "(0,) (name the dims 0 to 1 in their new order)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y).broadcast(0, 4); }),
            "[V-07] only extent-1 dims can be broadcast, dim 0 of the 4x6 float32 value of line N "
            "has extent 4 (take one element of it first, as in slice(0, 0, 1), or add a dim with "
            "expand_dim(0))");
  EXPECT_EQ(errorsIn([](Tensor, Tensor y) { return nl::exp(y).reshape({5, 5}); }),
            "[V-04] cannot reshape the 4x6 float32 value of line N from (4, 6) to (5, 5): 24 "
            "elements become 25 (make the extents multiply to 24, or write one of them as -1)");
}

//---- dtypes and operators -----------------------------------------------===//

TEST(ValueDiagnostic, Operators) {
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor) { return nl::add(x); }),
      "[D-08] nl::add takes two operands, one is given (give it another tensor, or a number)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::exp(x, x); }),
            "[D-08] nl::exp takes one operand, two are given (leave the second out)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::abs(x, 2); }),
            "[D-08] nl::abs takes one operand, two are given (leave the second out)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::bitwise_and(x, 1); }),
            "[D-08] 'bitwise_and' needs integers, its left operand is float32 (cast the operand to "
            "an integer dtype first)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::invert(x); }),
            "[D-08] nl::invert needs integers, its operand is float32 (cast the operand to an "
            "integer dtype first)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) {
              return nl::pad(nl::cast(x, nl::int8), {{0, 0}, {1, 1}}, 0.5);
            }),
            "[D-07] the value of nl::pad is floating, its operand is int8 (write a whole number)");
}

//---- values are not memory ----------------------------------------------===//

TEST(ValueDiagnostic, NotMemory) {
  {
    auto kernel = [](Tensor x, Tensor) {
      Tensor v = nl::exp(x);
      nisa::memset(v, 0);
      return v;
    };
    EXPECT_EQ(
        errorsIn(kernel),
        "[T-04] dst of nisa::memset is the 128x512 float32 value of line N, and a value is not "
        "memory (write to a tile declared with nl::ndarray; nl:: functions make new values)");
  }
  {
    auto kernel = [](Tensor x, Tensor) {
      Tensor v = nl::exp(x);
      nl::store(v, x);
      return v;
    };
    EXPECT_EQ(errorsIn(kernel),
              "[T-04] dst of nl::store is the 128x512 float32 value of line N, and a value is not "
              "memory (store to a tensor declared with nl::ndarray; to change part of a value, "
              "build a new one with nl::concatenate or nl::where)");
  }
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::exp(x).view(nl::int32); }),
            "[T-04] view of the 128x512 float32 value of line N: a value has elements, and no "
            "bytes to view (nl::store it to a tensor declared with nl::ndarray, and view that)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::exp(x).ap({{1, 4}}); }),
            "[T-04] ap of the 128x512 float32 value of line N: a value has elements, and no bytes "
            "to view (nl::store it to a tensor declared with nl::ndarray, and view that)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::load(nl::exp(x)); }),
            "[T-04] nl::load reads memory, the 128x512 float32 value of line N is none (use the "
            "value as it is: nl:: functions and inputs of nisa:: functions take it)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return nl::exp(x.view(nl::int32)); }),
            "[T-04] an operand of nl::exp reads the bits of 'x' as int32, they are float32 (values "
            "have elements, not bits: use nisa:: functions, or nl::cast to convert)");
  EXPECT_EQ(
      errorsIn([](Tensor x, Tensor) { return nl::ndarray({4}, nl::float32, nl::exp(x).buffer()); }),
      "[T-04] nl::ndarray declares memory, and a value is not memory (choose nl::sbuf, nl::psum, "
      "nl::hbm or nl::shared_hbm)");
}

TEST(ValueDiagnostic, NoTile) {
  auto kernel = [](Tensor x, Tensor y) {
    Tensor t = nl::ndarray({128, 512}, nl::float32);
    nisa::tensor_copy(t, nl::concatenate({x, x}, 0));
    nisa::tensor_copy(t, nl::broadcast_to(nl::sum(y, 0), {1, 9000, 6}));
    nisa::tensor_copy(t, nl::sum(x, 0));
    return x + 1;
  };
  EXPECT_EQ(
      errorsIn(kernel),
      "[T-05] src of nisa::tensor_copy, the 256x512 float32 value of line N, would need 256 "
      "partitions, a tile has at most 128 (cut it: subscripts of a value are values, and "
      "nl::store writes one of any size to HBM)\n"
      "[T-05] src of nisa::tensor_copy, the 1x9000x6 float32 value of line N, would need 216000 "
      "bytes of each partition, 212984 are usable (cut it: subscripts of a value are values, and "
      "nl::store writes one of any size to HBM)\n"
      "[T-05] src of nisa::tensor_copy, the 512 float32 value of line N, has rank 1, a tile has "
      "a partition dim and at least one free dim (reshape it to (1, 512) or (512, 1))");
}

TEST(ValueDiagnostic, ATileOfTheLargestSize) {
  // 53,246 float32 fill the usable 212,984 bytes of a partition.
  auto copies = [](Tensor x) {
    Tensor v = nl::exp(x), y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
    nisa::dma_copy(y, v);
    return y;
  };
  EXPECT_EQ(errorsOf(traceOf(copies, {f32({128, 53246})}, {"x"})), "");
  EXPECT_EQ(withoutLines(errorsOf(traceOf(copies, {f32({128, 53247})}, {"x"}))),
            "[T-05] src of nisa::dma_copy, the 128x53247 float32 value of line N, would need "
            "212988 bytes of each partition, 212984 are usable (cut it: subscripts of a value are "
            "values, and nl::store writes one of any size to HBM)");
  EXPECT_EQ(withoutLines(errorsOf(traceOf(copies, {f32({129, 1})}, {"x"}))),
            "[T-05] src of nisa::dma_copy, the 129x1 float32 value of line N, would need 129 "
            "partitions, a tile has at most 128 (cut it: subscripts of a value are values, and "
            "nl::store writes one of any size to HBM)");
}

TEST(ValueDiagnostic, Stores) {
  auto kernel = [](Tensor x, Tensor y) {
    nl::store(x, nl::exp(x));
    nl::store(Tensor(), nl::exp(x));
    Tensor z = nl::ndarray({4, 6}, nl::float32, nl::shared_hbm, {.name = "z"});
    nl::store(z, nl::exp(x));
    nl::store(z(ds(0, 1)).broadcast(0, 4), nl::exp(y));
    nl::store(z.view(nl::uint8), nl::exp(y));
    return z;
  };
  EXPECT_EQ(errorsIn(kernel),
            "[K-02] 'x' is a kernel input and read-only (declare the parameter as nl::InOut, or "
            "copy it to a tensor of your own)\n"
            "[K-08] dst of nl::store is an empty handle: it names no tensor (assign it the "
            "result of nl::ndarray or of an nl:: function first)\n"
            "[S-09] dst of nl::store is (4, 6), the value is (128, 512) (they must have as many "
            "elements: store to a part of dst, or use nl::broadcast_to)\n"
            "[V-08] dst of nl::store repeats storage (stride 0 in dim 0): several values would "
            "land in one place (store to a view without broadcast dims)\n"
            "[T-04] dst of nl::store reads the bits of 'z' as uint8, they are float32 (values "
            "have elements, not bits: use nisa:: functions, or nl::cast to convert)");
}

TEST(ValueDiagnostic, Handles) {
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return x + Tensor(); }),
            "[K-08] an operand of nl::add is an empty handle: it names no tensor (assign it the "
            "result of nl::ndarray or of an nl:: function first)");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return x / Tensor(); }),
            "[K-08] an operand of operator / is an empty handle: it names no tensor (assign it the "
            "result of nl::ndarray or of an nl:: function first)");
}

TEST(ValueDiagnostic, OtherTraces) {
  static Tensor kept;
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return kept = nl::exp(x); }), "");
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return x + kept; }),
            "[K-08] an operand of nl::add is a 128x512 float32 value, which belongs to a finished "
            "trace of 'k' (declare tensors inside the kernel function)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor) { return kept; }),
            "[K-08] result 0 is a 128x512 float32 value, which belongs to a finished trace of 'k' "
            "(return a tensor this call of the kernel declared)");
  EXPECT_EQ(errorsIn([](Tensor, Tensor) { return kept(0); }),
            "[K-08] an operand of nl::Tensor::subscript is a 128x512 float32 value, which belongs "
            "to a finished trace of 'k' (declare tensors inside the kernel function)");
}

TEST(ValueDiagnostic, OutsideAKernel) {
  nl::exp(1.0f);
  Tensor() + 1;
  EXPECT_EQ(errorsIn([](Tensor x, Tensor) { return x + 1; }),
            "[K-07] nl::exp called outside a kernel (call it from the kernel function, on the "
            "thread that runs it)\n"
            "[K-07] nl::add called outside a kernel (call it from the kernel function, on the "
            "thread that runs it)");
}

//---- loops --------------------------------------------------------------===//

TEST(ValueDiagnostic, Loops) {
  {
    auto kernel = [](Tensor x, Tensor) {
      Tensor y = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm);
      nl::affine_for(
          4, [&](nl::Index i) { nl::store(y(ds(i * 32, 32)), nl::exp(x(ds(i * 32, 32))) * 2); });
      return y;
    };
    EXPECT_EQ(errorsIn(kernel),
              "[T-08] nl::exp is called inside the nl::affine_for of line N, where whole tensors "
              "cannot be computed (compute the value before the loop, write the iterations out "
              "with a C++ for, or use nisa:: functions on tiles)");
  }
  {
    auto kernel = [](Tensor x, Tensor) {
      Tensor y = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm), v = nl::exp(x);
      nl::affine_for(4, [&](nl::Index i) { nisa::dma_copy(y(ds(i * 32, 32)), v); });
      return y;
    };
    EXPECT_EQ(errorsIn(kernel),
              "[T-08] src of nisa::dma_copy, the 128x512 float32 value of line N, is read inside "
              "the nl::affine_for of line N, where whole tensors cannot be computed (nl::store it "
              "to an nl::ndarray tile before the loop)");
  }
}

TEST(ValueDiagnostic, ATileMadeBeforeALoopIsReadInIt) {
  auto kernel = [](Tensor x, Tensor) {
    Tensor y = nl::ndarray({4, 128, 512}, nl::float32, nl::shared_hbm), v = nl::exp(x);
    Tensor t = nl::ndarray({128, 512}, nl::float32);
    nisa::tensor_copy(t, v);
    nl::affine_for(4, [&](nl::Index i) { nisa::dma_copy(y(i), v); });
    return y;
  };
  EXPECT_EQ(errorsIn(kernel), "");
}

TEST(ValueDiagnostic, TensorsOfLoops) {
  auto kernel = [](Tensor x, Tensor) {
    Tensor moved, inside;
    nl::affine_for(4, [&](nl::Index i) {
      moved = x(ds(i * 32, 32));
      inside = nl::ndarray({32, 512}, nl::float32, nl::sbuf, {.name = "inside"});
      nisa::dma_copy(inside, moved);
    });
    Tensor v = nl::exp(moved);
    return v + inside;
  };
  EXPECT_EQ(errorsIn(kernel),
            "[C-05] an operand of nl::exp is a view of 'x' that moves with an nl::affine_for which "
            "has ended (take the view with numbers of the host)\n"
            "[C-05] 'inside' exists only inside the nl::affine_for of line N (declare it before "
            "the loop)");
}

//---- hints --------------------------------------------------------------===//

TEST(ValueDiagnostic, Hints) {
  auto kernel = [](Tensor x, Tensor) {
    nl::hint(x, {.partition_dim = 2});
    nl::hint(x, {.tile = {128}});
    nl::hint(x, {.tile = {129, 0}});
    nl::hint(x, {.buffers = 0});
    nl::hint(x, {.in = nl::sbuf});
    return nl::hint(x, {.partition_dim = -2, .tile = {128, 0}, .buffers = 1});
  };
  EXPECT_EQ(errorsIn(kernel),
            "[T-03] axis 2 of nl::hint is outside the 2 dims of its operand (axes are numbered 0 "
            "to 1, or -2 to -1 from the end)\n"
            "[T-06] the tile of nl::hint has 1 extents, the value (128, 512) has 2 dims (give "
            "one extent a dim; 0 leaves it to the compiler)\n"
            "[T-06] the tile of nl::hint has extent 129 in dim 0, the value (128, 512) allows 0 "
            "to 128 (0 leaves it to the compiler)\n"
            "[T-06] nl::hint asks for 0 buffers (one tile in flight is the least)\n"
            "[T-06] nl::hint asks for the value in sbuf (only .in = nl::hbm can be asked for: "
            "SBUF and PSUM are the compiler's to share out)");
}

//---- one error, one message ---------------------------------------------===//

TEST(ValueDiagnostic, ConsequencesAreQuiet) {
  auto kernel = [](Tensor x, Tensor y) {
    Tensor bad = x + y;
    Tensor t = nl::ndarray({128, 512}, nl::float32);
    nisa::tensor_copy(t, bad);
    Tensor worse = nl::matmul(nl::transpose(bad), nl::softmax(bad(0), 7));
    nl::store(t, worse);
    nl::hint(worse, {.partition_dim = 9});
    return nl::sum(nl::concatenate({bad, worse}, 5), 8);
  };
  EXPECT_EQ(errorsIn(kernel),
            "[T-01] 'add' of (128, 512) and (4, 6): these shapes do not broadcast, dim 0 is 128 "
            "and 4 (extents must be equal or 1, dims count from the last; reshape, slice or "
            "repeat one of the operands)");
}

TEST(ValueDiagnostic, WhatCannotBeComputedHasItsShape) {
  auto kernel = [](Tensor x, Tensor y) {
    Tensor bad = x + y; // as if it were x
    const auto [rows] = nl::sum(bad, 1).dims<1>();
    const auto [m, n] = nl::matmul(bad, bad, {.transpose_y = true}).dims<2>();
    const auto [one, k] = nl::expand_dims(nl::reshape(bad, {-1}), 0).dims<2>();
    nl::require(rows == 128 && m == 128 && n == 128 && one == 1, "{} {} {} {}", rows, m, n, one);
    nl::require(nl::transpose(bad).dim(0) == 512 && bad(0).rank() == 1, "{}", k);
    return bad;
  };
  EXPECT_EQ(errorsIn(kernel), "[T-01] 'add' of (128, 512) and (4, 6): these shapes do not "
                              "broadcast, dim 0 is 128 and 4 (extents must be equal or 1, dims "
                              "count from the last; reshape, slice or repeat one of the operands)");
}

TEST(ValueDiagnostic, PointsAtTheStatementAndItsOperands) {
  const TraceResult result = traceOf(
      [](Tensor x, Tensor y) {
        Tensor e = nl::exp(y);
        return x * e;
      },
      {f32({3, 5}), f32({4})}, {"x", "y"});
  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics.front();
  const unsigned line = d.place.front().line;
  ASSERT_EQ(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[0].message, "'x' is this 3x5 float32 parameter of the kernel");
  EXPECT_EQ(d.notes[1].message, "an operand is this 4 float32 value");
  EXPECT_EQ(d.notes[1].place.front().line, line - 1);
}

} // namespace
