//===- GpSimd.td - instructions only the GpSimd Engine has ----------------------------------------===//

#ifndef KILN_TABLE_GPSIMD_TD
#define KILN_TABLE_GPSIMD_TD

include "Trn2.td"

def IotaInst : Inst<0x40, "iota", [EngineGpsimd]> {
  let cppName = "Iota";
  let summary = "Write an affine function of the position to a tile";
  let description = [{
    `v = offset + p * channel_multiplier + sum over j of step_j * i_j` in int32, wrapping; p counts dst's
    partitions from 0, i runs over the pattern, outermost first. Integer tiles take v saturated to their
    range, float tiles v rounded once.
  }];
  let example = "nisa.iota dst=%i[0+128, 0: 1x512] pattern=[1x512] channel_multiplier=512";
  let operands = [Out<"dst", [Sbuf], AnyDtype, "P partitions x F elements">];
  let fields = [
    FPattern<"pattern", "up to four [step, num] pairs, outermost first; unused ones are [0, 1]">,
    FI32<"offset", "0", "value at position 0">,
    FI32<"channel_multiplier", "0", "added for each partition">];
  let rules = [Rule<"P-05", "iotaPattern", "the pattern has one value for each element of dst">];
  let costs = [Cost<"gpsimd", 1, 1, 150, 250, 0, "iota formula", "published">];
  let spec = "iota";
}

defvar Comparisons = [AluEqual, AluNotEqual, AluGreaterEqual, AluGreater, AluLessEqual, AluLess];

def AffineSelectInst : Inst<0x41, "affine_select", [EngineGpsimd]> {
  let cppName = "AffineSelect";
  let summary = "Keep the elements whose position passes an affine test";
  let description = [{
    `a = offset + p * channel_multiplier + sum over j of step_j * i_j` in int32, wrapping, as iota counts.
    Where `cmp_op(a, 0)` is true, `dst[p, f] = on_true_tile[p, f]`: equal dtypes keep every bit, different ones
    go through fp32 and are rounded once. Elsewhere dst is `on_false_value`, rounded once. dst may be
    on_true_tile.
  }];
  let example = "nisa.affine_select dst=%o[0+128, 0: 1x512] on_true_tile=%x[0+128, 0: 1x512] pattern=[-1x512] channel_multiplier=1 on_false_value=-9984 cmp_op=greater_equal";
  let operands = [Out<"dst", [Sbuf], AnyDtype, "P partitions x F elements">,
                  In<"on_true_tile", [Sbuf], AnyDtype, "P partitions x F elements">];
  let fields = [
    FPattern<"pattern", "up to four [step, num] pairs, outermost first; unused ones are [0, 1]">,
    FI32<"channel_multiplier", "0", "added for each partition">,
    FF32<"on_false_value", "", "the value where the test fails">,
    FEnumOf<"cmp_op", AluOpEnum, Comparisons, "B-07", "equal", "the comparison with 0">,
    FI32<"offset", "0", "value at position 0">];
  let rules = [
    Rule<"P-04", "samePartitions", "both operands use the same number of partitions">,
    Rule<"P-05", "sameElements", "both operands hold the same number of elements a partition">,
    Rule<"P-05", "iotaPattern", "the pattern has one value for each element of dst">];
  let costs = [Cost<"gpsimd", 1, 1, 150, 250, 0, "affine_select formula", "published">];
  let spec = "affine_select";
  let isTileFunction = 1;
}

#endif // KILN_TABLE_GPSIMD_TD
