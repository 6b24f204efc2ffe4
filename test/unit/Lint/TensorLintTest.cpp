//===- TensorLintTest.cpp - lints that follow a tensor ----------------------------------------===//

#include "LintFixture.h"

namespace kiln::test {
namespace {

using nl::_;

/// A tile with an instruction that uses it, so that it is part of the trace.
Tensor used(const nl::Shape &shape, std::string name, nl::SrcLoc loc = nl::SrcLoc::current()) {
  Tensor t = nl::ndarray(shape, nl::bfloat16, nl::sbuf, {.name = std::move(name)}, loc);
  nisa::memset(t, 0, loc);
  return t;
}

TEST(TensorLint, P03BlocksOnPartitions) {
  constexpr unsigned baseA = __LINE__ + 1;
  constexpr auto bodyA = [](InOut) {
    used({4, 128, 512}, "x");
    used({31, 128, 3}, "");
  };
  EXPECT_EQ(
      lintsOf(bodyA, {}, baseA),
      "+1: warning[P-03]: dim 0 is always the partition dim, so 'x' (4, 128, 512) uses 4 of 128 "
      "partitions\nhelp: if 4 counts blocks, keep a std::vector of 4 tiles, or declare (128, 4, "
      "512)\n"
      "+2: warning[P-03]: dim 0 is always the partition dim, so this tile (31, 128, 3) uses 31 "
      "of 128 partitions\nhelp: if 31 counts blocks, keep a std::vector of 31 tiles, or declare "
      "(128, 31, 3)\n");
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut) {
    used({32, 128, 3}, ""); // a quadrant is no count of blocks
    used({4, 127, 3}, "");
    used({4, 128}, "");
    for (Chunk r : nl::tiles(260, 128)) // the last one is a remainder
      used({r.size, 128, 2}, "");
  };
  EXPECT_EQ(lintsOf(bodyB, {}, baseB), "");
}

TEST(TensorLint, K04SharedTensorsInALoop) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor t = nl::zeros({128, 8}, nl::float32);
    for (int i = 0; i < 3; ++i)
      nisa::dma_copy(nl::ndarray({128, 8}, nl::float32, nl::shared_hbm), t);
  };
  EXPECT_EQ(
      lintsOf(body, {}, base),
      "+3: warning[K-04]: this line declares 3 shared_hbm tensors that are no results: shared "
      "tensors are the same on every core, so they are declared once, at the top of the kernel\n"
      "help: use nl::private_hbm, or move the declaration out of the loop\n");
  // Controls: private ones, one shared one, and results.
  TraceResult results = traceOf(
      [](Tensor x) {
        std::vector<Tensor> out;
        for (int i = 0; i < 3; ++i) {
          out.push_back(nl::ndarray({128, 8}, nl::float32, nl::shared_hbm));
          nisa::dma_copy(out.back(), x);
          nisa::dma_copy(nl::ndarray({128, 8}, nl::float32, nl::hbm), x);
        }
        nisa::dma_copy(nl::ndarray({128, 8}, nl::float32, nl::shared_hbm), x);
        return out;
      },
      {TensorArg{DType::Float32, {128, 8}}});
  EXPECT_EQ(lintText(results, warningFlags({}), 0), "");
}

/// Copies the first `written` rows and columns of x.
TraceResult partialCopy(const nl::Shape &shape, int64_t rows, int64_t columns) {
  static int64_t r, c;
  static nl::Shape s;
  std::tie(r, c, s) = std::tuple(rows, columns, shape);
  return traceOf(
      [](Tensor x) {
        Tensor y = nl::ndarray(s, nl::float32, nl::shared_hbm, {.name = "y"});
        if (s.size() == 1)
          nisa::dma_copy(y(ds(0, r)), x(0, ds(0, r)));
        else
          nisa::dma_copy(y(ds(0, r), ds(0, c)), x(ds(0, r), ds(0, c)));
        return y;
      },
      {TensorArg{DType::Float32, {512, 512}}});
}

TEST(TensorLint, H05OutputsThatEndEarly) {
  const unsigned base = __LINE__ - 11; // the declaration
  const auto lints = [&](const nl::Shape &shape, int64_t rows, int64_t columns) {
    return lintText(partialCopy(shape, rows, columns), warningFlags({}), base);
  };
  EXPECT_EQ(
      lints({200, 100}, 128, 100),
      "+4: warning[H-05]: the writes of 'y' end here: rows 128 to 199 of 200 are never written\n"
      "+0: note: 'y' is this 200x100 float32 tensor in shared_hbm\n"
      "help: count tiles with nl::tiles(200, t) or nl::ceil_div: the division 200 / t drops what "
      "is left\n");
  EXPECT_EQ(
      lints({200, 100}, 199, 100),
      "+4: warning[H-05]: the writes of 'y' end here: row 199 of 200 is never written\n"
      "+0: note: 'y' is this 200x100 float32 tensor in shared_hbm\n"
      "help: count tiles with nl::tiles(200, t) or nl::ceil_div: the division 200 / t drops what "
      "is left\n");
  EXPECT_EQ(
      lints({200, 100}, 200, 64),
      "+4: warning[H-05]: the writes of 'y' end here: columns 64 to 99 of 100 are never written\n"
      "+0: note: 'y' is this 200x100 float32 tensor in shared_hbm\n"
      "help: count tiles with nl::tiles(100, t) or nl::ceil_div: the division 100 / t drops what "
      "is left\n");
  EXPECT_EQ(
      lints({500}, 384, 0),
      "+2: warning[H-05]: the writes of 'y' end here: elements 384 to 499 of 500 are never "
      "written\n+0: note: 'y' is this 500 float32 tensor in shared_hbm\n"
      "help: count tiles with nl::tiles(500, t) or nl::ceil_div: the division 500 / t drops what "
      "is left\n");
  EXPECT_EQ(lints({200, 100}, 200, 100), "");
  EXPECT_EQ(lints({500}, 500, 0), "");
}

TEST(TensorLint, H05KnowsStoresOfValues) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto kernel = [](Tensor x) {
    Tensor y = nl::ndarray({200, 7}, x.dtype(), nl::shared_hbm, {.name = "y"});
    nl::store(y(ds(0, 150)), nl::exp(x(ds(0, 150))));
    return y;
  };
  const auto args = std::vector<driver::Arg>{TensorArg{DType::Float32, {200, 7}}};
  EXPECT_EQ(lintText(traceOf(kernel, args, {"x"}), warningFlags({}), base),
            "+2: warning[H-05]: the writes of 'y' end here: rows 150 to 199 of 200 are never "
            "written\n+1: note: 'y' is this 200x7 float32 tensor in shared_hbm\n"
            "help: count tiles with nl::tiles(200, t) or nl::ceil_div: the division 200 / t drops "
            "what is left\n");
  constexpr auto whole = [](Tensor x) {
    Tensor y = nl::ndarray({200, 7}, nl::bfloat16, nl::shared_hbm);
    nl::store(y(ds(100, 100)), nl::exp(x(ds(100, 100))));
    nl::store(y(ds(0, 100)), nl::exp(x(ds(0, 100))));
    return y;
  };
  EXPECT_EQ(lintText(traceOf(whole, args, {"x"}), warningFlags({}), base), "");
}

TEST(TensorLint, M12TilesOfAllIterations) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor in = nl::ndarray({128, 64}, nl::float32, nl::sbuf, {.name = "in"});
    Tensor out = nl::ndarray({128, 64}, nl::float32);
    for (Chunk c : nl::tiles(512, 64)) {
      nisa::dma_copy(in, y(_, c));
      nisa::tensor_scalar(out, in, nl::multiply, 2);
      nisa::dma_copy(y(_, c), out);
    }
  };
  EXPECT_EQ(lintsOf(body, {}, base),
            "+1: warning[M-12]: 'in' serves all 8 iterations of line +4, so each load "
            "waits until the one before has been used\n"
            "help: declare it inside the loop: every iteration then has its own, and they overlap\n"
            "+2: warning[M-12]: this tile serves all 8 iterations of line +5, so each "
            "result waits until the one before has been stored\n"
            "help: declare it inside the loop: every iteration then has its own, and they "
            "overlap\n");
}

TEST(TensorLint, M12KnowsWhatMustStayOutside) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor constant = nl::ones({128, 64}, nl::float32); // read in every iteration
    Tensor state = nl::zeros({128, 64}, nl::float32);   // carried, and stored each time
    Tensor byHand = nl::ndarray({128, 64}, nl::float32, nl::sbuf, {.address = nl::Address{0, 0}});
    Tensor parts = nl::ndarray({128, 128}, nl::float32); // filled piece by piece
    for (Chunk c : nl::tiles(512, 64)) {
      Tensor fresh = nl::ndarray({128, 64}, nl::float32);
      nisa::dma_copy(fresh, y(_, c));
      nisa::tensor_tensor(state, state, fresh, nl::add);
      nisa::tensor_tensor(state, state, constant, nl::multiply);
      nisa::dma_copy(y(_, c), state);
      nisa::dma_copy(byHand, y(_, c));
      nisa::tensor_tensor(state, state, byHand, nl::add);
      nisa::dma_copy(parts(_, ds(c.index % 2 * 64, 64)), y(_, c));
      nisa::tensor_tensor(state, state, parts(_, ds(c.index % 2 * 64, 64)), nl::add);
    }
  };
  EXPECT_EQ(lintsOf(body, {}, base), "");
}

TEST(TensorLint, W08LoadsThatRepeat) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {};
  EXPECT_EQ(lintsOf(body, {}, base), "");
  TraceResult result = traceOf(
      [](Tensor u) {
        Tensor y = nl::ndarray({256, 64}, nl::float32, nl::shared_hbm);
        for (int i = 0; i < 2; ++i)
          for (Chunk r : nl::tiles(256, 128)) {
            Tensor t = nl::ndarray({128, 64}, nl::float32);
            nisa::dma_copy(t, u(r, _));
            nisa::dma_copy(y(r, _), t);
          }
        return y;
      },
      {TensorArg{DType::Float32, {256, 64}}}, {"u"});
  EXPECT_EQ(lintText(result, warningFlags({"W-08"}), __LINE__ - 11),
            "+5: warning[W-08]: 'u' is loaded 2 times: 128 KiB instead of 64 KiB\n"
            "help: load it once, before the loop, and keep the tiles as far as SBUF has room\n");
  EXPECT_EQ(lintText(result, warningFlags({}), 0), "");
}

TEST(TensorLint, W08LeavesSingleLoadsAlone) {
  // Two views of one tensor, 3 of its 4 blocks twice: 7 blocks for 4 are less than twice.
  TraceResult result = traceOf(
      [](Tensor u) {
        Tensor y = nl::ndarray({128, 64}, nl::float32, nl::shared_hbm);
        for (int i = 0; i < 7; ++i)
          nisa::dma_copy(y, u(ds(i % 4 * 128, 128), _));
        return y;
      },
      {TensorArg{DType::Float32, {512, 64}}}, {"u"});
  EXPECT_EQ(lintText(result, warningFlags({"W-08"}), 0), "");
}

} // namespace
} // namespace kiln::test
