//===- ReferenceGpSimd.cpp - what only the GpSimd Engine computes -----------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

namespace kiln::reference {

void iota(Machine &m) {
  using Args = isa::IotaArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const std::vector<int32_t> values =
      affinePositions(dst.rows(), args.pattern, args.offset, args.channelMultiplier);
  for (size_t i = 0; i < values.size(); ++i)
    dst.setBits(i, encode(dst.dtype(), double(values[i]))); // exact as a double
}

void affineSelect(Machine &m) {
  using Args = isa::AffineSelectArgs;
  const Args args(m.inst());
  Elements dst = m.operand(Args::dst);
  const Elements data = m.operand(Args::onTrueTile);
  const std::vector<uint32_t> bits = data.allBits();
  const std::vector<int32_t> positions =
      affinePositions(dst.rows(), args.pattern, args.offset, args.channelMultiplier);
  const uint32_t other = encode(dst.dtype(), double(args.onFalseValue));
  for (size_t i = 0; i < positions.size(); ++i) {
    const int32_t a = positions[i];
    bool isKept = false;
    switch (args.cmpOp) {
    case isa::AluOp::Equal:
      isKept = a == 0;
      break;
    case isa::AluOp::NotEqual:
      isKept = a != 0;
      break;
    case isa::AluOp::GreaterEqual:
      isKept = a >= 0;
      break;
    case isa::AluOp::Greater:
      isKept = a > 0;
      break;
    case isa::AluOp::LessEqual:
      isKept = a <= 0;
      break;
    default:
      isKept = a < 0;
      break;
    }
    dst.setBits(i, isKept ? convert(dst.dtype(), data.dtype(), bits[i]) : other);
  }
}

} // namespace kiln::reference
