//===- BuilderTest.cpp - what each instruction function records -------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_;

/// What `body` records, after the copy that opens every traceBody kernel.
template <class Lambda>
std::string recorded(Lambda body) {
  TraceResult result = traceBody(body);
  EXPECT_EQ(errorsOf(result), "");
  std::string all = instructionsOf(result);
  std::string opening =
      "dma_copy dst=y[128 rows of 512, 0: 1x512] src=y.in[128 rows of 512, 0: 1x512]\n";
  EXPECT_EQ(all.substr(0, opening.size()), opening);
  return all.size() > opening.size() ? all.substr(opening.size(), all.size() - opening.size() - 1)
                                     : "";
}

const TensorArg kMatrix{DType::Float32, {128, 512}};

Tensor tile(const nl::Shape &shape, nl::DType dtype = nl::float32, nl::Buffer buffer = nl::sbuf) {
  return nl::ndarray(shape, dtype, buffer);
}

TEST(Builder, NcMatmul) {
  EXPECT_EQ(
      recorded([](InOut) {
        Tensor dst = tile({64, 512}, nl::float32, nl::psum), a = tile({128, 64}),
               b = tile({128, 512});
        nisa::nc_matmul(dst, a, b);
        nisa::nc_matmul({.dst = dst, .stationary = a, .moving = b, .accumulate = true});
        nisa::nc_matmul({.dst = dst,
                         .stationary = a,
                         .moving = b,
                         .is_stationary_onezero = true,
                         .is_moving_onezero = true,
                         .accumulate = false});
      }),
      "nc_matmul dst=t0[0+64, 0: 1x512] stationary=t1[0+128, 0: 1x64] moving=t2[0+128, 0: 1x512]\n"
      "nc_matmul dst=t0[0+64, 0: 1x512] stationary=t1[0+128, 0: 1x64] moving=t2[0+128, 0: 1x512] "
      "accumulate=add\n"
      "nc_matmul dst=t0[0+64, 0: 1x512] stationary=t1[0+128, 0: 1x64] moving=t2[0+128, 0: 1x512] "
      "is_stationary_onezero=1 is_moving_onezero=1 accumulate=overwrite");
  EXPECT_EQ(recorded([](InOut) {
              Tensor dst = tile({64, 128}, nl::bfloat16, nl::psum),
                     a = tile({128, 64}, nl::bfloat16), id = tile({128, 128}, nl::bfloat16);
              nisa::nc_matmul({.dst = dst, .stationary = a, .moving = id, .is_transpose = true});
            }),
            "nc_matmul dst=t0[0+64, 0: 1x128] stationary=t1[0+128, 0: 1x64] moving=t2[0+128, 0: "
            "1x128] is_transpose=1");
}

TEST(Builder, NcTranspose) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor dst = tile({64, 128}, nl::float32, nl::psum), a = tile({128, 64});
              nisa::nc_transpose(dst, a);
              nisa::nc_transpose(
                  {.dst = tile({16, 32}), .data = tile({32, 16}), .engine = nisa::engine::vector});
            }),
            "nc_transpose dst=t0[0+64, 0: 1x128] data=t1[0+128, 0: 1x64]\n"
            "nc_transpose dst=t2[0+16, 0: 1x32] data=t3[0+32, 0: 1x16] engine=vector");
}

TEST(Builder, Activation) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor y = tile({128, 512}), x = tile({128, 512}), column = tile({128, 1}),
                     sum = tile({128, 1});
              nisa::activation(y, nl::exp, x);
              nisa::activation({.dst = y, .op = nl::copy, .data = x, .bias = 0.5f, .scale = 2});
              nisa::activation({.dst = y,
                                .op = nl::abs,
                                .data = x,
                                .bias = column,
                                .scale = column,
                                .reduce_op = nl::add,
                                .reduce_res = sum,
                                .reduce_cmd = nisa::reduce_cmd::reset_reduce});
            }),
            "activation dst=t0[0+128, 0: 1x512] data=t1[0+128, 0: 1x512] op=exp\n"
            "activation dst=t0[0+128, 0: 1x512] data=t1[0+128, 0: 1x512] op=copy imm_bias=0.5 "
            "imm_scale=2\n"
            "activation dst=t0[0+128, 0: 1x512] data=t1[0+128, 0: 1x512] bias=t2[0+128, 0: 1x1] "
            "scale=t2[0+128, 0: 1x1] "
            "reduce_res=t3[0+128, 0: 1x1] op=abs reduce_op=add reduce_cmd=reset_reduce");
}

TEST(Builder, RecordTakesEveryKindOfParameter) {
  EXPECT_EQ(
      recorded([](InOut) {
        using nisa::detail::record;
        nl::SrcLoc here = nl::SrcLoc::current();
        Tensor y = tile({64, 8}), x = tile({64, 8}), m = tile({64, 1});
        record("tensor_tensor", {{"dst", y}, {"data1", x}, {"data2", x}, {"op", nl::add}}, here,
               nisa::engine::gpsimd);
        record("activation", {{"dst", y}, {"op", nl::exp}, {"data", x}, {"imm_scale", 0.1}}, here);
        record(
            "tensor_reduce",
            {{"dst", m}, {"op", nl::maximum}, {"data", x}, {"reduced_dims", 1}, {"negate", true}},
            here);
        record("tensor_scalar", {{"dst", y}, {"data", x}, {"op0", nl::abs}, {"op1", nl::Op{}}},
               here);
        record("memset", {{"dst", y}, {"value", 2.5}}, here);
      }),
      "tensor_tensor dst=t0[0+64, 0: 1x8] data1=t1[0+64, 0: 1x8] data2=t1[0+64, 0: 1x8] "
      "op=add engine=gpsimd\n"
      "activation dst=t0[0+64, 0: 1x8] data=t1[0+64, 0: 1x8] op=exp imm_scale=0.1\n"
      "tensor_reduce dst=t2[0+64, 0: 1x1] data=t1[0+64, 0: 1x8] op=maximum reduced_dims=1 "
      "negate=1\n"
      "tensor_scalar dst=t0[0+64, 0: 1x8] data=t1[0+64, 0: 1x8] op0=abs\n"
      "memset dst=t0[0+64, 0: 1x8] value=2.5");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor y = tile({64, 8});
              nisa::detail::record("activation", {{"dst", y}, {"op", nl::add}, {"data", y}},
                                   nl::SrcLoc::current());
            })),
            "[B-07] op of activation is nl::add, an operator of the ALUs (nisa::tensor_tensor and "
            "nisa::tensor_scalar compute with operators; functions are nl::exp, nl::relu, ...)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              Tensor y = tile({64, 8});
              nisa::detail::record("tensor_tensor",
                                   {{"dst", y}, {"data1", y}, {"data2", y}, {"op", nl::Op{}}},
                                   nl::SrcLoc::current());
            })),
            "[B-07] op of tensor_tensor is missing (give it an operator, such as .op = nl::add)");
}

TEST(Builder, ActivationConstantsAreRoundedToFloat32) {
  TraceResult r = traceBody([](InOut) {
    nisa::activation({.dst = tile({1, 1}), .op = nl::copy, .data = tile({1, 1}), .scale = 0.1});
  });
  ASSERT_EQ(errorsOf(r), "");
  EXPECT_EQ(r.trace.instructions.back().inst.real("imm_scale"), double(0.1f));
}

TEST(Builder, TensorReduceKeepsItsDims) {
  EXPECT_EQ(
      recorded([](InOut) {
        Tensor x = tile({128, 4, 8, 16});
        nisa::tensor_reduce({.dst = tile({128, 32}), .op = nl::add, .data = x, .axis = 3});
        nisa::tensor_reduce(
            {.dst = tile({128, 4}), .op = nl::maximum, .data = x, .axis = {2, 3}, .negate = true});
        nisa::tensor_reduce({.dst = tile({128, 1}),
                             .op = nl::add,
                             .data = x,
                             .axis = {-1, 1, 2},
                             .keepdims = true});
        nisa::tensor_reduce(tile({128, 64}), nl::add, x.permute({0, 1, 3, 2}), -1);
      }),
      "tensor_reduce dst=t0[0+128, 0: 1x32] data=t1[0+128, 0: 128x4 16x8 1x16] op=add "
      "reduced_dims=1\n"
      "tensor_reduce dst=t2[0+128, 0: 1x4] data=t1[0+128, 0: 128x4 16x8 1x16] op=maximum "
      "reduced_dims=2 negate=1\n"
      "tensor_reduce dst=t3[0+128, 0: 1x1] data=t1[0+128, 0: 128x4 16x8 1x16] op=add "
      "reduced_dims=3\n"
      "tensor_reduce dst=t4[0+128, 0: 1x64] data=t1[0+128, 0: 128x4 1x16 16x8] op=add "
      "reduced_dims=1");
}

TEST(Builder, TensorTensor) {
  EXPECT_EQ(
      recorded([](InOut) {
        Tensor a = tile({128, 4, 8}), b = tile({128, 8});
        nisa::tensor_tensor(a, a, b.expand_dim(1).broadcast(1, 4), nl::multiply);
        nisa::tensor_tensor(
            {.dst = b, .data1 = b, .data2 = b, .op = nl::add, .engine = nisa::engine::gpsimd});
      }),
      "tensor_tensor dst=t0[0+128, 0: 1x32] data1=t0[0+128, 0: 1x32] data2=t1[0+128, 0: 0x4 1x8] "
      "op=multiply\n"
      "tensor_tensor dst=t1[0+128, 0: 1x8] data1=t1[0+128, 0: 1x8] data2=t1[0+128, 0: 1x8] op=add "
      "engine=gpsimd");
}

TEST(Builder, TensorScalar) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor y = tile({128, 8}), x = tile({128, 8}), m = tile({128, 1});
              nisa::tensor_scalar(y, x, nl::multiply, 2.5f);
              nisa::tensor_scalar({.dst = y,
                                   .data = x,
                                   .op0 = nl::subtract,
                                   .operand0 = 1,
                                   .reverse0 = true,
                                   .op1 = nl::maximum,
                                   .operand1 = m,
                                   .reverse1 = true,
                                   .engine = nisa::engine::vector});
              nisa::tensor_scalar({.dst = y, .data = x, .op0 = nl::abs});
            }),
            "tensor_scalar dst=t0[0+128, 0: 1x8] data=t1[0+128, 0: 1x8] op0=multiply imm0=2.5\n"
            "tensor_scalar dst=t0[0+128, 0: 1x8] data=t1[0+128, 0: 1x8] operand1=t2[0+128, 0: 1x1] "
            "op0=subtract imm0=1 "
            "reverse0=1 op1=maximum reverse1=1 engine=vector\n"
            "tensor_scalar dst=t0[0+128, 0: 1x8] data=t1[0+128, 0: 1x8] op0=abs");
}

TEST(Builder, CopyReciprocalMemset) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor a = tile({64, 8}), b = tile({64, 8}, nl::bfloat16),
                     n = tile({64, 8}, nl::int32);
              nisa::tensor_copy(b, a);
              nisa::tensor_copy({.dst = a, .src = b, .engine = nisa::engine::scalar});
              nisa::reciprocal(a, b);
              nisa::memset(a, -3.0e38f);
              nisa::memset(a, 2);
              nisa::memset({.dst = n, .value = -7, .engine = nisa::engine::gpsimd});
            }),
            "tensor_copy dst=t0[0+64, 0: 1x8] src=t1[0+64, 0: 1x8]\n"
            "tensor_copy dst=t1[0+64, 0: 1x8] src=t0[0+64, 0: 1x8] engine=scalar\n"
            "reciprocal dst=t1[0+64, 0: 1x8] data=t0[0+64, 0: 1x8]\n"
            "memset dst=t1[0+64, 0: 1x8] value=-3e+38\n"
            "memset dst=t1[0+64, 0: 1x8] value=2\n"
            "memset dst=t2[0+64, 0: 1x8] value=-7 engine=gpsimd");
}

TEST(Builder, Iota) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor i = tile({128, 4, 8}, nl::int32);
              nisa::iota(i, {{8, 4}, {1, 8}});
              nisa::iota({.dst = i, .pattern = {{1, 32}}, .offset = -5, .channel_multiplier = 32});
            }),
            "iota dst=t0[0+128, 0: 1x32] pattern=8,4,1,8,0,1,0,1\n"
            "iota dst=t0[0+128, 0: 1x32] pattern=1,32,0,1,0,1,0,1 offset=-5 channel_multiplier=32");
}

TEST(Builder, DmaCopy) {
  EXPECT_EQ(recorded([](InOut y) {
              Tensor t = tile({128, 512});
              nisa::dma_copy(t, y);
              nisa::dma_copy({.dst = y,
                              .src = t,
                              .dge_mode = nisa::dge_mode::hwdge,
                              .oob_mode = nisa::oob_mode::skip,
                              .engine = nisa::engine::scalar});
            }),
            "dma_copy dst=t0[0+128, 0: 1x512] src=y[128 rows of 512, 0: 1x512]\n"
            "dma_copy dst=y[128 rows of 512, 0: 1x512] src=t0[0+128, 0: 1x512] dge_mode=hwdge "
            "oob_mode=skip engine=scalar");
}

TEST(Builder, DmaCutsHbmIntoTheRowsOfTheTile) {
  EXPECT_EQ(recorded([](InOut y) {
              Tensor column = tile({128, 1}), row = tile({1, 128}), block = tile({64, 2, 4}),
                     line = tile({1, 512});
              Tensor flat = y.reshape({65536});
              nisa::dma_copy(column, flat(ds(0, 128)));
              nisa::dma_copy(row, flat(ds(128, 128)));
              nisa::dma_copy(block, flat(ds(0, 512)));
              nisa::dma_copy(line, y(3));
              nisa::dma_copy(column, y(_, 7));
              // One row repeated to all partitions: row step 0.
              nisa::dma_copy(tile({128, 256}), y.ap({{0, 128}, {1, 256}}, {.offset = 512}));
              // No cut of 512 rows gives 128: the sequence stays as it is.
              nisa::dma_copy(tile({128, 2}), y.ap({{512, 4}, {1, 64}}));
            }),
            "dma_copy dst=t0[0+128, 0: 1x1] src=y[128 rows of 1, 0: 1x1]\n"
            "dma_copy dst=t1[0+1, 0: 1x128] src=y[1 rows of 0, 128: 1x128]\n"
            "dma_copy dst=t2[0+64, 0: 1x8] src=y[64 rows of 8, 0: 1x8]\n"
            "dma_copy dst=t3[0+1, 0: 1x512] src=y[1 rows of 0, 1536: 1x512]\n"
            "dma_copy dst=t0[0+128, 0: 1x1] src=y[128 rows of 512, 7: 1x1]\n"
            "dma_copy dst=t4[0+128, 0: 1x256] src=y[128 rows of 0, 512: 1x256]\n"
            "dma_copy dst=t5[0+128, 0: 1x2] src=y[4 rows of 512, 0: 1x64]");
}

TEST(Builder, TilesAndLanguage) {
  EXPECT_EQ(recorded([](InOut y) {
              Tensor t = nl::load(y(_, ds(0, 4)), nl::bfloat16);
              nl::store(y(_, ds(4, 4)), t);
              nl::load(y(0));
              nl::zeros({2, 2}, nl::float32);
              nl::ones({2, 2}, nl::int32);
              nl::full({2, 2}, 0.5, nl::float32, nl::psum);
            }),
            "dma_copy dst=t0[0+128, 0: 1x4] src=y[128 rows of 512, 0: 1x4]\n"
            "dma_copy dst=y[128 rows of 512, 4: 1x4] src=t0[0+128, 0: 1x4]\n"
            "dma_copy dst=t1[0+1, 0: 1x512] src=y[1 rows of 0, 0: 1x512]\n"
            "memset dst=t2[0+2, 0: 1x2] value=0\n"
            "memset dst=t3[0+2, 0: 1x2] value=1\n"
            "memset dst=t4[0+2, 0: 1x2] value=0.5");
}

TEST(Builder, PartitionsOfATileAreRelativeToIt) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor t = tile({128, 8});
              nisa::tensor_copy(t(ds(64, 64), ds(0, 4)), t(ds(0, 64), nl::slice(0, 8, 2)));
              Tensor placed = nl::ndarray({32, 8}, nl::float32, nl::sbuf,
                                          {.name = "p", .address = nl::Address{96, 1024}});
              nisa::tensor_copy(placed, placed);
            }),
            "tensor_copy dst=t0[64+64, 0: 1x4] src=t0[0+64, 0: 2x4]\n"
            "tensor_copy dst=p[0+32, 0: 1x8] src=p[0+32, 0: 1x8]");
}

TEST(Builder, ReinterpretedTilesCountTheirOwnElements) {
  EXPECT_EQ(recorded([](InOut) {
              Tensor t = tile({128, 8}, nl::int32);
              nisa::memset(t.view(nl::uint8)(_, ds(4, 4)), 255);
            }),
            "memset dst=t0[0+128, 4: 1x4]:uint8 value=255");
}

TEST(Subscript, GivesTheShapesOfTheHeadersTable) {
  TraceResult r = traceOf(
      [](InOut, Tensor h) {
        Tensor t = tile({64, 64, 64});
        EXPECT_EQ(t(0, 0, 10).shape(), (nl::Shape{1, 1}));
        EXPECT_EQ(t(_, 0).shape(), (nl::Shape{64, 64}));
        EXPECT_EQ(t(_, 0, 10).shape(), (nl::Shape{64, 1}));
        EXPECT_EQ(t(0).shape(), (nl::Shape{1, 64, 64}));
        EXPECT_EQ((t[{0, nl::slice(0, 8, 3)}].shape()), (nl::Shape{1, 3, 64}));
        EXPECT_EQ(h(0).shape(), (nl::Shape{128, 32}));
        EXPECT_EQ(h(0, _, 3).shape(), (nl::Shape{128}));
        EXPECT_EQ(h(nl::dots, nl::slice(0, 16)).shape(), (nl::Shape{4, 128, 16}));
        EXPECT_EQ(h(ds(1, 2)).shape(), (nl::Shape{2, 128, 32}));
        EXPECT_EQ(h(0, 0, 0).shape(), (nl::Shape{1}));
        EXPECT_EQ(h(-1, -1, -1).offset(), 4 * 128 * 32 - 1);
        EXPECT_EQ(t(3, 4, 5).offset(), 3 * 64 * 64 + 4 * 64 + 5);
        using Pairs = std::vector<std::pair<int64_t, int64_t>>;
        EXPECT_EQ(t(_, 0).get_pattern(), (Pairs{{4096, 64}, {1, 64}}));
        EXPECT_TRUE(t(ds(0, 32), 0).is_contiguous());
        EXPECT_FALSE(t(_, _, 0).is_contiguous());
        EXPECT_FALSE(h(_, 0).is_contiguous());
        EXPECT_EQ(h.name(), "h");
        EXPECT_EQ(t.name(), "");
        EXPECT_EQ(h.size(), 4 * 128 * 32);
      },
      {kMatrix, TensorArg{DType::Float32, {4, 128, 32}}}, {"y", "h"});
  EXPECT_EQ(errorsOf(r), "");
}

//---- loops and helpers --------------------------------------------------===//

TEST(Util, TilesClipTheLastChunk) {
  std::vector<std::tuple<int64_t, int64_t, int64_t>> found;
  auto collect = [&](nl::Tiles tiles) {
    found.clear();
    for (Chunk c : tiles) {
      EXPECT_EQ(c.end(), c.start + c.size);
      found.push_back({c.index, c.start, c.size});
    }
    return found;
  };
  using List = decltype(found);
  EXPECT_EQ(collect(nl::tiles(200, 128)), (List{{0, 0, 128}, {1, 128, 72}}));
  EXPECT_EQ(collect(nl::tiles(256, 128)), (List{{0, 0, 128}, {1, 128, 128}}));
  EXPECT_EQ(collect(nl::tiles(1, 128)), (List{{0, 0, 1}}));
  EXPECT_EQ(collect(nl::tiles(0, 128)), (List{}));
  EXPECT_EQ(nl::tiles(257, 128).size(), 3);
  EXPECT_EQ(nl::tiles(257, 128)[2].size, 1);
}

TEST(Util, RangesCountLikePython) {
  auto list = [](const auto &range) {
    std::vector<int64_t> out;
    for (int64_t i : range)
      out.push_back(i);
    return out;
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(list(nl::range(3)), (List{0, 1, 2}));
  EXPECT_EQ(list(nl::range(2, 9, 3)), (List{2, 5, 8}));
  EXPECT_EQ(list(nl::range(5, 0, -2)), (List{5, 3, 1}));
  EXPECT_EQ(list(nl::affine_range(0)), (List{}));
  EXPECT_EQ(list(nl::sequential_range(4, 2)), (List{}));
}

TEST(Util, CeilDivRoundsUp) {
  EXPECT_EQ(nl::ceil_div(0, 128), 0);
  EXPECT_EQ(nl::ceil_div(128, 128), 1);
  EXPECT_EQ(nl::ceil_div(129u, 128), 2);
}

} // namespace
} // namespace kiln::test
