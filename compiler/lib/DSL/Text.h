//===- Text.h - building the sentences of diagnostics -----------------------------------------===//
//
// Concatenation, and the one spelling of shapes, dtypes and buffers in messages of the tracer.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_TEXT_H
#define KILN_LIB_DSL_TEXT_H

#include "kiln/ISA/Types.h"
#include "nl/core.h"

#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace kiln::trace {

inline void appendText(std::string &out, std::string_view s) { out += s; }
inline void appendText(std::string &out, std::integral auto v) { out += std::to_string(v); }

/// Concatenates strings and whole numbers.
template <class... Parts>
std::string text(const Parts &...parts) {
  std::string out;
  (appendText(out, parts), ...);
  return out;
}

inline isa::DType toIsa(nl::DType t) { return static_cast<isa::DType>(t); }
inline isa::Memory toIsa(nl::Buffer b) {
  return b == nl::sbuf ? isa::Memory::Sbuf : b == nl::psum ? isa::Memory::Psum : isa::Memory::Hbm;
}
/// "sbuf", "shared_hbm".
std::string_view nameOf(nl::Buffer buffer);

/// "(128, 512)"; a single extent is "(128,)".
std::string tupleText(std::span<const int64_t> values);
inline std::string tupleText(const nl::Shape &shape) {
  return tupleText({shape.begin(), shape.end()});
}
/// "128x512".
std::string shapeText(std::span<const int64_t> values);
inline std::string shapeText(const nl::Shape &shape) {
  return shapeText({shape.begin(), shape.end()});
}

/// Saturates instead of overflowing.
inline int64_t multiply(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_mul_overflow(a, b, &r))
    return r;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

} // namespace kiln::trace

#endif // KILN_LIB_DSL_TEXT_H
