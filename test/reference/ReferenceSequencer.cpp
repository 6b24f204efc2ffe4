//===- ReferenceSequencer.cpp - registers, edges of loops, waits and prints -------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

namespace kiln::reference {

using isa::AluOp;

// Programs run one record at a time here, so what a wait waits for has happened.
void semaphoreWait(Machine &) {}
// Loops are the machine's; only a loop that is no loop would come here.
void loopEdge(Machine &m) { m.fail("an edge of a loop stands alone"); }

void registerMove(Machine &m) {
  const isa::RegisterMoveArgs args(m.inst());
  m.reg(args.dst) = args.src == isa::kNoRegister ? args.value : m.reg(args.src);
}

void registerLoad(Machine &m) {
  using Args = isa::RegisterLoadArgs;
  const Elements src = m.operand(Args::src);
  m.reg(Args(m.inst()).dst) = int32_t(uint32_t(integerOf(src.dtype(), src.bits(0))));
}

void registerStore(Machine &m) {
  using Args = isa::RegisterStoreArgs;
  m.operand(Args::dst).setBits(0, uint32_t(m.reg(Args(m.inst()).src)));
}

void registerAlu(Machine &m) {
  const isa::RegisterAluArgs args(m.inst());
  const int64_t x = m.reg(args.src);
  const int64_t y = args.src1 == isa::kNoRegister ? args.value : m.reg(args.src1);
  const uint64_t bits = uint32_t(x), shift = uint32_t(y);
  auto compute = [&]() -> int64_t {
    switch (args.op) {
    case AluOp::Add:
      return x + y;
    case AluOp::Subtract:
      return x - y;
    case AluOp::Multiply:
      return x * y;
    case AluOp::Maximum:
      return x > y ? x : y;
    case AluOp::Minimum:
      return x < y ? x : y;
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
    case AluOp::BitwiseAnd:
      return x & y;
    case AluOp::BitwiseOr:
      return x | y;
    case AluOp::BitwiseXor:
      return x ^ y;
    case AluOp::LeftShift:
      return shift < 32 ? int64_t(bits << shift) : 0;
    default: // right_shift
      return shift < 32 ? int64_t(bits >> shift) : 0;
    }
  };
  m.reg(args.dst) = int32_t(uint32_t(uint64_t(compute())));
}

void devicePrint(Machine &m) {
  using Args = isa::DevicePrintArgs;
  const Args args(m.inst());
  const Elements data = m.operand(Args::data);
  Shown shown;
  shown.prefix = m.text(args.text);
  for (size_t i = 0; i < data.size(); ++i)
    for (unsigned b = 0; b < isa::bytesOf(data.dtype()); ++b)
      shown.data.push_back(std::byte(data.bits(i) >> 8 * b));
  size_t loop = 0; // the next of those that are left in the program
  for (unsigned l = 0; l < args.loops; ++l) {
    int64_t number = args.base[l];
    if (args.step[l] != 0)
      number += int64_t(args.step[l]) * m.iterations()[loop++];
    shown.iterations.push_back(number);
  }
  m.show(std::move(shown));
}

} // namespace kiln::reference
