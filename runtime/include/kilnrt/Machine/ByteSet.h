//===- ByteSet.h - some bytes of a tensor, exactly --------------------------------------------===//
//
// What a report about memory names: built once, when a run stops, from runs of bytes; read as
// rectangles of memory or as the elements of a tensor. Nothing here is fast or knows messages.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_MACHINE_BYTESET_H
#define KILNRT_MACHINE_BYTESET_H

#include <cstdint>
#include <span>
#include <vector>

namespace kilnrt {

/// Bytes [first, end) of a partition.
struct ByteInterval {
  int64_t first = 0, end = 0;
  bool operator==(const ByteInterval &) const = default;
};
/// In order, what overlaps or touches as one.
std::vector<ByteInterval> merged(std::vector<ByteInterval> intervals);

/// In each of `partitions` partitions `runs` runs of `bytes` bytes; the beginnings of two runs are
/// `step` bytes apart, which is 0 for one run.
struct ByteRectangle {
  uint32_t partition = 0, partitions = 1;
  int64_t byte = 0, bytes = 0, step = 0, runs = 1;
  bool operator==(const ByteRectangle &) const = default;
  int64_t total() const { return int64_t(partitions) * bytes * runs; }
};

/// Elements of a tensor: the smallest box that holds them, and whether they are all of it.
struct ElementBox {
  std::vector<int64_t> first, last; ///< of each dim, both included
  int64_t elements = 0;             ///< that are meant
  bool isExact = false;             ///< they fill the box
};

class ByteSet {
public:
  /// Adds the bytes of `intervals`, which `merged` made, of `partition`. Partitions come in order,
  /// each at most once.
  void add(uint32_t partition, std::vector<ByteInterval> intervals);

  bool empty() const { return groups.empty(); }
  int64_t bytes() const;
  /// The set as rectangles, by partition and byte: equal neighbours are one, and so are three or
  /// more runs of one length at one distance.
  std::vector<ByteRectangle> rectangles() const;
  /// The elements that have a byte in the set, of a tensor of `shape` with elements of
  /// `elementBytes`. `isOnChip`: dim 0 counts partitions; otherwise there is one partition, which
  /// holds all of the tensor. Precondition: the set is not empty and lies in the tensor.
  ElementBox elements(std::span<const int64_t> shape, int64_t elementBytes, bool isOnChip) const;

private:
  /// Neighbouring partitions with the same bytes.
  struct Group {
    uint32_t partition, partitions;
    std::vector<ByteInterval> intervals;
  };
  std::vector<Group> groups;
};

} // namespace kilnrt

#endif // KILNRT_MACHINE_BYTESET_H
