//===- Text.cpp - building the sentences of messages ------------------------------------------===//

#include "kiln/ISA/Text.h"

namespace kiln {

std::string counted(int64_t n, std::string_view noun) {
  return text(n, " ", noun, n == 1 ? "" : "s");
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

} // namespace kiln
