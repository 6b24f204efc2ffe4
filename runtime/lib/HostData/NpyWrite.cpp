//===- NpyWrite.cpp - device tensors as .npy files --------------------------------------------===//
//
// Byte for byte what numpy.save writes, so a file that went through Kiln cannot
// be told from NumPy's own.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "Values.h"
#include "kilnrt/HostData/File.h"
#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>

#include <array>
#include <new>

namespace kilnrt {
namespace {

/// How the elements of a dtype are written.
struct Encoding {
  std::string_view descr;
  bool asFloat32; ///< 8 and 16-bit floats as float32 values
};

Encoding encodingOf(DType dtype, bool raw) {
  switch (dtype) {
  case DType::Float32:
  case DType::TFloat32: // its values are floats
    return {"<f4", false};
  case DType::Float8E4M3:
  case DType::Float8E5M2:
  case DType::Float8E4M3FN:
    return raw ? Encoding{"|u1", false} : Encoding{"<f4", true};
  case DType::BFloat16:
  case DType::Float16:
    return raw ? Encoding{"<u2", false} : Encoding{"<f4", true};
  case DType::Int32:
    return {"<i4", false};
  case DType::UInt8:
    return {"|u1", false};
  case DType::Int8:
    return {"|i1", false};
  case DType::Int16:
    return {"<i2", false};
  case DType::UInt16:
    return {"<u2", false};
  case DType::UInt32:
    return {"<u4", false};
  }
  return {"", false};
}

std::string header(const HostArray &array, std::string_view descr) {
  std::string shape;
  for (int64_t extent : array.shape)
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  if (array.shape.size() == 1)
    shape += ","; // Python's tuple of one
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  // Magic, version and length take 10 bytes. NumPy also leaves room for the first extent to grow,
  // but with at most five extents the padding to 64 gives 128 bytes either way.
  constexpr size_t preamble = 10, alignment = 64;
  dict.append(alignment - (preamble + dict.size() + 1) % alignment, ' ');
  dict += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dict.size() & 0xff);
  bytes += static_cast<char>(dict.size() >> 8);
  return bytes + dict;
}

/// The header, and the values where they are not the array's own bytes.
struct Encoded {
  std::string header;
  std::vector<std::byte> converted;
  std::span<const std::byte> values; ///< into `converted` or into the array
};

/// Fills `result` in place: `values` may point into it, so it does not move.
Status encode(const HostArray &array, const NpyWriteOptions &options, Encoded &result) {
  bool sane = !array.shape.empty() && array.shape.size() <= kiln::isa::machine.maxRank;
  for (int64_t extent : array.shape)
    sane = sane && extent >= 1;
  const unsigned elementBytes = kiln::isa::bytesOf(array.dtype);
  if (!sane || detail::byteCount(array.shape, elementBytes) != array.data.size())
    return makeError(Fault::Internal,
                     fmt::format("an array of shape {} with {} bytes cannot be written",
                                 detail::describeIndex(array.shape), array.data.size()));
  const Encoding encoding = encodingOf(array.dtype, options.raw);
  result.header = header(array, encoding.descr);
  result.values = array.data;
  if (!encoding.asFloat32)
    return Status::ok();
  const size_t count = array.data.size() / elementBytes;
  try {
    result.converted.resize(count * sizeof(float));
  } catch (const std::bad_alloc &) {
    return makeError(Fault::Limit,
                     fmt::format("writing {} {} values as float32 needs {} bytes, which the "
                                 "host does not have",
                                 detail::describeShape(array.shape), kiln::isa::name(array.dtype),
                                 count * sizeof(float)));
  }
  std::array<double, 1024> values;
  for (size_t begin = 0; begin < count; begin += values.size()) {
    const std::span<double> part(values.data(), std::min(values.size(), count - begin));
    detail::widen(array.dtype, array.data.data() + begin * elementBytes, part);
    detail::narrow(DType::Float32, part, result.converted.data() + begin * sizeof(float));
  }
  result.values = result.converted;
  return Status::ok();
}

} // namespace

Expected<std::vector<std::byte>> encodeNpy(const HostArray &array, const NpyWriteOptions &options) {
  Encoded encoded;
  if (Status status = encode(array, options, encoded); !status)
    return status.error();
  const auto head = std::as_bytes(std::span(encoded.header));
  std::vector<std::byte> bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), encoded.values.begin(), encoded.values.end());
  return bytes;
}

Status writeNpyFile(const std::string &path, const HostArray &array,
                    const NpyWriteOptions &options) {
  Encoded encoded;
  if (Status status = encode(array, options, encoded); !status)
    return status;
  return replaceFile(path, {std::as_bytes(std::span(encoded.header)), encoded.values});
}

} // namespace kilnrt
