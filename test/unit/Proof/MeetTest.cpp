//===- MeetTest.cpp - do two accesses share bytes: against sets of bytes ----------------------===//

#include "kilnrt/Machine/Overlap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <set>

using namespace kilnrt;

namespace {

constexpr int64_t kOnChipBytes = 600, kHbmBytes = 600;

/// One tensor on chip and one in HBM, in bytes; accesses of both as places.
class Machine {
public:
  explicit Machine(int64_t hbmBytes = kHbmBytes) : layout(programOf(hbmBytes)) {}

  /// Bytes of elements of `dtype` on chip.
  Place onChip(uint32_t partition, uint32_t partitions, int64_t offset,
               const std::vector<std::pair<int64_t, int64_t>> &dims,
               isa::DType dtype = isa::DType::UInt8) {
    isa::Access access = accessOf(0, offset, dims, dtype);
    access.partitionStart = partition;
    access.partitionCount = partitions;
    return layout.place(access);
  }
  Place hbm(uint32_t rows, int64_t rowStep, int64_t offset,
            const std::vector<std::pair<int64_t, int64_t>> &dims,
            isa::DType dtype = isa::DType::UInt8) {
    isa::Access access = accessOf(1, offset, dims, dtype);
    access.partitionCount = rows;
    access.rowStep = rowStep;
    return layout.place(access);
  }

private:
  static Program programOf(int64_t hbmBytes) {
    Program program;
    program.flags.placed = true;
    TensorInfo chip;
    chip.name = "t";
    chip.memory = isa::Memory::Sbuf;
    chip.dtype = isa::DType::UInt8;
    chip.shape = {128, kOnChipBytes};
    TensorInfo hbm = chip;
    hbm.memory = isa::Memory::Hbm;
    hbm.shape = {hbmBytes};
    program.tensors = {chip, hbm};
    return program;
  }
  static isa::Access accessOf(uint32_t tensor, int64_t offset,
                              const std::vector<std::pair<int64_t, int64_t>> &dims,
                              isa::DType dtype) {
    isa::Access access;
    access.tensor = tensor;
    access.dtype = dtype;
    access.offset = offset;
    access.rank = uint8_t(dims.size());
    for (size_t d = 0; d < dims.size(); ++d)
      std::tie(access.step[d], access.num[d]) = dims[d];
    return access;
  }

  Layout layout;
};

//---- pairs ----------------------------------------------------------------------------------===//

TEST(Meet, TellsNeighboursFromTheSameByte) {
  Machine m;
  const Place ten = m.onChip(0, 32, 10, {{1, 10}});

  EXPECT_EQ(meet(ten, m.onChip(0, 32, 20, {{1, 5}})), Meeting::Apart);
  EXPECT_EQ(meet(ten, m.onChip(0, 32, 19, {{1, 5}})), Meeting::Meet);
  EXPECT_EQ(meet(ten, m.onChip(0, 32, 5, {{1, 5}})), Meeting::Apart);
  EXPECT_EQ(meet(ten, m.onChip(0, 32, 6, {{1, 5}})), Meeting::Meet);
  EXPECT_EQ(meet(ten, m.onChip(0, 32, 9, {{-1, 5}})), Meeting::Apart);
  EXPECT_EQ(meet(ten, m.onChip(0, 32, 10, {{-1, 5}})), Meeting::Meet);
}

TEST(Meet, TellsPartitionsApart) {
  Machine m;
  const Place a = m.onChip(32, 32, 0, {{1, 10}});
  SharedBytes shared;

  EXPECT_EQ(meet(a, m.onChip(0, 32, 0, {{1, 10}})), Meeting::Apart);
  EXPECT_EQ(meet(a, m.onChip(64, 64, 0, {{1, 10}})), Meeting::Apart);
  EXPECT_EQ(meet(a, m.onChip(0, 33, 4, {{1, 10}}), nullptr, &shared), Meeting::Meet);
  EXPECT_EQ(shared.firstPartition, 32u);
  EXPECT_EQ(shared.partitions, 1u);
  EXPECT_EQ(shared.first, 4);
  EXPECT_EQ(shared.end, 10);
}

TEST(Meet, TellsBlocksOfMemoryApart) {
  Machine m;

  EXPECT_EQ(meet(m.onChip(0, 1, 0, {{1, 10}}), m.hbm(1, 0, 0, {{1, 10}})), Meeting::Apart);
}

/// Columns of four bytes in each other's gaps, whatever the order of their elements.
TEST(Meet, TellsInterleavedColumnsApart) {
  Machine m;
  const auto f32 = isa::DType::Float32;
  const Place even = m.onChip(0, 1, 0, {{2, 50}}, f32);

  EXPECT_EQ(meet(even, m.onChip(0, 1, 1, {{2, 50}}, f32)), Meeting::Apart);
  EXPECT_EQ(meet(even, m.onChip(0, 1, 99, {{-2, 50}}, f32)), Meeting::Apart);
  EXPECT_EQ(meet(even, m.onChip(0, 1, 1, {{6, 16}, {2, 3}}, f32)), Meeting::Apart);
  EXPECT_EQ(meet(even, m.onChip(0, 1, 1, {{3, 2}}, f32)), Meeting::Meet); // element 4
  EXPECT_EQ(meet(even, m.onChip(0, 1, 7, {{8, 40}})), Meeting::Apart);    // the last byte of a gap
  EXPECT_EQ(meet(even, m.onChip(0, 1, 8, {{8, 40}})), Meeting::Meet);
}

/// Blocks of the columns of a matrix in HBM.
TEST(Meet, TellsBlocksOfAMatrixApart) {
  Machine m;
  const Place left = m.hbm(20, 30, 0, {{1, 10}});
  SharedBytes shared;

  EXPECT_EQ(meet(left, m.hbm(20, 30, 10, {{1, 20}})), Meeting::Apart);
  EXPECT_EQ(meet(left, m.hbm(19, 30, 10, {{1, 21}}), nullptr, &shared), Meeting::Meet);
  EXPECT_EQ(shared.partitions, 1u);
  EXPECT_EQ(shared.end - shared.first, 1);
  EXPECT_EQ(shared.first % 30, 0);
}

//---- movement -------------------------------------------------------------------------------===//

/// The motion of `a` against `b` in loops of steps and trip counts.
Motion motionOf(const std::vector<std::pair<int64_t, int64_t>> &loops) {
  Motion motion;
  for (size_t l = 0; l < loops.size(); ++l)
    std::tie(motion.step[l], motion.num[l]) = loops[l];
  return motion;
}

TEST(Meet, FollowsTheFirstAgainstTheSecond) {
  Machine m;
  const Place a = m.onChip(0, 1, 0, {{1, 4}}), b = m.onChip(0, 1, 40, {{1, 4}});
  const auto meets = [&](const Place &x, const Place &y, int64_t step, int64_t num) {
    const Motion motion = motionOf({{step, num}});
    return meet(x, y, &motion);
  };

  EXPECT_EQ(meets(a, b, 9, 4), Meeting::Apart);
  EXPECT_EQ(meets(a, b, 9, 1000), Meeting::Apart); // 36 to 39, then 45: over it
  EXPECT_EQ(meets(a, b, 10, 4), Meeting::Apart);
  EXPECT_EQ(meets(a, b, 10, 5), Meeting::Meet);
  EXPECT_EQ(meets(a, b, -10, 1000), Meeting::Apart);
  EXPECT_EQ(meets(b, a, -10, 4), Meeting::Apart);
  EXPECT_EQ(meets(b, a, -10, 5), Meeting::Meet);
}

/// The stretch is where the first iteration has `b`.
TEST(Meet, CountsSharedBytesWhereTheSecondStays) {
  Machine m;
  const Motion motion = motionOf({{10, 5}});
  SharedBytes shared;

  EXPECT_EQ(meet(m.hbm(1, 0, 0, {{1, 4}}), m.hbm(1, 0, 42, {{1, 4}}), &motion, &shared),
            Meeting::Meet);
  EXPECT_EQ(shared.first, 42);
  EXPECT_EQ(shared.end, 44);
  EXPECT_EQ(shared.iteration[0], 4);
}

/// Two of many iterations meet; the stretch is of one of them, though they are neighbours.
TEST(Meet, NamesTheFirstIteration) {
  Machine m;
  const Motion motion = motionOf({{0, 7}, {100, 3}, {1, 50}});
  SharedBytes shared;

  EXPECT_EQ(meet(m.hbm(1, 0, 0, {{1, 4}}), m.hbm(1, 0, 120, {{1, 20}}), &motion, &shared),
            Meeting::Meet);
  EXPECT_EQ(shared.first, 120);
  EXPECT_EQ(shared.end, 121);
  EXPECT_EQ(shared.iteration, (std::array<int64_t, 4>{0, 1, 17, 0}));
}

//---- large and intricate --------------------------------------------------------------------===//

TEST(Meet, IsQuickHoweverManyElements) {
  Machine m(int64_t{16} << 30);
  const auto start = std::chrono::steady_clock::now();
  const int64_t billion = 1'000'000'000;
  const Motion slow = motionOf({{-3, billion}, {0, billion}, {billion, billion}});

  // Every other byte of 2 GB.
  EXPECT_EQ(meet(m.hbm(1, 0, 0, {{2, billion}}), m.hbm(1, 0, 1, {{2, billion}})), Meeting::Apart);
  EXPECT_EQ(meet(m.hbm(1, 0, 0, {{2, billion}}), m.hbm(1, 0, 2 * billion - 2, {{1, 2}})),
            Meeting::Meet);
  EXPECT_EQ(meet(m.hbm(1, 0, 0, {{2, billion}}), m.hbm(1, 0, 2 * billion - 1, {{2, 2}})),
            Meeting::Apart);
  // A square of 32 K elements a side, transposed, and its neighbour.
  EXPECT_EQ(meet(m.hbm(32768, 1, 0, {{65536, 32768}}), m.hbm(32768, 65536, 32768, {{1, 32768}})),
            Meeting::Apart);
  EXPECT_EQ(meet(m.hbm(32768, 1, 0, {{65536, 32768}}), m.hbm(32768, 65536, 32767, {{1, 32768}})),
            Meeting::Meet);
  // 10^27 iterations.
  EXPECT_EQ(meet(m.hbm(1, 0, 5, {{1, 1}}), m.hbm(1, 0, 4, {{1, 1}}), &slow), Meeting::Meet);

  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

/// Bytes 0 and 2 of every 7 of one, 1 and 3 of the other, which no step shows, nor what divides all
/// of them: a million sums of four steps each, in the same stretch of memory.
TEST(Meet, LeavesIntricatePairsOpen) {
  Machine m(int64_t{1} << 20);
  const std::vector<std::pair<int64_t, int64_t>> dims = {{2, 2}, {14, 80}, {21, 80}, {35, 80}};

  EXPECT_EQ(meet(m.hbm(1, 0, 0, dims), m.hbm(1, 0, 1, dims)), Meeting::Unknown);
  EXPECT_EQ(meet(m.hbm(1, 0, 0, dims), m.hbm(1, 0, 2, dims)), Meeting::Meet);
  // Even and odd: 2 divides all steps.
  const std::vector<std::pair<int64_t, int64_t>> even = {{6, 80}, {10, 80}, {14, 80}, {22, 80}};
  EXPECT_EQ(meet(m.hbm(1, 0, 0, even), m.hbm(1, 0, 1, even)), Meeting::Apart);
}

//---- against sets ---------------------------------------------------------------------------===//

/// An access as its numbers and as the bytes of one partition.
struct Drawn {
  Place place;
  uint32_t firstPartition = 0, partitions = 1;
  std::set<int64_t> bytes;
};

class Draw {
public:
  Draw(Machine &machine, uint64_t seed) : machine(machine), random(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }

  Drawn access(bool onChip) {
    static constexpr isa::DType dtypes[] = {isa::DType::UInt8, isa::DType::BFloat16,
                                            isa::DType::Float32};
    for (;;) {
      const isa::DType dtype = dtypes[between(0, 2)];
      const int64_t size = isa::bytesOf(dtype), room = kHbmBytes / size;
      std::vector<std::pair<int64_t, int64_t>> dims(size_t(between(1, 4)));
      for (auto &[step, num] : dims) {
        static constexpr int64_t widths[] = {3, 12, 40};
        const int64_t width = widths[between(0, 2)];
        step = between(-width, width);
        num = between(1, 4);
      }
      Drawn result;
      result.partitions = uint32_t(between(1, 3));
      const int64_t rowStep = onChip ? 0 : between(-40, 40);
      std::vector<std::pair<int64_t, int64_t>> all = dims;
      if (!onChip)
        all.push_back({rowStep, result.partitions});
      int64_t low = 0, high = 0;
      for (const auto &[step, num] : all)
        (step < 0 ? low : high) += step * (num - 1);
      if (high - low >= room)
        continue;
      const int64_t offset = between(-low, room - 1 - high);
      if (onChip) {
        result.firstPartition = uint32_t(between(0, 3));
        result.place =
            machine.onChip(result.firstPartition, result.partitions, offset, dims, dtype);
      } else {
        result.place = machine.hbm(result.partitions, rowStep, offset, dims, dtype);
        result.partitions = 1;
      }
      std::set<int64_t> elements = {offset};
      for (const auto &[step, num] : all) {
        std::set<int64_t> next;
        for (int64_t e : elements)
          for (int64_t i = 0; i < num; ++i)
            next.insert(e + i * step);
        elements = std::move(next);
      }
      for (int64_t e : elements)
        for (int64_t b = 0; b < size; ++b)
          result.bytes.insert(e * size + b);
      return result;
    }
  }

  Motion motion() {
    Motion motion;
    const int64_t loops = between(1, isa::kMaxLoopDepth);
    for (int64_t l = 0; l < loops; ++l) {
      motion.step[size_t(l)] = between(0, 3) == 0 ? 0 : between(-60, 60);
      motion.num[size_t(l)] = between(1, 4);
    }
    return motion;
  }

private:
  Machine &machine;
  std::mt19937_64 random;
};

/// How far the first has moved, by iteration, in the order of the iterations.
std::map<std::array<int64_t, isa::kMaxLoopDepth>, int64_t> distances(const Motion *motion) {
  std::map<std::array<int64_t, isa::kMaxLoopDepth>, int64_t> result = {{{}, 0}};
  for (size_t l = 0; motion && l < motion->step.size(); ++l) {
    auto next = result;
    for (const auto &[outer, distance] : result)
      for (int64_t i = 0; i < motion->num[l]; ++i) {
        auto iteration = outer;
        iteration[l] = i;
        next[iteration] = distance + i * motion->step[l];
      }
    result = std::move(next);
  }
  return result;
}

/// What is wrong with the answer; empty when nothing is.
std::string problemOf(const Drawn &a, const Drawn &b, const Motion *motion) {
  const uint32_t first = std::max(a.firstPartition, b.firstPartition);
  const uint32_t end = std::min(a.firstPartition + a.partitions, b.firstPartition + b.partitions);
  const auto moves = distances(motion);
  const auto meeting = std::find_if(moves.begin(), moves.end(), [&](const auto &move) {
    return first < end && std::any_of(
                              a.bytes.begin(), a.bytes.end(),
                              [&](int64_t byte) { return b.bytes.contains(byte + move.second); });
  });
  SharedBytes shared;
  switch (meet(a.place, b.place, motion, &shared)) {
  case Meeting::Unknown:
    return "unknown";
  case Meeting::Apart:
    return meeting == moves.end() ? "" : "they meet";
  case Meeting::Meet:
    break;
  }
  if (meeting == moves.end())
    return "they are apart";
  if (shared.firstPartition != first || shared.partitions != end - first)
    return "shared partitions";
  if (shared.iteration != meeting->first)
    return "the first iteration";
  if (shared.first >= shared.end)
    return "no shared byte";
  for (int64_t byte = shared.first; byte < shared.end; ++byte)
    if (!a.bytes.contains(byte - meeting->second) || !b.bytes.contains(byte))
      return "shared bytes that are not";
  return "";
}

TEST(Meet, AgreesWithSetsOfBytes) {
  constexpr uint64_t kFirstSeed = 1, kPairs = 6000;
  Machine machine;
  uint64_t met = 0, moved = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPairs; ++seed) {
    Draw draw(machine, seed);
    const bool onChip = seed % 2;
    const Drawn a = draw.access(onChip), b = draw.access(onChip);
    const Motion motion = draw.motion();
    const bool moves = seed % 3 == 0;
    ASSERT_EQ(problemOf(a, b, moves ? &motion : nullptr), "")
        << "seed " << seed << ", " << (onChip ? "on chip" : "HBM");
    met += meet(a.place, b.place) == Meeting::Meet;
    moved += moves && meet(a.place, b.place) == Meeting::Apart &&
             meet(a.place, b.place, &motion) == Meeting::Meet;
  }
  // Both answers are asked often.
  EXPECT_GT(met, kPairs / 10);
  EXPECT_LT(met, kPairs * 9 / 10);
  EXPECT_GT(moved, kPairs / 50);
  std::printf("seeds %llu to %llu: %llu meet, %llu only in a later iteration\n",
              static_cast<unsigned long long>(kFirstSeed),
              static_cast<unsigned long long>(kFirstSeed + kPairs - 1),
              static_cast<unsigned long long>(met), static_cast<unsigned long long>(moved));
}

} // namespace
