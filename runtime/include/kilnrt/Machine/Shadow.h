//===- Shadow.h - which bytes have been written -----------------------------------------------===//
//
// Two bit sets. ColumnBits shadows a partitioned memory: all partitions of one
// byte (or PSUM cell) lie in one machine word or two, so an access costs its
// free bytes and not its partitions, whatever its free steps. LinearBits
// shadows an HBM tensor. Neither knows tensors, dtypes or messages.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_SHADOW_H
#define KILNRT_MACHINE_SHADOW_H

#include "kiln/ISA/Types.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kilnrt {

inline constexpr unsigned kMaskWords = (kiln::isa::machine.numPartitions + 63) / 64;

/// A set of partitions.
struct PartitionMask {
  std::array<uint64_t, kMaskWords> words{};

  /// Partitions [first, first + count); the range lies in the machine.
  static PartitionMask range(uint32_t first, uint32_t count);
};

/// One bit for each (partition, column); a column is a byte or a PSUM cell.
class ColumnBits {
public:
  ColumnBits() = default;
  /// All bits clear.
  explicit ColumnBits(int64_t columns);

  bool empty() const { return bits.empty(); }
  void set(const PartitionMask &mask, int64_t first, int64_t count);
  void clear(const PartitionMask &mask, int64_t first, int64_t count);
  /// Every bit of the rectangle is set.
  bool all(const PartitionMask &mask, int64_t first, int64_t count) const;
  /// Some bit of the rectangle is set.
  bool any(const PartitionMask &mask, int64_t first, int64_t count) const;
  bool get(uint32_t partition, int64_t column) const {
    return bits[column][partition / 64] >> (partition % 64) & 1;
  }

private:
  using Column = std::array<uint64_t, kMaskWords>;
  std::vector<Column> bits;
};

/// One bit for each byte of a linear buffer.
class LinearBits {
public:
  LinearBits() = default;
  /// All bits clear.
  explicit LinearBits(int64_t bytes) : words((bytes + 63) / 64) {}

  bool empty() const { return words.empty(); }
  void set(int64_t first, int64_t count);
  bool all(int64_t first, int64_t count) const;
  bool get(int64_t i) const { return words[i / 64] >> (i % 64) & 1; }

private:
  std::vector<uint64_t> words;
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_SHADOW_H
