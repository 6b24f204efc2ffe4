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
}

#endif // KILN_TABLE_SCALARENGINE_TD
