//===- RulesVectorTest.cpp - rules of vector and moving instructions --------------------------===//

#include "RulesTestSupport.h"

#include <cmath>
#include <limits>

namespace kiln::isa::test {
namespace {

//---- operands that go together
//--------------------------------------------------------------------===//

TEST(RulesVector, PartitionsOfOperands) {
  EXPECT_THAT(tensorTensor().with("data2", "b", sbuf, f32, {1, 40}).faults(),
              ElementsAre("P-04: data1 'a' uses 96 partitions and data2 'b' "
                          "uses 1; hardware never broadcasts "
                          "across partitions | replicate 'b' first: dma_copy "
                          "from an HBM view with broadcast(0, 96)"));
  EXPECT_THAT(copy().with("dst", "y", sbuf, bf16, {95, 40}).faults(),
              ElementsAre("P-04: src 'x' uses 96 partitions and dst 'y' uses "
                          "95; hardware never broadcasts "
                          "across partitions | slice both to 95 partitions"));
  EXPECT_THAT(activation().with("bias", "b", sbuf, f32, {1, 1}).faults(),
              ElementsAre("P-04: data 'x' uses 96 partitions and bias 'b' uses "
                          "1; hardware never broadcasts "
                          "across partitions | replicate 'b' first: dma_copy "
                          "from an HBM view with broadcast(0, 96)"));
}

TEST(RulesVector, ElementsOfOperands) {
  EXPECT_THAT(tensorTensor().with("data2", "b", sbuf, f32, {96, 1}).faults(),
              ElementsAre("P-05: data1 'a' has 40 elements per partition, data2 'b' has 1 | "
                          "for a per-partition "
                          "scalar use tensor_scalar, for a repeated free dim use broadcast()"));
  EXPECT_THAT(reciprocal().with("dst", "y", sbuf, f32, {96, 41}).faults(),
              ElementsAre("P-05: data 'x' has 40 elements per partition, dst 'y' has 41 "
                          "| take views of 40 elements per partition on both sides"));
  // Elements are paired by position: ranks may differ.
  EXPECT_THAT(copy().with("dst", "y", sbuf, bf16, {96, 5, 2, 4}).faults(), IsEmpty());
}

TEST(RulesVector, InputsInPsum) {
  EXPECT_THAT(tensorTensor().with("data1", "a", psum, f32, {96, 40}).faults(), IsEmpty());
  EXPECT_THAT(tensorTensor()
                  .with("data1", "a", psum, f32, {96, 40})
                  .with("data2", "b", psum, f32, {96, 40})
                  .faults(),
              ElementsAre("B-03: only one of the two inputs may be in PSUM, "
                          "data1 'a' and data2 'b' both are "
                          "| copy one to SBUF"));
}

TEST(RulesVector, SbufInputsStartAtOnePartition) {
  Case c = tensorTensor()
               .with("data1", "a", sbuf, f32, {128, 40})
               .with("data2", "b", sbuf, f32, {128, 40})
               .with("dst", "o", sbuf, f32, {128, 40});
  c.rows("data1", 64, 20).rows("data2", 64, 20).rows("dst", 32, 20);
  EXPECT_THAT(c.faults(), IsEmpty());
  c.rows("data2", 96, 20);
  EXPECT_THAT(c.faults(),
              ElementsAre("P-06: two SBUF inputs must start at the same partition, data1 'a' "
                          "starts "
                          "at 64 and data2 'b' at 96 | copy 'b' to partition 64 first"));
  // A pair of SBUF and PSUM is free.
  c.with("data2", "b", psum, f32, {128, 40}).rows("data2", 96, 20);
  EXPECT_THAT(c.faults(), IsEmpty());
}

//---- tensor_tensor
//--------------------------------------------------------------------------------===//

TEST(RulesVector, TensorTensorEngineChoice) {
  auto chosen = [](const Case &c) { return chooseEngine(c.view()); };
  EXPECT_EQ(chosen(tensorTensor()), Engine::Vector);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Power)), Engine::Gpsimd);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Subtract, i32)), Engine::Gpsimd);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Subtract, ui32)), Engine::Gpsimd);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Less, i32).with("data1", "a", sbuf, ui32, {96, 40})),
            Engine::Gpsimd);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Add, i16)), Engine::Vector);
  EXPECT_EQ(chosen(tensorTensor(AluOp::BitwiseAnd, i32)), Engine::Vector);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Add, ui8)), Engine::Vector);
  EXPECT_EQ(chosen(tensorTensor(AluOp::Add, i32).with("dst", "o", sbuf, f32, {96, 40})),
            Engine::Vector);
  Case inPsum = tensorTensor(AluOp::Add, i32).with("data2", "b", psum, i32, {96, 40});
  EXPECT_EQ(chosen(inPsum), Engine::Vector);
  EXPECT_THAT(inPsum.faults(), IsEmpty());
}

TEST(RulesVector, TensorTensorOnGpsimd) {
  EXPECT_THAT(tensorTensor(AluOp::Power).faults(), IsEmpty());
  EXPECT_THAT(tensorTensor(AluOp::Multiply, bf16).on(Engine::Gpsimd).faults(), IsEmpty());
  EXPECT_THAT(tensorTensor(AluOp::Less, i32).on(Engine::Gpsimd).faults(), IsEmpty());
  EXPECT_THAT(tensorTensor(AluOp::Subtract).on(Engine::Gpsimd).faults(),
              ElementsAre("B-07: GpSimd runs tensor_tensor as add, multiply or "
                          "power, and any arithmetic operator "
                          "when all three tiles are int32 or uint32, not as subtract "
                          "| leave the engine unset, or use engine::vector"));
  EXPECT_THAT(tensorTensor(AluOp::BitwiseOr, i32).on(Engine::Gpsimd).faults(),
              ElementsAre("B-07: bitwise_or runs on the Vector Engine only, not on GpSimd "
                          "| leave the engine unset, or use engine::vector"));
  EXPECT_THAT(tensorTensor(AluOp::Power).with("data1", "a", psum, f32, {96, 40}).faults(),
              ElementsAre("B-05: tensor_tensor runs on GpSimd here, which "
                          "cannot access PSUM; data1 'a' is in PSUM "
                          "| tensor_copy it to an SBUF tile first"));
  EXPECT_THAT(tensorTensor().with("dst", "o", psum, f32, {96, 40}).on(Engine::Gpsimd).faults(),
              ElementsAre("B-05: tensor_tensor runs on GpSimd here, which cannot "
                          "access PSUM; dst 'o' is in PSUM "
                          "| write to an SBUF tile, or leave the engine unset"));
}

TEST(RulesVector, TensorTensorOperators) {
  EXPECT_THAT(tensorTensor(AluOp::Power).on(Engine::Vector).faults(),
              ElementsAre("B-07: power runs on GpSimd only, not on the Vector Engine "
                          "| leave the engine unset, or use engine::gpsimd"));
  EXPECT_THAT(tensorTensor(AluOp::Abs).faults(),
              ElementsAre("B-07: tensor_tensor needs a binary operator, 'abs' takes one "
                          "argument "
                          "| use tensor_scalar or activation for functions of one tile"));
  EXPECT_THAT(tensorTensor(AluOp::None).faults(),
              ElementsAre("B-07: tensor_tensor needs a binary operator, 'none' is no operator "
                          "| use tensor_scalar or activation for functions of one tile"));
}

TEST(RulesVector, BitOperatorsNeedIntegersOfOneWidth) {
  EXPECT_THAT(tensorTensor(AluOp::BitwiseAnd, ui8).faults(), IsEmpty());
  EXPECT_THAT(tensorTensor(AluOp::BitwiseAnd, i32).with("data2", "b", sbuf, f32, {96, 40}).faults(),
              ElementsAre("D-08: bitwise_and needs integer tiles, data2 'b' is float32 "
                          "| view the tile as an integer dtype of the same width to "
                          "work on its bits"));
  EXPECT_THAT(tensorTensor(AluOp::LeftShift, i32).with("dst", "o", sbuf, ui8, {96, 40}).faults(),
              ElementsAre("D-08: left_shift needs integer tiles of one width, "
                          "data1 'a' is int32 and dst 'o' is "
                          "uint8 | convert with tensor_copy to int32 first"));
}

//---- tensor_scalar
//--------------------------------------------------------------------------------===//

TEST(RulesVector, TensorScalarOnTheScalarEngine) {
  auto on = [](AluOp op0, AluOp op1) { return tensorScalar(op0, op1).on(Engine::Scalar).faults(); };
  EXPECT_THAT(on(AluOp::Multiply, AluOp::Add), IsEmpty());
  EXPECT_THAT(on(AluOp::Multiply, AluOp::None), IsEmpty());
  EXPECT_THAT(on(AluOp::Add, AluOp::None), IsEmpty());
  EXPECT_THAT(on(AluOp::Add, AluOp::Multiply),
              ElementsAre("B-07: on trn2 the Scalar Engine runs tensor_scalar only as "
                          "multiply, add, or multiply "
                          "then add, not as add then multiply "
                          "| use engine::vector, or activation with scale and bias"));
  EXPECT_THAT(on(AluOp::Subtract, AluOp::None),
              ElementsAre("B-07: on trn2 the Scalar Engine runs tensor_scalar "
                          "only as multiply, add, or multiply "
                          "then add, not as subtract | use engine::vector, or "
                          "activation with scale and bias"));
}

TEST(RulesVector, TensorScalarOnGpsimd) {
  EXPECT_EQ(chooseEngine(tensorScalar(AluOp::Rsqrt).view()), Engine::Gpsimd);
  EXPECT_THAT(tensorScalar(AluOp::Rsqrt).faults(), IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::Add).on(Engine::Gpsimd).faults(),
              ElementsAre("B-08: gpsimd accepts tensor_scalar for rsqrt only, not for add "
                          "| leave the engine unset, or use engine::vector"));
  EXPECT_THAT(tensorScalar(AluOp::Add, AluOp::Rsqrt).faults(),
              ElementsAre("B-08: gpsimd accepts tensor_scalar for rsqrt only, not for add then "
                          "rsqrt "
                          "| split it: rsqrt alone on gpsimd, the other operator on vector"));
  EXPECT_THAT(tensorScalar(AluOp::Reciprocal).on(Engine::Gpsimd).faults(),
              ElementsAre("B-08: gpsimd accepts tensor_scalar for rsqrt only, "
                          "not for reciprocal "
                          "| leave the engine unset, or use engine::vector"));
  EXPECT_THAT(tensorScalar(AluOp::Rsqrt).with("data", "x", psum, f32, {96, 40}).faults(),
              ElementsAre("B-05: tensor_scalar runs on GpSimd here, which "
                          "cannot access PSUM; data 'x' is in PSUM "
                          "| tensor_copy it to an SBUF tile first"));
}

TEST(RulesVector, TensorScalarOnTheVectorEngine) {
  EXPECT_THAT(tensorScalar(AluOp::Subtract, AluOp::Maximum).faults(), IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::Reciprocal).faults(), IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::Rsqrt).on(Engine::Vector).faults(),
              ElementsAre("B-07: the Vector Engine has no rsqrt, tensor_scalar is rsqrt "
                          "| use engine::gpsimd for rsqrt alone, or activation with rsqrt"));
  EXPECT_THAT(tensorScalar(AluOp::Multiply, AluOp::Power).faults(),
              ElementsAre("B-07: no engine runs tensor_scalar with power "
                          "| memset a tile with the exponent and use "
                          "tensor_tensor with power"));
  EXPECT_THAT(tensorScalar(AluOp::Add, AluOp::Reciprocal).faults(),
              ElementsAre("B-07: reciprocal is alone in its tensor_scalar, not add then "
                          "reciprocal "
                          "| use nisa::reciprocal and a tensor_scalar for the other operator"));
}

TEST(RulesVector, TensorScalarClasses) {
  EXPECT_THAT(tensorScalar(AluOp::BitwiseAnd, AluOp::LeftShift, i32).faults(), IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::BitwiseAnd, AluOp::Add, i32).faults(),
              ElementsAre("D-08: op0 bitwise_and (bit) and op1 add "
                          "(arithmetic) must be of one kind "
                          "| use two tensor_scalar instructions"));
  EXPECT_THAT(
      tensorScalar(AluOp::Invert, AluOp::None, f32).with("dst", "o", sbuf, i32, {96, 40}).faults(),
      ElementsAre("D-08: invert needs integer tiles, data 'x' is float32 "
                  "| view the tile as an integer dtype of the same width to "
                  "work on its bits"));
  EXPECT_THAT(tensorScalar(AluOp::None).faults(),
              ElementsAre("D-08: tensor_scalar needs a first operator, op0 is "
                          "none | name an operator as op0"));
}

TEST(RulesVector, TensorScalarOperands) {
  EXPECT_THAT(tensorScalar(AluOp::Add, AluOp::None, bf16)
                  .with("operand0", "c", sbuf, f32, {96, 1})
                  .faults(),
              IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::Add, AluOp::None, bf16)
                  .with("operand0", "c", sbuf, bf16, {96, 1})
                  .faults(),
              ElementsAre("D-09: a scalar tile of an arithmetic operator must "
                          "be float32, operand0 'c' is bfloat16 "
                          "| cast it to float32 with tensor_copy"));
  EXPECT_THAT(tensorScalar(AluOp::BitwiseXor, AluOp::None, ui8)
                  .with("operand0", "c", sbuf, i32, {96, 1})
                  .faults(),
              ElementsAre("D-09: bitwise_xor needs a scalar tile of data's "
                          "dtype uint8, operand0 'c' is int32 "
                          "| convert it to uint8 with tensor_copy"));
  EXPECT_THAT(tensorScalar(AluOp::Abs).with("operand0", "c", sbuf, f32, {96, 1}).faults(),
              ElementsAre("D-09: abs takes no scalar, operand0 'c' has no use "
                          "| leave the operand out"));
  EXPECT_THAT(tensorScalar(AluOp::Add).with("operand1", "c", sbuf, f32, {96, 1}).faults(),
              ElementsAre("D-09: op1 is none, operand1 'c' has no use | leave "
                          "the operand out"));
  EXPECT_THAT(tensorScalar(AluOp::Abs).field("imm0", -0.0).faults(), IsEmpty());
  EXPECT_THAT(tensorScalar(AluOp::Abs).field("imm0", 0.5).faults(),
              ElementsAre("D-09: abs takes no scalar, imm0 is 0.5 | leave the operand out"));
}

// A mask has as many bits as the data, written signed or unsigned.
TEST(RulesVector, TensorScalarMasks) {
  auto mask = [](DType dtype, double value) {
    return tensorScalar(AluOp::BitwiseAnd, AluOp::None, dtype).field("imm0", value).faults();
  };
  EXPECT_THAT(mask(ui8, 255), IsEmpty());
  EXPECT_THAT(mask(ui8, -128), IsEmpty());
  EXPECT_THAT(mask(ui8, 256), ElementsAre("D-09: bitwise_and on uint8 takes a "
                                          "whole number of 8 bits, imm0 is 256 "
                                          "| use a value from -128 to 255"));
  EXPECT_THAT(mask(ui8, -129), ElementsAre("D-09: bitwise_and on uint8 takes a whole number of "
                                           "8 bits, imm0 is -129 "
                                           "| use a value from -128 to 255"));
  EXPECT_THAT(mask(i32, 4294967295.0), IsEmpty());
  EXPECT_THAT(mask(i32, 4294967296.0),
              ElementsAre("D-09: bitwise_and on int32 takes a whole number of "
                          "32 bits, imm0 is 4294967296 "
                          "| use a value from -2147483648 to 4294967295"));
  EXPECT_THAT(mask(i32, 1.5), ElementsAre("D-09: bitwise_and on int32 takes a whole number of "
                                          "32 bits, imm0 is 1.5 "
                                          "| use a value from -2147483648 to 4294967295"));
  EXPECT_THAT(mask(i32, std::nan("")),
              ElementsAre("D-09: bitwise_and on int32 takes a whole number of "
                          "32 bits, imm0 is nan "
                          "| use a value from -2147483648 to 4294967295"));
}

//---- tensor_reduce
//--------------------------------------------------------------------------------===//

TEST(RulesVector, ReducedDims) {
  EXPECT_THAT(tensorReduce(AluOp::Add, 2, {96, 4, 5}, {96, 1}).faults(), IsEmpty());
  EXPECT_THAT(tensorReduce(AluOp::Add, 3, {96, 4, 5}, {96, 1}).faults(),
              ElementsAre("P-10: the last 3 dims of data 'x' cannot be "
                          "reduced, it has 2 free dims (1 to 2) | dim 0 "
                          "is the partition dim: transpose first, or multiply "
                          "by a ones column with nc_matmul"));
  EXPECT_THAT(tensorReduce(AluOp::Add, 1, {96, 40}, {96, 1}).field("reduced_dims", 0).faults(),
              ElementsAre("P-10: the last 0 dims of data 'x' cannot be "
                          "reduced, it has 1 free dim (1 to 1) | dim 0 "
                          "is the partition dim: transpose first, or multiply "
                          "by a ones column with nc_matmul"));
}

TEST(RulesVector, ReduceShape) {
  EXPECT_THAT(tensorReduce(AluOp::Maximum, 1, {96, 4, 5}, {96, 4}).faults(), IsEmpty());
  EXPECT_THAT(tensorReduce(AluOp::Maximum, 1, {96, 4, 5}, {96, 5}).faults(),
              ElementsAre("P-12: dst 's' must hold 4 elements per partition, "
                          "data 'x' is (96, 4, 5) and its last 1 "
                          "dim is reduced; got 5 | use a (96, 4) dst"));
  EXPECT_THAT(tensorReduce(AluOp::Maximum, 2, {96, 4, 5}, {96, 4}).faults(),
              ElementsAre("P-12: dst 's' must hold 1 element per partition, "
                          "data 'x' is (96, 4, 5) and its last 2 "
                          "dims are reduced; got 4 | use a (96, 1) dst"));
  EXPECT_THAT(tensorReduce(AluOp::Add, 1, {96, 40}, {64, 1}).faults(),
              ElementsAre("P-04: data 'x' uses 96 partitions and dst 's' uses "
                          "64; hardware never broadcasts across "
                          "partitions | slice both to 64 partitions"));
}

TEST(RulesVector, ReduceOperators) {
  EXPECT_THAT(tensorReduce(AluOp::Greater, 1, {96, 40}, {96, 1}).faults(),
              ElementsAre("D-17: 'greater' cannot be a reduction operator | "
                          "allowed: add, subtract, multiply, "
                          "maximum, minimum, logical_and, logical_or, "
                          "logical_xor, bitwise_and, bitwise_or, "
                          "bitwise_xor"));
  EXPECT_THAT(tensorReduce(AluOp::Add, 1, {96, 40}, {96, 1}).field("negate", true).faults(),
              IsEmpty());
  EXPECT_THAT(
      tensorReduce(AluOp::BitwiseOr, 1, {96, 40}, {96, 1}, i32).field("negate", true).faults(),
      ElementsAre("D-17: negate needs an arithmetic operator, "
                  "bitwise_or works on bits | leave negate out"));
  EXPECT_THAT(tensorReduce(AluOp::BitwiseOr, 1, {96, 40}, {96, 1}, i32)
                  .with("dst", "s", sbuf, ui8, {96, 1})
                  .faults(),
              ElementsAre("D-08: bitwise_or needs integer tiles of one width, "
                          "data 'x' is int32 and dst 's' is uint8 "
                          "| convert with tensor_copy to int32 first"));
}

//---- activation
//-----------------------------------------------------------------------------------===//

TEST(RulesVector, ActivationColumns) {
  EXPECT_THAT(activation()
                  .with("bias", "b", sbuf, bf16, {96, 1})
                  .with("scale", "s", psum, f32, {96, 1})
                  .with("reduce_res", "r", sbuf, f32, {96, 1})
                  .faults(),
              IsEmpty());
  EXPECT_THAT(activation().with("scale", "s", sbuf, bf16, {96, 1}).faults(),
              ElementsAre("D-09: a scale tile must be float32, scale 's' is bfloat16 "
                          "| cast it to float32 with tensor_copy"));
  EXPECT_THAT(activation().with("bias", "b", sbuf, f32, {96, 2}).faults(),
              ElementsAre("D-10: bias 'b' is (96, 2), it must be (96, 1): one value "
                          "per partition "
                          "| take one column of it, or copy it to a (96, 1) tile"));
  EXPECT_THAT(activation().with("bias", "b", sbuf, f32, {1, 96}).faults(),
              ElementsAre("D-10: bias 'b' is (1, 96), it must be (96, 1): one value "
                          "per partition "
                          "| take one column of it, or copy it to a (96, 1) tile"));
}

TEST(RulesVector, ActivationReduction) {
  auto reduce = [](AluOp op, ReduceCmd cmd) {
    return activation().field("reduce_op", op).field("reduce_cmd", cmd).faults();
  };
  EXPECT_THAT(reduce(AluOp::Add, ReduceCmd::Reduce), IsEmpty());
  EXPECT_THAT(reduce(AluOp::Add, ReduceCmd::ResetReduce), IsEmpty());
  EXPECT_THAT(reduce(AluOp::None, ReduceCmd::Reset), IsEmpty());
  EXPECT_THAT(reduce(AluOp::None, ReduceCmd::ResetReduce),
              ElementsAre("D-17: reduce_cmd reset_reduce needs a reduce_op | "
                          "set reduce_op to add"));
  EXPECT_THAT(reduce(AluOp::Add, ReduceCmd::Idle),
              ElementsAre("D-17: reduce_op is add, but reduce_cmd idle reduces nothing "
                          "| set reduce_cmd to reset_reduce or reduce, or leave "
                          "reduce_op out"));
  EXPECT_THAT(reduce(AluOp::Maximum, ReduceCmd::Reduce),
              ElementsAre("D-17: 'maximum' cannot be the reduction operator of "
                          "activation | allowed: add"));
  EXPECT_THAT(reduce(AluOp::Add, ReduceCmd::LoadReduce),
              ElementsAre("D-17: activation has no reduce_cmd load_reduce "
                          "| allowed: idle, reset, reduce, reset_reduce"));
}

//---- fills
//----------------------------------------------------------------------------------------===//

TEST(RulesMove, MemsetValues) {
  EXPECT_THAT(memset(f32, 2.5).faults(), IsEmpty());
  EXPECT_THAT(memset(bf16, std::numeric_limits<double>::infinity()).faults(), IsEmpty());
  EXPECT_THAT(memset(i32, -0.0).faults(), IsEmpty());
  EXPECT_THAT(memset(i32, 2147483647).faults(), IsEmpty());
  EXPECT_THAT(memset(i32, -2147483648.0).faults(), IsEmpty());
  EXPECT_THAT(memset(ui8, 255).faults(), IsEmpty());
  EXPECT_THAT(memset(i8, -128).faults(), IsEmpty());
  EXPECT_THAT(memset(i16, 32767).faults(), IsEmpty());
  EXPECT_THAT(memset(ui16, 65535).faults(), IsEmpty());
  EXPECT_THAT(memset(ui32, 4294967295.0).faults(), IsEmpty());
  EXPECT_THAT(memset(i8, 128).faults(),
              ElementsAre("D-07: fill value 128 does not fit dst 'z', int8 holds -128 to 127 "
                          "| write a value from -128 to 127"));
  EXPECT_THAT(memset(i16, -32769).faults(),
              ElementsAre("D-07: fill value -32769 does not fit dst 'z', int16 holds -32768 to "
                          "32767 | write a value from -32768 to 32767"));
  EXPECT_THAT(memset(ui16, 65536).faults(),
              ElementsAre("D-07: fill value 65536 does not fit dst 'z', uint16 holds 0 to 65535 "
                          "| write a value from 0 to 65535"));
  EXPECT_THAT(memset(ui32, 4294967296.0).faults(),
              ElementsAre("D-07: fill value 4294967296 does not fit dst 'z', uint32 holds 0 to "
                          "4294967295 | write a value from 0 to 4294967295"));
  EXPECT_THAT(memset(i32, 2.5).faults(),
              ElementsAre("D-07: fill value 2.5 is no whole number, dst 'z' is "
                          "int32 | write 2"));
  EXPECT_THAT(memset(i32, std::nan("")).faults(),
              ElementsAre("D-07: fill value nan is no whole number, dst 'z' is "
                          "int32 | write a whole number"));
  EXPECT_THAT(memset(i32, -std::numeric_limits<double>::infinity()).faults(),
              ElementsAre("D-07: fill value -inf is no whole number, dst 'z' "
                          "is int32 | write a whole number"));
  EXPECT_THAT(memset(i32, 2147483648.0).faults(),
              ElementsAre("D-07: fill value 2147483648 does not fit dst 'z', "
                          "int32 holds -2147483648 to 2147483647 "
                          "| write a value from -2147483648 to 2147483647"));
  EXPECT_THAT(memset(ui8, 256).faults(),
              ElementsAre("D-07: fill value 256 does not fit dst 'z', uint8 holds 0 to 255 "
                          "| write a value from 0 to 255"));
  EXPECT_THAT(memset(ui8, -1).faults(),
              ElementsAre("D-07: fill value -1 does not fit dst 'z', uint8 holds 0 to 255 "
                          "| write a value from 0 to 255"));
}

TEST(RulesMove, GpsimdHasNoPsumPort) {
  Case c = memset(f32, 0.0).with("dst", "z", psum, f32, {96, 40});
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_THAT(c.on(Engine::Gpsimd).faults(),
              ElementsAre("B-05: memset runs on GpSimd here, which cannot access PSUM; "
                          "dst 'z' is in PSUM "
                          "| write to an SBUF tile, or leave the engine unset"));
  EXPECT_THAT(iota().with("dst", "n", psum, i32, {96, 40}).faults(),
              ElementsAre("B-05: iota runs on GpSimd, which cannot access "
                          "PSUM; dst 'n' is there "
                          "| write to an SBUF tile, then tensor_copy it"));
}

TEST(RulesMove, IotaPattern) {
  EXPECT_THAT(iota().faults(), IsEmpty());
  EXPECT_THAT(iota().field("pattern", 9, 7).faults(),
              ElementsAre("P-05: the pattern has 45 values, dst 'n' has 40 per partition "
                          "| make the product of the pattern's counts equal to the free size "
                          "of dst"));
  EXPECT_THAT(iota().field("pattern", 0, 1).faults(),
              ElementsAre("P-05: pair 0 of the pattern has 0 values, at least 1 is needed "
                          "| write unused pairs as [0, 1]"));
}

//---- transfers
//------------------------------------------------------------------------------------===//

TEST(RulesMove, DmaElements) {
  EXPECT_THAT(dma().with("src", "x", hbm, f32, {40, 96}).faults(), IsEmpty());
  EXPECT_THAT(dma().with("src", "x", hbm, f32, {96, 41}).faults(),
              ElementsAre("S-09: dst 't' holds 3840 elements, src 'x' 3936 "
                          "| dst is (96, 40), src is (96, 41): slice both to "
                          "the same extents"));
}

TEST(RulesMove, DmaHasNoPathToPsum) {
  EXPECT_THAT(dma().with("dst", "t", psum, f32, {96, 40}).faults(),
              ElementsAre("B-04: DMA has no path to PSUM, dst 't' is in PSUM "
                          "| dma_copy to an SBUF tile, then tensor_copy that to PSUM"));
  EXPECT_THAT(dma().with("src", "acc", psum, f32, {96, 40}).faults(),
              ElementsAre("B-04: DMA has no path from PSUM, src 'acc' is in PSUM "
                          "| tensor_copy 'acc' to an SBUF tile, then store that"));
}

TEST(RulesMove, DmaCastsExceptInHardware) {
  Case c = dma().with("src", "x", hbm, bf16, {96, 40});
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_THAT(c.field("dge_mode", DgeMode::Hwdge).faults(),
              ElementsAre("D-12: hardware DGE moves raw bytes: src 'x' is "
                          "bfloat16, dst 't' is float32, they must "
                          "match | use view(), or another mode"));
}

TEST(RulesMove, DmaEngines) {
  auto faults = [](Engine engine, DgeMode mode) {
    return dma().on(engine).field("dge_mode", mode).faults();
  };
  EXPECT_EQ(chooseEngine(dma().view()), Engine::Sync);
  EXPECT_EQ(chooseEngine(dma().field("dge_mode", DgeMode::Swdge).view()), Engine::Gpsimd);
  for (DgeMode mode : {DgeMode::Unknown, DgeMode::Swdge, DgeMode::Hwdge, DgeMode::None})
    EXPECT_THAT(faults(Engine::Unknown, mode), IsEmpty());
  EXPECT_THAT(faults(Engine::Scalar, DgeMode::Hwdge), IsEmpty());
  EXPECT_THAT(faults(Engine::Sync, DgeMode::None), IsEmpty());
  EXPECT_THAT(faults(Engine::Gpsimd, DgeMode::Swdge), IsEmpty());
  EXPECT_THAT(faults(Engine::Scalar, DgeMode::Unknown),
              ElementsAre("B-09: choosing a trigger engine needs dge_mode hwdge, "
                          "engine is scalar and dge_mode is "
                          "unknown | leave the engine unset, or use dge_mode::hwdge"));
  EXPECT_THAT(faults(Engine::Gpsimd, DgeMode::Hwdge),
              ElementsAre("B-09: gpsimd starts a transfer only with dge_mode "
                          "swdge, dge_mode is hwdge "
                          "| leave the engine unset, or use dge_mode::swdge"));
  EXPECT_THAT(faults(Engine::Sync, DgeMode::Swdge),
              ElementsAre("B-09: dge_mode swdge makes descriptors on gpsimd, engine is sync "
                          "| leave the engine unset, or use dge_mode::hwdge"));
  EXPECT_THAT(faults(Engine::Vector, DgeMode::Unknown),
              ElementsAre("B-07: dma_copy runs on sync, scalar or gpsimd, not on vector "
                          "| leave the engine unset, or name one that has the instruction"));
}

TEST(RulesMove, DmaRings) {
  EXPECT_THAT(dma().field("ring", 7).faults(), IsEmpty());
  EXPECT_THAT(dma().field("ring", 8).faults(),
              ElementsAre("X-06: ring 8 does not exist, the core has 8 (0 to "
                          "7) | leave the ring to the compiler"));
}

// A ring walks a list of buffers: neither start partitions nor pattern limits
// of the engines hold.
TEST(RulesMove, DmaOperandsAreNoEngineOperands) {
  Case c =
      dma().with("dst", "t", sbuf, ui8, {128, 100000}).with("src", "x", hbm, ui8, {36, 100000});
  EXPECT_THAT(c.rows("dst", 49, 36).faults(), IsEmpty());
}

} // namespace
} // namespace kiln::isa::test
