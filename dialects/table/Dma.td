//===- Dma.td - transfers -------------------------------------------------------------------------===//

#ifndef KILN_TABLE_DMA_TD
#define KILN_TABLE_DMA_TD

include "Trn2.td"

def DmaCopyInst : Inst<0x50, "dma_copy", [EngineSync, EngineScalar, EngineGpsimd]> {
  let cppName = "DmaCopy";
  let summary = "Move elements between HBM and SBUF, or inside either";
  let description = [{
    Element e of dst, counted row-major over the pattern, receives element e of src. Equal dtypes keep
    every bit; different ones go through fp32 and are rounded once.

    The engine's stream only triggers the transfer; it runs on a DMA ring, spread over sixteen DMA
    engines that each raise the ring's semaphore by one when their share is done. Without a wait nothing
    orders two transfers.
  }];
  let example = "nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 4096, 0: 1x512]";
  let operands = [Out<"dst", [Sbuf, Hbm], StoredDtypes, "as many elements as src">,
                  In<"src", [Sbuf, Hbm], StoredDtypes, "as many elements as dst">];
  let fields = [
    FEnum<"dge_mode", DgeModeEnum, "unknown", "who builds the descriptors">,
    FEnum<"oob_mode", OobModeEnum, "error", "what a run-time index out of range does">,
    FU32<"ring", "0", "the DMA ring; chosen by the compiler">];
  let rules = [
    Rule<"S-09", "dmaElements", "dst and src hold the same number of elements">,
    Rule<"D-12", "dmaHwdgeDtypes", "hardware descriptors move raw bytes">,
    Rule<"B-09", "dmaEngine", "a trigger engine needs hardware descriptors">,
    Rule<"X-06", "dmaRing", "the ring exists">,
    Rule<"V-09", "dmaOverlap", "dst and src of one transfer share no byte">];
  let costs = [
    Cost<"sync", 0, 1, 105, 1162, 105, "static trigger of 75 ns, public trn2 profiles", "measured">,
    Cost<"scalar", 0, 1, 620, 620, 620, "hardware trigger of 517 ns, public trn2 profiles", "measured">,
    Cost<"gpsimd", 0, 1, 1236, 1236, 1236, "software descriptors, 1030 ns, public trn2 profiles", "measured">];
  let spec = "dma_copy";
  let isTransfer = 1;
}

def DmaTransposeInst : Inst<0x51, "dma_transpose", [EngineSync]> {
  let cppName = "DmaTranspose";
  let summary = "Move a tensor to SBUF with its first and last dims swapped";
  let description = [{
    src has R rows; its free dims are B blocks of C elements, the last dim being C. dst has C partitions:
    `dst[c, b * R + r] = src[r, b * C + c]`, bit for bit. So 2-D `(R, C)` becomes `(C, R)`, 3-D `(R, B, C)`
    becomes `(C, B, R)`, and 4-D `(R, B0, B1, C)` becomes `(C, B0, B1, R)`.

    A transfer like dma_copy: each of the sixteen DMA engines moves its share of dst's partitions.
  }];
  let example = "nisa.dma_transpose dst=%t[0+64, 0: 1x128] src=%x[128 rows of 64, 0: 1x64]";
  let operands = [Out<"dst", [Sbuf], TransposeDtypes, "C partitions x B * R elements">,
                  In<"src", [Sbuf, Hbm], TransposeDtypes, "R rows x B * C elements">];
  let fields = [
    FEnum<"dge_mode", DgeModeEnum, "unknown", "who builds the descriptors">,
    FEnum<"oob_mode", OobModeEnum, "error", "what a run-time index out of range does">,
    FU32<"ring", "0", "the DMA ring; chosen by the compiler">];
  let rules = [
    Rule<"S-10", "dmaTransposeShape", "dst is the permuted src">,
    Rule<"S-10", "dmaTransposeHardware", "hardware descriptors take few shapes">,
    Rule<"D-03", "movesBits", "dst and src have one dtype">,
    Rule<"B-09", "dmaTransposeMode", "software descriptors gather">,
    Rule<"X-06", "dmaRing", "the ring exists">,
    Rule<"V-09", "dmaOverlap", "dst and src of one transfer share no byte">];
  let costs = [Cost<"sync", 0, 1, 105, 1162, 105, "static trigger of 75 ns, public trn2 profiles", "measured">];
  let spec = "dma_transpose";
  let isTransfer = 1;
  let crossesPartitions = 1;
}

#endif // KILN_TABLE_DMA_TD
