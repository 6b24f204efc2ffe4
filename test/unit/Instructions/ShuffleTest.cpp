//===- ShuffleTest.cpp - moving rows and transposing, end to end ------------------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

using namespace kiln::test;
using testing::Each, testing::ElementsAre, testing::HasSubstr;

//---- nc_stream_shuffle --------------------------------------------------===//

TEST(NcStreamShuffle, MovesRowsInEveryGroupAndKeepsOthers) {
  const HostArray x = counting(DType::Int32, {96, 3});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({96, 3}, nl::int32, nl::shared_hbm);
        Tensor src = nl::ndarray({96, 3}, nl::int32), dst = nl::ndarray({96, 3}, nl::int32);
        nisa::dma_copy(src, x);
        nisa::memset(dst, -1);
        std::vector<int> mask(32);
        for (int i = 0; i < 32; ++i)
          mask[size_t(i)] = i % 5 == 4 ? 255 : 31 - i;
        nisa::nc_stream_shuffle(dst, src, mask);
        nisa::dma_copy(y, dst);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("nc_stream_shuffle "));
  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  for (size_t p = 0; p < 96; ++p)
    for (size_t f = 0; f < 3; ++f) {
      const size_t i = p % 32, source = p / 32 * 32 + 31 - i;
      EXPECT_EQ(found[p * 3 + f], i % 5 == 4 ? -1 : float(source * 3 + f + 1)) << p << " " << f;
    }
}

TEST(NcStreamShuffle, ReadsEveryRowBeforeItWritesInPlace) {
  const HostArray x = counting(DType::BFloat16, {40, 2});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({40, 2}, nl::bfloat16, nl::shared_hbm);
        Tensor t = nl::ndarray({40, 2}, nl::bfloat16);
        nisa::dma_copy(t, x);
        // Rows 0 to 7 in a ring, the others stay: the last group has only these.
        nisa::nc_stream_shuffle(
            {.dst = t, .src = t, .shuffle_mask = {1,   2,   3,   4,   5,   6,   7,   0,
                                                  255, 255, 255, 255, 255, 255, 255, 255,
                                                  255, 255, 255, 255, 255, 255, 255, 255,
                                                  255, 255, 255, 255, 255, 255, 255, 255}});
        nisa::dma_copy(y, t);
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  for (size_t p = 0; p < 40; ++p) {
    const size_t i = p % 32, source = i < 8 ? p / 32 * 32 + (i + 1) % 8 : p;
    EXPECT_EQ(found[p * 2 + 1], float(source * 2 + 2)) << p;
  }
}

TEST(NcStreamShuffle, RepeatsOneRowAcrossQuadrants) {
  // A single row from partition 64 of PSUM fills 20 rows that start at partition 96.
  const HostArray x = counting(DType::Int8, {1, 7});

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({20, 7}, nl::int8, nl::shared_hbm);
        Tensor row = nl::ndarray({1, 7}, nl::int8);
        Tensor wide = nl::ndarray({65, 7}, nl::int8, nl::psum),
               dst = nl::ndarray({128, 7}, nl::int8);
        nisa::dma_copy(row, x);
        nisa::tensor_copy(wide(nl::slice(64, 65), nl::_), row);
        nisa::nc_stream_shuffle(dst(nl::slice(96, 116), nl::_), wide(nl::slice(64, 65), nl::_),
                                std::vector<int>(32, 0));
        nisa::dma_copy(y, dst(nl::slice(96, 116), nl::_));
        return y;
      },
      {x});

  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  for (size_t e = 0; e < 140; ++e)
    EXPECT_EQ(found[e], float(e % 7 + 1));
}

/// What is wrong with shuffling `from` rows that start at partition `first` to `to` rows at 0.
static std::string shuffleErrors(int64_t from, int64_t first, int64_t to, std::vector<int> mask) {
  static int64_t rows, start, results;
  static std::vector<int> entries;
  rows = from;
  start = first;
  results = to;
  entries = std::move(mask);
  return errorsOf(traceBody([](InOut) {
    Tensor src = nl::ndarray({start + rows, 4}, nl::float32);
    nisa::nc_stream_shuffle(nl::ndarray({results, 4}, nl::float32),
                            src(nl::slice(start, start + rows), nl::_), entries);
  }));
}

TEST(NcStreamShuffle, TakesRowsOfAGroupThatSrcHas) {
  std::vector<int> mask(32, 255);
  mask[3] = 31;
  EXPECT_EQ(shuffleErrors(32, 0, 32, mask), "");
  mask[3] = 32;
  EXPECT_EQ(shuffleErrors(32, 0, 32, mask),
            "[V-01] shuffle_mask[3] is 32; rows of a group are 0 to 31, and 255 keeps the row of "
            "dst (use a row of the group)");
  EXPECT_EQ(shuffleErrors(32, 0, 3, mask), ""); // dst has no row 3
  mask[3] = -1;
  EXPECT_EQ(shuffleErrors(32, 0, 32, mask),
            "[V-01] shuffle_mask[3] is -1; rows of a group are 0 to 31, and 255 keeps the row of "
            "dst (use a row of the group)");
  EXPECT_EQ(shuffleErrors(1, 0, 32, std::vector<int>(32, 0)), "");
  EXPECT_EQ(shuffleErrors(1, 0, 32, std::vector<int>(32, 1)),
            "[V-01] shuffle_mask[0] is 1, so dst needs row 1 of src, which has 1 partition (name a "
            "row below 1, or use 255 to keep the row of dst)");
  EXPECT_EQ(shuffleErrors(33, 0, 33, std::vector<int>(32, 0)), "");
  EXPECT_EQ(
      shuffleErrors(32, 0, 33, std::vector<int>(32, 0)),
      "[V-01] shuffle_mask[0] is 0, so dst needs row 32 of src, which has 32 partitions (name "
      "a row below 32, or use 255 to keep the row of dst)");
  EXPECT_EQ(shuffleErrors(32, 0, 32, std::vector<int>(31, 0)),
            "[V-01] shuffle_mask has 31 entries, it needs 32: one for each row of a group of "
            "partitions (repeat 255 for the rows dst keeps)");
}

TEST(NcStreamShuffle, StartsWhereTheLargerOperandMay) {
  const std::vector<int> zeros(32, 0);
  EXPECT_EQ(shuffleErrors(32, 96, 32, zeros), "");
  EXPECT_EQ(shuffleErrors(33, 64, 64, zeros), "");
  EXPECT_EQ(shuffleErrors(32, 32, 1, zeros), "");
  std::vector<int> first(32, 255);
  first[0] = 0;
  // 64 rows may not start at 32, although the 1 row of src alone may.
  EXPECT_EQ(shuffleErrors(33, 0, 33, first), "");
  EXPECT_EQ(shuffleErrors(1, 32, 32, first), "");
  EXPECT_THAT(shuffleErrors(1, 32, 33, first),
              HasSubstr("[P-06] src starts at partition 32, and the larger operand of "
                        "nc_stream_shuffle has 33 partitions (33 to 64 partitions must start at 0 "
                        "or 64)"));
}

TEST(NcStreamShuffle, MovesBits) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nisa::nc_stream_shuffle(nl::ndarray({4, 4}, nl::float32),
                                      nl::ndarray({4, 3}, nl::int32), std::vector<int>(32, 0));
            })),
            "[P-05] src has 3 elements per partition, dst has 4 (take views of 3 elements per "
            "partition on both sides)\n[D-03] nc_stream_shuffle moves bits: dst is float32, src is "
            "int32 (cast in a separate copy)");
}

//---- nc_transpose on the Vector Engine ----------------------------------===//

TEST(NcTransposeOnVector, TakesAnyDtypeBetweenAnyMemories) {
  const HostArray x = counting(DType::Int8, {5, 12}), w = counting(DType::UInt32, {32, 32});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor w) {
        Tensor y = nl::ndarray({12, 5}, nl::int8, nl::shared_hbm),
               v = nl::ndarray({32, 32}, nl::uint32, nl::shared_hbm);
        Tensor in = nl::ndarray({5, 12}, nl::int8), up = nl::ndarray({12, 5}, nl::int8, nl::psum),
               down = nl::ndarray({5, 12}, nl::int8), back = nl::ndarray({12, 5}, nl::int8);
        nisa::dma_copy(in, x);
        nisa::nc_transpose(up, in);   // SBUF to PSUM: integers have no other engine
        nisa::nc_transpose(down, up); // PSUM to SBUF
        nisa::nc_transpose(back, down);
        nisa::dma_copy(y, back);
        Tensor square = nl::ndarray({32, 32}, nl::uint32);
        nisa::dma_copy(square, w);
        nisa::nc_transpose({.dst = square, .data = square, .engine = nisa::engine::vector});
        nisa::dma_copy(v, square);
        return std::make_tuple(y, v);
      },
      {x, w}, &text);

  EXPECT_THAT(text, HasSubstr("nc_transpose "));
  ASSERT_EQ(results.size(), 2u);
  const std::vector<float> a = floatsOf(results[0]), b = floatsOf(results[1]);
  for (size_t f = 0; f < 12; ++f)
    for (size_t p = 0; p < 5; ++p)
      EXPECT_EQ(a[f * 5 + p], float(p * 12 + f + 1));
  for (size_t f = 0; f < 32; ++f)
    for (size_t p = 0; p < 32; ++p)
      EXPECT_EQ(b[f * 32 + p], float(p * 32 + f + 1));
}
