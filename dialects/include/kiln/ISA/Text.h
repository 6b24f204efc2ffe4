//===- Text.h - building the sentences of messages --------------------------------------------===//
//
// Concatenation, and the one spelling of counts and shapes, for the rules, the tracer and the
// lints.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_ISA_TEXT_H
#define KILN_ISA_TEXT_H

#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

inline void appendText(std::string &out, std::string_view s) { out += s; }
inline void appendText(std::string &out, char c) { out += c; }
inline void appendText(std::string &out, std::integral auto v) { out += std::to_string(v); }
inline void appendText(std::string &out, double v) {
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  out.append(digits, end);
}

/// Concatenates strings, characters, whole numbers and doubles (shortest form
/// that reads back equal).
template <class... Parts>
std::string text(const Parts &...parts) {
  std::string out;
  (appendText(out, parts), ...);
  return out;
}

/// "1 partition", "2 partitions": regular nouns only.
std::string counted(int64_t n, std::string_view noun);
/// "(128, 512)"; a single extent is "(128,)".
std::string tupleText(std::span<const int64_t> values);
/// "128x512".
std::string shapeText(std::span<const int64_t> values);

} // namespace kiln

#endif // KILN_ISA_TEXT_H
