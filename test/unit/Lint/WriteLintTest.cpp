//===- WriteLintTest.cpp - M-08 and M-10 before anything runs ---------------------------------===//

#include "LintFixture.h"

namespace kiln::test {
namespace {

using nl::_;

TEST(WriteLint, M08ReadsOfUnwrittenTensors) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor a = nl::ndarray({128, 512}, nl::float32, nl::sbuf, {.name = "a"});
    Tensor b = nl::ndarray({128, 512}, nl::float32);
    nisa::tensor_copy(b, a);
    nisa::dma_copy(y, b); // control: b is written now
    nisa::memset(a(_, 0), 0);
    nisa::tensor_copy(b, a); // control: a was written, in part: the executor sees which
  };
  EXPECT_EQ(lintsOf(body, {}, base),
            "+3: error[M-08]: tensor_copy reads 'a', which nothing has written\n"
            "+1: note: 'a' is this 128x512 float32 tile in sbuf\n"
            "help: write 'a' first: dma_copy, memset or a matmul\n");
  // In place, before the first write.
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut) {
    Tensor a = nl::ndarray({128, 8}, nl::float32);
    for (int i = 0; i < 3; ++i)
      nisa::tensor_scalar(a, a, nl::add, 1);
  };
  EXPECT_EQ(
      lintsOf(bodyB, {}, baseB),
      "+3: error[M-08]: tensor_scalar reads the 128x8 float32 tile of line +1, which nothing has "
      "written\n+1: note: the tile is this 128x8 float32 tile in sbuf\n"
      "help: write it first: dma_copy, memset or a matmul\n");
}

/// An iteration that the run picks may read what an earlier one wrote.
TEST(WriteLint, M08LeavesWhatIterationsHandOnAlone) {
  constexpr auto handedOn = [](InOut) {
    Tensor a = nl::ndarray({128, 8}, nl::float32), b = nl::ndarray({128, 8}, nl::float32);
    nl::fori_loop(0, nisa::register_alloc(3), [&](nl::Reg i) {
      nl::if_(i, [&] { nisa::tensor_copy(b, a); });
      nisa::memset(a, 0);
    });
  };
  EXPECT_EQ(lintsOf(handedOn, {}, __LINE__), "");
  const auto isError = [](const std::string &text) {
    return text.find(": error[M-08]") != std::string::npos;
  };
  // The first iteration reads it.
  constexpr auto always = [](InOut) {
    Tensor a = nl::ndarray({128, 8}, nl::float32), b = nl::ndarray({128, 8}, nl::float32);
    nl::fori_loop(0, nisa::register_alloc(3), [&](nl::Reg) {
      nisa::tensor_copy(b, a);
      nisa::memset(a, 0);
    });
  };
  EXPECT_TRUE(isError(lintsOf(always, {}, __LINE__)));
  // Each iteration has its own.
  constexpr auto own = [](InOut) {
    Tensor b = nl::ndarray({128, 8}, nl::float32);
    nl::fori_loop(0, nisa::register_alloc(3), [&](nl::Reg i) {
      Tensor a = nl::ndarray({128, 8}, nl::float32);
      nl::if_(i, [&] { nisa::tensor_copy(b, a); });
      nisa::memset(a, 0);
    });
  };
  EXPECT_TRUE(isError(lintsOf(own, {}, __LINE__)));
  // Nothing but the reader writes it.
  constexpr auto inPlace = [](InOut) {
    Tensor a = nl::ndarray({128, 8}, nl::float32);
    nl::fori_loop(0, nisa::register_alloc(3),
                  [&](nl::Reg i) { nl::if_(i, [&] { nisa::tensor_scalar(a, a, nl::add, 1); }); });
  };
  EXPECT_TRUE(isError(lintsOf(inPlace, {}, __LINE__)));
}

TEST(WriteLint, M10AccumulatingOntoNothing) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut) {
    Tensor a = nl::ones({128, 64}, nl::bfloat16);
    Tensor x = nl::ndarray({64, 64}, nl::float32, nl::psum, {.name = "x"});
    Tensor z = nl::zeros({64, 64}, nl::float32, nl::psum, {.name = "z"});
    Tensor ok = nl::ndarray({64, 64}, nl::float32, nl::psum);
    nisa::nc_matmul({.dst = x, .stationary = a, .moving = a, .accumulate = true});
    nisa::nc_matmul({.dst = z, .stationary = a, .moving = a, .accumulate = true});
    for (int k = 0; k < 3; ++k) // controls
      nisa::nc_matmul({.dst = ok, .stationary = a, .moving = a, .accumulate = k > 0});
    for (int k = 0; k < 3; ++k)
      nisa::nc_matmul({.dst = z, .stationary = a, .moving = a});
  };
  EXPECT_EQ(
      lintsOf(body, {}, base),
      "+5: error[M-10]: accumulate=true adds to 'x', which nothing has written\n"
      "+2: note: 'x' is this 64x64 float32 tile in psum\n"
      "help: let the first matmul overwrite: leave accumulate out, or make it false\n"
      "+6: error[M-10]: accumulate=true adds to 'z', which no matmul has written: a fill or copy "
      "opens no accumulation on trn2\n"
      "+3: note: 'z' is this 64x64 float32 tile in psum\n"
      "help: let the first matmul overwrite: leave accumulate out, or make it false\n");
}

TEST(WriteLint, FaultsAreThoseOfAFailedCheck) {
  TraceResult result =
      traceBody([](InOut y) { nisa::dma_copy(y, nl::ndarray({128, 512}, nl::float32)); });
  std::vector<Diagnostic> all = lint::lint(result.trace, {});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].fault, Fault::Check);
}

TEST(WriteLint, M08ReadsAndWritesOfValues) {
  constexpr unsigned base = __LINE__ + 1;
  constexpr auto body = [](InOut y) {
    Tensor a = nl::ndarray({128, 512}, nl::float32, nl::sbuf, {.name = "a"});
    Tensor b = nl::ndarray({128, 512}, nl::float32, nl::sbuf, {.name = "b"});
    nl::store(y, nl::exp(a));
    nl::store(a, nl::exp(y));
    nisa::tensor_copy(b, a);          // control: the store has written a
    nisa::tensor_copy(a, nl::exp(b)); // control: so is the tile that holds a value
    nl::store(y, a + b);              // control
  };
  EXPECT_EQ(lintsOf(body, {}, base),
            "+3: error[M-08]: a value is computed from 'a', which nothing has written\n"
            "+1: note: 'a' is this 128x512 float32 tile in sbuf\n"
            "help: write 'a' first: nl::store, dma_copy, memset or a matmul\n");
  // A value that is computed after the instruction writes nothing in front of it.
  constexpr unsigned baseB = __LINE__ + 1;
  constexpr auto bodyB = [](InOut y) {
    Tensor a = nl::ndarray({128, 512}, nl::float32, nl::sbuf, {.name = "a"});
    nisa::dma_copy(y, a);
    nl::store(a, nl::exp(y));
  };
  EXPECT_EQ(lintsOf(bodyB, {}, baseB),
            "+2: error[M-08]: dma_copy reads 'a', which nothing has written\n"
            "+1: note: 'a' is this 128x512 float32 tile in sbuf\n"
            "help: write 'a' first: dma_copy, memset or a matmul\n");
}

} // namespace
} // namespace kiln::test
