//===- ContainerTest.cpp - program files, sound and hostile -----------------------------------===//

#include "Program_generated.h"
#include "Samples.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace kilnrt;
using testing::HasSubstr;

namespace {

std::string errorOf(std::span<const std::byte> bytes) {
  Expected<Program> program = load(bytes);
  if (program)
    return "accepted";
  EXPECT_EQ(program.error().rule, "X-05");
  const std::string &help = program.error().help;
  return program.error().message + (help.empty() ? "" : " | help: " + help);
}

/// A file made field by field, as a compiler of another version or an attacker
/// would. Starts as an empty program.
struct RawFile {
  uint32_t version = kProgramVersion;
  uint64_t checksum = tableChecksum();
  uint32_t flags = 0;
  size_t files = 0;        ///< how many file names
  size_t texts = 0;        ///< how many texts
  std::string name{};      ///< what each of both is
  bool shareNames = false; ///< all entries point to one string
  size_t tensors = 0;      ///< how many entries, all pointing to one 1xf32 tensor

  std::vector<std::byte> bytes() const {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<flatbuffers::String>> names;
    for (size_t i = 0; i < files; ++i)
      names.push_back(i > 0 && shareNames ? names[0] : builder.CreateString(name));
    std::vector<flatbuffers::Offset<flatbuffers::String>> prefixes;
    for (size_t i = 0; i < texts; ++i)
      prefixes.push_back(i > 0 && shareNames ? prefixes[0] : builder.CreateString(name));
    std::vector<flatbuffers::Offset<fb::Tensor>> tensorList;
    if (tensors > 0) {
      auto empty = builder.CreateString("");
      auto shape = builder.CreateVector(std::vector<int64_t>{1});
      auto tensor =
          fb::CreateTensor(builder, empty, uint8_t(isa::Memory::Hbm), 0, 0, shape, 0, 0, 0, kNone);
      tensorList.assign(tensors, tensor);
    }
    auto kernel = builder.CreateString("k");
    auto target = builder.CreateString("trn2");
    auto tensorVector = builder.CreateVector(tensorList);
    auto constants = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Constant>>());
    auto fileVector = builder.CreateVector(names);
    auto locations = builder.CreateVectorOfStructs(std::vector<fb::Location>());
    auto textVector = builder.CreateVector(prefixes);
    auto streams = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Stream>>());
    fb::FinishProgramBuffer(builder, fb::CreateProgram(builder, version, checksum, flags, kernel,
                                                       target, tensorVector, constants, fileVector,
                                                       locations, textVector, streams));
    const auto *first = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
    return {first, first + builder.GetSize()};
  }
};

TEST(Container, RoundTrips) {
  for (const Program &program : {samples::copy(), samples::matmul(), Program{}}) {
    const std::vector<std::byte> bytes = serialize(program);
    Expected<Program> back = load(bytes);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, program);
    EXPECT_EQ(serialize(*back), bytes);
  }
}

TEST(Container, RoundTripsManySmallParts) {
  // The budget against shared bytes has to let every honest file through,
  // whatever it is made of.
  Program program;
  program.files.assign(1000, "");
  program.texts.assign(1000, "");
  program.locations.assign(1000, {});
  program.constants.assign(1000, {});
  TensorInfo tensor;
  tensor.shape = {1};
  program.tensors.assign(1000, tensor);
  Expected<Program> back = load(serialize(program));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, program);
}

TEST(Container, KeepsNamesOfAnyBytes) {
  Program program = samples::copy();
  program.kernel = std::string("nul\0\xff", 5);
  program.tensors[0].name = std::string(1, '\0');
  program.texts = {std::string("\0\n\xff", 3)};
  Expected<Program> back = load(serialize(program));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, program);
}

TEST(Container, ReadsFromAnyAddress) {
  const std::vector<std::byte> bytes = serialize(samples::copy());
  for (size_t shift = 1; shift < 8; ++shift) {
    std::vector<std::byte> shifted(shift);
    shifted.insert(shifted.end(), bytes.begin(), bytes.end());
    Expected<Program> back = load(std::span(shifted).subspan(shift));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, samples::copy());
  }
}

TEST(Container, RejectsTruncationAtEveryByte) {
  for (const Program &program : {samples::copy(), samples::matmul()}) {
    const std::vector<std::byte> bytes = serialize(program);
    for (size_t size = 0; size < bytes.size(); ++size) {
      // A copy of its own, so that a sanitizer sees a read past the end.
      const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + ptrdiff_t(size));
      EXPECT_NE(errorOf(cut), "accepted") << size;
    }
  }
}

//---- refusals -----------------------------------------------------------===//

TEST(Container, RefusesWhatIsNoProgramFile) {
  const std::string_view message = "not a program file: bytes 4 to 7 are not 'KILN'";
  EXPECT_EQ(errorOf({}), message);
  std::vector<std::byte> bytes = serialize(samples::copy());
  EXPECT_EQ(errorOf(std::span(bytes).first(7)), message);
  bytes[5] = std::byte{'i'};
  EXPECT_EQ(errorOf(bytes), message);
}

TEST(Container, RefusesDamage) {
  std::vector<std::byte> bytes = serialize(samples::copy());
  bytes[3] = std::byte{0x7F}; // the root table lies far away
  EXPECT_EQ(errorOf(bytes), "the program file is damaged: an offset or a size points out of it");
}

TEST(Container, RefusesBytesThatBelongToNothing) {
  std::vector<std::byte> bytes = serialize(samples::copy());
  const size_t size = bytes.size();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(errorOf(bytes), fmt::format("the program file is damaged: byte {} is not what belongs "
                                        "there",
                                        size));
  bytes.resize(size);
  ASSERT_EQ(errorOf(bytes), "accepted");
  bytes.back() = std::byte{1}; // padding after the first string
  EXPECT_EQ(errorOf(bytes), fmt::format("the program file is damaged: byte {} is not what belongs "
                                        "there",
                                        size - 1));
}

TEST(Container, RefusesOtherVersions) {
  EXPECT_EQ(errorOf(RawFile{}.bytes()), "accepted");
  EXPECT_EQ(errorOf(RawFile{.version = 1}.bytes()),
            "the program file has version 1, this reads version 4 | help: compile the kernel "
            "again");
  EXPECT_EQ(errorOf(RawFile{.checksum = 0xABC}.bytes()),
            fmt::format("the program file was written with another instruction table: checksum "
                        "0000000000000abc, here {:016x} | help: compile the kernel again",
                        tableChecksum()));
  EXPECT_EQ(errorOf(RawFile{.flags = 7}.bytes()), "accepted");
  EXPECT_EQ(errorOf(RawFile{.flags = 0x80000009}.bytes()),
            "the program file has unknown flags 0x80000008");
}

TEST(Container, RefusesPartsThatShareBytes) {
  const std::string_view message =
      "parts of the program file overlap | help: the file is damaged or was made by hand";
  // 4 MB of entries and one string of 1 MB would be 1 TB in memory.
  RawFile bomb{.files = 1000000, .name = std::string(1000000, 'n'), .shareNames = true};
  EXPECT_EQ(errorOf(bomb.bytes()), message);
  RawFile texts{.texts = 1000000, .name = std::string(1000000, 'n'), .shareNames = true};
  EXPECT_EQ(errorOf(texts.bytes()), message);
  EXPECT_EQ(errorOf(RawFile{.texts = 1000, .name = "a"}.bytes()), "accepted");
  EXPECT_EQ(errorOf(RawFile{.tensors = 1000}.bytes()),
            "the program file is damaged: an offset or a size points out of it");
  EXPECT_EQ(errorOf(RawFile{.files = 1000, .name = "a"}.bytes()), "accepted");
}

TEST(Container, RefusesFilesTooLarge) {
  const std::vector<std::byte> bytes = serialize(samples::copy());
  // The size is judged before any byte is read.
  EXPECT_EQ(errorOf(std::span(bytes.data(), Limits::fileBytes + 1)),
            "the program file has 2147482625 bytes, at most 2147482624 are allowed");
}

TEST(Container, RefusesWhatTheVerifierRefuses) {
  Program program = samples::copy();
  program.tensors[1].role = TensorRole(9);
  EXPECT_EQ(errorOf(serialize(program)), "tensor 1 'y' has unknown role 9");
}

//---- files --------------------------------------------------------------===//

TEST(Container, SavesAndLoadsFiles) {
  const std::string path = testing::TempDir() + "container-test.kiln";
  const Program program = samples::matmul();
  ASSERT_TRUE(saveFile(program, path));
  Expected<Program> back = loadFile(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, program);
  // Saving replaces: nothing of the longer file stays.
  ASSERT_TRUE(saveFile(Program{}, path));
  EXPECT_EQ(std::filesystem::file_size(path), serialize(Program{}).size());
  EXPECT_EQ(*loadFile(path), Program{});
  std::filesystem::remove(path);
}

TEST(Container, SaysWhichFileCannotBeUsed) {
  EXPECT_EQ(loadFile("/nonexistent/a.kiln").error().message,
            "cannot open '/nonexistent/a.kiln': No such file or directory");
  EXPECT_EQ(loadFile("/").error().message, "cannot read '/': Is a directory");
  EXPECT_EQ(saveFile(Program{}, "/nonexistent/a.kiln").error().message,
            "cannot create '/nonexistent/a.kiln': No such file or directory");
}

//---- places -------------------------------------------------------------===//

TEST(Container, ChainsEndWhateverTheProgram) {
  Program program = samples::copy();
  EXPECT_EQ(program.chain(1), (kiln::CallChain{{"helpers.h", 7}, {"copy.cpp", 33}}));
  EXPECT_EQ(program.chain(kNone), kiln::CallChain{});
  EXPECT_EQ(program.chain(3), kiln::CallChain{});
  program.locations[0] = {99, 5, 1};
  EXPECT_EQ(program.chain(1), (kiln::CallChain{{"helpers.h", 7}, {"", 5}}));
}

TEST(Container, CountsBytesWithoutOverflow) {
  TensorInfo tensor;
  tensor.shape = {3, 5, 7};
  tensor.dtype = isa::DType::BFloat16;
  EXPECT_EQ(tensor.freeElements(), 105);
  EXPECT_EQ(tensor.freeBytes(), 210);
  tensor.memory = isa::Memory::Sbuf;
  EXPECT_EQ(tensor.freeElements(), 35);
  EXPECT_EQ(tensor.freeBytes(), 70);
  tensor.shape = {3, INT64_MAX, INT64_MAX};
  EXPECT_EQ(tensor.freeBytes(), INT64_MAX);
}

} // namespace
