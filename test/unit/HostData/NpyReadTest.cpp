//===- NpyReadTest.cpp - values of right .npy files -------------------------------------------===//
//
// Every type, order and version the reader takes. Wrong files are in
// NpyRejectTest.cpp.
//
//===------------------------------------------------------------------------------------------===//

#include "NpyBytes.h"
#include "kilnrt/HostData/Npy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace kilnrt::test {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();

NpyArray read(const Bytes &bytes, const NpyReadOptions &options = {}) {
  auto result = readNpy(bytes, "x.npy", options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : NpyArray{};
}

std::vector<std::string> messages(const NpyArray &array) {
  std::vector<std::string> texts;
  for (const Diagnostic &d : array.notes)
    texts.push_back((d.severity == kiln::Severity::Note ? "note: " : "warning: ") + d.message);
  return texts;
}

TEST(NpyRead, KeepsTheBitsOfDeviceTypes) {
  // Signalling NaN, negative zero and the smallest denormals included.
  Bytes f4 = bytesOfValues<uint32_t>({0x7fa00001, 0x80000000, 1, 0xff800000});
  Bytes f2 = bytesOfValues<uint16_t>({0x7d01, 0x8000, 1, 0xfc00, 0x7bff, 0});
  Bytes i4 = bytesOfValues<int32_t>({INT32_MIN, -1, INT32_MAX});
  Bytes u1 = bytesOfValues<uint8_t>({0, 255});

  NpyArray a = read(npy(dict("<f4", "(2, 2)"), f4));
  NpyArray b = read(npy(dict("<f2", "(2, 3)"), f2));
  NpyArray c = read(npy(dict("<i4", "(3,)"), i4));
  NpyArray d = read(npy(dict("|u1", "(2, 1)"), u1));

  EXPECT_EQ(a.array.dtype, DType::Float32);
  EXPECT_THAT(a.array.shape, ElementsAre(2, 2));
  EXPECT_EQ(a.array.data, f4);
  EXPECT_EQ(b.array.dtype, DType::Float16);
  EXPECT_EQ(b.array.data, f2);
  EXPECT_EQ(c.array.dtype, DType::Int32);
  EXPECT_THAT(c.array.shape, ElementsAre(3));
  EXPECT_EQ(c.array.data, i4);
  EXPECT_EQ(d.array.dtype, DType::UInt8);
  EXPECT_THAT(d.array.shape, ElementsAre(2, 1));
  EXPECT_EQ(d.array.data, u1);
  for (const NpyArray *array : {&a, &b, &c, &d})
    EXPECT_TRUE(array->notes.empty());
}

TEST(NpyRead, RoundsFloat64ToNearestEvenWithANote) {
  // Two ties, one above a tie, and a value below the smallest float32.
  Bytes values = bytesOfValues<double>(
      {1 + 0x1p-24, 1 + 0x3p-24, 1 + 0x1.000001p-24, 0x1p-160, -0.0, std::nan("")});

  NpyArray a = read(npy(dict("<f8", "(2, 3)"), values));

  auto out = valuesOf<float>(a.array);
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 1 + 0x1p-22f);
  EXPECT_EQ(out[2], 1 + 0x1p-23f);
  EXPECT_EQ(out[3], 0.0f);
  EXPECT_TRUE(std::signbit(out[4]));
  EXPECT_TRUE(std::isnan(out[5]));
  EXPECT_THAT(messages(a), ElementsAre("note: 'x.npy' holds float64 values, rounded to float32"));
}

TEST(NpyRead, WarnsWhenFloat64BecomesInfinite) {
  // The largest float32, the last value that rounds to it, and the first that
  // does not.
  const double most = std::numeric_limits<float>::max();
  Bytes values = bytesOfValues<double>({most, std::nextafter(most + 0x1p103, 0), most + 0x1p103,
                                        -1e300, std::numeric_limits<double>::infinity(), 1});

  NpyArray a = read(npy(dict("<f8", "(2, 3)"), values));

  EXPECT_THAT(
      valuesOf<float>(a.array),
      ElementsAre(static_cast<float>(most), static_cast<float>(most), kInf, -kInf, kInf, 1));
  EXPECT_THAT(messages(a), ElementsAre("note: 'x.npy' holds float64 values, rounded to float32",
                                       "warning: 'x.npy': 2 values too large for float32 became "
                                       "infinite, the first is 3.4028235677973366e+38 at [0, 2]"));
}

TEST(NpyRead, KeepsIntegersOfEveryWidth) {
  Bytes i1 = bytesOfValues<int8_t>({-128, 127}), i2 = bytesOfValues<int16_t>({-32768, 32767});
  Bytes u2 = bytesOfValues<uint16_t>({65535}), u4 = bytesOfValues<uint32_t>({0, 4294967295});

  NpyArray a = read(npy(dict("|i1", "(2,)"), i1));
  NpyArray b = read(npy(dict("<i2", "(2,)"), i2));
  NpyArray c = read(npy(dict("<u2", "(1,)"), u2));
  NpyArray d = read(npy(dict("<u4", "(2,)"), u4));

  EXPECT_EQ(a.array.dtype, DType::Int8);
  EXPECT_EQ(a.array.data, i1);
  EXPECT_EQ(b.array.dtype, DType::Int16);
  EXPECT_EQ(b.array.data, i2);
  EXPECT_EQ(c.array.dtype, DType::UInt16);
  EXPECT_EQ(c.array.data, u2);
  EXPECT_EQ(d.array.dtype, DType::UInt32);
  EXPECT_EQ(d.array.data, u4);
  for (const NpyArray *array : {&a, &b, &c, &d})
    EXPECT_TRUE(array->notes.empty());
}

TEST(NpyRead, CastsUint32ToInt32WhileEveryValueFits) {
  Bytes fits = bytesOfValues<uint32_t>({0, 2147483647});
  Bytes exceeds = bytesOfValues<uint32_t>({0, 2147483647, 5, 2147483648, 4294967295, 1});

  NpyArray control = read(npy(dict("<u4", "(2,)"), fits), {DType::Int32});
  auto refused = readNpy(npy(dict("<u4", "(2, 3)"), exceeds), "x.npy", {DType::Int32});

  EXPECT_EQ(control.array.dtype, DType::Int32);
  EXPECT_THAT(valuesOf<int32_t>(control.array), ElementsAre(0, 2147483647));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::User);
  EXPECT_EQ(refused.error().message,
            "'x.npy' holds 2 uint32 values that do not fit int32, the first "
            "is 2147483648 at [1, 0]; int32 holds -2147483648 to 2147483647");
  EXPECT_EQ(refused.error().help, "cast on load to a float, as in "
                                  "'file.npy:f32', or save smaller values");
}

TEST(NpyRead, CastsIntegersToEveryWidthWhereTheyFit) {
  Bytes values = bytesOfValues<int32_t>({-128, 127}), above = bytesOfValues<int32_t>({65536, -1});

  NpyArray a = read(npy(dict("<i4", "(2,)"), values), {DType::Int8});
  NpyArray b = read(npy(dict("<i4", "(2,)"), values), {DType::Int16});
  auto low = readNpy(npy(dict("<i4", "(2,)"), values), "x.npy", {DType::UInt32});
  auto high = readNpy(npy(dict("<i4", "(2,)"), above), "x.npy", {DType::UInt16});

  EXPECT_THAT(valuesOf<int8_t>(a.array), ElementsAre(-128, 127));
  EXPECT_THAT(valuesOf<int16_t>(b.array), ElementsAre(-128, 127));
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().message, "'x.npy' holds 1 int32 value that does not fit uint32, the first "
                                 "is -128 at [0]; uint32 holds 0 to 4294967295");
  ASSERT_FALSE(high);
  EXPECT_EQ(high.error().message, "'x.npy' holds 2 int32 values that do not fit uint16, the first "
                                  "is 65536 at [0]; uint16 holds 0 to 65535");
}

TEST(NpyRead, ReadsBoolsAsZeroAndOne) {
  NpyArray a = read(npy(dict("|b1", "(4,)"), bytesOfValues<uint8_t>({0, 1, 2, 255})));

  EXPECT_EQ(a.array.dtype, DType::UInt8);
  EXPECT_THAT(valuesOf<uint8_t>(a.array), ElementsAre(0, 1, 1, 1));
  EXPECT_TRUE(a.notes.empty());
}

TEST(NpyRead, BringsFortranOrderToCOrder) {
  // Element (i, j) is 10 i + j; Fortran order stores column after column.
  Bytes two = bytesOfValues<int32_t>({0, 10, 1, 11, 2, 12});
  // Element (i, j, k) is 100 i + 10 j + k of shape 2x3x2.
  Bytes three = bytesOfValues<int32_t>({0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121});
  Bytes one = bytesOfValues<int32_t>({7, 8, 9});

  NpyArray a = read(npy(dict("<i4", "(2, 3)", true), two));
  NpyArray b = read(npy(dict("<i4", "(2, 3, 2)", true), three));
  NpyArray c = read(npy(dict("<i4", "(3,)", true), one));

  EXPECT_THAT(a.array.shape, ElementsAre(2, 3));
  EXPECT_THAT(valuesOf<int32_t>(a.array), ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(b.array.shape, ElementsAre(2, 3, 2));
  EXPECT_THAT(valuesOf<int32_t>(b.array),
              ElementsAre(0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121));
  EXPECT_THAT(valuesOf<int32_t>(c.array), ElementsAre(7, 8, 9));
}

TEST(NpyRead, ConvertsFortranOrderOfEveryElementSize) {
  Bytes u1 = bytesOfValues<uint8_t>({0, 10, 1, 11, 2, 12});
  Bytes i2 = bytesOfValues<int16_t>({0, 10, 1, 11, 2, 12});
  Bytes f8 = bytesOfValues<double>({0, 10, 1, 11, 2, 12});

  EXPECT_THAT(valuesOf<uint8_t>(read(npy(dict("|u1", "(2, 3)", true), u1)).array),
              ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(valuesOf<int16_t>(read(npy(dict("<i2", "(2, 3)", true), i2)).array),
              ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(valuesOf<float>(read(npy(dict("<f8", "(2, 3)", true), f8)).array),
              ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST(NpyRead, TakesEveryFormatVersion) {
  Bytes payload = bytesOfValues<float>({1.5f, 2.5f});

  for (int version : {1, 2, 3}) {
    NpyArray a = read(npy(dict("<f4", "(2,)"), payload, version));
    EXPECT_EQ(a.array.data, payload) << "version " << version;
  }
}

TEST(NpyRead, TakesEverySpellingOfTheDict) {
  Bytes payload = bytesOfValues<float>({1, 2, 3, 4, 5, 6});

  for (std::string_view text : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
           "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
           "{\"fortran_order\": False, \"descr\": \"<f4\", \"shape\": (2, 3)}",
           " {\n\t'descr' : '<f4' ,\r\n 'fortran_order':False , 'shape' : ( "
           "2 , 3 , ) }   \n \n",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (002, 3), }",
       }) {
    NpyArray a = read(npy(text, payload));
    EXPECT_THAT(a.array.shape, ElementsAre(2, 3)) << text;
    EXPECT_EQ(a.array.data, payload) << text;
  }
}

TEST(NpyRead, TakesAnyByteOrderMarkOfSingleBytes) {
  for (std::string_view descr : {"|u1", "<u1", ">u1", "=u1"}) {
    NpyArray a = read(npy(dict(descr, "(1,)"), bytesOfValues<uint8_t>({9})));
    EXPECT_THAT(valuesOf<uint8_t>(a.array), ElementsAre(9)) << descr;
  }
}

TEST(NpyRead, CastsToBFloat16InOneRounding) {
  // 1 + 2^-8 is a tie and goes to the even 1. The float64 just above it would
  // round to the tie in float32 first, and then to 1 as well: only one rounding
  // gives 1 + 2^-7.
  Bytes values = bytesOfValues<double>({1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 0x3p-8, -0.0});

  NpyArray a = read(npy(dict("<f8", "(4,)"), values), {DType::BFloat16});

  EXPECT_EQ(a.array.dtype, DType::BFloat16);
  EXPECT_THAT(valuesOf<uint16_t>(a.array), ElementsAre(0x3f80, 0x3f81, 0x3f82, 0x8000));
  EXPECT_TRUE(a.notes.empty());
}

TEST(NpyRead, WarnsWhenACastToFloat16BecomesInfinite) {
  // 65520 is the tie between 65504 and the 65536 that float16 does not have.
  Bytes values = bytesOfValues<float>({65504, 65519.996f, 65520, -kInf, -1e10f, std::nanf("")});

  NpyArray a = read(npy(dict("<f4", "(6,)"), values), {DType::Float16});

  EXPECT_THAT(valuesOf<uint16_t>(a.array),
              ElementsAre(0x7bff, 0x7bff, 0x7c00, 0xfc00, 0xfc00, 0x7e00));
  EXPECT_THAT(messages(a), ElementsAre("warning: 'x.npy': 2 values too large for float16 "
                                       "became infinite, the first is 65520 at [2]"));
}

TEST(NpyRead, CastsFloatsToIntegersLikeTheDevice) {
  Bytes values = bytesOfValues<float>({0.5f, 1.5f, -0.5f, 254.5f, 255.5f, -3, std::nanf(""), kInf});

  NpyArray a = read(npy(dict("<f4", "(2, 4)"), values), {DType::UInt8});

  EXPECT_THAT(valuesOf<uint8_t>(a.array), ElementsAre(0, 2, 0, 254, 255, 0, 0, 255));
  EXPECT_THAT(messages(a), ElementsAre("warning: 'x.npy': 4 values outside of uint8 "
                                       "saturated (NaN became 0), the first is 255.5 at "
                                       "[1, 0]; uint8 holds 0 to 255"));
}

TEST(NpyRead, CastsIntegersOnlyWhereTheyFit) {
  Bytes fits = bytesOfValues<int32_t>({0, 255});
  Bytes exceeds = bytesOfValues<int32_t>({0, 256});

  NpyArray control = read(npy(dict("<i4", "(2,)"), fits), {DType::UInt8});
  auto refused = readNpy(npy(dict("<i4", "(2,)"), exceeds), "x.npy", {DType::UInt8});

  EXPECT_THAT(valuesOf<uint8_t>(control.array), ElementsAre(0, 255));
  EXPECT_TRUE(control.notes.empty());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "'x.npy' holds 1 int32 value that does not fit uint8, the first "
            "is 256 at [1]; uint8 holds 0 to 255");
}

TEST(NpyRead, CastsUint32AndFloat16ToFloat32) {
  Bytes u4 = bytesOfValues<uint32_t>({4294967295, 16777217});
  Bytes f2 = bytesOfValues<uint16_t>({0x3c00, 0x0001, 0xfc00});

  NpyArray a = read(npy(dict("<u4", "(2,)"), u4), {DType::Float32});
  NpyArray b = read(npy(dict("<f2", "(3,)"), f2), {DType::Float32});

  EXPECT_THAT(valuesOf<float>(a.array), ElementsAre(4294967296.f, 16777216.f));
  EXPECT_THAT(valuesOf<float>(b.array), ElementsAre(1.f, 0x1p-24f, -kInf));
}

TEST(NpyRead, HonoursTheLimitOnBytes) {
  Bytes bytes = npy(dict("|u1", "(2, 3)"), Bytes(6));

  EXPECT_TRUE(readNpy(bytes, "x.npy", {std::nullopt, 6}));
  auto refused = readNpy(bytes, "x.npy", {std::nullopt, 5});
  // The limit is on what is returned, not on what is read.
  auto widened = readNpy(bytes, "x.npy", {DType::Float32, 23});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::Limit);
  EXPECT_EQ(refused.error().message, "'x.npy' as 2x3 uint8 needs 6 bytes; a tensor has at most 5");
  ASSERT_FALSE(widened);
  EXPECT_EQ(widened.error().message,
            "'x.npy' as 2x3 float32 needs 24 bytes; a tensor has at most 23");
}

} // namespace
} // namespace kilnrt::test
