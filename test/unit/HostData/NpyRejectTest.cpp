//===- NpyRejectTest.cpp - wrong .npy files and what is said about them -----------------------===//
//
// One row a way to be wrong, with the full text. The fuzz test looks for the
// ways not listed here.
//
//===------------------------------------------------------------------------------------------===//

#include "NpyBytes.h"
#include "kilnrt/HostData/Npy.h"

#include <gmock/gmock.h>

namespace kilnrt::test {
namespace {

struct Wrong {
  std::string name; ///< of the case
  Bytes bytes;
  std::string message, help;
};
void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.name; }

class NpyReject : public testing::TestWithParam<Wrong> {};

TEST_P(NpyReject, SaysWhy) {
  auto result = readNpy(GetParam().bytes, "x.npy");

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, GetParam().message);
  EXPECT_EQ(result.error().help, GetParam().help);
  EXPECT_EQ(result.error().fault, Fault::User);
  EXPECT_EQ(result.error().severity, kiln::Severity::Error);
}

std::string caseName(const testing::TestParamInfo<Wrong> &info) { return info.param.name; }

Bytes text(std::string_view characters) {
  Bytes bytes;
  append(bytes, characters);
  return bytes;
}

//---- not .npy at all ----------------------------------------------------===//

const std::string kAgain = "save the array again with numpy.save";
const std::string kSave = "save the array with numpy.save";

INSTANTIATE_TEST_SUITE_P(
    Magic, NpyReject,
    testing::Values(Wrong{"Empty", {}, "'x.npy' is not a .npy file: it is empty", kAgain},
                    Wrong{"OneByte", text("\x93"),
                          "'x.npy' is not a .npy file: it ends inside the magic bytes", kAgain},
                    Wrong{"HalfMagic", text("\x93NUM"),
                          "'x.npy' is not a .npy file: it ends inside the magic bytes", kAgain},
                    Wrong{"Npz", text("PK\x03\x04 and more"),
                          "'x.npy' is not a .npy file: it is a zip archive, such as .npz",
                          "save one array with numpy.save instead of numpy.savez"},
                    Wrong{"Pickle", text("\x80\x04\x95 and more"),
                          "'x.npy' is not a .npy file: it is a Python pickle",
                          "save the array with numpy.save and without allow_pickle"},
                    Wrong{"Gzip", text("\x1f\x8b and more"),
                          "'x.npy' is not a .npy file: it is compressed with gzip",
                          "unpack it first"},
                    Wrong{"Hdf5", text("\x89HDF\r\n and more"),
                          "'x.npy' is not a .npy file: it is an HDF5 file", kSave},
                    Wrong{"Text", text("1,2,3\n4,5,6\n"),
                          "'x.npy' is not a .npy file: it starts with '1,2,3\\x0a', not "
                          "with '\\x93NUMPY'",
                          kSave}),
    caseName);

//---- cut and absurd beginnings ------------------------------------------===//

Bytes preamble(std::initializer_list<int> rest) {
  Bytes bytes = text("\x93NUMPY");
  for (int byte : rest)
    bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

const std::string kHeader = "'x.npy' has a malformed header: ";

INSTANTIATE_TEST_SUITE_P(
    Preamble, NpyReject,
    testing::Values(
        Wrong{"NoVersion", preamble({}), kHeader + "the file ends after 6 bytes", kAgain},
        Wrong{"HalfVersion", preamble({1}), kHeader + "the file ends after 7 bytes", kAgain},
        Wrong{"Version0", preamble({0, 0, 2, 0, '{', '}'}),
              "'x.npy' has format version 0.0; versions 1.0, 2.0 and 3.0 are "
              "read",
              kAgain},
        Wrong{"Version4", preamble({4, 0, 2, 0, 0, 0, '{', '}'}),
              "'x.npy' has format version 4.0; versions 1.0, 2.0 and 3.0 are "
              "read",
              kAgain},
        Wrong{"Minor1", preamble({1, 1, 2, 0, '{', '}'}),
              "'x.npy' has format version 1.1; versions 1.0, 2.0 and 3.0 are "
              "read",
              kAgain},
        Wrong{"NoLength", preamble({1, 0, 5}), kHeader + "the file ends after 9 bytes", kAgain},
        Wrong{"NoLength2", preamble({2, 0, 5, 0, 0}), kHeader + "the file ends after 11 bytes",
              kAgain},
        Wrong{"HeaderBeyondFile", preamble({1, 0, 0xff, 0xff, '{', '}'}),
              kHeader + "it claims 65535 bytes, the file has 2 after its "
                        "length",
              kAgain},
        Wrong{"HugeHeader", preamble({2, 0, 0xff, 0xff, 0xff, 0xff, '{', '}'}),
              kHeader + "it claims 4294967295 bytes, the file has 2 after its "
                        "length",
              kAgain},
        Wrong{"LongHeader", npy(std::string(65536, ' '), {}, 2),
              kHeader + "it has 65536 bytes; at most 65535 are read", kAgain},
        Wrong{"LongestHeaderIsParsed", npy(std::string(65535, ' '), {}, 2),
              kHeader + "expected '{' at byte 65535, found the end", kAgain}),
    caseName);

//---- not the dict -------------------------------------------------------===//

Wrong badDict(std::string name, std::string_view dict, std::string_view what) {
  return {std::move(name), npy(dict, Bytes(24)), kHeader + std::string(what), kAgain};
}

INSTANTIATE_TEST_SUITE_P(
    Dict, NpyReject,
    testing::Values(
        badDict("EmptyHeader", "", "expected '{' at byte 0, found the end"),
        badDict("Garbage", "hello", "expected '{' at byte 0, found 'h'"),
        badDict("List", "[1, 2]", "expected '{' at byte 0, found '['"),
        badDict("EmptyDict", "{}", "key 'descr' is missing"),
        badDict("Unclosed", "{",
                "expected a key in quotes at byte 1, found "
                "the end"),
        badDict("BareKey", "{descr: '<f4'}", "expected a key in quotes at byte 1, found 'd'"),
        badDict("NoColon", "{'descr' '<f4'}",
                "expected ':' after key 'descr' at byte 9, found '''"),
        badDict("NoComma", "{'descr': '<f4' 'shape': (2, 3)}",
                "expected ',' or '}' at byte 16, found '''"),
        badDict("TwoCommas", "{'descr': '<f4',, 'shape': (2, 3)}",
                "expected a key in quotes at byte 16, found ','"),
        badDict("NoDescr", "{'fortran_order': False, 'shape': (2, 3)}", "key 'descr' is missing"),
        badDict("NoOrder", "{'descr': '<f4', 'shape': (2, 3)}", "key 'fortran_order' is missing"),
        badDict("NoShape", "{'descr': '<f4', 'fortran_order': False}", "key 'shape' is missing"),
        badDict("ExtraKey",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
                "'x': 1}",
                "unknown key 'x'; the keys are 'descr', 'fortran_order' and "
                "'shape'"),
        badDict("KeyTwice", "{'descr': '<f4', 'descr': '<f4'}", "key 'descr' stands twice"),
        badDict("ShapeTwice", "{'shape': (2,), 'shape': (3,)}", "key 'shape' stands twice"),
        badDict("OrderTwice", "{'fortran_order': True, 'fortran_order': True}",
                "key 'fortran_order' stands twice"),
        badDict("OrderIsNumber", "{'fortran_order': 1}",
                "expected True or False at byte 18, found '1'"),
        badDict("OrderIsCut", "{'fortran_order': Fals",
                "expected True or False at byte 18, found 'F'"),
        badDict("DescrIsNumber", "{'descr': 4}",
                "expected a dtype in quotes at byte 10, found '4'"),
        badDict("OpenString", "{'descr': '<f4}",
                "expected the closing quote of a string at byte 15, found the "
                "end"),
        badDict("OtherQuote", "{'descr': '<f4\"}",
                "expected the closing quote of a string at byte 16, found the "
                "end"),
        badDict("Escape", "{'des\\x63r': '<f4'}",
                "expected a plain character in a string at byte 5, found "
                "'\\'"),
        badDict("NewlineInString", "{'des\ncr': '<f4'}",
                "expected a plain character in a string at byte 5, found "
                "'\\x0a'"),
        badDict("NulByte", std::string_view("{'descr'\0: '<f4'}", 17),
                "expected ':' after key 'descr' at byte 8, found '\\x00'"),
        badDict("NonAscii", "{'descr': '\xc3\xa4'}", "byte 11 is 0xc3, not ASCII"),
        badDict("NonAsciiAfter", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\xff",
                "byte 57 is 0xff, not ASCII"),
        badDict("TextAfter", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x",
                "expected nothing after '}' at byte 58, found 'x'"),
        badDict("ShapeIsNumber", "{'shape': 6}",
                "expected a tuple of extents at byte 10, found '6'"),
        badDict("ShapeIsList", "{'shape': [2, 3]}",
                "expected a tuple of extents at byte 10, found '['"),
        badDict("ShapeIsParenthesised", "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
                "shape (6) is a number; a tuple of one extent is (6,)"),
        badDict("ShapeUnclosed", "{'shape': (2, 3",
                "expected ',' or ')' at byte 15, found the end"),
        badDict("ShapeNoComma", "{'shape': (2 3)}", "expected ',' or ')' at byte 13, found '3'"),
        badDict("ShapeEmptyEntry", "{'shape': (2,,3)}", "expected an extent at byte 13, found ','"),
        badDict("ShapeNegative", "{'shape': (2, -3)}", "extent -3 of dimension 1 is negative"),
        badDict("ShapeMinus", "{'shape': (-, 3)}", "expected an extent at byte 12, found ','"),
        badDict("ShapeFloat", "{'shape': (2.0, 3)}", "expected ',' or ')' at byte 12, found '.'"),
        badDict("ShapeBool", "{'shape': (True, 3)}", "expected an extent at byte 11, found 'T'"),
        badDict("ExtentTooLong", "{'shape': (2, 9223372036854775808)}",
                "extent 9223372036854775808 of dimension 1 is above "
                "9223372036854775807"),
        badDict("ExtentOf70Digits", "{'shape': (" + std::string(70, '9') + ", 3)}",
                "extent " + std::string(60, '9') +
                    "... of dimension 0 is above 9223372036854775807")),
    caseName);

TEST(NpyRejectDepth, NestingCostsNoStack) {
  for (char open : {'[', '(', '{'}) {
    std::string dict = "{'descr': " + std::string(60000, open);
    EXPECT_FALSE(readNpy(npy(dict, {}), "x.npy")) << open;
    dict = std::string(60000, open);
    EXPECT_FALSE(readNpy(npy(dict, {}), "x.npy")) << open;
    dict = "{'shape': " + std::string(60000, open);
    EXPECT_FALSE(readNpy(npy(dict, {}), "x.npy")) << open;
  }
}

//---- types the device does not have -------------------------------------===//

const std::string kTypes = "float16, float32, float64, int8, int16, int32, "
                           "uint8, uint16, uint32 and bool are read";

Wrong badType(std::string name, std::string_view descr, std::string_view what,
              std::string_view help) {
  return {std::move(name), npy(dict(descr, "(2, 3)"), Bytes(24)),
          "'x.npy' holds " + std::string(what) + " ('" + std::string(descr) + "'); " + kTypes,
          std::string(help)};
}
Wrong badOrder(std::string name, std::string_view descr, std::string_view what,
               std::string_view code) {
  return {std::move(name), npy(dict(descr, "(2, 3)"), Bytes(24)),
          "'x.npy' holds " + std::string(what) + " values ('" + std::string(descr) +
              "'); only little-endian ('<" + std::string(code) + "') is read",
          "save a.astype('<" + std::string(code) + "')"};
}
Wrong structured(std::string name, std::string_view descr) {
  return {std::move(name),
          npy("{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (2,)}",
              Bytes(24)),
          "'x.npy' holds records of a structured dtype; " + kTypes,
          "save one field of them, as in numpy.save('x.npy', a['field'])"};
}

INSTANTIATE_TEST_SUITE_P(
    Types, NpyReject,
    testing::Values(
        badOrder("BigEndianFloat", ">f4", "big-endian float32", "f4"),
        badOrder("BigEndianHalf", ">f2", "big-endian float16", "f2"),
        badOrder("BigEndianInt", ">i4", "big-endian int32", "i4"),
        badOrder("HostEndian", "=f4", "host-endian float32", "f4"),
        badOrder("NoOrder", "|f4", "host-endian float32", "f4"),
        badType("Int64", "<i8", "64-bit integers", "save a.astype(numpy.int32)"),
        badType("Uint64", "<u8", "64-bit integers", "save a.astype(numpy.int32)"),
        badType("BigEndianInt64", ">i8", "64-bit integers", "save a.astype(numpy.int32)"),
        badType("Complex64", "<c8", "complex numbers", "save a.real and a.imag as two files"),
        badType("Complex128", "<c16", "complex numbers", "save a.real and a.imag as two files"),
        badType("LongDouble", "<f16", "floats of an unsupported size",
                "save a.astype(numpy.float32)"),
        badType("Text", "<U5", "text", "a tensor holds numbers"),
        badType("ByteString", "|S3", "text", "a tensor holds numbers"),
        badType("Objects", "|O", "pickled Python objects", "save a.astype(numpy.float32)"),
        badType("Dates", "<M8[ns]", "dates or times", "save a.astype(numpy.float32)"),
        badType("BFloat16", "|V2", "raw bytes, as bfloat16 and float8 arrays are saved",
                "save a.astype(numpy.float32) and cast on load, as in "
                "'file.npy:bf16'"),
        badType("Void", "|V16", "raw bytes", "save an array of numbers"),
        badType("NoCode", "<", "values of an unknown dtype", kAgain),
        badType("EmptyDescr", "", "values of an unknown dtype", kAgain),
        badType("Bare", "f4", "values of an unknown dtype", kAgain),
        badType("Unknown", "<q9", "values of an unknown dtype", kAgain),
        structured("Records", "[('a', '<f4'), ('b', '<i4', (2, 2))]"),
        structured("SubArray", "('<f4', (2,))"), structured("OpenList", "[[[[")),
    caseName);

//---- shapes and sizes ---------------------------------------------------===//

Wrong badShape(std::string name, std::string_view shape, size_t payload, std::string_view message,
               std::string_view help) {
  return {std::move(name), npy(dict("<f4", shape), Bytes(payload)),
          "'x.npy' " + std::string(message), std::string(help)};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, NpyReject,
    testing::Values(badShape("Rank0", "()", 4,
                             "has rank 0, a single value; a tensor has rank 1 to 5",
                             "save a.reshape(1), or pass the value itself as a scalar"),
                    badShape("Rank6", "(1, 1, 1, 1, 1, 1)", 4,
                             "has rank 6; a tensor has rank 1 to 5",
                             "merge dimensions with a.reshape before saving"),
                    badShape("ZeroExtent", "(3, 0)", 0,
                             "has shape 3x0 with extent 0 in dimension 1; every extent is "
                             "at least 1",
                             ""),
                    badShape("ZeroTimesHuge", "(9223372036854775807, 0)", 0,
                             "has shape 9223372036854775807x0 with extent 0 in dimension "
                             "1; every extent is at least 1",
                             ""),
                    badShape("Truncated", "(2, 3)", 23,
                             "is truncated: 2x3 float32 values need 24 bytes, the file "
                             "has 23",
                             kAgain),
                    badShape("NoValues", "(2, 3)", 0,
                             "is truncated: 2x3 float32 values need 24 bytes, the file "
                             "has 0",
                             kAgain),
                    badShape("Trailing", "(2, 3)", 25,
                             "has 1 byte after its last value: 2x3 float32 values need "
                             "24 bytes, the file has 25",
                             "a .npy file holds one array; save each in a file of its "
                             "own"),
                    badShape("ProductOverflows", "(4294967296, 4294967296)", 24,
                             "claims 4294967296x4294967296 float32 values, more than 2^63 "
                             "bytes; the file has 24 bytes of them",
                             kAgain),
                    badShape("ProductWrapsToSix", "(6148914691236517206, 3)", 8,
                             "claims 6148914691236517206x3 float32 values, more than 2^63 "
                             "bytes; the file has 8 bytes of them",
                             kAgain),
                    badShape("BytesOverflow", "(9223372036854775807,)", 24,
                             "claims 9223372036854775807 float32 values, more than 2^63 "
                             "bytes; the file has 24 bytes of them",
                             kAgain),
                    badShape("FarTooMany", "(1000000, 1000000)", 24,
                             "is truncated: 1000000x1000000 float32 values need "
                             "4000000000000 bytes, the file has 24",
                             kAgain)),
    caseName);

TEST(NpyRejectControl, RankFiveIsTheLargest) {
  auto result = readNpy(npy(dict("<f4", "(1, 2, 1, 3, 1)"), Bytes(24)), "x.npy");

  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->array.shape, testing::ElementsAre(1, 2, 1, 3, 1));
}

TEST(NpyRejectControl, EveryCutOfAFileIsRefused) {
  Bytes whole = npy(dict("<f4", "(2, 3)"), Bytes(24));
  ASSERT_TRUE(readNpy(whole, "x.npy"));

  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(readNpy(std::span(whole).first(n), "x.npy")) << n << " bytes";
}

TEST(NpyRejectControl, OddNamesArePrintable) {
  auto result = readNpy({}, "a\nb\x1b[31m.npy");

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "'a\\x0ab\\x1b[31m.npy' is not a .npy file: it is empty");
}

} // namespace
} // namespace kilnrt::test
