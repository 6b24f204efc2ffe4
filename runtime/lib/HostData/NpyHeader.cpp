//===- NpyHeader.cpp - the header of a .npy file ----------------------------------------------===//
//
// A header is a Python dict literal with the keys 'descr', 'fortran_order' and
// 'shape'. The parser takes exactly that language, in one pass and without
// recursion, so depth of nesting costs nothing. After the syntax come the
// checks that make a header trustworthy: type, shape, and values against file
// size.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "kilnrt/HostData/Npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kilnrt {
namespace {

using detail::printable;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kLongestHeader = kNpyPrefixBytes - 12;

struct TypeRow {
  NpyType type;
  std::string_view code; ///< in 'descr', without byte order
  std::string_view name; ///< NumPy's
  unsigned bytes;
  DType device;
};
constexpr TypeRow kTypes[] = {
    {NpyType::Float16, "f2", "float16", 2, DType::Float16},
    {NpyType::Float32, "f4", "float32", 4, DType::Float32},
    {NpyType::Float64, "f8", "float64", 8, DType::Float32},
    {NpyType::Int8, "i1", "int8", 1, DType::Int8},
    {NpyType::Int16, "i2", "int16", 2, DType::Int16},
    {NpyType::Int32, "i4", "int32", 4, DType::Int32},
    {NpyType::UInt8, "u1", "uint8", 1, DType::UInt8},
    {NpyType::UInt16, "u2", "uint16", 2, DType::UInt16},
    {NpyType::UInt32, "u4", "uint32", 4, DType::UInt32},
    {NpyType::Bool, "b1", "bool", 1, DType::UInt8},
};
const TypeRow &rowOf(NpyType type) { return kTypes[static_cast<size_t>(type)]; }

constexpr std::string_view kAllowedTypes =
    "float16, float32, float64, int8, int16, int32, uint8, uint16, uint32 and "
    "bool are read";
constexpr std::string_view kSaveAgain = "save the array again with numpy.save";

//---- the dict literal ---------------------------------------------------===//

/// A header before anything in it is believed.
struct RawHeader {
  std::optional<std::string> descr;
  bool structured = false; ///< descr is a list or tuple, kept in `descr` as text
  std::optional<bool> fortranOrder;
  std::optional<std::vector<uint64_t>> shape;
};

/// One pass over the text. The first fault is kept in `fault`; every function
/// returns false after one.
class DictParser {
public:
  explicit DictParser(std::string_view text) : text(text) {}

  bool parse(RawHeader &header) {
    if (!expect('{', "'{'"))
      return false;
    while (!accept('}')) {
      if (!entry(header))
        return false;
      if (header.structured)
        return true; // refused by type whatever follows
      if (!accept(',') && peek() != '}')
        return fail("expected ',' or '}'");
    }
    skipSpace();
    return at == text.size() || fail("expected nothing after '}'");
  }

  std::string fault;

private:
  std::string_view text;
  size_t at = 0;

  bool fail(std::string_view expectation) {
    std::string found =
        at < text.size() ? fmt::format("'{}'", printable(text.substr(at, 1))) : "the end";
    return failAs(fmt::format("{} at byte {}, found {}", expectation, at, found));
  }
  bool failAs(std::string what) {
    fault = std::move(what);
    return false;
  }
  void skipSpace() {
    while (at < text.size() &&
           std::string_view(" \t\r\n\f").find(text[at]) != std::string_view::npos)
      ++at;
  }
  char peek() {
    skipSpace();
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at >= text.size())
      return false;
    ++at;
    return true;
  }
  bool expect(char c, std::string_view what) {
    return accept(c) || fail(fmt::format("expected {}", what));
  }

  bool entry(RawHeader &header) {
    std::string key;
    if (!string(key, "a key in quotes"))
      return false;
    const bool known = key == "descr" || key == "fortran_order" || key == "shape";
    if (!known)
      return failAs(fmt::format(
          "unknown key '{}'; the keys are 'descr', 'fortran_order' and 'shape'", printable(key)));
    if ((key == "descr" && header.descr) || (key == "shape" && header.shape) ||
        (key == "fortran_order" && header.fortranOrder))
      return failAs(fmt::format("key '{}' stands twice", key));
    if (!expect(':', fmt::format("':' after key '{}'", key)))
      return false;
    if (key == "descr")
      return descr(header);
    if (key == "shape")
      return shape(header.shape.emplace());
    return boolean(header.fortranOrder.emplace());
  }

  bool string(std::string &value, std::string_view what) {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      return fail(fmt::format("expected {}", what));
    const size_t begin = ++at;
    while (at < text.size() && text[at] != quote) {
      if (text[at] == '\\' || text[at] < 0x20 || text[at] == 0x7f)
        return fail("expected a plain character in a string");
      ++at;
    }
    if (at >= text.size())
      return fail("expected the closing quote of a string");
    value = text.substr(begin, at++ - begin);
    return true;
  }

  bool descr(RawHeader &header) {
    const char first = peek();
    header.structured = first == '[' || first == '(';
    if (!header.structured)
      return string(header.descr.emplace(), "a dtype in quotes");
    header.descr = text.substr(at);
    return true;
  }

  bool boolean(bool &value) {
    skipSpace();
    for (bool candidate : {false, true}) {
      const std::string_view word = candidate ? "True" : "False";
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        value = candidate;
        return true;
      }
    }
    return fail("expected True or False");
  }

  bool shape(std::vector<uint64_t> &extents) {
    if (!expect('(', "a tuple of extents"))
      return false;
    bool comma = true;
    while (!accept(')')) {
      if (!comma)
        return fail("expected ',' or ')'");
      extents.push_back(0);
      if (!integer(extents.back(), extents.size() - 1))
        return false;
      comma = accept(',');
    }
    // Python reads "(3)" as the number 3.
    return comma || extents.size() != 1 ||
           failAs(
               fmt::format("shape ({0}) is a number; a tuple of one extent is ({0},)", extents[0]));
  }

  bool integer(uint64_t &value, size_t dimension) {
    skipSpace();
    const size_t begin = at;
    if (at < text.size() && text[at] == '-')
      ++at;
    const size_t digits = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    if (at == digits)
      return fail("expected an extent");
    const std::string_view written = text.substr(begin, at - begin);
    if (digits != begin)
      return failAs(
          fmt::format("extent {} of dimension {} is negative", printable(written), dimension));
    constexpr uint64_t most = std::numeric_limits<int64_t>::max();
    value = 0;
    for (char c : written) {
      const uint64_t digit = static_cast<uint64_t>(c - '0');
      if (value > (most - digit) / 10)
        return failAs(fmt::format("extent {} of dimension {} is above {}", printable(written),
                                  dimension, most));
      value = value * 10 + digit;
    }
    if (at < text.size() && text[at] == 'L') // Python 2 wrote long integers so
      ++at;
    return true;
  }
};

//---- what the dict says -------------------------------------------------===//

Diagnostic malformed(std::string_view name, std::string_view what,
                     std::string_view help = kSaveAgain) {
  return makeError(Fault::User,
                   fmt::format("'{}' has a malformed header: {}", printable(name), what),
                   std::string(help));
}

/// Why a dtype that is not in kTypes is refused, and the way out.
Diagnostic refuseType(std::string_view name, std::string_view descr) {
  const std::string_view code = descr.substr(std::min<size_t>(1, descr.size()));
  const char kind = code.empty() ? '\0' : code[0];
  const std::string found = printable(descr);
  auto refuse = [&](std::string_view what, std::string_view help) {
    return makeError(
        Fault::User,
        fmt::format("'{}' holds {} ('{}'); {}", printable(name), what, found, kAllowedTypes),
        std::string(help));
  };
  if (code == "i8" || code == "u8")
    return refuse("64-bit integers", "save a.astype(numpy.int32)");
  if (kind == 'c')
    return refuse("complex numbers", "save a.real and a.imag as two files");
  if (kind == 'f')
    return refuse("floats of an unsupported size", "save a.astype(numpy.float32)");
  if (kind == 'S' || kind == 'U' || kind == 'a')
    return refuse("text", "a tensor holds numbers");
  if (kind == 'O')
    return refuse("pickled Python objects", "save a.astype(numpy.float32)");
  if (kind == 'M' || kind == 'm')
    return refuse("dates or times", "save a.astype(numpy.float32)");
  if (code == "V1" || code == "V2")
    return refuse("raw bytes, as bfloat16 and float8 arrays are saved",
                  "save a.astype(numpy.float32) and cast on load, as in 'file.npy:bf16'");
  if (kind == 'V')
    return refuse("raw bytes", "save an array of numbers");
  return refuse("values of an unknown dtype", kSaveAgain);
}

Expected<NpyType> checkType(std::string_view name, const RawHeader &raw) {
  const std::string_view descr = *raw.descr;
  if (raw.structured)
    return makeError(
        Fault::User,
        fmt::format("'{}' holds records of a structured dtype; {}", printable(name), kAllowedTypes),
        "save one field of them, as in numpy.save('x.npy', a['field'])");
  const std::string_view code = descr.substr(std::min<size_t>(1, descr.size()));
  const auto *row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const TypeRow &r) { return r.code == code; });
  if (row == std::end(kTypes))
    return refuseType(name, descr);
  const char order = descr[0];
  // One byte has no order: '|' is what NumPy writes, other writers use the
  // rest.
  const bool ordered = row->bytes == 1
                           ? std::string_view("|<>=").find(order) != std::string_view::npos
                           : order == '<';
  if (ordered)
    return row->type;
  return makeError(
      Fault::User,
      fmt::format("'{}' holds {} {} values ('{}'); only little-endian ('{}{}') is read",
                  printable(name), order == '>' ? "big-endian" : "host-endian", row->name,
                  printable(descr), row->bytes == 1 ? '|' : '<', row->code),
      fmt::format("save a.astype('<{}')", row->code));
}

Expected<std::vector<int64_t>> checkShape(std::string_view name,
                                          const std::vector<uint64_t> &extents) {
  const unsigned maxRank = kiln::isa::machine.maxRank;
  if (extents.empty())
    return makeError(Fault::User,
                     fmt::format("'{}' has rank 0, a single value; a tensor has rank 1 to {}",
                                 printable(name), maxRank),
                     "save a.reshape(1), or pass the value itself as a scalar");
  if (extents.size() > maxRank)
    return makeError(Fault::User,
                     fmt::format("'{}' has rank {}; a tensor has rank 1 to {}", printable(name),
                                 extents.size(), maxRank),
                     "merge dimensions with a.reshape before saving");
  std::vector<int64_t> shape(extents.begin(), extents.end());
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 0)
      return makeError(Fault::User, fmt::format("'{}' has shape {} with extent 0 in "
                                                "dimension {}; every extent is at "
                                                "least 1",
                                                printable(name), detail::describeShape(shape), i));
  return shape;
}

/// The values must fill the rest of the file exactly.
Status checkSize(std::string_view name, const NpyHeader &header, uint64_t fileBytes) {
  const std::string array =
      fmt::format("{} {}", detail::describeShape(header.shape), kilnrt::name(header.type));
  const uint64_t present = fileBytes - header.dataOffset;
  const auto needed = detail::byteCount(header.shape, bytesOf(header.type));
  if (!needed)
    return makeError(Fault::User,
                     fmt::format("'{}' claims {} values, more than 2^63 bytes; "
                                 "the file has {} bytes of "
                                 "them",
                                 printable(name), array, present),
                     std::string(kSaveAgain));
  if (*needed > present)
    return makeError(Fault::User,
                     fmt::format("'{}' is truncated: {} values need {} bytes, the file has {}",
                                 printable(name), array, *needed, present),
                     std::string(kSaveAgain));
  if (*needed < present)
    return makeError(Fault::User,
                     fmt::format("'{}' has {} after its last value: {} values need {} "
                                 "bytes, the "
                                 "file has {}",
                                 printable(name),
                                 detail::countOf(static_cast<int64_t>(present - *needed), "byte"),
                                 array, *needed, present),
                     "a .npy file holds one array; save each in a file of its own");
  return Status::ok();
}

//---- the bytes before the dict ------------------------------------------===//

/// What a file that is not .npy seems to be.
Diagnostic refuseMagic(std::string_view name, std::string_view bytes) {
  auto refuse = [&](std::string_view what, std::string_view help) {
    return makeError(Fault::User, fmt::format("'{}' is not a .npy file: {}", printable(name), what),
                     std::string(help));
  };
  if (bytes.empty())
    return refuse("it is empty", kSaveAgain);
  if (kMagic.substr(0, bytes.size()) == bytes)
    return refuse("it ends inside the magic bytes", kSaveAgain);
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"))
    return refuse("it is a zip archive, such as .npz",
                  "save one array with numpy.save instead of numpy.savez");
  if (bytes.size() >= 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return refuse("it is a Python pickle",
                  "save the array with numpy.save and without allow_pickle");
  if (bytes.starts_with("\x1f\x8b"))
    return refuse("it is compressed with gzip", "unpack it first");
  if (bytes.starts_with("\x89HDF"))
    return refuse("it is an HDF5 file", "save the array with numpy.save");
  return refuse(
      fmt::format("it starts with '{}', not with '\\x93NUMPY'", printable(bytes.substr(0, 6))),
      "save the array with numpy.save");
}

struct Preamble {
  uint64_t headerOffset = 0, headerBytes = 0;
};

Expected<Preamble> readPreamble(std::string_view prefix, uint64_t fileBytes,
                                std::string_view name) {
  if (!prefix.starts_with(kMagic))
    return refuseMagic(name, prefix);
  auto byteAt = [&](size_t i) {
    return static_cast<uint64_t>(static_cast<unsigned char>(prefix[i]));
  };
  const auto cut = [&] {
    return malformed(name, fmt::format("the file ends after {} bytes", fileBytes));
  };
  if (prefix.size() < 8)
    return cut();
  const uint64_t major = byteAt(6), minor = byteAt(7);
  if (major < 1 || major > 3 || minor != 0)
    return makeError(
        Fault::User,
        fmt::format("'{}' has format version {}.{}; versions 1.0, 2.0 and 3.0 are read",
                    printable(name), major, minor),
        std::string(kSaveAgain));
  Preamble preamble;
  const size_t lengthBytes = major == 1 ? 2 : 4;
  preamble.headerOffset = 8 + lengthBytes;
  if (prefix.size() < preamble.headerOffset)
    return cut();
  for (size_t i = 0; i < lengthBytes; ++i)
    preamble.headerBytes |= byteAt(8 + i) << (8 * i);
  const uint64_t available = fileBytes - preamble.headerOffset;
  if (preamble.headerBytes > available)
    return malformed(name, fmt::format("it claims {} bytes, the file has {} after its length",
                                       preamble.headerBytes, available));
  if (preamble.headerBytes > kLongestHeader)
    return malformed(name, fmt::format("it has {} bytes; at most {} are read", preamble.headerBytes,
                                       kLongestHeader));
  return preamble;
}

} // namespace

std::string_view name(NpyType type) { return rowOf(type).name; }
unsigned bytesOf(NpyType type) { return rowOf(type).bytes; }
DType deviceDType(NpyType type) { return rowOf(type).device; }

uint64_t NpyHeader::elements() const { return *detail::byteCount(shape, 1); }

static Expected<NpyHeader> parseHeader(std::span<const std::byte> prefix, uint64_t fileBytes,
                                       std::string_view name) {
  const std::string_view bytes(reinterpret_cast<const char *>(prefix.data()), prefix.size());
  auto preamble = readPreamble(bytes, fileBytes, name);
  if (!preamble)
    return preamble.error();
  const std::string_view text = bytes.substr(preamble->headerOffset, preamble->headerBytes);
  for (size_t i = 0; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80)
      return malformed(name, fmt::format("byte {} is 0x{:02x}, not ASCII", i,
                                         static_cast<unsigned char>(text[i])));
  RawHeader raw;
  DictParser parser(text);
  if (!parser.parse(raw))
    return malformed(name, parser.fault);
  if (!raw.structured) {
    const std::pair<bool, std::string_view> keys[] = {
        {raw.descr.has_value(), "descr"},
        {raw.fortranOrder.has_value(), "fortran_order"},
        {raw.shape.has_value(), "shape"}};
    for (auto [present, key] : keys)
      if (!present)
        return malformed(name, fmt::format("key '{}' is missing", key));
  }
  auto type = checkType(name, raw);
  if (!type)
    return type.error();
  auto shape = checkShape(name, *raw.shape);
  if (!shape)
    return shape.error();
  NpyHeader header{*type, *raw.fortranOrder, std::move(*shape),
                   preamble->headerOffset + preamble->headerBytes};
  if (Status size = checkSize(name, header, fileBytes); !size)
    return size.error();
  return header;
}

Expected<NpyHeader> parseNpyHeader(std::span<const std::byte> prefix, uint64_t fileBytes,
                                   std::string_view name) {
  auto header = parseHeader(prefix, fileBytes, name);
  if (header)
    return header;
  Diagnostic d = header.error();
  d.rule = "X-05"; // whatever is wrong with it: the file is not what its name says
  return d;
}

} // namespace kilnrt
