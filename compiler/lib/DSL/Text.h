//===- Text.h - building the sentences of diagnostics -----------------------------------------===//
//
// The language's shapes, dtypes and buffers in messages of the tracer; kiln/ISA/Text.h has the
// rest.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_TEXT_H
#define KILN_LIB_DSL_TEXT_H

#include "kiln/ISA/Text.h"
#include "kiln/ISA/Types.h"
#include "nl/core.h"

#include <span>
#include <string>
#include <string_view>

namespace kiln::trace {

using kiln::shapeText, kiln::text, kiln::tupleText;

inline isa::DType toIsa(nl::DType t) { return static_cast<isa::DType>(t); }
inline isa::Memory toIsa(nl::Buffer b) {
  return b == nl::sbuf ? isa::Memory::Sbuf : b == nl::psum ? isa::Memory::Psum : isa::Memory::Hbm;
}
/// "sbuf", "shared_hbm".
std::string_view nameOf(nl::Buffer buffer);

inline std::string tupleText(const std::vector<int64_t> &shape) {
  return tupleText(std::span(shape));
}
inline std::string shapeText(const std::vector<int64_t> &shape) {
  return shapeText(std::span(shape));
}
inline std::string tupleText(const nl::Shape &shape) {
  return tupleText(std::span(shape.begin(), shape.end()));
}
inline std::string shapeText(const nl::Shape &shape) {
  return shapeText(std::span(shape.begin(), shape.end()));
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
