//===- ResultText.cpp - values of results for people ------------------------------------------===//

#include "ResultText.h"

#include "kilnrt/HostData/ArrayText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::tool {

using kilnrt::HostArray;

std::string indexText(const HostArray &a, size_t i) {
  std::vector<size_t> index(a.shape.size());
  for (size_t dim = index.size(); dim-- > 0; i /= size_t(a.shape[dim]))
    index[dim] = i % size_t(a.shape[dim]);
  return fmt::format("({})", fmt::join(index, ", "));
}

std::string summary(const HostArray &a) {
  constexpr size_t kShown = 6;
  std::string values;
  size_t n = size_t(a.elements());
  for (size_t i = 0; i < std::min(n, kShown); ++i)
    values += (i ? " " : "") + kilnrt::valueText(a, int64_t(i));
  return fmt::format("{} [{}]: {}{}", isa::name(a.dtype), fmt::join(a.shape, ", "), values,
                     n > kShown ? " ..." : "");
}

} // namespace kiln::tool
