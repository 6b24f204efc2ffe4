//===- LaunchTest.cpp - launches, empty loops, and traces that differ -------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_;

std::string text(const std::optional<Diagnostic> &d) {
  return d ? "[" + d->rule + "] " + d->message + " (" + d->help + ")" : "";
}

TEST(Launch, OnCoresTheChipJoins) {
  EXPECT_EQ(text(trace::checkLaunch("matmul", 1)), "");
  const std::string help = " (launch it on 1 core, where nl::num_programs() is 1)";
  EXPECT_EQ(text(trace::checkLaunch("matmul", 2)),
            "[K-05] kernel 'matmul' is launched on 2 cores; this Kiln runs a kernel on 1" + help);
  EXPECT_EQ(text(trace::checkLaunch("matmul", 3)),
            "[K-05] kernel 'matmul' is launched on 3 cores; trn2 joins 1 or 2" + help);
  EXPECT_EQ(text(trace::checkLaunch("matmul", 0)),
            "[K-05] kernel 'matmul' is launched on 0 cores; trn2 joins 1 or 2" + help);
}

TEST(Launch, NotFromAKernel) {
  unsigned line = __LINE__ + 2;
  TraceResult result = traceBody([](InOut) {
    trace::refuseLaunchInKernel("inner", nl::SrcLoc::current());
    ADD_FAILURE() << "the trace goes on";
  });
  EXPECT_EQ(errorsOf(result), "[K-06] kernel 'inner' is launched while 'k' is traced (call its "
                              "function directly: it becomes part of this kernel)");
  EXPECT_EQ(result.diagnostics[0].place[0].line, line);
  trace::refuseLaunchInKernel("inner", nl::SrcLoc::current()); // outside of one it is fine
}

//---- C-12 -----------------------------------------------------------------===//

TEST(EmptyLoop, IsNamedWhereAnOutputStaysUnwritten) {
  unsigned line = __LINE__ + 4;
  TraceResult result = traceOf(
      [](Tensor x) {
        Tensor out = nl::ndarray({100, 8}, nl::float32, nl::shared_hbm, {.name = "out"});
        for (int64_t m : nl::range(100 / 128))
          nisa::dma_copy(out(ds(m * 128, 128)), x(ds(m * 128, 128)));
        for (int64_t m : nl::affine_range(100 / 128))
          nisa::dma_copy(out(ds(m * 128, 128)), x(ds(m * 128, 128)));
        for (Chunk m : nl::tiles(100 / 128, 1))
          nisa::dma_copy(out(m), x(m));
        for (int64_t m : nl::range(1)) // has an iteration
          static_cast<void>(m);
        return out;
      },
      {TensorArg{DType::Float32, {100, 8}}}, {"x"});
  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics[0];
  EXPECT_EQ(d.rule, "C-12");
  EXPECT_EQ(d.message, "'out' is returned but never written");
  ASSERT_EQ(d.notes.size(), 4u);
  EXPECT_EQ(d.notes[0].message, "'out' is this 100x8 float32 tensor in shared_hbm");
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(d.notes[i + 1].message, "this loop has no iterations");
    EXPECT_EQ(d.notes[i + 1].place[0].line, line + 2 * i);
  }
}

static_assert(*nl::range(3).begin() == 0, "ranges are constant expressions");

//---- K-09 -----------------------------------------------------------------===//

/// Traces twice and compares; `run` tells the kernel which time it is.
int run = 0;
template <class Lambda>
std::string difference(Lambda kernel, unsigned base) {
  std::vector<driver::Arg> args = {TensorArg{DType::Float32, {128, 8}}};
  run = 0;
  TraceResult first = traceOf(kernel, args, {"x"});
  run = 1;
  TraceResult second = traceOf(kernel, args, {"x"});
  EXPECT_EQ(errorsOf(first) + errorsOf(second), "");
  std::optional<Diagnostic> d = trace::compareTraces(first.trace, second.trace);
  return d ? "+" + std::to_string(d->place[0].line - base) + ": " + text(d) : "";
}

const std::string kHelp =
    " (a kernel depends on its arguments only: no static variables, clocks or random numbers)";

TEST(TraceTwice, EqualTracesAreFine) {
  constexpr auto kernel = [](Tensor x) {
    Tensor y = nl::ndarray({128, 8}, nl::float32, nl::shared_hbm);
    nl::store(y, nl::load(x));
    return y;
  };
  EXPECT_EQ(difference(kernel, 0), "");
}

TEST(TraceTwice, FindsTheFirstDifference) {
  unsigned base = __LINE__;
  constexpr auto operand = [](Tensor x) {
    Tensor y = nl::ndarray({128, 8}, nl::float32, nl::shared_hbm), t = nl::load(x);
    nisa::tensor_scalar(t, t, nl::add, run);
    nl::store(y, t);
    return y;
  };
  EXPECT_EQ(
      difference(operand, base),
      "+3: [K-09] tracing 'k' a second time gave tensor_scalar with other operands or numbers "
      "here" +
          kHelp);
  base = __LINE__;
  constexpr auto other = [](Tensor x) {
    Tensor y = nl::ndarray({128, 8}, nl::float32, nl::shared_hbm), t = nl::load(x);
    if (run)
      nisa::memset(t, 0);
    nl::store(y, t);
    return y;
  };
  EXPECT_EQ(difference(other, base),
            "+5: [K-09] tracing 'k' a second time gave another instruction here: memset instead of "
            "dma_copy" +
                kHelp);
  base = __LINE__;
  constexpr auto longer = [](Tensor x) {
    Tensor y = nl::ndarray({128, 8}, nl::float32, nl::shared_hbm);
    nl::store(y, nl::load(x));
    for (int i = 0; i < run; ++i)
      nl::load(x);
    return y;
  };
  EXPECT_EQ(difference(longer, base),
            "+5: [K-09] tracing 'k' a second time gave 3 instructions instead of 2" + kHelp);
  base = __LINE__;
  constexpr auto tensor = [](Tensor x) {
    Tensor y = nl::ndarray({128, 8}, nl::float32, nl::shared_hbm);
    Tensor t = nl::ndarray({128, 8 + run}, nl::float32, nl::sbuf, {.name = "t"});
    nisa::dma_copy(t(_, ds(0, 8)), x);
    nl::store(y, t(_, ds(0, 8)));
    return y;
  };
  EXPECT_EQ(difference(tensor, base),
            "+3: [K-09] tracing 'k' a second time gave another tensor 't'" + kHelp);
}

} // namespace
} // namespace kiln::test
