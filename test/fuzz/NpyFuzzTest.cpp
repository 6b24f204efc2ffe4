//===- NpyFuzzTest.cpp - the .npy reader on files nobody would write --------------------------===//
//
// Starts from valid files and breaks them: bits, bytes, lengths, and words of
// the header's language in wrong places. Nothing may crash, what is accepted
// must be a sane array, what is refused must be explained, and no allocation
// may be larger than the file justifies. KILN_FUZZ_SEED replays another run.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Argument.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>

namespace {

std::atomic<size_t> largestAllocation{0};

} // namespace

// Every allocation of this program is watched. Not inlined: GCC would pair free
// with operator new and warn.
[[gnu::noinline]] void *operator new(size_t bytes) {
  size_t seen = largestAllocation.load(std::memory_order_relaxed);
  if (bytes > seen)
    largestAllocation.store(bytes, std::memory_order_relaxed);
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, size_t) noexcept { std::free(memory); }

namespace kilnrt {
namespace {

using Bytes = std::vector<std::byte>;

uint64_t seedOfRun() {
  const char *given = std::getenv("KILN_FUZZ_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 20240607;
}

/// Numbers whose order does not depend on the standard library.
class Dice {
public:
  explicit Dice(uint64_t seed) : engine(seed) {}
  size_t below(size_t n) { return static_cast<size_t>(engine() % n); }
  bool oneIn(size_t n) { return below(n) == 0; }
  template <typename T, size_t n>
  const T &pick(const T (&choices)[n]) {
    return choices[below(n)];
  }

private:
  std::mt19937_64 engine; // its output is fixed by the standard
};

void append(Bytes &bytes, std::string_view text) {
  for (char c : text)
    bytes.push_back(static_cast<std::byte>(c));
}

/// A valid file; every type, version, order and rank comes up.
Bytes validFile(Dice &dice) {
  static constexpr std::pair<std::string_view, size_t> types[] = {
      {"<f4", 4}, {"<f2", 2}, {"<f8", 8}, {"|i1", 1}, {"<i2", 2},
      {"<i4", 4}, {"|u1", 1}, {"<u2", 2}, {"<u4", 4}, {"|b1", 1}};
  const auto [descr, size] = dice.pick(types);
  size_t count = size;
  std::string shape;
  for (size_t rank = 1 + dice.below(5); rank > 0; --rank) {
    const size_t extent = 1 + dice.below(4);
    count *= extent;
    shape += std::to_string(extent) + ",";
  }
  const std::string dict = "{'descr': '" + std::string(descr) +
                           "', 'fortran_order': " + (dice.oneIn(2) ? "True" : "False") +
                           ", 'shape': (" + shape + "), }  \n";
  const int version = static_cast<int>(1 + dice.below(3));
  Bytes bytes;
  append(bytes, "\x93NUMPY");
  bytes.push_back(static_cast<std::byte>(version));
  bytes.push_back(std::byte{0});
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes.push_back(static_cast<std::byte>(dict.size() >> (8 * i)));
  append(bytes, dict);
  for (size_t i = 0; i < count; ++i)
    // Mostly small values, or unsigned ones would rarely be accepted.
    bytes.push_back(static_cast<std::byte>(dice.oneIn(4) ? dice.below(256) : 0));
  return bytes;
}

/// One to four changes.
void mutate(Bytes &bytes, Dice &dice) {
  static constexpr std::string_view words[] = {"(",
                                               ")",
                                               ",",
                                               ":",
                                               "'",
                                               "\"",
                                               "{",
                                               "}",
                                               "[",
                                               "]",
                                               "L",
                                               "-",
                                               "0",
                                               "1",
                                               " ",
                                               "\n",
                                               "\\",
                                               "True",
                                               "False",
                                               "None",
                                               "'descr'",
                                               "'shape'",
                                               "'fortran_order'",
                                               "'<f8'",
                                               "'>f4'",
                                               "'|O'",
                                               "'|V2'",
                                               "<i8",
                                               "<c16",
                                               "18446744073709551615",
                                               "9223372036854775807",
                                               "4294967296",
                                               "1, 1, ",
                                               "(((((((((((((((((((((((((((((((((",
                                               "\xc3\xa4",
                                               "\x93NUMPY"};
  const auto place = [&] { return static_cast<ptrdiff_t>(dice.below(bytes.size() + 1)); };
  for (size_t n = 1 + dice.below(4); n > 0; --n) {
    // Half of the changes hit the first 128 bytes, where the decisions are.
    const size_t reach = dice.oneIn(2) ? bytes.size() : std::min<size_t>(bytes.size(), 128);
    switch (dice.below(7)) {
    case 0:
      if (reach)
        bytes[dice.below(reach)] ^= static_cast<std::byte>(1 << dice.below(8));
      break;
    case 1:
      if (reach)
        bytes[dice.below(reach)] = static_cast<std::byte>(dice.below(256));
      break;
    case 2:
      bytes.resize(dice.below(bytes.size() + 1));
      break;
    case 3:
      bytes.resize(bytes.size() + 1 + dice.below(9));
      break;
    case 4: {
      const auto at = bytes.begin() + place();
      bytes.erase(at, at + static_cast<ptrdiff_t>(dice.below(
                               std::min<size_t>(static_cast<size_t>(bytes.end() - at), 8) + 1)));
      break;
    }
    case 5: {
      const std::string_view word = dice.pick(words);
      const auto *first = reinterpret_cast<const std::byte *>(word.data());
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(dice.below(reach + 1)), first,
                   first + word.size());
      break;
    }
    case 6: // a word over the text, which keeps all lengths right
      if (const std::string_view word = dice.pick(words); word.size() <= reach)
        std::memcpy(bytes.data() + dice.below(reach - word.size() + 1), word.data(), word.size());
      break;
    }
  }
}

/// Why `message` breaks the rules for messages; empty when it does not.
std::string faultOf(const Diagnostic &d) {
  if (d.message.empty())
    return "no message";
  for (const std::string *text : {&d.message, &d.help})
    for (char c : *text)
      if (c < 0x20 || c > 0x7e)
        return "unprintable text";
  if (d.message.back() == '.' || (d.message[0] >= 'A' && d.message[0] <= 'Z'))
    return "not written as a message";
  if (d.fault == Fault::Internal)
    return "an internal fault";
  return d.message.size() > 600 ? "too long" : "";
}

/// What an accepted array must be, given the bytes it came from.
std::string faultOf(const HostArray &array, size_t fileBytes) {
  if (array.shape.empty() || array.shape.size() > 5)
    return "bad rank";
  for (int64_t extent : array.shape)
    if (extent < 1)
      return "bad extent";
  const size_t bytes = static_cast<size_t>(array.elements()) * kiln::isa::bytesOf(array.dtype);
  if (array.data.size() != bytes)
    return "data does not fit the shape";
  if (bytes > 4 * fileBytes)
    return "more data than the file has";
  auto written = encodeNpy(array);
  if (!written)
    return "cannot be written: " + written.error().message;
  auto again = readNpy(*written, "again.npy");
  if (!again || again->array.shape != array.shape)
    return "does not survive a round trip";
  const bool sixteenBits = array.dtype == DType::BFloat16 || array.dtype == DType::Float16;
  return sixteenBits || again->array.data == array.data ? "" : "other values after a round trip";
}

TEST(NpyFuzz, EveryFileIsReadOrRefused) {
  static constexpr std::optional<DType> casts[] = {
      std::nullopt, std::nullopt, std::nullopt, DType::Float32, DType::BFloat16, DType::Float16,
      DType::Int32, DType::UInt8, DType::Int8,  DType::Int16,   DType::UInt16,   DType::UInt32};
  const uint64_t seed = seedOfRun();
  Dice dice(seed);
  int accepted = 0, refused = 0;

  for (int i = 0; i < 100000; ++i) {
    Bytes bytes = validFile(dice);
    if (!dice.oneIn(20))
      mutate(bytes, dice);
    const NpyReadOptions options{dice.pick(casts)};
    bytes.shrink_to_fit(); // so that a read past the end is one past the heap block

    largestAllocation = 0;
    auto result = readNpy(bytes, "x.npy", options);
    // Values widen at most four times, vectors of extents grow by doubling,
    // messages are bounded.
    ASSERT_LE(largestAllocation, 32 * bytes.size() + 4096) << "file " << i << " of seed " << seed;

    const std::string fault =
        result ? faultOf(result->array, bytes.size()) : faultOf(result.error());
    ASSERT_EQ(fault, "") << "file " << i << " of seed " << seed
                         << (result ? "" : ": " + result.error().message);
    result ? ++accepted : ++refused;
  }

  // Both sides were reached, or the test tests nothing.
  EXPECT_GT(accepted, 5000) << "seed " << seed;
  EXPECT_GT(refused, 50000) << "seed " << seed;
}

TEST(NpyFuzz, HeadersDoNotNeedTheirValues) {
  // A file of any claimed size, of which only the beginning is at hand.
  const uint64_t seed = seedOfRun() + 1;
  Dice dice(seed);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = validFile(dice);
    mutate(bytes, dice);
    const uint64_t claimed = bytes.size() + (dice.oneIn(2) ? 0 : uint64_t{1} << dice.below(63));

    auto header = parseNpyHeader(bytes, claimed, "x.npy");

    if (!header) {
      ASSERT_EQ(faultOf(header.error()), "") << "file " << i << " of seed " << seed;
      continue;
    }
    ASSERT_EQ(header->dataOffset + header->elements() * bytesOf(header->type), claimed)
        << "file " << i << " of seed " << seed;
  }
}

/// A generator as it should be, or a few words of the language in any order.
std::string argumentText(Dice &dice) {
  static constexpr std::string_view generators[] = {"zeros", "ones", "iota", "rand", "randn"};
  static constexpr std::string_view dtypes[] = {"f32", "bf16", "fp16", "i32", "uint8"};
  static constexpr std::string_view words[] = {"zeros",
                                               "rand",
                                               ":",
                                               "x",
                                               "4",
                                               "0",
                                               "512",
                                               "f32",
                                               "u8",
                                               ".npy",
                                               "-",
                                               "+",
                                               ".",
                                               "e9",
                                               "inf",
                                               "true",
                                               "nan",
                                               "/",
                                               " ",
                                               "\xff",
                                               "\n",
                                               "7",
                                               "999999999999999999999"};
  std::string text;
  if (dice.oneIn(2)) {
    text = std::string(dice.pick(generators)) + ":" + std::to_string(1 + dice.below(9));
    for (size_t n = dice.below(4); n > 0; --n)
      text += "x" + std::to_string(1 + dice.below(9));
    if (dice.oneIn(2))
      text += ":" + std::string(dice.pick(dtypes));
    if (dice.oneIn(2))
      return text;
  }
  for (size_t n = 1 + dice.below(4); n > 0; --n)
    text.insert(dice.below(text.size() + 1), dice.pick(words));
  return text;
}

TEST(NpyFuzz, EveryArgumentIsParsedOrRefused) {
  const uint64_t seed = seedOfRun() + 2;
  Dice dice(seed);
  int tensors = 0, scalars = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = argumentText(dice);

    auto argument = parseArgument(text, {.maxTensorBytes = 1 << 16});

    if (!argument) {
      ++refused;
      ASSERT_EQ(faultOf(argument.error()), "") << text << ", seed " << seed;
      continue;
    }
    const auto *tensor = std::get_if<TensorArgument>(&argument->value);
    tensor ? ++tensors : ++scalars;
    if (!tensor)
      continue;
    std::vector<Diagnostic> notes;
    auto array = materialise(*tensor, notes);
    ASSERT_TRUE(array) << text << ", seed " << seed;
    ASSERT_EQ(array->dtype, tensor->dtype) << text;
    ASSERT_EQ(array->shape, tensor->shape) << text;
    ASSERT_EQ(faultOf(*array, 1 << 16), "") << text;
  }

  EXPECT_GT(tensors, 2000) << "seed " << seed;
  EXPECT_GT(scalars, 2000) << "seed " << seed;
  EXPECT_GT(refused, 2000) << "seed " << seed;
}

} // namespace
} // namespace kilnrt
