//===- AsmTest.cpp - programs and instructions as text ----------------------------------------===//

#include "kilnrt/Asm.h"
#include "Samples.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace kilnrt;
using testing::HasSubstr;

namespace {

constexpr uint64_t kSeed = 77;

/// Assembled, or "file:line: message | help".
std::string errorOf(std::string_view text) {
  Expected<Program> program = assemble(text, "t.s");
  if (program)
    return "accepted";
  const Diagnostic &error = program.error();
  EXPECT_EQ(error.place.size(), 1u);
  std::string out =
      fmt::format("{}:{}: {}", error.place[0].file, error.place[0].line, error.message);
  return error.help.empty() ? out : out + " | help: " + error.help;
}

/// Resolves any spelling that starts with '%' to tensor 5, f32.
Expected<OperandTensor> percent(std::string_view spelling, unsigned) {
  if (!spelling.starts_with('%'))
    return makeError(Fault::User, fmt::format("no '%' before '{}'", spelling));
  return OperandTensor{5, isa::DType::Float32};
}

//---- whole programs -----------------------------------------------------===//

TEST(Asm, PrintsAProgram) {
  Expected<std::string> text = disassemble(samples::copy());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, R"(.kernel "copy"
.target "trn2"
.flags placed scheduled synchronised
.file 0 "copy.cpp"
.file 1 "helpers.h"
.loc @0 0:33
.loc @1 1:7 from @0
.loc @2 0:35
.tensor %0 x hbm 128x512xf32 input 0
.tensor %1 y hbm 128x512xf32 output 0
.tensor %2 t sbuf 128x512xf32 at 0,0 @1
.tensor %3 u sbuf 128x512xf32 at 0,2048 @2
.stream vector
  wait s0>=16 tensor_copy dst=u[0+128, 0: 1x512] src=t[0+128, 0: 1x512] update s1+=1 @2 #1
.stream sync
  dma_copy dst=t[0+128, 0: 1x512] src=x[128 rows of 512, 0: 1x512] update s0+=16 @1 #0
  wait s1>=1 dma_copy dst=y[128 rows of 512, 0: 1x512] src=u[0+128, 0: 1x512] update s2+=16 #2
)");
}

TEST(Asm, PrintsWhatTheManualShows) {
  std::ifstream file(KILN_PROGRAM_PAGE);
  ASSERT_TRUE(file) << KILN_PROGRAM_PAGE;
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(page, HasSubstr("```\n" + *disassemble(samples::copy()) + "```\n"));
}

TEST(Asm, PrintsLoops) {
  Expected<std::string> text = disassemble(samples::loops());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr(R"(
.tensor %2 t sbuf 32x64xf32 at 0,0 in loop 1
.stream vector
  loop_begin trip_count=2 @0 #0
  loop_begin trip_count=3 @1 #2
  wait s0>=16 tensor_copy dst=t[0+32, 0: 1x64] src=t[0+32, 0: 1x64] update s1+=1 @2 #5
  loop_end @1 #7
  loop_end @0 #9
.stream sync
  loop_begin trip_count=2 @0 #1
  loop_begin trip_count=3 @1 #3
  dma_copy dst=t[0+32, 0: 1x64] src=x[32 rows of 64, 0: 1x64 loop 6144 2048] update s0+=16 @2 #4
  wait s1>=1 dma_copy dst=y[32 rows of 64, 0: 1x64 loop 6144 2048] src=t[0+32, 0: 1x64] update s2+=16 @2 #6
  loop_end @1 #8
  loop_end @0 #10
)"));
}

TEST(Asm, TellsTensorsOfOneNameApart) {
  Expected<std::string> text = disassemble(samples::matmul());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("\n.flags\n"));
  EXPECT_THAT(*text, HasSubstr("\n.constant 0\n  .hex 803f\n  .zero 64\n  .hex 803f\n"));
  EXPECT_THAT(*text, HasSubstr(R"(
.tensor %3 t sbuf 32x40xbf16 at 0,0
.tensor %4 t sbuf 32x32xbf16 at 0,128
.tensor %5 acc psum 32x40xf32 at 0,0
.tensor %6 "my result" sbuf 32x40xbf16 at 0,192
.stream tensor
  nc_matmul dst=acc[0+32, 0: 1x40] stationary=t%4[0+32, 0: 1x32] moving=t%3[0+32, 0: 1x40] accumulate=overwrite @0 #2
.stream vector
  memset dst="my result"[0+32, 0: 1x40] value=0.1 #3
)"));
}

TEST(Asm, RoundTripsTheSamples) {
  for (const Program &program : {samples::copy(), samples::matmul(), samples::loops(), Program{}}) {
    Expected<std::string> text = disassemble(program);
    ASSERT_TRUE(text) << text.error().message;
    Expected<Program> back = assemble(*text, "t.s");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, program);
  }
}

TEST(Asm, ReadsLoopSteps) {
  auto errorIn = [](std::string_view access) {
    return errorOf(
        fmt::format(".tensor x hbm 8xf32\n.stream sync\nmemset dst=x[{}] value=0", access));
  };
  EXPECT_EQ(errorIn("0: 1x2 loop 1 -2 3 4"), "accepted");
  EXPECT_EQ(errorIn("0 loop 1"), "accepted");
  EXPECT_EQ(errorIn("0: 1x2 loop 1 0"), "accepted");
  EXPECT_EQ(errorIn("0: 1x2 loop 1 2 3 4 5"), "t.s:3: more than 4 loop steps in one access");
  EXPECT_EQ(errorIn("0: 1x2 loop]"), "t.s:3: expected a loop step, found ']'");
  EXPECT_EQ(errorIn("0: 1x2 loop x"), "t.s:3: expected a loop step, found 'x'");
  EXPECT_EQ(errorOf(".tensor x sbuf 8x2xf32 at 0,0 in 3"),
            "t.s:1: expected '@' before a location number, found 'in'");
  EXPECT_EQ(errorOf(".tensor x sbuf 8x2xf32 in loop"),
            "t.s:1: expected a loop number, found the end of the line");
}

TEST(Asm, RoundTripsEveryInstruction) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  samples::Rng rng(kSeed);
  for (int i = 0; i < 40; ++i) {
    const Program program = samples::randomProgram(rng);
    Expected<std::string> text = disassemble(program);
    ASSERT_TRUE(text) << text.error().message;
    Expected<Program> back = assemble(*text, "t.s");
    ASSERT_TRUE(back) << back.error().place[0].line << ": " << back.error().message << "\n"
                      << *text;
    ASSERT_EQ(*back, program) << *text;
    ASSERT_EQ(*disassemble(*back), *text);
  }
}

TEST(Asm, ReadsWhatPeopleWrite) {
  const std::string_view text = ".kernel \"k\" // a comment\r\n"
                                "\t.flags  synchronised placed\r\n"
                                "\r\n"
                                ".tensor x hbm 8xf32 input 0\n"
                                ".tensor \"a // b\" sbuf 4x2xfloat32 at 0,64 // two\n"
                                ".constant 0\n"
                                ".hex 00FFa5\n"
                                ".zero 2\n"
                                ".stream sync\n"
                                "dma_copy src = x[4 rows of 2,0: 1x2 ] dst=%1[0+4, 0: 1x2] ring=3\n"
                                "dma_copy dst=\"a // b\"%1[0+4, 0: 1x2] src=%0[ 0: 1x8]:bf16 #7\n"
                                ".stream tensor\n"
                                "semaphore_wait @3\n"
                                "wait s1 >= 2 semaphore_wait update s3 += 1";
  Expected<Program> program = assemble(text, "t.s");
  ASSERT_TRUE(program) << program.error().place[0].line << ": " << program.error().message;
  EXPECT_TRUE(program->flags.placed);
  EXPECT_FALSE(program->flags.scheduled);
  EXPECT_EQ(program->tensors[1].name, "a // b");
  EXPECT_EQ(program->tensors[1].byte, 64u);
  EXPECT_EQ(program->constants[0].data, (std::vector{std::byte{0}, std::byte{0xFF}, std::byte{0xA5},
                                                     std::byte{0}, std::byte{0}}));
  std::vector<Record> dmas = *decodeStream(program->streams[0]);
  ASSERT_EQ(dmas.size(), 2u);
  EXPECT_EQ(dmas[0].inst.operands[0].tensor, 1u);
  EXPECT_EQ(dmas[0].inst.operands[1].rowStep, 2);
  EXPECT_EQ(dmas[0].inst.word("ring"), 3);
  EXPECT_EQ(dmas[0].order, 0u);
  EXPECT_EQ(dmas[1].inst.operands[1].dtype, isa::DType::BFloat16);
  EXPECT_EQ(dmas[1].inst.operands[1].num[0], 8);
  EXPECT_EQ(dmas[1].order, 7u);
  std::vector<Record> waits = *decodeStream(program->streams[1]);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].location, 3u);
  EXPECT_EQ(waits[0].order, 8u);
  EXPECT_EQ(waits[1].sync, (Sync{1, 2, 3, 1}));
}

TEST(Asm, RefusesToPrintWhatItCannotName) {
  auto errorAfter = [](const std::function<void(Program &)> &change) {
    Program program = samples::copy();
    change(program);
    Expected<std::string> text = disassemble(program);
    if (text)
      return std::string("printed");
    std::string out = text.error().message;
    for (const kiln::DiagnosticNote &note : text.error().notes)
      out += " | note: " + note.message;
    return out;
  };
  EXPECT_EQ(errorAfter([](Program &p) { p.tensors[1].dtype = isa::DType(50); }),
            "tensor 1 'y' has a memory, dtype or role without a name");
  EXPECT_EQ(errorAfter([](Program &p) { p.streams[1].engine = isa::Engine(4); }),
            "a stream belongs to engine number 4, which has no name");
  EXPECT_EQ(errorAfter([](Program &p) { p.tensors.pop_back(); }),
            "'tensor_copy': operand 'dst' names tensor 3, the program has 3 | note: record 0 of "
            "the vector stream, 'tensor_copy'");
  EXPECT_EQ(errorAfter([](Program &p) { p.streams[1].bytes.pop_back(); }),
            "'dma_copy': truncated record: 223 bytes are left, the instruction takes 224 | note: "
            "record 1 of the sync stream");
}

//---- one instruction ----------------------------------------------------===//

TEST(Asm, ParsesAndPrintsTheExamplesOfTheTable) {
  std::ifstream file(KILN_TABLE_EXAMPLES);
  ASSERT_TRUE(file) << KILN_TABLE_EXAMPLES;
  unsigned count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    ASSERT_TRUE(line.starts_with("nisa.")) << line;
    std::string_view text = std::string_view(line).substr(5), rest = text;
    std::array<std::string, isa::kMaxOperands> names;
    auto resolve = [&](std::string_view spelling, unsigned operand) -> Expected<OperandTensor> {
      names[operand] = spelling;
      return OperandTensor{operand, isa::DType::BFloat16};
    };
    Expected<isa::Instruction> inst = parseInstruction(rest, resolve);
    ASSERT_TRUE(inst) << line << "\n" << inst.error().message;
    EXPECT_EQ(rest, "") << line;
    std::string printed;
    std::array<OperandText, isa::kMaxOperands> operands;
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      operands[i].name = names[i];
    printInstruction(printed, *inst, operands);
    EXPECT_EQ(printed, text);
  }
  EXPECT_GE(count, 11u);
}

TEST(Asm, StopsAtTheFirstWordThatIsNoItem) {
  std::string_view text = "reciprocal dst=%0[0+1, 0: 1x2] data=%1#2[0+1, 0: 1x2] : rest";
  Expected<isa::Instruction> inst = parseInstruction(text, percent);
  ASSERT_TRUE(inst) << inst.error().message;
  EXPECT_EQ(text, " : rest");
  EXPECT_EQ(inst->engine, isa::Engine::Unknown);
  std::string_view copy = "reciprocal engine=vector";
  EXPECT_EQ(parseInstruction(copy, percent)->engine, isa::Engine::Vector);
  std::string_view bad = "reciprocal dst=x[0]";
  Expected<isa::Instruction> refused = parseInstruction(bad, percent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no '%' before 'x'");
  EXPECT_EQ(bad, "reciprocal dst=x[0]") << "an error leaves the text alone";
}

TEST(Asm, PrintsAccessesByMemory) {
  isa::Access access;
  access.tensor = 0;
  access.offset = 5;
  auto print = [&](std::optional<isa::Memory> memory, std::optional<isa::DType> dtype) {
    std::string out;
    printAccess(out, access, {"t", memory, dtype});
    return out;
  };
  EXPECT_EQ(print(isa::Memory::Hbm, isa::DType::Float32), "t[5]");
  EXPECT_EQ(print(isa::Memory::Sbuf, isa::DType::Int32), "t[0+1, 5]:f32");
  EXPECT_EQ(print({}, {}), "t[0+1, 5]");
  access.rank = 2;
  access.step = {-8, 1};
  access.num = {3, 4};
  access.partitionCount = 7;
  EXPECT_EQ(print(isa::Memory::Hbm, {}), "t[7 rows of 0, 5: -8x3 1x4]");
  EXPECT_EQ(print(isa::Memory::Psum, {}), "t[0+7, 5: -8x3 1x4]");
  access.rowStep = 12;
  EXPECT_EQ(print({}, {}), "t[7 rows of 12, 5: -8x3 1x4]");
  access.partitionStart = 32;
  EXPECT_EQ(print(isa::Memory::Sbuf, {}), "t[32+7 rows of 12, 5: -8x3 1x4]");
  std::string text = print({}, {}).substr(1);
  std::string_view rest = text;
  Expected<isa::Access> back = parseAccess(rest, {0, isa::DType::Float32});
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, access);
}

TEST(Asm, PrintsFieldsShortestAndBitExact) {
  auto value = [](isa::Opcode opcode, std::string_view name, int64_t word) {
    isa::Instruction inst = isa::makeInstruction(opcode);
    inst.setWord(name, word);
    std::string out;
    const isa::FieldDesc &field = *inst.desc().field(name);
    printFieldValue(out, field, inst);
    isa::Instruction back = isa::makeInstruction(opcode);
    std::string_view rest = out;
    Status status = parseFieldValue(rest, field, back);
    EXPECT_TRUE(status) << out << ": " << status.error().message;
    EXPECT_EQ(rest, "");
    EXPECT_EQ(back, inst) << out;
    return out;
  };
  auto f64 = [&](int64_t word) { return value(isa::Opcode::Memset, "value", word); };
  auto f32 = [&](int64_t word) { return value(isa::Opcode::Activation, "imm_bias", word); };
  EXPECT_EQ(f64(isa::bitsOf(0.1)), "0.1");
  EXPECT_EQ(f64(isa::bitsOf(-0.0)), "-0");
  EXPECT_EQ(f64(isa::bitsOf(1e300)), "1e+300");
  EXPECT_EQ(f64(isa::bitsOf(5e-324)), "5e-324");
  EXPECT_EQ(f64(isa::bitsOf(-INFINITY)), "-inf");
  EXPECT_EQ(f64(int64_t{0x7FF8} << 48), "nan");
  EXPECT_EQ(f64(std::bit_cast<int64_t>(uint64_t{0xFFF8} << 48)), "nan:0xfff8000000000000");
  EXPECT_EQ(f64(0x7FF0000000000001), "nan:0x7ff0000000000001");
  EXPECT_EQ(f32(isa::bitsOf(0.1f)), "0.1");
  EXPECT_EQ(f32(isa::bitsOf(std::bit_cast<float>(1u))), "1e-45");
  EXPECT_EQ(f32(isa::bitsOf(16777216.0)), "16777216");
  EXPECT_EQ(f32(int64_t{0x7FF0000020000000}), "nan:0x7f800001");
  EXPECT_EQ(value(isa::Opcode::NcMatmul, "accumulate", 2), "add");
  EXPECT_EQ(value(isa::Opcode::NcMatmul, "is_transpose", 1), "true");
  EXPECT_EQ(value(isa::Opcode::Iota, "offset", INT32_MIN), "-2147483648");
}

TEST(Asm, LeavesOutPairsThatSayNothing) {
  auto print = [](std::array<int64_t, 8> words) {
    isa::Instruction inst = isa::makeInstruction(isa::Opcode::Iota);
    const isa::FieldDesc &field = *inst.desc().field("pattern");
    for (unsigned i = 0; i < 8; ++i)
      inst.fields[field.word + i] = words[i];
    std::string out;
    printFieldValue(out, field, inst);
    return out;
  };
  EXPECT_EQ(print({1, 512, 0, 1, 0, 1, 0, 1}), "[1x512]");
  EXPECT_EQ(print({64, 8, 1, 64, 0, 1, 0, 1}), "[64x8 1x64]");
  EXPECT_EQ(print({0, 1, 0, 1, 0, 1, 0, 1}), "[0x1]");
  EXPECT_EQ(print({0, 1, 1, 2, 0, 1, 0, 1}), "[0x1 1x2]");
  EXPECT_EQ(print({1, 512, 0, 0, 0, 0, 0, 0}), "[1x512 0x0 0x0 0x0]");
}

TEST(Asm, SpellsTensorsForMessages) {
  Program program = samples::copy();
  const std::vector<std::string> names = {"x", "y", "t"};
  EXPECT_EQ(printInstruction(decodeStream(program.streams[0])->at(0).inst, names),
            "tensor_copy dst=?[0+128, 0: 1x512] src=t[0+128, 0: 1x512] engine=vector");
}

//---- errors -------------------------------------------------------------===//

TEST(Asm, SaysWhatIsWrongWithADirective) {
  EXPECT_EQ(errorOf(".kernal \"x\""),
            "t.s:1: unknown directive '.kernal' | help: did you mean '.kernel'?");
  EXPECT_EQ(errorOf("\n\n.kernel x"),
            "t.s:3: expected the kernel's name in double quotes, found 'x'");
  EXPECT_EQ(errorOf(".kernel \"x"), "t.s:1: the kernel's name has no closing quote");
  EXPECT_EQ(
      errorOf(".kernel \"x\\q\""),
      "t.s:1: unknown escape '\\q' in a string | help: known: \\n, \\t, \\\\, \\\" and \\xNN");
  EXPECT_EQ(errorOf(".kernel \"x\" y"), "t.s:1: expected the end of the line, found 'y'");
  EXPECT_EQ(errorOf(".flags placed synchronized"),
            "t.s:1: unknown flag 'synchronized' | help: did you mean 'synchronised'?");
  EXPECT_EQ(errorOf(".flags ,"), "t.s:1: expected a flag, found ','");
  EXPECT_EQ(errorOf(".file 1 \"a\""), "t.s:1: file 1 stands where file 0 is due");
  EXPECT_EQ(errorOf(".file"), "t.s:1: expected a file number, found the end of the line");
  EXPECT_EQ(errorOf(".loc 0 0:1"), "t.s:1: expected '@' before a location number, found '0'");
  EXPECT_EQ(errorOf(".loc @0 0"),
            "t.s:1: expected ':' between file and line, found the end of the line");
  EXPECT_EQ(errorOf(".loc @0 0:-1"), "t.s:1: expected a line number, found '-'");
  EXPECT_EQ(
      errorOf(".loc @0 0:4294967296"),
      "t.s:1: expected a line number, found '4294967296', which is out of range (0 to 4294967295)");
  EXPECT_EQ(errorOf(".loc @0 0:1 from 3"),
            "t.s:1: expected '@' before a location number, found '3'");
  EXPECT_EQ(errorOf(".tensor"), "t.s:1: expected a tensor name, found the end of the line");
  EXPECT_EQ(errorOf(".tensor %1 x hbm 8xf32"), "t.s:1: tensor 1 stands where tensor 0 is due");
  EXPECT_EQ(errorOf(".tensor x sram 8xf32"),
            "t.s:1: unknown memory 'sram' | help: known: sbuf, psum, hbm");
  EXPECT_EQ(errorOf(".tensor x hbm 8"),
            "t.s:1: expected 'x' after an extent, found the end of the line");
  EXPECT_EQ(errorOf(".tensor x hbm 8xfp32"),
            "t.s:1: unknown dtype 'fp32' | help: did you mean 'f32'?");
  EXPECT_EQ(errorOf(".tensor x hbm 8xf32 in 0"),
            "t.s:1: unknown role 'in' | help: known: internal, input, output, constant");
  EXPECT_EQ(errorOf(".tensor x hbm 8xf32 input"),
            "t.s:1: expected an index, found the end of the line");
  EXPECT_EQ(errorOf(".tensor x sbuf 8x8xf32 at 0"),
            "t.s:1: expected ',' between partition and byte, found the end of the line");
  EXPECT_EQ(errorOf(".tensor x sbuf 8x8xf32 at 0,0 $"),
            "t.s:1: expected '@' before a location number, found '$'");
  EXPECT_EQ(errorOf(".hex 00"), "t.s:1: '.hex' stands before any '.constant'");
  EXPECT_EQ(errorOf(".constant 0\n.hex 000"), "t.s:2: '.hex' holds 3 digits, a byte takes 2");
  EXPECT_EQ(errorOf(".constant 0\n.hex 0g"), "t.s:2: '0g' is no pair of hexadecimal digits");
  EXPECT_EQ(errorOf(".constant 0\n.zero 4097"),
            "t.s:2: '.zero' of 4097 bytes, one line holds at most 4096");
  EXPECT_EQ(errorOf(".stream vectr"),
            "t.s:1: unknown engine 'vectr' | help: did you mean 'vector'?");
  EXPECT_EQ(errorOf(".stream"),
            "t.s:1: expected the name of the engine, found the end of the line");
}

TEST(Asm, SaysWhatIsWrongWithARecord) {
  auto record = [](std::string_view line) {
    return errorOf(std::string(".tensor x sbuf 8x8xf32 at 0,0\n"
                               ".tensor y sbuf 8x8xf32 at 0,64\n"
                               ".tensor y sbuf 8x8xf32 at 0,128\n"
                               ".stream vector\n")
                       .append(line));
  };
  EXPECT_EQ(record("reciprocal dst=x[0+8, 0: 1x8] data=%1[0+8, 0: 1x8]"), "accepted");
  EXPECT_EQ(errorOf("reciprocal"), "t.s:1: 'reciprocal' stands before any '.stream' | help: "
                                   "records follow '.stream' and the name of an engine");
  EXPECT_EQ(record("reciprocl dst=x[0]"),
            "t.s:5: unknown instruction 'reciprocl' | help: did you mean 'reciprocal'?");
  std::string mnemonics;
  constexpr size_t kShown = 30; // of a long list
  const auto rows = isa::instructions();
  for (const isa::InstDesc &row : rows.first(std::min(rows.size(), kShown)))
    mnemonics.append(mnemonics.empty() ? "" : ", ").append(row.mnemonic);
  if (rows.size() > kShown)
    mnemonics.append(" and ").append(std::to_string(rows.size() - kShown)).append(" more");
  EXPECT_EQ(record("add dst=x[0]"), "t.s:5: unknown instruction 'add' | help: known: " + mnemonics);
  EXPECT_EQ(record("=x"), "t.s:5: expected an instruction, found '='");
  EXPECT_EQ(record("reciprocal dts=x[0]"),
            "t.s:5: unknown operand or field 'dts' of 'reciprocal' | help: did you mean 'dst'?");
  EXPECT_EQ(record("reciprocal accumulate=x"), "t.s:5: unknown operand or field 'accumulate' of "
                                               "'reciprocal' | help: known: dst, data, engine");
  EXPECT_EQ(record("reciprocal dst=x[0] dst=x[0]"), "t.s:5: 'reciprocal': 'dst' is given twice");
  EXPECT_EQ(record("reciprocal dst=z[0]"), "t.s:5: unknown tensor 'z' | help: known: x, y, y");
  EXPECT_EQ(record("reciprocal dst=y[0]"),
            "t.s:5: 2 tensors are called 'y' | help: add the number, as in y%1");
  EXPECT_EQ(record("reciprocal dst=x%1[0]"), "t.s:5: tensor %1 is 'y', not 'x'");
  EXPECT_EQ(record("reciprocal dst=%3[0]"),
            "t.s:5: tensor %3 does not exist, there are 3 tensors so far");
  EXPECT_EQ(record("reciprocal dst=%[0]"),
            "t.s:5: expected a tensor number after '%', found the end of the line");
  EXPECT_EQ(record("reciprocal dst=x$[0]"),
            "t.s:5: 'x$' is no tensor | help: write name, %index or name%index");
  EXPECT_EQ(record("reciprocal dst=\"x[0]"), "t.s:5: a tensor name has no closing quote");
  EXPECT_EQ(record("reciprocal dst="),
            "t.s:5: expected a tensor for operand 'dst', found the end of the line");
  EXPECT_EQ(record("reciprocal dst=x"),
            "t.s:5: expected '[' before an access, found the end of the line");
  EXPECT_EQ(record("reciprocal dst=x[]"), "t.s:5: expected an offset or rows, found ']'");
  EXPECT_EQ(record("reciprocal dst=x[0+8]"),
            "t.s:5: expected ',' between rows and offset, found ']'");
  EXPECT_EQ(record("reciprocal dst=x[-1+8, 0]"),
            "t.s:5: start -1 is out of range, 0 to 4294967295 fit");
  EXPECT_EQ(record("reciprocal dst=x[8 rows, 0]"), "t.s:5: expected 'of' after 'rows', found ','");
  EXPECT_EQ(record("reciprocal dst=x[8 rows of, 0]"), "t.s:5: expected a row step, found ','");
  EXPECT_EQ(record("reciprocal dst=x[0: 1]"),
            "t.s:5: expected 'x' between the step and the count of a dim, found ']'");
  EXPECT_EQ(record("reciprocal dst=x[0: 1x]"), "t.s:5: expected a count after 'x', found ']'");
  EXPECT_EQ(record("reciprocal dst=x[0: 1x2, 1x2]"),
            "t.s:5: expected a free dim such as 1x512, found ','");
  EXPECT_EQ(record("reciprocal dst=x[0: 1x2 1x2 1x2 1x2 1x2]"),
            "t.s:5: more than 4 free dims in one access");
  EXPECT_EQ(record("reciprocal dst=x[0: 1x9223372036854775808]"),
            "t.s:5: expected a count after 'x', found '9223372036854775808', which is out of range "
            "(-9223372036854775808 to 9223372036854775807)");
  EXPECT_EQ(record("reciprocal dst=x[0: 1x2]:f31"),
            "t.s:5: unknown dtype 'f31' | help: did you mean 'f32'?");
  EXPECT_EQ(record("memset dst=x[0]"),
            "t.s:5: 'memset' lacks the field 'value' | help: add value=..., the value");
  EXPECT_EQ(record("memset dst=x[0] value=1.5.2"), "t.s:5: field 'value': '1.5.2' is not a number");
  EXPECT_EQ(record("memset dst=x[0] value="),
            "t.s:5: expected a number for field 'value', found the end of the line");
  EXPECT_EQ(record("memset dst=x[0] value=1e999"),
            "t.s:5: field 'value': '1e999' is out of range, float64 holds 5e-324 to "
            "1.7976931348623157e+308");
  EXPECT_EQ(record("memset dst=x[0] value=nan:0x1"),
            "t.s:5: field 'value': 'nan:0x1' is not the bits of a NaN");
  EXPECT_EQ(
      record("activation op=exp imm_scale=1e39"),
      "t.s:5: field 'imm_scale': '1e39' is out of range, float32 holds 1e-45 to 3.4028235e+38");
  EXPECT_EQ(record("activation op=expp"),
            "t.s:5: unknown value 'expp' of field 'op' | help: did you mean 'exp'?");
  EXPECT_EQ(
      record("activation op=1"),
      "t.s:5: unknown value '1' of field 'op' | help: known: copy, square, sigmoid, relu, gelu, "
      "gelu_dx, gelu_apprx_tanh, gelu_apprx_sigmoid, gelu_apprx_sigmoid_dx, silu, silu_dx, tanh, "
      "softplus, mish, erf, erf_dx, exp, log, sin, arctan, sqrt, rsqrt, reciprocal, sign, abs");
  EXPECT_EQ(record("nc_matmul is_transpose=1"),
            "t.s:5: expected true or false for field 'is_transpose', found '1'");
  EXPECT_EQ(record("iota offset=2147483648"),
            "t.s:5: expected an integer for field 'offset', found '2147483648', which is out of "
            "range (-2147483648 to 2147483647)");
  EXPECT_EQ(record("iota pattern=1x2"),
            "t.s:5: expected '[' before the values of field 'pattern', found '1x2'");
  EXPECT_EQ(record("iota pattern=[]"), "t.s:5: field 'pattern' needs a pair such as 1x512");
  EXPECT_EQ(record("iota pattern=[1x2 1x2 1x2 1x2 1x2]"),
            "t.s:5: field 'pattern' holds at most 4 pairs");
  EXPECT_EQ(record("iota pattern=[1x4294967296]"),
            "t.s:5: field 'pattern' holds 4294967296, which does not fit 32 bits");
  EXPECT_EQ(record("dma_copy ring=-1"),
            "t.s:5: expected an integer from 0 up for field 'ring', found '-'");
  EXPECT_EQ(record("reciprocal engine=vektor"),
            "t.s:5: unknown engine 'vektor' | help: did you mean 'vector'?");
  EXPECT_EQ(record("wait s0 reciprocal"),
            "t.s:5: expected '>=' after a semaphore, found 'reciprocal'");
  EXPECT_EQ(record("wait 0>=1 reciprocal"), "t.s:5: expected a semaphore such as s3, found '0'");
  EXPECT_EQ(record("wait s70000>=1 reciprocal"),
            "t.s:5: expected a semaphore number after 's', found '70000', which is out of range (0 "
            "to 65535)");
  EXPECT_EQ(record("reciprocal update s0=1"), "t.s:5: expected '+=' after a semaphore, found '='");
  EXPECT_EQ(record("reciprocal update s0+=x"), "t.s:5: expected a semaphore value, found 'x'");
  EXPECT_EQ(record("reciprocal @x"), "t.s:5: expected a location number, found 'x'");
  EXPECT_EQ(record("reciprocal #"),
            "t.s:5: expected an order number after '#', found the end of the line");
  EXPECT_EQ(record("reciprocal #1 @1"), "t.s:5: expected the end of the line, found '@'");
  EXPECT_EQ(record("reciprocal dst"),
            "t.s:5: expected name=value, 'update', '@' or '#', found 'dst'");
  EXPECT_EQ(record("reciprocal \x01"),
            "t.s:5: expected name=value, 'update', '@' or '#', found '\\x01'");
}

//---- any text -----------------------------------------------------------===//

TEST(Asm, SurvivesAnyText) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  samples::Rng rng(kSeed);
  const std::string texts[] = {*disassemble(samples::copy()), *disassemble(samples::matmul())};
  constexpr std::string_view kBytes = "\"\\[]:,+x%@#=.-0919 \t\n\0\xff\x80senw";
  size_t accepted = 0, rejected = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = texts[rng() % 2];
    for (size_t n = 1 + rng() % 4; n-- > 0;) {
      const size_t at = rng() % text.size();
      switch (rng() % 4) {
      case 0:
        text[at] = kBytes[rng() % kBytes.size()];
        break;
      case 1:
        text.erase(at, 1 + rng() % 20);
        break;
      case 2:
        text.insert(at, 1, kBytes[rng() % kBytes.size()]);
        break;
      default:
        text.insert(at, text.substr(rng() % text.size(), rng() % 40));
        break;
      }
      if (text.empty())
        text = " ";
    }
    Expected<Program> program = assemble(text, "t.s");
    if (!program) {
      ++rejected;
      ASSERT_FALSE(program.error().message.empty());
      continue;
    }
    ++accepted;
    Expected<std::string> printed = disassemble(*program);
    ASSERT_TRUE(printed) << printed.error().message;
    ASSERT_EQ(*assemble(*printed, "t.s"), *program) << text;
  }
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(rejected, 100u);
}

} // namespace
