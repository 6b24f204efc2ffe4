//===- NpyRead.cpp - the values of a .npy file as a device tensor -----------------------------===//
//
// Three steps, each skipped when there is nothing to do: fetch the bytes, bring
// Fortran order to C order, convert the type. Bytes that need no conversion are
// moved as they are, so NaN payloads survive.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "Values.h"
#include "kilnrt/HostData/File.h"
#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

namespace kilnrt {
namespace {

using detail::loadAs;
using detail::printable;
using kiln::Severity;

Diagnostic outOfMemory(std::string_view name, uint64_t bytes) {
  return makeError(Fault::Limit, fmt::format("'{}' needs {} bytes, which the host does not have",
                                             printable(name), bytes));
}

/// A buffer of `bytes` bytes; the caller has checked that the file justifies
/// it.
Expected<std::vector<std::byte>> allocate(std::string_view name, uint64_t bytes) {
  try {
    return std::vector<std::byte>(bytes);
  } catch (const std::bad_alloc &) {
    return outOfMemory(name, bytes);
  }
}

//---- order --------------------------------------------------------------===//

/// Copies elements of `size` bytes from Fortran to C order. In the source,
/// neighbours along the last dimension lie a fixed step apart, so each row of
/// the result is one strided walk.
template <size_t size>
void gather(std::span<const int64_t> shape, const std::byte *source, std::byte *target) {
  const size_t rank = shape.size();
  std::vector<int64_t> step(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d)
    step[d] = step[d - 1] * shape[d - 1];
  int64_t start = 0;
  while (true) {
    for (int64_t i = 0; i < shape[rank - 1]; ++i, target += size)
      std::memcpy(target, source + (start + i * step[rank - 1]) * static_cast<int64_t>(size), size);
    size_t d = rank - 1;
    while (d-- > 0) {
      start += step[d];
      if (++index[d] < shape[d])
        break;
      start -= step[d] * shape[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1))
      return;
  }
}

void toCOrder(std::span<const int64_t> shape, unsigned size, const std::byte *source,
              std::byte *target) {
  switch (size) {
  case 1:
    return gather<1>(shape, source, target);
  case 2:
    return gather<2>(shape, source, target);
  case 4:
    return gather<4>(shape, source, target);
  default:
    return gather<8>(shape, source, target);
  }
}

//---- type ---------------------------------------------------------------===//

template <typename T>
void load(const std::byte *source, std::span<double> out) {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<double>(loadAs<T>(source + i * sizeof(T)));
}

/// Every type of a file is exact in float64.
void widen(NpyType type, const std::byte *source, std::span<double> out) {
  switch (type) {
  case NpyType::Float16:
    return detail::widen(DType::Float16, source, out);
  case NpyType::Float32:
    return load<float>(source, out);
  case NpyType::Float64:
    return load<double>(source, out);
  case NpyType::Int8:
    return load<int8_t>(source, out);
  case NpyType::Int16:
    return load<int16_t>(source, out);
  case NpyType::Int32:
    return load<int32_t>(source, out);
  case NpyType::UInt8:
    return load<uint8_t>(source, out);
  case NpyType::UInt16:
    return load<uint16_t>(source, out);
  case NpyType::UInt32:
    return load<uint32_t>(source, out);
  case NpyType::Bool: // any byte but 0 is True, as in NumPy
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = source[i] != std::byte{0};
    return;
  }
}

bool isFloatType(NpyType type) { return kiln::isa::isFloat(deviceDType(type)); }

/// True when the file's bytes are the device's bytes.
bool sameBytes(NpyType type, DType dtype) {
  // No device dtype has the representation of float64; a byte of a bool may be any but 0.
  return type != NpyType::Float64 && type != NpyType::Bool && deviceDType(type) == dtype;
}

/// Values a conversion could not represent: how many, and the first.
struct Misfits {
  int64_t count = 0;
  int64_t firstIndex = 0;
  double firstValue = 0;

  void add(int64_t index, double value) {
    if (count++ > 0)
      return;
    firstIndex = index;
    firstValue = value;
  }
};

/// Converts `count` values and returns those that do not fit: finite values
/// that become Inf or saturate, and, for integers, NaN and infinities.
Misfits convert(NpyType type, const std::byte *source, DType dtype, std::byte *target,
                int64_t count) {
  const bool floatTarget = kiln::isa::isFloat(dtype);
  const detail::ValueRange range = detail::rangeOf(dtype);
  const unsigned sourceStep = bytesOf(type), targetStep = kiln::isa::bytesOf(dtype);
  std::array<double, 1024> values, back;
  Misfits misfits;
  for (int64_t begin = 0; begin < count; begin += static_cast<int64_t>(values.size())) {
    const size_t n = std::min(values.size(), static_cast<size_t>(count - begin));
    widen(type, source + begin * sourceStep, {values.data(), n});
    detail::narrow(dtype, {values.data(), n}, target + begin * targetStep);
    if (floatTarget)
      detail::widen(dtype, target + begin * targetStep, {back.data(), n});
    for (size_t i = 0; i < n; ++i) {
      const double value = values[i];
      // Integer limits are even below and odd above, so the lower tie rounds
      // into the range and the upper one out of it.
      const bool fits = floatTarget ? !std::isinf(back[i]) || std::isinf(value)
                                    : value >= range.low - 0.5 && value < range.high + 0.5;
      if (!fits)
        misfits.add(begin + static_cast<int64_t>(i), value);
    }
  }
  return misfits;
}

std::string spell(double value, NpyType type) {
  if (type == NpyType::Float64)
    return fmt::format("{}", value);
  return detail::describeValue(value, isFloatType(type) ? DType::Float32 : DType::Int32);
}

void tell(std::vector<Diagnostic> &notes, Severity severity, std::string message) {
  notes.push_back(makeError(Fault::User, std::move(message)));
  notes.back().severity = severity;
}

/// Judges what `convert` found. Integers that do not fit are an error: they
/// would be other numbers.
Status reportMisfits(std::string_view name, const NpyHeader &header, DType dtype,
                     const Misfits &misfits, std::vector<Diagnostic> &notes) {
  if (misfits.count == 0)
    return Status::ok();
  const std::string file = printable(name);
  const std::string_view to = kiln::isa::name(dtype);
  const auto index = detail::unflatten(header.shape, misfits.firstIndex);
  const std::string first =
      fmt::format("the first is {} at {}", spell(misfits.firstValue, header.type),
                  detail::describeIndex(index));
  const std::string count = detail::countOf(misfits.count, "value");
  if (kiln::isa::isFloat(dtype)) {
    tell(notes, Severity::Warning,
         fmt::format("'{}': {} too large for {} became infinite, {}", file, count, to, first));
    return Status::ok();
  }
  const detail::ValueRange range = detail::rangeOf(dtype);
  const std::string limits = fmt::format("{} holds {:.0f} to {:.0f}", to, range.low, range.high);
  if (isFloatType(header.type)) {
    tell(notes, Severity::Warning,
         fmt::format("'{}': {} outside of {} saturated (NaN became 0), {}; {}", file, count, to,
                     first, limits));
    return Status::ok();
  }
  const std::string typed =
      detail::countOf(misfits.count, fmt::format("{} value", kilnrt::name(header.type)));
  return makeError(Fault::User,
                   fmt::format("'{}' holds {} that {} not fit {}, {}; {}", file, typed,
                               misfits.count == 1 ? "does" : "do", to, first, limits),
                   "cast on load to a float, as in 'file.npy:f32', or save smaller values");
}

/// The note about a conversion nobody asked for; none where every value is
/// the same in the dtype's own kind.
void noteConversion(std::string_view name, NpyType type, std::vector<Diagnostic> &notes) {
  const DType dtype = deviceDType(type);
  if (sameBytes(type, dtype) || type == NpyType::Bool)
    return;
  tell(notes, Severity::Note,
       fmt::format("'{}' holds {} values, {} {}", printable(name), kilnrt::name(type),
                   isFloatType(type) ? "rounded to" : "stored as", kiln::isa::name(dtype)));
}

//---- all of it ----------------------------------------------------------===//

Status checkLimit(std::string_view name, const NpyHeader &header, DType dtype, uint64_t maxBytes) {
  const auto bytes = detail::byteCount(header.shape, kiln::isa::bytesOf(dtype));
  if (bytes && *bytes <= maxBytes)
    return Status::ok();
  return makeError(Fault::Limit,
                   fmt::format("'{}' as {} {} needs {} bytes; a tensor has at most {}",
                               printable(name), detail::describeShape(header.shape),
                               kiln::isa::name(dtype),
                               bytes ? std::to_string(*bytes) : "more than 2^63", maxBytes));
}

/// `payload` holds the values as they stand in the file.
Expected<NpyArray> decode(std::string_view name, const NpyHeader &header, DType dtype,
                          std::vector<std::byte> payload, bool cast) {
  NpyArray result;
  if (!cast)
    noteConversion(name, header.type, result.notes);
  const int64_t count = static_cast<int64_t>(header.elements());
  if (header.fortranOrder && header.shape.size() > 1) {
    auto ordered = allocate(name, payload.size());
    if (!ordered)
      return ordered.error();
    toCOrder(header.shape, bytesOf(header.type), payload.data(), ordered->data());
    payload = std::move(*ordered);
  }
  if (!sameBytes(header.type, dtype)) {
    auto converted = allocate(name, static_cast<uint64_t>(count) * kiln::isa::bytesOf(dtype));
    if (!converted)
      return converted.error();
    Misfits misfits = convert(header.type, payload.data(), dtype, converted->data(), count);
    if (Status fit = reportMisfits(name, header, dtype, misfits, result.notes); !fit)
      return fit.error();
    payload = std::move(*converted);
  }
  result.array = {dtype, header.shape, std::move(payload)};
  return result;
}

} // namespace

Expected<NpyArray> readNpy(std::span<const std::byte> bytes, std::string_view name,
                           const NpyReadOptions &options) {
  auto header = parseNpyHeader(bytes, bytes.size(), name);
  if (!header)
    return header.error();
  const DType dtype = options.castTo.value_or(deviceDType(header->type));
  if (Status limit = checkLimit(name, *header, dtype, options.maxBytes); !limit)
    return limit.error();
  auto payload = allocate(name, bytes.size() - header->dataOffset);
  if (!payload)
    return payload.error();
  std::copy(bytes.begin() + static_cast<ptrdiff_t>(header->dataOffset), bytes.end(),
            payload->begin());
  return decode(name, *header, dtype, std::move(*payload), options.castTo.has_value());
}

namespace {

Expected<NpyHeader> readHeader(const InputFile &file, const std::string &path) {
  std::vector<std::byte> prefix(std::min(file.bytes(), kNpyPrefixBytes));
  if (Status status = file.read(0, prefix); !status)
    return status.error();
  return parseNpyHeader(prefix, file.bytes(), path);
}

} // namespace

Expected<NpyHeader> readNpyFileHeader(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return file.error();
  return readHeader(*file, path);
}

Expected<NpyArray> readNpyFile(const std::string &path, const NpyReadOptions &options) {
  auto file = InputFile::open(path);
  if (!file)
    return file.error();
  auto header = readHeader(*file, path);
  if (!header)
    return header.error();
  const DType dtype = options.castTo.value_or(deviceDType(header->type));
  if (Status limit = checkLimit(path, *header, dtype, options.maxBytes); !limit)
    return limit.error();
  auto payload = allocate(path, file->bytes() - header->dataOffset);
  if (!payload)
    return payload.error();
  if (Status status = file->read(header->dataOffset, *payload); !status)
    return status.error();
  return decode(path, *header, dtype, std::move(*payload), options.castTo.has_value());
}

} // namespace kilnrt
