//===- Argument.h - the ARG texts of the command line -----------------------------------------===//
//
//   file.npy              the array in a file              zeros:SHAPE[:DTYPE]
//   file.npy:bf16         the same, cast on load           ones:SHAPE[:DTYPE]
//   3, -1.5, inf          a scalar                         iota:SHAPE[:DTYPE]
//   0, 1, 2, ... true, false           a scalar rand:SHAPE[:DTYPE[:SEED]]
//   uniform in [0, 1) any other text        a string randn:SHAPE[:DTYPE[:SEED]]
//   normal, 0 and 1
//
// SHAPE is extents joined by 'x' (512x256), DTYPE is float32 when left out.
// Parsing learns dtype and shape (of a file: from its header), which is all a
// compiler needs; materialising makes the values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_ARGUMENT_H
#define KILNRT_HOSTDATA_ARGUMENT_H

#include "kilnrt/HostData/Npy.h"

#include <variant>

namespace kilnrt {

/// Where the values of a tensor argument come from.
enum class TensorSource : uint8_t { File, Zeros, Ones, Iota, Rand, Randn };

/// A tensor argument whose values do not exist yet.
struct TensorArgument {
  DType dtype = DType::Float32; ///< after the cast, if there is one
  std::vector<int64_t> shape;   ///< 1 to `machine.maxRank` extents, each at least 1
  TensorSource source = TensorSource::Zeros;

  std::string path;            ///< File
  std::optional<DType> castTo; ///< File: the cast that was written

  uint64_t seed = 0;   ///< Rand, Randn
  uint32_t stream = 0; ///< Rand, Randn: see parseArgument

  uint64_t maxBytes = kDefaultMaxTensorBytes; ///< limit it was parsed under
};

/// One parsed ARG.
struct Argument {
  std::string text; ///< as given
  std::variant<TensorArgument, int64_t, double, bool, std::string> value;
  std::vector<Diagnostic> notes; ///< what the user should know already
};

struct ArgumentOptions {
  uint32_t position = 0; ///< index among the ARGs of the command line
  uint64_t maxTensorBytes = kDefaultMaxTensorBytes;
};

/// Parses one ARG. Faults in the text are Fault::Usage, in a file Fault::User,
/// a tensor too large Fault::Limit. Text that is nearly a generator or a file
/// is an error, not a string.
///
/// Random values are a function of (seed, element index) where a seed is
/// written, so the same text gives the same values in every position. Without a
/// seed it is 0 and each position has its own stream: `rand:4x4 rand:4x4` are
/// two different tensors.
Expected<Argument> parseArgument(std::string_view text, const ArgumentOptions &options = {});

/// Makes the values. What the user should know about them is appended to
/// `notes`. A file that no longer has the dtype and shape it was
/// parsed with is an error.
Expected<HostArray> materialise(const TensorArgument &argument, std::vector<Diagnostic> &notes);

/// The dtype spelled `text` in an ARG: NKI's names ("bfloat16"), the table's
/// short ones ("bf16") and the usual aliases ("fp32", "fp16", "u8").
std::optional<DType> parseArgumentDType(std::string_view text);

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_ARGUMENT_H
