//===- ReportsTest.cpp - memory maps and dependence chains of small kernels -------------------===//

#include "AnalysisTestSupport.h"
#include "kiln/Analysis/MemoryMap.h"
#include "kiln/Analysis/SyncReport.h"

#include <gmock/gmock.h>
#include <map>

namespace kiln::analysis {
namespace {

//---- memory map -----------------------------------------------------------------------------===//

/// Two long tiles, one of few partitions, and three short ones that rotate.
Kernel mixedKernel() {
  KernelBuilder b;
  const uint32_t wide = b.sbuf("wide", {128, 1000}, 3), thin = b.sbuf("thin", {1, 3000}, 4),
                 hand = b.sbuf("hand", {64, 10}, 5);
  b.setAddress(hand, 64, 200000);
  b.memset(Engine::Vector, b.whole(wide), 10);
  b.memset(Engine::Vector, b.whole(thin), 11);
  b.memset(Engine::Vector, b.whole(hand), 12);
  for (int i = 0; i < 3; ++i) {
    const uint32_t tile = b.sbuf("tile", {128, 500}, 6);
    b.memset(Engine::Gpsimd, b.whole(tile), 20);
    b.copy(Engine::Vector, b.part(wide, 0, 128, 0, 500), b.whole(tile), 21);
  }
  b.memset(Engine::Vector, b.whole(thin), 30);
  b.memset(Engine::Vector, b.whole(hand), 31);
  return b.kernel;
}

TEST(MemoryMap, NamesWhatIsLiveAtTheFullestMoment) {
  const Kernel kernel = mixedKernel();
  const Placement placement = placed(kernel);
  const MemoryMap map = mapMemory(kernel, &placement, Memory::Sbuf);

  EXPECT_EQ(map.limitBytes, 212984);
  EXPECT_EQ(map.liveBytes, 4000 + 12000 + 40 + 2000);
  EXPECT_EQ(kernel.line(kernel.instructions[map.position].location), 20u);
  EXPECT_EQ(map.endBytes, 200040);
  ASSERT_EQ(map.tiles.size(), 4u);
  std::vector<std::string> names;
  for (const MappedTile &tile : map.tiles)
    names.push_back(kernel.tensors[tile.tensor].name);
  EXPECT_THAT(names, testing::ElementsAre("wide", "thin", "tile", "hand"));
  EXPECT_EQ(map.tiles[1].byte, 4032u); // after 'wide', in units of the allocator
  EXPECT_EQ(map.tiles[3].partition, 64u);
  EXPECT_EQ(map.tiles[3].life, (Lifetime{2, 11}));
  // Partition 0 holds the thin tile, partitions from 64 on the one placed by hand.
  ASSERT_EQ(map.partitions.size(), 3u);
  EXPECT_EQ(map.partitions[0].last, 0u);
  EXPECT_EQ(map.partitions[0].liveBytes, 18000);
  EXPECT_EQ(map.partitions[1].last, 63u);
  EXPECT_EQ(map.partitions[1].liveBytes, 6000);
  EXPECT_EQ(map.partitions[2].last, 127u);
  EXPECT_EQ(map.partitions[2].liveBytes, 6040);
  EXPECT_EQ(kernel.tensors[map.saving.group.tensor].name, "thin");
  EXPECT_EQ(map.saving.bytes, 12000);
  ASSERT_EQ(map.rotations.size(), 3u);
  EXPECT_EQ(map.rotations[2].tensors, 3u);
  EXPECT_EQ(map.rotations[2].addresses, 3u);
}

TEST(MemoryMap, WithoutAPlacementOnlyTilesByHandHaveAddresses) {
  const Kernel kernel = mixedKernel();
  const MemoryMap map = mapMemory(kernel, nullptr, Memory::Sbuf);
  EXPECT_EQ(map.endBytes, std::nullopt);
  EXPECT_EQ(map.liveBytes, 18040);
  ASSERT_EQ(map.tiles.size(), 4u);
  EXPECT_EQ(map.tiles[0].byte, 200000u);
  EXPECT_EQ(map.tiles[1].byte, std::nullopt);
  EXPECT_THAT(map.rotations, testing::IsEmpty());
}

TEST(MemoryMap, AnUnusedMemoryIsEmpty) {
  const Kernel kernel = mixedKernel();
  const Placement placement = placed(kernel);
  const MemoryMap map = mapMemory(kernel, &placement, Memory::Psum);
  EXPECT_EQ(map.liveBytes, 0);
  EXPECT_EQ(map.endBytes, 0);
  EXPECT_THAT(map.tiles, testing::IsEmpty());
  EXPECT_EQ(map.saving.group.count, 0u);
}

//---- chains ---------------------------------------------------------------------------------===//

/// The longest chain by comparing every pair, byte by byte.
uint32_t chainByBytes(const Kernel &kernel, const Placement &placement) {
  struct Byte {
    uint32_t writer = 0, readers = 0; ///< depths
  };
  std::map<std::tuple<uint32_t, int64_t, int64_t>, Byte> bytes;
  uint32_t longest = 0;
  for (const KernelInstruction &entry : kernel.instructions) {
    uint32_t depth = 0;
    const auto forEach = [&](bool ofWrites, auto fn) {
      for (unsigned o = 0; o < isa::kMaxOperands; ++o)
        if (const Access &access = entry.inst.operands[o];
            access.present() && operandUse(entry.inst, o).writes == ofWrites)
          forEachByte(kernel, placement, access, [&](auto... at) { fn(bytes[{at...}]); });
    };
    forEach(false, [&](Byte &byte) { depth = std::max(depth, byte.writer); });
    forEach(true, [&](Byte &byte) { depth = std::max({depth, byte.writer, byte.readers}); });
    ++depth;
    longest = std::max(longest, depth);
    forEach(false, [&](Byte &byte) { byte.readers = std::max(byte.readers, depth); });
    forEach(true, [&](Byte &byte) { byte = {depth, 0}; });
  }
  return longest;
}

TEST(LongestChain, AgreesWithBytesOnRandomKernels) {
  size_t longer = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = randomKernel(seed, 60, /*isTiny=*/true);
    const Placement placement = placed(kernel);
    const uint32_t exact = chainByBytes(kernel, placement), found = longestChain(kernel, placement);
    // Regions may be larger than the bytes, never smaller.
    EXPECT_GE(found, exact);
    EXPECT_GT(exact, 3u);
    longer += found > exact;
  }
  EXPECT_LE(longer, 12u);
}

TEST(LongestChain, MemoryIsAResource) {
  // 40 loads and copies through tiles that all fit, then through one tile by hand.
  for (const bool isShared : {false, true}) {
    KernelBuilder b;
    const uint32_t in = b.hbm("in", {128, 64});
    for (int i = 0; i < 40; ++i) {
      const uint32_t t = b.sbuf("t", {128, 64}), u = b.sbuf("u", {128, 64});
      if (isShared) {
        b.setAddress(t, 0, 0);
        b.setAddress(u, 0, 256);
      }
      b.dma(b.whole(t), b.block(in, 0, 128, 0, 64), 1);
      b.copy(Engine::Vector, b.whole(u), b.whole(t), 2);
    }
    const SyncReport report = reportSynchronisation(b.kernel, placed(b.kernel));
    EXPECT_EQ(report.chainUnlimited, 2u);
    EXPECT_EQ(report.chain, isShared ? 80u : 2u);
  }
}

TEST(SyncReport, CountsAddUp) {
  const Kernel kernel = matmulKernel(/*blocks=*/9, /*depth=*/4);
  const SyncReport report = reportSynchronisation(kernel, placed(kernel));
  EXPECT_EQ(report.instructions, kernel.instructions.size());
  EXPECT_EQ(report.byWait, report.waits);
  EXPECT_EQ(report.decisions.size(), report.byWait + report.byProgramOrder + report.byKnown);
  EXPECT_GT(report.byKnown, 0u);
  EXPECT_LE(report.semaphores, 13u);
  EXPECT_EQ(report.chainUnlimited, 7u); // load, four matmuls, copy, store
}

} // namespace
} // namespace kiln::analysis
