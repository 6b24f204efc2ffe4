//===- Text.cpp - spellings shared by this library's messages ---------------------------------===//
//
// See Text.h.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kilnrt::detail {

std::string describeShape(std::span<const int64_t> shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string describeIndex(std::span<const int64_t> index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i)
    text += (i ? ", " : "") + std::to_string(index[i]);
  return text + "]";
}

std::vector<int64_t> unflatten(std::span<const int64_t> shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i])
    index[i] = flat % shape[i];
  return index;
}

std::string describeValue(double value, DType dtype) {
  // Every float dtype widens exactly to float, whose shortest spelling reads
  // better than double's.
  if (kiln::isa::isFloat(dtype))
    return fmt::format("{}", static_cast<float>(value));
  return fmt::format("{}", static_cast<int64_t>(value));
}

std::string countOf(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string printable(std::string_view text) {
  constexpr size_t longest = 60;
  std::string result;
  for (unsigned char c : text.substr(0, longest))
    result +=
        c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  return text.size() > longest ? result + "..." : result;
}

size_t editDistance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearestWord(std::string_view text, std::span<const std::string> words,
                                       size_t limit) {
  std::optional<std::string> nearest;
  size_t best = limit + 1;
  for (const std::string &word : words) {
    size_t longer = std::max(word.size(), text.size()),
           shorter = std::min(word.size(), text.size());
    if (longer - shorter >= best)
      continue; // the lengths alone are too far apart; keeps long texts cheap
    size_t distance = editDistance(text, word);
    if (distance < best) {
      best = distance;
      nearest = word;
    }
  }
  return nearest;
}

std::optional<uint64_t> byteCount(std::span<const int64_t> shape, uint64_t elementBytes) {
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  uint64_t bytes = elementBytes;
  for (int64_t extent : shape) {
    if (bytes > most / static_cast<uint64_t>(extent))
      return std::nullopt;
    bytes *= static_cast<uint64_t>(extent);
  }
  return bytes;
}

} // namespace kilnrt::detail
