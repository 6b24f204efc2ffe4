//===- RegistersTest.cpp - instructions on the registers of the sequencers --------------------===//
//
// From assembler text to the executor: each engine has registers of its own, of 32 bits.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Asm.h"
#include "kilnrt/Executor.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kilnrt;
using kiln::isa::DType;

namespace {

/// Runs `streams` with n, 4 elements of `dtype` that hold `bytes`, and gives the 8 elements of y.
/// A message where the text is refused or the run fails.
std::string run(std::string_view dtype, const std::vector<int64_t> &values, std::string streams,
                std::vector<int32_t> &y) {
  const std::string text = ".kernel \"k\"\n.target \"trn2\"\n.flags placed scheduled synchronised\n"
                           ".tensor n hbm 4x" +
                           std::string(dtype) +
                           " input 0\n.tensor y hbm 8xi32 output 0\n"
                           ".stream vector\n" +
                           std::move(streams);
  Expected<Program> program = assemble(text, "registers.s");
  if (!program)
    return program.error().message;
  if (Status status = verify(*program); !status)
    return status.error().message;
  Expected<Executable> executable = Executable::prepare(*program);
  if (!executable)
    return executable.error().message;
  HostArray n{*kiln::isa::parseDType(dtype), {4}, {}};
  const size_t width = kiln::isa::bytesOf(n.dtype);
  n.data.resize(4 * width);
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(n.data.data() + i * width, &values[i], width);
  RunOptions options;
  options.checkUninitialised = false;
  Poison zeros;
  zeros.pattern = {};
  options.poison = zeros;
  Expected<RunResult> result = executable->run({&n, 1}, options);
  if (!result)
    return result.error().message;
  y.resize(8);
  std::memcpy(y.data(), result->outputs[0].data.data(), result->outputs[0].data.size());
  return {};
}

TEST(RegisterMove, CopiesNumbersAndRegisters) {
  std::vector<int32_t> y;
  EXPECT_EQ(run("i32", {},
                "register_move dst=r63 value=-2147483648\n"
                "register_move dst=r0 src=r63\n"
                "register_store dst=y[0: 1x1] src=r0\n"
                "register_store dst=y[1: 1x1] src=r62\n",
                y),
            "");
  EXPECT_EQ(y[0], INT32_MIN);
  EXPECT_EQ(y[1], 0); // registers start at 0
}

TEST(RegisterLoad, ExtendsShortIntegers) {
  const struct {
    const char *dtype;
    std::vector<int64_t> values;
    std::vector<int32_t> expected;
  } cases[] = {
      {"i8", {-128, 127, -1, 0}, {-128, 127, -1, 0}},
      {"ui8", {128, 255, 1, 0}, {128, 255, 1, 0}},
      {"i16", {-32768, 32767, -1, 7}, {-32768, 32767, -1, 7}},
      {"ui16", {32768, 65535, 1, 7}, {32768, 65535, 1, 7}},
      {"ui32", {4294967295, 1, 2, 3}, {-1, 1, 2, 3}},
      {"i32", {INT32_MIN, INT32_MAX, -1, 3}, {INT32_MIN, INT32_MAX, -1, 3}},
  };
  for (const auto &c : cases) {
    std::string text;
    for (int i = 0; i < 4; ++i) {
      const std::string at = std::to_string(i);
      text += "register_load src=n[" + at + ": 1x1] dst=r" + at + "\nregister_store dst=y[" + at +
              ": 1x1] src=r" + at + "\n";
    }
    std::vector<int32_t> y;
    ASSERT_EQ(run(c.dtype, c.values, text, y), "") << c.dtype;
    EXPECT_EQ(std::vector<int32_t>(y.begin(), y.begin() + 4), c.expected) << c.dtype;
  }
}

TEST(RegisterLoad, TakesOneElement) {
  std::vector<int32_t> y;
  EXPECT_EQ(run("i32", {}, "register_load src=n[0: 1x2] dst=r0\n", y),
            "'n' of register_load is (1, 2), a register holds one element");
  EXPECT_EQ(run("i32", {}, "register_load src=n[2 rows of 1, 0: 1x1] dst=r0\n", y),
            "'n' of register_load is (2, 1), a register holds one element");
  EXPECT_EQ(run("f32", {}, "register_load src=n[0: 1x1] dst=r0\n", y),
            "src 'n' is float32, register_load takes int32, uint8, int8, int16, uint16 or uint32");
}

TEST(RegisterStore, KeepsTheLowestBits) {
  std::vector<int32_t> y;
  EXPECT_EQ(run("i32", {0x12345678, 0, 0, 0},
                "register_load src=n[0: 1x1] dst=r1\n"
                "register_store dst=y[0: 1x1]:i8 src=r1\n"
                "register_store dst=y[2: 1x1]:ui16 src=r1\n",
                y),
            "");
  EXPECT_EQ(y[0], 0x78);
  EXPECT_EQ(y[1], 0x5678);
}

TEST(RegisterAlu, ComputesWith32Bits) {
  const struct {
    const char *op;
    int64_t left, right;
    int32_t result;
  } cases[] = {
      {"add", INT32_MAX, 1, INT32_MIN},
      {"subtract", INT32_MIN, 1, INT32_MAX},
      {"multiply", 65537, 65537, 131073},
      {"multiply", -3, 7, -21},
      {"maximum", -1, 1, 1},
      {"minimum", -1, 1, -1},
      {"equal", 5, 5, 1},
      {"not_equal", 5, 5, 0},
      {"greater_equal", -1, 0, 0},
      {"greater", 1, 0, 1},
      {"less_equal", 0, 0, 1},
      {"less", -2147483648, 2147483647, 1},
      {"bitwise_and", -1, 240, 240},
      {"bitwise_or", 1, -2, -1},
      {"bitwise_xor", 6, 3, 5},
      {"left_shift", 1, 31, INT32_MIN},
      {"left_shift", 1, 32, 0},
      {"right_shift", -1, 31, 1},
      {"right_shift", -1, -1, 0},
  };
  for (const auto &c : cases)
    for (const bool isRegister : {false, true}) {
      const std::string right = std::to_string(c.right);
      const std::string text =
          "register_move dst=r1 value=" + std::to_string(c.left) +
          "\nregister_move dst=r2 value=" + right + "\nregister_alu dst=r1 src=r1 op=" + c.op +
          (isRegister ? " src1=r2" : " value=" + right) + "\nregister_store dst=y[0: 1x1] src=r1\n";
      std::vector<int32_t> y;
      ASSERT_EQ(run("i32", {}, text, y), "") << c.op;
      EXPECT_EQ(y[0], c.result) << c.left << " " << c.op << " " << right;
    }
  std::vector<int32_t> y;
  EXPECT_EQ(run("i32", {}, "register_alu dst=r1 src=r1 op=power\n", y),
            "op of register_alu cannot be power");
}

} // namespace
