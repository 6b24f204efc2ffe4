//===- BestMatmul.h - the least HBM traffic a blocked matmul needs ----------------------------===//
//
// C[M, N] = A[M, K] . B[K, N] in blocks: three loops over blocks in some order. The loops over M
// and N turn round where the one outside of them goes on, so the last block is the next first one;
// K does not, because sums have an order. Each operand keeps in SBUF what the loops inside some
// level of it touch: one block, a strip, all. Partial sums are kept in PSUM if they fit there, else
// in SBUF as float32; those that do not stay are written to HBM and read again. What SBUF has left
// keeps a part of a pass for the next one.
//
// Nothing here comes from the planner. The model is generous: loads under way need no second
// buffer. A program that comes close to the result is close to the best.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_TRAFFIC_BESTMATMUL_H
#define KILN_TEST_TRAFFIC_BESTMATMUL_H

#include <array>
#include <cstdint>
#include <string>

namespace kiln::test {

enum Dim : unsigned { M, K, N };
enum Operand : unsigned { A, B, C };

struct MatmulShape {
  std::array<int64_t, 3> extent; ///< by Dim
  int64_t bytes = 4;             ///< of an element of A, B and C
};

struct Blocking {
  std::array<Dim, 3> order{M, N, K};      ///< loops, outermost first
  std::array<int64_t, 3> block{1, 1, 1};  ///< elements, by Dim
  std::array<unsigned, 3> level{3, 3, 3}; ///< by Operand: loops outside of what it keeps
};

/// What is on chip: `sbufBytes` of each partition, and the array and PSUM of the machine.
struct Chip {
  int64_t sbufBytes = 0;
};

/// Bytes of a partition the blocking keeps in SBUF.
int64_t residentBytes(const MatmulShape &shape, const Blocking &blocking);

/// Bytes of SBUF that keep the end of a pass: of the operand that repeats along loop 0, and of the
/// one that repeats along loop 1.
struct Spare {
  std::array<int64_t, 2> bytes{};
};

/// HBM bytes read and written.
int64_t trafficOf(const MatmulShape &shape, const Blocking &blocking, const Spare &spare);

/// The same by walking the loops block by block with the best choice of what to keep. For tests:
/// slow.
int64_t walkedTraffic(const MatmulShape &shape, const Blocking &blocking, const Spare &spare);

struct BestMatmul {
  int64_t traffic = 0;
  int64_t triedBlockings = 0;
  Blocking blocking;
  Spare spare;
};

/// The least traffic over all loop orders, all blocks that are multiples of the array's height, and
/// all levels.
BestMatmul bestMatmul(const MatmulShape &shape, const Chip &chip);

/// "m 2048, k 128, n 512; a below 1 loop, b below 2, c below 3; 1234 bytes left".
std::string toText(const BestMatmul &best);

} // namespace kiln::test

#endif // KILN_TEST_TRAFFIC_BESTMATMUL_H
