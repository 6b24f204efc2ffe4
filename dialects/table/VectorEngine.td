//===- VectorEngine.td - elementwise, copy and reduction instructions ------------------------------===//

#ifndef KILN_TABLE_VECTORENGINE_TD
#define KILN_TABLE_VECTORENGINE_TD

include "Trn2.td"

def TensorCopyInst : Inst<0x30, "tensor_copy", [EngineVector, EngineScalar, EngineGpsimd]> {
  let cppName = "TensorCopy";
  let summary = "Copy a tile, converting between dtypes";
  let description = [{
    `dst[p, f] = src[p, f]`. Equal dtypes keep every bit; different ones go through fp32 and are rounded
    once. Elements are paired by their position in the flattened free sequence.
  }];
  let example = "nisa.tensor_copy dst=%o[0+128, 0: 1x512] src=%acc[0+128, 0: 1x512]";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
                  In<"src", OnChip, AnyDtype, "P partitions x F elements">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and src hold the same number of elements a partition">,
    Rule<"B-05", "gpsimdNoPsum", "GpSimd has no PSUM port">];
  let costs = [
    Cost<"vector", 1, 1, 62, 150, 64, "public trn2 profiles, fp32 PSUM source", "measured">,
    Cost<"scalar", 1, 1, 46, 190, 64, "public trn2 profiles, fp32 PSUM source", "measured">,
    Cost<"gpsimd", 1, 1, 150, 250, 0, "tensor_copy formula, start-up published", "choice">];
  let spec = "tensor_copy";
}

def MemsetInst : Inst<0x31, "memset", [EngineVector, EngineGpsimd]> {
  let cppName = "Memset";
  let summary = "Write one value to every element of a tile";
  let description = [{
    `dst[p, f] = value`, rounded once to dst's dtype. An integer tile takes a whole number in its range.
  }];
  let example = "nisa.memset dst=%o[0+128, 0: 1x512] value=0";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x F elements">];
  let fields = [FF64<"value", "", "the value">];
  let rules = [
    Rule<"D-07", "memsetValue", "an integer tile takes a whole number in its range">,
    Rule<"B-05", "gpsimdNoPsum", "GpSimd has no PSUM port">];
  let costs = [
    Cost<"vector", 1, 1, 62, 150, 64, "memset formula with measured overheads", "derived">,
    Cost<"gpsimd", 1, 1, 150, 250, 0, "start-up published", "choice">];
  let spec = "memset";
}

def TensorTensorInst : Inst<0x32, "tensor_tensor", [EngineVector, EngineGpsimd]> {
  let cppName = "TensorTensor";
  let summary = "Combine two tiles element by element";
  let description = [{
    `dst[p, f] = round(op(data1[p, f], data2[p, f]))`. Arithmetic operators work in fp32; bitvec
    operators on raw bits of integer tiles of one width.

    When all three tiles are int32 or uint32, the operator is arithmetic, none lies in PSUM and no engine is
    named, GpSimd computes on the integers themselves: add, subtract and multiply wrap, comparisons and
    logical operators give 1 or 0, maximum and minimum compare int32 with uint32 by value and saturate to
    dst. `power` always runs on GpSimd, in fp32.
  }];
  let example = "nisa.tensor_tensor dst=%o[0+128, 0: 1x512] data1=%a[0+128, 0: 1x512] data2=%b[0+128, 0: 1x512] op=add";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
                  In<"data1", OnChip, AnyDtype, "left argument">,
                  In<"data2", OnChip, AnyDtype, "right argument">];
  let fields = [FEnum<"op", AluOpEnum, "", "a binary operator">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "all operands hold the same number of elements a partition">,
    Rule<"B-03", "oneInputInPsum", "at most one of the two inputs is in PSUM">,
    Rule<"P-06", "sameStartPartition", "two SBUF inputs start at the same partition">,
    Rule<"D-08", "bitvecDtypes", "bitvec operators need integer tiles of one width">,
    Rule<"B-07", "tensorTensorEngine", "the engine has the operator">,
    Rule<"B-05", "gpsimdNoPsum", "GpSimd has no PSUM port">];
  let costs = [
    Cost<"vector", 1, 1, 69, 150, 64, "public trn2 profiles, fp32", "measured">,
    Cost<"gpsimd", 1, 1, 150, 250, 0, "start-up published", "choice">];
  let spec = "tensor_tensor";
}

def TensorScalarInst : Inst<0x33, "tensor_scalar", [EngineVector, EngineScalar, EngineGpsimd]> {
  let cppName = "TensorScalar";
  let summary = "Combine a tile with one or two scalars, or with one value a partition";
  let description = [{
    `t = op0(data, operand0)`, then `dst = round(op1(t, operand1))`, or `round(t)` without op1. A reverse
    flag makes the scalar the left argument. Arithmetic operators work in fp32 with fp32 scalars, bitvec
    operators on raw bits of integer tiles; the two stages are of one class.

    A scalar is the immediate, or one value a partition when the operand is present. A unary operator
    ignores its scalar.
  }];
  let example = "nisa.tensor_scalar dst=%o[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] op0=multiply imm0=2";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
                  In<"data", OnChip, AnyDtype, "P partitions x F elements">,
                  ScalarOperand<"operand0", OnChip, AnyDtype, "imm0", "first scalar, one value a partition">,
                  ScalarOperand<"operand1", OnChip, AnyDtype, "imm1", "second scalar, one value a partition">];
  let fields = [
    FEnum<"op0", AluOpEnum, "", "first operator">,
    FF64<"imm0", "0", "first scalar when operand0 is absent">,
    FBool<"reverse0", "the first scalar is the left argument">,
    FEnum<"op1", AluOpEnum, "none", "second operator">,
    FF64<"imm1", "0", "second scalar when operand1 is absent">,
    FBool<"reverse1", "the second scalar is the left argument">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and data hold the same number of elements a partition">,
    Rule<"D-08", "tensorScalarClass", "both operators are of one class; bitvec ones need integer tiles">,
    Rule<"D-09", "tensorScalarOperands", "scalar tiles are fp32, or of data's width for bitvec operators">,
    Rule<"B-07", "tensorScalarEngine", "the engine has the operators">,
    Rule<"B-08", "tensorScalarGpsimd", "GpSimd runs tensor_scalar as rsqrt only">,
    Rule<"B-05", "gpsimdNoPsum", "GpSimd has no PSUM port">];
  let costs = [
    Cost<"vector", 1, 1, 62, 150, 64, "public trn2 profiles", "measured">,
    Cost<"scalar", 1, 1, 46, 190, 64, "as a copy", "choice">,
    Cost<"gpsimd", 4, 1, 150, 250, 0, "rsqrt: four times the Scalar Engine", "published">];
  let spec = "tensor_scalar";
}

def TensorReduceInst : Inst<0x34, "tensor_reduce", [EngineVector]> {
  let cppName = "TensorReduce";
  let summary = "Reduce the trailing free dimensions of a tile";
  let description = [{
    For every partition and kept index, a fold of `op` over the reduced elements in row-major order,
    strictly left to right, starting at the operator's identity (subtract: at the first element).
    Arithmetic operators fold in fp32 and round once; `negate` flips the sign before that. Bitvec
    operators fold raw bits.

    `reduced_dims` counts the trailing free dimensions that are reduced: 1 is the last one.
  }];
  let example = "nisa.tensor_reduce dst=%s[0+128, 0: 1x1] data=%x[0+128, 0: 1x512] op=add reduced_dims=1";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x product of the kept free dims">,
                  In<"data", OnChip, AnyDtype, "P partitions x F elements">];
  let fields = [
    FEnum<"op", AluOpEnum, "", "a reduction operator">,
    FU32<"reduced_dims", "", "how many trailing free dims are reduced, 1 to 4">,
    FBool<"negate", "flip the sign of the result; arithmetic operators only">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-10", "reducedDims", "the reduced dims are trailing free dims">,
    Rule<"P-12", "reduceShape", "dst holds one element for each kept index">,
    Rule<"D-17", "reduceOperator", "the operator is a reduction; negate needs an arithmetic one">,
    Rule<"D-08", "bitvecDtypes", "bitvec operators need integer tiles of one width">];
  let costs = [Cost<"vector", 1, 1, 62, 144, 64, "public trn2 profiles, fp32", "measured">];
  let spec = "tensor_reduce";
}

def ReciprocalInst : Inst<0x35, "reciprocal", [EngineVector]> {
  let cppName = "Reciprocal";
  let summary = "Invert every element of a tile";
  let description = [{
    `dst[p, f] = round(1 / data[p, f])`, IEEE division in fp32: 0 gives Inf of its sign, Inf gives 0.
  }];
  let example = "nisa.reciprocal dst=%o[0+128, 0: 1x512] data=%x[0+128, 0: 1x512]";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
                  In<"data", OnChip, AnyDtype, "P partitions x F elements">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and data hold the same number of elements a partition">];
  let costs = [Cost<"vector", 8, 1, 50, 133, 64, "public trn2 profiles, 4 and 8 elements", "measured">];
  let spec = "reciprocal";
  let isTileFunction = 1;
}

def ScalarTensorTensorInst : Inst<0x3B, "scalar_tensor_tensor", [EngineVector]> {
  let cppName = "ScalarTensorTensor";
  let summary = "Combine a tile with a scalar, then with a second tile";
  let description = [{
    `t = op0(data, operand0)`, then `dst[p, f] = round(op1(t[p, f], operand1[p, f]))`, all in fp32: `t` is
    not narrowed. A reverse flag swaps the arguments of its operator. operand0 is the immediate, or one
    value a partition when it is present; a unary op0 takes none. Both operators are arithmetic.
  }];
  let example = "nisa.scalar_tensor_tensor dst=%o[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] operand0=%b[0+128, 0: 1x1] operand1=%y[0+128, 0: 1x512] op0=multiply op1=add";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"data", OnChip, AnyDtype, "P partitions x F elements">,
    ScalarOperand<"operand0", OnChip, AnyDtype, "imm0", "scalar of op0, one value a partition">,
    In<"operand1", OnChip, AnyDtype, "second argument of op1">];
  let fields = [
    FEnum<"op0", AluOpEnum, "", "first operator">,
    FF32<"imm0", "0", "scalar of op0 when operand0 is absent">,
    FEnum<"op1", AluOpEnum, "", "second operator, binary">,
    FBool<"reverse0", "operand0 is the left argument of op0">,
    FBool<"reverse1", "operand1 is the left argument of op1">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst, data and operand1 hold the same number of elements a partition">,
    Rule<"B-03", "oneInputInPsum", "at most one of data and operand1 is in PSUM">,
    Rule<"P-06", "sameStartPartition", "two SBUF inputs start at the same partition">,
    Rule<"D-08", "arithmeticStages", "both operators are arithmetic">,
    Rule<"B-07", "vectorStages", "the Vector Engine has the operators; op1 is binary">,
    Rule<"D-08", "stageScalar", "a unary op0 takes no scalar">];
  let costs = [Cost<"vector", 1, 1, 69, 150, 64, "as tensor_tensor: public trn2 profiles, fp32", "measured">];
  let spec = "scalar_tensor_tensor";
  let isTileFunction = 1;
}

def TensorTensorScanInst : Inst<0x3C, "tensor_tensor_scan", [EngineVector]> {
  let cppName = "TensorTensorScan";
  let summary = "Run a recurrence along the free dimensions";
  let description = [{
    Every partition has a state s, which starts at `initial`. For the elements in order:
    `s = op1(op0(data0[p, f], s), data1[p, f])`, then `dst[p, f] = round(s)`. The state stays in fp32 and is
    never read back from dst. A reverse flag swaps the arguments of its operator. Both operators are
    arithmetic and binary. A longer recurrence continues with the last column of dst as `initial`.
  }];
  let example = "nisa.tensor_tensor_scan dst=%o[0+128, 0: 1x512] data0=%x[0+128, 0: 1x512] data1=%y[0+128, 0: 1x512] op0=multiply op1=add";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"data0", OnChip, AnyDtype, "P partitions x F elements, met by the state in op0">,
    In<"data1", OnChip, AnyDtype, "P partitions x F elements, second argument of op1">,
    ScalarOperand<"initial", OnChip, AnyDtype, "imm_initial", "the state at the start, one value a partition">];
  let fields = [
    FF32<"imm_initial", "0", "the state at the start when initial is absent">,
    FEnum<"op0", AluOpEnum, "", "first operator, binary">,
    FEnum<"op1", AluOpEnum, "", "second operator, binary">,
    FBool<"reverse0", "the state is the left argument of op0">,
    FBool<"reverse1", "data1 is the left argument of op1">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst, data0 and data1 hold the same number of elements a partition">,
    Rule<"B-03", "oneInputInPsum", "at most one of data0 and data1 is in PSUM">,
    Rule<"P-06", "sameStartPartition", "two SBUF inputs start at the same partition">,
    Rule<"D-08", "arithmeticStages", "both operators are arithmetic">,
    Rule<"B-07", "vectorStages", "the Vector Engine has the operators; both are binary">];
  let costs = [Cost<"vector", 2, 1, 62, 150, 64, "tensor_tensor_scan formula with measured overheads", "derived">];
  let spec = "tensor_tensor_scan";
  let isTileFunction = 1;
}

defvar VectorIdleCmds = [ReduceIdle, ReduceResetReduce, ReduceReduce];
defvar RangeComparisons = [AluEqual, AluLess, AluLessEqual, AluGreater, AluGreaterEqual];
defvar SelectPredicateDtypes = [UInt8, Int8, Int16, UInt16];
defvar SelectValueDtypes = [Float32, BFloat16, Float16, UInt8, Int8, Int16, UInt16];

def TensorScalarReduceInst : Inst<0x3D, "tensor_scalar_reduce", [EngineVector]> {
  let cppName = "TensorScalarReduce";
  let summary = "Combine a tile with a scalar and reduce every row";
  let description = [{
    `t[p, f] = op0(data[p, f], operand0)` in fp32, `dst = round(t)`.

    The engine has one fp32 reduction register B[p] for each row, shared by tensor_scalar_reduce, range_select
    and select_reduce. `reset_reduce` starts it at the identity of `reduce_op` (add 0, multiply 1, maximum -Inf,
    minimum +Inf), `load_reduce` at `reduce_init`, `reduce` at its value; then
    `B[p] = reduce_op(B[p], t[p, f])` for every f in order, on t before it is narrowed. `reduce_res`, if
    present, receives round(B[p]), or round(-B[p]) with `reduce_res_negate`; the register itself keeps its
    sign. Where it overlaps dst, reduce_res wins. A chain of reducing instructions starts at one partition and
    uses one number of partitions.
  }];
  let example = "nisa.tensor_scalar_reduce dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] reduce_res=%s[0+128, 0: 1x1] op0=multiply imm0=2 reduce_op=add";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"data", OnChip, AnyDtype, "P partitions x F elements">,
    ScalarOperand<"operand0", OnChip, AnyDtype, "imm0", "scalar of op0, one value a partition">,
    ScalarOperand<"reduce_init", OnChip, AnyDtype, "imm_reduce_init",
                  "what load_reduce starts from, one value a partition">,
    OptOutColumn<"reduce_res", OnChip, AnyDtype, "receives the reduction register">];
  let fields = [
    FEnum<"op0", AluOpEnum, "", "the operator">,
    FF32<"imm0", "0", "scalar of op0 when operand0 is absent">,
    FEnumOf<"reduce_op", AluOpEnum, [AluAdd, AluMultiply, AluMaximum, AluMinimum], "D-17", "",
            "add, multiply, maximum or minimum">,
    FBool<"reverse0", "must be false: the hardware does not swap the arguments of op0">,
    FEnumOf<"reduce_cmd", ReduceCmdEnum, [ReduceResetReduce, ReduceReduce, ReduceLoadReduce], "B-07",
            "reset_reduce", "what the reduction register starts from">,
    FF32<"imm_reduce_init", "0", "what load_reduce starts from when reduce_init is absent">,
    FBool<"reduce_res_negate", "write the reduction register out with its sign flipped">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and data hold the same number of elements a partition">,
    Rule<"D-08", "arithmeticStages", "the operator is arithmetic">,
    Rule<"B-07", "vectorStages", "the Vector Engine has the operator">,
    Rule<"D-08", "stageScalar", "a unary op0 takes no scalar">,
    Rule<"B-07", "noReverse", "reverse0 is false">,
    Rule<"D-17", "loadedStart", "reduce_init goes with load_reduce only">];
  let costs = [Cost<"vector", 1, 1, 126, 214, 64,
                    "tensor_scalar_reduce formula (64 cycles more than tensor_scalar) with measured overheads", "derived">];
  let spec = "tensor_scalar_reduce";
  let accumulators = "reduce_cmd";
}

def RangeSelectInst : Inst<0x3E, "range_select", [EngineVector]> {
  let cppName = "RangeSelect";
  let summary = "Keep the elements whose position lies between two bounds of their row";
  let description = [{
    With i = range_start + f as fp32 (exact below 2^24), f counting the flattened free elements from 0:
    `y[p, f] = on_true_tile[p, f]` where `comp_op0(i, bound0[p])` and `comp_op1(i, bound1[p])` both hold, else
    `on_false_value`, which is -FP32_MAX (bits 0xFF7FFFFF). `dst = round(y)`: in dtypes narrower than fp32 the
    fill becomes -Inf.

    `reset_reduce` sets the reduction register B[p] of tensor_scalar_reduce to the maximum of y[p, :], started at -Inf,
    `reduce` to the maximum of B[p] and y[p, :], both before y is narrowed, so a row without a kept element
    gives -FP32_MAX. `idle` leaves the registers without a value. `reduce_res`, if present, receives
    round(B[p]) and wins where it overlaps dst. A NaN among the kept elements is the maximum.
  }];
  let example = "nisa.range_select dst=%y[0+128, 0: 1x512] on_true_tile=%x[0+128, 0: 1x512] bound0=%lo[0+128, 0: 1x1] bound1=%hi[0+128, 0: 1x1] reduce_res=%s[0+128, 0: 1x1] comp_op0=greater_equal comp_op1=less";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"on_true_tile", OnChip, FloatDtypes, "P partitions x F elements">,
    Column<"bound0", OnChip, [Float32], "the bound of comp_op0">,
    Column<"bound1", OnChip, [Float32], "the bound of comp_op1">,
    OptOutColumn<"reduce_res", OnChip, AnyDtype, "receives the reduction register">];
  let fields = [
    FEnumOf<"comp_op0", AluOpEnum, RangeComparisons, "B-07", "", "first comparison">,
    FEnumOf<"comp_op1", AluOpEnum, RangeComparisons, "B-07", "", "second comparison">,
    FEnumOf<"reduce_cmd", ReduceCmdEnum, VectorIdleCmds, "B-07", "reset_reduce",
            "what the reduction register starts from">,
    FEnumOf<"reduce_op", AluOpEnum, [AluMaximum], "D-17", "maximum", "maximum">,
    FI32<"range_start", "0", "position of the first element">,
    FF32<"on_false_value", "-3.4028234663852886e38", "must be -FP32_MAX">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst and on_true_tile hold the same number of elements a partition">,
    Rule<"D-17", "readOutNeedsReduce", "reduce_res needs a reduce_cmd that reduces">,
    Rule<"D-07", "lowestFill", "on_false_value is -FP32_MAX">];
  let costs = [Cost<"vector", 1, 1, 250, 328, 64,
                    "range_select formula with measured overheads of two column operands, and a read-out of 64 cycles", "derived">];
  let spec = "range_select";
  let accumulators = "reduce_cmd";
  let idleLosesAccumulators = 1;
}

def SelectReduceInst : Inst<0x3F, "select_reduce", [EngineVector]> {
  let cppName = "SelectReduce";
  let summary = "Choose between a tile and a scalar element by element, with an optional row maximum";
  let description = [{
    `y[p, f] = on_true[p, f]` where `predicate[p, f]` is not 0 (with `reverse_pred`: is 0), else on_false;
    `dst = round(y)`. Values go through fp32.

    `reset_reduce` sets the reduction register B[p] of tensor_scalar_reduce to the maximum of y[p, :], started at -Inf,
    `reduce` to the maximum of B[p] and y[p, :], both before y is narrowed. `idle` leaves the registers
    without a value. `reduce_res`, if present, receives round(B[p]) and wins where it overlaps dst.
  }];
  let example = "nisa.select_reduce dst=%y[0+128, 0: 1x512] predicate=%p[0+128, 0: 1x512] on_true=%x[0+128, 0: 1x512] imm_on_false=-1";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    In<"predicate", OnChip, SelectPredicateDtypes, "P partitions x F elements">,
    In<"on_true", OnChip, SelectValueDtypes, "P partitions x F elements">,
    ScalarOperand<"on_false", OnChip, AnyDtype, "imm_on_false", "the other value, one a partition">,
    OptOutColumn<"reduce_res", OnChip, FloatDtypes, "receives the reduction register">];
  let fields = [
    FF32<"imm_on_false", "0", "the other value when on_false is absent">,
    FEnumOf<"reduce_cmd", ReduceCmdEnum, VectorIdleCmds, "B-07", "idle", "what the reduction register starts from">,
    FEnumOf<"reduce_op", AluOpEnum, [AluMaximum], "D-17", "maximum", "maximum">,
    FBool<"reverse_pred", "choose on_true where the predicate is 0">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "dst, predicate and on_true hold the same number of elements a partition">,
    Rule<"B-03", "oneInputInPsum", "at most one of predicate and on_true is in PSUM">,
    Rule<"P-06", "sameStartPartition", "two SBUF inputs start at the same partition">,
    Rule<"D-17", "readOutNeedsReduce", "reduce_res needs a reduce_cmd that reduces">];
  let costs = [Cost<"vector", 1, 1, 69, 150, 64, "as tensor_copy_predicated, with two streamed inputs", "choice">];
  let spec = "select_reduce";
  let accumulators = "reduce_cmd";
  let idleLosesAccumulators = 1;
}

def Max8Inst : Inst<0x36, "max8", [EngineVector]> {
  let cppName = "Max8";
  let summary = "Find the eight largest values of each partition";
  let description = [{
    `dst[p, 0..7]` are the eight largest elements of `src[p, :]` in descending order, duplicates kept, rounded
    once to dst's dtype. Elements compare in fp32; a NaN ranks above +Inf, and of equal elements the first
    comes first.
  }];
  let example = "nisa.max8 dst=%o[0+128, 0: 1x8] src=%x[0+128, 0: 1x512]";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x 8 elements", 8, 8>,
                  In<"src", OnChip, AnyDtype, "P partitions x F elements", 8, 16384, 2>];
  let rules = [Rule<"P-04", "samePartitions", "both operands use the same number of partitions">];
  let costs = [Cost<"vector", 1, 1, 62, 150, 64, "max8 formula with measured overheads", "derived">];
  let spec = "max8";
  let isTileFunction = 1;
}

def TensorCopyPredicatedInst : Inst<0x37, "tensor_copy_predicated", [EngineVector]> {
  let cppName = "TensorCopyPredicated";
  let summary = "Copy the elements a predicate selects, keep the others";
  let description = [{
    Where `predicate[p, f]` is not 0 (with `reverse_pred`: where it is 0), `dst[p, f] = src[p, f]`, bit for bit.
    Everywhere else dst keeps what it held. src is a tile of dst's dtype or, without the tile, the number
    `imm_src`, rounded once to dst's dtype.
  }];
  let example = "nisa.tensor_copy_predicated dst=%o[0+128, 0: 1x512] src=%x[0+128, 0: 1x512] predicate=%m[0+128, 0: 1x512]";
  let operands = [
    InOut<"dst", OnChip, AnyDtype, "P partitions x F elements">,
    TileOrNumber<"src", OnChip, AnyDtype, "imm_src", "P partitions x F elements of dst's dtype">,
    In<"predicate", OnChip, PredicateDtypes, "P partitions x F elements; not 0 selects">];
  let fields = [
    FF64<"imm_src", "0", "the value when src is absent">,
    FBool<"reverse_pred", "0 selects">];
  let rules = [
    Rule<"P-04", "samePartitions", "all operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "all operands hold the same number of elements a partition">,
    Rule<"B-03", "oneInputInPsum", "at most one of src and predicate is in PSUM">,
    Rule<"P-06", "sameStartPartition", "two SBUF inputs start at the same partition">,
    Rule<"D-03", "movesBits", "dst and src have one dtype">];
  let costs = [Cost<"vector", 1, 1, 69, 150, 64, "predicated copy formula, two streamed inputs as tensor_tensor", "derived">];
  let spec = "tensor_copy_predicated";
}

def BnStatsInst : Inst<0x38, "bn_stats", [EngineVector]> {
  let cppName = "BnStats";
  let summary = "Count, mean and squared deviations of even and odd elements";
  let description = [{
    Elements of a partition are counted from 0 in the flattened free sequence. `dst[p, 0..2]` belong to the even
    ones, `dst[p, 3..5]` to the odd ones: their count, their mean, and the sum of `(x - mean) * (x - mean)`. In
    fp32, two passes: the sum from left to right divided by the count, then the squares from left to right. A
    single element leaves the odd half empty: 0, 0, 0. Joined by bn_aggr.
  }];
  let example = "nisa.bn_stats dst=%s[0+128, 0: 1x6] data=%x[0+128, 0: 1x512]";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x 6 elements", 6, 6>,
                  In<"data", OnChip, AnyDtype, "P partitions x F elements", 1, 512>];
  let rules = [Rule<"P-04", "samePartitions", "both operands use the same number of partitions">];
  let costs = [Cost<"vector", 1, 1, 62, 150, 64, "bn_stats formula with measured overheads", "derived">];
  let spec = "bn_stats";
  let isTileFunction = 1;
}

def BnAggrInst : Inst<0x39, "bn_aggr", [EngineVector]> {
  let cppName = "BnAggr";
  let summary = "Join statistics into mean and variance";
  let description = [{
    A partition of data is a sequence of triples `(c, m, v)`: count, mean, sum of squared deviations, as bn_stats
    writes two of. `dst[p, 0]` is the mean of all, `sum(c * m) / C` with `C = sum(c)`; `dst[p, 1]` is the population
    variance, `(sum(v) + sum(c * (d * d))) / C` with `d = m - mean`. Every sum runs from left to right in fp32.
    `C = 0` gives NaN.
  }];
  let example = "nisa.bn_aggr dst=%o[0+128, 0: 1x2] data=%s[0+128, 0: 1x12]";
  let operands = [Out<"dst", OnChip, AnyDtype, "P partitions x 2 elements: mean, variance", 2, 2>,
                  In<"data", OnChip, AnyDtype, "P partitions x 3 n elements">];
  let rules = [
    Rule<"P-04", "samePartitions", "both operands use the same number of partitions">,
    Rule<"S-08", "statisticsTriples", "data is a sequence of triples">];
  let costs = [Cost<"vector", 13, 3, 62, 150, 64, "bn_aggr formula with measured overheads", "derived">];
  let spec = "bn_aggr";
  let isTileFunction = 1;
}

def NcStreamShuffleInst : Inst<0x3A, "nc_stream_shuffle", [EngineVector]> {
  let cppName = "NcStreamShuffle";
  let summary = "Move rows inside each group of 32 partitions";
  let description = [{
    For every group q of 32 partitions, counted from the tile's own first one: `dst[32 q + i, :] =
    src[32 q + mask[i], :]`, bit for bit; where `mask[i]` is 255, dst keeps that row. Entries for rows dst does
    not have are ignored. All rows are read before any is written, so dst may be src.

    The mask is stored four entries a word, the first in the lowest byte.
  }];
  let example = "nisa.nc_stream_shuffle dst=%o[0+128, 0: 1x512] src=%x[0+128, 0: 1x512] shuffle_mask=[0 0 0 0 0 0 0 0]";
  let operands = [InOut<"dst", OnChip, AnyDtype, "rows x F elements">,
                  In<"src", OnChip, AnyDtype, "rows x F elements of dst's dtype">];
  let fields = [FWords<"shuffle_mask", 8, "32 bytes: the source row of each row, or 255">];
  let rules = [
    Rule<"P-05", "sameElements", "dst and src hold the same number of elements a partition">,
    Rule<"D-03", "movesBits", "dst and src have one dtype">,
    Rule<"P-06", "shuffleStart", "both start where the larger of them may">,
    Rule<"V-01", "shuffleRows", "the mask names rows of src">];
  let costs = [Cost<"vector", 1, 1, 62, 150, 64, "nc_stream_shuffle formula with measured overheads", "derived">];
  let spec = "nc_stream_shuffle";
  let crossesPartitions = 1;
}

#endif // KILN_TABLE_VECTORENGINE_TD
