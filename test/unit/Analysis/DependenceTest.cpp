//===- DependenceTest.cpp - regions and who waits for whom ------------------------------------===//
//
// Rectangles of single accesses, dependences of small kernels, and random
// kernels compared with a byte by byte account.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gmock/gmock.h>
#include <map>
#include <set>

namespace kiln::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Region> regionsOf(const RegionMap &map, const Access &access) {
  const RegionMap::Pieces pieces = map.regions(access);
  return {pieces.begin(), pieces.end()};
}

//---- regions --------------------------------------------------------------------------------===//

TEST(Region, OnChipIsPartitionsTimesBytes) {
  KernelBuilder b;
  const uint32_t pad = b.sbuf("pad", {128, 16}), t = b.sbuf("t", {96, 100}, 2, DType::BFloat16);
  b.copy(Engine::Vector, b.whole(t), b.whole(pad), 3);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  // 't' comes first in the operands, 'pad' after its 200 bytes.
  EXPECT_THAT(regionsOf(map, b.part(t, 32, 64, 10, 20)),
              ElementsAre(Region{0, 32, 96, int64_t(placement.addresses[t].byte) + 20,
                                 int64_t(placement.addresses[t].byte) + 60}));
}

TEST(Region, StridesSplitIntoRunsOrStayOne) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 1024});
  Access access = b.part(t, 0, 128, 4, 2);
  b.memset(Engine::Vector, access, 1);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  // Two runs of 2 x 4 bytes, 10 elements apart.
  access.rank = 2;
  access.step = {10, 1};
  access.num = {2, 2};
  EXPECT_THAT(regionsOf(map, access),
              ElementsAre(Region{0, 0, 128, 16, 24}, Region{0, 0, 128, 56, 64}));
  // Backwards and dense is one run.
  access.offset = 14;
  access.step = {-2, 1};
  access.num = {3, 2};
  EXPECT_THAT(regionsOf(map, access), ElementsAre(Region{0, 0, 128, 40, 64}));
  // Nine runs are one large region.
  access.offset = 0;
  access.step = {10, 1};
  access.num = {9, 2};
  EXPECT_THAT(regionsOf(map, access), ElementsAre(Region{0, 0, 128, 0, 4 * 82}));
}

TEST(Region, BlocksOfAMatrixAreRectangles) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 512}), o = b.hbm("o", {300, 1000});
  b.dma(b.block(o, 0, 128, 0, 512), b.whole(t), 2);
  b.dma(b.block(o, 128, 128, 512, 488), b.part(t, 0, 128, 0, 488), 3);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_EQ(map.pitchBytes(o), 4000);
  EXPECT_THAT(regionsOf(map, b.block(o, 128, 128, 512, 488)),
              ElementsAre(Region{2 + o, 128, 256, 2048, 4000}));
}

TEST(Region, TransposedBlockIsARectangleToo) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 64}), o = b.hbm("o", {300, 1000});
  Access access = b.block(o, 0, 1, 0, 1);
  access.offset = 7 * 1000 + 256;
  access.partitionCount = 128; // columns
  access.rowStep = 1;
  access.num[0] = 64; // rows
  access.step[0] = 1000;
  b.dma(access, b.whole(t), 2);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_THAT(regionsOf(map, access), ElementsAre(Region{2 + o, 7, 71, 1024, 1536}));
}

TEST(Region, OneDimensionalTilesAreExact) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 100}), o = b.hbm("o", {25700});
  // Tile after tile: [128, 100] elements in a row, then a rest of 100.
  const auto tile = [&](int64_t first, uint32_t rows) {
    Access access = b.block(o, 0, rows, 0, 100);
    access.offset = first;
    access.rowStep = 100;
    return access;
  };
  b.dma(tile(0, 128), b.whole(t), 2);
  b.dma(tile(12800, 128), b.whole(t), 3);
  b.dma(tile(25600, 1), b.part(t, 0, 1, 0, 100), 4);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_THAT(regionsOf(map, tile(12800, 128)), ElementsAre(Region{2 + o, 0, 1, 51200, 102400}));
  EXPECT_THAT(regionsOf(map, tile(25600, 1)), ElementsAre(Region{2 + o, 0, 1, 102400, 102800}));
}

TEST(Region, OneDimensionalTensorInRowsTakesTheirPitch) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {128, 50}), o = b.hbm("o", {25600});
  // [128, 200] by rows, 50 columns at a time.
  const auto tile = [&](int64_t column) {
    Access access = b.block(o, 0, 128, 0, 50);
    access.offset = column;
    access.rowStep = 200;
    return access;
  };
  for (int64_t column = 0; column < 200; column += 50)
    b.dma(tile(column), b.whole(t), 2);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_EQ(map.pitchBytes(o), 800);
  EXPECT_THAT(regionsOf(map, tile(150)), ElementsAre(Region{2 + o, 0, 128, 600, 800}));
}

TEST(Region, HeadsOfARow) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {64, 32}), o = b.hbm("o", {64, 4, 32});
  // All positions of one head: rows of 32 elements, 4 * 32 apart.
  const auto head = [&](int64_t h) {
    Access access = b.block(o, 0, 64, 0, 32);
    access.offset = 32 * h;
    access.rowStep = 128;
    return access;
  };
  for (int64_t h = 0; h < 4; ++h)
    b.dma(head(h), b.whole(t), 2);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_EQ(map.pitchBytes(o), 512);
  EXPECT_THAT(regionsOf(map, head(3)), ElementsAre(Region{2 + o, 0, 64, 384, 512}));
}

// A flat range that is no rectangle: the end of a row, whole rows, a start.
TEST(Region, FlatRangeIsThreeRectangles) {
  KernelBuilder b;
  const uint32_t t = b.sbuf("t", {1, 2500}), o = b.hbm("o", {10, 1000});
  Access flat = b.block(o, 0, 1, 0, 2500);
  flat.offset = 700;
  b.dma(flat, b.whole(t), 2);
  const Placement placement = placed(b.kernel);
  const RegionMap map(b.kernel, placement);

  EXPECT_THAT(regionsOf(map, flat),
              ElementsAre(Region{2 + o, 0, 1, 2800, 4000}, Region{2 + o, 1, 3, 0, 4000},
                          Region{2 + o, 3, 4, 0, 800}));
}

//---- dependences ----------------------------------------------------------------------------===//

std::vector<uint32_t> depsOf(const Kernel &kernel, uint32_t i) {
  const Dependences dependences = findDependences(kernel, placed(kernel));
  const std::span<const uint32_t> sources = dependences.of(i);
  return {sources.begin(), sources.end()};
}

TEST(Dependence, ReadAfterWriteWriteAfterReadWriteAfterWrite) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 64}), y = b.sbuf("y", {128, 64});
  const uint32_t write = b.memset(Engine::Gpsimd, b.whole(x), 1);
  const uint32_t read = b.copy(Engine::Vector, b.whole(y), b.whole(x), 2);
  const uint32_t again = b.copy(Engine::Scalar, b.whole(x), b.whole(x), 3);
  const uint32_t last = b.memset(Engine::Vector, b.whole(x), 4);

  EXPECT_THAT(depsOf(b.kernel, write), IsEmpty());
  EXPECT_THAT(depsOf(b.kernel, read), ElementsAre(write));
  // The reader also waits for the writer: the synchroniser sees it is implied.
  EXPECT_THAT(depsOf(b.kernel, again), ElementsAre(write, read));
  // Only what happened since: the write at line 3 hides everything before.
  EXPECT_THAT(depsOf(b.kernel, last), ElementsAre(again));
}

TEST(Dependence, DisjointPartsAreIndependent) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 64}), y = b.sbuf("y", {128, 64});
  b.memset(Engine::Gpsimd, b.part(x, 0, 64, 0, 64), 1);
  b.memset(Engine::Scalar, b.part(x, 64, 64, 0, 32), 2);
  const uint32_t right =
      b.copy(Engine::Vector, b.part(y, 64, 64, 0, 32), b.part(x, 64, 64, 32, 32), 3);
  const uint32_t lowerLeft =
      b.copy(Engine::Vector, b.part(y, 64, 64, 0, 33), b.part(x, 64, 64, 0, 33), 4);
  const uint32_t upper = b.copy(Engine::Vector, b.part(y, 0, 65, 0, 1), b.part(x, 0, 65, 63, 1), 5);

  EXPECT_THAT(depsOf(b.kernel, right), IsEmpty());
  EXPECT_THAT(depsOf(b.kernel, lowerLeft), ElementsAre(1));
  EXPECT_THAT(depsOf(b.kernel, upper), ElementsAre(0));
}

TEST(Dependence, AddressReuseOrdersStrangers) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 30000}), y = b.sbuf("y", {128, 30000});
  b.memset(Engine::Gpsimd, b.whole(x), 1);
  const uint32_t other = b.memset(Engine::Vector, b.whole(y), 2);

  EXPECT_THAT(depsOf(b.kernel, other), ElementsAre(0));
}

// A tensor that is only read keeps whoever takes its address afterwards waiting.
TEST(Dependence, ReadOfATensorNobodyWrites) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 30000}), y = b.sbuf("y", {128, 30000}),
                 z = b.psum("z", {128, 8});
  b.copy(Engine::Gpsimd, b.whole(z), b.part(x, 0, 128, 0, 8), 1);
  const uint32_t other = b.memset(Engine::Vector, b.whole(y), 2);

  EXPECT_THAT(depsOf(b.kernel, other), ElementsAre(0));
}

TEST(Dependence, AccumulationFollowsTheMatmulBefore) {
  KernelBuilder b;
  const uint32_t a = b.sbuf("a", {128, 128}), acc = b.psum("acc", {128, 128}),
                 o = b.sbuf("o", {128, 128});
  b.dma(b.whole(a), b.block(b.hbm("in", {128, 128}), 0, 128, 0, 128), 1);
  b.matmul(b.whole(acc), b.whole(a), b.whole(a), 2);
  b.copy(Engine::Vector, b.whole(o), b.whole(acc), 3);
  const uint32_t more = b.matmul(b.whole(acc), b.whole(a), b.whole(a), 4);

  // The dma through 'a', the copy through 'acc'; the matmul is on the engine.
  EXPECT_THAT(depsOf(b.kernel, more), ElementsAre(0, 2));
}

TEST(Dependence, InputsOrderNothingOutputsOnlyWhereTheyOverlap) {
  KernelBuilder b;
  const uint32_t in = b.hbm("in", {256, 512}), out = b.hbm("out", {256, 512});
  const uint32_t t = b.sbuf("t", {128, 512}), u = b.sbuf("u", {128, 512});
  b.memset(Engine::Vector, b.whole(t), 1);
  b.dma(b.block(out, 0, 128, 0, 256), b.part(t, 0, 128, 0, 256), 2);
  const uint32_t beside = b.dma(b.block(out, 0, 128, 256, 256), b.part(t, 0, 128, 256, 256), 3);
  b.dma(b.whole(u), b.block(in, 0, 128, 0, 512), 4);
  const uint32_t overlap = b.dma(b.block(out, 127, 2, 255, 2), b.part(t, 0, 2, 0, 2), 5);
  const uint32_t input = b.dma(b.whole(u), b.block(in, 0, 128, 0, 512), 6);

  EXPECT_THAT(depsOf(b.kernel, beside), ElementsAre(0));
  EXPECT_THAT(depsOf(b.kernel, overlap), ElementsAre(0, 1, 2));
  EXPECT_THAT(depsOf(b.kernel, input), ElementsAre(3));
}

TEST(Dependence, LatestReaderOfEachStream) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 64}), y = b.sbuf("y", {128, 64}), z = b.sbuf("z", {128, 64});
  b.memset(Engine::Gpsimd, b.whole(x), 1);
  b.copy(Engine::Vector, b.whole(y), b.whole(x), 2);
  b.copy(Engine::Scalar, b.whole(z), b.part(x, 0, 128, 0, 8), 3);
  b.copy(Engine::Vector, b.part(y, 0, 128, 0, 8), b.part(x, 0, 128, 8, 8), 4);
  const uint32_t write = b.memset(Engine::Gpsimd, b.whole(x), 5);

  EXPECT_THAT(depsOf(b.kernel, write), ElementsAre(2, 3));
}

//---- at random ------------------------------------------------------------------------------===//

/// The account of one byte: last writer, readers since.
struct Account {
  std::optional<uint32_t> writer;
  std::set<uint32_t> readers;
};

TEST(Dependence, RandomKernelsAgreeWithAByteAccount) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = randomKernel(seed, 60, /*isTiny=*/true);
    const Placement placement = placed(kernel);
    const Dependences found = findDependences(kernel, placement);
    std::map<std::tuple<uint32_t, int64_t, int64_t>, Account> bytes;
    std::vector<unsigned> streams;
    unsigned ring = 0;
    for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
      const isa::Instruction &inst = kernel.instructions[i].inst;
      const unsigned engine = engineStream(inst.engine);
      streams.push_back(isTransfer(inst) ? ringStream(ring++ % 8) : engine);
      std::map<unsigned, uint32_t> latest;
      const auto need = [&](uint32_t source) {
        if (streams[source] != engine)
          latest[streams[source]] = std::max(latest[streams[source]], source);
      };
      for (unsigned o = 0; o < isa::kMaxOperands; ++o) {
        const OperandUse use = operandUse(inst, o);
        if (!use.reads && !use.writes)
          continue;
        forEachByte(kernel, placement, inst.operands[o], [&](auto... at) {
          const Account &account = bytes[{at...}];
          if (account.writer)
            need(*account.writer);
          if (use.writes)
            std::for_each(account.readers.begin(), account.readers.end(), need);
        });
      }
      for (const bool writes : {false, true})
        for (unsigned o = 0; o < isa::kMaxOperands; ++o) {
          const OperandUse use = operandUse(inst, o);
          if ((use.reads || use.writes) && use.writes == writes)
            forEachByte(kernel, placement, inst.operands[o], [&](auto... at) {
              Account &account = bytes[{at...}];
              if (writes)
                account = {i, {}};
              else
                account.readers.insert(i);
            });
        }
      std::vector<uint32_t> expected;
      for (const auto &[stream, source] : latest)
        expected.push_back(source);
      std::sort(expected.begin(), expected.end());
      const std::span<const uint32_t> sources = found.of(i);
      EXPECT_EQ(std::vector<uint32_t>(sources.begin(), sources.end()), expected)
          << "instruction " << i;
    }
  }
}

} // namespace
} // namespace kiln::analysis
