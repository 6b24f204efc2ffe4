//===- BuilderDiagnosticTest.cpp - what instruction functions and nl::ndarray refuse ----------===//
//
// Rules of the table have their own tests; here are the ones only the language sees, and that the
// table's sentences arrive at the author's line with notes for the operands.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_;

template <class Lambda>
std::string errors(Lambda body) {
  return errorsOf(traceBody(body));
}
Tensor tile(const nl::Shape &shape, nl::DType dtype = nl::float32, nl::Buffer buffer = nl::sbuf,
            std::string name = "") {
  return nl::ndarray(shape, dtype, buffer, {.name = std::move(name)});
}

TEST(NdarrayDiagnostic, ShapesAndAddresses) {
  EXPECT_EQ(errors([](InOut) { tile({256, 512}); }).substr(0, 58),
            "[P-01] this tile needs 256 partitions, the core has 128 (s");
  EXPECT_EQ(errors([](InOut) { tile({128}, nl::float32, nl::sbuf, "c"); }),
            "[P-02] tile 'c' has shape (128,), on-chip tensors have a partition dim and at least "
            "one free dim "
            "(write (128, 1) for a column or (1, 128) for a row)");
  EXPECT_EQ(errors([](InOut) { tile({128, 60000}, nl::float32, nl::sbuf, "x"); }),
            "[M-02] tile 'x' (128, 60000) float32 needs 240000 bytes per partition, 212984 are "
            "usable (split the free "
            "dims into 2 tiles or more)");
  EXPECT_EQ(errors([](InOut) { tile({1, 53246}); }), "");
  EXPECT_EQ(errors([](InOut) { tile({2, 2, 2, 2, 2, 2}); }),
            "[S-06] this tile has rank 6, a tensor has at most 5 dims (merge two dims)");
  EXPECT_EQ(errors([](InOut) { tile({128, 0}); }),
            "[V-02] this tile is empty: dim 1 has extent 0 (every extent is at least 1)");
  EXPECT_EQ(errors([](InOut) {
              nl::ndarray({96, 8}, nl::float32, nl::sbuf,
                          {.name = "a", .address = nl::Address{32, 0}});
            }),
            "[M-07] 65 to 128 partitions must start at 0, tile 'a' of 96 partitions starts at 32 "
            "(place it at partition 0)");
  EXPECT_EQ(errors([](InOut) {
              nl::ndarray({128, 8}, nl::float32, nl::psum,
                          {.name = "a", .address = nl::Address{0, 1000}});
            }),
            "[M-06] free offset 1000 of tile 'a' is inside bank 0, banks start at multiples of "
            "2048 (place it at 0)");
  EXPECT_EQ(errors([](InOut) {
              nl::ndarray({128, 2048}, nl::float32, nl::sbuf,
                          {.name = "a", .address = nl::Address{0, 208000}});
            }),
            "[M-03] [208000, 216192) of tile 'a' exceeds the 212984 usable bytes (place it at "
            "204792 or lower)");
  EXPECT_EQ(errors([](InOut) {
              nl::ndarray({8, 8}, nl::float32, nl::sbuf, {.address = nl::Address{-1, 0}});
            }),
            "[M-07] address {-1, 0} is outside the memory: partition and byte are at least 0 "
            "(leave the address out to let "
            "the compiler place the tile)");
}

TEST(NdarrayDiagnostic, NamesAreUnique) {
  unsigned line = __LINE__ + 2;
  TraceResult result = traceBody([](InOut) {
    nl::ndarray({1, 1}, nl::float32, nl::sbuf, {.name = "w"});
    nl::ndarray({2, 1}, nl::float32, nl::sbuf, {.name = "w"});
  });
  EXPECT_EQ(errorsOf(result), "[M-13] name 'w' is already used at line " + std::to_string(line) +
                                  " (leave the name out, or add the loop index to it)");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].place[0].line, line + 1);
  ASSERT_EQ(result.diagnostics[0].notes.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].notes[0].message, "'w' is this 1x1 float32 tile in sbuf");
  EXPECT_EQ(errors([](InOut) { tile({1, 1}, nl::float32, nl::sbuf, "y"); }).substr(0, 34),
            "[M-13] name 'y' is already used at");
  EXPECT_EQ(errors([](InOut) { tile({1, 1}, nl::float32, nl::sbuf, "a b"); }),
            "[M-13] name 'a b' is not made of letters, digits, '_' and '.', a letter or '_' first "
            "(rename the tensor)");
}

TEST(BuilderDiagnostic, RulesOfTheTableSpeakAtTheStatement) {
  unsigned declared = __LINE__ + 3;
  TraceResult result = traceBody([](InOut) {
    // 513 columns are one too many.
    Tensor a = nl::ndarray({128, 64}, nl::float32, nl::sbuf, {.name = "a"});
    Tensor b = nl::ndarray({128, 513}, nl::float32);
    Tensor acc = nl::ndarray({64, 513}, nl::float32, nl::psum, {.name = "acc"});
    nisa::nc_matmul({.dst = acc, .stationary = a, .moving = b});
  });
  ASSERT_GE(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics.front();
  EXPECT_EQ(d.rule, "S-02");
  EXPECT_EQ(d.severity, Severity::Error);
  EXPECT_EQ(placeText(d.place), "BuilderDiagnosticTest.cpp:" + std::to_string(declared + 3));
  ASSERT_EQ(d.notes.size(), 3u);
  EXPECT_EQ(d.notes[0].message, "moving is this 128x513 float32 tile in sbuf");
  EXPECT_EQ(placeText(d.notes[0].place),
            "BuilderDiagnosticTest.cpp:" + std::to_string(declared + 1));
  EXPECT_EQ(d.notes[1].message, "'acc' is this 64x513 float32 tile in psum");
  EXPECT_EQ(d.notes[2].message, "'a' is this 128x64 float32 tile in sbuf");
}

TEST(BuilderDiagnostic, InputsAreReadOnly) {
  TraceResult result =
      traceOf([](Tensor x) { return nisa::dma_copy(x, nl::zeros({128, 8}, nl::float32)), x; },
              {TensorArg{DType::Float32, {128, 8}}}, {"x"});
  EXPECT_EQ(errorsOf(result), "[K-02] 'x' is a kernel input and read-only (declare the parameter "
                              "as nl::InOut, or copy it to a tensor of your own)\n"
                              "[K-01] result 0 is 'x', a parameter of the kernel (copy it to a "
                              "tensor declared in nl::shared_hbm, or declare "
                              "the parameter as nl::InOut)");
}

TEST(BuilderDiagnostic, OperatorsOfTheWrongKind) {
  EXPECT_EQ(errors([](InOut) { nisa::activation(tile({1, 1}), nl::add, tile({1, 1})); }),
            "[B-07] op of activation is nl::add, an operator of the ALUs (nisa::tensor_tensor and "
            "nisa::tensor_scalar "
            "compute with operators; functions are nl::exp, nl::relu, ...)");
  EXPECT_EQ(
      errors([](InOut) { nisa::tensor_tensor(tile({1, 1}), tile({1, 1}), tile({1, 1}), nl::exp); }),
      "[B-07] op of tensor_tensor is nl::exp, a function of the Scalar Engine (nisa::activation "
      "computes functions; an "
      "ALU operator is nl::add, nl::multiply, nl::maximum, ...)");
  EXPECT_EQ(errors([](InOut) {
              nisa::tensor_tensor(tile({1, 1}), tile({1, 1}), tile({1, 1}), nl::Op{});
            }),
            "[B-07] op of tensor_tensor is missing (give it an operator, such as .op = nl::add)");
  EXPECT_EQ(errors([](InOut) { nisa::activation(tile({1, 1}), nl::Op{}, tile({1, 1})); }),
            "[B-07] op of activation is missing (give it a function, such as .op = nl::exp)");
}

TEST(BuilderDiagnostic, TensorScalarStages) {
  EXPECT_EQ(errors([](InOut) {
              nisa::tensor_scalar({.dst = tile({1, 1}), .data = tile({1, 1}), .op0 = nl::add});
            }),
            "[D-08] op0 nl::add of tensor_scalar needs operand0 (give operand0 a number, or a tile "
            "with one value per "
            "partition)");
  EXPECT_EQ(errors([](InOut) {
              nisa::tensor_scalar(
                  {.dst = tile({1, 1}), .data = tile({1, 1}), .op0 = nl::abs, .operand0 = 2});
            }),
            "[D-08] op0 nl::abs of tensor_scalar takes no scalar, operand0 is given (leave "
            "operand0 out)");
  EXPECT_EQ(errors([](InOut) {
              nisa::tensor_scalar(
                  {.dst = tile({1, 1}), .data = tile({1, 1}), .op0 = nl::abs, .operand0 = 0});
            }),
            "");
  EXPECT_EQ(errors([](InOut) {
              nisa::tensor_scalar({.dst = tile({1, 1}),
                                   .data = tile({1, 1}),
                                   .op0 = nl::add,
                                   .operand0 = 1,
                                   .operand1 = 2});
            }),
            "[D-08] operand1 of tensor_scalar is given without op1 (give op1, or leave both out)");
}

TEST(BuilderDiagnostic, ReductionAxes) {
  auto reduce = [](auto axes) {
    static decltype(axes) chosen = axes;
    chosen = axes;
    return errors([](InOut) {
      nisa::tensor_reduce({.dst = tile({128, 1}),
                           .op = nl::add,
                           .data = tile({128, 4, 8}, nl::float32, nl::sbuf, "x"),
                           .axis = chosen});
    });
  };
  EXPECT_EQ(
      reduce(nl::Axes(0)),
      "[P-09] axis 0 of data 'x' is the partition dim and cannot be reduced here (transpose first, "
      "or multiply by a column of ones with nisa::nc_matmul)");
  EXPECT_EQ(reduce(nl::Axes(-3)),
            "[P-09] axis 0 of data 'x' is the partition dim and cannot be reduced here (transpose "
            "first, or multiply by a column of ones with nisa::nc_matmul)");
  EXPECT_EQ(
      reduce(nl::Axes(1)),
      "[P-10] axes {1} are not the trailing dims of data 'x', a rank-3 tile (permute the view so "
      "that the reduced dims come last)");
  EXPECT_EQ(reduce(nl::Axes({2, 2})),
            "[P-10] axes {2, 2} are not the trailing dims of data 'x', a rank-3 tile (permute the "
            "view so that the reduced dims come last)");
  EXPECT_EQ(reduce(nl::Axes(3)), "[V-01] axis 3 is outside the 3 dims of data 'x' (axes are "
                                 "numbered 0 to 2, or -3 to -1 from the end)");
  EXPECT_EQ(reduce(nl::Axes({2, 1})), "");
}

TEST(BuilderDiagnostic, MemsetTakesTheKindOfTheTile) {
  EXPECT_EQ(errors([](InOut) { nisa::memset(tile({1, 1}, nl::int32, nl::sbuf, "n"), 2.0); }),
            "[D-07] fill value 2.0 is floating, dst 'n' is int32 (write 2)");
  EXPECT_EQ(errors([](InOut) {
              nisa::memset(tile({1, 1}, nl::uint8, nl::sbuf, "n"), 2.5f);
            }).substr(0, 30),
            "[D-07] fill value 2.5 is float");
  EXPECT_EQ(errors([](InOut) { nisa::memset(tile({1, 1}, nl::float32), 2); }), "");
}

TEST(BuilderDiagnostic, IotaPatternDepth) {
  EXPECT_EQ(errors([](InOut) {
              nisa::iota(tile({1, 1}, nl::int32), {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
            }),
            "[S-06] the pattern of iota has 5 pairs, an instruction holds 1 to 4 (fill the tile in "
            "parts)");
}

TEST(BuilderDiagnostic, LoadAndStoreMoveBetweenMemories) {
  EXPECT_EQ(
      errors([](InOut) { nl::load(tile({1, 1}, nl::float32, nl::sbuf, "t")); }),
      "[B-06] nl::load reads HBM, 't' is on chip (use the tile itself, or nisa::tensor_copy)");
  EXPECT_EQ(
      errors([](InOut) { nl::store(tile({1, 1}, nl::float32, nl::sbuf, "t"), tile({1, 1})); }),
      "[B-06] nl::store writes HBM, 't' is on chip (copy between tiles with nisa::tensor_copy)");
}

TEST(BuilderDiagnostic, EmptyHandles) {
  EXPECT_EQ(errors([](InOut) {
              Tensor forgotten;
              nisa::tensor_copy(tile({1, 1}), forgotten);
            }),
            "[K-08] src of nisa::tensor_copy is an empty handle: it names no tensor (assign it the "
            "result of nl::ndarray "
            "first)");
}

TEST(BuilderDiagnostic, PoisonIsQuiet) {
  EXPECT_EQ(errors([](InOut y) {
              Tensor wrong = tile({129, 512}, nl::float32, nl::sbuf, "w");
              EXPECT_EQ(wrong.shape(), (nl::Shape{129, 512}));
              nisa::dma_copy(wrong, y);
              nisa::tensor_copy(wrong(ds(0, 64), _), wrong(nl::slice(64, 200), 3));
            }).substr(0, 56),
            "[P-01] tile 'w' needs 129 partitions, the core has 128 (");
  EXPECT_EQ(traceBody([](InOut y) {
              Tensor wrong = tile({129, 512}, nl::float32, nl::sbuf, "w");
              nisa::dma_copy(wrong, y);
            }).diagnostics.size(),
            1u);
}

TEST(BuilderDiagnostic, RequireEndsTheTrace) {
  unsigned line = __LINE__ + 3;
  TraceResult result = traceBody([](InOut y) {
    nl::require(true, "never shown {}", y.shape());
    nl::require(y.dim(1) % 500 == 0, "K={} is not a multiple of {}, {} {} {{}} {}", y.dim(1), 500u,
                y.shape(), y.dtype(), 0.5);
    y(0, 0, 0);
  });
  EXPECT_EQ(errorsOf(result), "[] K=512 is not a multiple of 500, 128x512 float32 {} 0.5");
  EXPECT_EQ(placeText(result.diagnostics[0].place),
            "BuilderDiagnosticTest.cpp:" + std::to_string(line));
  EXPECT_FALSE(result.ok);
}

TEST(BuilderDiagnostic, TilesNeedASize) {
  EXPECT_EQ(errors([](InOut) { nl::tiles(128, 0); }),
            "[V-02] nl::tiles needs tiles of at least 1 element, got 0");
  EXPECT_EQ(errors([](InOut) { nl::tiles(-1, 8); }),
            "[V-02] nl::tiles needs at least 0 elements, got -1");
}

TEST(BuilderDiagnostic, ErrorsAreBoundedAndInSourceOrder) {
  TraceResult result = traceBody([](InOut y) {
#define WRONG(i) y(i, 600);
    for (int repeat = 0; repeat < 2; ++repeat) {
      WRONG(0)
      WRONG(1)
      WRONG(2)
      WRONG(3)
      WRONG(4)
      WRONG(5)
      WRONG(6)
      WRONG(7)
      WRONG(8)
      WRONG(9)
      WRONG(10)
      WRONG(11)
      WRONG(12)
      WRONG(13)
      WRONG(14)
      WRONG(15)
      WRONG(16)
      WRONG(17)
      WRONG(18)
      WRONG(19)
      WRONG(20)
    }
#undef WRONG
  });
  ASSERT_EQ(result.diagnostics.size(), 21u);
  for (size_t i = 1; i < 20; ++i)
    EXPECT_EQ(result.diagnostics[i].place[0].line, result.diagnostics[i - 1].place[0].line + 1);
  EXPECT_EQ(result.diagnostics[0].notes.back().message,
            "the statement breaks this rule 1 more time");
  // The 21st statement, in both repetitions.
  EXPECT_EQ(result.diagnostics[20].message, "and 2 more errors");
  EXPECT_EQ(result.diagnostics[20].severity, Severity::Note);
}

} // namespace
} // namespace kiln::test
