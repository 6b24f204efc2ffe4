//===- AnalysisTestSupport.h - small kernels for the analysis tests ---------------------------===//
//
// A builder that reads like a kernel, and random kernels from a seed. Nothing
// here obeys all instruction rules; the analyses only see who touches what.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_ANALYSIS_ANALYSISTESTSUPPORT_H
#define KILN_TEST_UNIT_ANALYSIS_ANALYSISTESTSUPPORT_H

#include "kiln/Analysis/Synchronise.h"

#include <random>

namespace kiln::analysis {

using isa::Access;
using isa::DType;
using isa::Engine;
using isa::Memory;
using isa::Opcode;

class KernelBuilder {
public:
  Kernel kernel;

  KernelBuilder() { kernel.files.push_back("k.cpp"); }

  /// A tensor declared at `line`.
  uint32_t tensor(std::string name, Memory memory, std::vector<int64_t> shape, unsigned line = 1,
                  DType dtype = DType::Float32);
  uint32_t sbuf(std::string name, std::vector<int64_t> shape, unsigned line = 1,
                DType dtype = DType::Float32) {
    return tensor(std::move(name), Memory::Sbuf, std::move(shape), line, dtype);
  }
  uint32_t psum(std::string name, std::vector<int64_t> shape, unsigned line = 1) {
    return tensor(std::move(name), Memory::Psum, std::move(shape), line);
  }
  uint32_t hbm(std::string name, std::vector<int64_t> shape, unsigned line = 1) {
    return tensor(std::move(name), Memory::Hbm, std::move(shape), line);
  }
  void setAddress(uint32_t tensor, uint32_t partition, uint64_t byte) {
    kernel.tensors[tensor].address = isa::TensorAddress{partition, byte};
  }

  /// All of an on-chip tensor.
  Access whole(uint32_t tensor) const;
  /// Partitions [p, p + count), elements [first, first + n) of each.
  Access part(uint32_t tensor, uint32_t p, uint32_t count, int64_t first, int64_t n) const;
  /// Rows [row, row + rows), columns [column, column + n) of a 2-D HBM tensor.
  Access block(uint32_t tensor, int64_t row, int64_t rows, int64_t column, int64_t n) const;

  // Each returns the position of the new instruction.
  uint32_t add(Opcode opcode, Engine engine, std::vector<Access> operands, unsigned line);
  uint32_t dma(Access dst, Access src, unsigned line, Engine engine = Engine::Sync) {
    return add(Opcode::DmaCopy, engine, {dst, src}, line);
  }
  uint32_t copy(Engine engine, Access dst, Access src, unsigned line) {
    return add(Opcode::TensorCopy, engine, {dst, src}, line);
  }
  uint32_t memset(Engine engine, Access dst, unsigned line) {
    return add(Opcode::Memset, engine, {dst}, line);
  }
  uint32_t matmul(Access dst, Access stationary, Access moving, unsigned line) {
    return add(Opcode::NcMatmul, Engine::Tensor, {dst, stationary, moving}, line);
  }

  /// Starts a loop; tensors named to `declareHere` until its end are declared in it.
  uint32_t beginLoop(int64_t tripCount);
  void endLoop();
  /// Declares `tensor` in the innermost loop that is open.
  uint32_t declareHere(uint32_t tensor) {
    kernel.tensors[tensor].loop = open.empty() ? kNone : open.back();
    return tensor;
  }

private:
  uint32_t location(unsigned line);
  std::vector<uint32_t> open; ///< loops
};

/// `access` with the steps of the loops around it, outermost first.
inline Access moving(Access access, std::initializer_list<int64_t> steps) {
  std::copy(steps.begin(), steps.end(), access.loopStep.begin());
  return access;
}

/// Placement of `kernel`; fails the test when there is none.
Placement placed(const Kernel &kernel, const PlacementOptions &options = {});

/// Messages of `diagnostics`, one a line, each with its rule in front.
std::string textOf(const std::vector<Diagnostic> &diagnostics);

/// "e12 e0>=3 +e1" and the like: one line for each record of `engine`.
/// Semaphores print as the engine's name or ring number.
std::string textOf(const Kernel &kernel, const Synchronisation &result, Engine engine);

/// A kernel of about `instructions` with loads, stores, copies and matmuls on
/// tiles of few sizes, parts and strided parts of tiles, and blocks, transposed
/// blocks and strided blocks of one HBM tensor that is read and written. Small
/// enough to compare byte by byte when `isTiny`.
Kernel randomKernel(uint32_t seed, uint32_t instructions, bool isTiny);

/// A blocked matmul: loads, `depth` matmuls into one bank, evacuation, store,
/// for each of `blocks` result blocks. Linear in the instructions it makes.
Kernel matmulKernel(uint32_t blocks, uint32_t depth);

/// Every byte an access touches, as (space, row, byte).
template <typename Fn>
void forEachByte(const Kernel &kernel, const Placement &placement, const Access &access, Fn fn) {
  const KernelTensor &tensor = kernel.tensors[access.tensor];
  const int64_t size = isa::bytesOf(access.dtype);
  for (uint32_t row = 0; row < access.partitionCount; ++row)
    for (int64_t e = 0; e < access.freeElements(); ++e) {
      int64_t element = access.offset + row * access.rowStep, rest = e;
      for (unsigned d = access.rank; d-- > 0;) {
        element += rest % access.num[d] * access.step[d];
        rest /= access.num[d];
      }
      for (int64_t byte = 0; byte < size; ++byte)
        if (tensor.isOnChip())
          fn(uint32_t(tensor.memory),
             int64_t(placement.addresses[access.tensor].partition + access.partitionStart + row),
             int64_t(placement.addresses[access.tensor].byte) + element * size + byte);
        else
          fn(10 + access.tensor, int64_t(0), element * size + byte);
    }
}

} // namespace kiln::analysis

#endif // KILN_TEST_UNIT_ANALYSIS_ANALYSISTESTSUPPORT_H
