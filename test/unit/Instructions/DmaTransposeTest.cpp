//===- DmaTransposeTest.cpp - dma_transpose, end to end ---------------------------------------===//
//
// Shares and schedules are in the tests of the executor.
//
//===------------------------------------------------------------------------------------------===//

#include "InstructionFixture.h"

#include <gmock/gmock.h>

#include <numeric>

using namespace kiln::test;
using testing::ElementsAre, testing::HasSubstr;

TEST(DmaTranspose, BringsColumnsOfAMatrixToPartitions) {
  const HostArray x = counting(DType::Float32, {300, 70});

  std::string text;
  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({70, 300}, nl::float32, nl::shared_hbm);
        Tensor t = nl::ndarray({70, 300}, nl::float32);
        nisa::dma_transpose(t, x);
        nisa::dma_copy(y, t);
        return y;
      },
      {x}, &text);

  EXPECT_THAT(text, HasSubstr("dma_transpose "));
  ASSERT_EQ(results.size(), 1u);
  const std::vector<float> found = floatsOf(results[0]);
  for (size_t c = 0; c < 70; ++c)
    for (size_t r = 0; r < 300; ++r)
      ASSERT_EQ(found[c * 300 + r], float(r * 70 + c + 1));
}

TEST(DmaTranspose, KeepsTheMiddleDimsOfThreeAndFour) {
  const HostArray x = counting(DType::Int16, {6, 3, 5}), w = counting(DType::UInt32, {2, 3, 4, 5});

  std::vector<HostArray> results = runKernel(
      [](Tensor x, Tensor w) {
        Tensor y = nl::ndarray({5, 3, 6}, nl::int16, nl::shared_hbm),
               v = nl::ndarray({5, 3, 4, 2}, nl::uint32, nl::shared_hbm);
        Tensor three = nl::ndarray({5, 3, 6}, nl::int16),
               four = nl::ndarray({5, 3, 4, 2}, nl::uint32);
        nisa::dma_transpose({.dst = three, .src = x, .axes = {2, 1, 0}});
        nisa::dma_transpose(
            {.dst = four, .src = w, .axes = {3, 1, 2, 0}, .dge_mode = nisa::dge_mode::none});
        nisa::dma_copy(y, three);
        nisa::dma_copy(v, four);
        return std::make_tuple(y, v);
      },
      {x, w});

  ASSERT_EQ(results.size(), 2u);
  const std::vector<float> a = floatsOf(results[0]), b = floatsOf(results[1]);
  for (size_t c = 0; c < 5; ++c)
    for (size_t m = 0; m < 3; ++m)
      for (size_t r = 0; r < 6; ++r)
        ASSERT_EQ(a[(c * 3 + m) * 6 + r], float((r * 3 + m) * 5 + c + 1));
  for (size_t c = 0; c < 5; ++c)
    for (size_t m = 0; m < 12; ++m)
      for (size_t r = 0; r < 2; ++r)
        ASSERT_EQ(b[(c * 12 + m) * 2 + r], float((r * 12 + m) * 5 + c + 1));
}

TEST(DmaTranspose, TakesStridedViewsAndTilesAndKeepsBits) {
  // Every second column of rows 1 to 4, then back from SBUF through hardware descriptors.
  HostArray x{DType::BFloat16, {6, 10}, {}};
  std::vector<uint16_t> bits(60);
  std::iota(bits.begin(), bits.end(), uint16_t(0x7F70)); // NaN payloads on the way
  x.data.resize(120);
  std::memcpy(x.data.data(), bits.data(), 120);

  std::vector<HostArray> results = runKernel(
      [](Tensor x) {
        Tensor y = nl::ndarray({5, 4}, nl::bfloat16, nl::shared_hbm),
               z = nl::ndarray({16, 16}, nl::bfloat16, nl::shared_hbm);
        Tensor t = nl::ndarray({5, 4}, nl::bfloat16), back = nl::ndarray({16, 16}, nl::bfloat16),
               square = nl::ndarray({16, 16}, nl::bfloat16);
        nisa::dma_transpose(t, x(nl::slice(1, 5), nl::slice(0, 10, 2)));
        nisa::dma_copy(y, t);
        nisa::memset(square, 1.0);
        nisa::tensor_copy(square(nl::slice(0, 5), nl::slice(3, 7)), t);
        nisa::dma_transpose({.dst = back, .src = square, .dge_mode = nisa::dge_mode::hwdge});
        nisa::dma_copy(z, back);
        return std::make_tuple(y, z);
      },
      {x});

  ASSERT_EQ(results.size(), 2u);
  std::vector<uint16_t> y(20), z(256);
  std::memcpy(y.data(), results[0].data.data(), 40);
  std::memcpy(z.data(), results[1].data.data(), 512);
  for (size_t c = 0; c < 5; ++c)
    for (size_t r = 0; r < 4; ++r) {
      EXPECT_EQ(y[c * 4 + r], bits[(r + 1) * 10 + 2 * c]);
      EXPECT_EQ(z[(r + 3) * 16 + c], bits[(r + 1) * 10 + 2 * c]);
    }
  EXPECT_EQ(z[0], 0x3F80);
}

//---- refusals -----------------------------------------------------------===//

/// What is wrong with transposing `src` to `dst`.
static std::string transposeErrors(std::initializer_list<nl::detail::Int> dst,
                                   std::initializer_list<nl::detail::Int> src,
                                   nl::AxisOrder axes = {},
                                   nisa::dge_mode mode = nisa::dge_mode::unknown,
                                   nl::DType dtype = nl::bfloat16) {
  static nl::Shape to, from;
  static nisa::DmaTranspose args;
  static nl::DType type;
  to = dst;
  from = src;
  type = dtype;
  args.axes = axes;
  args.dge_mode = mode;
  return errorsOf(traceBody([](InOut) {
    nisa::DmaTranspose call = args;
    call.dst = nl::ndarray(to, type);
    call.src = nl::ndarray(from, type, nl::private_hbm);
    nisa::dma_transpose(call);
  }));
}

TEST(DmaTranspose, DstIsThePermutedSrc) {
  EXPECT_EQ(transposeErrors({128, 1, 1, 64}, {64, 1, 1, 128}), "");
  EXPECT_EQ(transposeErrors({128, 64}, {64, 1, 1, 128}),
            "[S-10] dst must be the permuted src shape (128, 1, 1, 64), got (128, 64) (declare it "
            "with that shape, or reshape the view)");
  EXPECT_EQ(transposeErrors({5, 4, 3}, {3, 4, 5}), "");
  EXPECT_EQ(transposeErrors({5, 3, 4}, {3, 4, 5}),
            "[S-10] dst must be the permuted src shape (5, 4, 3), got (5, 3, 4) (declare it with "
            "that shape, or reshape the view)");
  EXPECT_EQ(transposeErrors({5, 3, 4}, {3, 4, 5}, {2, 0, 1}),
            "[S-10] axes of dma_transpose are (2, 0, 1), a rank-3 src takes (2, 1, 0) (permute the "
            "view of src first)");
  EXPECT_EQ(
      transposeErrors({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}),
      "[S-10] src has rank 5, dma_transpose takes rank 2 to 4 (reshape it, or transpose parts "
      "of it)");
}

TEST(DmaTranspose, MovesElementsOfTwoAndFourBytes) {
  EXPECT_EQ(transposeErrors({4, 3}, {3, 4}, {}, nisa::dge_mode::unknown, nl::float32), "");
  EXPECT_EQ(
      transposeErrors({4, 3}, {3, 4}, {}, nisa::dge_mode::unknown, nl::int8),
      "[D-09] dst is int8, dma_transpose takes float32, bfloat16, float16, int32, int16, uint16, "
      "uint32 or tfloat32 (cast it with tensor_copy)\n"
      "[D-09] src is int8, dma_transpose takes float32, bfloat16, float16, int32, int16, uint16, "
      "uint32 or tfloat32 (cast it with tensor_copy)");
}

TEST(DmaTranspose, HardwareDescriptorsTakeFewShapes) {
  const auto hwdge = nisa::dge_mode::hwdge;
  const std::string help = " (leave dge_mode unset, or copy and use nc_transpose)";
  EXPECT_EQ(transposeErrors({128, 16}, {16, 128}, {}, hwdge), "");
  EXPECT_EQ(transposeErrors({128, 15}, {15, 128}, {}, hwdge),
            "[S-10] hardware DGE transposes a matrix of 16 rows, src has 15" + help);
  EXPECT_EQ(transposeErrors({128, 16}, {16, 128}, {}, hwdge, nl::float32),
            "[S-10] hardware DGE transposes elements of 2 bytes, src is float32" + help);
  EXPECT_EQ(transposeErrors({32, 4, 8}, {8, 4, 32}, {}, hwdge), "");
  EXPECT_EQ(
      transposeErrors({32, 3, 8}, {8, 3, 32}, {}, hwdge),
      "[S-10] hardware DGE transposes a first dim that divides 16 and with the last but one is "
      "a multiple of it; those of src are 8 and 3" +
          help);
  EXPECT_EQ(
      transposeErrors({32, 3, 16, 3}, {3, 3, 16, 32}, {}, hwdge),
      "[S-10] hardware DGE transposes a first dim that divides 16 and with the last but one is "
      "a multiple of it; those of src are 3 and 16" +
          help);
  EXPECT_EQ(transposeErrors({32, 3, 16, 1}, {1, 3, 16, 32}, {}, hwdge), "");
  EXPECT_EQ(transposeErrors({4, 3}, {3, 4}, {}, nisa::dge_mode::swdge),
            "[B-09] dma_transpose takes dge_mode swdge for run-time indices only (leave dge_mode "
            "unset, or use dge_mode::hwdge or dge_mode::none)");
}

TEST(DmaTranspose, Refusals) {
  EXPECT_EQ(
      errorsOf(traceBody([](InOut y) {
        Tensor x = nl::ndarray({512, 128}, nl::float32, nl::private_hbm);
        nisa::dma_transpose(y, x);
      })),
      "[B-04] dma_transpose writes SBUF, dst 'y' is an HBM tensor (write to an SBUF tile, then "
      "dma_copy that to HBM)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) {
        nisa::dma_transpose(nl::ndarray({4, 3}, nl::float32),
                            nl::ndarray({3, 4}, nl::int32, nl::private_hbm));
      })),
      "[D-03] dma_transpose moves bits: dst is float32, src is int32 (cast in a separate copy)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) {
        Tensor t = nl::ndarray({16, 16}, nl::float32);
        nisa::dma_transpose(t, t);
      })),
      "[V-09] dst and src overlap in one tensor: a transfer's 16 engines move their shares "
      "in no order (copy to a second tensor first, or split the transfer so that no part reads "
      "what it writes)");
}
