//===- NpyFileTest.cpp - .npy files on disk ---------------------------------------------------===//
//
// What is written, how it replaces what was there, and what can be wrong with a
// path.
//
//===------------------------------------------------------------------------------------------===//

#include "NpyBytes.h"
#include "TemporaryFolder.h"
#include "kilnrt/HostData/Npy.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>

namespace kilnrt::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::string textOf(const std::vector<std::byte> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string written(const HostArray &array, const NpyWriteOptions &options = {}) {
  auto bytes = encodeNpy(array, options);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? textOf(*bytes) : "";
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> namesIn(const fs::path &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(NpyWrite, WritesTheHeaderOfNumpy) {
  // The bytes numpy.save gives for this array.
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  expected += std::string(58, ' ') + "\n";

  std::string bytes = written(arrayOf<float>(DType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6}));

  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(0, 128), expected);
}

TEST(NpyWrite, WritesATupleOfOne) {
  std::string bytes = written(arrayOf<uint8_t>(DType::UInt8, {3}, {1, 2, 3}));

  EXPECT_EQ(bytes.substr(10, 57), "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(bytes.substr(128), "\x01\x02\x03");
}

TEST(NpyWrite, WritesSixteenBitFloatsAsFloat32OrAsBits) {
  // NaN, infinity, negative zero, smallest denormal, one.
  HostArray bf16 = arrayOf<uint16_t>(DType::BFloat16, {5}, {0x7fc1, 0xff80, 0x8000, 1, 0x3f80});
  HostArray fp16 = arrayOf<uint16_t>(DType::Float16, {5}, {0x7e01, 0xfc00, 0x8000, 1, 0x3c00});

  EXPECT_EQ(written(bf16).substr(128),
            textOf(bytesOfValues<uint32_t>(
                {0x7fc10000, 0xff800000, 0x80000000, 0x00010000, 0x3f800000})));
  EXPECT_EQ(written(fp16).substr(128),
            textOf(bytesOfValues<uint32_t>(
                {0x7fc02000, 0xff800000, 0x80000000, 0x33800000, 0x3f800000})));
  EXPECT_EQ(written(bf16, {.raw = true}).substr(128), textOf(bf16.data));
  EXPECT_EQ(written(fp16, {.raw = true}).substr(128), textOf(fp16.data));
  EXPECT_EQ(written(bf16).substr(20, 5), "'<f4'");
  EXPECT_EQ(written(fp16, {.raw = true}).substr(20, 5), "'<u2'");
}

TEST(NpyWrite, RawLeavesOtherTypesAlone) {
  HostArray i32 = arrayOf<int32_t>(DType::Int32, {2, 1}, {-1, 7});

  EXPECT_EQ(written(i32, {.raw = true}), written(i32));
  EXPECT_EQ(written(i32).substr(20, 5), "'<i4'");
}

TEST(NpyWrite, WritesIntegersOfEveryWidth) {
  HostArray i8 = arrayOf<int8_t>(DType::Int8, {2}, {-1, 7});
  HostArray i16 = arrayOf<int16_t>(DType::Int16, {2}, {-1, 7});
  HostArray u16 = arrayOf<uint16_t>(DType::UInt16, {2}, {65535, 7});
  HostArray u32 = arrayOf<uint32_t>(DType::UInt32, {2}, {4294967295, 7});

  EXPECT_EQ(written(i8).substr(20, 5), "'|i1'");
  EXPECT_EQ(written(i16).substr(20, 5), "'<i2'");
  EXPECT_EQ(written(u16).substr(20, 5), "'<u2'");
  EXPECT_EQ(written(u32).substr(20, 5), "'<u4'");
  for (const HostArray *array : {&i8, &i16, &u16, &u32})
    EXPECT_EQ(written(*array).substr(128), textOf(array->data));
}

TEST(NpyWrite, RefusesArraysThatAreNone) {
  HostArray cut = arrayOf<float>(DType::Float32, {2, 2}, {1, 2, 3});
  HostArray flat = arrayOf<float>(DType::Float32, {}, {1});
  HostArray empty{DType::Float32, {0, 2}, {}};

  for (const HostArray *array : {&cut, &flat, &empty}) {
    auto bytes = encodeNpy(*array);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().fault, Fault::Internal);
  }
  EXPECT_EQ(encodeNpy(cut).error().message,
            "an array of shape [2, 2] with 12 bytes cannot be written");
}

TEST(NpyFile, ReadsWhatItWrote) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  HostArray array = arrayOf<int32_t>(DType::Int32, {1, 3, 2}, {1, -2, 3, -4, 5, INT32_MIN});

  ASSERT_TRUE(writeNpyFile(path, array));
  auto header = readNpyFileHeader(path);
  auto read = readNpyFile(path);

  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(*header, (NpyHeader{NpyType::Int32, false, {1, 3, 2}, 128}));
  EXPECT_EQ(header->elements(), 6u);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->array.dtype, DType::Int32);
  EXPECT_EQ(read->array.shape, array.shape);
  EXPECT_EQ(read->array.data, array.data);
}

TEST(NpyFile, ReplacesWithoutLeavingAnythingBehind) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  std::ofstream(path) << std::string(1000, 'x');

  ASSERT_TRUE(writeNpyFile(path, arrayOf<uint8_t>(DType::UInt8, {1}, {7})));

  EXPECT_EQ(contents(path).size(), 129u);
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("a.npy"));
}

TEST(NpyFile, WritesThroughLinks) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy", link = folder / "link.npy";
  std::ofstream(path) << "old";
  fs::create_symlink("a.npy", link);

  ASSERT_TRUE(writeNpyFile(link, arrayOf<uint8_t>(DType::UInt8, {1}, {7})));

  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(contents(path).size(), 129u);
}

TEST(NpyFile, WritesToDevicesInPlace) {
  ASSERT_TRUE(writeNpyFile("/dev/null", arrayOf<uint8_t>(DType::UInt8, {1}, {7})));

  struct stat facts;
  ASSERT_EQ(stat("/dev/null", &facts), 0);
  EXPECT_TRUE(S_ISCHR(facts.st_mode));
}

TEST(NpyFile, GivesTheUsersPermissions) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  const mode_t old = umask(0027);

  Status status = writeNpyFile(path, arrayOf<uint8_t>(DType::UInt8, {1}, {7}));
  umask(old);

  ASSERT_TRUE(status);
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST(NpyFile, NamesWhatIsWrongWithAPath) {
  TemporaryFolder folder;
  HostArray array = arrayOf<uint8_t>(DType::UInt8, {1}, {7});
  const std::string none = folder / "none.npy", deep = folder / "no/a.npy";
  const std::string fifo = folder / "pipe.npy";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);

  EXPECT_EQ(readNpyFile(none).error().message,
            "cannot open '" + none + "': No such file or directory");
  EXPECT_EQ(readNpyFile(folder.path()).error().message,
            "'" + folder.path() + "' is a directory, not a .npy file");
  EXPECT_EQ(readNpyFile(fifo).error().message,
            "'" + fifo + "' is a pipe or a device, not a regular file");
  EXPECT_EQ(readNpyFile("/dev/zero").error().message,
            "'/dev/zero' is a pipe or a device, not a regular file");
  EXPECT_EQ(readNpyFile("/dev/zero").error().help, "write the array to a file first");
  EXPECT_EQ(writeNpyFile(deep, array).error().message,
            "cannot write '" + deep + "': No such file or directory");
  EXPECT_EQ(writeNpyFile(folder.path(), array).error().message,
            "cannot write '" + folder.path() + "': Is a directory");
  EXPECT_EQ(writeNpyFile("", array).error().message, "cannot write '': No such file or directory");
}

TEST(NpyFile, ReportsAFullDisk) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full here";

  EXPECT_EQ(writeNpyFile("/dev/full", arrayOf<uint8_t>(DType::UInt8, {1}, {7})).error().message,
            "cannot write '/dev/full': No space left on device");
}

TEST(NpyFile, KeepsTheOldFileWhenWritingFails) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  std::ofstream(path) << "old";
  HostArray array{DType::UInt8, {5000}, Bytes(5000)};
  // A limit on the size of files stops the write in the middle, like a full disk.
  auto *const oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);

  Status status = writeNpyFile(path, array);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "cannot write '" + path + "': File too large");
  EXPECT_EQ(contents(path), "old");
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("a.npy"));
}

TEST(NpyFile, HeaderIsReadFromLongFiles) {
  // The file is longer than the beginning the header is looked for in.
  TemporaryFolder folder;
  const std::string path = folder / "long.npy";
  HostArray array{DType::UInt8, {3, 65537}, Bytes(3 * 65537, std::byte{5})};

  ASSERT_TRUE(writeNpyFile(path, array));
  auto header = readNpyFileHeader(path);
  auto read = readNpyFile(path);

  ASSERT_TRUE(header) << header.error().message;
  EXPECT_THAT(header->shape, ElementsAre(3, 65537));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->array.data, array.data);
}

} // namespace
} // namespace kilnrt::test
