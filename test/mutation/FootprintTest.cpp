//===- FootprintTest.cpp - runs of bytes against elements one by one --------------------------===//

#include "Footprint.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace kilnrt;
using namespace kilnrt::mutation;

namespace {

using Bytes = std::set<std::pair<uint32_t, int64_t>>; // partition, byte

/// What an access touches, by its definition.
Bytes bytesOf(const TensorInfo &tensor, const isa::Access &access) {
  const bool isOnChip = tensor.memory != isa::Memory::Hbm;
  const int64_t size = isa::bytesOf(access.dtype);
  Bytes bytes;
  for (uint32_t w = 0; w < access.partitionCount; ++w)
    for (int64_t e = 0; e < access.freeElements(); ++e) {
      int64_t element = access.offset + (isOnChip ? 0 : int64_t(w) * access.rowStep), rest = e;
      for (unsigned i = access.rank; i-- > 0;) {
        element += rest % access.num[i] * access.step[i];
        rest /= access.num[i];
      }
      for (int64_t b = 0; b < size; ++b)
        bytes.insert({isOnChip ? tensor.partition + access.partitionStart + w : 0,
                      int64_t(isOnChip ? tensor.byte : 0) + element * size + b});
    }
  return bytes;
}

Bytes bytesOf(const Footprint &footprint) {
  Bytes bytes;
  for (uint32_t p = footprint.firstPartition; p < footprint.endPartition; ++p)
    for (const Run &run : *footprint.runs)
      for (int64_t b = run.first; b < run.end; ++b)
        EXPECT_TRUE(bytes.insert({p, footprint.base + b}).second) << "runs overlap";
  return bytes;
}

/// Accesses of all ranks, with steps that interleave, repeat, stand still and go backwards.
isa::Access randomAccess(std::mt19937 &random, bool isOnChip) {
  const auto below = [&](uint32_t n) { return int64_t(random() % n); };
  isa::Access access;
  access.tensor = 0;
  access.dtype = std::array{isa::DType::Float32, isa::DType::BFloat16, isa::DType::UInt8}[below(3)];
  access.rank = uint8_t(1 + below(3));
  access.partitionStart = isOnChip ? uint32_t(below(3)) : 0;
  access.partitionCount = uint32_t(1 + below(3));
  access.rowStep = isOnChip ? 0 : below(12);
  access.offset = 64 + below(12);
  for (unsigned i = 0; i < access.rank; ++i) {
    access.num[i] = 1 + below(4);
    access.step[i] = below(10) - 3;
  }
  return access;
}

TEST(Footprint, IsTheBytesOfTheElements) {
  Footprints footprints;
  std::mt19937 random(2);
  int meetings = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    Program program;
    program.tensors.resize(1);
    TensorInfo &tensor = program.tensors[0];
    const bool isOnChip = round % 2 == 0;
    tensor.memory = isOnChip ? isa::Memory::Sbuf : isa::Memory::Hbm;
    tensor.shape = {8, 512};
    tensor.partition = isOnChip ? 32 : 0;
    tensor.byte = isOnChip ? 4096 : 0;
    const isa::Access a = randomAccess(random, isOnChip), b = randomAccess(random, isOnChip);
    const Footprint first = footprints.of(program, a, true),
                    second = footprints.of(program, b, false);
    ASSERT_EQ(bytesOf(first), bytesOf(tensor, a)) << "round " << round;
    ASSERT_EQ(bytesOf(second), bytesOf(tensor, b)) << "round " << round;

    const int64_t shift = int64_t(random() % 9) - 4;
    Bytes shared;
    for (const auto &[partition, byte] : bytesOf(second))
      if (bytesOf(first).contains({partition, byte + shift}))
        shared.insert({partition, byte});
    ASSERT_EQ(meet(first, second, shift), !shared.empty()) << "round " << round;
    meetings += !shared.empty();
  }
  // Both answers are frequent.
  EXPECT_GT(meetings, rounds / 8);
  EXPECT_LT(meetings, rounds * 7 / 8);
}

TEST(Footprint, TensorsOverlapAsRectangles) {
  const auto tile = [](isa::Memory memory, uint32_t partition, int64_t partitions, uint64_t byte,
                       int64_t elements) {
    TensorInfo tensor;
    tensor.memory = memory;
    tensor.shape = {partitions, elements};
    tensor.partition = partition;
    tensor.byte = byte;
    return tensor;
  };
  const TensorInfo t = tile(isa::Memory::Sbuf, 32, 32, 128, 16); // 64 bytes
  EXPECT_TRUE(overlap(t, t));
  EXPECT_TRUE(overlap(t, tile(isa::Memory::Sbuf, 63, 1, 191, 1)));
  EXPECT_FALSE(overlap(t, tile(isa::Memory::Sbuf, 64, 32, 128, 16)));
  EXPECT_FALSE(overlap(t, tile(isa::Memory::Sbuf, 0, 32, 128, 16)));
  EXPECT_FALSE(overlap(t, tile(isa::Memory::Sbuf, 32, 32, 192, 16)));
  EXPECT_FALSE(overlap(t, tile(isa::Memory::Sbuf, 32, 32, 64, 16)));
  EXPECT_FALSE(overlap(t, tile(isa::Memory::Psum, 32, 32, 128, 16)));
  const TensorInfo h = tile(isa::Memory::Hbm, 0, 8, 0, 8), other = h;
  EXPECT_TRUE(overlap(h, h));
  EXPECT_FALSE(overlap(h, other));
}

} // namespace
