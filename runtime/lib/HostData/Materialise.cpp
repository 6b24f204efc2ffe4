//===- Materialise.cpp - makes the values of a tensor argument --------------------------------===//
//
// The second stage of Argument.h: nothing here is parsed, only filled or read.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "Values.h"
#include "kilnrt/HostData/Argument.h"
#include "kilnrt/HostData/Random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

namespace kilnrt {
namespace {

/// Writes value(0), value(1), ... in C order.
template <typename ValueAt>
void fill(HostArray &array, ValueAt value) {
  const int64_t count = array.elements();
  const unsigned step = kiln::isa::bytesOf(array.dtype);
  std::array<double, 1024> values;
  for (int64_t begin = 0; begin < count; begin += static_cast<int64_t>(values.size())) {
    const size_t n = std::min(values.size(), static_cast<size_t>(count - begin));
    for (size_t i = 0; i < n; ++i)
      values[i] = value(begin + static_cast<int64_t>(i));
    detail::narrow(array.dtype, {values.data(), n}, array.data.data() + begin * step);
  }
}

Expected<HostArray> readFile(const TensorArgument &argument, std::vector<Diagnostic> &notes) {
  auto read = readNpyFile(argument.path, {argument.castTo, argument.maxBytes});
  if (!read)
    return read.error();
  if (read->array.dtype != argument.dtype || read->array.shape != argument.shape)
    return makeError(
        Fault::User,
        fmt::format("'{}' changed while Kiln was running: it was {} {}, it is {} {}",
                    detail::printable(argument.path), detail::describeShape(argument.shape),
                    kiln::isa::name(argument.dtype), detail::describeShape(read->array.shape),
                    kiln::isa::name(read->array.dtype)));
  notes.insert(notes.end(), read->notes.begin(), read->notes.end());
  return std::move(read->array);
}

} // namespace

Expected<HostArray> materialise(const TensorArgument &argument, std::vector<Diagnostic> &notes) {
  if (argument.source == TensorSource::File)
    return readFile(argument, notes);
  const auto bytes = detail::byteCount(argument.shape, kiln::isa::bytesOf(argument.dtype));
  HostArray array{argument.dtype, argument.shape, {}};
  try {
    array.data.resize(bytes.value_or(array.data.max_size() + size_t{1}));
  } catch (const std::exception &) { // bad_alloc, or length_error for a size no vector has
    return makeError(Fault::Limit,
                     fmt::format("a tensor of {} {} values needs more bytes than the host has",
                                 detail::describeShape(argument.shape),
                                 kiln::isa::name(argument.dtype)));
  }
  switch (argument.source) {
  case TensorSource::File:
  case TensorSource::Zeros: // all bits 0 is 0 in every dtype
    break;
  case TensorSource::Ones:
    fill(array, [](int64_t) { return 1.0; });
    break;
  case TensorSource::Iota:
    fill(array, [](int64_t i) { return static_cast<double>(i); });
    break;
  case TensorSource::Rand:
    fillUniform(array, {argument.seed, argument.stream});
    break;
  case TensorSource::Randn:
    fillNormal(array, {argument.seed, argument.stream});
    break;
  }
  return array;
}

} // namespace kilnrt
