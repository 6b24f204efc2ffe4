//===- RandomGraph.h - graphs and data nobody thought of --------------------------------------===//

#ifndef KILN_TEST_TILE_RANDOMGRAPH_H
#define KILN_TEST_TILE_RANDOMGRAPH_H

#include "kiln/Tile/Interpreter.h"

#include <initializer_list>

namespace kiln::tile::test {

/// Equal numbers on every host and with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits();
  /// A whole number in [0, n).
  int64_t below(int64_t n) { return int64_t(bits() % uint64_t(n)); }
  /// True in `percent` of a hundred cases.
  bool chance(int percent) { return below(100) < percent; }
  double uniform() { return double(bits() >> 11) * 0x1p-53; } ///< in [0, 1)
  double normal();
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }

private:
  uint64_t state;
};

struct RandomGraphOptions {
  unsigned maxOps = 12;            ///< besides loads, splats and stores
  int64_t maxElements = 40'000;    ///< of any value
  int64_t maxProducts = 4'000'000; ///< multiplications of all matmuls
  bool hasLongDims = false;        ///< dims of which a partition holds only a part, too
};

/// A graph of 1 to maxOps operations that is right by `verify`: HBM inputs of every dtype and ranks
/// 1 to 4, extents around the sizes of the machine, every operation, one output for each value
/// nobody else reads (and some others), a hint here and there. No sum has an order.
Graph randomGraph(uint64_t seed, const RandomGraphOptions &options = {});

/// Data for the Input buffers of a graph, others empty. By the seed: plain numbers, plain numbers
/// with special values among them, or small whole numbers.
std::vector<Value> randomData(const Graph &graph, uint64_t seed);

/// A whole tensor: strides of all its elements in row-major order.
View wholeView(uint32_t buffer, const Shape &shape);

} // namespace kiln::tile::test

#endif // KILN_TEST_TILE_RANDOMGRAPH_H
