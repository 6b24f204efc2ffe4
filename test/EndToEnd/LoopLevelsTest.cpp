//===- LoopLevelsTest.cpp - loops give the same bits however they are run ---------------------===//
//
// Kernels written twice, with nl::affine_for and with a C++ for, run at every level of the
// pipeline: rolled, with iterations in the body, written out; before placement, placed,
// synchronised; in program order, in turn and by random schedules. All give the bits of a model in
// plain C++.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"
#include "kiln/Conversion/NisaToStream.h"
#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/Dialect/Nisa/Transforms/Passes.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Target/Encode.h"
#include "kiln/Transforms/Passes.h"
#include "kilnrt/Executor.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using kilnrt::HostArray, kilnrt::RunOptions, kilnrt::Schedule;
using nl::_, nl::affine_for, nl::Index;

constexpr uint64_t kSeeds = 100;

//---- running ----------------------------------------------------------------------------===//

/// How nisa-unroll is asked.
struct Unrolling {
  const char *name;
  uint64_t fullLimit, bodyTarget, maxFactor;
};
constexpr Unrolling kUnrollings[] = {{"written out", UINT64_MAX, 1, 1},
                                     {"rolled", 0, 0, 1},
                                     {"two in the body", 0, 1000, 2},
                                     {"three in the body", 0, 1000, 3},
                                     {"small nests written out", 20, 20, 8}};

enum class Stop { BeforePlacement, BeforeStreams, Streams };

kilnrt::Program compile(const trace::Trace &trace, const Unrolling &unrolling, Stop stop,
                        bool isCompact) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = traceToNisa(&context, trace);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  mlir::PassManager manager(&context); // verifies behind each pass
  mlir::OpPassManager &passes = manager.nest<nisa::KernelOp>();
  nisa::UnrollPassOptions unroll;
  unroll.fullLimit = unrolling.fullLimit;
  unroll.bodyTarget = unrolling.bodyTarget;
  unroll.maxFactor = unrolling.maxFactor;
  passes.addPass(nisa::createUnrollPass(unroll));
  passes.addPass(createResolveEnginesPass());
  passes.addPass(createLegalizeTransposePass());
  if (stop != Stop::BeforePlacement) {
    PlacePassOptions place;
    place.compact = isCompact;
    passes.addPass(createPlacePass(place));
    passes.addPass(createSchedulePass());
  }
  if (stop == Stop::Streams)
    passes.addPass(createSynchronisePass());
  EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
  return encode(*module->getOps<nisa::KernelOp>().begin());
}

std::vector<HostArray> outputsOf(const kilnrt::Program &program,
                                 const std::vector<HostArray> &inputs, const RunOptions &options) {
  auto loaded = kilnrt::load(kilnrt::serialize(program));
  if (!loaded) {
    ADD_FAILURE() << toText(loaded.error());
    return {};
  }
  auto executable = kilnrt::Executable::prepare(*loaded);
  auto result = executable->run(inputs, options);
  if (!result) {
    ADD_FAILURE() << toText(result.error());
    return {};
  }
  return std::move(result->outputs);
}

std::vector<float> floatsOf(const std::vector<HostArray> &arrays) {
  std::vector<float> all;
  for (const HostArray &array : arrays) {
    const size_t before = all.size();
    all.resize(before + array.data.size() / sizeof(float));
    std::memcpy(all.data() + before, array.data.data(), array.data.size());
  }
  return all;
}

template <class Lambda>
trace::Trace traced(Lambda kernel, const std::vector<HostArray> &inputs, int64_t n) {
  std::vector<driver::Arg> args;
  for (const HostArray &input : inputs)
    args.push_back(TensorArg{input.dtype, input.shape});
  args.push_back(n);
  TraceResult result = traceOf(kernel, args);
  EXPECT_EQ(errorsOf(result), "");
  return std::move(result.trace);
}

/// Runs `trace` in every way and compares with `expected`, bit for bit.
void checkEveryWay(const trace::Trace &trace, const std::vector<HostArray> &inputs,
                   const std::vector<float> &expected, uint64_t seeds) {
  for (const Unrolling &unrolling : kUnrollings) {
    SCOPED_TRACE(unrolling.name);
    for (Stop stop : {Stop::BeforePlacement, Stop::BeforeStreams})
      ASSERT_EQ(floatsOf(outputsOf(compile(trace, unrolling, stop, false), inputs, {})), expected);
    for (bool isCompact : {false, true}) {
      SCOPED_TRACE(isCompact ? "compact" : "rotation");
      const kilnrt::Program program = compile(trace, unrolling, Stop::Streams, isCompact);
      ASSERT_EQ(floatsOf(outputsOf(program, inputs, {})), expected);
      ASSERT_EQ(floatsOf(outputsOf(program, inputs, {.schedule = Schedule::RoundRobin})), expected);
      for (uint64_t seed = 0; seed < seeds; ++seed)
        ASSERT_EQ(floatsOf(outputsOf(program, inputs, {.schedule = {Schedule::Random, seed}})),
                  expected)
            << "seed " << seed;
    }
  }
}

HostArray counting(std::vector<int64_t> shape, float scale) {
  HostArray array{DType::Float32, std::move(shape), {}};
  std::vector<float> values(size_t(array.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 1013) * scale + 1;
  array.data.resize(values.size() * sizeof(float));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

std::vector<float> floatsOf(const HostArray &array) {
  return floatsOf(std::vector<HostArray>{array});
}

//---- a scan: state carried from iteration to iteration --------------------------------------===//

/// h = h * 0.75 + x[i]; y[i] = h. Whether `repeat` runs a loop of the device or of the host is all
/// that differs.
template <class Repeat>
Tensor scan(const Tensor &x, int64_t n, Repeat repeat) {
  const int64_t rows = x.dim(0) / n, columns = x.dim(1);
  Tensor y = nl::ndarray(x.shape(), nl::float32, nl::shared_hbm, {.name = "y"});
  Tensor h = nl::zeros({rows, columns}, nl::float32);
  repeat(n, [&](auto i) {
    Tensor t = nl::ndarray({rows, columns}, nl::float32);
    ::nisa::dma_copy(t, x(ds(i * rows, rows), _));
    Tensor decayed = nl::ndarray({rows, columns}, nl::float32);
    ::nisa::tensor_scalar(decayed, h, nl::multiply, 0.75f);
    ::nisa::tensor_tensor(h, decayed, t, nl::add);
    ::nisa::dma_copy(y(ds(i * rows, rows), _), h);
  });
  return y;
}

constexpr auto device = [](int64_t n, auto body) { affine_for(n, body); };
constexpr auto host = [](int64_t n, auto body) {
  for (int64_t i = 0; i < n; ++i)
    body(i);
};

std::vector<float> scanModel(const std::vector<float> &x, int64_t n) {
  std::vector<float> y(x.size()), h(x.size() / size_t(n), 0.0f);
  for (size_t e = 0; e < x.size(); ++e) {
    float &state = h[e % h.size()];
    const float decayed = state * 0.75f;
    y[e] = state = decayed + x[e];
  }
  return y;
}

TEST(LoopLevels, AScanCarriesItsState) {
  for (int64_t n : {1, 2, 3, 17}) {
    SCOPED_TRACE(testing::Message() << n << " iterations");
    const std::vector<HostArray> inputs = {counting({n * 5, 7}, 0.37f)};
    const std::vector<float> expected = scanModel(floatsOf(inputs[0]), n);
    const trace::Trace rolled =
        traced([](Tensor x, int64_t n) { return scan(x, n, device); }, inputs, n);
    const trace::Trace written =
        traced([](Tensor x, int64_t n) { return scan(x, n, host); }, inputs, n);
    EXPECT_EQ(rolled.loops.size(), 1u);
    EXPECT_TRUE(written.loops.empty());
    ASSERT_EQ(
        floatsOf(outputsOf(compile(written, kUnrollings[0], Stop::Streams, false), inputs, {})),
        expected);
    checkEveryWay(rolled, inputs, expected, n == 17 ? kSeeds : 10);
  }
}

//---- nested loops, an accumulator of the outer one -----------------------------------------===//

/// y[i] = sum over j of x[i, j]^T x[i, j], matmuls that accumulate in PSUM through the inner loop.
template <class Repeat>
Tensor gram(const Tensor &x, int64_t n, Repeat repeat) {
  const int64_t rows = x.dim(0) / (n * 3), columns = x.dim(1);
  Tensor y = nl::ndarray({n * columns, columns}, nl::float32, nl::shared_hbm, {.name = "y"});
  repeat(n, [&](auto i) {
    Tensor acc = nl::ndarray({columns, columns}, nl::float32, nl::psum);
    repeat(3, [&](auto j) {
      Tensor t = nl::ndarray({rows, columns}, nl::float32);
      ::nisa::dma_copy(t, x(ds(i * (3 * rows) + j * rows, rows), _));
      ::nisa::nc_matmul(acc, t, t);
    });
    Tensor out = nl::ndarray({columns, columns}, nl::float32);
    ::nisa::tensor_copy(out, acc);
    ::nisa::dma_copy(y(ds(i * columns, columns), _), out);
  });
  return y;
}

TEST(LoopLevels, AnAccumulatorOfTheOuterLoopStartsAgain) {
  for (int64_t n : {1, 4}) {
    SCOPED_TRACE(testing::Message() << n << " iterations");
    const std::vector<HostArray> inputs = {counting({n * 3 * 5, 6}, 1)};
    const std::vector<float> x = floatsOf(inputs[0]);
    std::vector<float> expected; // every sum is a whole number below 2^24: exact in any order
    for (int64_t i = 0; i < n; ++i)
      for (size_t a = 0; a < 6; ++a)
        for (size_t b = 0; b < 6; ++b) {
          double sum = 0;
          for (size_t k = 0; k < 15; ++k)
            sum += double(x[(size_t(i) * 15 + k) * 6 + a]) * x[(size_t(i) * 15 + k) * 6 + b];
          expected.push_back(float(sum));
        }
    checkEveryWay(traced([](Tensor x, int64_t n) { return gram(x, n, device); }, inputs, n), inputs,
                  expected, 20);
    checkEveryWay(traced([](Tensor x, int64_t n) { return gram(x, n, host); }, inputs, n), inputs,
                  expected, 1);
  }
}

//---- what lies before and behind --------------------------------------------------------===//

/// The load in front of the loop fills what the body reads and overwrites, the store behind it
/// takes what the last iteration left; transposes bring an identity that is loaded once.
TEST(LoopLevels, EdgesOrderLoadsAndStoresAround) {
  constexpr int64_t n = 6;
  const std::vector<HostArray> inputs = {counting({8, 8}, 1)};
  const trace::Trace trace = traced(
      [](Tensor x, int64_t n) {
        Tensor y = nl::ndarray({8, 8}, nl::float32, nl::shared_hbm, {.name = "y"});
        Tensor t = nl::load(x);
        affine_for(n, [&](Index) {
          Tensor p = nl::ndarray({8, 8}, nl::float32, nl::psum);
          ::nisa::nc_transpose(p, t);
          ::nisa::tensor_scalar(t, p, nl::add, 1.0f);
        });
        nl::store(y, t);
        return y;
      },
      inputs, n);
  std::vector<float> expected = floatsOf(inputs[0]); // an even number of transposes
  for (float &value : expected)
    value += float(n);
  checkEveryWay(trace, inputs, expected, kSeeds);
}

/// Iterations that write what others read, in one HBM tensor and in one tile: the order of the
/// iterations is the order of the program.
TEST(LoopLevels, IterationsFollowEachOther) {
  constexpr int64_t n = 9;
  const std::vector<HostArray> inputs = {counting({1, n + 1}, 1)};
  const trace::Trace trace = traced(
      [](InOut x, int64_t n) {
        Tensor t = nl::zeros({1, n + 1}, nl::float32);
        affine_for(n, [&](Index i) {
          // x[i + 1] += x[i], through HBM; t[i + 1] = t[i] + 2, in place.
          Tensor a = nl::load(x(_, ds(i, 1))), b = nl::load(x(_, ds(i + 1, 1)));
          ::nisa::tensor_tensor(b, a, b, nl::add);
          nl::store(x(_, ds(i + 1, 1)), b);
          ::nisa::tensor_scalar(t(_, ds(i + 1, 1)), t(_, ds(i, 1)), nl::add, 2.0f);
        });
        Tensor y = nl::ndarray({1, n + 1}, nl::float32, nl::shared_hbm, {.name = "y"});
        nl::store(y, t);
        return y;
      },
      inputs, n);
  std::vector<float> expected;
  for (int64_t i = 0; i <= n; ++i)
    expected.push_back(float(2 * i));
  float sum = 0;
  for (float value : floatsOf(inputs[0]))
    expected.push_back(sum += value);
  checkEveryWay(trace, inputs, expected, kSeeds);
}

/// A tile that no iteration writes as a whole: what is left of the iteration before is no value.
TEST(LoopLevels, ATileOfTheBodyHoldsNothingOfTheIterationBefore) {
  const std::vector<HostArray> inputs = {counting({1, 8}, 1)};
  const trace::Trace trace = traced(
      [](Tensor x, int64_t n) {
        Tensor y = nl::ndarray({1, 8}, nl::float32, nl::shared_hbm, {.name = "y"});
        affine_for(n, [&](Index i) {
          Tensor t = nl::ndarray({1, 8}, nl::float32, nl::sbuf, {.name = "t"});
          ::nisa::dma_copy(t(_, ds(i, 1)), x(_, ds(i, 1)));
          ::nisa::dma_copy(y(_, ds(i, 1)), t(_, ds(0, 1)));
        });
        return y;
      },
      inputs, 8);
  for (const Unrolling &unrolling : kUnrollings)
    for (Stop stop : {Stop::BeforePlacement, Stop::BeforeStreams, Stop::Streams}) {
      const kilnrt::Program program = compile(trace, unrolling, stop, false);
      auto executable = kilnrt::Executable::prepare(program);
      auto result = executable->run(inputs);
      ASSERT_FALSE(result) << unrolling.name;
      EXPECT_EQ(result.error().rule, "M-09") << unrolling.name;
    }
}

//---- sizes ------------------------------------------------------------------------------===//

TEST(LoopLevels, AProgramDoesNotGrowWithItsLoops) {
  const auto bytesOf = [](int64_t n) {
    const std::vector<HostArray> inputs = {HostArray{DType::Float32, {n, 4}, {}}};
    const trace::Trace trace = traced(
        [](Tensor x, int64_t n) {
          Tensor y = nl::ndarray({n, 4}, nl::float32, nl::shared_hbm, {.name = "y"});
          affine_for(n, [&](Index i) {
            Tensor a = nl::load(x(ds(i, 1), _)), b = nl::load(x(ds(i, 1), _));
            ::nisa::tensor_tensor(b, a, b, nl::add);
            nl::store(y(ds(i, 1), _), b);
          });
          return y;
        },
        inputs, n);
    return kilnrt::serialize(compile(trace, {"", 1024, 128, 8}, Stop::Streams, false)).size();
  };
  const size_t large = bytesOf(1'000'000);
  EXPECT_LT(large, 16u * 1024);
  EXPECT_EQ(large, bytesOf(10'000'000));
}

} // namespace
} // namespace kiln::test
