//===- ScalarEngine.td - instructions of the Scalar Engine ----------------------------------------===//

#ifndef KILN_TABLE_SCALARENGINE_TD
#define KILN_TABLE_SCALARENGINE_TD

include "Trn2.td"

def ActivationInst : Inst<0x20, "activation", [EngineScalar]> {
  let cppName = "Activation";
  let summary = "Apply a function to every element, with scale, bias and an optional row sum";
  let description = [{
    `y[p, f] = op(data[p, f] * scale[p] + bias[p])` in fp32; the product and the sum are rounded
    separately, the function is exact and rounded once; `dst = round(y)` to dst's dtype.

    The engine has one fp32 reduction register A[p] for each row. `reset_reduce` sets it to the sum of
    y[p, :], `reduce` adds that sum to it (both left to right, starting at 0 or at A[p], before y is
    narrowed), `reset` sets it to 0, `idle` leaves it alone. Then `reduce_res`, if present, receives A[p];
    where it overlaps dst, reduce_res wins.
  }];
  let example = "nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] bias=%b[0+128, 0: 1x1] op=exp";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"data", OnChip, AnyDtype, "P partitions x F elements">,
    ScalarOperand<"bias", OnChip, AnyDtype, "imm_bias", "one value a partition; absent: imm_bias">,
    ScalarOperand<"scale", OnChip, [Float32], "imm_scale", "one value a partition; absent: imm_scale">,
    OptOutColumn<"reduce_res", OnChip, AnyDtype, "receives the reduction register">];
  let fields = [
    FEnum<"op", ActFnEnum, "", "the function">,
    FF32<"imm_bias", "0", "bias when no bias tile is given">,
    FF32<"imm_scale", "1", "scale when no scale tile is given">,
    FEnum<"reduce_op", AluOpEnum, "none", "add, when reduce_cmd reduces">,
    FEnum<"reduce_cmd", ReduceCmdEnum, "idle", "what happens to the reduction register">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and data hold the same number of elements a partition">,
    Rule<"D-17", "activationReduce", "reduce_op is add, and present exactly when reduce_cmd reduces">];
  let costs = [Cost<"scalar", 1, 1, 222, 335, 64, "public trn2 profiles, fp32 SBUF source with bias", "measured">];
  let spec = "activation";
  let accumulators = "reduce_cmd";
}

def ActivationReduceInst : Inst<0x21, "activation_reduce", [EngineScalar]> {
  let cppName = "ActivationReduce";
  let summary = "Apply a function to every element and sum every row";
  let description = [{
    `activation` with `reduce_cmd=reset_reduce`: `y[p, f] = op(data[p, f] * scale[p] + bias[p])`,
    `dst = round(y)`, and the reduction register A[p] becomes the sum of y[p, :], left to right from 0, before
    y is narrowed. `reduce_res`, if present, receives A[p]; without it the sum stays in the register for an
    `activation` to continue. Where it overlaps dst, reduce_res wins.
  }];
  let example = "nisa.activation_reduce dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] reduce_res=%s[0+128, 0: 1x1] op=exp reduce_op=add";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"data", OnChip, AnyDtype, "P partitions x F elements">,
    ScalarOperand<"bias", OnChip, AnyDtype, "imm_bias", "one value a partition; absent: imm_bias">,
    ScalarOperand<"scale", OnChip, [Float32], "imm_scale", "one value a partition; absent: imm_scale">,
    OptOutColumn<"reduce_res", OnChip, AnyDtype, "receives the reduction register">];
  let fields = [
    FEnum<"op", ActFnEnum, "", "the function">,
    FEnumOf<"reduce_op", AluOpEnum, [AluAdd], "D-17", "", "add">,
    FF32<"imm_bias", "0", "bias when no bias tile is given">,
    FF32<"imm_scale", "1", "scale when no scale tile is given">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and data hold the same number of elements a partition">];
  let costs = [Cost<"scalar", 1, 1, 286, 399, 64, "activation with a published read-out of 64 cycles", "derived">];
  let spec = "activation_reduce";
  let accumulators = "reset_reduce";
}

#endif // KILN_TABLE_SCALARENGINE_TD
