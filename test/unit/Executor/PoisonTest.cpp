//===- PoisonTest.cpp - what memory holds that nothing was written to -------------------------===//

#include "Pipeline.h"

#include <set>

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

constexpr ProgramFlags kPlaced{.placed = true};

Poison poisonOf(const std::string &text) {
  const Expected<Poison> poison = parsePoison(text);
  EXPECT_TRUE(poison) << text;
  return poison ? *poison : Poison();
}

/// With the checks off.
RunOptions unchecked(std::optional<std::string> poison = {}) {
  RunOptions options{.checkUninitialised = false};
  if (poison)
    options.poison = poisonOf(*poison);
  return options;
}

std::vector<uint8_t> patternOf(const std::string &text) {
  const Poison poison = poisonOf(text);
  return {poison.pattern.begin(), poison.pattern.begin() + poison.length};
}

constexpr uint32_t kDefault = 0x7FDB7FDB; ///< the poison nobody asked for, as int32

} // namespace

//---- names --------------------------------------------------------------===//

TEST(PoisonName, IsBytesInHexOrASeed) {
  EXPECT_EQ(poisonOf("DB7f"), Poison());
  EXPECT_EQ(patternOf("00"), (std::vector<uint8_t>{0}));
  EXPECT_EQ(patternOf("0102fF"), (std::vector<uint8_t>{1, 2, 255}));
  EXPECT_EQ(patternOf(std::string(128, 'a')), std::vector<uint8_t>(64, 0xAA));
  EXPECT_EQ(poisonOf("random:18446744073709551615").seed, UINT64_MAX);
  for (const std::string text : {"", "0", "000", "0x", "+1", "-1", " 0", "zz", "random", "random:",
                                 "random:x", "random:-1", "random:18446744073709551616"}) {
    const Expected<Poison> poison = parsePoison(text);
    ASSERT_FALSE(poison) << text;
    EXPECT_EQ(poison.error().fault, Fault::Usage);
    EXPECT_EQ(poison.error().message, "'" + text + "' is no poison");
    EXPECT_EQ(poison.error().help,
              "give 1 to 64 bytes in hex, as in DB7F or 00, or random:SEED, as in random:7");
  }
  EXPECT_FALSE(parsePoison(std::string(130, 'a')));
}

//---- fresh memory -------------------------------------------------------===//

TEST(Poison, FillsFreshMemoryOnChipAndInHbm) {
  for (Memory memory : {Memory::Sbuf, Memory::Hbm}) {
    ProgramBuilder b;
    const uint32_t x = memory == Memory::Hbm ? b.hbm("x", DType::Int32, {2, 2})
                                             : b.sbuf("x", DType::Int32, {2, 2});
    const uint32_t out = b.output("o", DType::Int32, {2, 2});
    b.dma(b.all(out), b.all(x));

    EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked())[0]), std::vector<uint32_t>(4, kDefault));
    EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked("00"))[0]), std::vector<uint32_t>(4, 0));
    EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked("0102030405060708"))[0]),
              (std::vector<uint32_t>{0x04030201, 0x08070605, 0x04030201, 0x08070605}));
    std::set<std::vector<uint32_t>> different;
    for (const char *seed : {"random:1", "random:1", "random:2"})
      different.insert(bitsOf(outputsOf(b, {}, unchecked(seed))[0]));
    EXPECT_EQ(different.size(), 2u);
  }
}

/// A range longer than what is filled element by element, and a pattern that does not divide it.
TEST(Poison, GoesOnThroughLongRanges) {
  std::vector<std::byte> bytes(10'000);
  PoisonFill(poisonOf("010203")).fill(bytes.data(), int64_t(bytes.size()));
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(int(bytes[i]), int(i % 3 + 1)) << i;
}

//---- bytes that are over ------------------------------------------------===//

/// t1 is written over a part of t0: what is left of t0 shows the old values on the chip, and the
/// poison if one is given.
TEST(Poison, FillsATensorWhoseMemoryAnotherTakes) {
  ProgramBuilder b(kPlaced);
  const uint32_t first = b.onChip("t0", Memory::Sbuf, DType::Int32, {4, 4}, 0);
  const uint32_t second = b.onChip("t1", Memory::Sbuf, DType::Int32, {4, 2}, 8);
  const uint32_t out = b.output("o", DType::Int32, {4, 4});
  b.memset(b.all(first), 1);
  b.memset(b.all(second), 2);
  b.dma(b.all(out), b.all(first));
  const auto rows = [](uint32_t a, uint32_t c) {
    std::vector<uint32_t> bits;
    for (int row = 0; row < 4; ++row)
      bits.insert(bits.end(), {a, a, c, c});
    return bits;
  };

  EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked())[0]), rows(1, 2));
  EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked("DB7F"))[0]), rows(kDefault, 2));
  EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked("00"))[0]), rows(0, 2));
  EXPECT_EQ(faultOf(b, {}, {.poison = poisonOf("00")}).rule, "M-04") << "the checks go first";
  // Who accepts that tensors share their bytes sees what the chip sees.
  EXPECT_EQ(bitsOf(outputsOf(b, {}, {.checkOverwritten = false, .poison = poisonOf("00")})[0]),
            rows(1, 2));
}

/// Each iteration reads its tile before it writes it: the tile of the iteration before is over.
TEST(Poison, FillsATensorWhoseIterationEnded) {
  for (const ProgramFlags flags : {ProgramFlags(), kPlaced}) {
    ProgramBuilder b(flags);
    const uint32_t out = b.output("o", DType::Int32, {3, 2});
    const uint32_t t = b.sbuf("t", DType::Int32, {1, 2});
    b.declareInLoop(t, 0);
    b.loop(3);
    b.dma(moving(b.rows(out, 0, 1, 2, {{1, 2}}), {2}), b.all(t));
    b.memset(b.all(t), 5);
    b.endLoop();

    EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked())[0]),
              (std::vector<uint32_t>{kDefault, kDefault, 5, 5, 5, 5}));
    EXPECT_EQ(bitsOf(outputsOf(b, {}, unchecked("00"))[0]), std::vector<uint32_t>(6, 0));
  }
}

//---- right programs -----------------------------------------------------===//

TEST(Poison, NeverShowsInARightProgram) {
  Pipeline pipeline(5);
  const std::vector<uint32_t> expected = pipeline.expected();
  for (const char *text : {"00", "FF", "DB7F", "0000803F", "random:1", "random:2"})
    for (bool isChecked : {false, true})
      for (const Schedule &schedule :
           {Schedule(), Schedule(Schedule::Random, 3), Schedule(Schedule::ReverseDma)})
        EXPECT_EQ(bitsOf(outputsOf(pipeline.b, pipeline.inputs,
                                   {.schedule = schedule,
                                    .checkUninitialised = isChecked,
                                    .poison = poisonOf(text)})[0]),
                  expected)
            << text << " " << scheduleText(schedule);
}

/// An instruction may write its result where its input was, which ends with it: the input is read
/// before its bytes are filled. Same elements, then other ones.
TEST(Poison, SparesAnInputThatItsOwnInstructionTakesOver) {
  const std::vector<uint32_t> bits = samples(DType::Int32, 32, 1);
  for (uint64_t byte : {0u, 8u}) {
    ProgramBuilder b(kPlaced);
    const uint32_t x = b.input("x", DType::Int32, {8, 4});
    const uint32_t t = b.onChip("t", Memory::Sbuf, DType::Int32, {8, 4}, 0);
    const uint32_t u = b.onChip("u", Memory::Sbuf, DType::Int32, {8, 4}, byte);
    const uint32_t out = b.output("o", DType::Int32, {8, 4});
    b.dma(b.all(t), b.all(x));
    b.copy(b.all(u), b.all(t));
    b.dma(b.all(out), b.all(u));
    const std::vector<HostArray> inputs = {fromBits(DType::Int32, {8, 4}, bits)};

    for (bool isChecked : {false, true})
      EXPECT_EQ(bitsOf(outputsOf(b, inputs,
                                 {.checkUninitialised = isChecked, .poison = poisonOf("00")})[0]),
                bits)
          << "byte " << byte;
  }
}

/// Sums that another tensor took the bank from do not come back.
TEST(Poison, LeavesMatmulSumsAlone) {
  ProgramBuilder b(kPlaced);
  const uint32_t ones = b.sbuf("ones", DType::Float32, {2, 2});
  const uint32_t p = b.onChip("p", Memory::Psum, DType::Float32, {2, 2}, 0);
  const uint32_t q = b.onChip("q", Memory::Psum, DType::Float32, {2, 2}, 0);
  const uint32_t copied = b.sbuf("c", DType::Float32, {2, 2});
  const uint32_t out = b.output("o", DType::Float32, {2, 2});
  b.memset(b.all(ones), 1);
  b.matmul(b.all(p), b.all(ones), b.all(ones), isa::Accumulate::Overwrite);
  b.matmul(b.all(p), b.all(ones), b.all(ones), isa::Accumulate::Add);
  b.matmul(b.all(q), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
  b.matmul(b.all(q), b.all(ones), b.all(ones), isa::Accumulate::Automatic);
  b.copy(b.all(copied), b.all(q));
  b.dma(b.all(out), b.all(copied));

  for (bool isChecked : {false, true})
    EXPECT_EQ(bitsOf(outputsOf(
                  b, {}, {.checkUninitialised = isChecked, .poison = poisonOf("random:9")})[0]),
              std::vector<uint32_t>(4, encode(DType::Float32, 4)));
}
