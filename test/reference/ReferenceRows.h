//===- ReferenceRows.h - the references of the instructions, by engine family -----------------===//
//
// Each reads all its inputs before it writes anything.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_REFERENCE_REFERENCEROWS_H
#define KILN_TEST_REFERENCE_REFERENCEROWS_H

#include "ReferenceMachine.h"

namespace kiln::reference {

// Tensor Engine.
void ncMatmul(Machine &);
void ncTranspose(Machine &);
// Scalar Engine.
void activation(Machine &);
void activationReduce(Machine &);
// Vector Engine: element by element.
void tensorCopy(Machine &);
void memset(Machine &);
void tensorTensor(Machine &);
void tensorScalar(Machine &);
void scalarTensorTensor(Machine &);
void reciprocal(Machine &);
void tensorCopyPredicated(Machine &);
void ncStreamShuffle(Machine &);
// Vector Engine: along a row.
void tensorReduce(Machine &);
void tensorTensorScan(Machine &);
void tensorScalarReduce(Machine &);
void rangeSelect(Machine &);
void selectReduce(Machine &);
void max8(Machine &);
void bnStats(Machine &);
void bnAggr(Machine &);
// GpSimd Engine.
void iota(Machine &);
void affineSelect(Machine &);
// DMA.
void dmaCopy(Machine &);
void dmaTranspose(Machine &);
// Sequencers, and what only looks.
void semaphoreWait(Machine &);
void loopEdge(Machine &);
void registerMove(Machine &);
void registerLoad(Machine &);
void registerStore(Machine &);
void registerAlu(Machine &);
void devicePrint(Machine &);

/// Writes one value for each element of `to`.
void store(Elements &to, const std::vector<Single> &values);
/// The integer `v = offset + p * channelMultiplier + sum of step * i` of every element of a tile of
/// `rows` rows, wrapping in 32 bits.
std::vector<int32_t> affinePositions(size_t rows, const std::array<int32_t, 8> &pattern,
                                     int32_t offset, int32_t channelMultiplier);

} // namespace kiln::reference

#endif // KILN_TEST_REFERENCE_REFERENCEROWS_H
