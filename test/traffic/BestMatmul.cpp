//===- BestMatmul.cpp - the least HBM traffic a blocked matmul needs --------------------------===//

#include "BestMatmul.h"

#include "kiln/ISA/Text.h"
#include "kiln/ISA/Types.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

using namespace kiln;
using namespace kiln::test;
using isa::machine;

namespace {

constexpr int64_t kSumBytes = 4; // of a partial sum

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The two dims of an operand and the one it repeats along.
struct Dims {
  Dim row, column, missing;
};
constexpr Dims kDims[] = {{M, K, N}, {K, N, M}, {M, N, K}};

struct Loops {
  const MatmulShape &shape;
  const Blocking &blocking;

  int64_t extent(Dim d) const { return shape.extent[d]; }
  int64_t trips(Dim d) const { return ceilDiv(extent(d), blocking.block[d]); }
  int64_t blockSize(Dim d, int64_t index) const {
    return std::min(blocking.block[d], extent(d) - index * blocking.block[d]);
  }
  unsigned position(Dim d) const {
    return unsigned(std::find(blocking.order.begin(), blocking.order.end(), d) -
                    blocking.order.begin());
  }
  bool isOutside(Operand o, Dim d) const { return position(d) < blocking.level[o]; }
  /// Of what the operand keeps.
  int64_t kept(Operand o, Dim d) const {
    return isOutside(o, d) ? std::min(blocking.block[d], extent(d)) : extent(d);
  }
  /// C is a sum of several blocks.
  bool hasPartialSums() const { return trips(K) > 1; }
  /// Of an element as it moves when a pass is repeated.
  int64_t bytesOf(Operand o) const { return o == C ? kSumBytes : shape.bytes; }
  /// Times an element moves in each repetition.
  int64_t movesOf(Operand o) const { return o == C ? 2 : 1; }
  int64_t elements(Operand o) const { return extent(kDims[o].row) * extent(kDims[o].column); }
  /// What moves however large SBUF is.
  int64_t compulsory() const { return shape.bytes * (elements(A) + elements(B) + elements(C)); }
};

/// Elements of a partition that a matrix takes, its rows on partitions.
int64_t elementsOfPartition(int64_t rows, int64_t columns) {
  return ceilDiv(rows, machine.numPartitions) * columns;
}

bool fitsPsum(int64_t rows, int64_t columns) {
  return ceilDiv(rows, machine.numPartitions) * ceilDiv(columns, machine.matmulMaxMovingFree) <=
         machine.psumBanks;
}

/// An operand that comes again in each iteration of a loop along which it repeats.
struct Repetition {
  const Loops &loops;
  Operand o;
  unsigned at;    ///< the loop along which it repeats: 0 or 1, when it `exists`
  int64_t passes; ///< iterations of that loop

  Repetition(const Loops &loops, Operand o)
      : loops(loops), o(o), at(loops.position(kDims[o].missing)),
        passes(loops.trips(kDims[o].missing)) {}

  /// Otherwise the iterations that share a block follow each other, or all are inside.
  bool exists() const { return at + 1 < loops.blocking.level[o]; }
  /// Bytes of all passes but one.
  int64_t bytes() const { return loops.elements(o) * loops.bytesOf(o) * (passes - 1); }
  /// Bytes of the tile that has a place of its own.
  int64_t tile() const {
    return loops.kept(o, kDims[o].row) * loops.kept(o, kDims[o].column) * loops.bytesOf(o);
  }
  /// A pass begins with the tile the one before it ended with. Not when K is inside: its blocks are
  /// summed in order, so that loop does not turn round, and what stays is not the end of a pass.
  bool turns() const {
    const unsigned k = loops.position(K);
    return k < at || k >= loops.blocking.level[o] || loops.trips(K) == 1 || o == C;
  }
  /// Bytes of a pass in iteration `outer` of the loop around it.
  int64_t sweep(int64_t outer) const {
    const Dim around = loops.blocking.order[0];
    return at == 0 ? loops.elements(o) * loops.bytesOf(o)
                   : loops.elements(o) / loops.extent(around) * loops.blockSize(around, outer) *
                         loops.bytesOf(o);
  }
  /// Bytes beyond the tile of the last iteration of loop 1, if the next pass needs them first. `at`
  /// is 0.
  int64_t strip() const {
    const auto &order = loops.blocking.order;
    if (loops.blocking.level[o] < 3 || order[1] == K)
      return 0;
    return tile() / loops.kept(o, order[2]) * loops.extent(order[2]) - tile();
  }
  /// Bytes that need not come again, because they are still there from the pass before.
  int64_t saved(int64_t spare) const {
    int64_t total = 0;
    const int64_t outerTrips = at == 0 ? 1 : loops.trips(loops.blocking.order[0]);
    for (int64_t outer = 0; outer < outerTrips; ++outer)
      total += (passes - 1) * std::min(sweep(outer), (turns() ? tile() : 0) + spare);
    return total;
  }
};

/// The operands that repeat along loop 0 and along loop 1; each missing dim has one operand.
struct Repetitions {
  std::array<std::optional<Repetition>, 2> along;
  explicit Repetitions(const Loops &loops) {
    for (Operand o : {A, B, C})
      if (const Repetition again(loops, o); again.exists())
        along[again.at].emplace(again);
  }
  int64_t bytes(const Spare &spare) const {
    int64_t total = 0;
    for (unsigned i = 0; i < 2; ++i)
      if (along[i])
        total += along[i]->loops.movesOf(along[i]->o) *
                 (along[i]->bytes() - along[i]->saved(spare.bytes[i]));
    return total;
  }
};

/// All ways to divide `bytes` that can be the best: the traffic is linear between them.
std::vector<Spare> divisions(const Repetitions &again, int64_t bytes) {
  const auto &[outer, inner] = again.along;
  if (!outer || !inner)
    return {{{bytes, bytes}}};
  // What is kept along loop 0 may take the place of the other's in the last iteration of loop 1,
  // and give it back in the first one.
  const int64_t strip = outer->strip();
  const int64_t outerCap = outer->sweep(0) - outer->tile();
  std::vector<Spare> list;
  for (int64_t share : {int64_t(0), bytes, strip, inner->sweep(0) - inner->tile(), inner->sweep(0),
                        bytes - outerCap, bytes - outerCap + strip}) {
    share = std::clamp<int64_t>(share, 0, bytes);
    list.push_back({{bytes - share + std::min(share, strip), share}});
  }
  return list;
}

} // namespace

int64_t test::residentBytes(const MatmulShape &shape, const Blocking &blocking) {
  const Loops loops{shape, blocking};
  int64_t bytes = 0;
  for (Operand o : {A, B}) {
    const Dim side = o == A ? M : N;
    bytes += elementsOfPartition(loops.kept(o, K), loops.kept(o, side)) * shape.bytes;
  }
  const int64_t m = loops.kept(C, M), n = loops.kept(C, N);
  if (loops.hasPartialSums() && !fitsPsum(m, n) && !fitsPsum(n, m))
    bytes += std::min(elementsOfPartition(m, n), elementsOfPartition(n, m)) * kSumBytes;
  // A tile on its way out.
  return bytes + std::min(n, machine.matmulMaxMovingFree) * shape.bytes;
}

int64_t test::trafficOf(const MatmulShape &shape, const Blocking &blocking, const Spare &spare) {
  const Loops loops{shape, blocking};
  return loops.compulsory() + Repetitions(loops).bytes(spare);
}

namespace {

/// A tile of an operand that the loops reach.
struct Visit {
  int64_t row, column; ///< block numbers; -1: all of them
  int64_t bytes;
  size_t next = 0; ///< number of the visit that needs it again
  bool isOf(const Visit &other) const { return row == other.row && column == other.column; }
};

/// One operand while the loops run.
class Keeper {
public:
  Keeper(const Loops &loops, Operand o, const Spare &spare)
      : loops(loops), o(o), room(Repetition(loops, o).tile()) {
    if (const unsigned at = loops.position(kDims[o].missing); at < 2)
      room += spare.bytes[at];
  }

  /// The loops reach a block: `index` by Dim.
  void visit(const std::array<int64_t, 3> &index) {
    const auto [row, column, missing] = kDims[o];
    Visit visit{loops.isOutside(o, row) ? index[row] : -1,
                loops.isOutside(o, column) ? index[column] : -1, loops.bytesOf(o)};
    visit.bytes *= visit.row < 0 ? loops.extent(row) : loops.blockSize(row, visit.row);
    visit.bytes *= visit.column < 0 ? loops.extent(column) : loops.blockSize(column, visit.column);
    if (visits.empty() || !visits.back().isOf(visit))
      visits.push_back(visit);
  }

  /// What comes in, when of all bytes but the tile at hand those are dropped that are needed last.
  int64_t movedBytes() {
    std::map<std::pair<int64_t, int64_t>, size_t> later;
    for (size_t i = visits.size(); i-- > 0;) {
      const auto [entry, isLast] = later.try_emplace({visits[i].row, visits[i].column}, i);
      visits[i].next = isLast ? visits.size() : std::exchange(entry->second, i);
    }
    std::vector<Visit> kept; // `bytes` is what is there of each
    int64_t moved = 0;
    for (const Visit &visit : visits) {
      moved += visit.bytes;
      std::erase_if(kept, [&](const Visit &old) {
        moved -= old.isOf(visit) ? old.bytes : 0;
        return old.isOf(visit);
      });
      kept.push_back(visit);
      drop(kept);
    }
    return moved;
  }

private:
  void drop(std::vector<Visit> &kept) const {
    int64_t excess = -room;
    for (const Visit &tile : kept)
      excess += tile.bytes;
    while (excess > 0) {
      const auto last =
          std::max_element(kept.begin(), kept.end() - 1,
                           [](const Visit &a, const Visit &b) { return a.next < b.next; });
      const int64_t gone = std::min(excess, last->bytes);
      excess -= gone;
      last->bytes -= gone;
      if (last->bytes == 0)
        kept.erase(last);
    }
  }

  const Loops &loops;
  Operand o;
  int64_t room; ///< of the tile at hand and what else is kept
  std::vector<Visit> visits;
};

} // namespace

int64_t test::walkedTraffic(const MatmulShape &shape, const Blocking &blocking,
                            const Spare &spare) {
  const Loops loops{shape, blocking};
  std::array<Keeper, 3> keepers{Keeper{loops, A, spare}, Keeper{loops, B, spare},
                                Keeper{loops, C, spare}};
  const auto &order = blocking.order;
  std::array<int64_t, 3> index{}, step{1, 1, 1};
  const auto turns = [&](unsigned loop) {
    const Dim d = order[loop];
    index[d] += step[d];
    if (index[d] >= 0 && index[d] < loops.trips(d))
      return false;
    if (d == K) {
      index[d] = 0;
    } else { // stays where it is, and goes back the next time
      index[d] -= step[d];
      step[d] = -step[d];
    }
    return true;
  };
  do {
    for (Keeper &keeper : keepers)
      keeper.visit(index);
  } while (!turns(2) || !turns(1) || !turns(0));
  // C: each sum that comes back was written before; the last time it is written as an element.
  const int64_t sums = keepers[C].movedBytes() - loops.elements(C) * kSumBytes;
  return keepers[A].movedBytes() + keepers[B].movedBytes() + 2 * sums +
         loops.elements(C) * shape.bytes;
}

namespace {

/// Blocks of whole array heights, and everything.
std::vector<int64_t> blocksOf(int64_t extent) {
  std::vector<int64_t> list;
  for (int64_t size = machine.numPartitions; size < extent; size += machine.numPartitions)
    list.push_back(size);
  list.push_back(extent);
  return list;
}

/// All levels of a loop order and blocks.
void tryLevels(const MatmulShape &shape, const Chip &chip, Blocking blocking, BestMatmul &best) {
  for (unsigned a = 0; a <= 3; ++a)
    for (unsigned b = 0; b <= 3; ++b)
      for (unsigned c = 0; c <= 3; ++c) {
        blocking.level = {a, b, c};
        const int64_t left = chip.sbufBytes - residentBytes(shape, blocking);
        ++best.triedBlockings;
        if (left < 0)
          continue;
        const Loops loops{shape, blocking};
        const Repetitions again(loops);
        for (const Spare &spare : divisions(again, left * machine.numPartitions)) {
          const int64_t traffic = loops.compulsory() + again.bytes(spare);
          if (best.traffic == 0 || traffic < best.traffic) {
            best.traffic = traffic;
            best.blocking = blocking;
            best.spare = spare;
          }
        }
      }
}

} // namespace

BestMatmul test::bestMatmul(const MatmulShape &shape, const Chip &chip) {
  BestMatmul best;
  Blocking blocking;
  blocking.order = {M, K, N};
  do {
    for (int64_t m : blocksOf(shape.extent[M]))
      for (int64_t k : blocksOf(shape.extent[K]))
        for (int64_t n : blocksOf(shape.extent[N])) {
          blocking.block = {m, k, n};
          tryLevels(shape, chip, blocking, best);
        }
  } while (std::next_permutation(blocking.order.begin(), blocking.order.end()));
  return best;
}

std::string test::toText(const BestMatmul &best) {
  std::string out;
  for (Dim d : best.blocking.order)
    out += text(out.empty() ? "" : ", ", "mkn"[d], " by ", best.blocking.block[d]);
  for (Operand o : {A, B, C})
    out += text(o == A ? "; " : ", ", "abc"[o], " inside ", best.blocking.level[o], " loops");
  return out + text("; between passes ", best.spare.bytes[0], " and ", best.spare.bytes[1],
                    " more bytes stay");
}
