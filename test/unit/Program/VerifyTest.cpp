//===- VerifyTest.cpp - every way a program is refused ----------------------------------------===//
//
// Each case changes one thing of a good program and expects the whole text of
// the refusal.
//
//===------------------------------------------------------------------------------------------===//

#include "Samples.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

using namespace kilnrt;

namespace {

using isa::Engine;

void raise(Record &record) {
  record.sync.updateSemaphore = 9;
  record.sync.updateValue = 1;
}

/// Rules of instructions and tensors have their texts tested where they are
/// written: what counts here is that they are asked.
bool isOfTheTable(std::string_view rule) { return rule != "K-02" && !rule.starts_with("X-"); }

/// "[rule] message | help | file:line ... | note"; empty parts are left out.
std::string refusal(const Program &program) {
  Status status = verify(program);
  if (status)
    return "accepted";
  const Diagnostic &error = status.error();
  std::string text = fmt::format("[{}]", error.rule);
  EXPECT_FALSE(error.message.empty());
  if (!isOfTheTable(error.rule)) {
    text += " " + error.message;
    if (!error.help.empty())
      text += " | help: " + error.help;
  }
  for (const kiln::FileLine &frame : error.place)
    text += fmt::format(" | {}:{}", frame.file, frame.line);
  for (const kiln::DiagnosticNote &note : error.notes)
    text += " | note: " + note.message;
  return text;
}

std::string afterCopy(const std::function<void(Program &)> &change) {
  Program program = samples::copy();
  change(program);
  return refusal(program);
}

std::string afterMatmul(const std::function<void(Program &)> &change) {
  Program program = samples::matmul();
  change(program);
  return refusal(program);
}

/// The copy program with record `index` of `engine`'s stream changed.
std::string afterRecord(Engine engine, size_t index, const std::function<void(Record &)> &change) {
  return afterCopy([&](Program &p) { samples::edit(p, engine, index, change); });
}

TEST(Verify, AcceptsTheSamples) {
  EXPECT_EQ(refusal(samples::copy()), "accepted");
  EXPECT_EQ(refusal(samples::matmul()), "accepted");
  EXPECT_EQ(refusal(samples::loops()), "accepted");
  EXPECT_EQ(refusal(Program{}), "accepted");
}

//---- declarations -------------------------------------------------------===//

TEST(Verify, Target) {
  EXPECT_EQ(afterCopy([](Program &p) { p.target = "trn\x01"; }),
            R"([X-05] the program is for target 'trn\x01', this is 'trn2')");
}

TEST(Verify, Locations) {
  EXPECT_EQ(afterCopy([](Program &p) { p.locations[2].file = 2; }),
            "[X-05] location 2 names file 2, the program has 2 files");
  EXPECT_EQ(afterCopy([](Program &p) { p.locations[1].caller = 1; }),
            "[X-05] location 1 is called from location 1, a caller comes "
            "first");
  EXPECT_EQ(afterCopy([](Program &p) { p.locations[0].caller = 2; }),
            "[X-05] location 0 is called from location 2, a caller comes "
            "first");
  auto nested = [](size_t frames) {
    return afterCopy([=](Program &p) {
      for (size_t i = p.locations.size(); i < frames; ++i)
        p.locations.push_back({0, 1, uint32_t(i - 1)});
      p.locations[1].caller = 0;
      p.locations[2].caller = 1;
    });
  };
  EXPECT_EQ(nested(1024), "accepted");
  EXPECT_EQ(nested(1025), "[X-05] location 1024 is nested in more than 1024 calls");
}

TEST(Verify, TensorEnums) {
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[2].memory = isa::Memory(3); }),
            "[X-05] tensor 2 't' has unknown memory 3 | helpers.h:7 | "
            "copy.cpp:33");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[2].dtype = isa::DType(99); }),
            "[X-05] tensor 2 't' has unknown dtype 99 | helpers.h:7 | "
            "copy.cpp:33");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[0].role = TensorRole(4); }),
            "[X-05] tensor 0 'x' has unknown role 4");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[0].location = 3; }),
            "[X-05] tensor 0 'x' names location 3, the program has 3");
}

TEST(Verify, TensorShapes) {
  auto withShape = [](size_t tensor, std::vector<int64_t> shape) {
    return afterCopy([&](Program &p) { p.tensors[tensor].shape = shape; });
  };
  EXPECT_EQ(withShape(0, {}), "[V-02] | note: tensor 0 of the program");
  EXPECT_EQ(withShape(0, {128, 0}), "[V-02] | note: tensor 0 of the program");
  EXPECT_EQ(withShape(0, {-1, 512}), "[V-02] | note: tensor 0 of the program");
  EXPECT_EQ(withShape(0, {1, 1, 1, 1, 128, 512}), "[S-06] | note: tensor 0 of the program");
  EXPECT_EQ(withShape(0, {INT64_MAX, INT64_MAX}), "[M-02] | note: tensor 0 of the program");
  // 16 GiB, less the other tensor.
  EXPECT_EQ(withShape(0, {(int64_t{1} << 32) - 65536, 1}), "accepted");
  EXPECT_EQ(withShape(0, {(int64_t{1} << 32) - 65535, 1}),
            "[X-05] the program's HBM tensors take more than 17179869184 bytes");
  EXPECT_EQ(withShape(0, {(int64_t{1} << 32) + 1, 1}),
            "[X-05] tensor 0 'x' takes 17179869188 bytes of HBM, all tensors together may take "
            "17179869184");
  EXPECT_EQ(withShape(2, {128}),
            "[P-02] | helpers.h:7 | copy.cpp:33 | note: tensor 2 of the program");
  EXPECT_EQ(withShape(2, {129, 512}),
            "[P-01] | helpers.h:7 | copy.cpp:33 | note: tensor 2 of the program");
  EXPECT_EQ(withShape(2, {128, 53247}),
            "[M-02] | helpers.h:7 | copy.cpp:33 | note: tensor 2 of the program");
}

TEST(Verify, Addresses) {
  auto at = [](uint32_t partition, uint64_t byte) {
    return afterCopy([=](Program &p) {
      p.tensors[3].partition = partition;
      p.tensors[3].byte = byte;
    });
  };
  EXPECT_EQ(at(0, 210936), "accepted");
  EXPECT_EQ(at(0, 210940), "[M-03] | copy.cpp:35 | note: tensor 3 of the program");
  EXPECT_EQ(at(0, UINT64_MAX - 3), "[M-03] | copy.cpp:35 | note: tensor 3 of the program");
  EXPECT_EQ(at(0, 2), "[M-03] | copy.cpp:35 | note: tensor 3 of the program");
  EXPECT_EQ(at(1, 0), "[M-07] | copy.cpp:35 | note: tensor 3 of the program");
  EXPECT_EQ(at(UINT32_MAX, 0), "[M-07] | copy.cpp:35 | note: tensor 3 of the program");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[0].byte = 4; }),
            "[X-05] tensor 0 'x' is in HBM, but has an on-chip address");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[0].partition = 4; }),
            "[X-05] tensor 0 'x' is in HBM, but has an on-chip address");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[2].role = TensorRole::Input; }),
            "[X-05] tensor 2 't' is an input, output or constant on chip, those are in HBM | "
            "helpers.h:7 | copy.cpp:33");
  EXPECT_EQ(afterMatmul([](Program &p) {
              p.flags.placed = true;
              p.tensors[5].byte = 1024;
            }),
            "[M-06] | note: tensor 5 of the program");
}

TEST(Verify, PrivateRanges) {
  auto at = [](uint32_t partition, uint64_t byte) {
    return afterMatmul([=](Program &p) {
      p.tensors[4].partition = partition;
      p.tensors[4].byte = byte;
    });
  };
  EXPECT_EQ(at(0, 80), "accepted");
  EXPECT_EQ(at(0, 76), "[X-05] tensor 4 't' starts at byte 76, inside tensor 3 't'; tensors of a "
                       "program not placed do not overlap");
  EXPECT_EQ(at(0, 82), "[X-05] tensor 4 't' starts at byte 82, which is no multiple of 4");
  EXPECT_EQ(at(32, 76), "[X-05] tensor 4 't' starts at byte 76, inside tensor 3 't'; tensors of a "
                        "program not placed do not overlap");
  EXPECT_EQ(at(96, 80), "[P-06] | m.cpp:12 | note: record 0 of the tensor stream, 'nc_matmul'");
  EXPECT_EQ(at(97, 80), "[M-07] | note: tensor 4 of the program");
  EXPECT_EQ(at(0, (uint64_t{1} << 30) - 64), "accepted");
  EXPECT_EQ(at(0, (uint64_t{1} << 30) - 60),
            "[X-05] tensor 4 't' starts at byte 1073741764 and takes 64, a partition holds at most "
            "1073741824 while nothing is placed");
  EXPECT_EQ(at(0, UINT64_MAX - 3),
            "[X-05] tensor 4 't' starts at byte 18446744073709551612 and takes 64, a partition "
            "holds at most 1073741824 while nothing is placed");
}

TEST(Verify, Roles) {
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[0].index = 1; }),
            "[X-05] tensor 0 'x' is input 1, inputs are numbered 0 to 0");
  EXPECT_EQ(afterCopy([](Program &p) {
              p.tensors.push_back(p.tensors[1]);
              p.tensors.back().name = "z";
            }),
            "[X-05] tensor 4 'z' is output 0, as an earlier tensor is");
  EXPECT_EQ(afterCopy([](Program &p) { p.tensors[2].index = 1; }),
            "[X-05] tensor 2 't' has index 1, but is no input, output or constant | helpers.h:7 | "
            "copy.cpp:33");
  EXPECT_EQ(afterMatmul([](Program &p) { p.constants.clear(); }),
            "[X-05] tensor 1 'eye' is constant 0, the program has 0");
  EXPECT_EQ(afterMatmul([](Program &p) { p.constants[0].data.pop_back(); }),
            "[X-05] tensor 1 'eye' takes 2048 bytes, constant 0 has 2047");
}

//---- streams ------------------------------------------------------------===//

/// The copy program with a print of 'u' at its end.
std::string afterPrint(const std::function<void(Program &, Record &)> &change) {
  return afterCopy([&](Program &p) {
    Record print;
    print.inst = isa::makeInstruction(isa::Opcode::DevicePrint);
    print.inst.engine = Engine::Sync;
    print.inst.operands[0] = samples::whole(p, 3);
    print.order = 100;
    print.location = 0;
    p.texts = {"one", "two"};
    change(p, print);
    samples::append(p, print);
  });
}

TEST(Verify, Prints) {
  EXPECT_EQ(afterPrint([](Program &, Record &r) { r.inst.setWord("text", 1); }), "accepted");
  EXPECT_EQ(
      afterPrint([](Program &, Record &r) { r.inst.setWord("text", 2); }),
      "[X-06] 'device_print' shows text 2, the program has 2 | copy.cpp:33 | note: record 2 of "
      "the sync stream, 'device_print'");
  EXPECT_EQ(
      afterPrint([](Program &p, Record &) { p.texts.clear(); }),
      "[X-06] 'device_print' shows text 0, the program has 0 | copy.cpp:33 | note: record 2 of "
      "the sync stream, 'device_print'");
  // A small access may stand for more elements than a host holds.
  auto repeats = [](int64_t times) {
    return afterPrint([&](Program &p, Record &r) {
      r.inst.operands[0] = samples::whole(p, 0);
      r.inst.operands[0].step = {0, 1};
      r.inst.operands[0].num = {times, 512};
      r.inst.operands[0].rank = 2;
    });
  };
  EXPECT_EQ(repeats(1024), "accepted");
  EXPECT_EQ(repeats(1025), "[S-07] | copy.cpp:33 | note: record 2 of the sync stream, "
                           "'device_print'");
}

TEST(Verify, Engines) {
  EXPECT_EQ(afterCopy([](Program &p) { p.streams[0].engine = Engine(4); }),
            "[X-05] stream 0 belongs to engine number 4, which does not run instructions");
  EXPECT_EQ(afterCopy([](Program &p) { p.streams[0].engine = Engine::Unknown; }),
            "[X-05] stream 0 belongs to engine number 0, which does not run instructions");
  EXPECT_EQ(afterCopy([](Program &p) { std::swap(p.streams[0], p.streams[1]); }),
            "[X-05] stream 1 belongs to the vector engine, after that of sync; each engine has one "
            "stream, in the order of their numbers");
  EXPECT_EQ(afterCopy([](Program &p) { p.streams[1].engine = Engine::Vector; }),
            "[X-05] stream 1 belongs to the vector engine, after that of vector; each engine has "
            "one stream, in the order of their numbers");
  EXPECT_EQ(afterRecord(Engine::Vector, 0, [](Record &r) { r.inst.engine = Engine::Scalar; }),
            "[X-06] 'tensor_copy' for the scalar engine stands in the vector stream | copy.cpp:35 "
            "| note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(afterCopy([](Program &p) {
              p.streams.erase(p.streams.begin());
              samples::edit(p, Engine::Sync, 1, [](Record &r) {
                const auto operands = r.inst.operands;
                r.inst = isa::makeInstruction(isa::Opcode::TensorCopy);
                r.inst.engine = Engine::Sync;
                r.inst.operands = operands;
              });
            }),
            "[B-07] | note: record 1 of the sync stream, 'tensor_copy'");
}

TEST(Verify, Records) {
  EXPECT_EQ(afterCopy([](Program &p) { p.streams[1].bytes.pop_back(); }),
            "[X-06] 'dma_copy': truncated record: 223 bytes are left, the instruction takes 224 | "
            "note: record 1 of the sync stream");
  EXPECT_EQ(afterCopy([](Program &p) { p.streams[0].bytes[0] = std::byte{0xEE}; }),
            "[X-06] unknown opcode 0x00ee | note: record 0 of the vector stream");
  EXPECT_EQ(afterRecord(Engine::Vector, 0, [](Record &r) { r.location = 3; }),
            "[X-06] the record names location 3, the program has 3 | note: record 0 of the vector "
            "stream, 'tensor_copy'");
}

TEST(Verify, Order) {
  EXPECT_EQ(afterRecord(Engine::Sync, 1, [](Record &r) { r.order = 0; }),
            "[X-06] order 0 is taken by another record | note: record 1 of the sync stream");
  EXPECT_EQ(afterRecord(Engine::Sync, 0, [](Record &r) { r.order = 2; }),
            "[X-06] order 2 is taken by another record | note: record 1 of the sync stream");
  EXPECT_EQ(afterRecord(Engine::Sync, 1, [](Record &r) { r.order = 1; }),
            "[X-06] order 1 is taken by another record | note: record 1 of the sync stream");
  EXPECT_EQ(afterRecord(Engine::Sync, 1, [](Record &r) { r.order = UINT32_MAX; }), "accepted");
  // Semaphores keep what must be kept of the order, and a proof looks whether they do.
  EXPECT_EQ(afterRecord(Engine::Sync, 0, [](Record &r) { r.order = 3; }), "accepted");
}

TEST(Verify, OrderWithoutSemaphores) {
  const auto inOneOrder = [](uint32_t first, uint32_t second) {
    return afterCopy([=](Program &p) {
      p.flags.synchronised = false;
      const auto inOrder = [](uint32_t order) {
        return [order](Record &r) {
          r.order = order;
          r.sync = {};
        };
      };
      samples::edit(p, Engine::Vector, 0, inOrder(1));
      samples::edit(p, Engine::Sync, 0, inOrder(first));
      samples::edit(p, Engine::Sync, 1, inOrder(second));
    });
  };
  EXPECT_EQ(inOneOrder(0, 2), "accepted");
  EXPECT_EQ(inOneOrder(2, 2), "[X-06] order 2 follows order 2, a stream keeps the program's order "
                              "| note: record 1 of the sync stream, 'dma_copy'");
  EXPECT_EQ(inOneOrder(3, 2), "[X-06] order 2 follows order 3, a stream keeps the program's order "
                              "| note: record 1 of the sync stream, 'dma_copy'");
}

TEST(Verify, Operands) {
  // 't' is this whole tile of 512 float32; 'range' is what the access asks for.
  const auto outside = [](std::string rule, std::string range) {
    return "[" + rule +
           "] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy' | note: 'src' "
           "asks "
           "for sbuf partitions " +
           range + "; 't' is partitions 0-127, bytes 0 to 2047 | note: 't' was declared here";
  };
  auto source = [](const std::function<void(isa::Access &)> &change) {
    return afterRecord(Engine::Vector, 0, [&](Record &r) { change(r.inst.operands[1]); });
  };
  EXPECT_EQ(source([](isa::Access &a) { a.tensor = 4; }),
            "[X-06] operand 'src' names tensor 4, the program has 4 | copy.cpp:35 | note: record 0 "
            "of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a = {}; }),
            "[X-06] tensor_copy has no 'src' operand | help: pass a tensor as src | copy.cpp:35 | "
            "note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.tensor = 0; }),
            "[B-06] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.offset = 1; }),
            outside("V-11", "0-127, bytes 4 to 2051"));
  EXPECT_EQ(source([](isa::Access &a) { a.offset = -1; }),
            outside("V-11", "0-127, bytes -4 to 2043"));
  EXPECT_EQ(source([](isa::Access &a) { a.offset = INT64_MAX; }),
            outside("V-11", "0-127, bytes 9223372036854775807 to 9223372036854775807"));
  EXPECT_EQ(source([](isa::Access &a) { a.step[0] = INT64_MIN; }),
            outside("V-11", "0-127, bytes -9223372036854775808 to 3"));
  EXPECT_EQ(source([](isa::Access &a) { a.num[0] = INT64_MAX; }),
            "[X-06] operand 'src' counts more than 17179869184 elements | copy.cpp:35 | note: "
            "record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.num[0] = 0; }),
            "[V-02] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.num[0] = -5; }),
            "[V-02] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) {
              a.rank = 4;
              a.num = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
            }),
            "[X-06] operand 'src' counts more than 17179869184 elements | copy.cpp:35 | note: "
            "record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.rowStep = 1; }),
            outside("V-11", "0-127, bytes 0 to 2555"));
  EXPECT_EQ(source([](isa::Access &a) { a.partitionStart = 1; }),
            outside("V-01", "1-128, bytes 0 to 2047"));
  EXPECT_EQ(source([](isa::Access &a) { a.partitionCount = UINT32_MAX; }),
            "[X-06] operand 'src' counts more than 17179869184 elements | copy.cpp:35 | note: "
            "record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.partitionCount = 64; }),
            "[P-04] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) {
              a.rank = 0;
              a.step[0] = a.num[0] = 0;
            }),
            "[P-02] | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(source([](isa::Access &a) {
              a.dtype = isa::DType::BFloat16;
              a.offset = 512;
            }),
            "accepted");
  EXPECT_EQ(source([](isa::Access &a) {
              a.dtype = isa::DType::BFloat16;
              a.offset = 513;
            }),
            outside("V-11", "0-127, bytes 1026 to 2049"));
}

TEST(Verify, HbmAccesses) {
  auto source = [](const std::function<void(isa::Access &)> &change) {
    return afterRecord(Engine::Sync, 0, [&](Record &r) { change(r.inst.operands[1]); });
  };
  EXPECT_EQ(source([](isa::Access &a) { a.partitionStart = 1; }),
            "[X-06] src 'x' is in HBM and has start partition 1 | helpers.h:7 | copy.cpp:33 | "
            "note: record 0 of the sync stream, 'dma_copy'");
  EXPECT_EQ(source([](isa::Access &a) { a.rowStep = 513; }),
            "[V-11] | helpers.h:7 | copy.cpp:33 | note: record 0 of the sync stream, 'dma_copy' | "
            "note: 'src' asks for hbm bytes 0 to 262651; 'x' is bytes 0 to 262143");
  EXPECT_EQ(source([](isa::Access &a) { a.rowStep = INT64_MIN; }),
            "[V-11] | helpers.h:7 | copy.cpp:33 | note: record 0 of the sync stream, 'dma_copy' | "
            "note: 'src' asks for hbm bytes -9223372036854775808 to 2047; 'x' is bytes 0 to "
            "262143");
  EXPECT_EQ(source([](isa::Access &a) { a.partitionCount = 127; }),
            "[S-09] | helpers.h:7 | copy.cpp:33 | note: record 0 of the sync stream, 'dma_copy'");
  EXPECT_EQ(source([](isa::Access &a) {
              a.step[0] = 0;
              a.num[0] = int64_t{1} << 28;
            }),
            "[X-06] operand 'src' counts more than 17179869184 elements | helpers.h:7 | "
            "copy.cpp:33 | note: record 0 of the sync stream, 'dma_copy'");
}

TEST(Verify, ReadOnlyTensors) {
  EXPECT_EQ(afterRecord(Engine::Sync, 1, [](Record &r) { r.inst.operands[0].tensor = 0; }),
            "[K-02] dst 'x' is a kernel input and read-only | help: declare the parameter as "
            "nl::InOut, or copy it | note: record 1 of the sync stream, 'dma_copy'");
  EXPECT_EQ(afterMatmul([](Program &p) {
              p.tensors[1].shape = {32, 40};
              p.constants[0].data.resize(32 * 40 * 2);
              samples::edit(p, Engine::Sync, 2, [](Record &r) { r.inst.operands[0].tensor = 1; });
            }),
            "[K-02] dst 'eye' is a constant and read-only | help: write to a tensor of its own | "
            "m.cpp:12 | note: record 2 of the sync stream, 'dma_copy'");
}

//---- semaphores ---------------------------------------------------------===//

TEST(Verify, Semaphores) {
  auto sync = [](Sync value) {
    return afterRecord(Engine::Vector, 0, [=](Record &r) { r.sync = value; });
  };
  EXPECT_EQ(sync({.waitSemaphore = 0, .waitValue = 16, .updateSemaphore = 1, .updateValue = 1}),
            "accepted");
  EXPECT_EQ(sync({.waitSemaphore = 0, .waitValue = 17, .updateSemaphore = 1, .updateValue = 1}),
            "[X-01] 'tensor_copy' waits until semaphore 0 is 17, all its updates add up to 16 | "
            "copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.waitSemaphore = 255, .waitValue = 1, .updateSemaphore = 1, .updateValue = 1}),
            "[X-01] 'tensor_copy' waits until semaphore 255 is 1, all its updates add up to 0 | "
            "copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.waitSemaphore = 256, .waitValue = 16, .updateSemaphore = 1, .updateValue = 1}),
            "[X-06] 'tensor_copy' waits for semaphore 256, the core has 256 (0 to 255) | "
            "copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.updateSemaphore = 256, .updateValue = 1}),
            "[X-06] 'tensor_copy' updates semaphore 256, the core has 256 (0 to 255) | copy.cpp:35 "
            "| note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.updateSemaphore = 1, .updateValue = 0}),
            "[X-06] 'tensor_copy' adds 0 to semaphore 1, an update adds at least 1 | copy.cpp:35 | "
            "note: record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.waitValue = 16, .updateSemaphore = 1, .updateValue = 1}),
            "[X-06] 'tensor_copy' waits for no semaphore, but with value 16 | copy.cpp:35 | note: "
            "record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({.updateValue = 1}),
            "[X-06] 'tensor_copy' updates no semaphore, but with value 1 | copy.cpp:35 | note: "
            "record 0 of the vector stream, 'tensor_copy'");
  EXPECT_EQ(sync({}), "[X-01] 'dma_copy' waits until semaphore 1 is 1, all its updates add up to 0 "
                      "| note: record 1 of the sync stream, 'dma_copy'");
  EXPECT_EQ(sync({.updateSemaphore = 1, .updateValue = UINT32_MAX}), "accepted");
  EXPECT_EQ(
      sync({.updateSemaphore = 0, .updateValue = UINT32_MAX}),
      "[X-06] the updates of semaphore 0 add up to 4294967311 here, a semaphore counts to "
      "4294967295 | helpers.h:7 | copy.cpp:33 | note: record 0 of the sync stream, 'dma_copy'");
}

TEST(Verify, DmaUpdates) {
  auto adds = [](uint32_t value) {
    return afterRecord(Engine::Sync, 1, [=](Record &r) { r.sync.updateValue = value; });
  };
  EXPECT_EQ(adds(16), "accepted");
  EXPECT_EQ(adds(1), "[X-06] 'dma_copy' adds 1 to semaphore 2, a DMA adds 16: 1 from each of its "
                     "engines | note: record 1 of the sync stream, 'dma_copy'");
  EXPECT_EQ(adds(32), "[X-06] 'dma_copy' adds 32 to semaphore 2, a DMA adds 16: 1 from each of its "
                      "engines | note: record 1 of the sync stream, 'dma_copy'");
  EXPECT_EQ(afterRecord(Engine::Sync, 1,
                        [=](Record &r) {
                          r.sync.updateSemaphore = Sync::kNoSemaphore;
                          r.sync.updateValue = 0;
                        }),
            "accepted");
}

TEST(Verify, UnsynchronisedProgramsHaveNoSync) {
  EXPECT_EQ(afterCopy([](Program &p) { p.flags.synchronised = false; }),
            "[X-06] 'tensor_copy' waits for or updates a semaphore, but the program is not "
            "synchronised | copy.cpp:35 | note: record 0 of the vector stream, 'tensor_copy'");
}

//---- loops --------------------------------------------------------------===//

/// The loops program with record `index` of `engine`'s stream changed.
std::string afterLoops(Engine engine, size_t index, const std::function<void(Record &)> &change) {
  Program program = samples::loops();
  samples::edit(program, engine, index, change);
  return refusal(program);
}

/// The loops program with the last `count` records of the stream of `engine` left out.
std::string withoutLast(Engine engine, size_t count) {
  Program program = samples::loops();
  for (Stream &stream : program.streams)
    if (stream.engine == engine) {
      std::vector<Record> records = *decodeStream(stream);
      stream.bytes.clear();
      for (size_t i = 0; i + count < records.size(); ++i)
        encodeRecord(records[i], stream.bytes);
    }
  return refusal(program);
}

TEST(Verify, LoopsOfAStream) {
  auto trips = [](int64_t value) {
    return [=](Record &r) { r.inst.setWord("trip_count", value); };
  };
  EXPECT_EQ(afterLoops(Engine::Vector, 0, trips(0)),
            "[X-06] a loop runs at least once, not 0 times | loops.cpp:5 | note: record 0 of the "
            "vector stream, 'loop_begin'");
  EXPECT_EQ(withoutLast(Engine::Vector, 1),
            "[X-06] the vector stream: the stream ends inside a loop of 2 iterations");
  EXPECT_EQ(afterLoops(Engine::Vector, 0,
                       [](Record &r) {
                         r.inst = isa::makeInstruction(isa::Opcode::LoopEnd);
                         r.inst.engine = Engine::Vector;
                       }),
            "[X-06] no loop is open that could end here | loops.cpp:5 | note: record 0 of the "
            "vector stream, 'loop_end'");
  EXPECT_EQ(afterLoops(Engine::Vector, 1, [](Record &r) { raise(r); }),
            "[X-06] 'loop_begin' waits for or updates a semaphore: at the edge of a loop all "
            "streams meet, and semaphores restart | loops.cpp:6 | note: record 1 of the vector "
            "stream, 'loop_begin'");
}

TEST(Verify, LoopsNestToALimit) {
  auto nest = [](int depth) {
    Program p;
    for (auto opcode : {isa::Opcode::LoopBegin, isa::Opcode::LoopEnd})
      for (int i = 0; i < depth; ++i) {
        Record r;
        r.inst = isa::makeInstruction(opcode);
        r.inst.engine = Engine::Sync;
        r.order = uint32_t(opcode == isa::Opcode::LoopEnd ? depth + i : i);
        if (opcode == isa::Opcode::LoopBegin)
          r.inst.setWord("trip_count", UINT32_MAX);
        samples::append(p, r);
      }
    return refusal(p);
  };
  EXPECT_EQ(nest(4), "accepted");
  EXPECT_EQ(nest(5), "[X-06] the loop stands inside 4 others, at most 4 stand inside one another | "
                     "note: record 4 of the sync stream, 'loop_begin'");
}

TEST(Verify, StreamsHaveTheSameLoops) {
  EXPECT_EQ(afterLoops(Engine::Sync, 1, [](Record &r) { r.inst.setWord("trip_count", 4); }),
            "[X-06] the streams have different loops: here is a loop of 4 iterations, the vector "
            "stream has a loop of 3 iterations there | loops.cpp:6 | note: record 1 of the sync "
            "stream, 'loop_begin'");
  EXPECT_EQ(withoutLast(Engine::Sync, 1),
            "[X-06] the sync stream: the stream ends inside a loop of 2 iterations");
  Program program = samples::loops();
  program.streams[0].bytes.clear();
  EXPECT_EQ(refusal(program),
            "[X-06] the streams have different loops: here is a loop of 2 iterations, the vector "
            "stream has none there | loops.cpp:5 | note: record 0 of the sync stream, "
            "'loop_begin'");
  program = samples::loops();
  program.streams[1].bytes.clear();
  EXPECT_EQ(refusal(program), "[X-06] the sync stream: the streams have different loops: this one "
                              "ends, the vector stream has a loop of 2 iterations there");
}

TEST(Verify, AccessesOfEveryIteration) {
  auto source = [](std::array<int64_t, 4> steps) {
    return afterLoops(Engine::Sync, 2, [=](Record &r) { r.inst.operands[1].loopStep = steps; });
  };
  const auto outside = [](int64_t first, int64_t last) {
    return "[V-11] | loops.cpp:7 | note: record 2 of the sync stream, 'dma_copy' | note: 'src' "
           "asks for hbm bytes " +
           std::to_string(first) + " to " + std::to_string(last) + "; 'x' is bytes 0 to 49151";
  };
  // 192 rows of 64; the access takes 32 of them, and moves 1 and 2 times.
  EXPECT_EQ(source({64 * 160}), "accepted");
  EXPECT_EQ(source({64 * 160 + 1}), outside(0, 49155));
  EXPECT_EQ(source({0, 64 * 80}), "accepted");
  EXPECT_EQ(source({0, 64 * 80 + 1}), outside(0, 49159));
  EXPECT_EQ(source({64 * 80, 64 * 40}), "accepted");
  EXPECT_EQ(source({64 * 80 + 1, 64 * 40}), outside(0, 49155));
  EXPECT_EQ(source({-1}), outside(-4, 8191));
  EXPECT_EQ(source({0, -1}), outside(-8, 8191));
  EXPECT_EQ(source({64, -64}), outside(-512, 8447));
  EXPECT_EQ(source({INT64_MAX, INT64_MAX}), outside(0, INT64_MAX));
  EXPECT_EQ(source({INT64_MIN, 0}), outside(INT64_MIN, 8191));
  EXPECT_EQ(source({0, 0, 1}),
            "[X-06] src 'x' moves with 3 loops, there are 2 around it | loops.cpp:7 | note: record "
            "2 of the sync stream, 'dma_copy'");
}

TEST(Verify, SemaphoresStartAgainAtTheEdgesOfLoops) {
  EXPECT_EQ(afterLoops(Engine::Vector, 2, [](Record &r) { r.sync.waitValue = 17; }),
            "[X-01] 'tensor_copy' waits until semaphore 0 is 17, all its updates between two edges "
            "of loops add up to 16 | loops.cpp:7 | note: record 2 of the vector stream, "
            "'tensor_copy'");
  // A wait behind the loop for what was raised in it.
  Program program = samples::loops();
  Record wait;
  wait.inst = isa::makeInstruction(isa::Opcode::SemaphoreWait);
  wait.inst.engine = Engine::Vector;
  wait.order = 11;
  wait.sync = {.waitSemaphore = 0, .waitValue = 16};
  samples::append(program, wait);
  EXPECT_EQ(refusal(program),
            "[X-01] 'semaphore_wait' waits until semaphore 0 is 16, all its updates between two "
            "edges of loops add up to 0 | note: record 5 of the vector stream, 'semaphore_wait'");
}

TEST(Verify, TensorsOfLoops) {
  auto scope = [](uint32_t loop) {
    Program program = samples::loops();
    program.tensors[2].loop = loop;
    return refusal(program);
  };
  EXPECT_EQ(scope(0), "accepted");
  EXPECT_EQ(scope(2), "[X-06] operand 'dst' names 't' outside loop 2, in which it is declared | "
                      "loops.cpp:7 | note: record 2 of the vector stream, 'tensor_copy'");
  Program program = samples::copy();
  program.tensors[2].loop = 0;
  EXPECT_EQ(refusal(program), "[X-06] operand 'src' names 't' outside loop 0, in which it is "
                              "declared | copy.cpp:35 | note: record 0 of the vector stream, "
                              "'tensor_copy'");
  program = samples::loops();
  program.tensors[1].loop = 0;
  EXPECT_EQ(refusal(program),
            "[X-05] tensor 1 'y' is an input, output or constant declared in a loop");
  program = samples::loops();
  program.tensors.push_back(program.tensors[2]);
  program.tensors[3].byte = 4096;
  program.tensors[3].loop = 2;
  EXPECT_EQ(refusal(program), "[X-05] tensor 3 't' is declared in loop 2, the streams have 2");
}

//---- names --------------------------------------------------------------===//

TEST(Verify, ShowsHostileNamesTame) {
  Program program = samples::copy();
  program.tensors[2].name = "\x1b[31m" + std::string(100, 'a');
  samples::edit(program, Engine::Vector, 0, [](Record &r) { r.inst.operands[1].offset = 1; });
  Status status = verify(program);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              testing::HasSubstr("'\\x1b[31m" + std::string(55, 'a') + "...'"));
}

} // namespace
