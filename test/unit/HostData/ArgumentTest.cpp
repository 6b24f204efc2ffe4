//===- ArgumentTest.cpp - what an ARG text means ----------------------------------------------===//
//
// Scalars, generators, files and strings, and the texts that are nearly one of
// them.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Argument.h"
#include "NpyBytes.h"
#include "TemporaryFolder.h"
#include "kilnrt/HostData/Random.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace kilnrt::test {
namespace {

using testing::Each;
using testing::ElementsAre;

Argument parse(std::string_view text, const ArgumentOptions &options = {}) {
  auto argument = parseArgument(text, options);
  EXPECT_TRUE(argument) << text << ": " << argument.error().message;
  return argument ? *argument : Argument{};
}

TensorArgument parseTensor(std::string_view text, const ArgumentOptions &options = {}) {
  Argument argument = parse(text, options);
  const auto *tensor = std::get_if<TensorArgument>(&argument.value);
  EXPECT_TRUE(tensor) << text;
  return tensor ? *tensor : TensorArgument{};
}

HostArray make(std::string_view text, const ArgumentOptions &options = {}) {
  std::vector<Diagnostic> notes;
  auto array = materialise(parseTensor(text, options), notes);
  EXPECT_TRUE(array) << text << ": " << array.error().message;
  EXPECT_TRUE(notes.empty()) << text;
  return array ? *array : HostArray{};
}

template <typename T>
T scalar(std::string_view text) {
  Argument argument = parse(text);
  const T *value = std::get_if<T>(&argument.value);
  EXPECT_TRUE(value) << text << " has another type";
  return value ? *value : T();
}

//---- scalars ------------------------------------------------------------===//

TEST(ArgumentScalar, TellsIntegersFromFloats) {
  EXPECT_EQ(scalar<int64_t>("0"), 0);
  EXPECT_EQ(scalar<int64_t>("-7"), -7);
  EXPECT_EQ(scalar<int64_t>("+12"), 12);
  EXPECT_EQ(scalar<int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(scalar<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(scalar<double>("1.0"), 1.0);
  EXPECT_EQ(scalar<double>("1."), 1.0);
  EXPECT_EQ(scalar<double>("-.5"), -0.5);
  EXPECT_EQ(scalar<double>("+1e3"), 1000.0);
  EXPECT_EQ(scalar<double>("2E-3"), 2e-3);
  EXPECT_EQ(scalar<double>("0.1"), 0.1);
  EXPECT_EQ(scalar<double>("5e-324"), 5e-324);
  EXPECT_TRUE(std::signbit(scalar<double>("-0.0")));
  EXPECT_EQ(scalar<double>("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(scalar<double>("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(scalar<double>("nan")));
}

TEST(ArgumentScalar, ReadsBools) {
  EXPECT_TRUE(scalar<bool>("true"));
  EXPECT_FALSE(scalar<bool>("false"));
}

TEST(ArgumentScalar, LeavesOtherTextAlone) {
  for (std::string_view text :
       {"",      "gelu",     "rows",      "mode:fast", "a:b:c",    "zeros",    "rand", "2d",
        "1.5f",  "1e",       ".",         "-",         "+",        "e5",       "0x10", "--1",
        "1,000", "data.csv", "x.npy.bak", "npy",       "infinite", "rank:two", "x:4"})
    EXPECT_EQ(scalar<std::string>(text), text);
}

//---- generators ---------------------------------------------------------===//

TEST(ArgumentGenerator, KnowsShapeAndDTypeWithoutValues) {
  TensorArgument a = parseTensor("zeros:512x256:bf16");
  TensorArgument b = parseTensor("randn:3x1x5:f16:42", {.position = 3});
  TensorArgument c = parseTensor("rand:7", {.position = 2});

  EXPECT_EQ(a.source, TensorSource::Zeros);
  EXPECT_EQ(a.dtype, DType::BFloat16);
  EXPECT_THAT(a.shape, ElementsAre(512, 256));
  EXPECT_EQ(b.source, TensorSource::Randn);
  EXPECT_EQ(b.dtype, DType::Float16);
  EXPECT_THAT(b.shape, ElementsAre(3, 1, 5));
  EXPECT_EQ(b.seed, 42u);
  EXPECT_EQ(b.stream, 0u);
  EXPECT_EQ(c.source, TensorSource::Rand);
  EXPECT_EQ(c.dtype, DType::Float32);
  EXPECT_THAT(c.shape, ElementsAre(7));
  EXPECT_EQ(c.seed, 0u);
  EXPECT_EQ(c.stream, 2u);
}

TEST(ArgumentGenerator, TakesEveryNameOfADType) {
  const std::pair<std::string_view, DType> names[] = {
      {"f32", DType::Float32},   {"fp32", DType::Float32},      {"float32", DType::Float32},
      {"bf16", DType::BFloat16}, {"bfloat16", DType::BFloat16}, {"f16", DType::Float16},
      {"fp16", DType::Float16},  {"float16", DType::Float16},   {"i32", DType::Int32},
      {"int32", DType::Int32},   {"u8", DType::UInt8},          {"ui8", DType::UInt8},
      {"uint8", DType::UInt8},   {"i8", DType::Int8},           {"int8", DType::Int8},
      {"i16", DType::Int16},     {"int16", DType::Int16},       {"u16", DType::UInt16},
      {"ui16", DType::UInt16},   {"uint16", DType::UInt16},     {"u32", DType::UInt32},
      {"ui32", DType::UInt32},   {"uint32", DType::UInt32}};

  for (auto [name, dtype] : names)
    EXPECT_EQ(parseTensor("ones:2:" + std::string(name)).dtype, dtype) << name;
}

TEST(ArgumentGenerator, MakesConstantsInEveryDType) {
  EXPECT_THAT(valuesOf<float>(make("zeros:2x3")), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(valuesOf<float>(make("ones:3:f32")), ElementsAre(1, 1, 1));
  EXPECT_THAT(valuesOf<uint16_t>(make("ones:2:bf16")), ElementsAre(0x3f80, 0x3f80));
  EXPECT_THAT(valuesOf<uint16_t>(make("ones:1x2:f16")), ElementsAre(0x3c00, 0x3c00));
  EXPECT_THAT(valuesOf<int32_t>(make("ones:2:i32")), ElementsAre(1, 1));
  EXPECT_THAT(valuesOf<uint8_t>(make("ones:3x1:u8")), ElementsAre(1, 1, 1));
}

TEST(ArgumentGenerator, CountsInRowMajorOrder) {
  HostArray a = make("iota:2x3:i32");

  EXPECT_THAT(a.shape, ElementsAre(2, 3));
  EXPECT_THAT(valuesOf<int32_t>(a), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(valuesOf<float>(make("iota:3")), ElementsAre(0, 1, 2));
  EXPECT_THAT(valuesOf<uint16_t>(make("iota:3:bf16")), ElementsAre(0, 0x3f80, 0x4000));
  // More than one internal block.
  auto values = valuesOf<int32_t>(make("iota:1025x3:i32"));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<int32_t>(i));
}

TEST(ArgumentGenerator, CountsAsFarAsTheDTypeGoes) {
  EXPECT_EQ(valuesOf<uint8_t>(make("iota:256:u8")).back(), 255);
  auto wraps = parseArgument("iota:257:u8");
  ASSERT_FALSE(wraps);
  EXPECT_EQ(wraps.error().message, "'iota:257:u8' counts to 256; uint8 holds at most 255");
  EXPECT_EQ(wraps.error().help, "use int32 or float32, or a smaller shape");

  EXPECT_TRUE(parseArgument("iota:65505:f16"));
  auto infinite = parseArgument("iota:65506:f16");
  ASSERT_FALSE(infinite);
  EXPECT_EQ(infinite.error().message,
            "'iota:65506:f16' counts to 65505; float16 holds at most 65504");

  EXPECT_TRUE(parse("iota:257:bf16").notes.empty());
  Argument rounded = parse("iota:258:bf16");
  ASSERT_EQ(rounded.notes.size(), 1u);
  EXPECT_EQ(rounded.notes[0].severity, kiln::Severity::Note);
  EXPECT_EQ(rounded.notes[0].message,
            "'iota:258:bf16' counts to 257; large values are rounded to bfloat16");
}

TEST(ArgumentGenerator, RandomValuesAreTheSeedsOnly) {
  HostArray uniform = make("rand:3x5:f32:7", {.position = 0});
  HostArray again = make("rand:5x3:f32:7", {.position = 4});
  HostArray longer = make("rand:16:f32:7");
  HostArray normal = make("randn:15:f32:7");

  EXPECT_EQ(uniform.data, again.data);
  EXPECT_TRUE(std::equal(uniform.data.begin(), uniform.data.end(), longer.data.begin()));
  for (uint64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(valuesOf<float>(uniform)[i], static_cast<float>(uniformAt({7, 0}, i)));
    EXPECT_EQ(valuesOf<float>(normal)[i], static_cast<float>(normalAt({7, 0}, i)));
  }
}

TEST(ArgumentGenerator, WithoutASeedPositionsDiffer) {
  HostArray a = make("rand:64", {.position = 0});
  HostArray b = make("rand:64", {.position = 1});
  HostArray seeded = make("rand:64:f32:0", {.position = 1});

  EXPECT_NE(a.data, b.data);
  EXPECT_EQ(a.data, seeded.data);
}

//---- wrong generators ---------------------------------------------------===//

struct Wrong {
  std::string text, message, help;
  Fault fault = Fault::Usage;
};

void PrintTo(const Wrong &wrong, std::ostream *out) { *out << wrong.text; }

class ArgumentReject : public testing::TestWithParam<Wrong> {};

TEST_P(ArgumentReject, SaysWhy) {
  auto result = parseArgument(GetParam().text);

  ASSERT_FALSE(result) << GetParam().text;
  EXPECT_EQ(result.error().message, GetParam().message);
  EXPECT_EQ(result.error().help, GetParam().help);
  EXPECT_EQ(result.error().fault, GetParam().fault);
}

const std::string kShapeHelp = "a shape is extents joined by 'x', as in '512x256'";
const std::string kAllDTypes =
    "dtypes are float32, bfloat16, float16, tfloat32, float8_e4m3, float8_e5m2, float8_e4m3fn, int32, "
    "uint8, int8, int16, uint16 and uint32";
const std::string kGenerators = "generators are 'zeros', 'ones', 'iota', 'rand' and 'randn'";

INSTANTIATE_TEST_SUITE_P(
    Scalars, ArgumentReject,
    testing::Values(Wrong{"9223372036854775808",
                          "integer '9223372036854775808' does not fit 64 bits; it is at "
                          "least -2^63 and below 2^63",
                          "write a float, as in '1e20'"},
                    Wrong{"-9223372036854775809",
                          "integer '-9223372036854775809' does not fit 64 bits; it is at "
                          "least -2^63 and below 2^63",
                          "write a float, as in '1e20'"},
                    Wrong{"1e999", "number '1e999' is out of the range of float64",
                          "write 'inf', '-inf' or '0' if that is meant"},
                    Wrong{"1e-999", "number '1e-999' is out of the range of float64",
                          "write 'inf', '-inf' or '0' if that is meant"},
                    Wrong{"True", "'True' is Python's spelling; a bool is 'true' or 'false'",
                          "write 'true'"},
                    Wrong{"False", "'False' is Python's spelling; a bool is 'true' or 'false'",
                          "write 'false'"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, ArgumentReject,
    testing::Values(
        Wrong{"zeros:", "'zeros:' has no shape", kShapeHelp},
        Wrong{"zeros::f32", "'zeros::f32' has no shape", kShapeHelp},
        Wrong{"zeros:4x:f32", "'zeros:4x:f32' has shape '4x'; '' is not an extent", kShapeHelp},
        Wrong{"zeros:4x-1", "'zeros:4x-1' has shape '4x-1'; '-1' is not an extent", kShapeHelp},
        Wrong{"zeros:f32:4x4", "'zeros:f32:4x4' has shape 'f32'; 'f32' is not an extent",
              kShapeHelp},
        Wrong{"zeros:4,5", "'zeros:4,5' has shape '4,5'; '4,5' is not an extent", "write '4x5'"},
        Wrong{"zeros:4X5", "'zeros:4X5' has shape '4X5'; '4X5' is not an extent", "write '4x5'"},
        Wrong{"ones:3x0x2",
              "'ones:3x0x2' has shape '3x0x2'; extent 1 is 0; every extent is "
              "at least 1",
              kShapeHelp},
        Wrong{"ones:1x1x1x1x1x1",
              "'ones:1x1x1x1x1x1' has shape '1x1x1x1x1x1'; that is rank 6; a "
              "tensor has rank 1 to 5",
              kShapeHelp},
        Wrong{"ones:9223372036854775808",
              "'ones:9223372036854775808' has shape '9223372036854775808'; "
              "extent 9223372036854775808 is above 9223372036854775807",
              kShapeHelp},
        Wrong{"ones:4294967296x4294967296",
              "'ones:4294967296x4294967296' needs more than 2^63 bytes; a "
              "tensor has at most 4294967296",
              "", Fault::Limit},
        Wrong{"ones:6148914691236517206x3:u8",
              "'ones:6148914691236517206x3:u8' needs more than 2^63 bytes; a "
              "tensor has at most 4294967296",
              "", Fault::Limit},
        Wrong{"rand:32769x32768",
              "'rand:32769x32768' needs 4295098368 bytes; a tensor has at "
              "most 4294967296",
              "", Fault::Limit}));

INSTANTIATE_TEST_SUITE_P(
    Fields, ArgumentReject,
    testing::Values(Wrong{"rand:4x4:bf61", "'rand:4x4:bf61' has dtype 'bf61'; " + kAllDTypes,
                          "did you mean 'bf16'?"},
                    Wrong{"rand:4x4:double", "'rand:4x4:double' has dtype 'double'; " + kAllDTypes,
                          "write 'f32', 'bf16', 'f16', 'tf32', 'fp8e4m3', 'fp8e5m2', 'i32', 'u8', "
                          "'i8', 'i16', 'u16' or 'u32'"},
                    Wrong{"rand:4x4:", "'rand:4x4:' has dtype ''; " + kAllDTypes,
                          "write 'f32', 'bf16', 'f16', 'tf32', 'fp8e4m3', 'fp8e5m2', 'i32', 'u8', "
                          "'i8', 'i16', 'u16' or 'u32'"},
                    Wrong{"rand:4x4:7", "'rand:4x4:7' has dtype '7'; " + kAllDTypes,
                          "a seed stands after the dtype, as in 'rand:4x4:f32:7'"},
                    Wrong{"rand:4x4:f32:-1",
                          "'rand:4x4:f32:-1' has seed '-1'; a seed is an integer from 0 to "
                          "18446744073709551615",
                          "write a seed such as '7', or leave it out"},
                    Wrong{"rand:4x4:f32:18446744073709551616",
                          "'rand:4x4:f32:18446744073709551616' has seed "
                          "'18446744073709551616'; a seed is an integer from 0 to "
                          "18446744073709551615",
                          "write a seed such as '7', or leave it out"},
                    Wrong{"rand:4x4:f32:",
                          "'rand:4x4:f32:' has seed ''; a seed is an "
                          "integer from 0 to 18446744073709551615",
                          "write a seed such as '7', or leave it out"},
                    Wrong{"rand:4x4:f32:1:2",
                          "'rand:4x4:f32:1:2' has 4 fields; 'rand' takes a shape, a dtype "
                          "and a seed",
                          "write 'rand:4x4:f32:1'"},
                    Wrong{"zeros:4x4:f32:1",
                          "'zeros:4x4:f32:1' has a field after the dtype; 'zeros' takes "
                          "only a shape and a dtype",
                          "write 'zeros:4x4:f32'"},
                    Wrong{"rand:4x4:i32",
                          "'rand:4x4:i32' asks for random int32 values; random values are "
                          "floats",
                          "use a float dtype such as float32, or save random integers from "
                          "NumPy"},
                    Wrong{"randn:4:u8",
                          "'randn:4:u8' asks for random uint8 values; random values are "
                          "floats",
                          "use a float dtype such as float32, or save random integers from "
                          "NumPy"}));

INSTANTIATE_TEST_SUITE_P(
    Misspelt, ArgumentReject,
    testing::Values(
        Wrong{"rnad:4x4:f32", "'rnad:4x4:f32' names no generator: 'rnad'",
              "did you mean 'rand:4x4:f32'?"},
        Wrong{"zero:16", "'zero:16' names no generator: 'zero'", "did you mean 'zeros:16'?"},
        Wrong{"RANDN:8x8", "'RANDN:8x8' names no generator: 'RANDN'", kGenerators},
        Wrong{"uniform:4x4", "'uniform:4x4' names no generator: 'uniform'", kGenerators},
        Wrong{"full:4:f32", "'full:4:f32' names no generator: 'full'", kGenerators},
        Wrong{"512x256", "'512x256' is a shape without a generator",
              "write 'zeros:512x256', 'ones:512x256', 'iota:512x256', "
              "'rand:512x256' or 'randn:512x256'"},
        Wrong{"weights.npz",
              "'weights.npz' is a '.npz' file; tensors are read from .npy "
              "files",
              "save one array with numpy.save"},
        Wrong{"weights.safetensors",
              "'weights.safetensors' is a '.safetensors' file; tensors are "
              "read from .npy files",
              "save one array with numpy.save"}));

//---- files --------------------------------------------------------------===//

TEST(ArgumentFile, KnowsShapeAndDTypeFromTheHeader) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  ASSERT_TRUE(writeNpyFile(path, arrayOf<int32_t>(DType::Int32, {3, 2}, {1, 2, 3, 4, 5, 6})));

  TensorArgument plain = parseTensor(path);
  TensorArgument cast = parseTensor(path + ":bfloat16");

  EXPECT_EQ(plain.source, TensorSource::File);
  EXPECT_EQ(plain.path, path);
  EXPECT_EQ(plain.dtype, DType::Int32);
  EXPECT_THAT(plain.shape, ElementsAre(3, 2));
  EXPECT_EQ(plain.castTo, std::nullopt);
  EXPECT_EQ(cast.dtype, DType::BFloat16);
  EXPECT_EQ(cast.castTo, DType::BFloat16);
  EXPECT_THAT(valuesOf<int32_t>(make(path)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(valuesOf<uint16_t>(make(path + ":bf16")),
              ElementsAre(0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0));
}

TEST(ArgumentFile, TakesNamesWithColonsAndCapitals) {
  TemporaryFolder folder;
  const HostArray array = arrayOf<float>(DType::Float32, {1}, {2});
  ASSERT_TRUE(writeNpyFile(folder / "a:b.npy", array));
  ASSERT_TRUE(writeNpyFile(folder / "C.NPY", array));

  EXPECT_EQ(make(folder / "a:b.npy").data, array.data);
  EXPECT_EQ(make(folder / "a:b.npy:f32").data, array.data);
  EXPECT_EQ(make(folder / "C.NPY").data, array.data);
}

TEST(ArgumentFile, PassesOnTheNotesOfReading) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  Bytes bytes = npy(dict("<f8", "(1,)"), bytesOfValues<double>({0.1}));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));

  std::vector<Diagnostic> notes(1);
  auto array = materialise(parseTensor(path), notes);

  ASSERT_TRUE(array);
  EXPECT_THAT(valuesOf<float>(*array), ElementsAre(0.1f));
  ASSERT_EQ(notes.size(), 2u); // appended
  EXPECT_EQ(notes[1].message, "'" + path + "' holds float64 values, rounded to float32");
}

TEST(ArgumentFile, SuggestsTheNearestFile) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeNpyFile(folder / "weights.npy", arrayOf<float>(DType::Float32, {1}, {2})));

  auto near = parseArgument(folder / "wieghts.npy:bf16");
  auto far = parseArgument(folder / "bias.npy");

  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().fault, Fault::User);
  EXPECT_EQ(near.error().message, "there is no file '" + (folder / "wieghts.npy") + "'");
  EXPECT_EQ(near.error().help, "did you mean '" + (folder / "weights.npy") + "'?");
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().message, "there is no file '" + (folder / "bias.npy") + "'");
  EXPECT_EQ(far.error().help, "save it with numpy.save, or let Kiln make "
                              "values, as in 'rand:512x256:f32'");
  EXPECT_FALSE(parseArgument("/no such folder/a.npy"));
  EXPECT_FALSE(parseArgument(".npy"));
}

TEST(ArgumentFile, NamesAnUnknownCast) {
  auto result = parseArgument("a.npy:bfloat");

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::Usage);
  EXPECT_EQ(result.error().message, "'a.npy:bfloat' has dtype 'bfloat'; " + kAllDTypes);
  EXPECT_EQ(result.error().help, "did you mean 'bfloat16'?");
}

TEST(ArgumentFile, HonoursTheLimitAfterTheCast) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  ASSERT_TRUE(writeNpyFile(path, arrayOf<float>(DType::Float32, {3}, {1, 2, 3})));

  EXPECT_TRUE(parseArgument(path, {.maxTensorBytes = 12}));
  EXPECT_TRUE(parseArgument(path + ":f16", {.maxTensorBytes = 6}));
  auto refused = parseArgument(path, {.maxTensorBytes = 11});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::Limit);
  EXPECT_EQ(refused.error().message, "'" + path + "' needs 12 bytes; a tensor has at most 11");
}

TEST(ArgumentFile, NoticesThatAFileChanged) {
  TemporaryFolder folder;
  const std::string path = folder / "a.npy";
  ASSERT_TRUE(writeNpyFile(path, arrayOf<float>(DType::Float32, {3}, {1, 2, 3})));
  TensorArgument tensor = parseTensor(path);
  ASSERT_TRUE(writeNpyFile(path, arrayOf<int32_t>(DType::Int32, {2, 1}, {1, 2})));

  std::vector<Diagnostic> notes;
  auto result = materialise(tensor, notes);

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "'" + path +
                                        "' changed while Kiln was running: it was 3 float32, "
                                        "it is 2x1 int32");
}

} // namespace
} // namespace kilnrt::test
