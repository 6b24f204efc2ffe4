//===- Text.h - names and values as they appear in messages and listings ----------------------===//
//
// Private to the library: quoting that no hostile byte survives, nearest
// names, and the spelling of a place inside a stream.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_LIB_PROGRAM_TEXT_H
#define KILNRT_LIB_PROGRAM_TEXT_H

#include "kilnrt/Program.h"

#include <string>
#include <string_view>
#include <vector>

namespace kilnrt::text {

/// `s` in single quotes for a message: other than printable ASCII escaped,
/// cut after 60 bytes.
std::string quoted(std::string_view s);
/// `quoted` without the quotes.
std::string shown(std::string_view s);
/// Appends `s` in double quotes, lossless: printable ASCII as it is, the rest
/// as \n, \t, \\, \" or \xNN.
void appendString(std::string &out, std::string_view s);
/// A letter, '_' or '.' first, then letters, digits, '_' and '.'.
bool isIdentifier(std::string_view s);
/// The one of `names` closest to `word` by edit distance, when it is close
/// enough to be a slip; otherwise empty. Ties go to the first.
std::string_view nearest(std::string_view word, const std::vector<std::string_view> &names);
/// "did you mean 'x'?", or `names` as a list when nothing is near.
std::string suggest(std::string_view word, const std::vector<std::string_view> &names);
/// The spellings of an enum.
std::vector<std::string_view> namesOf(isa::EnumCases cases);
/// Whether `value` is one of `cases`.
bool hasCase(isa::EnumCases cases, uint32_t value);
/// "record 3 of the tensor stream, 'nc_matmul'"; without a mnemonic the last
/// part is left out.
std::string placeInStream(isa::Engine engine, size_t record, std::string_view mnemonic);

} // namespace kilnrt::text

#endif // KILNRT_LIB_PROGRAM_TEXT_H
