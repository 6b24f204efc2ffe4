//===- ResultText.cpp - values of results for people ------------------------------------------===//

#include "ResultText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kiln::tool {

using kilnrt::HostArray;

std::string valueText(const HostArray &a, size_t i) {
  const std::byte *p = a.data.data() + i * isa::bytesOf(a.dtype);
  auto as = [p](auto value) {
    __builtin_memcpy(&value, p, sizeof(value));
    return value;
  };
  switch (a.dtype) {
  case isa::DType::Float32:
    return fmt::format("{}", as(float()));
  case isa::DType::BFloat16:
    return fmt::format("{}", __builtin_bit_cast(float, uint32_t(as(uint16_t())) << 16));
  case isa::DType::Float16: {
    _Float16 half = as(_Float16());
    return fmt::format("{}", float(half));
  }
  case isa::DType::Int32:
    return fmt::format("{}", as(int32_t()));
  case isa::DType::UInt8:
    return fmt::format("{}", as(uint8_t()));
  case isa::DType::Int8:
    return fmt::format("{}", as(int8_t()));
  case isa::DType::Int16:
    return fmt::format("{}", as(int16_t()));
  case isa::DType::UInt16:
    return fmt::format("{}", as(uint16_t()));
  case isa::DType::UInt32:
    return fmt::format("{}", as(uint32_t()));
  }
  return "?";
}

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
    values += (i ? " " : "") + valueText(a, i);
  return fmt::format("{} [{}]: {}{}", isa::name(a.dtype), fmt::join(a.shape, ", "), values,
                     n > kShown ? " ..." : "");
}

} // namespace kiln::tool
