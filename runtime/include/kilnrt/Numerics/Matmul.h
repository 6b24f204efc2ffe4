//===- Matmul.h - the Tensor Engine's sum -----------------------------------------------------===//
//
// out[m][n] = or += sum over k of S[k][m] * V[k][n]: S is the stationary operand, V the moving one,
// both with the contraction k along partitions. The order of the sum is part of the definition:
//
//   Blocked     both operands bf16 or 8-bit floats: for each block of 32 rows k, an even and an odd
//   chain of fused
//               multiply-adds from +0 (e over k = 0, 2, ..., 30, o over k = 1, 3, ..., 31; missing
//               rows are zeros), then sum = sum + (e + o), sum from +0. AMX computes exactly this.
//   Sequential  any fp32, tf32 or fp16 operand: one chain of fused multiply-adds from +0, k
//   ascending.
//
// Every operation rounds once to nearest even, denormals kept, on every host. NaN results have the
// bits 0x7FC00000. An accumulating write adds the finished sum to what is there with one more
// rounding.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_NUMERICS_MATMUL_H
#define KILNRT_NUMERICS_MATMUL_H

#include "kiln/ISA/Types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kilnrt {

enum class SumOrder : uint8_t { Blocked, Sequential };

/// The order for these operand types.
SumOrder sumOrder(kiln::isa::DType stationary, kiln::isa::DType moving);

/// Rows of equally spaced elements in memory: element (k, i) lies at base + k * rowStrideBytes +
/// i * elementStrideBytes. Any type; a dense row (stride of one element) takes the fast path.
struct OperandRows {
  kiln::isa::DType type;
  const std::byte *base;
  int64_t rowStrideBytes;
  int64_t elementStrideBytes;
};

/// What happens to the output.
enum class MatmulWrite : uint8_t { Overwrite, Add };

/// The stationary operand in the layout the kernels read. Loaded once, used by many
/// multiplications; keeps its memory between loads.
class StationaryTile {
public:
  /// Takes K x M elements.
  void pack(const OperandRows &rows, size_t k, size_t m);

  /// For layouts OperandRows cannot say: begin with the shape, then set every row k from M floats
  /// (contiguous, converted by loadRow).
  void begin(size_t k, size_t m);
  void setRow(size_t row, const float *values);

  size_t contraction() const { return k; }
  size_t columns() const { return m; }
  /// Panels of kPanelColumns columns: panel p holds [k][kPanelColumns], missing columns are zeros.
  const float *panels() const { return data.get(); }

  static constexpr size_t kPanelColumns = 8;

private:
  size_t k = 0, m = 0, capacity = 0;
  std::unique_ptr<float[]> data;
  std::vector<float> rowValues; // one row on its way
};

/// The fast kernel. `out` holds M rows of N floats, row m at out + m * outRowStrideBytes (4-byte
/// aligned); it overlaps neither operand. The moving operand has stationary.contraction() rows of n
/// elements.
void matmulTile(SumOrder order, const StationaryTile &stationary, const OperandRows &moving,
                size_t n, std::byte *out, int64_t outRowStrideBytes, MatmulWrite write);

/// The definition, one scalar operation at a time: S is [K][M], V is [K][N], out is [M][N], all
/// dense.
void matmulReference(SumOrder order, size_t k, size_t m, size_t n, const float *stationary,
                     const float *moving, float *out, MatmulWrite write);

} // namespace kilnrt

#endif // KILNRT_NUMERICS_MATMUL_H
