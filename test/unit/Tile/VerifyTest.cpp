//===- VerifyTest.cpp - every rule of a graph, on both sides of its border --------------------===//

#include "GraphText.h"

namespace kiln::tile::test {
namespace {

/// Complaints about the last line; those in front must be right.
std::string complaint(std::string front, std::string_view last) {
  EXPECT_EQ(complaintsOf(front), "");
  return complaintsOf(front + std::string(last) + "\n");
}

constexpr auto kPair = "%0 = splat number 1 : 4x6 float32\n%1 = splat number 1 : 3x6 float32\n";

TEST(TileRules, D05NoValueIsE4m3fn) {
  const std::string help = " is float8_e4m3fn, which no engine of trn2 computes with; convert the "
                           "data to float8_e4m3 on the host, or copy a tile of it, viewed as that, "
                           "to one of that dtype\n";
  EXPECT_EQ(complaint(kPair, "%2 = cast %0 : 4x6 float8_e4m3fn"), "D-05: 'cast'" + help);
  EXPECT_EQ(complaint(kPair, "%2 = unary exp %0 : 4x6 float8_e4m3fn"), "D-05: 'exp'" + help);
  for (const char *dtype : {"float8_e4m3", "float8_e5m2", "tfloat32"})
    EXPECT_EQ(complaint(kPair, std::string("%2 = cast %0 : 4x6 ") + dtype), "");
}

TEST(TileRules, T01ShapesBroadcast) {
  EXPECT_EQ(complaint(kPair, "%2 = binary add %0, %1 : 4x6 float32"),
            "T-01: 'add' of (4, 6) and (3, 6): these shapes do not broadcast, dim 0 is 4 and 3; "
            "extents must be equal or 1, dims count from the last; reshape, slice or repeat one of "
            "the operands\n");
  EXPECT_EQ(complaint("%0 = splat number 1 : 4x6 float32\n%1 = splat number 1 : 4 float32\n",
                      "%2 = select %0, %0, %1 : 4x6 float32"),
            "T-01: 'select' of (4, 6), (4, 6) and (4,): these shapes do not broadcast, dim 1 is 6 "
            "and 4; extents must be equal or 1, dims count from the last; reshape, slice or repeat "
            "one of the operands\n");
  EXPECT_EQ(complaint(kPair, "%2 = broadcast %0 : 6 float32"),
            "T-01: 'broadcast' of (4, 6) to (6,): dims, counted from the last, must be equal or 1; "
            "reshape the operand so that the dims to repeat have extent 1\n");
  EXPECT_EQ(complaint(kPair, "%2 = concat %0, %1 axis 1 : 4x12 float32"),
            "T-01: 'concat' along axis 1 of (4, 6) and (3, 6): the other dims must be equal; "
            "reshape, slice or pad one of them, or choose another axis\n");
  EXPECT_EQ(complaint(kPair, "%2 = layernorm %0, %0, %1 number 0 : 4x6 float32"),
            "T-01: 'layernorm' of (4, 6): the summand is (3, 6), which does not broadcast to it; "
            "make it (1, 6) or (6,)\n");
  EXPECT_EQ(complaint(kPair, "%2 = rmsnorm %1, %0 number 0 : 3x6 float32"),
            "T-01: 'rmsnorm' of (3, 6): the factor is (4, 6), which does not broadcast to it; make "
            "it (1, 6) or (6,)\n");
  EXPECT_EQ(complaint(kPair, "%2 = unary exp %0 : 6x4 float32"),
            "T-01: 'exp' is (6, 4), by its operands it has to be (4, 6); give it the shape (4, "
            "6)\n");
}

TEST(TileRules, T02MatmulOperandsAgree) {
  const auto front = "%0 = splat number 1 : 5x7 float32\n%1 = splat number 1 : 3x7 float32\n"
                     "%2 = splat number 1 : 7 float32\n%3 = splat number 1 : 2x5x7 float32\n"
                     "%4 = splat number 1 : 3x7x3 float32\n";
  EXPECT_EQ(complaint(front, "%5 = matmul %0, %1 : 5x3 float32"),
            "T-02: 'matmul' of (5, 7) and (3, 7): the contraction dim is 7 in the first and 3 in "
            "the second; transpose the second operand (transpose_y)\n");
  EXPECT_EQ(complaint(front, "%5 = matmul %0, %1 transpose_x : 5x3 float32"),
            "T-02: 'matmul' of (5, 7), transposed, and (3, 7): the contraction dim is 5 in the "
            "first and 3 in the second; the last dim of the first must equal the last but one of "
            "the second\n");
  EXPECT_EQ(complaint(front, "%5 = matmul %0, %2 : 5x1 float32"),
            "T-02: 'matmul' of (5, 7) and (7,): an operand has rank 1, both must have 2 or more; "
            "reshape a vector to one row (1, n) or one column (n, 1)\n");
  EXPECT_EQ(complaint(front, "%5 = matmul %3, %4 : 3x5x3 float32"),
            "T-02: 'matmul' of (2, 5, 7) and (3, 7, 3): the leading dims do not broadcast, dim 0 "
            "is 2 and 3; leading dims must be equal or 1\n");
  EXPECT_EQ(complaint(front, "%5 = matmul %0, %0 : 5x7 float32"),
            "T-02: 'matmul' of (5, 7) and (5, 7): the contraction dim is 7 in the first and 5 in "
            "the second; transpose the second operand (transpose_y)\n");
  EXPECT_EQ(complaint(front, "%5 = matmul %0, %1 transpose_y : 5x3 float32"), "");
}

TEST(TileRules, T03AxesAreDims) {
  const std::string x = "%0 = splat number 1 : 4x6 float32\n";
  EXPECT_EQ(complaint(x, "%1 = reduce add %0 axes (2,) : 4x6 float32"),
            "T-03: 'reduce' over axis 2 of a value of rank 2: axes are 0 to 1; the last dim is "
            "axis 1\n");
  EXPECT_EQ(complaint(x, "%1 = reduce add %0 axes (-1,) : 4x6 float32"),
            "T-03: 'reduce' over axis -1 of a value of rank 2: axes are 0 to 1; the last dim is "
            "axis 1\n");
  EXPECT_EQ(complaint(x, "%1 = reduce add %0 axes (1, 1) : 4 float32"),
            "T-03: 'reduce' of (4, 6) over axes (1, 1): axis 1 is named twice; name each axis "
            "once, in ascending order\n");
  EXPECT_EQ(complaint(x, "%1 = reduce add %0 axes (1, 0) keepdims : 1x1 float32"),
            "T-03: 'reduce' of (4, 6) over axes (1, 0): axes must ascend; name each axis once, in "
            "ascending order\n");
  EXPECT_EQ(complaint(x, "%1 = reduce add %0 axes () : 4x6 float32"),
            "T-03: 'reduce' of (4, 6) names no axis; it takes 1 to 2; the last dim is axis 1\n");
  EXPECT_EQ(complaint(x, "%1 = transpose %0 axes (0, 0) : 4x4 float32"),
            "T-03: 'transpose' of (4, 6) with axes (0, 0): each of 0 to 1 must be named once; axes "
            "(1, 0) reverse all dims\n");
  EXPECT_EQ(complaint(x, "%1 = transpose %0 axes (1, 0, 2) : 6x4x1 float32"),
            "T-03: 'transpose' of (4, 6) with axes (1, 0, 2): each of 0 to 1 must be named once; "
            "axes (1, 0) reverse all dims\n");
  EXPECT_EQ(complaint(x, "%1 = softmax %0 axis 2 : 4x6 float32"),
            "T-03: 'softmax' over axis 2 of a value of rank 2: axes are 0 to 1; the last dim is "
            "axis 1\n");
  EXPECT_EQ(complaint(x, "%1 = concat %0, %0 axis 2 : 4x6 float32"),
            "T-03: 'concat' over axis 2 of a value of rank 2: axes are 0 to 1; the last dim is "
            "axis 1\n");
  EXPECT_EQ(complaint("", "%0 = iota axis 1 : 4 int32"),
            "T-03: 'iota' over axis 1 of a value of rank 1: axes are 0 to 0; the last dim is axis "
            "0\n");
}

TEST(TileRules, S06RankIsOneToFive) {
  EXPECT_EQ(complaint("%0 = splat number 1 : 1x2x3x4x5 float32\n",
                      "%1 = reshape %0 : 1x1x2x3x4x5 float32"),
            "S-06: the result of 'reshape' has rank 6, a value has rank 1 to 5: (1, 1, 2, 3, 4, "
            "5); make neighbouring dims one with reshape\n");
  EXPECT_EQ(complaint("%0 = splat number 1 : 4x6 float32\n",
                      "%1 = reduce add %0 axes (0, 1) : scalar float32"),
            "S-06: the result of 'reduce' has rank 0, a value has rank 1 to 5; keep the reduced "
            "dims (keepdims), or add a dim of extent 1\n");
}

TEST(TileRules, V01V02SlicesLieInside) {
  const std::string x = "%0 = splat number 1 : 4x6 float32\n";
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (0, 1) steps (1, 2) : 4x3 float32"), "");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (0, 2) steps (1, 2) : 4x3 float32"),
            "V-01: 'slice' of (4, 6) takes 3 elements of dim 1 from 2 in steps of 2, dim 1 has "
            "indices 0 to 5; take at most 2 from 2\n");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (4, 0) steps (1, 1) : 1x6 float32"),
            "V-01: 'slice' of (4, 6) takes 1 element of dim 0 from 4 in steps of 1, dim 0 has "
            "indices 0 to 3; start at 3 or below\n");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (-1, 0) steps (1, 1) : 1x6 float32"),
            "V-01: 'slice' of (4, 6) takes 1 element of dim 0 from -1 in steps of 1, dim 0 has "
            "indices 0 to 3; start at 3 or below\n");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (0, 0) steps (0, 1) : 1x6 float32"),
            "V-02: 'slice' of (4, 6) has step 0 in dim 0; steps are 1 or more; slice forwards, and "
            "gather or transpose to reorder\n");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (0, 0) steps (1, 1) : 4x0 float32"),
            "V-02: 'slice' of (4, 6) takes 0 elements of dim 1; a slice takes 1 or more; leave out "
            "slices of nothing\n");
  EXPECT_EQ(complaint(x, "%1 = slice %0 starts (0,) steps (1, 1) : 4x6 float32"),
            "V-03: 'slice' has 1 start for a value of rank 2; give 2, one for each dim\n");
  EXPECT_EQ(complaint(x, "%1 = pad %0 starts (0, -1) ends (0, 0) number 0 : 4x5 float32"),
            "V-02: 'pad' of (4, 6) puts -1 in front of dim 1 and 0 behind it; both are 0 or more; "
            "slice to make a value smaller\n");
}

TEST(TileRules, V04ReshapeKeepsElements) {
  const std::string x = "%0 = splat number 1 : 4x6 float32\n";
  EXPECT_EQ(complaint(x, "%1 = reshape %0 : 3x8 float32"), "");
  EXPECT_EQ(
      complaint(x, "%1 = reshape %0 : 5x5 float32"),
      "V-04: 'reshape' of (4, 6) to (5, 5): 24 elements are not 25; the extents must multiply "
      "to as many elements; slice or pad to change their number\n");
  EXPECT_EQ(complaint(x, "%1 = broadcast %0 : 9223372036854775807x4x6 float32"),
            "V-04: the result of 'broadcast' is (9223372036854775807, 4, 6), more elements than "
            "64-bit addresses reach; make the tensor smaller\n");
}

TEST(TileRules, D01D06MatmulOperands) {
  const auto front = "%0 = splat number 1 : 4x4 float32\n%1 = splat number 1 : 4x4 bfloat16\n"
                     "%2 = splat number 1 : 4x4 float16\n%3 = splat number 1 : 4x4 int32\n";
  EXPECT_EQ(complaint(front, "%4 = matmul %0, %1 : 4x4 float32"),
            "D-01: 'matmul' cannot mix 32-bit and narrower operands (float32 with bfloat16); cast "
            "one of them\n");
  EXPECT_EQ(complaint(front, "%4 = matmul %2, %1 : 4x4 bfloat16"), "");
  EXPECT_EQ(complaint(front, "%4 = matmul %0, %3 : 4x4 float32"),
            "D-06: the Tensor Engine has no integer path: the 2nd operand of 'matmul' is int32; "
            "cast to bfloat16 (exact up to 2^8) or float32 (exact up to 2^24)\n");
  EXPECT_EQ(complaint(front, "%4 = matmul %0, %0 : 4x4 int32"),
            "D-06: 'matmul' gives floats, its result is int32; cast the result in a separate "
            "operation\n");
}

TEST(TileRules, D03MovementKeepsBits) {
  const auto front = "%0 = splat number 1 : 4x4 float32\n%1 = splat number 1 : 4x4 bfloat16\n";
  EXPECT_EQ(complaint(front, "%2 = transpose %0 axes (1, 0) : 4x4 bfloat16"),
            "D-03: 'transpose' moves elements without changing them: its operand is float32, its "
            "result bfloat16; cast in a separate operation\n");
  EXPECT_EQ(complaint(front, "%2 = concat %0, %1 axis 0 : 8x4 float32"),
            "D-03: 'concat' moves elements without changing them: its 2nd operand is bfloat16, its "
            "result float32; cast in a separate operation\n");
  EXPECT_EQ(complaint("", "%0 = iota axis 0 : 4 float32"),
            "D-03: 'iota' is float32, indices are int32; cast in a separate operation\n");
  EXPECT_EQ(complaint("@x = hbm input 0 : 4 bfloat16\n", "%0 = load @x : 4 float32"),
            "D-03: 'load' is float32, 'x' is bfloat16; cast in a separate operation\n");
}

TEST(TileRules, D08BitOperatorsNeedIntegers) {
  const auto front = "%0 = splat number 1 : 4 float32\n%1 = splat number 1 : 4 int32\n"
                     "%2 = splat number 1 : 4 uint8\n%3 = splat number 1 : 4 uint32\n";
  EXPECT_EQ(complaint(front, "%4 = binary bitwise_and %1, %0 : 4 int32"),
            "D-08: 'bitwise_and' needs integers, its right operand is float32; cast the operand to "
            "an integer dtype first\n");
  EXPECT_EQ(complaint(front, "%4 = binary bitwise_or %1, %3 : 4 float32"),
            "D-08: 'bitwise_or' needs integers, its result is float32; give the result an integer "
            "dtype (.dtype)\n");
  EXPECT_EQ(complaint(front, "%4 = binary left_shift %1, %2 : 4 int32"),
            "D-08: 'left_shift' needs integers of one width, its left operand is int32, its right "
            "operand uint8; cast to int32 first\n");
  EXPECT_EQ(complaint(front, "%4 = binary bitwise_xor %1, %3 : 4 uint32"), "");
}

TEST(TileRules, D17Operators) {
  const std::string x = "%0 = splat number 1 : 4 float32\n";
  EXPECT_EQ(complaint(x, "%1 = reduce subtract %0 axes (0,) keepdims : 1 float32"),
            "D-17: 'subtract' cannot be a reduction operator of a value; allowed: add, multiply, "
            "maximum, minimum\n");
  EXPECT_EQ(complaint(x, "%1 = binary rsqrt %0, %0 : 4 float32"),
            "D-17: 'rsqrt' takes one operand, 'binary' takes an operator of two; use a function of "
            "one operand\n");
}

TEST(TileRules, V11ViewsStayInTheirBuffer) {
  const std::string hbm = "@x = hbm input 0 : 4x6 float32\n";
  EXPECT_EQ(complaint(hbm, "%0 = load @x offset 3 strides (6, 1) : 4x3 float32"), "");
  EXPECT_EQ(complaint(hbm, "%0 = load @x offset 4 strides (6, 1) : 4x3 float32"),
            "V-11: 'load' of 'x' reaches elements 4 to 24, 'x' has 0 to 23; keep (4, 3) inside (4, "
            "6)\n");
  EXPECT_EQ(complaint(hbm, "%0 = load @x offset 2 strides (6, -1) : 4x3 float32"), "");
  EXPECT_EQ(complaint(hbm, "%0 = load @x offset 1 strides (6, -1) : 4x3 float32"),
            "V-11: 'load' of 'x' reaches elements -1 to 19, 'x' has 0 to 23; keep (4, 3) inside "
            "(4, 6)\n");
  EXPECT_EQ(complaint(hbm, "%0 = load @x strides (9223372036854775807, 1) : 4x3 float32"),
            "V-11: 'load' of 'x' reaches elements beyond 64 bits, 'x' has 0 to 23; keep (4, 3) "
            "inside (4, 6)\n");
  EXPECT_EQ(complaint(hbm, "%0 = load @x strides (1,) : 4x6 float32"),
            "V-03: 'load' of 'x' has 1 stride for a value of rank 2; give one for each dim\n");
  EXPECT_EQ(complaint(hbm, "%0 = load @x partition 1 strides (6, 1) : 4x6 float32"),
            "V-11: 'load' of 'x' starts at partition 1, HBM has none; count in elements\n");

  const std::string sbuf = "@t = sbuf : 8x6 float32\n";
  EXPECT_EQ(complaint(sbuf, "%0 = load @t partition 4 strides (1, 1) : 4x6 float32"), "");
  EXPECT_EQ(complaint(sbuf, "%0 = load @t partition 5 strides (1, 1) : 4x6 float32"),
            "V-11: 'load' of 't' covers partitions 5 to 8, 't' has 8; stay below partition 8\n");
  EXPECT_EQ(complaint(sbuf, "%0 = load @t strides (2, 1) : 4x6 float32"),
            "P-08: 'load' of 't' steps over partitions by 2: a value covers consecutive "
            "partitions; move the elements with a DMA first\n");
  EXPECT_EQ(complaint(sbuf, "%0 = load @t strides (0, 1) : 1x6 float32"), "");
  EXPECT_EQ(complaint(sbuf, "%0 = load @t offset 1 strides (1, 1) : 4x6 float32"),
            "V-11: 'load' of 't' reaches elements 1 to 6, 't' has 0 to 5 in each partition; keep "
            "(4, 6) inside (8, 6)\n");
}

TEST(TileRules, V08WritesNameEachElementOnce) {
  const auto front = "@y = hbm output 0 : 4x6 float32\n%0 = splat number 1 : 4x6 float32\n";
  EXPECT_EQ(complaint(front, "%1 = store %0, @y strides (0, 1) : 4x6 float32"),
            "V-08: 'store' to 'y' repeats storage: dim 0 has extent 4 and stride 0, several values "
            "would land in one place; write to a view that names each element once\n");
  EXPECT_EQ(complaint(front, "%1 = load @y strides (0, 1) : 4x6 float32"), "");
  EXPECT_EQ(complaint("@t = sbuf : 4x6 float32\n%0 = splat number 1 : 4x3 float32\n",
                      "%1 = materialize %0, @t : 4x3 float32"),
            "T-01: a value of (4, 3) cannot fill 't', (4, 6); the shapes must be equal\n");
}

TEST(TileRules, K02InputsAreReadOnly) {
  EXPECT_EQ(complaint("@x = hbm input 0 : 4x6 float32\n%0 = splat number 1 : 4x6 float32\n",
                      "%1 = store %0, @x : 4x6 float32"),
            "K-02: 'x' is a kernel input and read-only; write to a tensor of your own\n");
}

TEST(TileRules, PartsFitEachOther) {
  const std::string x = "@y = hbm output 0 : 4 float32\n%0 = splat number 1 : 4 float32\n"
                        "%1 = store %0, @y : 4 float32\n";
  EXPECT_EQ(complaint(x, "%2 = unary exp %2 : 4 float32"),
            ": the 1st operand of 'exp' is node 2, and its own number is 2; operands are values "
            "that come earlier\n");
  EXPECT_EQ(complaint(x, "%2 = unary exp %9 : 4 float32"),
            ": the 1st operand of 'exp' is node 9, and its own number is 2; operands are values "
            "that come earlier\n");
  EXPECT_EQ(complaint(x, "%2 = unary exp %1 : 4 float32"),
            ": the 1st operand of 'exp' is an effect, 'store'; operands are values that come "
            "earlier\n");
  EXPECT_EQ(complaint(x, "%2 = binary add %0 : 4 float32"), ": 'add' has 1 operand, it takes 2\n");
  EXPECT_EQ(complaint(x, "%2 = layernorm number 0 : 4 float32"),
            ": 'layernorm' has 0 operands, it takes 1 to 3\n");
  EXPECT_EQ(complaint(x, "%2 = concat axis 0 : 4 float32"),
            ": 'concat' has 0 operands, it takes 1 or more\n");
  EXPECT_EQ(complaint(x, "%2 = reduce add %0 axes (0,) keepdims chunks 0 : 1 float32"),
            ": 'reduce' adds up in chunks of 0 elements, a chunk has 1 or more\n");
  EXPECT_EQ(complaint(x, "%2 = reduce add %0 axes (0,) keepdims chunks 1 : 1 float32"), "");
}

} // namespace
} // namespace kiln::tile::test
