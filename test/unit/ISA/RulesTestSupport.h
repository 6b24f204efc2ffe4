//===- RulesTestSupport.h - one instruction with its tensors, for tests of the rules ----------===//
//
// A `Case` starts as a legal instruction over whole tensors; a test changes one
// thing and compares the full text of what the rules say.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_ISA_RULESTESTSUPPORT_H
#define KILN_TEST_UNIT_ISA_RULESTESTSUPPORT_H

#include "kiln/ISA/Rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kiln::isa::test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Shape = std::vector<int64_t>;
using Faults = std::vector<std::string>;

inline constexpr auto f32 = DType::Float32;
inline constexpr auto bf16 = DType::BFloat16;
inline constexpr auto f16 = DType::Float16;
inline constexpr auto i32 = DType::Int32;
inline constexpr auto ui8 = DType::UInt8;
inline constexpr auto i8 = DType::Int8, i16 = DType::Int16;
inline constexpr auto ui16 = DType::UInt16, ui32 = DType::UInt32;
inline constexpr auto sbuf = Memory::Sbuf;
inline constexpr auto psum = Memory::Psum;
inline constexpr auto hbm = Memory::Hbm;

/// "P-06: message | help".
inline std::string spelled(const Violation &v) {
  return std::string(v.rule) + ": " + v.message + (v.help.empty() ? "" : " | " + v.help);
}

/// The access of a whole tensor: rows are dim 0, free dims the rest, row-major.
inline Access wholeOf(uint32_t index, Memory memory, DType dtype, const Shape &shape) {
  Access a;
  a.tensor = index;
  a.dtype = dtype;
  a.partitionCount = uint32_t(shape[0]);
  a.rank = uint8_t(shape.size() - 1);
  int64_t step = 1;
  for (unsigned i = a.rank; i-- > 0;) {
    a.step[i] = step;
    a.num[i] = shape[i + 1];
    step *= shape[i + 1];
  }
  a.rowStep = memory == Memory::Hbm ? step : 0;
  return a;
}

class Case {
public:
  explicit Case(Opcode opcode) : inst(makeInstruction(opcode)) {}

  /// Gives operand `role` a tensor and accesses all of it.
  Case &with(std::string_view role, std::string name, Memory memory, DType dtype, Shape shape,
             uint32_t partitionBase = 0) {
    unsigned i = index(role);
    inst.operands[i] = wholeOf(i, memory, dtype, shape);
    names[i] = std::move(name);
    shapes[i] = std::move(shape);
    memories[i] = memory;
    dtypes[i] = dtype;
    bases[i] = partitionBase;
    return *this;
  }
  /// Gives operand `role` rows [start, start + count) of what it has.
  Case &rows(std::string_view role, uint32_t start, uint32_t count) {
    access(role).partitionStart = start;
    access(role).partitionCount = count;
    return *this;
  }
  template <class T>
  Case &field(std::string_view name, T value, unsigned word = 0) {
    if constexpr (std::is_floating_point_v<T>)
      inst.setReal(name, value);
    else
      inst.setWord(name, int64_t(value), word);
    return *this;
  }
  Case &on(Engine engine) {
    inst.engine = engine;
    return *this;
  }

  unsigned index(std::string_view role) const {
    int i = inst.desc().operandIndex(role);
    EXPECT_GE(i, 0) << role;
    return unsigned(i);
  }
  Access &access(std::string_view role) { return inst.operands[index(role)]; }

  /// Puts the instruction into loops, and lets operand `role` move with them.
  Case &inLoops(std::vector<int64_t> counts) {
    trips = std::move(counts);
    return *this;
  }
  Case &moving(std::string_view role, std::vector<int64_t> steps) {
    std::copy(steps.begin(), steps.end(), access(role).loopStep.begin());
    return *this;
  }

  InstView view() const {
    InstView v{inst, inst.desc(), {}, trips};
    for (unsigned i = 0; i < kMaxOperands; ++i)
      v.tensors[i] = {names[i], memories[i], dtypes[i], shapes[i], bases[i]};
    return v;
  }
  std::vector<Violation> violations() const {
    std::vector<Violation> out;
    bool clean = checkInstruction(view(), [&out](Violation v) { out.push_back(std::move(v)); });
    EXPECT_EQ(clean, out.empty());
    return out;
  }
  Faults faults() const {
    Faults out;
    for (const Violation &v : violations())
      out.push_back(spelled(v));
    return out;
  }

  Instruction inst;

private:
  std::array<std::string, kMaxOperands> names;
  std::array<Shape, kMaxOperands> shapes;
  std::array<Memory, kMaxOperands> memories{};
  std::array<DType, kMaxOperands> dtypes{};
  std::array<uint32_t, kMaxOperands> bases{};
  std::vector<int64_t> trips;
};

//---- legal instructions to start from, with asymmetric shapes
//--------------------------------------===//

inline Case matmul(int64_t k, int64_t m, int64_t n, DType dtype = bf16) {
  return Case(Opcode::NcMatmul)
      .with("dst", "acc", psum, f32, {m, n})
      .with("stationary", "a", sbuf, dtype, {k, m})
      .with("moving", "b", sbuf, dtype, {k, n});
}
/// A transposing matmul: `i` is the identity.
inline Case transposingMatmul(int64_t k, int64_t m, DType dtype) {
  return Case(Opcode::NcMatmul)
      .with("dst", "t", psum, dtype, {m, k})
      .with("stationary", "a", sbuf, dtype, {k, m})
      .with("moving", "i", sbuf, dtype, {k, k})
      .field("is_transpose", true);
}
inline Case transpose(int64_t p, int64_t f, Memory to = psum, DType dtype = bf16) {
  return Case(Opcode::NcTranspose)
      .with("dst", "t", to, dtype, {f, p})
      .with("data", "a", sbuf, dtype, {p, f});
}
inline Case copy(DType from = f32, DType to = bf16) {
  return Case(Opcode::TensorCopy)
      .with("dst", "y", sbuf, to, {96, 40})
      .with("src", "x", sbuf, from, {96, 40});
}
inline Case memset(DType dtype, double value) {
  return Case(Opcode::Memset).with("dst", "z", sbuf, dtype, {96, 40}).field("value", value);
}
inline Case tensorTensor(AluOp op = AluOp::Add, DType dtype = f32) {
  return Case(Opcode::TensorTensor)
      .with("dst", "o", sbuf, dtype, {96, 40})
      .with("data1", "a", sbuf, dtype, {96, 40})
      .with("data2", "b", sbuf, dtype, {96, 40})
      .field("op", op);
}
inline Case tensorScalar(AluOp op0, AluOp op1 = AluOp::None, DType dtype = f32) {
  return Case(Opcode::TensorScalar)
      .with("dst", "o", sbuf, dtype, {96, 40})
      .with("data", "x", sbuf, dtype, {96, 40})
      .field("op0", op0)
      .field("op1", op1);
}
inline Case tensorReduce(AluOp op, uint32_t dims, Shape data, Shape dst, DType dtype = f32) {
  return Case(Opcode::TensorReduce)
      .with("dst", "s", sbuf, dtype, std::move(dst))
      .with("data", "x", sbuf, dtype, std::move(data))
      .field("op", op)
      .field("reduced_dims", dims);
}
inline Case activation() {
  return Case(Opcode::Activation)
      .with("dst", "y", sbuf, bf16, {96, 40})
      .with("data", "x", psum, f32, {96, 40})
      .field("op", ActFn::Exp);
}
inline Case reciprocal() {
  return Case(Opcode::Reciprocal)
      .with("dst", "y", sbuf, f32, {96, 40})
      .with("data", "x", psum, f32, {96, 40});
}
inline Case iota() {
  Case c = Case(Opcode::Iota).with("dst", "n", sbuf, i32, {96, 40});
  const int64_t pattern[] = {0, 1, 0, 1, 8, 5, 1, 8};
  for (unsigned i = 0; i < 8; ++i)
    c.field("pattern", pattern[i], i);
  return c;
}
inline Case dma() {
  return Case(Opcode::DmaCopy)
      .with("dst", "t", sbuf, f32, {96, 40})
      .with("src", "x", hbm, f32, {96, 40});
}

} // namespace kiln::isa::test

#endif // KILN_TEST_UNIT_ISA_RULESTESTSUPPORT_H
