//===- DebugTest.cpp - nl::device_print, from the kernel to the caller of the run -------------===//

#include "InstructionFixture.h"
#include "kiln/ISA/DiagnosticText.h"

#include <gmock/gmock.h>

namespace kiln::test {
namespace {

using nl::_;
using testing::ElementsAre;
using testing::HasSubstr;

using Shape = std::vector<int64_t>;

/// The prints of a kernel, which must not fault.
template <class Lambda>
std::vector<kilnrt::DevicePrint> printsOf(Lambda kernel, const std::vector<HostArray> &inputs,
                                          std::string *text = nullptr) {
  std::vector<driver::Arg> args;
  for (const HostArray &input : inputs)
    args.push_back(TensorArg{input.dtype, input.shape});
  auto result = resultOf(traceOf(kernel, args), inputs, text);
  if (!result) {
    ADD_FAILURE() << toText(result.error());
    return {};
  }
  return result->prints;
}

TEST(DevicePrint, ShowsATileWithItsPrefixAndName) {
  std::string text;
  auto prints = printsOf(
      [](Tensor x) {
        Tensor t = nl::ndarray({2, 3}, nl::float32, nl::sbuf, {.name = "t"});
        nisa::dma_copy(t, x);
        nl::device_print("t = ", t);
        return stored(t);
      },
      {counting(DType::Float32, {2, 3})}, &text);

  ASSERT_EQ(prints.size(), 1u);
  EXPECT_EQ(prints[0].prefix, "t = ");
  EXPECT_EQ(prints[0].tensor, "t");
  EXPECT_EQ(prints[0].value.dtype, DType::Float32);
  EXPECT_EQ(prints[0].value.shape, Shape({2, 3}));
  EXPECT_THAT(floatsOf(prints[0].value), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(prints[0].iterations.empty());
  EXPECT_THAT(text, HasSubstr(".text 0 \"t = \"\n"));
  EXPECT_THAT(text, HasSubstr("  device_print data=t[0+2, 0: 1x3] text=0 "));
}

TEST(DevicePrint, KeepsTheDimsOfAViewInEveryMemory) {
  auto prints = printsOf(
      [](Tensor x) {
        nl::device_print("rows", x(2));                               // a row of HBM: one dim
        nl::device_print("row", x(ds(2, 1)));                         // the same with two
        nl::device_print("columns", x(_, nl::slice(0, 6, 4)));        // strided
        nl::device_print("turned", x.permute({1, 0})(ds(4, 2)));      // HBM dims in another order
        nl::device_print("split", x(ds(1, 1)).reshape({1, 1, 3, 2})); // dims of one element stay
        Tensor t = loaded(x);
        nl::device_print("partition", t(ds(3, 1), ds(1, 2))); // no engine could start there
        nl::device_print("again", t(ds(1, 2), ds(5, 1)).broadcast(1, 2));
        return stored(t);
      },
      {counting(DType::Float32, {4, 6})});

  ASSERT_EQ(prints.size(), 7u);
  auto expect = [&](size_t i, const Shape &shape, const std::vector<float> &values) {
    EXPECT_EQ(prints[i].value.shape, shape) << prints[i].prefix;
    EXPECT_EQ(floatsOf(prints[i].value), values) << prints[i].prefix;
  };
  expect(0, {6}, {13, 14, 15, 16, 17, 18});
  expect(1, {1, 6}, {13, 14, 15, 16, 17, 18});
  expect(2, {4, 2}, {1, 5, 7, 11, 13, 17, 19, 23});
  expect(3, {2, 4}, {5, 11, 17, 23, 6, 12, 18, 24});
  expect(4, {1, 1, 3, 2}, {7, 8, 9, 10, 11, 12});
  expect(5, {1, 2}, {20, 21});
  expect(6, {2, 2}, {12, 12, 18, 18});
}

TEST(DevicePrint, ShowsPsumAndEveryDtypeBitForBit) {
  const HostArray one = arrayOf(DType::Float32, {1, 1}, {1});
  static const nl::DType dtypes[] = {nl::float32, nl::bfloat16, nl::float16, nl::int32, nl::uint8,
                                     nl::int8,    nl::int16,    nl::uint16,  nl::uint32};
  auto prints = printsOf(
      [](Tensor x) {
        for (nl::DType dtype : dtypes) {
          Tensor t = nl::full({1, 3}, 100, dtype);
          nl::device_print("", t);
        }
        Tensor acc = nl::ndarray({1, 1}, nl::float32, nl::psum);
        Tensor a = loaded(x);
        nisa::nc_matmul(acc, a, a);
        nl::device_print("acc", acc);
        nl::device_print("bits", acc.view(nl::uint16));
        return stored(a);
      },
      {one});

  ASSERT_EQ(prints.size(), 11u);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(prints[i].value.dtype, DType(i));
    EXPECT_THAT(floatsOf(prints[i].value), ElementsAre(100, 100, 100));
  }
  EXPECT_THAT(floatsOf(prints[9].value), ElementsAre(1));
  EXPECT_EQ(prints[10].value.shape, Shape({1, 2}));
  EXPECT_THAT(floatsOf(prints[10].value), ElementsAre(0, 0x3F80));
}

TEST(DevicePrint, KeepsNanPayloads) {
  HostArray x = arrayOf(DType::Float32, {1, 2}, {0, -0.0f});
  const uint32_t signalling = 0xFF800001;
  std::memcpy(x.data.data(), &signalling, 4);
  auto prints = printsOf(
      [](Tensor x) {
        nl::device_print("x", x);
        return stored(loaded(x));
      },
      {x});

  ASSERT_EQ(prints.size(), 1u);
  EXPECT_EQ(prints[0].value.data, x.data);
}

TEST(DevicePrint, EqualPrefixesAreOneTextAndAnyTextIsKept) {
  std::string text;
  auto prints = printsOf(
      [](Tensor x) {
        Tensor t = loaded(x);
        nl::device_print("same", t);
        nl::device_print("quote \" line\n \xce\xbc", t);
        nl::device_print("same", t);
        nl::device_print("", t);
        return stored(t);
      },
      {counting(DType::Float32, {1, 1})}, &text);

  ASSERT_EQ(prints.size(), 4u);
  EXPECT_EQ(prints[1].prefix, "quote \" line\n \xce\xbc");
  EXPECT_EQ(prints[2].prefix, "same");
  EXPECT_EQ(prints[3].prefix, "");
  EXPECT_THAT(text, HasSubstr(".text 1 \"quote \\\" line\\n \\xce\\xbc\"\n.text 2 \"\"\n"));
}

TEST(DevicePrint, ReadsLikeAnyOther) {
  TraceResult traced = traceOf(
      [](Tensor x) {
        Tensor t = nl::ndarray({2, 4}, nl::float32, nl::sbuf, {.name = "t"});
        nisa::memset(t(_, ds(0, 2)), 0);
        nl::device_print("t", t);
        return stored(loaded(x));
      },
      {TensorArg{DType::Float32, {1, 1}}});

  auto result = resultOf(traced, {counting(DType::Float32, {1, 1})});

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().rule, "M-09");
  EXPECT_THAT(result.error().message, HasSubstr("'t'"));
}

TEST(DevicePrint, CountsTheLoopsOfTheAuthor) {
  TraceResult traced = traceBody([](InOut y) {
    nl::device_print("y", y(0));
    nl::affine_for(5, [&](nl::Index i) {
      nl::affine_for(2, [&](nl::Index) { nl::device_print("y", y(ds(i * 2, 2), _)); });
    });
  });
  EXPECT_EQ(errorsOf(traced), "");
  EXPECT_EQ(instructionsOf(traced),
            "dma_copy dst=y[128 rows of 512, 0: 1x512] src=y.in[128 rows of 512, 0: 1x512]\n"
            "device_print data=y[1 rows of 0, 0: 1x512] text=0 flat=1\n"
            "device_print data=y[2 rows of 512, 0: 1x512 loop 1024] text=0 loops=2 step=1,1,0,0\n");
  EXPECT_EQ(traced.trace.texts, std::vector<std::string>{"y"});
}

/// What is wrong with a kernel that only prints.
template <class Lambda>
std::string printErrors(Lambda body) {
  return errorsOf(traceBody(body));
}

TEST(DevicePrint, WhatNobodyCanShow) {
  EXPECT_EQ(printErrors([](InOut) { nl::device_print("t", Tensor()); }),
            "[K-08] data of nl::device_print is an empty handle: it names no tensor (assign it the "
            "result of nl::ndarray first)");
  EXPECT_EQ(printErrors([](InOut) {
              Tensor big = nl::ndarray({8192, 8193}, nl::uint8, nl::hbm, {.name = "big"});
              nl::device_print("big", big(_, ds(0, 8192)));
              nl::device_print("big", big);
            }),
            "[S-07] device_print shows 67117056 elements of 'big', one print shows at most "
            "67108864 (print a part of it)");
  EXPECT_EQ(printErrors([](InOut) {
              Tensor t;
              nl::affine_for(2, [&](nl::Index) { t = nl::zeros({1, 1}, nl::float32); });
              nl::device_print("t", t);
            }).substr(0, 6),
            "[C-05]");
}

} // namespace
} // namespace kiln::test
