//===- CodecTest.cpp - records to bytes and back ----------------------------------------------===//

#include "Samples.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

using namespace kilnrt;
using testing::IsEmpty;

namespace {

constexpr uint64_t kSeed = 20240611;

std::vector<std::byte> encoded(const Record &record) {
  std::vector<std::byte> bytes;
  encodeRecord(record, bytes);
  return bytes;
}

std::string errorOf(std::span<const std::byte> bytes) {
  const size_t size = bytes.size();
  Expected<Record> record = decodeRecord(bytes);
  if (record)
    return "accepted";
  EXPECT_EQ(bytes.size(), size) << "an error leaves the bytes alone";
  EXPECT_EQ(record.error().rule, "X-06");
  return record.error().message;
}

TEST(Codec, RoundTripsEveryInstruction) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  samples::Rng rng(kSeed);
  for (const isa::InstDesc &desc : isa::instructions()) {
    SCOPED_TRACE(desc.mnemonic);
    for (int i = 0; i < 200; ++i) {
      const Record record = samples::randomRecord(desc, 1000, rng);
      ASSERT_TRUE(checkEncodable(record)) << checkEncodable(record).error().message;
      const std::vector<std::byte> bytes = encoded(record);
      ASSERT_EQ(bytes.size(), recordBytes(record.inst));
      std::span<const std::byte> rest = bytes;
      Expected<Record> back = decodeRecord(rest);
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(*back, record);
      ASSERT_THAT(rest, IsEmpty());
      ASSERT_EQ(encoded(*back), bytes);
    }
  }
}

TEST(Codec, AcceptsOnlyWhatItWouldWrite) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  samples::Rng rng(kSeed);
  size_t accepted = 0, rejected = 0;
  for (const isa::InstDesc &desc : isa::instructions()) {
    SCOPED_TRACE(desc.mnemonic);
    for (int i = 0; i < 50; ++i) {
      const auto original = encoded(samples::randomRecord(desc, 1000, rng));
      for (size_t at = 2; at < original.size(); ++at) {
        std::vector<std::byte> bytes = original;
        bytes[at] = std::byte(rng());
        std::span<const std::byte> rest = bytes;
        Expected<Record> record = decodeRecord(rest);
        if (!record) {
          ASSERT_FALSE(record.error().message.empty());
          ++rejected;
          continue;
        }
        ++accepted;
        // Fewer loop steps leave bytes to the next record.
        bytes.resize(bytes.size() - rest.size());
        ASSERT_EQ(encoded(*record), bytes) << "byte " << at;
      }
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(rejected, 1000u);
}

TEST(Codec, RejectsTruncationAtEveryByte) {
  samples::Rng rng(kSeed);
  for (const isa::InstDesc &desc : isa::instructions()) {
    Record record = samples::randomRecord(desc, 10, rng);
    for (isa::Access &access : record.inst.operands) { // PutsIndicesBehindTheLoopSteps cuts them
      access.indexing = isa::Indexing::None;
      access.indexRegister = isa::kNoRegister;
      access.indexStep = access.indexExtent = 0;
    }
    const auto bytes = encoded(record);
    const size_t fixed = recordBytes(desc.opcode);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string left = std::to_string(size) + " bytes are left, ";
      const std::string cut = "'" + std::string(desc.mnemonic) + "': truncated record: ";
      EXPECT_EQ(errorOf(std::span(bytes).first(size)),
                size < 2 ? "truncated record: " + left + "an opcode takes 2"
                : size < fixed
                    ? cut + left + "the instruction takes " + std::to_string(fixed)
                    : cut + std::to_string(size - fixed) + " bytes are left for " +
                          std::to_string((bytes.size() - fixed) / 8) + " loop steps of 8");
    }
  }
}

TEST(Codec, PinsTheLayout) {
  Record record;
  record.inst = isa::makeInstruction(isa::Opcode::Memset);
  record.inst.engine = isa::Engine::Vector;
  record.inst.setReal("value", 1.0);
  isa::Access &dst = record.inst.operands[0];
  dst.tensor = 7;
  dst.dtype = isa::DType::Int32;
  dst.rank = 2;
  dst.partitionStart = 32;
  dst.partitionCount = 16;
  dst.rowStep = -1;
  dst.offset = 258;
  dst.step = {3, 1};
  dst.num = {4, 512};
  record.sync = {.waitSemaphore = 2, .waitValue = 5, .updateSemaphore = 3, .updateValue = 1};
  record.order = 9;
  record.location = 65536;
  const std::vector<std::byte> bytes = encoded(record);
  std::string hex;
  for (std::byte b : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", unsigned(b));
    hex += digits;
  }
  EXPECT_EQ(hex, "3100" // opcode
                 "05"   // engine
                 "01"   // operands present
                 "0200"
                 "0300"
                 "05000000"
                 "01000000" // wait and update values
                 "09000000"
                 "00000100"         // order, location
                 "000000000000f03f" // value
                 "07000000"
                 "03"
                 "02"
                 "0000"
                 "20000000"
                 "10000000" // start, count
                 "ffffffffffffffff"
                 "0201000000000000"
                 "0300000000000000"
                 "0100000000000000"
                 "0000000000000000"
                 "0000000000000000"
                 "0400000000000000"
                 "0002000000000000"
                 "0000000000000000"
                 "0000000000000000");
  EXPECT_EQ(recordBytes(isa::Opcode::NcMatmul), 24u + 24 + 3 * 96);
  EXPECT_EQ(recordBytes(isa::Opcode::SemaphoreWait), 24u);
  EXPECT_EQ(recordBytes(isa::Opcode(0x7777)), 0u);
}

TEST(Codec, PutsLoopStepsBehindTheSlots) {
  Record record;
  record.inst = isa::makeInstruction(isa::Opcode::TensorCopy);
  record.inst.engine = isa::Engine::Vector;
  for (unsigned i : {0u, 1u}) {
    isa::Access &access = record.inst.operands[i];
    access.tensor = i;
    access.rank = 1;
    access.step[0] = access.num[0] = 1;
  }
  const size_t fixed = recordBytes(isa::Opcode::TensorCopy);
  EXPECT_EQ(recordBytes(record.inst), fixed);
  record.inst.operands[0].loopStep = {0, -2};
  record.inst.operands[1].loopStep = {258};
  std::vector<std::byte> bytes = encoded(record);
  ASSERT_EQ(bytes.size(), fixed + 3 * 8);
  EXPECT_EQ(recordBytes(record.inst), bytes.size());
  const size_t slots = fixed - 2 * 96;
  EXPECT_EQ(bytes[slots + 6], std::byte{2});
  EXPECT_EQ(bytes[slots + 96 + 6], std::byte{1});
  EXPECT_EQ(bytes[fixed], std::byte{0});
  EXPECT_EQ(bytes[fixed + 8], std::byte{0xFE});
  EXPECT_EQ(bytes[fixed + 16], std::byte{2});
  EXPECT_EQ(bytes[fixed + 17], std::byte{1});

  std::span<const std::byte> rest = bytes;
  Expected<Record> back = decodeRecord(rest);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, record);

  auto changed = [&](size_t at, int value) {
    std::vector<std::byte> other = bytes;
    other[at] = std::byte(value);
    return errorOf(other);
  };
  EXPECT_EQ(changed(slots + 6, 5), "'tensor_copy': operand 'dst' moves with 5 loops, at most 4 "
                                   "stand inside one another");
  EXPECT_EQ(changed(slots + 6, 1), "'tensor_copy': the last loop step of operand 'dst' is 0");
  EXPECT_EQ(changed(slots + 7, 1), "'tensor_copy': truncated record: 0 bytes are left for 1 "
                                   "indices of 24");
  EXPECT_EQ(changed(slots + 6, 4),
            "'tensor_copy': truncated record: 24 bytes are left for 5 loop steps of 8");
}

TEST(Codec, PutsIndicesBehindTheLoopSteps) {
  Record record;
  record.inst = isa::makeInstruction(isa::Opcode::TensorCopy);
  record.inst.engine = isa::Engine::Vector;
  for (unsigned i : {0u, 1u}) {
    isa::Access &access = record.inst.operands[i];
    access.tensor = i;
    access.rank = 1;
    access.step[0] = access.num[0] = 1;
  }
  const size_t fixed = recordBytes(isa::Opcode::TensorCopy), slots = fixed - 2 * 96;
  record.inst.operands[0].loopStep = {7};
  isa::Access &src = record.inst.operands[1];
  src.indexing = isa::Indexing::Scalar;
  src.indexRegister = 258;
  src.indexStep = -2;
  src.indexExtent = 3;
  std::vector<std::byte> bytes = encoded(record);
  ASSERT_EQ(bytes.size(), fixed + 8 + 24);
  EXPECT_EQ(recordBytes(record.inst), bytes.size());
  EXPECT_EQ(bytes[slots + 7], std::byte{0});
  EXPECT_EQ(bytes[slots + 96 + 7], std::byte{1});
  EXPECT_EQ(bytes[fixed + 8], std::byte{2});
  EXPECT_EQ(bytes[fixed + 9], std::byte{1});
  EXPECT_EQ(bytes[fixed + 16], std::byte{0xFE});
  EXPECT_EQ(bytes[fixed + 24], std::byte{3});
  std::span<const std::byte> rest = bytes;
  Expected<Record> back = decodeRecord(rest);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, record);

  const auto changed = [&](size_t at, int value) {
    std::vector<std::byte> other = bytes;
    other[at] = std::byte(value);
    return errorOf(other);
  };
  EXPECT_EQ(changed(slots + 96 + 7, 3),
            "'tensor_copy': operand 'src' is indexed in way 3, which there is not");
  EXPECT_EQ(changed(slots + 96 + 7, 2),
            "'tensor_copy': operand 'src' is indexed by a register, or has one, but not both");
  EXPECT_EQ(changed(fixed + 10, 1),
            "'tensor_copy': the index of operand 'src' has padding that is not zero");
  bytes.pop_back();
  EXPECT_EQ(errorOf(bytes),
            "'tensor_copy': truncated record: 23 bytes are left for 1 indices of 24");
}

TEST(Codec, KeepsEveryBitOfAFloatField) {
  for (uint32_t bits :
       {0x00000000u, 0x80000000u, 0x00000001u, 0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00000u,
        0x7F800001u, 0xFFBFFFFFu, 0x7FFFFFFFu, 0x3DCCCCCDu}) {
    Record record;
    record.inst = isa::makeInstruction(isa::Opcode::Activation);
    auto bytes = encoded(record);
    // op u8 at 24, imm_bias at 28.
    for (unsigned i = 0; i < 4; ++i)
      bytes[28 + i] = std::byte(bits >> (8 * i) & 0xFF);
    std::span<const std::byte> rest = bytes;
    Expected<Record> back = decodeRecord(rest);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(encoded(*back), bytes) << std::hex << bits;
    const double value = back->inst.real("imm_bias");
    const auto single = std::bit_cast<float>(bits);
    EXPECT_EQ(std::isnan(value), std::isnan(single));
    EXPECT_EQ(std::signbit(value), std::signbit(single));
    if (!std::isnan(single)) {
      EXPECT_EQ(value, double(single));
    }
  }
}

//---- rejections ---------------------------------------------------------===//

struct BadByte {
  isa::Opcode opcode;
  size_t at;
  int value;
  std::string_view message;
};

TEST(Codec, RejectsWithAMessage) {
  using isa::Opcode;
  // tensor_scalar: op0 24, imm0 32, reverse0 40, op1 41, imm1 48, reverse1 56,
  // dst 64, data 160, operand0 256, operand1 352.
  const BadByte cases[] = {
      {Opcode::TensorScalar, 0, 0xEE, "unknown opcode 0x00ee"},
      {Opcode::TensorScalar, 2, 4, "'tensor_scalar': unknown engine 4"},
      {Opcode::TensorScalar, 3, 0x13,
       "'tensor_scalar': operand mask 0x13 names operands the instruction "
       "lacks, it has 4"},
      {Opcode::TensorScalar, 24, 99,
       "'tensor_scalar': field 'op0' holds 99, which is no value of its enum"},
      {Opcode::TensorScalar, 25, 1, "'tensor_scalar': padding byte 25 is not zero"},
      {Opcode::TensorScalar, 40, 2, "'tensor_scalar': field 'reverse0' holds 2, a bool is 0 or 1"},
      {Opcode::TensorScalar, 63, 1, "'tensor_scalar': padding byte 57 is not zero"},
      {Opcode::TensorScalar, 68, 99,
       "'tensor_scalar': operand 'dst' has dtype number 99, which the table "
       "lacks"},
      {Opcode::TensorScalar, 69, 5,
       "'tensor_scalar': operand 'dst' has 5 free dims, an access holds at "
       "most 4"},
      {Opcode::TensorScalar, 69, 0,
       "'tensor_scalar': operand 'dst' has 0 free dims, but free dim 0 is not "
       "zero"},
      {Opcode::TensorScalar, 71, 1,
       "'tensor_scalar': truncated record: 0 bytes are left for 1 indices of 24"},
      {Opcode::TensorScalar, 64 + 40, 1,
       "'tensor_scalar': operand 'dst' has 1 free dims, but free dim 1 is not "
       "zero"},
      {Opcode::TensorScalar, 64 + 95, 1,
       "'tensor_scalar': operand 'dst' has 1 free dims, but free dim 3 is not "
       "zero"},
      {Opcode::TensorScalar, 256 + 12, 1,
       "'tensor_scalar': operand 'operand0' is absent, but its bytes are not "
       "zero"},
  };
  Record good;
  good.inst = isa::makeInstruction(Opcode::TensorScalar);
  good.inst.engine = isa::Engine::Vector;
  const Program program = samples::copy();
  good.inst.operands[0] = samples::whole(program, 2);
  good.inst.operands[1] = samples::whole(program, 3);
  for (const BadByte &bad : cases) {
    std::vector<std::byte> bytes = encoded(good);
    ASSERT_EQ(errorOf(bytes), "accepted");
    bytes[bad.at] = std::byte(bad.value);
    EXPECT_EQ(errorOf(bytes), bad.message);
  }
  std::vector<std::byte> bytes = encoded(good);
  std::fill_n(bytes.begin() + 64, 4, std::byte{0xFF});
  EXPECT_EQ(errorOf(bytes), "'tensor_scalar': operand 'dst' is present, but "
                            "names no tensor");
}

TEST(Codec, SaysWhichRecordOfAStreamIsBroken) {
  Program program = samples::copy();
  Stream &stream = program.streams[1];
  ASSERT_EQ(stream.engine, isa::Engine::Sync);
  stream.bytes.resize(stream.bytes.size() - 1);
  Expected<std::vector<Record>> records = decodeStream(stream);
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().message, "'dma_copy': truncated record: 223 bytes "
                                     "are left, the instruction takes 224");
  ASSERT_EQ(records.error().notes.size(), 1u);
  EXPECT_EQ(records.error().notes[0].message, "record 1 of the sync stream");
}

//---- what has no encoding -----------------------------------------------===//

TEST(Codec, SaysWhatHasNoEncoding) {
  auto errorAfter = [](const std::function<void(Record &)> &change) {
    Record record;
    record.inst = isa::makeInstruction(isa::Opcode::Activation);
    record.inst.engine = isa::Engine::Scalar;
    EXPECT_TRUE(checkEncodable(record));
    change(record);
    Status status = checkEncodable(record);
    return status ? std::string("encodable") : status.error().message;
  };
  auto field = [&](std::string_view name, int64_t word) {
    return errorAfter([=](Record &r) { r.inst.setWord(name, word); });
  };
  EXPECT_EQ(errorAfter([](Record &r) { r.inst.opcode = isa::Opcode(0); }), "unknown opcode 0x0000");
  EXPECT_EQ(errorAfter([](Record &r) { r.inst.engine = isa::Engine(4); }),
            "'activation': unknown engine 4");
  EXPECT_EQ(field("op", 25), "'activation': field 'op' holds 25, which is no "
                             "value of its enum");
  EXPECT_EQ(field("op", -1), "'activation': field 'op' holds -1, which is no "
                             "value of its enum");
  EXPECT_EQ(field("op", 256), "'activation': field 'op' holds 256, which is no "
                              "value of its enum");
  EXPECT_EQ(field("imm_bias", isa::bitsOf(0.1)),
            "'activation': field 'imm_bias' holds 0.1, which is no float32");
  EXPECT_EQ(field("imm_bias", isa::bitsOf(1e39)),
            "'activation': field 'imm_bias' holds 1e+39, which is no float32");
  EXPECT_EQ(field("imm_bias", isa::bitsOf(0.1f)), "encodable");
  EXPECT_EQ(field("imm_bias", isa::bitsOf(-INFINITY)), "encodable");
  EXPECT_EQ(field("imm_bias", int64_t{0x7FF0000000000001}),
            "'activation': field 'imm_bias' holds nan, which is no float32");
  EXPECT_EQ(errorAfter([](Record &r) { r.inst.operands[2].offset = 1; }),
            "'activation': operand 2 is absent, but not at its defaults");
  EXPECT_EQ(errorAfter([](Record &r) {
              r.inst.operands[1].tensor = 0;
              r.inst.operands[1].num[0] = 1;
            }),
            "'activation': operand 'data' has 0 free dims, but free dim 0 is "
            "not zero");

  Record iota;
  iota.inst = isa::makeInstruction(isa::Opcode::Iota);
  iota.inst.setWord("offset", int64_t{INT32_MAX} + 1);
  EXPECT_EQ(checkEncodable(iota).error().message,
            "'iota': field 'offset' holds 2147483648, which does not fit 32 "
            "bits");
  Record reduce;
  reduce.inst = isa::makeInstruction(isa::Opcode::TensorReduce);
  reduce.inst.setWord("reduced_dims", -1);
  EXPECT_EQ(checkEncodable(reduce).error().message,
            "'tensor_reduce': field 'reduced_dims' holds -1, which does not "
            "fit 32 bits without a sign");
  Record wait;
  wait.inst = isa::makeInstruction(isa::Opcode::SemaphoreWait);
  wait.inst.fields[0] = 1;
  EXPECT_EQ(checkEncodable(wait).error().message,
            "'semaphore_wait': field word 0 belongs to no field, but is not "
            "zero");
}

} // namespace
