//===- PlacementTest.cpp - addresses of on-chip tensors ---------------------------------------===//
//
// Rotation, compaction, manual addresses, limits in pairs, and the checker on
// placements that were damaged on purpose.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gmock/gmock.h>

namespace kiln::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Writes `t` and reads it back at once.
void touch(KernelBuilder &b, uint32_t t, unsigned line = 9) {
  b.copy(Engine::Vector, b.whole(t), b.whole(t), line);
}

uint64_t byteOf(const Placement &placement, uint32_t t) { return placement.addresses[t].byte; }

//---- strategies -----------------------------------------------------------------------------===//

TEST(Placement, RotationUsesFreshMemoryBeforeOldMemory) {
  KernelBuilder b;
  for (int i = 0; i < 60; ++i)
    touch(b, b.sbuf("t", {128, 1024}));

  const Placement placement = placed(b.kernel);

  // 212984 bytes hold 51 tiles of 4096 next to each other.
  EXPECT_EQ(byteOf(placement, 0), 0u);
  EXPECT_EQ(byteOf(placement, 1), 4096u);
  EXPECT_EQ(byteOf(placement, 50), 50 * 4096u);
  EXPECT_EQ(byteOf(placement, 51), 0u);
  const std::vector<RotationDepth> depths = rotationDepths(b.kernel, placement);
  ASSERT_EQ(depths.size(), 1u);
  EXPECT_EQ(depths[0].tensors, 60u);
  EXPECT_EQ(depths[0].addresses, 51u);
}

TEST(Placement, CompactReusesTheLowestAddress) {
  KernelBuilder b;
  for (int i = 0; i < 60; ++i)
    touch(b, b.sbuf("t", {128, 1024}));

  PlacementOptions options;
  options.strategy = PlacementStrategy::Compact;
  const Placement placement = placed(b.kernel, options);

  EXPECT_EQ(placement.sbufPeakBytes, 4096u);
  EXPECT_EQ(rotationDepths(b.kernel, placement)[0].addresses, 1u);
}

TEST(Placement, PsumTensorsTakeWholeBanksInTurn) {
  KernelBuilder b;
  std::vector<uint32_t> sums;
  for (int i = 0; i < 9; ++i)
    touch(b, sums.emplace_back(b.psum("s", {128, 100 + i})));
  const uint32_t wide = b.psum("wide", {64, 1024});
  touch(b, wide);

  const Placement placement = placed(b.kernel);

  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(byteOf(placement, sums[i]), 2048u * (i % 8));
  EXPECT_EQ(byteOf(placement, wide), 2048u);
  EXPECT_THAT(verifyPlacement(b.kernel, placement), IsEmpty());
}

TEST(Placement, ResultDoesNotTakeItsOperandsMemory) {
  KernelBuilder b;
  const uint32_t a = b.sbuf("a", {128, 26000}), c = b.sbuf("c", {128, 26000});
  b.memset(Engine::Vector, b.whole(a), 2);
  b.copy(Engine::Vector, b.whole(c), b.whole(a), 3);

  const Placement placement = placed(b.kernel);

  EXPECT_EQ(byteOf(placement, a), 0u);
  EXPECT_EQ(byteOf(placement, c), 104000u);
}

// Rotation leaves 'keep' in the middle; only packing it to one end makes room.
TEST(Placement, FragmentationFallsBackToPacking) {
  KernelBuilder b;
  const uint32_t first = b.sbuf("first", {128, 25000}), keep = b.sbuf("keep", {128, 64}),
                 big = b.sbuf("big", {128, 50000});
  touch(b, first);
  b.memset(Engine::Vector, b.whole(keep), 3);
  touch(b, big);
  b.copy(Engine::Vector, b.whole(keep), b.whole(keep), 5);

  const Placement placement = placed(b.kernel);

  EXPECT_THAT(verifyPlacement(b.kernel, placement), IsEmpty());
}

TEST(Placement, TensorsNeverTouchedCostNothing) {
  KernelBuilder b;
  touch(b, b.sbuf("a", {128, 53246}));
  b.sbuf("b", {128, 53246});

  EXPECT_THAT(verifyPlacement(b.kernel, placed(b.kernel)), IsEmpty());
}

//---- by hand --------------------------------------------------------------------------------===//

TEST(Placement, AutomaticTensorsAvoidManualOnesDuringTheirLife) {
  KernelBuilder b;
  const uint32_t early = b.sbuf("early", {128, 256}), manual = b.sbuf("manual", {128, 256}),
                 late = b.sbuf("late", {128, 256});
  b.setAddress(manual, 0, 512);
  // 'early' is alone at first but still live when 'manual' begins.
  b.memset(Engine::Vector, b.whole(early), 2);
  b.copy(Engine::Vector, b.whole(manual), b.whole(early), 3);
  touch(b, late);

  PlacementOptions options;
  options.strategy = PlacementStrategy::Compact;
  const Placement placement = placed(b.kernel, options);

  EXPECT_EQ(byteOf(placement, early), 1536u);
  EXPECT_EQ(byteOf(placement, manual), 512u);
  EXPECT_EQ(byteOf(placement, late), 0u);
}

TEST(Placement, ManualOverlapIsM04WithBothLives) {
  KernelBuilder b;
  const uint32_t t0 = b.sbuf("t0", {128, 512}, 5), t1 = b.sbuf("t1", {128, 512}, 6);
  b.setAddress(t0, 0, 0);
  b.setAddress(t1, 0, 1024);
  b.memset(Engine::Vector, b.whole(t0), 10);
  b.memset(Engine::Vector, b.whole(t1), 11);
  b.copy(Engine::Vector, b.whole(t1), b.whole(t0), 44);

  const PlacementResult result = place(b.kernel);

  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics[0];
  EXPECT_EQ(d.rule, "M-04");
  EXPECT_EQ(d.severity, Severity::Error);
  EXPECT_EQ(d.message, "'t1' (bytes 1024 to 3071 of sbuf) overwrites 't0' (bytes 0 to "
                       "2047), which is used again at line 44");
  EXPECT_EQ(d.help, "give 't1' an address outside bytes 0 to 2047, or none: "
                    "the compiler then finds one");
  EXPECT_EQ(d.place, (CallChain{{"k.cpp", 6}}));
  ASSERT_EQ(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[0].message, "'t0' is live from line 10 to line 44");
  EXPECT_EQ(d.notes[0].place, (CallChain{{"k.cpp", 5}}));
  EXPECT_EQ(d.notes[1].message, "'t1' is live from line 11 to line 44");
  // It can be made a warning: there is a placement all the same.
  ASSERT_TRUE(result.placement);
  EXPECT_THAT(verifyPlacement(b.kernel, *result.placement), IsEmpty());
  PlacementOptions options;
  options.allowManualOverlap = true;
  EXPECT_EQ(place(b.kernel, options).diagnostics[0].severity, Severity::Warning);
}

TEST(Placement, ManualTensorsMayShareBytesInTimeOrPartitions) {
  KernelBuilder b;
  const uint32_t a = b.sbuf("a", {64, 512}, 5), c = b.sbuf("c", {64, 512}, 6),
                 d = b.sbuf("d", {128, 512}, 7);
  b.setAddress(a, 0, 0);
  b.setAddress(c, 64, 0);
  b.setAddress(d, 0, 0);
  b.copy(Engine::Vector, b.whole(a), b.whole(c), 10);
  touch(b, d);

  const PlacementResult result = place(b.kernel);

  EXPECT_EQ(textOf(result.diagnostics), "");
  EXPECT_THAT(verifyPlacement(b.kernel, *result.placement), IsEmpty());
}

TEST(Placement, UnrolledOverlapIsReportedOnce) {
  KernelBuilder b;
  for (int i = 0; i < 100; ++i) {
    const uint32_t x = b.sbuf("x", {128, 4}, 5), y = b.sbuf("y", {128, 4}, 6);
    b.setAddress(x, 0, 0);
    b.setAddress(y, 0, 8);
    b.copy(Engine::Vector, b.whole(x), b.whole(y), 7);
  }

  EXPECT_EQ(place(b.kernel).diagnostics.size(), 1u);
}

/// `tiles` tiles of one declaration over `addresses` addresses by hand; tile i is read when tile
/// i + `distance` is written.
PlacementResult placeRing(int tiles, int addresses, int distance,
                          const PlacementOptions &options = {}) {
  KernelBuilder b;
  const uint32_t sink = b.sbuf("sink", {128, 256}, 4);
  std::vector<uint32_t> ring;
  for (int i = 0; i < tiles; ++i) {
    ring.push_back(b.sbuf("k" + std::to_string(i), {128, 256}, 5));
    b.setAddress(ring.back(), 0, 8192 + 1024 * uint64_t(i % addresses));
    b.memset(Engine::Gpsimd, b.whole(ring.back()), 10);
    if (i >= distance)
      b.copy(Engine::Vector, b.whole(sink), b.whole(ring[size_t(i - distance)]), 71);
  }
  return place(b.kernel, options);
}

TEST(Placement, ShallowRotationIsM05) {
  EXPECT_EQ(textOf(placeRing(17, 3, 2).diagnostics), "");
  const PlacementResult result = placeRing(17, 2, 2);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics[0];
  EXPECT_EQ(d.rule, "M-05");
  EXPECT_EQ(d.severity, Severity::Error);
  EXPECT_EQ(d.message,
            "'k2' (bytes 8192 to 9215 of sbuf) is written at line 10 before the last use of 'k0' "
            "(bytes 8192 to 9215) at line 71; the declaration rotates over 2 addresses, and 3 of "
            "its tiles are live at once");
  EXPECT_EQ(d.help, "rotate over 3 tiles that share no byte, or leave the address out: the "
                    "compiler then rotates as deep as memory allows");
  EXPECT_EQ(d.place, (CallChain{{"k.cpp", 5}}));
  // One address for all is no rotation.
  EXPECT_EQ(placeRing(17, 1, 2).diagnostics[0].rule, "M-04");
  EXPECT_EQ(placeRing(17, 2, 2, {.allowManualOverlap = true}).diagnostics[0].severity,
            Severity::Error);
  EXPECT_EQ(placeRing(17, 2, 2, {.allowShallowRotation = true}).diagnostics[0].severity,
            Severity::Warning);
}

TEST(Placement, BadManualAddressesKeepTheRulesOfTheTable) {
  const auto ruleAt = [](Memory memory, uint32_t partition, uint64_t byte) {
    KernelBuilder b;
    const uint32_t t = b.tensor("t", memory, {96, 512});
    b.setAddress(t, partition, byte);
    touch(b, t);
    const PlacementResult result = place(b.kernel);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].rule;
  };
  EXPECT_EQ(ruleAt(Memory::Sbuf, 0, 212984 - 2048), "");
  EXPECT_EQ(ruleAt(Memory::Sbuf, 0, 212984 - 2044), "M-03");
  EXPECT_EQ(ruleAt(Memory::Psum, 0, 14336), "");
  EXPECT_EQ(ruleAt(Memory::Psum, 0, 14340), "M-06");
  EXPECT_EQ(ruleAt(Memory::Sbuf, 32, 0), "M-07");
}

//---- limits ---------------------------------------------------------------------------------===//

// A tensor may fill a partition, 212984 bytes; one byte more is M-02.
TEST(Placement, OneTensorFillsAPartition) {
  for (const int64_t bytes : {212984, 212985}) {
    KernelBuilder b;
    touch(b, b.sbuf("t", {128, bytes}, 3, DType::UInt8));
    const PlacementResult result = place(b.kernel);
    EXPECT_EQ(result.placement.has_value(), bytes == 212984);
    if (bytes == 212985) {
      EXPECT_EQ(result.diagnostics[0].rule, "M-02");
    }
  }
}

/// Two tensors live together, 106496 + `rest` bytes.
PlacementResult placePair(int64_t rest) {
  KernelBuilder b;
  const uint32_t x = b.sbuf("x", {128, 106496}, 3, DType::UInt8),
                 y = b.sbuf("y", {64, rest}, 4, DType::UInt8);
  b.memset(Engine::Vector, b.whole(x), 8);
  b.copy(Engine::Vector, b.whole(y), b.part(x, 0, 64, 0, rest), 9);
  return place(b.kernel);
}

// SBUF may be filled to the last usable byte; one more is M-01.
TEST(Placement, ExactlyFullFits) {
  EXPECT_EQ(textOf(placePair(106488).diagnostics), "");
  EXPECT_EQ(placePair(106488).placement->sbufPeakBytes, 212984u);
}

// Two halves of SBUF, which no coarse unit divides.
TEST(Placement, EveryByteCanBeUsed) {
  for (const auto strategy : {PlacementStrategy::Rotation, PlacementStrategy::Compact}) {
    KernelBuilder b;
    const uint32_t x = b.sbuf("x", {128, 26623}, 3), y = b.sbuf("y", {128, 26623}, 4);
    b.memset(Engine::Vector, b.whole(x), 8);
    b.copy(Engine::Vector, b.whole(y), b.whole(x), 9);
    const Placement placement = placed(b.kernel, {.strategy = strategy});
    EXPECT_EQ(placement.sbufPeakBytes, 212984u);
    EXPECT_THAT(verifyPlacement(b.kernel, placement), IsEmpty());
  }
}

TEST(Placement, OneByteMoreIsM01) {
  const PlacementResult result = placePair(106489);

  EXPECT_FALSE(result.placement);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics[0];
  EXPECT_EQ(d.rule, "M-01");
  EXPECT_EQ(d.fault, Fault::User);
  EXPECT_EQ(d.message,
            "the operands of one tensor_copy take 212985 of 212984 SBUF bytes per partition, so no "
            "order of instructions fits: 'y' (line 4, 106489 bytes), 'x' (line 3, 106496 bytes)");
  EXPECT_EQ(d.help, "cut the free dims into tiles: 2 tiles fit with at most 106492 bytes each, "
                    "which is 106492 elements of uint8");
  EXPECT_EQ(d.place, (CallChain{{"k.cpp", 9}}));
  ASSERT_EQ(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[0].message, "'x' holds 106496 bytes per partition, live from line 8 to line 9");
  EXPECT_EQ(d.notes[0].place, (CallChain{{"k.cpp", 3}}));
  EXPECT_EQ(d.notes[1].message, "'y' holds 106489 bytes per partition, live from line 9 to line 9");
}

TEST(Placement, ReportGroupsUnrolledTensorsAndNamesAll) {
  KernelBuilder b;
  std::vector<uint32_t> tiles;
  for (int i = 0; i < 25; ++i)
    tiles.push_back(b.sbuf("panel" + std::to_string(i), {128, 2048}, 30));
  for (int i = 0; i < 10; ++i)
    tiles.push_back(b.sbuf("x" + std::to_string(i), {128, 512 - i}, 31 + i));
  for (uint32_t t : tiles)
    b.memset(Engine::Vector, b.whole(t), 57);
  for (uint32_t t : tiles)
    b.memset(Engine::Vector, b.whole(t), 58);

  const PlacementResult result = place(b.kernel);

  ASSERT_EQ(result.diagnostics.size(), 1u);
  const Diagnostic &d = result.diagnostics[0];
  EXPECT_EQ(d.message, "SBUF peaks at 225100 of 212984 bytes per partition at line 57; "
                       "largest live: 'panel0' and 24 more (line 30, 8192 bytes each), "
                       "'x0' (line 31, 2048 bytes), 'x1' (line 32, 2044 bytes) and 8 "
                       "other tensors");
  EXPECT_EQ(d.help, "the largest saving is 'panel0' and 24 more (line 30, 8192 bytes "
                    "each): everything else takes 20300 bytes, so cut them from 204800 to at most "
                    "192684 bytes");
  ASSERT_EQ(d.notes.size(), 11u);
  EXPECT_EQ(d.notes[0].message,
            "'panel0' and 24 more hold 204800 bytes per partition, live from line 57 to line 58");
  EXPECT_EQ(d.notes[10].message,
            "'x9' holds 2012 bytes per partition, live from line 57 to line 58");
}

TEST(Placement, ReportNamesTheTensorThatLiesIdle) {
  KernelBuilder b;
  const uint32_t w = b.sbuf("w", {128, 30000}, 3), x = b.sbuf("x", {128, 30000}, 4);
  b.memset(Engine::Vector, b.whole(w), 10);
  touch(b, x, 20);
  b.memset(Engine::Vector, b.whole(w), 90);

  const PlacementResult result = place(b.kernel);

  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(
      result.diagnostics[0].help,
      "'w' (120000 bytes) lies idle from line 10 to line 90: load or compute it again for the "
      "later use, and all fits");
}

TEST(Placement, NinthAccumulatorIsS04) {
  for (const int count : {8, 9}) {
    KernelBuilder b;
    std::vector<uint32_t> sums;
    for (int i = 0; i < count; ++i)
      sums.push_back(b.psum("acc" + std::to_string(i), {128, 512}, 40 + i));
    for (uint32_t s : sums)
      b.memset(Engine::Vector, b.whole(s), 60);
    for (uint32_t s : sums)
      touch(b, s, 61);
    const PlacementResult result = place(b.kernel);
    EXPECT_EQ(result.placement.has_value(), count == 8);
    if (count == 8)
      continue;
    ASSERT_EQ(result.diagnostics.size(), 1u);
    EXPECT_EQ(result.diagnostics[0].rule, "S-04");
    EXPECT_EQ(result.diagnostics[0].message,
              "9 PSUM accumulators are live at line 60, the core has 8 banks; "
              "evacuate one of 'acc0' (line 40, 2048 bytes), 'acc1' (line 41, "
              "2048 bytes), 'acc2' (line 42, 2048 bytes) and 6 other tensors");
  }
}

TEST(Placement, WideAccumulatorsAreCountedInBanks) {
  KernelBuilder b;
  const uint32_t x = b.psum("x", {128, 2560}, 40), y = b.psum("y", {128, 2048}, 41);
  b.copy(Engine::Vector, b.whole(x), b.whole(y), 60);

  EXPECT_EQ(
      textOf(place(b.kernel).diagnostics),
      "[S-04] the operands of one tensor_copy take 18432 of 16384 PSUM bytes per partition, so "
      "no order of instructions fits: 'x' (line 40, 10240 bytes), 'y' (line 41, 8192 "
      "bytes)\n");
}

// Three long pieces by hand leave 4 banks free, but never 3 in a row.
TEST(Placement, FragmentsByHandAreNamed) {
  KernelBuilder b;
  std::vector<Access> pinned;
  for (const uint64_t bank : {2, 5}) {
    const uint32_t t = b.psum("pin" + std::to_string(bank), {128, 512}, 40);
    b.setAddress(t, 0, bank * 2048);
    b.memset(Engine::Vector, b.whole(t), 50);
    pinned.push_back(b.whole(t));
  }
  const uint32_t wide = b.psum("wide", {128, 1536}, 41);
  touch(b, wide, 51);
  b.copy(Engine::Vector, pinned[0], pinned[1], 52);

  EXPECT_EQ(textOf(place(b.kernel).diagnostics),
            "[S-04] 'wide' needs 3 PSUM banks in a row at line 51, and what is "
            "free there lies in smaller pieces; the peak is 10240 of 16384 "
            "bytes\n");
}

//---- the checker ----------------------------------------------------------------------------===//

/// Two tiles that live together, and one that lives later.
struct Damaged {
  KernelBuilder b;
  uint32_t x, y;
  Placement placement;
  Damaged() {
    x = b.sbuf("x", {128, 512}, 3);
    y = b.sbuf("y", {128, 512}, 4);
    b.copy(Engine::Vector, b.whole(x), b.whole(y), 9);
    placement = placed(b.kernel);
  }
  std::string verdict() { return textOf(verifyPlacement(b.kernel, placement)); }
};

TEST(VerifyPlacement, ReportsOverlap) {
  Damaged d;
  EXPECT_EQ(d.verdict(), "");
  d.placement.addresses[d.y].byte = 1984;
  EXPECT_EQ(d.verdict(), "[] 'y' (sbuf, partitions 0 to 127, bytes 1984 to "
                         "4031) overlaps 'x' (sbuf, partitions 0 to 127, bytes "
                         "0 to 2047) while both are live\n");
}

TEST(VerifyPlacement, ReportsBoundsAlignmentAndPartition) {
  Damaged d;
  d.placement.addresses[d.y].byte = 212984 - 2047;
  EXPECT_EQ(d.verdict(), "[] 'y' (sbuf, partitions 0 to 127, bytes 210937 to 212984) lies "
                         "outside its memory of 128 partitions and 212984 bytes\n"
                         "[] 'y' (sbuf, partitions 0 to 127, bytes 210937 to 212984) starts "
                         "at byte 210937, which is no multiple of 4\n");
  d.placement.addresses[d.y] = {64, 4096};
  EXPECT_EQ(d.verdict(), "[] 'y' (sbuf, partitions 64 to 191, bytes 4096 to 6143) lies "
                         "outside its memory of 128 partitions and 212984 bytes\n"
                         "[] 'y' (sbuf, partitions 64 to 191, bytes 4096 to 6143) starts at "
                         "partition 64 instead of 0 without being placed by hand\n");
}

TEST(VerifyPlacement, ReportsBankAndManualAddress) {
  KernelBuilder b;
  const uint32_t s = b.psum("s", {128, 512}, 3);
  b.setAddress(s, 0, 2048);
  touch(b, s);
  Placement placement = placed(b.kernel);
  placement.addresses[s].byte = 4;

  EXPECT_EQ(textOf(verifyPlacement(b.kernel, placement)),
            "[] 's' (psum, partitions 0 to 127, bytes 4 to 2051) was placed by "
            "hand at partition 0, byte 2048\n"
            "[] 's' (psum, partitions 0 to 127, bytes 4 to 2051) starts at "
            "byte 4, which is no multiple of 2048\n");
}

TEST(VerifyPlacement, ReportsMissingTensors) {
  Damaged d;
  d.placement.addresses.pop_back();
  EXPECT_EQ(d.verdict(), "[] the placement names 1 tensors, the kernel has 2\n");
}

//---- at random ------------------------------------------------------------------------------===//

/// Tiles of many sizes with lives of many lengths, as dense as `load` says.
Kernel crowdedKernel(uint32_t seed, double load) {
  std::mt19937 random(seed);
  KernelBuilder b;
  std::vector<std::pair<uint32_t, uint32_t>> live; // end, tensor
  int64_t bytes = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    std::erase_if(live, [&](const auto &entry) {
      if (entry.first > i)
        return false;
      bytes -= b.kernel.tensors[entry.second].bytes();
      return true;
    });
    const int64_t size = int64_t(16) << random() % 11;
    if (double(bytes + 4 * size) > load * 212984)
      continue;
    const uint32_t t = b.sbuf("t", {128, size}, 2);
    bytes += 4 * size;
    const uint32_t life = random() % 16 == 0 ? 400 : 1 + random() % 20;
    live.push_back({i + life, t});
    b.memset(Engine::Vector, b.whole(t), 3);
    for (const auto &[end, other] : live)
      b.memset(Engine::Vector, b.whole(other), 4);
  }
  return b.kernel;
}

TEST(Placement, RandomKernelsPlaceAndVerify) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Kernel kernel = crowdedKernel(seed, 0.8);
    PlacementOptions compact;
    compact.strategy = PlacementStrategy::Compact;
    const Placement rotated = placed(kernel), packed = placed(kernel, compact);
    EXPECT_EQ(textOf(verifyPlacement(kernel, rotated)), "");
    EXPECT_EQ(textOf(verifyPlacement(kernel, packed)), "");
    EXPECT_LE(packed.sbufPeakBytes, rotated.sbufPeakBytes);
  }
}

TEST(Placement, IsDeterministic) {
  const Kernel kernel = crowdedKernel(7, 0.8);
  const Placement once = placed(kernel), again = placed(kernel);
  for (size_t t = 0; t < once.addresses.size(); ++t)
    EXPECT_EQ(once.addresses[t].byte, again.addresses[t].byte);
}

// A hundred thousand tensors: a quadratic step would run into the time limit.
TEST(Placement, ManyTensors) {
  KernelBuilder b;
  b.kernel.locations.push_back({0, 1, kNone});
  for (int i = 0; i < 100'000; ++i) {
    KernelTensor tensor;
    tensor.name = "t";
    tensor.shape = {128, 64 + i % 500};
    tensor.location = 0;
    b.kernel.tensors.push_back(tensor);
    b.copy(Engine::Vector, b.whole(uint32_t(i)), b.whole(uint32_t(i / 2 + i / 4)), 2);
  }
  // Every tensor is read again by a later one at most half the kernel away.
  b.kernel.instructions.resize(100'000);
  for (int i = 0; i < 100'000; ++i)
    b.kernel.instructions[i].inst.operands[1] =
        b.part(uint32_t(std::max(0, i - 20 - i % 7)), 0, 128, 0, 1);

  const Placement placement = placed(b.kernel);

  EXPECT_EQ(textOf(verifyPlacement(b.kernel, placement)), "");
}

} // namespace
} // namespace kiln::analysis
