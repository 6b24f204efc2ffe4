//===- KernelTest.cpp - signatures, results and what makes a trace ----------------------------===//

#include "KernelFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace kiln::test {
namespace {

using nl::_;

const TensorArg kMatrix{DType::Float32, {128, 512}};

/// A written result of shape {128, 512}.
Tensor written(const Tensor &source, std::string name = "") {
  Tensor out = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm, {.name = std::move(name)});
  nisa::dma_copy(out, source);
  return out;
}

//---- arguments ----------------------------------------------------------===//

TEST(Kernel, TakesEveryKindOfParameter) {
  TraceResult r = traceOf(
      [](const Tensor &x, InOut, int a, int64_t b, float c, double d, bool e,
         const std::string &f) -> Tensor {
        nl::require(a == -2147483648 && b == 1099511627776 && c == 0.5f && d == 3 && e &&
                        f == "text",
                    "wrong values");
        return written(x);
      },
      {kMatrix, kMatrix, int64_t(-2147483648), int64_t(1099511627776), 0.5, int64_t(3), true,
       std::string("text")});
  EXPECT_EQ(errorsOf(r), "");
  EXPECT_TRUE(r.ok);
}

TEST(Kernel, RefusesTheWrongNumberOfArguments) {
  auto kernel = [](Tensor x, float) -> Tensor { return x; };
  unsigned line = __LINE__ + 1;
  TraceResult r = traceOf(kernel, {kMatrix}, {"x", "scale"});
  EXPECT_EQ(
      errorsOf(r),
      "[K-10] kernel 'k' takes 2 arguments, got 1 (its signature is k(x: tensor, scale: float))");
  EXPECT_EQ(placeText(r.diagnostics[0].place), "KernelTest.cpp:" + std::to_string(line));
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) -> Tensor { return x; })),
            "[K-10] kernel 'k' takes 1 argument, got 0 (its signature is k(arg0: tensor))");
}

TEST(Kernel, RefusesArgumentsOfTheWrongKind) {
  auto kernel = [](Tensor x, int n, float s, bool b, std::string t) -> Tensor {
    static_cast<void>(n + s + b + t.size());
    return written(x);
  };
  auto errors = [&](std::vector<driver::Arg> args) {
    std::string all = errorsOf(traceOf(kernel, args, {"x", "n", "s", "b", "t"}));
    const std::string help =
        " (the signature is k(x: tensor, n: int, s: float, b: bool, t: string))";
    for (size_t at; (at = all.find(help)) != std::string::npos;)
      all.erase(at, help.size());
    return all;
  };
  EXPECT_EQ(errors({kMatrix, int64_t(1), 1.0, true, std::string("s")}), "");
  EXPECT_EQ(errors({int64_t(1), 1.5, std::string("s"), int64_t(1), true}),
            "[K-10] argument 'x' is the whole number 1, expected tensor\n"
            "[K-10] argument 'n' is the number 1.5, expected int\n"
            "[K-10] argument 's' is the string \"s\", expected float\n"
            "[K-10] argument 'b' is the whole number 1, expected bool\n"
            "[K-10] argument 't' is true, expected string");
  EXPECT_EQ(errors({kMatrix, int64_t(2147483648), 1.0, true, std::string("s")}),
            "[K-10] argument 'n' is the whole number 2147483648, expected int");
  EXPECT_EQ(errors({kMatrix, kMatrix, 1.0, true, std::string("s")}),
            "[K-10] argument 'n' is a 128x512 float32 tensor, expected int");
}

TEST(Kernel, RefusesAnotherRank) {
  unsigned line = __LINE__ + 3;
  TraceResult r = traceOf(
      [](Tensor q) -> Tensor {
        const auto [M, N] = q.dims<2>();
        return nl::ndarray({M, N}, nl::float32, nl::shared_hbm);
      },
      {TensorArg{DType::BFloat16, {1, 128, 64}}}, {"q"});
  EXPECT_EQ(errorsOf(r), "[K-10] 'q' is (1, 128, 64) bfloat16, expected rank 2 (pass a tensor of "
                         "that rank, or reshape it)");
  EXPECT_EQ(r.diagnostics[0].place[0].line, line);
}

TEST(Kernel, RefusesImpossibleShapes) {
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) -> Tensor { return x; },
                             {TensorArg{DType::Float32, {128, 0}}}, {"x"})),
            "[V-02] tensor 'x' is empty: dim 1 has extent 0 (every extent is at least 1)");
}

//---- results ------------------------------------------------------------===//

TEST(Kernel, ReturnsTensorsInEveryForm) {
  auto outputs = [](const TraceResult &r) {
    EXPECT_EQ(errorsOf(r), "");
    std::string names;
    for (const trace::Tensor &t : r.trace.tensors)
      if (t.role == trace::TensorRole::Output)
        names += t.name + "#" + std::to_string(t.index) + " ";
    return names;
  };
  EXPECT_EQ(outputs(traceOf([](Tensor x) -> Tensor { return written(x); }, {kMatrix})), "out0#0 ");
  EXPECT_EQ(outputs(traceOf([](Tensor x) { return std::pair(written(x, "a"), written(x, "b")); },
                            {kMatrix})),
            "a#0 b#1 ");
  EXPECT_EQ(
      outputs(traceOf([](Tensor x) { return std::tuple(written(x), written(x, "b"), written(x)); },
                      {kMatrix})),
      "out0#0 b#1 out2#2 ");
  EXPECT_EQ(
      outputs(traceOf([](Tensor x) { return std::array{written(x), written(x)}; }, {kMatrix})),
      "out0#0 out1#1 ");
  EXPECT_EQ(outputs(traceOf([](Tensor x) { return std::vector{written(x)}; }, {kMatrix})),
            "out0#0 ");
  EXPECT_EQ(outputs(traceOf([](Tensor x, InOut) { return written(x, "r"); }, {kMatrix, kMatrix},
                            {"x", "state"})),
            "r#0 state#1 ");
}

TEST(Kernel, UpdatesInOutParametersInPlace) {
  TraceResult r = traceOf([](Tensor x, InOut y) { nisa::dma_copy(y(0, _), x(1, _)); },
                          {kMatrix, kMatrix}, {"x", "y"});
  EXPECT_EQ(dump(r),
            "x hbm float32 role 1 #0 128 512\n"
            "y.in hbm float32 role 1 #1 128 512\n"
            "y hbm float32 role 2 #0 128 512\n"
            "dma_copy dst=y[128 rows of 512, 0: 1x512] src=y.in[128 rows of 512, 0: 1x512]\n"
            "dma_copy dst=y[1 rows of 0, 0: 1x512] src=x[1 rows of 0, 512: 1x512]\n");
}

TEST(Kernel, ResultsLieInSharedHbm) {
  EXPECT_EQ(errorsOf(traceOf(
                [](Tensor) { return nl::zeros({128, 8}, nl::float32, nl::sbuf, {.name = "y"}); },
                {kMatrix})),
            "[K-01] returned tensors must be in shared_hbm, 'y' is in sbuf (declare the result in "
            "nl::shared_hbm and "
            "nisa::dma_copy the tile to it)");
  EXPECT_EQ(errorsOf(traceOf(
                [](Tensor) { return nl::ndarray({128, 8}, nl::float32, nl::hbm, {.name = "y"}); },
                {kMatrix})),
            "[K-01] returned tensors must be in shared_hbm, 'y' is in private_hbm (declare it in "
            "nl::shared_hbm)");
}

TEST(Kernel, ResultsAreReturnedOnceAndWhole) {
  EXPECT_EQ(errorsOf(traceOf(
                [](Tensor x) {
                  Tensor y = written(x, "y");
                  return std::pair(y, y);
                },
                {kMatrix})),
            "[K-01] result 1 is 'y', which is result 0 already (return each tensor once)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) -> Tensor { return x; }, {kMatrix}, {"x"})),
            "[K-01] result 0 is 'x', a parameter of the kernel (copy it to a tensor declared in "
            "nl::shared_hbm, or declare "
            "the parameter as nl::InOut)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) { return written(x, "y")(ds(0, 64), _); }, {kMatrix})),
            "[K-01] result 0 is a view of 'y', not the whole tensor (return the tensor itself, or "
            "a reshape of it)");
  EXPECT_EQ(errorsOf(traceOf([](InOut x) -> Tensor { return x; }, {kMatrix}, {"x"})),
            "[K-01] result 0 is 'x', an nl::InOut parameter, which is an output already (return "
            "only tensors the kernel "
            "declared)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor) { return Tensor(); }, {kMatrix})),
            "[K-01] result 0 is an empty handle: it names no tensor (return a tensor declared in "
            "nl::shared_hbm)");
}

TEST(Kernel, AReshapeOfTheWholeResultIsTheResult) {
  TraceResult r = traceOf([](Tensor x) { return written(x).reshape({512, 128}); }, {kMatrix});
  EXPECT_EQ(dump(r),
            "arg0 hbm float32 role 1 #0 128 512\n"
            "out0 hbm float32 role 2 #0 512 128\n"
            "dma_copy dst=out0[128 rows of 512, 0: 1x512] src=arg0[128 rows of 512, 0: 1x512]\n");
}

TEST(Kernel, ProducesAnOutput) {
  EXPECT_EQ(errorsOf(traceOf([](Tensor) {}, {kMatrix})),
            "[K-03] kernel 'k' produces no output (return a tensor in nl::shared_hbm, or take an "
            "nl::InOut parameter)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor) { return std::vector<Tensor>(); }, {kMatrix})),
            "[K-03] kernel 'k' produces no output (return a tensor in nl::shared_hbm, or take an "
            "nl::InOut parameter)");
}

TEST(Kernel, WritesItsOutput) {
  unsigned line = __LINE__ + 3;
  TraceResult r = traceOf(
      [](Tensor x) {
        Tensor out = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm, {.name = "out"});
        for (int i = 0; i < x.dim(0) / 129; ++i)
          nisa::dma_copy(out, x);
        return out;
      },
      {kMatrix});
  EXPECT_EQ(errorsOf(r), "[C-12] 'out' is returned but never written (store to it with "
                         "nisa::dma_copy; a loop over M / N tiles runs 0 times "
                         "when M < N, nl::ceil_div(M, N) and nl::tiles(M, N) count the last part)");
  ASSERT_EQ(r.diagnostics[0].notes.size(), 1u);
  EXPECT_EQ(r.diagnostics[0].notes[0].message,
            "'out' is this 128x512 float32 tensor in shared_hbm");
  EXPECT_EQ(r.diagnostics[0].notes[0].place[0].line, line);
}

//---- outside a trace ----------------------------------------------------===//

TEST(Kernel, CallsOutsideAKernelAreReportedWithTheNextTrace) {
  unsigned line = __LINE__ + 1;
  nisa::memset(nl::ndarray({1, 1}, nl::float32), 0);
  TraceResult r = traceOf([](Tensor x) { return written(x); }, {kMatrix});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(errorsOf(r), "[K-07] nl::ndarray called outside a kernel (call it from the kernel "
                         "function, on the thread that "
                         "runs it)\n[K-07] nisa::memset called outside a kernel (call it from the "
                         "kernel function, on the "
                         "thread that runs it)");
  EXPECT_EQ(placeText(r.diagnostics[1].place), "KernelTest.cpp:" + std::to_string(line));
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) { return written(x); }, {kMatrix})), "");
}

TEST(Kernel, OtherThreadsAreOutside) {
  TraceResult r = traceOf(
      [](Tensor x) {
        std::thread([&] { nisa::tensor_copy(x, x); }).join();
        return written(x);
      },
      {kMatrix});
  EXPECT_EQ(errorsOf(r), "[K-07] nisa::tensor_copy called outside a kernel (call it from the "
                         "kernel function, on the thread "
                         "that runs it)");
}

Tensor kept;

TEST(Kernel, NamesOfAFinishedTraceAreRemembered) {
  auto first = [](Tensor x) {
    Tensor w = nl::ndarray({128, 8}, nl::float32, nl::sbuf, {.name = "w"});
    nisa::dma_copy(w, x(_, ds(0, 8)));
    kept = w;
    return written(x);
  };
  ASSERT_EQ(errorsOf(traceOf(first, {kMatrix})), "");
  auto second = [](Tensor x) {
    Tensor out = written(x);
    nisa::dma_copy(out(_, ds(0, 8)), kept);
    return out;
  };
  EXPECT_EQ(
      errorsOf(traceOf(second, {kMatrix})),
      "[K-08] src of nisa::dma_copy is 'w', which belongs to a finished trace of 'k' (declare "
      "tensors inside the kernel function)");
  // Not for ever: eight traces later it is some tensor of some trace.
  for (int i = 0; i < 8; ++i)
    traceOf([](Tensor x) { return written(x); }, {kMatrix});
  EXPECT_EQ(
      errorsOf(traceOf(second, {kMatrix})),
      "[K-08] src of nisa::dma_copy is a 128x8 float32 tensor, which belongs to another trace "
      "(declare tensors inside the kernel function)");
}

TEST(Kernel, TensorsOfAFinishedTraceAreRefused) {
  ASSERT_EQ(errorsOf(traceOf([](Tensor x) { return kept = nl::load(x), written(x); }, {kMatrix})),
            "");
  TraceResult r = traceOf(
      [](Tensor x) {
        Tensor out = written(x);
        nisa::dma_copy(out, kept(ds(0, 128), _));
        return out;
      },
      {kMatrix});
  EXPECT_EQ(errorsOf(r), "[K-08] src of nisa::dma_copy is a 128x512 float32 tensor, which belongs "
                         "to a finished trace of 'k' (declare tensors inside the kernel function)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor) { return kept; }, {kMatrix})),
            "[K-08] result 0 is a 128x512 float32 tensor, which belongs to a finished trace of 'k' "
            "(return a tensor this call of the kernel declared)");
}

TEST(Kernel, WithoutAnEndIsStopped) {
  auto endless = traceOf(
      [](Tensor x) -> Tensor {
        for (;;)
          nl::load(x);
      },
      {kMatrix});
  EXPECT_FALSE(endless.ok);
  EXPECT_THAT(errorsOf(endless), testing::HasSubstr("[K-12] the kernel has made 2000000 "
                                                    "instructions and tensors, its limit"));
  // Half of the statements make instructions, all in one line.
  ASSERT_EQ(endless.diagnostics[0].notes.size(), 1u);
  EXPECT_EQ(endless.diagnostics[0].notes[0].message, "100 % of the instructions come from here");
}

TEST(Kernel, ExceptionsOfTheAuthorAreReported) {
  EXPECT_EQ(
      errorsOf(traceOf([](Tensor x) -> Tensor { throw std::runtime_error(x.name() + " is wrong"); },
                       {kMatrix}, {"x"})),
      "[X-07] kernel 'k' threw an exception: x is wrong (the line is the last one that reached "
      "Kiln; "
      "nl::require stops a kernel with a message)");
  EXPECT_EQ(errorsOf(traceOf([](Tensor x) -> Tensor { throw x.dim(0); }, {kMatrix})),
            "[X-07] kernel 'k' threw an exception of an unknown type (the line is the last one "
            "that reached Kiln; "
            "nl::require stops a kernel with a message)");
}

TEST(Kernel, TheLastLineIsKnownWhileTracing) {
  EXPECT_EQ(trace::lastTracedLine().line, 0u);
  traceOf(
      [](Tensor x) {
        Tensor out = written(x);
        unsigned line = __LINE__ + 1;
        nisa::dma_copy(out, x);
        EXPECT_EQ(trace::lastTracedLine().line, line);
        return out;
      },
      {kMatrix});
  EXPECT_EQ(trace::lastTracedLine().line, 0u);
}

//---- the trace ----------------------------------------------------------===//

Tensor scratch(const nl::Shape &shape) { return nl::ndarray(shape, nl::float32); }

TEST(Trace, DoesNotDependOnTheOrderOfArgumentEvaluation) {
  TraceResult forward = traceOf(
      [](Tensor x) {
        Tensor out = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm);
        scratch({3, 3}); // never used
        Tensor a = scratch({128, 512}), b = scratch({128, 512});
        nisa::dma_copy(b, x);
        nisa::tensor_tensor(a, b, scratch({128, 512}), nl::add);
        nisa::dma_copy(out, a);
        return out;
      },
      {kMatrix});
  TraceResult backward = traceOf(
      [](Tensor x) {
        Tensor c = scratch({128, 512}), b = scratch({128, 512}), a = scratch({128, 512});
        Tensor out = nl::ndarray({128, 512}, nl::float32, nl::shared_hbm);
        nisa::dma_copy(b, x);
        nisa::tensor_tensor(a, b, c, nl::add);
        nisa::dma_copy(out, a);
        return out;
      },
      {kMatrix});
  EXPECT_EQ(dump(forward),
            "arg0 hbm float32 role 1 #0 128 512\n"
            "out0 hbm float32 role 2 #0 128 512\n"
            "t0 sbuf float32 role 0 #0 128 512\n"
            "t1 sbuf float32 role 0 #0 128 512\n"
            "t2 sbuf float32 role 0 #0 128 512\n"
            "dma_copy dst=t0[0+128, 0: 1x512] src=arg0[128 rows of 512, 0: 1x512]\n"
            "tensor_tensor dst=t1[0+128, 0: 1x512] data1=t0[0+128, 0: 1x512] data2=t2[0+128, 0: "
            "1x512] op=add\n"
            "dma_copy dst=out0[128 rows of 512, 0: 1x512] src=t1[0+128, 0: 1x512]\n");
  EXPECT_EQ(dump(backward), dump(forward));
}

TEST(Trace, MadeUpNamesStayClearOfTheAuthors) {
  TraceResult r = traceOf(
      [](Tensor x) {
        Tensor t = nl::ndarray({128, 512}, nl::float32, nl::sbuf, {.name = "t0"}),
               u = scratch({128, 512}), v = scratch({128, 512});
        nisa::dma_copy(u, x);
        nisa::tensor_copy(t, u);
        nisa::tensor_copy(v, t);
        return written(v);
      },
      {kMatrix}, {"out0"});
  ASSERT_EQ(errorsOf(r), "");
  std::string names;
  for (const trace::Tensor &t : r.trace.tensors)
    names += t.name + " ";
  EXPECT_EQ(names, "out0 out0_ t1 t0 t2 ");
}

TEST(Trace, CarriesAddressesAndPlaces) {
  unsigned line = __LINE__ + 3;
  TraceResult r = traceOf(
      [](Tensor x) {
        Tensor t = nl::ndarray({32, 8}, nl::bfloat16, nl::psum, {.address = nl::Address{64, 2048}});
        nisa::memset(t, 0);
        return written(x);
      },
      {kMatrix});
  ASSERT_EQ(errorsOf(r), "");
  const trace::Tensor &t = r.trace.tensors[2];
  EXPECT_EQ(t.memory, isa::Memory::Psum);
  EXPECT_EQ(t.address, (std::pair<uint32_t, uint64_t>{64, 2048}));
  EXPECT_EQ(placeText(r.trace.chain(t.location)), "KernelTest.cpp:" + std::to_string(line));
  EXPECT_EQ(placeText(r.trace.chain(r.trace.instructions[0].location)),
            "KernelTest.cpp:" + std::to_string(line + 1));
  EXPECT_EQ(r.trace.kernel, "k");
}

TEST(Trace, IsTheSameEveryTime) {
  auto kernel = [](Tensor x) {
    Tensor out = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
    for (Chunk rows : nl::tiles(x.dim(0), 128)) {
      Tensor t = nl::load(x(rows, _));
      nl::store(out(rows, _), t);
    }
    return out;
  };
  auto run = [&](int64_t rows) {
    return dump(traceOf(kernel, {TensorArg{DType::BFloat16, {rows, 7}}}));
  };
  std::string a = run(300), b = run(5);
  EXPECT_EQ(run(300), a);
  EXPECT_EQ(run(5), b);
  EXPECT_NE(a, b);
}

TEST(Trace, PathsAreRelativeToTheKernelFile) {
  EXPECT_EQ(trace::relativeToKernel("/a/b/k.cpp", "/a/b/k.cpp"), "k.cpp");
  EXPECT_EQ(trace::relativeToKernel("/a/b/lib/h.h", "/a/b/k.cpp"), "lib/h.h");
  EXPECT_EQ(trace::relativeToKernel("/a/c/../h.h", "/a/b/k.cpp"), "../h.h");
  EXPECT_EQ(trace::relativeToKernel("b/k.cpp", "b/k.cpp"), "k.cpp");
  EXPECT_EQ(trace::relativeToKernel("k.cpp", "k.cpp"), "k.cpp");
  EXPECT_EQ(trace::relativeToKernel("/a/h.h", "k.cpp"), "/a/h.h");
}

//---- kernel files -------------------------------------------------------===//

nl::detail::PluginInfo pluginOf(const std::vector<nl::detail::KernelEntry> &kernels) {
  nl::detail::PluginInfo info;
  info.kernels = kernels.data();
  info.kernelCount = kernels.size();
  return info;
}

nl::detail::KernelEntry named(const char *name) {
  nl::detail::KernelEntry e = entryOf([](Tensor x, float) -> Tensor { return x; }, {"x", "scale"});
  e.name = name;
  return e;
}

std::string lookup(const std::vector<nl::detail::KernelEntry> &kernels, std::string_view name) {
  nl::detail::PluginInfo info = pluginOf(kernels);
  auto found = trace::findKernel(info, name, "/k/my.cpp");
  if (const auto *d = std::get_if<Diagnostic>(&found))
    return d->message + " (" + d->help + ")";
  return std::get<0>(found)->name;
}

TEST(KernelFile, FindsKernelsByName) {
  EXPECT_EQ(lookup({named("a"), named("b")}, "b"), "b");
  EXPECT_EQ(lookup({named("a")}, ""), "a");
  EXPECT_EQ(lookup({named("a"), named("b")}, ""),
            "'my.cpp' has 2 kernels, and none is named (name one of a, b)");
  EXPECT_EQ(lookup({named("a"), named("b")}, "c"), "'my.cpp' has no kernel 'c' (it has a, b)");
  EXPECT_EQ(lookup({named("a"), named("a")}, "a"),
            "'my.cpp' registers 2 kernels called 'a' (rename one of them)");
  EXPECT_EQ(lookup({}, "a"),
            "'my.cpp' registers no kernel (register the kernel function with NL_KERNEL)");
}

TEST(KernelFile, OfOtherHeadersIsRefused) {
  nl::detail::PluginInfo info;
  EXPECT_FALSE(trace::checkPlugin(&info, "/k/my.cpp"));
  info.abiVersion = 7;
  std::string size = std::to_string(sizeof(Tensor));
  EXPECT_EQ(trace::checkPlugin(&info, "/k/my.cpp")->message,
            "'my.cpp' was compiled with version 7 of the nl headers (tensors of " + size +
                " bytes), this Kiln has version 4 (" + size + " bytes)");
  EXPECT_EQ(trace::checkPlugin(nullptr, "/k/my.cpp")->message, "'my.cpp' registers no kernel");
}

TEST(KernelFile, DescribesItsKernels) {
  driver::KernelInfo info = trace::describeKernel(named("a"), __FILE__);
  EXPECT_EQ(info.name, "a");
  EXPECT_EQ(info.parameters, (std::vector<std::string>{"x: tensor", "scale: float"}));
  EXPECT_EQ(info.place.file, "KernelTest.cpp");
}

Tensor registered(Tensor x) { return written(x); }
NL_KERNEL(registered, "x")
const auto again = nl::kernel("again", registered);

TEST(KernelFile, RegistersAtNamespaceScope) {
  const nl::detail::PluginInfo *info = kiln_plugin();
  ASSERT_EQ(info->kernelCount, 2u);
  EXPECT_STREQ(info->kernels[0].name, "registered");
  EXPECT_STREQ(info->kernels[1].name, "again");
  EXPECT_FALSE(trace::checkPlugin(info, __FILE__));
  EXPECT_TRUE(std::string(info->header).ends_with("nl/kernel.h"));
}

} // namespace
} // namespace kiln::test
