//===- ReferenceVectorEngine.cpp - what the Vector Engine computes element by element ---------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

#include <algorithm>
#include <bit>

namespace kiln::reference {

using isa::AluOp;
using isa::DType;

namespace {

Single apply(AluOp op, Single x, Single y, bool isReversed) {
  return isReversed ? applyArithmetic(op, y, x) : applyArithmetic(op, x, y);
}

/// GpSimd's arithmetic on integers of 32 bits.
uint32_t onIntegers(AluOp op, DType to, int64_t x, int64_t y) {
  switch (op) {
  case AluOp::Add:
    return uint32_t(x) + uint32_t(y);
  case AluOp::Subtract:
    return uint32_t(x) - uint32_t(y);
  case AluOp::Multiply:
    return uint32_t(x) * uint32_t(y);
  case AluOp::Maximum:
    return saturate(to, std::max(x, y));
  case AluOp::Minimum:
    return saturate(to, std::min(x, y));
  case AluOp::Equal:
    return x == y;
  case AluOp::NotEqual:
    return x != y;
  case AluOp::GreaterEqual:
    return x >= y;
  case AluOp::Greater:
    return x > y;
  case AluOp::LessEqual:
    return x <= y;
  case AluOp::Less:
    return x < y;
  case AluOp::LogicalAnd:
    return x != 0 && y != 0;
  case AluOp::LogicalOr:
    return x != 0 || y != 0;
  default: // logical_xor
    return (x != 0) != (y != 0);
  }
}

/// The bits of an immediate of a bitvec operator.
uint32_t immediateBits(double immediate) { return uint32_t(int64_t(immediate)); }

/// tensor_scalar with operators on bits.
void tensorScalarBits(Machine &m) {
  using Args = isa::TensorScalarArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const Elements scalar0 = m.operand(Args::operand0), scalar1 = m.operand(Args::operand1);
  const unsigned bytes = isa::bytesOf(data.dtype());
  auto step = [&](AluOp op, uint32_t x, uint32_t y, bool isReversed) {
    uint32_t mask = bytes == 4 ? UINT32_MAX : (1u << 8 * bytes) - 1;
    return isReversed && op != AluOp::Invert ? applyBits(op, bytes, y & mask, x & mask)
                                             : applyBits(op, bytes, x & mask, y & mask);
  };
  std::vector<uint32_t> out = data.allBits();
  for (size_t i = 0; i < out.size(); ++i) {
    size_t row = i / data.columns();
    out[i] = step(args.op0, out[i],
                  scalar0.present() ? scalar0.bits(row) : immediateBits(args.imm0), args.reverse0);
    if (args.op1 != AluOp::None)
      out[i] =
          step(args.op1, out[i], scalar1.present() ? scalar1.bits(row) : immediateBits(args.imm1),
               args.reverse1);
  }
  for (size_t i = 0; i < out.size(); ++i)
    dst.setBits(i, out[i]);
}

} // namespace

void tensorCopy(Machine &m) {
  using Args = isa::TensorCopyArgs;
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<uint32_t> bits = src.allBits();
  for (size_t i = 0; i < bits.size(); ++i)
    dst.setBits(i, convert(dst.dtype(), src.dtype(), bits[i]));
}

void memset(Machine &m) {
  using Args = isa::MemsetArgs;
  Elements dst = m.operand(Args::dst);
  const uint32_t bits = encode(dst.dtype(), Args(m.inst()).value);
  for (size_t i = 0; i < dst.size(); ++i)
    dst.setBits(i, bits);
}

void tensorTensor(Machine &m) {
  using Args = isa::TensorTensorArgs;
  const AluOp op = Args(m.inst()).op;
  Elements dst = m.operand(Args::dst);
  const Elements data1 = m.operand(Args::data1), data2 = m.operand(Args::data2);
  const std::vector<uint32_t> x = data1.allBits(), y = data2.allBits();
  const bool isNative = m.engine() == isa::Engine::Gpsimd && op != AluOp::Power &&
                        isa::isWideInteger(dst.dtype()) && isa::isWideInteger(data1.dtype()) &&
                        isa::isWideInteger(data2.dtype());
  for (size_t i = 0; i < x.size(); ++i) {
    if (isa::info(op).isBitvec)
      dst.setBits(i, applyBits(op, isa::bytesOf(dst.dtype()), x[i], y[i]));
    else if (isNative)
      dst.setBits(i, onIntegers(op, dst.dtype(), integerOf(data1.dtype(), x[i]),
                                integerOf(data2.dtype(), y[i])));
    else
      dst.set(i, applyArithmetic(op, widen(data1.dtype(), x[i]), widen(data2.dtype(), y[i])));
  }
}

void tensorScalar(Machine &m) {
  using Args = isa::TensorScalarArgs;
  const Args args(m.inst());
  if (isa::info(args.op0).isBitvec)
    return tensorScalarBits(m);
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const std::vector<Single> x = data.allSingles();
  const std::vector<Single> scalar0 = m.column(Args::operand0, float(args.imm0), data.rows());
  const std::vector<Single> scalar1 = m.column(Args::operand1, float(args.imm1), data.rows());
  for (size_t i = 0; i < x.size(); ++i) {
    size_t row = i / data.columns();
    bool isReversed0 = args.reverse0 && !isa::info(args.op0).isUnary;
    Single t = apply(args.op0, x[i], scalar0[row], isReversed0);
    if (args.op1 != AluOp::None)
      t = apply(args.op1, t, scalar1[row], args.reverse1 && !isa::info(args.op1).isUnary);
    dst.set(i, t);
  }
}

void scalarTensorTensor(Machine &m) {
  using Args = isa::ScalarTensorTensorArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const std::vector<Single> x = data.allSingles();
  const std::vector<Single> y = m.operand(Args::operand1).allSingles();
  const std::vector<Single> scalar = m.column(Args::operand0, args.imm0, data.rows());
  for (size_t i = 0; i < x.size(); ++i) {
    bool isReversed0 = args.reverse0 && !isa::info(args.op0).isUnary;
    Single t = apply(args.op0, x[i], scalar[i / data.columns()], isReversed0);
    dst.set(i, apply(args.op1, t, y[i], args.reverse1));
  }
}

void reciprocal(Machine &m) {
  using Args = isa::ReciprocalArgs;
  Elements dst = m.operand(Args::dst);
  const std::vector<Single> x = m.operand(Args::data).allSingles();
  for (size_t i = 0; i < x.size(); ++i)
    dst.set(i, divide(kOne, x[i]));
}

void tensorCopyPredicated(Machine &m) {
  using Args = isa::TensorCopyPredicatedArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<uint32_t> predicate = m.operand(Args::predicate).allBits();
  std::vector<uint32_t> values(dst.size(), encode(dst.dtype(), args.immSrc));
  if (src.present())
    values = src.allBits();
  for (size_t i = 0; i < values.size(); ++i)
    if ((predicate[i] != 0) != args.reversePred)
      dst.setBits(i, values[i]);
}

void ncStreamShuffle(Machine &m) {
  using Args = isa::NcStreamShuffleArgs;
  const Args args(m.inst());
  constexpr size_t kGroup = isa::machine.partitionQuadrant;
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<uint32_t> bits = src.allBits();
  for (size_t row = 0; row < dst.rows(); ++row) {
    size_t i = row % kGroup;
    uint32_t from = args.shuffleMask[i / 4] >> 8 * (i % 4) & 0xFF;
    if (from == uint32_t(isa::machine.shuffleKeepRow))
      continue;
    for (size_t column = 0; column < dst.columns(); ++column)
      dst.setBits(row, column, bits[(row - i + from) * src.columns() + column]);
  }
}

} // namespace kiln::reference
