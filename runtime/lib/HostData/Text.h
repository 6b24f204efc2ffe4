//===- Text.h - spellings shared by this library's messages -----------------------------------===//
//
// How a shape, an index or a number is written, and which known word a misspelt
// one is nearest to.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_HOSTDATA_TEXT_H
#define KILNRT_LIB_HOSTDATA_TEXT_H

#include "kilnrt/HostArray.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kilnrt::detail {

/// "512x256".
std::string describeShape(std::span<const int64_t> shape);
/// "[3, 0]": an index of an array.
std::string describeIndex(std::span<const int64_t> index);
/// Index of element `flat` of a C-order array.
std::vector<int64_t> unflatten(std::span<const int64_t> shape, int64_t flat);
/// `value`, which is exact in `dtype`, with the fewest digits that name it
/// there.
std::string describeValue(double value, DType dtype);
/// "1 value" or "3 values".
std::string countOf(int64_t count, std::string_view noun);
/// `text` for a message: control and non-ASCII bytes as \xNN, cut after 60
/// bytes.
std::string printable(std::string_view text);

/// Number of insertions, deletions, replacements and swaps of neighbours
/// between two short words.
size_t editDistance(std::string_view a, std::string_view b);
/// The word nearest to `text`, at most `limit` edits away; the first of
/// several.
std::optional<std::string> nearestWord(std::string_view text, std::span<const std::string> words,
                                       size_t limit);

/// Product of the extents times `elementBytes`, or nothing when it does not fit
/// 63 bits.
std::optional<uint64_t> byteCount(std::span<const int64_t> shape, uint64_t elementBytes);

} // namespace kilnrt::detail

#endif // KILNRT_LIB_HOSTDATA_TEXT_H
