//===- NpyBytes.h - .npy files made by hand ---------------------------------------------------===//
//
// Builds the bytes of right and wrong .npy files for the tests of the reader.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_HOSTDATA_NPYBYTES_H
#define KILN_TEST_UNIT_HOSTDATA_NPYBYTES_H

#include "kilnrt/HostArray.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kilnrt::test {

using Bytes = std::vector<std::byte>;

inline void append(Bytes &bytes, std::string_view text) {
  for (char c : text)
    bytes.push_back(static_cast<std::byte>(c));
}

/// The values' bytes.
template <typename T>
Bytes bytesOfValues(std::initializer_list<T> values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> valuesOf(const HostArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), values.size() * sizeof(T));
  return values;
}

template <typename T>
HostArray arrayOf(DType dtype, std::vector<int64_t> shape, std::initializer_list<T> values) {
  return {dtype, std::move(shape), bytesOfValues(values)};
}

/// A file of version `major`.0 whose header is `dict` as it stands.
inline Bytes npy(std::string_view dict, const Bytes &payload, int major = 1) {
  Bytes bytes;
  append(bytes, "\x93NUMPY");
  bytes.push_back(static_cast<std::byte>(major));
  bytes.push_back(std::byte{0});
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes.push_back(static_cast<std::byte>(dict.size() >> (8 * i)));
  append(bytes, dict);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

/// A dict in NumPy's own form.
inline std::string dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(descr) +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }\n";
}

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_HOSTDATA_NPYBYTES_H
