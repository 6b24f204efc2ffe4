//===- Elementwise.cpp - tensor_tensor, tensor_scalar and what is made of both ----------------===//
//
// Each function walks its tiles in chunks and hands every chunk to one or two row kernels of
// Numerics.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Semantics/Elementwise.h"

#include "BitStream.h"
#include "FloatStream.h"
#include "kilnrt/Numerics/Alu.h"
#include "kilnrt/Semantics/Rows.h"

#include <vector>

using namespace kilnrt;

/// Calls `fn(done, n)` for the chunks of a tile.
template <typename Fn>
static void forEachChunk(const TileShape &shape, const Fn &fn) {
  const int64_t total = int64_t(shape.rows) * shape.elements;
  for (int64_t done = 0; done < total;) {
    const int64_t n = chunkLength(shape.rows, shape.elements, done);
    fn(done, n);
    done += n;
  }
}

//---- tensor_tensor ------------------------------------------------------===//

void kilnrt::tensorTensor(AluOp op, const ConstTile &a, const ConstTile &b, const Tile &dst) {
  FloatReader x(a), y(b);
  FloatWriter out(dst);
  float xs[kChunkElements], ys[kChunkElements];
  forEachChunk(dst, [&](int64_t, int64_t n) {
    const float *left = x.read(xs, n), *right = y.read(ys, n);
    float *result = out.target(xs, n);
    aluRow(op, left, right, result, size_t(n));
    out.write(result, n);
  });
}

void kilnrt::tensorTensorIntegers(AluOp op, const ConstTile &a, const ConstTile &b,
                                  const Tile &dst) {
  BitReader x(a), y(b);
  BitWriter out(dst);
  alignas(8) std::byte xs[kChunkElements * 4], ys[kChunkElements * 4];
  forEachChunk(dst, [&](int64_t, int64_t n) {
    const std::byte *left = x.read(xs, n), *right = y.read(ys, n);
    std::byte *result = out.target(xs, n);
    aluIntegerRow(op, a.dtype, left, b.dtype, right, dst.dtype, result, size_t(n));
    out.write(result, n);
  });
}

void kilnrt::tensorTensorBits(AluOp op, const ConstTile &a, const ConstTile &b, const Tile &dst) {
  BitReader x(a), y(b);
  BitWriter out(dst);
  alignas(8) std::byte xs[kChunkElements * 4], ys[kChunkElements * 4];
  forEachChunk(dst, [&](int64_t, int64_t n) {
    const std::byte *left = x.read(xs, n), *right = y.read(ys, n);
    std::byte *result = out.target(xs, n);
    bitvecRow(op, unsigned(dst.elementBytes()), left, right, result, size_t(n));
    out.write(result, n);
  });
}

//---- tensor_scalar ------------------------------------------------------===//

namespace {

/// The second argument of a stage, chunk by chunk: one value while a chunk stays in a row, an array
/// when it spans rows.
template <typename Value>
class ScalarReader {
public:
  /// `load(column, values)` reads one value for each row.
  template <typename Load>
  ScalarReader(const Scalar &scalar, Value value, const TileShape &shape, const Load &load)
      : elements(shape.elements), value(value) {
    if (!scalar.column)
      return;
    column.resize(shape.rows);
    load(*scalar.column, column.data());
  }

  bool isOneValue(int64_t done, int64_t n) const {
    return column.empty() || done / elements == (done + n - 1) / elements;
  }
  Value at(int64_t done) const { return column.empty() ? value : column[size_t(done / elements)]; }
  /// One value for each of `n` elements.
  const Value *expand(int64_t done, int64_t n, Value *buffer) const {
    if (elements == 1)
      return column.data() + done;
    for (int64_t i = 0; i < n; ++i)
      buffer[i] = column[size_t((done + i) / elements)];
    return buffer;
  }

private:
  int64_t elements;
  Value value;
  std::vector<Value> column;
};

/// One fp32 stage over chunks.
class FloatStage {
public:
  FloatStage(const ScalarStage &stage, const TileShape &shape)
      : stage(stage), y(stage.y, canonicalNan(float(stage.y.value)), shape, loadColumn) {}

  void apply(const float *x, float *out, int64_t done, int64_t n) const {
    if (y.isOneValue(done, n)) {
      aluRowScalar(stage.op, x, y.at(done), stage.isReversed, out, size_t(n));
      return;
    }
    float ys[kChunkElements];
    const float *second = y.expand(done, n, ys);
    const bool isSwapped = stage.isReversed && !kiln::isa::info(stage.op).isUnary;
    aluRow(stage.op, isSwapped ? second : x, isSwapped ? x : second, out, size_t(n));
  }

private:
  const ScalarStage &stage;
  ScalarReader<float> y;
};

/// One bitvec stage over chunks of integers of `bytes` bytes.
class BitStage {
public:
  BitStage(const ScalarStage &stage, const TileShape &shape)
      : stage(stage), bytes(unsigned(shape.elementBytes())),
        y(stage.y, uint32_t(int64_t(stage.y.value)), shape,
          [](const ConstTile &column, uint32_t *values) {
            for (uint32_t r = 0; r < column.rows; ++r)
              values[r] = loadInteger(column.dtype, column.row(r));
          }) {}

  void apply(const std::byte *x, std::byte *out, int64_t done, int64_t n) const {
    if (stage.op == AluOp::None) {
      std::memmove(out, x, size_t(n) * bytes);
      return;
    }
    for (int64_t i = 0; i < n;) {
      // Rows are taken one by one where their values differ.
      int64_t count = 1;
      while (i + count < n && y.isOneValue(done + i, count + 1))
        ++count;
      bitvecRowScalar(stage.op, bytes, x + i * bytes, y.at(done + i), stage.isReversed,
                      out + i * bytes, size_t(count));
      i += count;
    }
  }

private:
  const ScalarStage &stage;
  unsigned bytes;
  ScalarReader<uint32_t> y;
};

} // namespace

void kilnrt::tensorScalar(const ConstTile &data, const ScalarStage &first,
                          const ScalarStage &second, const Tile &dst) {
  FloatReader x(data);
  FloatWriter out(dst);
  const FloatStage stage0(first, dst), stage1(second, dst);
  float buffer[kChunkElements];
  forEachChunk(dst, [&](int64_t done, int64_t n) {
    const float *values = x.read(buffer, n);
    float *result = out.target(buffer, n);
    stage0.apply(values, result, done, n);
    if (second.op != AluOp::None)
      stage1.apply(result, result, done, n);
    out.write(result, n);
  });
}

void kilnrt::tensorScalarBits(const ConstTile &data, const ScalarStage &first,
                              const ScalarStage &second, const Tile &dst) {
  BitReader x(data);
  BitWriter out(dst);
  const BitStage stage0(first, dst), stage1(second, dst);
  alignas(8) std::byte buffer[kChunkElements * 4];
  forEachChunk(dst, [&](int64_t done, int64_t n) {
    const std::byte *values = x.read(buffer, n);
    std::byte *result = out.target(buffer, n);
    stage0.apply(values, result, done, n);
    if (second.op != AluOp::None)
      stage1.apply(result, result, done, n);
    out.write(result, n);
  });
}

//---- reciprocal ---------------------------------------------------------===//

void kilnrt::reciprocal(const ConstTile &data, const Tile &dst) {
  tensorScalar(data, {AluOp::Reciprocal, {}, false}, {}, dst);
}

//---- scalar_tensor_tensor -----------------------------------------------===//

void kilnrt::scalarTensorTensor(AluOp op0, AluOp op1, bool reverse0, bool reverse1,
                                const ConstTile &data, const Scalar &operand0,
                                const ConstTile &operand1, const Tile &dst) {
  FloatReader x(data), y(operand1);
  FloatWriter out(dst);
  const ScalarStage first{op0, operand0, reverse0};
  const FloatStage stage(first, dst);
  float xs[kChunkElements], ys[kChunkElements];
  forEachChunk(dst, [&](int64_t done, int64_t n) {
    const float *left = x.read(xs, n), *right = y.read(ys, n);
    stage.apply(left, xs, done, n); // not into dst, which may be operand1
    float *result = out.target(ys, n);
    aluRow(op1, reverse1 ? right : xs, reverse1 ? xs : right, result, size_t(n));
    out.write(result, n);
  });
}
