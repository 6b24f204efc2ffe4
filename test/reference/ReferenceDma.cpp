//===- ReferenceDma.cpp - what transfers move -------------------------------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceRows.h"

namespace kiln::reference {

void dmaCopy(Machine &m) {
  using Args = isa::DmaCopyArgs;
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<uint32_t> bits = src.allBits();
  for (size_t i = 0; i < bits.size(); ++i)
    dst.setBits(i, convert(dst.dtype(), src.dtype(), bits[i]));
}

void dmaTranspose(Machine &m) {
  using Args = isa::DmaTransposeArgs;
  Elements dst = m.operand(Args::dst);
  const Elements src = m.operand(Args::src);
  const std::vector<uint32_t> bits = src.allBits();
  const size_t rows = src.rows(), columns = dst.rows();
  const size_t blocks = src.columns() / columns;
  for (size_t c = 0; c < columns; ++c)
    for (size_t b = 0; b < blocks; ++b)
      for (size_t r = 0; r < rows; ++r)
        dst.setBits(c, b * rows + r, bits[r * src.columns() + b * columns + c]);
}

} // namespace kiln::reference
