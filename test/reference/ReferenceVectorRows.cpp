//===- ReferenceVectorRows.cpp - what the Vector Engine computes along a row ------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace kiln::reference {

using isa::AluOp;
using isa::ReduceCmd;

namespace {

Single negated(Single x) { return canonical(isNaN(x) ? x : x ^ 0x80000000); }

/// Continues the reduction registers with the values `y` of a tile and gives them back for the
/// first rows. `start` is what load_reduce begins with.
std::vector<Single> accumulate(Machine &m, const std::vector<Single> &y, size_t rows,
                               ReduceCmd command, AluOp op, const std::vector<Single> &start) {
  std::vector<Single> &registers = m.accumulators();
  registers.resize(isa::machine.numPartitions);
  const size_t columns = y.size() / rows;
  for (size_t row = 0; row < rows; ++row) {
    if (command == ReduceCmd::ResetReduce)
      registers[row] = identityOf(op);
    if (command == ReduceCmd::LoadReduce)
      registers[row] = start[row];
    if (command != ReduceCmd::Idle)
      for (size_t column = 0; column < columns; ++column)
        registers[row] = applyArithmetic(op, registers[row], y[row * columns + column]);
  }
  return {registers.begin(), registers.begin() + ptrdiff_t(rows)};
}

/// Both selections: the chosen values, their maximum and its read-out.
void storeSelection(Machine &m, const std::vector<Single> &y, ReduceCmd command, unsigned dst,
                    unsigned result) {
  Elements to = m.operand(dst), out = m.operand(result);
  std::vector<Single> maxima = accumulate(m, y, to.rows(), command, AluOp::Maximum, {});
  store(to, y);
  if (out.present())
    store(out, maxima);
}

} // namespace

void tensorReduce(Machine &m) {
  using Args = isa::TensorReduceArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const isa::Access &access = m.inst().operands[Args::data];
  size_t length = 1;
  for (unsigned dim = access.rank - args.reducedDims; dim < access.rank; ++dim)
    length *= size_t(access.num[dim]);
  const std::vector<uint32_t> bits = data.allBits();
  const std::vector<Single> x = data.allSingles();
  for (size_t i = 0; i < dst.size(); ++i) {
    if (isa::info(args.op).isBitvec) {
      uint32_t fold = args.op == AluOp::BitwiseAnd ? UINT32_MAX : 0;
      for (size_t j = 0; j < length; ++j)
        fold = applyBits(args.op, isa::bytesOf(data.dtype()), fold, bits[i * length + j]);
      dst.setBits(i, fold);
      continue;
    }
    const bool hasIdentity = args.op != AluOp::Subtract;
    Single fold = hasIdentity ? identityOf(args.op) : canonical(x[i * length]);
    for (size_t j = hasIdentity ? 0 : 1; j < length; ++j)
      fold = applyArithmetic(args.op, fold, x[i * length + j]);
    dst.set(i, args.negate ? negated(fold) : fold);
  }
}

void tensorTensorScan(Machine &m) {
  using Args = isa::TensorTensorScanArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const std::vector<Single> data0 = m.operand(Args::data0).allSingles();
  const std::vector<Single> data1 = m.operand(Args::data1).allSingles();
  const std::vector<Single> initial = m.column(Args::initial, args.immInitial, dst.rows());
  Single state = kZero;
  for (size_t i = 0; i < data0.size(); ++i) {
    if (i % dst.columns() == 0)
      state = initial[i / dst.columns()];
    Single t = args.reverse0 ? applyArithmetic(args.op0, state, data0[i])
                             : applyArithmetic(args.op0, data0[i], state);
    state = args.reverse1 ? applyArithmetic(args.op1, data1[i], t)
                          : applyArithmetic(args.op1, t, data1[i]);
    dst.set(i, state);
  }
}

void tensorScalarReduce(Machine &m) {
  using Args = isa::TensorScalarReduceArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst), result = m.operand(Args::reduceRes);
  const Elements data = m.operand(Args::data);
  const size_t rows = data.rows();
  std::vector<Single> t = data.allSingles();
  const std::vector<Single> scalar = m.column(Args::operand0, args.imm0, rows);
  const std::vector<Single> start = m.column(Args::reduceInit, args.immReduceInit, rows);
  for (size_t i = 0; i < t.size(); ++i)
    t[i] = applyArithmetic(args.op0, t[i], scalar[i / data.columns()]);
  const std::vector<Single> folds = accumulate(m, t, rows, args.reduceCmd, args.reduceOp, start);
  store(dst, t);
  for (size_t row = 0; result.present() && row < rows; ++row)
    result.set(row, args.reduceResNegate ? negated(folds[row]) : folds[row]);
}

void rangeSelect(Machine &m) {
  using Args = isa::RangeSelectArgs;
  const Args args(m.inst());
  constexpr Single kLowest = 0xFF7FFFFF;
  const Elements data = m.operand(Args::onTrueTile);
  const std::vector<Single> bound0 = m.operand(Args::bound0).allSingles();
  const std::vector<Single> bound1 = m.operand(Args::bound1).allSingles();
  std::vector<Single> y = data.allSingles();
  for (size_t i = 0; i < y.size(); ++i) {
    size_t row = i / data.columns();
    Single position = rounded(double(args.rangeStart) + double(i % data.columns()));
    bool isKept = applyArithmetic(args.compOp0, position, bound0[row]) == kOne &&
                  applyArithmetic(args.compOp1, position, bound1[row]) == kOne;
    y[i] = isKept ? y[i] : kLowest;
  }
  storeSelection(m, y, args.reduceCmd, Args::dst, Args::reduceRes);
}

void selectReduce(Machine &m) {
  using Args = isa::SelectReduceArgs;
  const Args args(m.inst());
  const Elements data = m.operand(Args::onTrue);
  const std::vector<uint32_t> predicate = m.operand(Args::predicate).allBits();
  const std::vector<Single> other = m.column(Args::onFalse, args.immOnFalse, data.rows());
  std::vector<Single> y = data.allSingles();
  for (size_t i = 0; i < y.size(); ++i)
    if ((predicate[i] != 0) == args.reversePred)
      y[i] = other[i / data.columns()];
  storeSelection(m, y, args.reduceCmd, Args::dst, Args::reduceRes);
}

void max8(Machine &m) {
  using Args = isa::Max8Args;
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<Single> x = src.allSingles();
  for (size_t row = 0; row < src.rows(); ++row) {
    auto begin = x.begin() + ptrdiff_t(row * src.columns());
    std::vector<Single> values(begin, begin + ptrdiff_t(src.columns()));
    std::stable_sort(values.begin(), values.end(), [](Single a, Single b) {
      return isNaN(a) ? !isNaN(b) : !isNaN(b) && valueOf(a) > valueOf(b);
    });
    for (size_t i = 0; i < dst.columns(); ++i)
      dst.set(row * dst.columns() + i, values[i]);
  }
}

void bnStats(Machine &m) {
  using Args = isa::BnStatsArgs;
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const std::vector<Single> x = data.allSingles();
  for (size_t row = 0; row < data.rows(); ++row)
    for (size_t half = 0; half < 2; ++half) {
      std::vector<Single> values;
      for (size_t i = half; i < data.columns(); i += 2)
        values.push_back(x[row * data.columns() + i]);
      Single sum = kZero, squares = kZero, mean = kZero;
      const Single count = rounded(double(values.size()));
      for (Single v : values)
        sum = add(sum, v);
      if (!values.empty())
        mean = divide(sum, count);
      for (Single v : values)
        squares = add(squares, multiply(subtract(v, mean), subtract(v, mean)));
      const size_t at = row * dst.columns() + 3 * half;
      dst.set(at, count);
      dst.set(at + 1, mean);
      dst.set(at + 2, squares);
    }
}

void bnAggr(Machine &m) {
  using Args = isa::BnAggrArgs;
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::data);
  const std::vector<Single> x = data.allSingles();
  for (size_t row = 0; row < data.rows(); ++row) {
    const Single *triples = &x[row * data.columns()];
    const size_t n = data.columns();
    Single count = kZero, weighted = kZero, within = kZero, between = kZero;
    for (size_t i = 0; i < n; i += 3) {
      count = add(count, triples[i]);
      weighted = add(weighted, multiply(triples[i], triples[i + 1]));
      within = add(within, triples[i + 2]);
    }
    const bool isEmpty = valueOf(count) == 0;
    const Single mean = isEmpty ? kNaN : divide(weighted, count);
    for (size_t i = 0; i < n; i += 3) {
      Single d = subtract(triples[i + 1], mean);
      between = add(between, multiply(triples[i], multiply(d, d)));
    }
    dst.set(row * dst.columns(), mean);
    dst.set(row * dst.columns() + 1, isEmpty ? kNaN : divide(add(within, between), count));
  }
}

} // namespace kiln::reference
