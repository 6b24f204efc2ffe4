//===- Text.cpp - spellings of shapes and buffers in messages ---------------------------------===//

#include "Text.h"

namespace kiln::trace {

std::string_view nameOf(nl::Buffer buffer) {
  switch (buffer) {
  case nl::Buffer::sbuf:
    return "sbuf";
  case nl::Buffer::psum:
    return "psum";
  case nl::Buffer::private_hbm:
    return "private_hbm";
  case nl::Buffer::shared_hbm:
    return "shared_hbm";
  }
  return "?";
}

std::string tupleText(std::span<const int64_t> values) {
  std::string out = "(";
  for (size_t i = 0; i < values.size(); ++i)
    out += text(i ? ", " : "", values[i]);
  return out + (values.size() == 1 ? ",)" : ")");
}

std::string shapeText(std::span<const int64_t> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i)
    out += text(i ? "x" : "", values[i]);
  return out;
}

} // namespace kiln::trace
