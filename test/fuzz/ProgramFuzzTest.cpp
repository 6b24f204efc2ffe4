//===- ProgramFuzzTest.cpp - mutated program files --------------------------------------------===//
//
// 100,000 program files, each a sound one with a few changes: of raw bytes, of records inside the
// streams, of numbers in the declarations. The loader says what is wrong or accepts, and what it
// accepts is written as the same bytes and survives a trip through text. Run under the sanitizers,
// this is the proof that no file reads or writes out of bounds.
//
//===------------------------------------------------------------------------------------------===//

#include "Samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace kilnrt;
using samples::Rng;

namespace {

constexpr int kFilesPerCase = 25000;

/// Numbers at which something changes its mind.
int64_t extreme(Rng &rng) {
  constexpr int64_t values[] = {0,         1,         -1,        2,          4,         16,
                                31,        32,        64,        127,        128,       129,
                                255,       256,       511,       512,        513,       2047,
                                2048,      16384,     32767,     32768,      65535,     65536,
                                212984,    INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN,
                                1LL << 30, 1LL << 34, 1LL << 40};
  return values[rng() % std::size(values)];
}

//---- raw bytes
//---------------------------------------------------------------------------------===//

using Bytes = std::vector<std::byte>;

void overwriteNumber(Bytes &bytes, size_t width, Rng &rng) {
  if (bytes.size() < width)
    return;
  const int64_t value = extreme(rng);
  // Fields are aligned: half of the time so is the change.
  size_t at = rng() % (bytes.size() - width + 1);
  if (rng() % 2)
    at -= at % width;
  std::memcpy(bytes.data() + at, &value, width); // the low bytes, on the hosts there are
}

void mutateBytes(Bytes &bytes, const Bytes &other, Rng &rng) {
  if (bytes.empty()) {
    bytes.push_back(std::byte(rng()));
    return;
  }
  const size_t at = rng() % bytes.size();
  const size_t length = 1 + rng() % 64;
  switch (rng() % 8) {
  case 0:
    bytes[at] ^= std::byte(1u << rng() % 8);
    return;
  case 1:
    bytes[at] = std::byte(rng());
    return;
  case 2:
  case 3:
    return overwriteNumber(bytes, size_t{1} << rng() % 4, rng);
  case 4: { // a piece of another file over this one
    if (other.empty())
      return;
    const size_t from = rng() % other.size();
    const size_t n = std::min({length, other.size() - from, bytes.size() - at});
    std::copy_n(other.begin() + ptrdiff_t(from), n, bytes.begin() + ptrdiff_t(at));
    return;
  }
  case 5:
    bytes.resize(at);
    return;
  case 6:
    bytes.erase(bytes.begin() + ptrdiff_t(at),
                bytes.begin() + ptrdiff_t(std::min(bytes.size(), at + length)));
    return;
  default:
    bytes.insert(bytes.begin() + ptrdiff_t(at), length, std::byte(rng()));
    return;
  }
}

//---- structure
//---------------------------------------------------------------------------------===//

void mutateTensor(TensorInfo &tensor, Rng &rng) {
  switch (rng() % 10) {
  case 0:
    tensor.memory = isa::Memory(rng() % 4);
    return;
  case 1:
    tensor.dtype = isa::DType(rng() % 6);
    return;
  case 2:
    tensor.role = TensorRole(rng() % 5);
    return;
  case 3:
    if (!tensor.shape.empty())
      tensor.shape[rng() % tensor.shape.size()] = extreme(rng);
    return;
  case 4:
    tensor.shape.insert(tensor.shape.begin() + ptrdiff_t(rng() % (tensor.shape.size() + 1)),
                        rng() % 2 ? 1 : extreme(rng));
    return;
  case 5:
    tensor.index = uint32_t(extreme(rng));
    return;
  case 6:
    tensor.partition = uint32_t(extreme(rng));
    return;
  case 7:
    tensor.byte = uint64_t(extreme(rng));
    return;
  case 8:
    tensor.loop = uint32_t(rng() % 4);
    return;
  default:
    tensor.location = uint32_t(rng() % 4);
    return;
  }
}

/// Changes one number of one record so that it stays encodable more often than not.
void mutateRecord(Record &record, size_t tensors, Rng &rng) {
  isa::Access &access = record.inst.operands[rng() % 3];
  switch (rng() % 14) {
  case 0:
    record.order = uint32_t(rng() % 8);
    return;
  case 1:
    record.location = uint32_t(rng() % 4);
    return;
  case 2:
    record.sync.waitSemaphore = uint16_t(extreme(rng));
    return;
  case 3:
    record.sync.waitValue = uint32_t(extreme(rng));
    return;
  case 4:
    record.sync.updateSemaphore = uint16_t(extreme(rng));
    return;
  case 5:
    record.sync.updateValue = uint32_t(extreme(rng));
    return;
  case 6:
    record.inst.fields[rng() % isa::kMaxFieldWords] = rng() % 2 ? int64_t(rng() % 4) : extreme(rng);
    return;
  case 7:
    record.inst.engine = isa::Engine(rng() % 7);
    return;
  default:
    break;
  }
  if (!access.present())
    return;
  switch (rng() % 9) {
  case 0:
    access.tensor = uint32_t(rng() % (tensors + 1));
    return;
  case 1:
    access.dtype = isa::DType(rng() % isa::dtypeCases().size());
    return;
  case 2:
    access.partitionStart = uint32_t(extreme(rng));
    return;
  case 3:
    access.partitionCount = uint32_t(extreme(rng));
    return;
  case 4:
    access.rowStep = extreme(rng);
    return;
  case 5:
    access.offset = extreme(rng);
    return;
  case 6:
    access.num[0] = extreme(rng);
    return;
  case 7:
    access.loopStep[rng() % isa::kMaxLoopDepth] = rng() % 2 ? 0 : extreme(rng);
    return;
  default:
    access.step[0] = extreme(rng);
    return;
  }
}

void mutateStream(Program &program, Rng &rng) {
  Stream &stream = program.streams[rng() % program.streams.size()];
  Expected<std::vector<Record>> records = decodeStream(stream);
  if (!records || records->empty() || rng() % 4 == 0)
    return mutateBytes(stream.bytes, program.streams[0].bytes, rng);
  std::vector<Record> &list = *records;
  const size_t at = rng() % list.size();
  switch (rng() % 8) {
  case 0:
    list.erase(list.begin() + ptrdiff_t(at));
    break;
  case 1:
    list.push_back(list[at]);
    break;
  case 2:
    std::swap(list[at], list[rng() % list.size()]);
    break;
  default:
    mutateRecord(list[at], program.tensors.size(), rng);
    break;
  }
  stream.bytes.clear();
  for (const Record &record : list)
    if (checkEncodable(record))
      encodeRecord(record, stream.bytes);
}

void mutateProgram(Program &program, Rng &rng) {
  switch (rng() % 12) {
  case 0:
    program.flags = {bool(rng() % 2), bool(rng() % 2), bool(rng() % 2)};
    return;
  case 1:
    if (!program.locations.empty())
      program.locations[rng() % program.locations.size()] = {
          uint32_t(rng() % 3), uint32_t(extreme(rng)), uint32_t(rng() % 4)};
    return;
  case 2:
    if (!program.constants.empty())
      program.constants[0].data.resize(rng() % 4096);
    return;
  case 3:
    program.streams[rng() % program.streams.size()].engine = isa::Engine(rng() % 8);
    return;
  case 4:
    program.tensors.push_back(program.tensors[rng() % program.tensors.size()]);
    return;
  case 5:
  case 6:
    return mutateTensor(program.tensors[rng() % program.tensors.size()], rng);
  default:
    return mutateStream(program, rng);
  }
}

//---- the test
//----------------------------------------------------------------------------------===//

class ProgramFuzz : public testing::TestWithParam<uint64_t> {};

TEST_P(ProgramFuzz, LoadsOrSaysWhyNot) {
  SCOPED_TRACE(testing::Message() << "seed " << GetParam());
  Rng rng(GetParam());
  const Program sources[] = {samples::copy(), samples::matmul(), samples::loops()};
  const Bytes files[] = {serialize(sources[0]), serialize(sources[1]), serialize(sources[2])};
  int accepted = 0, rejected = 0;
  for (int i = 0; i < kFilesPerCase; ++i) {
    const size_t which = rng() % std::size(files);
    Bytes bytes = files[which];
    if (rng() % 4 != 0) {
      Program program = sources[which];
      for (size_t n = 1 + rng() % 3; n-- > 0;)
        mutateProgram(program, rng);
      bytes = serialize(program);
    }
    if (rng() % 4 == 0)
      for (size_t n = 1 + rng() % 3; n-- > 0;)
        mutateBytes(bytes, files[(which + 1) % std::size(files)], rng);
    bytes.shrink_to_fit(); // a read past the end is past the allocation too
    Expected<Program> program = load(bytes);
    if (!program) {
      ++rejected;
      ASSERT_FALSE(program.error().message.empty()) << "file " << i;
      ASSERT_EQ(program.error().fault, kiln::Fault::User) << "file " << i;
      continue;
    }
    ++accepted;
    ASSERT_EQ(serialize(*program), bytes) << "file " << i;
    Expected<std::string> text = disassemble(*program);
    ASSERT_TRUE(text) << "file " << i << ": " << text.error().message;
    Expected<Program> back = assemble(*text, "fuzz.s");
    ASSERT_TRUE(back) << "file " << i << ": " << back.error().message;
    ASSERT_EQ(*back, *program) << "file " << i;
  }
  // Both ends must be reached, or the mutations have lost their bite.
  EXPECT_GT(accepted, kFilesPerCase / 100);
  EXPECT_GT(rejected, kFilesPerCase / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ProgramFuzz, testing::Values(1, 2, 3, 4));

} // namespace
