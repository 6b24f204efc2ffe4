//===- OverlapTest.cpp - accesses that share bytes, against a list of bytes -------------------===//

#include "kiln/ISA/Overlap.h"
#include "Findings.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kiln {
namespace {

using isa::Access;

/// All bytes of an access, listed one by one.
std::set<int64_t> bytesOf(const Access &a, const isa::TensorView &t) {
  std::set<int64_t> bytes;
  const int64_t size = isa::bytesOf(a.dtype);
  const bool onChip = t.memory != isa::Memory::Hbm;
  const int64_t partition = onChip ? t.freeElements() * isa::bytesOf(t.dtype) : 0;
  std::array<int64_t, isa::kMaxFreeDims> num{1, 1, 1, 1}, step{};
  for (unsigned i = 0; i < a.rank; ++i)
    std::tie(num[i], step[i]) = std::pair(a.num[i], a.step[i]);
  for (int64_t w = 0; w < a.partitionCount; ++w)
    for (int64_t i = 0; i < num[0]; ++i)
      for (int64_t j = 0; j < num[1]; ++j)
        for (int64_t k = 0; k < num[2]; ++k) {
          int64_t element = a.offset + w * a.rowStep + i * step[0] + j * step[1] + k * step[2];
          int64_t first = element * size + (onChip ? (a.partitionStart + w) * partition : 0);
          for (int64_t b = 0; b < size; ++b)
            bytes.insert(first + b);
        }
  return bytes;
}

struct Case {
  isa::TensorView tensor;
  Access a, b;
};

/// Small accesses that stay inside a tensor of 8 x 24 elements.
Access randomAccess(std::mt19937 &random, isa::Memory memory) {
  auto pick = [&](int lo, int hi) { return std::uniform_int_distribution(lo, hi)(random); };
  Access a;
  a.tensor = 0;
  a.dtype = pick(0, 1) ? isa::DType::Float32 : isa::DType::BFloat16;
  const int width = 24 * 4 / int(isa::bytesOf(a.dtype));
  const bool hbm = memory == isa::Memory::Hbm;
  a.partitionCount = uint32_t(pick(1, 4));
  a.partitionStart = hbm ? 0 : uint32_t(pick(0, 8 - int(a.partitionCount)));
  a.rowStep = hbm ? pick(0, 3) ? width : pick(1, width) : 0;
  a.rank = 2;
  a.num = {pick(1, 3), pick(1, 4)};
  a.step = {pick(0, 6), pick(0, 2)};
  const int64_t reach = a.step[0] * (a.num[0] - 1) + a.step[1] * (a.num[1] - 1);
  a.offset = pick(0, width - 1 - int(reach)) + (hbm ? width * pick(0, 3) : 0);
  return a;
}

TEST(ShareBytes, AgreesWithAListOfBytes) {
  const unsigned seed = 20;
  std::mt19937 random(seed);
  const int64_t shape[] = {8, 24};
  int shared = 0;
  for (int i = 0; i < 20000; ++i) {
    const isa::Memory memory = i % 2 ? isa::Memory::Sbuf : isa::Memory::Hbm;
    const isa::TensorView tensor{"t", memory, isa::DType::Float32, shape, 0};
    const Access a = randomAccess(random, memory), b = randomAccess(random, memory);
    const std::set<int64_t> x = bytesOf(a, tensor), y = bytesOf(b, tensor);
    std::vector<int64_t> both;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
    ASSERT_EQ(isa::shareBytes(a, b, tensor), !both.empty()) << "seed " << seed << ", case " << i;
    shared += !both.empty();
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
}

Access row(int64_t offset, int64_t num, int64_t step = 1) {
  Access a;
  a.tensor = 0;
  a.partitionCount = 4;
  a.rank = 1;
  a.offset = offset;
  a.num = {num};
  a.step = {step};
  return a;
}

TEST(ReadsWhatItWrote, DependsOnTheOrderOfTheStream) {
  const int64_t shape[] = {8, 24};
  const isa::TensorView tensor{"t", isa::Memory::Sbuf, isa::DType::Float32, shape, 0};
  using lint::readsWhatItWrote;
  // dst and src; element k of dst is written when element k of src has been read.
  EXPECT_FALSE(readsWhatItWrote(tensor, row(0, 8), row(0, 8))) << "in place";
  EXPECT_TRUE(readsWhatItWrote(tensor, row(1, 8), row(0, 8))) << "to the right";
  EXPECT_FALSE(readsWhatItWrote(tensor, row(0, 8), row(1, 8))) << "to the left";
  EXPECT_FALSE(readsWhatItWrote(tensor, row(8, 8), row(0, 8))) << "side by side";
  EXPECT_TRUE(readsWhatItWrote(tensor, row(7, 8), row(0, 8))) << "one element in common";
  EXPECT_TRUE(readsWhatItWrote(tensor, row(7, 8, -1), row(0, 8))) << "reversed";
  EXPECT_FALSE(readsWhatItWrote(tensor, row(0, 8, 2), row(1, 8, 2))) << "even from odd";
  // A sum of four elements each is written after the fourth.
  EXPECT_FALSE(readsWhatItWrote(tensor, row(0, 2), row(0, 8)));
  EXPECT_TRUE(readsWhatItWrote(tensor, row(5, 2), row(0, 8)));
  EXPECT_FALSE(readsWhatItWrote(tensor, row(3, 1), row(0, 8))) << "one sum";
  // Other partitions.
  Access below = row(1, 8);
  below.partitionStart = 4;
  EXPECT_FALSE(readsWhatItWrote(tensor, below, row(0, 8)));
  below.partitionStart = 3;
  EXPECT_TRUE(readsWhatItWrote(tensor, below, row(0, 8)));
}

} // namespace
} // namespace kiln
