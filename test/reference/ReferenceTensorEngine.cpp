//===- ReferenceTensorEngine.cpp - what the instructions of the Tensor Engine compute ---------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

namespace kiln::reference {

using isa::Accumulate;
using isa::DType;

namespace {

/// What the array multiplies: elements as fp32, of which tf32 keeps ten mantissa bits.
std::vector<Single> readByArray(const Elements &elements) {
  std::vector<Single> all = elements.allSingles();
  if (elements.dtype() == DType::TFloat32)
    for (Single &x : all)
      x = narrow(DType::TFloat32, x);
  return all;
}

/// Whether the array sums operands of this dtype from left to right, without blocks.
bool isInOneChain(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::TFloat32 || dtype == DType::Float16;
}

Single sumInOneChain(const std::vector<Single> &a, const std::vector<Single> &b) {
  Single sum = kZero;
  for (size_t k = 0; k < a.size(); ++k)
    sum = fuse(a[k], b[k], sum);
  return sum;
}

Single sumInBlocks(std::vector<Single> a, std::vector<Single> b) {
  constexpr size_t kBlock = isa::machine.matmulSumBlock;
  a.resize((a.size() + kBlock - 1) / kBlock * kBlock, kZero);
  b.resize(a.size(), kZero);
  Single sum = kZero;
  for (size_t block = 0; block < a.size(); block += kBlock) {
    Single even = kZero, odd = kZero;
    for (size_t k = block; k < block + kBlock; k += 2) {
      even = fuse(a[k], b[k], even);
      odd = fuse(a[k + 1], b[k + 1], odd);
    }
    sum = add(sum, add(even, odd));
  }
  return sum;
}

void transposeBits(Elements dst, const Elements &data) {
  std::vector<uint32_t> bits = data.allBits();
  for (size_t row = 0; row < dst.rows(); ++row)
    for (size_t column = 0; column < dst.columns(); ++column)
      dst.setBits(row, column, bits[column * data.columns() + row]);
}

} // namespace

void ncMatmul(Machine &m) {
  using Args = isa::NcMatmulArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  Elements stationary = m.operand(Args::stationary), moving = m.operand(Args::moving);
  if (args.isTranspose) {
    const size_t side = moving.rows();
    for (size_t row = 0; row < side; ++row)
      for (size_t column = 0; column < moving.columns(); ++column)
        if (decode(moving.dtype(), moving.bits(row, column)) != (row == column ? 1 : 0))
          return m.fail("the moving operand is no identity");
    return transposeBits(dst, stationary);
  }
  const size_t slots = args.perfMode == isa::MatmulPerfMode::DoubleRow ? 2 : 1;
  const size_t partitions = stationary.rows();
  const size_t rows = dst.rows(), columns = dst.columns();
  const std::vector<Single> a = readByArray(stationary), b = readByArray(moving);
  const bool isChain = isInOneChain(stationary.dtype()) || isInOneChain(moving.dtype());
  std::vector<Single> left(partitions * slots), right(partitions * slots);
  std::vector<Single> sums(rows * columns);
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      for (size_t slot = 0; slot < slots; ++slot)
        for (size_t k = 0; k < partitions; ++k) {
          left[slot * partitions + k] = a[k * rows * slots + slot * rows + row];
          right[slot * partitions + k] = b[k * columns * slots + slot * columns + column];
        }
      sums[row * columns + column] =
          isChain ? sumInOneChain(left, right) : sumInBlocks(left, right);
    }
  for (size_t i = 0; i < sums.size(); ++i) {
    bool isSum = dst.isSum(i);
    if (args.accumulate == Accumulate::Add && !isSum)
      return m.fail("nothing to add to");
    if (args.accumulate == Accumulate::Add || (args.accumulate == Accumulate::Automatic && isSum))
      dst.set(i, add(widen(dst.dtype(), dst.bits(i)), sums[i]));
    else
      dst.set(i, sums[i]);
    dst.setSum(i);
  }
}

void ncTranspose(Machine &m) {
  using Args = isa::NcTransposeArgs;
  transposeBits(m.operand(Args::dst), m.operand(Args::data));
}

} // namespace kiln::reference
