//===- Npy.h - reads and writes NumPy's .npy files --------------------------------------------===//
//
// Format versions 1.0, 2.0 and 3.0; little-endian values; C or Fortran order.
// Every malformed file is an error value that says what was found, what is
// allowed and what to do; no file, whatever its bytes, makes the reader
// allocate more than the file itself justifies. Archives (.npz) and pickles are
// named and refused.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_NPY_H
#define KILNRT_HOSTDATA_NPY_H

#include "kilnrt/Expected.h"
#include "kilnrt/HostArray.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kilnrt {

/// Tensors above this many bytes are refused unless the caller raises the limit
/// (4 GiB).
inline constexpr uint64_t kDefaultMaxTensorBytes = uint64_t{4} << 30;

/// Element types of a file this reader takes. Float64 and Bool are converted, all others are dtypes
/// of the device.
enum class NpyType : uint8_t {
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  UInt8,
  UInt16,
  UInt32,
  Bool
};

/// NumPy's name of the type, such as "float64".
std::string_view name(NpyType type);
/// Size of one element in a file.
unsigned bytesOf(NpyType type);
/// The device dtype a file of this type becomes when no cast is asked for:
/// float64 becomes float32, bool becomes uint8, every other type stays what it is.
DType deviceDType(NpyType type);

/// What a file says about its array. Every extent is at least 1, there are 1 to
/// `machine.maxRank` of them, and the file holds exactly the values they call
/// for.
struct NpyHeader {
  NpyType type = NpyType::Float32;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  uint64_t dataOffset = 0; ///< bytes before the first value

  uint64_t elements() const;
  bool operator==(const NpyHeader &) const = default;
};

/// An array and what the user should know about how it was read: notes on
/// conversions of type, and warnings on values that a cast could not represent.
struct NpyArray {
  HostArray array;
  std::vector<Diagnostic> notes;
};

struct NpyReadOptions {
  /// Convert each value to this dtype, in one rounding to nearest even. Floats
  /// that are too large become Inf (float targets) or saturate (integer
  /// targets), NaN becomes integer 0; a warning counts them. Integers that do
  /// not fit an integer dtype are an error.
  std::optional<DType> castTo;
  uint64_t maxBytes = kDefaultMaxTensorBytes; ///< for the array that is returned; more is
                                              ///< Fault::Limit
};

/// Reads the header of a file of `fileBytes` bytes that begins with `prefix`.
/// The prefix is the whole file or at least `kNpyPrefixBytes` of it. `name`
/// stands for the file in messages.
Expected<NpyHeader> parseNpyHeader(std::span<const std::byte> prefix, uint64_t fileBytes,
                                   std::string_view name);
/// The longest beginning of a file `parseNpyHeader` looks at: the largest
/// header it accepts.
inline constexpr uint64_t kNpyPrefixBytes = 12 + 65535;

/// Reads the array in `bytes`, in C order and in a device dtype.
Expected<NpyArray> readNpy(std::span<const std::byte> bytes, std::string_view name,
                           const NpyReadOptions &options = {});
/// Reads a regular file.
Expected<NpyArray> readNpyFile(const std::string &path, const NpyReadOptions &options = {});
/// Reads only the header of a regular file.
Expected<NpyHeader> readNpyFileHeader(const std::string &path);

struct NpyWriteOptions {
  /// Write 16-bit floats as their bits (uint16) instead of as float32 values.
  bool raw = false;
};

/// The bytes NumPy itself would write for `array`: version 1.0, C order, header
/// padded to 64 bytes. float32 and integers are written as they are,
/// bfloat16 and float16 as float32 values (exact).
Expected<std::vector<std::byte>> encodeNpy(const HostArray &array,
                                           const NpyWriteOptions &options = {});
/// Writes `array` to `path`: a temporary file beside it is renamed over it, so
/// `path` holds the old or the new array and never a part. A path that is a
/// device or a pipe is written to directly.
Status writeNpyFile(const std::string &path, const HostArray &array,
                    const NpyWriteOptions &options = {});

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_NPY_H
