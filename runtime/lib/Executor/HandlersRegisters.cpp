//===- HandlersRegisters.cpp - the registers of the sequencers --------------------------------===//
//
// Each engine works on its own registers. Integers of 32 bits, computed as unsigned ones: sums and
// products wrap on every host.
//
//===------------------------------------------------------------------------------------------===//

#include "Core.h"

#include <algorithm>
#include <cstring>

using namespace kilnrt;

static int32_t &registerOf(Core &core, const Operation &op, uint16_t number) {
  return core.registers[size_t(op.engine)][number];
}

Status kilnrt::execRegisterMove(Core &core, const Operation &op,
                                const isa::RegisterMoveArgs &args) {
  registerOf(core, op, args.dst) =
      args.src == isa::kNoRegister ? args.value : registerOf(core, op, args.src);
  return Status::ok();
}

/// The integer of `dtype` at `bytes`, as 32 bits.
static int32_t widened(isa::DType dtype, const std::byte *bytes) {
  const auto as = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return int32_t(value);
  };
  const bool isSigned = isa::info(dtype).isSigned;
  switch (isa::bytesOf(dtype)) {
  case 1:
    return isSigned ? as(int8_t{}) : as(uint8_t{});
  case 2:
    return isSigned ? as(int16_t{}) : as(uint16_t{});
  default:
    return as(int32_t{});
  }
}

Status kilnrt::execRegisterLoad(Core &core, const Operation &op,
                                const isa::RegisterLoadArgs &args) {
  const ConstTile src = core.input(op, args.src);
  registerOf(core, op, args.dst) = widened(src.dtype, src.row(0));
  return Status::ok();
}

Status kilnrt::execRegisterStore(Core &core, const Operation &op,
                                 const isa::RegisterStoreArgs &args) {
  const Tile dst = core.output(op, args.dst);
  std::memcpy(dst.row(0), &registerOf(core, op, args.src), isa::bytesOf(dst.dtype));
  return Status::ok();
}

static int32_t computed(isa::AluOp op, int32_t a, int32_t b) {
  const auto x = uint32_t(a), y = uint32_t(b);
  constexpr uint32_t kBits = 32;
  switch (op) {
  case isa::AluOp::Add:
    return int32_t(x + y);
  case isa::AluOp::Subtract:
    return int32_t(x - y);
  case isa::AluOp::Multiply:
    return int32_t(x * y);
  case isa::AluOp::Maximum:
    return std::max(a, b);
  case isa::AluOp::Minimum:
    return std::min(a, b);
  case isa::AluOp::Equal:
    return a == b;
  case isa::AluOp::NotEqual:
    return a != b;
  case isa::AluOp::GreaterEqual:
    return a >= b;
  case isa::AluOp::Greater:
    return a > b;
  case isa::AluOp::LessEqual:
    return a <= b;
  case isa::AluOp::Less:
    return a < b;
  case isa::AluOp::BitwiseAnd:
    return int32_t(x & y);
  case isa::AluOp::BitwiseOr:
    return int32_t(x | y);
  case isa::AluOp::BitwiseXor:
    return int32_t(x ^ y);
  case isa::AluOp::LeftShift:
    return y < kBits ? int32_t(x << y) : 0;
  default: // RightShift: the row takes no other
    return y < kBits ? int32_t(x >> y) : 0;
  }
}

Status kilnrt::execRegisterAlu(Core &core, const Operation &op, const isa::RegisterAluArgs &args) {
  const int32_t right =
      args.src1 == isa::kNoRegister ? args.value : registerOf(core, op, args.src1);
  registerOf(core, op, args.dst) = computed(args.op, registerOf(core, op, args.src), right);
  return Status::ok();
}
