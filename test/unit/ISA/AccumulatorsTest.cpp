//===- AccumulatorsTest.cpp - chains through reduction registers, and rules of fused rows
//---------===//

#include "RulesTestSupport.h"

#include "kiln/ISA/Accumulators.h"

#include <bit>

namespace kiln::isa::test {
namespace {

Case activationOn(uint32_t start, uint32_t count, ReduceCmd command, bool readsOut = false) {
  Case c = Case(Opcode::Activation)
               .with("dst", "y", sbuf, f32, {128, 40})
               .with("data", "x", sbuf, f32, {128, 40})
               .field("op", ActFn::Exp)
               .field("reduce_cmd", command)
               .rows("dst", start, count)
               .rows("data", start, count);
  if (command == ReduceCmd::Reduce || command == ReduceCmd::ResetReduce)
    c.field("reduce_op", AluOp::Add);
  if (readsOut)
    c.with("reduce_res", "s", sbuf, f32, {int64_t(count), 1});
  return c;
}

Case fold(ReduceCmd command, uint32_t base = 0) {
  return Case(Opcode::TensorScalarReduce)
      .with("dst", "y", sbuf, f32, {32, 40})
      .with("data", "x", sbuf, f32, {32, 40}, base)
      .field("op0", AluOp::Add)
      .field("reduce_op", AluOp::Add)
      .field("reduce_cmd", command);
}

Case select(ReduceCmd command) {
  return Case(Opcode::SelectReduce)
      .with("dst", "y", sbuf, f32, {32, 40})
      .with("predicate", "p", sbuf, ui8, {32, 40})
      .with("on_true", "x", psum, f32, {32, 40})
      .field("reduce_cmd", command);
}

/// Follows instructions one by one; each is legal in itself.
class ChainTest : public ::testing::Test {
protected:
  Faults follow(const Case &c) {
    EXPECT_THAT(c.faults(), IsEmpty());
    Faults out;
    chains.follow(c.view(), [&out](Violation v) { out.push_back(spelled(v)); });
    return out;
  }
  AccumulatorChains chains;
};

/// What may not have run changes what is known: nothing is said of it.
TEST_F(ChainTest, OfALoopThatMayRunNoIteration) {
  const auto loop = [&](const std::vector<Case> &body) {
    const AccumulatorChains before = chains;
    for (const Case &c : body)
      EXPECT_THAT(follow(c), IsEmpty());
    chains.mayBe(before, before);
  };
  // Opened in the loop: it may hold nothing.
  loop({activationOn(0, 33, ReduceCmd::ResetReduce)});
  EXPECT_THAT(follow(activationOn(0, 34, ReduceCmd::Reduce)), IsEmpty());
  // Continued in it: known as before.
  loop({activationOn(0, 34, ReduceCmd::Reduce)});
  EXPECT_EQ(follow(activationOn(0, 33, ReduceCmd::Reduce)).size(), 1u);
  // Lost in it: it may hold what it held.
  EXPECT_THAT(follow(fold(ReduceCmd::ResetReduce)), IsEmpty());
  loop({select(ReduceCmd::Idle)});
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce)), IsEmpty());
  EXPECT_THAT(follow(select(ReduceCmd::Idle)), IsEmpty());
  EXPECT_EQ(follow(fold(ReduceCmd::Reduce)).size(), 1u); // control
}

/// A branch of an iteration begins as any iteration before may have left things.
TEST_F(ChainTest, OfABranchInsideALoop) {
  const AccumulatorChains before = chains;
  chains.forgetAll();
  AccumulatorChains entry = chains;
  EXPECT_THAT(follow(activationOn(0, 33, ReduceCmd::Reduce)), IsEmpty());
  chains.mayBe(before, entry);
  EXPECT_THAT(follow(activationOn(0, 33, ReduceCmd::Reduce)), IsEmpty());
  // The Vector Engine's were left alone: they hold nothing, as before.
  EXPECT_EQ(follow(fold(ReduceCmd::Reduce)).size(), 1u);
}

TEST_F(ChainTest, StepsFollowFromTheCommand) {
  auto stepOf = [](const Case &c) { return accumulatorStep(c.inst, c.inst.desc()); };
  EXPECT_EQ(stepOf(reciprocal()), AccumulatorStep::None);
  EXPECT_EQ(stepOf(activation()), AccumulatorStep::None);
  EXPECT_EQ(stepOf(activationOn(0, 8, ReduceCmd::Idle, true)), AccumulatorStep::Read);
  EXPECT_EQ(stepOf(activationOn(0, 8, ReduceCmd::Reset)), AccumulatorStep::Begin);
  EXPECT_EQ(stepOf(activationOn(0, 8, ReduceCmd::ResetReduce)), AccumulatorStep::Begin);
  EXPECT_EQ(stepOf(activationOn(0, 8, ReduceCmd::Reduce)), AccumulatorStep::Continue);
  EXPECT_EQ(stepOf(Case(Opcode::ActivationReduce)), AccumulatorStep::Begin);
  EXPECT_EQ(stepOf(fold(ReduceCmd::LoadReduce)), AccumulatorStep::Begin);
  EXPECT_EQ(stepOf(select(ReduceCmd::Idle)), AccumulatorStep::Lose);
}

TEST_F(ChainTest, BeginsBeforeItContinues) {
  EXPECT_THAT(follow(activationOn(0, 33, ReduceCmd::Reduce)),
              ElementsAre("M-08: activation continues from the reduction registers of the Scalar "
                          "Engine, which hold nothing here | begin the chain with reduce_cmd "
                          "reset_reduce"));
  EXPECT_THAT(follow(activationOn(0, 33, ReduceCmd::Reduce)), IsEmpty()) << "said once";
  EXPECT_THAT(follow(activationOn(0, 33, ReduceCmd::Idle, true)), IsEmpty());
  // Of the Vector Engine nothing was said.
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce)),
              ElementsAre("M-08: tensor_scalar_reduce continues from the reduction registers of "
                          "the Vector Engine, which hold nothing here | begin the chain with "
                          "reduce_cmd reset_reduce"));
}

TEST_F(ChainTest, StaysOnItsPartitions) {
  EXPECT_THAT(follow(activationOn(64, 33, ReduceCmd::ResetReduce)), IsEmpty());
  EXPECT_THAT(follow(activationOn(64, 33, ReduceCmd::Reduce)), IsEmpty());
  EXPECT_THAT(follow(activationOn(0, 128, ReduceCmd::Idle)), IsEmpty()) << "no part of the chain";
  EXPECT_THAT(follow(activationOn(64, 34, ReduceCmd::Reduce)),
              ElementsAre("P-04: data 'x' uses 34 partitions, the chain that activation continues "
                          "from uses 33 | use 33, or begin a chain with reduce_cmd reset_reduce"));
  EXPECT_THAT(follow(activationOn(0, 34, ReduceCmd::Idle, true)),
              ElementsAre("P-06: data 'x' starts at partition 0, the chain that activation reads "
                          "starts at 64 | copy 'x' to partition 64 first, or begin a chain with "
                          "reduce_cmd reset_reduce"));
}

TEST_F(ChainTest, StartsAreThoseOfTheCore) {
  // Both views start at row 0 of their tile; the tiles lie apart.
  EXPECT_THAT(follow(fold(ReduceCmd::LoadReduce, 32)), IsEmpty());
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce, 96)),
              ElementsAre("P-06: data 'x' starts at partition 96, the chain that "
                          "tensor_scalar_reduce continues from starts at 32 | copy 'x' to "
                          "partition 32 first, or begin a chain with reduce_cmd reset_reduce"));
}

TEST_F(ChainTest, EndsWithAnIdleSelection) {
  EXPECT_THAT(follow(fold(ReduceCmd::ResetReduce)), IsEmpty());
  EXPECT_THAT(follow(select(ReduceCmd::Reduce)), IsEmpty());
  EXPECT_THAT(follow(select(ReduceCmd::Idle)), IsEmpty());
  EXPECT_THAT(
      follow(select(ReduceCmd::Reduce)),
      ElementsAre("M-08: select_reduce continues from the reduction registers of the Vector "
                  "Engine, which hold nothing here | begin the chain with reduce_cmd "
                  "reset_reduce"));
}

TEST_F(ChainTest, IsNotJudgedByWhatIsUnknown) {
  chains.forget(*findInstruction(Opcode::RangeSelect));
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce, 32)), IsEmpty());
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce, 64)).size(), 1u) << "known from the first link on";
  chains.forget(*findInstruction(Opcode::Reciprocal));
  EXPECT_THAT(follow(fold(ReduceCmd::Reduce, 32)).size(), 1u) << "it has no part in chains";
}

//---- rules only records written by hand break ---------------------------===//

TEST(RulesFused, EveryStageHasAnOperator) {
  Case c = Case(Opcode::TensorTensorScan)
               .with("dst", "y", sbuf, f32, {96, 40})
               .with("data0", "a", sbuf, f32, {96, 40})
               .with("data1", "b", sbuf, f32, {96, 40})
               .field("op0", AluOp::Multiply)
               .field("op1", AluOp::Add);
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_THAT(c.field("op1", AluOp::None).faults(),
              ElementsAre("B-07: op1 of tensor_tensor_scan is none, it needs an operator | name an "
                          "operator as op1"));
}

TEST(RulesFused, AUnaryStageTakesNoColumn) {
  Case c = fold(ReduceCmd::ResetReduce).field("op0", AluOp::Abs);
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_THAT(c.with("operand0", "s", sbuf, f32, {32, 1}).faults(),
              ElementsAre("D-08: abs takes no scalar, operand0 's' has no use | leave the operand "
                          "out"));
}

TEST(RulesFused, AStartNeedsACommandThatLoadsIt) {
  Case c = fold(ReduceCmd::LoadReduce).with("reduce_init", "s", sbuf, bf16, {32, 1});
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_THAT(
      c.field("reduce_cmd", ReduceCmd::Reduce).faults(),
      ElementsAre("D-17: reduce_init 's' has no use with reduce_cmd reduce | set reduce_cmd "
                  "to load_reduce, or leave reduce_init out"));
}

TEST(RulesFused, TheFillIsTheLowestFloat) {
  Case c = Case(Opcode::RangeSelect)
               .with("dst", "y", sbuf, bf16, {96, 40})
               .with("on_true_tile", "x", psum, f32, {96, 40})
               .with("bound0", "lo", sbuf, f32, {96, 1})
               .with("bound1", "hi", sbuf, f32, {96, 1})
               .field("comp_op0", AluOp::Less)
               .field("comp_op1", AluOp::Equal);
  EXPECT_THAT(c.faults(), IsEmpty());
  EXPECT_EQ(std::bit_cast<uint32_t>(float(c.inst.real("on_false_value"))), 0xFF7FFFFFu);
  // The neighbours of the lowest float32.
  for (uint32_t bits : {0xFF7FFFFEu, 0xFF800000u})
    EXPECT_EQ(c.field("on_false_value", double(std::bit_cast<float>(bits))).faults().size(), 1u);
}

} // namespace
} // namespace kiln::isa::test
