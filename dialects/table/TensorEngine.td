//===- TensorEngine.td - instructions of the Tensor Engine ----------------------------------------===//

#ifndef KILN_TABLE_TENSORENGINE_TD
#define KILN_TABLE_TENSORENGINE_TD

include "Trn2.td"

def NcMatmulInst : Inst<0x10, "nc_matmul", [EngineTensor]> {
  let cppName = "NcMatmul";
  let summary = "Multiply two tiles over their partition dimension";
  let description = [{
    `R[m, n] = sum over k of stationary[k, m] * moving[k, n]`, then `dst[m, n] = R[m, n]` or
    `dst[m, n] + R[m, n]`, as `accumulate` says.

    Products and sums are fp32. With bf16 or 8-bit operands the sum runs over blocks of 32 contraction rows,
    padded with zeros: an even and an odd chain of fused multiply-adds from 0, their sum, added to the
    running sum. With fp32, tf32 or fp16 on either side it is a left-to-right chain of fused multiply-adds;
    tf32 elements are rounded to 10 mantissa bits as they are read. The sum enters PSUM by one fp32 addition.

    `double_row` takes two rows of 8-bit floats a partition, stationary `(K, 2, M)` and moving `(K, 2, N)`: a
    contraction of length 2 K, of which row k + K * i lies in partition k, slot i.

    `tile_size = [rows columns]` uses a tile of the array, whose first row and column are `tile_position`: the
    inputs start at that partition, dst at the partition of that column. Sides are 32, 64 or 128, positions
    multiples of them. It changes no number.

    `automatic` keeps one bit for each 4-byte location of PSUM: set by a matmul, cleared by allocation
    and by every other write. A location whose bit is clear is overwritten, one whose bit is set is
    added to. `add` on a location whose bit is clear stops the run.

    With `is_transpose` the stationary operand is the data, the moving operand an identity, and
    `dst[m, k]` receives the data's bits unchanged; it always overwrites and leaves the bit clear. 8-bit data
    arrives as 16-bit elements whose upper 8 bits are zero.
  }];
  let example = "nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+128, 0: 1x64] moving=%b[0+128, 0: 1x512] accumulate=overwrite";
  let operands = [
    Out<"dst", [Psum], [Float32, BFloat16, Float16, TFloat32], "M partitions x N elements; fp32 unless transposing">,
    In<"stationary", [Sbuf], FloatDtypes, "K partitions x M elements">,
    In<"moving", [Sbuf], FloatDtypes, "K partitions x N elements">];
  let fields = [
    FBool<"is_stationary_onezero", "hint: an fp32 stationary operand holds only 0 and 1">,
    FBool<"is_moving_onezero", "hint: an fp32 moving operand holds only 0 and 1">,
    FBool<"is_transpose", "move the stationary operand's bits, transposed">,
    FEnum<"accumulate", AccumulateEnum, "automatic", "overwrite or add">,
    Field<"tile_position", "u32", 2, "0", "first row and first column of a tile of the array">,
    Field<"tile_size", "u32", 2, "0", "rows and columns of the tile; 0 and 0: the whole array">,
    FEnum<"perf_mode", MatmulPerfModeEnum, "none", "double_row for twice the contraction in 8 bits">];
  let rules = [
    Rule<"P-11", "matmulContraction", "stationary and moving span the same partitions">,
    Rule<"S-01", "matmulStationarySize", "the array holds 128 stationary columns">,
    Rule<"S-02", "matmulMovingSize", "one matmul moves at most 512 columns">,
    Rule<"P-12", "matmulResultShape", "dst is (stationary free, moving free)">,
    Rule<"S-03", "matmulBank", "dst lies in one PSUM bank">,
    Rule<"D-01", "matmulDtypeMix", "fp32 meets only fp32">,
    Rule<"D-02", "matmulResultDtype", "dst is fp32, or the data's dtype when transposing">,
    Rule<"P-06", "sameStartPartition", "stationary and moving start at the same partition">,
    Rule<"S-11", "matmulDoubleRow", "double_row takes pairs of rows of 8-bit floats">,
    Rule<"S-12", "matmulTile", "a tile of the array has its place, and its operands theirs">,
    Rule<"M-10", "matmulTransposeOverwrites", "a transposing matmul never accumulates">];
  let costs = [Cost<"tensor", 1, 1, 7, 398, 64, "public trn2 profiles, 16-bit pass of 512 columns", "measured">];
  let spec = "nc_matmul";
}

def NcTransposeInst : Inst<0x11, "nc_transpose", [EngineTensor, EngineVector]> {
  let cppName = "NcTranspose";
  let summary = "Transpose a tile between partitions and the free dimension, bits unchanged";
  let description = [{
    `dst[f, p] = data[p, f]`, free dimensions flattened, no arithmetic: NaN, Inf and -0 keep their bits.

    On the Tensor Engine data is at most 128 x 128, in SBUF, of a float dtype, and dst in PSUM; the
    compiler turns it into a transposing nc_matmul with an identity it owns. On the Vector Engine data is
    at most 32 x 32, in either memory. Without an engine, dst in PSUM with float data in SBUF takes the
    Tensor Engine, everything else the Vector Engine.
  }];
  let example = "nisa.nc_transpose dst=%t[0+64, 0: 1x128] data=%a[0+128, 0: 1x64]";
  let operands = [
    Out<"dst", OnChip, AnyDtype, "F partitions x P elements, data's dtype">,
    In<"data", OnChip, AnyDtype, "P partitions x F elements">];
  let rules = [
    Rule<"D-03", "transposeDtype", "dst has data's dtype">,
    Rule<"P-12", "transposeShape", "dst is (F, P) for data (P, F)">,
    Rule<"S-05", "transposeSize", "128 x 128 on the Tensor Engine, 32 x 32 on the Vector Engine">,
    Rule<"B-01", "transposeBuffers", "the Tensor Engine writes PSUM">,
    Rule<"B-02", "transposeSource", "the Tensor Engine reads SBUF">,
    Rule<"D-06", "transposeIntegers", "the Tensor Engine transposes floats of 2 and 4 bytes">];
  let costs = [
    Cost<"tensor", 1, 1, 5, 397, 64, "public trn2 profiles, 128 x 128", "measured">,
    Cost<"vector", 1, 1, 62, 150, 64, "nc_transpose formula with measured overheads", "derived">];
  let spec = "nc_transpose";
  let crossesPartitions = 1;
}

#endif // KILN_TABLE_TENSORENGINE_TD
