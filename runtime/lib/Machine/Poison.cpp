//===- Poison.cpp - the bytes of memory that nothing was written to ---------------------------===//

#include "kilnrt/Machine/Poison.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace kilnrt;

static Diagnostic noPoison(std::string_view text) {
  return makeError(Fault::Usage, "'" + std::string(text) + "' is no poison",
                   "give 1 to " + std::to_string(Poison::kMaxPattern) +
                       " bytes in hex, as in DB7F or 00, or random:SEED, as in random:7");
}

Expected<Poison> kilnrt::parsePoison(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  Poison poison;
  const auto read = [](std::string_view digits, auto &value, int base) {
    const char *last = digits.data() + digits.size();
    auto [end, problem] = std::from_chars(digits.data(), last, value, base);
    return problem == std::errc() && end == last;
  };
  if (text.starts_with(kRandom)) {
    if (!read(text.substr(kRandom.size()), poison.seed.emplace(), 10))
      return noPoison(text);
    return poison;
  }
  if (text.empty() || text.size() % 2 || text.size() / 2 > Poison::kMaxPattern)
    return noPoison(text);
  poison.pattern.fill(0);
  poison.length = uint32_t(text.size() / 2);
  for (size_t i = 0; i < poison.length; ++i)
    if (!read(text.substr(2 * i, 2), poison.pattern[i], 16))
      return noPoison(text);
  return poison;
}

void PoisonFill::fill(std::byte *data, int64_t bytes) {
  if (poison.seed) {
    for (int64_t done = 0; done < bytes; done += sizeof(uint64_t)) {
      const uint64_t word = random.next();
      std::memcpy(data + done, &word, size_t(std::min<int64_t>(bytes - done, sizeof(word))));
    }
    return;
  }
  const int64_t length = poison.length;
  const int64_t first = std::min(bytes, 4096 / length * length);
  for (int64_t i = 0; i < first; ++i)
    data[i] = std::byte(poison.pattern[size_t(i % length)]);
  for (int64_t done = first; done < bytes; done += first)
    std::memcpy(data + done, data, size_t(std::min(first, bytes - done)));
}
