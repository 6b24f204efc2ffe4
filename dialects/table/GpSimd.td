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

#endif // KILN_TABLE_GPSIMD_TD
