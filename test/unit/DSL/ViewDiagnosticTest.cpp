//===- ViewDiagnosticTest.cpp - the sentence of every wrong view ------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_;

/// The errors of `body` on 'x', a 500x64 float32 parameter.
template <class Lambda>
std::string hbmErrors(Lambda body) {
  return errorsOf(traceOf(body, {TensorArg{DType::Float32, {500, 64}}}, {"x"}));
}

TEST(ViewDiagnostic, IndexOutOfBounds) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, 64); }),
            "[V-01] index 64 is outside dim 1 of 'x' (extent 64)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(-501); }),
            "[V-01] index -501 is outside dim 0 of 'x' (extent 500)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(-500, 63); }), "");
}

TEST(ViewDiagnostic, SliceExceedsTheDim) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(384, 128), _); }),
            "[P-14] slice [384, 512) exceeds dim 0 of 'x' (extent 500) (clip it with "
            "nl::tiles(500, 128) or std::min(end, 500))");
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(372, 128), _); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(500, 1), _); }),
            "[V-01] slice [500, 501) is outside dim 0 of 'x' (extent 500)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(-128, 128), _); }),
            "[V-01] slice [-128, 0) is outside dim 0 of 'x' (extent 500)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(-128, _), _); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x.slice(0, -1, 4); }),
            "[V-01] slice [-1, 4) is outside dim 0 of 'x' (extent 500)");
}

TEST(ViewDiagnostic, EmptySliceAndStep) {
  EXPECT_EQ(
      hbmErrors([](InOut x) { x(nl::slice(8, 8)); }),
      "[V-02] slice [8, 8) of dim 0 of 'x' is empty (skip the statement when nothing is left)");
  EXPECT_EQ(
      hbmErrors([](InOut x) { x(nl::slice(9, 8)); }),
      "[V-02] slice [9, 8) of dim 0 of 'x' is empty (skip the statement when nothing is left)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(0, 8, 0)); }),
            "[V-02] the step of a slice must be at least 1, dim 0 of 'x' is sliced by 0");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(0, 8, -1)); }),
            "[V-02] the step of a slice must be at least 1, dim 0 of 'x' is sliced by -1");
}

TEST(ViewDiagnostic, TooManyIndices) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, 0, 0); }), "[V-03] 3 indices for a rank-2 tensor, 'x'");
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, nl::dots, 0); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, nl::dots, 0, 0); }),
            "[V-03] 3 indices for a rank-2 tensor, 'x'");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::dots, nl::dots); }),
            "[V-03] nl::dots stands once in a subscript, 'x' has it 2 times");
  EXPECT_EQ(hbmErrors([](InOut x) { x[{0, 0, 0, 0, 0, 0}]; }),
            "[V-03] 6 indices for a rank-2 tensor, 'x'");
}

TEST(ViewDiagnostic, DimOutsideTheRank) {
  EXPECT_EQ(hbmErrors([](InOut x) { x.select(2, 0); }),
            "[V-01] dim 2 is outside the 2 dims of 'x'");
  EXPECT_EQ(hbmErrors([](InOut x) { x.select(-3, 0); }),
            "[V-01] dim -3 is outside the 2 dims of 'x'");
  EXPECT_EQ(hbmErrors([](InOut x) { static_cast<void>(x.dim(2)); }),
            "[V-01] dim 2 is outside the 2 dims of 'x'");
  EXPECT_EQ(hbmErrors([](InOut x) { EXPECT_EQ(x.dim(-1), 64); }), "");
}

TEST(ViewDiagnostic, PartitionsAreNotStrided) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nl::ndarray({128, 8}, nl::float32, nl::sbuf, {.name = "t"})(nl::slice(0, 128, 2), _);
            })),
            "[P-08] partitions cannot be strided, 't' is sliced by 2 in dim 0 (a tile covers "
            "consecutive partitions: use "
            "nisa::dma_copy, or a matmul with a selection matrix)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(0, 128, 2), _); }), "");
}

TEST(ViewDiagnostic, ReshapeChangesTheElementCount) {
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({500, 65}); }),
            "[V-04] cannot reshape 'x' from (500, 64) to (500, 65): 32000 elements become 32500");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({3, -1}); }),
            "[V-04] the -1 in (3, -1) has no value: 32000 elements of 'x' are not a multiple of 3");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({500, 0}); }),
            "[V-02] extent 0 in (500, 0) for 'x': extents are at least 1, and one may be -1");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape_dim(1, {3, 21}); }),
            "[V-04] dim 1 of 'x' has 64 elements, (3, 21) has 63");
  EXPECT_EQ(hbmErrors([](InOut x) { EXPECT_EQ(x.reshape({-1}).shape(), (nl::Shape{32000})); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({5, 2, 2, 5, 10, 32}); }),
            "[S-06] a shape of 6 dims for 'x', a view has 1 to 5");
}

/// A 128x4x32 bfloat16 tile 't' on chip.
Tensor tile() { return nl::ndarray({128, 4, 32}, nl::bfloat16, nl::sbuf, {.name = "t"}); }

TEST(ViewDiagnostic, OnChipDimZeroStays) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape({64, 8, 32}); })),
            "[V-04] reshape cannot change the partition extent of an on-chip tile: 't' has 128, "
            "(64, 8, 32) has 64 "
            "(partitions move by nisa::dma_copy or nisa::nc_transpose)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({1, 0, 2}); })),
            "[V-06] dim 0 of 't' is the partition dim and stays in place on chip, permute puts dim "
            "1 there "
            "(transposing partitions is nisa::nc_transpose)");
  const std::string stays = "[V-06] dim 0 of 't' is the partition dim and stays in place on chip "
                            "(transposing partitions is nisa::nc_transpose)";
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().broadcast(0, 4); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().expand_dim(0); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().squeeze_dim(-3); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().select(0, 1); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().flatten_dims(0, 1); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape_dim(0, {2, 64}); })), stays);
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape({16384}); })),
            "[P-02] reshape to (16384,) leaves 't' without a free dim, on-chip tensors have at "
            "least one");
}

TEST(ViewDiagnostic, DimsAreNotAdjacent) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, 2, 1}).flatten_dims(1, 2); })),
            "[V-05] dims 1 and 2 of 't' are not adjacent in memory (strides 1, 32) (copy to a "
            "fresh tile first)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, _, ds(0, 16)).reshape({128, 64}); })),
            "[V-05] dims 1 and 2 of 't' are not adjacent in memory (strides 32, 1) (copy to a "
            "fresh tile first)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, _, ds(0, 16)).reshape({128, 2, 2, 16}); })),
            "");
}

TEST(ViewDiagnostic, OnlyExtentOneIsRepeatedOrDropped) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().broadcast(2, 64); })),
            "[V-07] only extent-1 dims can be broadcast, dim 2 of 't' has extent 32");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().squeeze_dim(1); })),
            "[V-07] only extent-1 dims can be squeezed, dim 1 of 't' has extent 4");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, 0, 0).squeeze_dim(1); })),
            "[P-02] squeezing dim 1 would leave 't' without a free dim, on-chip tensors have at "
            "least one");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, ds(0, 1), _).broadcast(1, 0); })),
            "[V-02] broadcast of dim 1 of 't' to 0 is empty");
}

TEST(ViewDiagnostic, RankLimit) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().expand_dim(1).expand_dim(1).expand_dim(1); })),
            "[S-06] expand_dim gives 't' rank 6, a view has at most 5 dims (merge two dims first)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) { tile().reshape_dim(2, {2, 2, 2, 4}); })),
      "[S-06] reshape_dim gives 't' rank 6, a view has at most 5 dims (merge two dims first)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape_dim(2, {2, 4, 4}); })), "");
}

TEST(ViewDiagnostic, PermuteTakesEachDimOnce) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, 1}); })),
            "[V-03] permute takes each of the 3 dims of 't' once, got (0, 1)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, 2, 2}); })),
            "[V-03] permute takes each of the 3 dims of 't' once, got (0, 2, 2)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, -1, -2}); })), "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().flatten_dims(2, 1); })),
            "[V-03] flatten_dims takes the first and the last dim, got 2 and 1 of 't'");
}

TEST(ViewDiagnostic, ViewOfAnotherDtype) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nl::ndarray({128, 10}, nl::uint8, nl::sbuf, {.name = "b"}).view(nl::float32);
            })),
            "[D-15] 10 elements of 1 byte (dim 1 of 'b') are not a whole number of float32");
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nl::ndarray({128, 12}, nl::uint8, nl::sbuf, {.name = "b"})(_, nl::slice(0, 8, 2))
                  .view(nl::float32);
            })),
            "[D-15] view(float32) needs a contiguous last dim, dim 1 of 'b' has stride 2 (copy to "
            "a fresh tile first)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) {
        nl::ndarray({128, 12}, nl::uint8, nl::sbuf, {.name = "b"})(_, ds(2, 8)).view(nl::float32);
      })),
      "[D-15] 2 elements of 1 byte (the offset of 'b') are not a whole number of float32");
}

TEST(ViewDiagnostic, RawPatterns) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, 0).ap({{128, 128}, {1, 4}}); })),
            "[V-16] ap addresses the whole storage and would ignore this view (call it on 't' or "
            "use view methods)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape({128, 128}).ap({{128, 128}, {1, 4}}); })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{256, 64}, {1, 4}}); })),
            "[V-10] the first pair must be [128, n]: every partition of 't' is accessed alike, got "
            "[256, 64]");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {1, 129}}); })),
      "[V-11] the pattern for 't' reaches element 128 of a partition, 128 bfloat16 are allocated");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {-1, 2}}, {.offset = 0}); })),
      "[V-11] the pattern for 't' reaches element -1 of a partition, 128 bfloat16 are allocated");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {-1, 2}}, {.offset = 1}); })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {1, 1}}, {.offset = 128}); })),
            "[V-11] the pattern for 't' covers partitions 1 to 128 of 128");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}}); })),
            "[P-02] a pattern of 1 pair for 't', on-chip tensors have a partition pair and at "
            "least one free pair (add "
            "the pair {1, 1})");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{64, 500}, {1, 64}}, {.offset = 1}); }),
            "[V-11] the pattern for 'x' ends at element 32000, 32000 float32 are allocated");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{128, 500}, {1, 128}}, {.dtype = nl::bfloat16}); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{0, 128}, {1, 0}}); }),
            "[V-02] pair 1 of the pattern for 'x' counts 0 elements");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}); }),
            "[S-06] a pattern of 6 pairs for 'x', a view has 1 to 5 dims");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{INT64_MAX, 3}}); }),
            "[V-11] the pattern for 'x' ends at element 9223372036854775807, 32000 float32 are "
            "allocated");
}

TEST(ViewDiagnostic, OneMistakeGivesOneMessage) {
  // What follows a wrong view is quiet, and an unrolled loop does not repeat itself.
  TraceResult result = traceBody([](InOut y) {
    Tensor t = nl::ndarray({128, 512}, nl::float32);
    for (int i = 0; i < 3; ++i) {
      Tensor part = y(ds(i * 64, 64), 600);
      nisa::dma_copy(t(ds(0, 64), ds(0, 1)), part.reshape({3, 7}).permute({4, 5}));
    }
  });
  // Two of the three iterations lie inside dim 0; the index is wrong in all of them.
  EXPECT_EQ(errorsOf(result), "[V-01] index 600 is outside dim 1 of 'y' (extent 512)\n"
                              "[V-01] slice [128, 192) is outside dim 0 of 'y' (extent 128)");
}

TEST(ViewDiagnostic, UnnamedTensorsAreKnownByTheirLine) {
  unsigned line = __LINE__ + 1;
  TraceResult result = traceBody([](InOut) { nl::ndarray({128, 512}, nl::float32)(_, 512); });
  EXPECT_EQ(errorsOf(result),
            "[V-01] index 512 is outside dim 1 of the 128x512 float32 tile of line " +
                std::to_string(line) + " (extent 512)");
}

TEST(ViewDiagnostic, EmptyHandle) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { Tensor().reshape({3}); })),
            "[K-08] reshape of an empty handle: it names no tensor (assign it the result of "
            "nl::ndarray first)");
}

} // namespace
} // namespace kiln::test
