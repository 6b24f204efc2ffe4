//===- Random.cpp - random tensors that are equal on every host -------------------------------===//
//
// Counter layout: words 0 and 1 hold the block number, word 2 the stream, word
// 3 the distribution. The key is the seed. So no two (seed, stream,
// distribution, block) share a Philox input.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Random.h"

#include "RealFunctions.h"
#include "Values.h"

#include <algorithm>
#include <cmath>

namespace kilnrt {
namespace {

enum class Distribution : uint32_t { Uniform = 0, Normal = 1 };

std::array<uint32_t, 4> block(RandomSequence sequence, Distribution distribution, uint64_t number) {
  return philox4x32(
      {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), sequence.stream,
       static_cast<uint32_t>(distribution)},
      {static_cast<uint32_t>(sequence.seed), static_cast<uint32_t>(sequence.seed >> 32)});
}

/// Four elements a block: the top 24 bits of a word each.
std::array<double, 4> uniformBlock(RandomSequence sequence, uint64_t number) {
  const auto words = block(sequence, Distribution::Uniform, number);
  std::array<double, 4> values;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (words[i] >> 8) * 0x1p-24;
  return values;
}

/// Two elements a block, by Box and Muller: 53 bits for the radius, 53 for the
/// angle.
std::array<double, 2> normalBlock(RandomSequence sequence, uint64_t number) {
  const auto words = block(sequence, Distribution::Normal, number);
  const uint64_t first = (uint64_t{words[1]} << 32 | words[0]) >> 11;
  const uint64_t second = (uint64_t{words[3]} << 32 | words[2]) >> 11;
  // The radius takes (0, 1], where the logarithm is finite; sqrt is exact to
  // the last bit by IEEE 754.
  const double radius = std::sqrt(-2 * detail::logOf(static_cast<double>(first + 1) * 0x1p-53));
  const detail::SinCos angle = detail::sinCosOfTurns(static_cast<double>(second) * 0x1p-53);
  return {radius * angle.cos, radius * angle.sin};
}

/// Largest value below 1.
double largestBelowOne(DType dtype) {
  switch (dtype) {
  case DType::BFloat16:
    return 1 - 0x1p-8;
  case DType::Float16:
  case DType::TFloat32:
    return 1 - 0x1p-11;
  case DType::Float8E4M3:
  case DType::Float8E4M3FN:
    return 1 - 0x1p-4;
  case DType::Float8E5M2:
    return 1 - 0x1p-3;
  default:
    return 1 - 0x1p-24;
  }
}

template <typename MakeBlock, typename Adjust>
void fill(HostArray &array, MakeBlock makeBlock, Adjust adjust) {
  const auto count = static_cast<uint64_t>(array.elements());
  const unsigned step = kiln::isa::bytesOf(array.dtype);
  for (uint64_t index = 0, number = 0; index < count; ++number) {
    auto values = makeBlock(number);
    const size_t n = std::min<uint64_t>(values.size(), count - index);
    for (double &value : values)
      value = adjust(value);
    detail::narrow(array.dtype, {values.data(), n}, array.data.data() + index * step);
    index += n;
  }
}

} // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9; // golden ratio
    key[1] += 0xBB67AE85; // sqrt(3) - 1
  }
  return counter;
}

double uniformAt(RandomSequence sequence, uint64_t index) {
  return uniformBlock(sequence, index / 4)[index % 4];
}

double normalAt(RandomSequence sequence, uint64_t index) {
  return normalBlock(sequence, index / 2)[index % 2];
}

void fillUniform(HostArray &array, RandomSequence sequence) {
  // Above the middle of the last two steps, rounding would give 1.
  const double largest = largestBelowOne(array.dtype), tie = (largest + 1) / 2;
  fill(
      array, [&](uint64_t number) { return uniformBlock(sequence, number); },
      [&](double value) { return value >= tie ? largest : value; });
}

void fillNormal(HostArray &array, RandomSequence sequence) {
  fill(
      array, [&](uint64_t number) { return normalBlock(sequence, number); },
      [](double value) { return value; });
}

} // namespace kilnrt
