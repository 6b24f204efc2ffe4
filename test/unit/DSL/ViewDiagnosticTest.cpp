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
            "[V-01] index 64 is outside dim 1 of 'x' (extent 64) (use 0 to 63, or -64 to -1 "
            "counted from the end)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(-501); }),
            "[V-01] index -501 is outside dim 0 of 'x' (extent 500) (use 0 to 499, or -500 to -1 "
            "counted from the end)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(-500, 63); }), "");
}

TEST(ViewDiagnostic, SliceExceedsTheDim) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(384, 128), _); }),
            "[P-14] slice [384, 512) exceeds dim 0 of 'x' (extent 500) (clip it with "
            "nl::tiles(500, 128) or std::min(end, 500))");
  EXPECT_EQ(hbmErrors([](InOut x) { x(ds(372, 128), _); }), "");
  EXPECT_EQ(
      hbmErrors([](InOut x) { x(ds(500, 1), _); }),
      "[V-01] slice [500, 501) is outside dim 0 of 'x' (extent 500) (slice between 0 and 500)");
  EXPECT_EQ(
      hbmErrors([](InOut x) { x(ds(-128, 128), _); }),
      "[V-01] slice [-128, 0) is outside dim 0 of 'x' (extent 500) (slice between 0 and 500)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(-128, _), _); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x.slice(0, -1, 4); }),
            "[V-01] slice [-1, 4) is outside dim 0 of 'x' (extent 500) (slice between 0 and 500)");
}

TEST(ViewDiagnostic, EmptySliceAndStep) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(8, 8)); }),
            "[V-02] slice [8, 8) of dim 0 of 'x' is empty (slice takes start and end, ds start and "
            "size; skip the statement when nothing is left)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(9, 8)); }),
            "[V-02] slice [9, 8) of dim 0 of 'x' is empty (slice takes start and end, ds start and "
            "size; skip the statement when nothing is left)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(0, 8, 0)); }),
            "[V-02] the step of a slice must be at least 1, dim 0 of 'x' is sliced by 0 (use a "
            "step of at least 1; a view cannot run backwards)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::slice(0, 8, -1)); }),
            "[V-02] the step of a slice must be at least 1, dim 0 of 'x' is sliced by -1 (use a "
            "step of at least 1; a view cannot run backwards)");
}

TEST(ViewDiagnostic, TooManyIndices) {
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, 0, 0); }),
            "[V-03] 3 indices for a rank-2 tensor, 'x' (its shape is (500, 64): give at most 2)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, nl::dots, 0); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x(0, nl::dots, 0, 0); }),
            "[V-03] 3 indices for a rank-2 tensor, 'x' (its shape is (500, 64): give at most 2)");
  EXPECT_EQ(hbmErrors([](InOut x) { x(nl::dots, nl::dots); }),
            "[V-03] nl::dots stands once in a subscript, 'x' has it 2 times (write nl::_ for each "
            "of the other dims)");
  EXPECT_EQ(hbmErrors([](InOut x) { x[{0, 0, 0, 0, 0, 0}]; }),
            "[V-03] 6 indices for a rank-2 tensor, 'x' (its shape is (500, 64): give at most 2)");
}

TEST(ViewDiagnostic, DimOutsideTheRank) {
  EXPECT_EQ(hbmErrors([](InOut x) { x.select(2, 0); }),
            "[V-01] dim 2 is outside the 2 dims of 'x' (dims are numbered 0 to 1, or -2 to -1 from "
            "the end)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.select(-3, 0); }),
            "[V-01] dim -3 is outside the 2 dims of 'x' (dims are numbered 0 to 1, or -2 to -1 "
            "from the end)");
  EXPECT_EQ(hbmErrors([](InOut x) { static_cast<void>(x.dim(2)); }),
            "[V-01] dim 2 is outside the 2 dims of 'x' (its shape is (500, 64))");
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
            "[V-04] cannot reshape 'x' from (500, 64) to (500, 65): 32000 elements become 32500 "
            "(make the extents multiply to 32000, or write one of them as -1)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({3, -1}); }),
            "[V-04] the -1 in (3, -1) has no value: 32000 elements of 'x' are not a multiple of 3 "
            "(choose extents whose product divides 32000)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape({500, 0}); }),
            "[V-02] extent 0 in (500, 0) for 'x': extents are at least 1, and one may be -1 (use "
            "extents of at least 1)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.reshape_dim(1, {3, 21}); }),
            "[V-04] dim 1 of 'x' has 64 elements, (3, 21) has 63 (make the extents multiply to 64, "
            "or write one of them as -1)");
  EXPECT_EQ(hbmErrors([](InOut x) { EXPECT_EQ(x.reshape({-1}).shape(), (nl::Shape{32000})); }), "");
  EXPECT_EQ(
      hbmErrors([](InOut x) { x.reshape({5, 2, 2, 5, 10, 32}); }),
      "[S-06] a shape of 6 dims for 'x', a view has 1 to 5 (merge dims that are used together)");
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
            "least one (keep dim 0 and flatten the rest: reshape({128, -1}))");
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
            "[V-07] only extent-1 dims can be broadcast, dim 2 of 't' has extent 32 (take one "
            "element of it first, as in slice(2, 0, 1), or add a dim with expand_dim(2))");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().squeeze_dim(1); })),
            "[V-07] only extent-1 dims can be squeezed, dim 1 of 't' has extent 4 (select one of "
            "its elements, as in select(1, 0), or merge it with a neighbour by flatten_dims)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, 0, 0).squeeze_dim(1); })),
            "[P-02] squeezing dim 1 would leave 't' without a free dim, on-chip tensors have at "
            "least one (keep the dim)");
  EXPECT_EQ(
      errorsOf(traceBody([](InOut) { tile()(_, ds(0, 1), _).broadcast(1, 0); })),
      "[V-02] broadcast of dim 1 of 't' to 0 is empty (broadcast to an extent of at least 1)");
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
            "[V-03] permute takes each of the 3 dims of 't' once, got (0, 1) (name the dims 0 to 2 "
            "in their new order)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, 2, 2}); })),
            "[V-03] permute takes each of the 3 dims of 't' once, got (0, 2, 2) (name the dims 0 "
            "to 2 in their new order)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().permute({0, -1, -2}); })), "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().flatten_dims(2, 1); })),
            "[V-03] flatten_dims takes the first and the last dim, got 2 and 1 of 't' (write "
            "flatten_dims(1, 2))");
}

TEST(ViewDiagnostic, ViewOfAnotherDtype) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) {
              nl::ndarray({128, 10}, nl::uint8, nl::sbuf, {.name = "b"}).view(nl::float32);
            })),
            "[D-15] 10 elements of 1 byte (dim 1 of 'b') are not a whole number of float32 (take a "
            "multiple of 4 elements)");
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
      "[D-15] 2 elements of 1 byte (the offset of 'b') are not a whole number of float32 (take a "
      "multiple of 4 elements)");
}

TEST(ViewDiagnostic, RawPatterns) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile()(_, 0).ap({{128, 128}, {1, 4}}); })),
            "[V-16] ap addresses the whole storage and would ignore this view (call it on 't' or "
            "use view methods)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().reshape({128, 128}).ap({{128, 128}, {1, 4}}); })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{256, 64}, {1, 4}}); })),
            "[V-10] the first pair must be [128, n]: every partition of 't' is accessed alike, got "
            "[256, 64] (start the pattern with {128, 64})");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {1, 129}}); })),
            "[V-11] the pattern for 't' reaches element 128 of a partition, 128 bfloat16 are "
            "allocated (stay within elements 0 to 127 of the partition)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {-1, 2}}, {.offset = 0}); })),
            "[V-11] the pattern for 't' reaches element -1 of a partition, 128 bfloat16 are "
            "allocated (stay within elements 0 to 127 of the partition)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {-1, 2}}, {.offset = 1}); })),
            "");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}, {1, 1}}, {.offset = 128}); })),
            "[V-11] the pattern for 't' covers partitions 1 to 128 of 128 (count at most 128 "
            "partitions from the offset on)");
  EXPECT_EQ(errorsOf(traceBody([](InOut) { tile().ap({{128, 128}}); })),
            "[P-02] a pattern of 1 pair for 't', on-chip tensors have a partition pair and at "
            "least one free pair (add "
            "the pair {1, 1})");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{64, 500}, {1, 64}}, {.offset = 1}); }),
            "[V-11] the pattern for 'x' ends at element 32000, 32000 float32 are allocated (the "
            "last element is 31999: reduce the counts or the offset)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{128, 500}, {1, 128}}, {.dtype = nl::bfloat16}); }), "");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{0, 128}, {1, 0}}); }),
            "[V-02] pair 1 of the pattern for 'x' counts 0 elements (a pair is {step, count} with "
            "a count of at least 1)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}); }),
            "[S-06] a pattern of 6 pairs for 'x', a view has 1 to 5 dims (merge pairs that step "
            "through neighbours)");
  EXPECT_EQ(hbmErrors([](InOut x) { x.ap({{INT64_MAX, 3}}); }),
            "[V-11] the pattern for 'x' ends at element 9223372036854775807, 32000 float32 are "
            "allocated (the last element is 31999: reduce the counts or the offset)");
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
  EXPECT_EQ(
      errorsOf(result),
      "[V-01] index 600 is outside dim 1 of 'y' (extent 512) (use 0 to 511, or -512 to -1 counted "
      "from the end)\n"
      "[V-01] slice [128, 192) is outside dim 0 of 'y' (extent 128) (slice between 0 and 128)");
}

TEST(ViewDiagnostic, UnnamedTensorsAreKnownByTheirLine) {
  unsigned line = __LINE__ + 1;
  TraceResult result = traceBody([](InOut) { nl::ndarray({128, 512}, nl::float32)(_, 512); });
  EXPECT_EQ(errorsOf(result),
            "[V-01] index 512 is outside dim 1 of the 128x512 float32 tile of line " +
                std::to_string(line) +
                " (extent 512) (use 0 to 511, or -512 to -1 counted from the end)");
}

TEST(ViewDiagnostic, TwoArgumentsOfOneLineAreTwoFaults) {
  // The order in which host compilers make arguments does not show.
  TraceResult result = traceBody([](InOut y) {
    Tensor a = nl::ndarray({128, 8}, nl::float32, nl::sbuf, {.name = "a"});
    nisa::dma_copy(y(_, 512), a(_, 8));
  });
  EXPECT_EQ(
      errorsOf(result),
      "[V-01] index 512 is outside dim 1 of 'y' (extent 512) (use 0 to 511, or -512 to -1 "
      "counted from the end)\n"
      "[V-01] index 8 is outside dim 1 of 'a' (extent 8) (use 0 to 7, or -8 to -1 counted from "
      "the end)");
}

/// "[P-13] message" of each note that has a rule.
std::string ruledNotes(const TraceResult &result) {
  std::string out;
  for (const Diagnostic &d : result.diagnostics)
    for (const DiagnosticNote &note : d.notes)
      if (!note.rule.empty())
        out += "[" + note.rule + "] " + note.message + "\n";
  return out;
}

Tensor cube() { return nl::zeros({64, 64, 32}, nl::float32); }

TEST(ViewDiagnostic, APartitionThatAnIndexChoseExplainsItself) {
  // Indexing again meets the partition dim, whose extent is 1.
  TraceResult again = traceBody([](InOut) { cube()(3)(5, _, _); });
  EXPECT_EQ(again.diagnostics.size(), 1u);
  EXPECT_EQ(again.diagnostics[0].rule, "V-01");
  EXPECT_EQ(ruledNotes(again),
            "[P-13] indexing a partition keeps it as extent 1: this view is (1, 64, 32)\n");
  // An instruction pairs partitions.
  TraceResult pairs = traceBody([](InOut) {
    Tensor out = nl::ndarray({64, 32}, nl::float32);
    nisa::tensor_copy(out, cube()(32));
  });
  EXPECT_EQ(pairs.diagnostics[0].rule, "P-04");
  EXPECT_EQ(ruledNotes(pairs),
            "[P-13] indexing a partition keeps it as extent 1: this view is (1, 64, 32)\n"
            "[P-13] indexing a partition keeps it as extent 1: this view is (1, 64, 32)\n");
  TraceResult rank = traceBody([](InOut) { static_cast<void>(cube()(3).dims<2>()); });
  EXPECT_EQ(rank.diagnostics[0].rule, "K-10");
  EXPECT_EQ(ruledNotes(rank),
            "[P-13] indexing a partition keeps it as extent 1: this view is (1, 64, 32)\n");
  // Controls: a slice says what it does, and HBM drops the dim.
  EXPECT_EQ(ruledNotes(traceBody([](InOut) { cube()(ds(3, 1))(5, _, _); })), "");
  EXPECT_EQ(ruledNotes(traceBody([](InOut y) { y(3)(512); })), "");
}

TEST(ViewDiagnostic, EmptyHandle) {
  EXPECT_EQ(errorsOf(traceBody([](InOut) { Tensor().reshape({3}); })),
            "[K-08] reshape of an empty handle: it names no tensor (assign it the result of "
            "nl::ndarray first)");
}

} // namespace
} // namespace kiln::test
