//===- Argument.cpp - the ARG texts of the command line ---------------------------------------===//
//
// Decides what a text is: scalar, generator, file, or string. A string comes
// last and only where the text is not nearly one of the others: a kernel that
// is handed a misspelt file name as a string would fail far from the cause.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/Argument.h"

#include "Text.h"
#include "Values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

namespace kilnrt {
namespace {

using detail::printable;
using kiln::Severity;

struct Generator {
  std::string_view name;
  TensorSource source;
};
constexpr Generator kGenerators[] = {
    {"zeros", TensorSource::Zeros}, {"ones", TensorSource::Ones},   {"iota", TensorSource::Iota},
    {"rand", TensorSource::Rand},   {"randn", TensorSource::Randn},
};

constexpr std::string_view kDTypes = "float32, bfloat16, float16, tfloat32, float8_e4m3, "
                                     "float8_e5m2, float8_e4m3fn, int32, uint8, int8, "
                                     "int16, uint16 and uint32";

Diagnostic usage(std::string message, std::string help) {
  return makeError(Fault::Usage, std::move(message), std::move(help));
}

bool isDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}
bool startsWithDigit(std::string_view text) { return !text.empty() && isDigits(text.substr(0, 1)); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + 1))
    fields.push_back(text.substr(0, end));
  fields.push_back(text);
  return fields;
}

bool endsWithNpy(std::string_view text) {
  if (text.size() < 4)
    return false;
  std::string end(text.substr(text.size() - 4));
  for (char &c : end)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return end == ".npy";
}

//---- dtypes -------------------------------------------------------------===//

/// Spellings beyond the instruction table's.
constexpr std::pair<std::string_view, DType> kDTypeAliases[] = {
    {"fp32", DType::Float32},       {"fp16", DType::Float16}, {"fp8e4m3", DType::Float8E4M3},
    {"fp8e5m2", DType::Float8E5M2}, {"bool", DType::UInt8},   {"u8", DType::UInt8},
    {"u16", DType::UInt16},         {"u32", DType::UInt32}};

Diagnostic unknownDType(std::string_view text, std::string_view spelt) {
  const bool number = isDigits(spelt);
  std::vector<std::string> known = {
      "f32",         "bf16",        "f16",           "i32",      "u8",      "ui8",    "fp32",
      "fp16",        "float32",     "bfloat16",      "float16",  "int32",   "uint8",  "i8",
      "i16",         "u16",         "u32",           "ui16",     "ui32",    "int8",   "int16",
      "uint16",      "uint32",      "tf32",          "tfloat32", "f8E4M3",  "f8E5M2", "f8E4M3FN",
      "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "fp8e4m3",  "fp8e5m2", "bool"};
  // Two letters are near everything.
  auto nearest = detail::nearestWord(spelt, known,
                                     spelt.size() < 3 ? 0 : std::min<size_t>(2, spelt.size() / 2));
  std::string help = number    ? "a seed stands after the dtype, as in 'rand:4x4:f32:7'"
                     : nearest ? fmt::format("did you mean '{}'?", *nearest)
                               : "write 'f32', 'bf16', 'f16', 'tf32', 'fp8e4m3', 'fp8e5m2', 'i32', "
                                 "'u8', 'i8', 'i16', 'u16' or "
                                 "'u32'";
  return usage(
      fmt::format("'{}' has dtype '{}'; dtypes are {}", printable(text), printable(spelt), kDTypes),
      std::move(help));
}

//---- scalars ------------------------------------------------------------===//

using Value = decltype(Argument::value);
/// Nothing: the text is not a scalar.
using MaybeScalar = std::optional<Expected<Value>>;

/// True for digits with an optional point and exponent, after the sign.
bool looksDecimal(std::string_view text, bool &isInteger) {
  const auto digits = [&] {
    size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(n);
    return n;
  };
  size_t mantissa = digits();
  isInteger = text.empty();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0)
    return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-'))
      text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  return text.empty();
}

Expected<Value> parseInteger(std::string_view text, std::string_view signedDigits) {
  int64_t value = 0;
  if (std::from_chars(signedDigits.data(), signedDigits.data() + signedDigits.size(), value).ec !=
      std::errc())
    return usage(fmt::format("integer '{}' does not fit 64 bits; it is at "
                             "least -2^63 and below 2^63",
                             printable(text)),
                 "write a float, as in '1e20'");
  return Value(value);
}

Expected<Value> parseFloat(std::string_view text, std::string_view signedDecimal) {
  double value = 0;
  if (std::from_chars(signedDecimal.data(), signedDecimal.data() + signedDecimal.size(), value)
          .ec != std::errc())
    return usage(fmt::format("number '{}' is out of the range of float64", printable(text)),
                 "write 'inf', '-inf' or '0' if that is meant");
  return Value(value);
}

MaybeScalar parseScalar(std::string_view text) {
  if (text == "true" || text == "false")
    return Expected<Value>(Value(text == "true"));
  if (text == "True" || text == "False")
    return Expected<Value>(
        usage(fmt::format("'{}' is Python's spelling; a bool is 'true' or 'false'", text),
              fmt::format("write '{}'", text == "True" ? "true" : "false")));
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = text.substr(negative || text.starts_with('+') ? 1 : 0);
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (magnitude == "inf")
    return Expected<Value>(Value(negative ? -inf : inf));
  if (text == "nan")
    return Expected<Value>(Value(std::numeric_limits<double>::quiet_NaN()));
  bool isInteger = false;
  if (!looksDecimal(magnitude, isInteger))
    return std::nullopt;
  const std::string_view number = negative ? text : magnitude; // from_chars takes no '+'
  return isInteger ? parseInteger(text, number) : parseFloat(text, number);
}

//---- generators ---------------------------------------------------------===//

Expected<std::vector<int64_t>> parseShape(std::string_view text, std::string_view spelt) {
  const unsigned maxRank = kiln::isa::machine.maxRank;
  const auto wrong = [&](std::string_view what) {
    std::string usual(spelt);
    std::replace_if(
        usual.begin(), usual.end(),
        [](char c) { return std::string_view(",*X").find(c) != std::string_view::npos; }, 'x');
    bool fixed = usual != spelt && usual.find_first_not_of("0123456789x") == std::string::npos;
    return usage(fmt::format("'{}' has shape '{}'; {}", printable(text), printable(spelt), what),
                 fixed ? fmt::format("write '{}'", usual)
                       : "a shape is extents joined by 'x', as in '512x256'");
  };
  if (spelt.empty())
    return usage(fmt::format("'{}' has no shape", printable(text)),
                 "a shape is extents joined by 'x', as in '512x256'");
  std::vector<int64_t> shape;
  for (std::string_view extent : split(spelt, 'x')) {
    if (!isDigits(extent))
      return wrong(fmt::format("'{}' is not an extent", printable(extent)));
    int64_t value = 0;
    if (std::from_chars(extent.data(), extent.data() + extent.size(), value).ec != std::errc())
      return wrong(fmt::format("extent {} is above {}", printable(extent),
                               std::numeric_limits<int64_t>::max()));
    if (value == 0)
      return wrong(fmt::format("extent {} is 0; every extent is at least 1", shape.size()));
    shape.push_back(value);
  }
  if (shape.size() > maxRank)
    return wrong(fmt::format("that is rank {}; a tensor has rank 1 to {}", shape.size(), maxRank));
  return shape;
}

Status checkBytes(std::string_view text, std::span<const int64_t> shape, DType dtype,
                  uint64_t maxBytes) {
  const auto bytes = detail::byteCount(shape, kiln::isa::bytesOf(dtype));
  if (bytes && *bytes <= maxBytes)
    return Status::ok();
  return makeError(Fault::Limit,
                   fmt::format("'{}' needs {} bytes; a tensor has at most {}", printable(text),
                               bytes ? std::to_string(*bytes) : "more than 2^63", maxBytes));
}

/// Values some dtypes cannot hold.
Status checkRange(std::string_view text, const TensorArgument &tensor,
                  std::vector<Diagnostic> &notes) {
  const std::string_view dtype = kiln::isa::name(tensor.dtype);
  const bool random = tensor.source == TensorSource::Rand || tensor.source == TensorSource::Randn;
  if (random && !kiln::isa::isFloat(tensor.dtype))
    return usage(fmt::format("'{}' asks for random {} values; random values are floats",
                             printable(text), dtype),
                 "use a float dtype such as float32, or save random integers from NumPy");
  if (tensor.source != TensorSource::Iota)
    return Status::ok();
  const auto last = static_cast<double>(*detail::byteCount(tensor.shape, 1) - 1);
  const double most = detail::rangeOf(tensor.dtype).high;
  if (last > most)
    return usage(fmt::format("'{}' counts to {:.0f}; {} holds at most {:.0f}", printable(text),
                             last, dtype, most),
                 "use int32 or float32, or a smaller shape");
  if (!detail::holdsIntegersTo(tensor.dtype, last)) {
    Diagnostic note = usage(fmt::format("'{}' counts to {:.0f}; large values are rounded to {}",
                                        printable(text), last, dtype),
                            "");
    note.severity = Severity::Note;
    notes.push_back(std::move(note));
  }
  return Status::ok();
}

Status parseSeed(std::string_view text, std::span<const std::string_view> fields,
                 TensorArgument &tensor) {
  const bool random = tensor.source == TensorSource::Rand || tensor.source == TensorSource::Randn;
  if (!random)
    return usage(
        fmt::format("'{}' has a field after the dtype; '{}' takes "
                    "only a shape and a dtype",
                    printable(text), fields[0]),
        fmt::format("write '{}:{}:{}'", fields[0], printable(fields[1]), printable(fields[2])));
  if (fields.size() > 4)
    return usage(fmt::format("'{}' has {} fields; '{}' takes a shape, a dtype and a seed",
                             printable(text), fields.size() - 1, fields[0]),
                 fmt::format("write '{}:{}:{}:{}'", fields[0], printable(fields[1]),
                             printable(fields[2]), printable(fields[3])));
  const std::string_view seed = fields[3];
  const bool parsed =
      isDigits(seed) &&
      std::from_chars(seed.data(), seed.data() + seed.size(), tensor.seed).ec == std::errc();
  if (!parsed)
    return usage(fmt::format("'{}' has seed '{}'; a seed is an integer from 0 to {}",
                             printable(text), printable(seed),
                             std::numeric_limits<uint64_t>::max()),
                 "write a seed such as '7', or leave it out");
  tensor.stream = 0;
  return Status::ok();
}

Expected<Argument> parseGenerator(std::string_view text, std::span<const std::string_view> fields,
                                  TensorSource source, const ArgumentOptions &options) {
  Argument argument{std::string(text), {}, {}};
  TensorArgument tensor;
  tensor.source = source;
  tensor.stream = options.position;
  tensor.maxBytes = options.maxTensorBytes;
  auto shape = parseShape(text, fields[1]);
  if (!shape)
    return shape.error();
  tensor.shape = std::move(*shape);
  if (fields.size() > 2) {
    auto dtype = parseArgumentDType(fields[2]);
    if (!dtype)
      return unknownDType(text, fields[2]);
    tensor.dtype = *dtype;
  }
  if (fields.size() > 3)
    if (Status seed = parseSeed(text, fields, tensor); !seed)
      return seed.error();
  if (Status bytes = checkBytes(text, tensor.shape, tensor.dtype, options.maxTensorBytes); !bytes)
    return bytes.error();
  if (Status range = checkRange(text, tensor, argument.notes); !range)
    return range.error();
  argument.value = std::move(tensor);
  return argument;
}

/// An error where the text is nearly a generator.
Status refuseMisspelt(std::string_view text, std::span<const std::string_view> fields) {
  const auto isShape = [](std::string_view field) {
    // "0x10" is some number, not a shape.
    return startsWithDigit(field) && field[0] != '0' &&
           field.find_first_not_of("0123456789x") == std::string_view::npos;
  };
  if (fields.size() == 1) {
    if (isShape(text) && text.find('x') != std::string_view::npos)
      return usage(fmt::format("'{}' is a shape without a generator", printable(text)),
                   fmt::format("write 'zeros:{0}', 'ones:{0}', 'iota:{0}', 'rand:{0}' "
                               "or 'randn:{0}'",
                               printable(text)));
    return Status::ok();
  }
  std::vector<std::string> names;
  for (const Generator &generator : kGenerators)
    names.emplace_back(generator.name);
  const auto nearest = detail::nearestWord(fields[0], names, 2);
  const bool shaped = isShape(fields[1]) && fields[1].find('x') != std::string_view::npos;
  const bool typed =
      fields.size() > 2 && startsWithDigit(fields[1]) && parseArgumentDType(fields[2]);
  if (!shaped && !typed && !(nearest && startsWithDigit(fields[1])))
    return Status::ok();
  std::string help = "generators are 'zeros', 'ones', 'iota', 'rand' and 'randn'";
  if (nearest)
    help = fmt::format("did you mean '{}{}'?", *nearest, printable(text.substr(fields[0].size())));
  return usage(fmt::format("'{}' names no generator: '{}'", printable(text), printable(fields[0])),
               help);
}

//---- files --------------------------------------------------------------===//

/// Help for a file that is not there: the nearest .npy beside it.
std::string suggestFile(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr size_t mostEntries = 4096; // a huge folder is not worth the wait
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code code;
  size_t seen = 0;
  for (fs::directory_iterator it(folder, code), end; !code && it != end && seen < mostEntries;
       it.increment(code), ++seen) {
    std::string name = it->path().filename().string();
    if (endsWithNpy(name))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  const std::string name = wanted.filename().string();
  const auto nearest = detail::nearestWord(name, names, std::max<size_t>(2, name.size() / 4));
  if (!nearest)
    return fmt::format("save it with numpy.save, or let Kiln make values, as "
                       "in 'rand:512x256:f32'");
  return fmt::format(
      "did you mean '{}'?",
      printable(wanted.has_parent_path() ? (wanted.parent_path() / *nearest).string() : *nearest));
}

Expected<Argument> parseFile(std::string_view text, std::string path, std::optional<DType> castTo,
                             const ArgumentOptions &options) {
  std::error_code code;
  if (!std::filesystem::exists(path, code) && !code)
    return makeError(Fault::User, fmt::format("there is no file '{}'", printable(path)),
                     suggestFile(path), "X-05");
  auto header = readNpyFileHeader(path);
  if (!header)
    return header.error();
  TensorArgument tensor;
  tensor.source = TensorSource::File;
  tensor.dtype = castTo.value_or(deviceDType(header->type));
  tensor.shape = std::move(header->shape);
  tensor.path = std::move(path);
  tensor.castTo = castTo;
  tensor.maxBytes = options.maxTensorBytes;
  if (Status bytes = checkBytes(text, tensor.shape, tensor.dtype, options.maxTensorBytes); !bytes)
    return bytes.error();
  return Argument{std::string(text), std::move(tensor), {}};
}

/// Files of arrays that only look like an argument Kiln takes.
Status refuseOtherFormats(std::string_view text) {
  for (std::string_view ending : {".npz", ".pkl", ".pt", ".pth", ".safetensors"})
    if (text.ends_with(ending))
      return usage(fmt::format("'{}' is a '{}' file; tensors are read from .npy files",
                               printable(text), ending),
                   "save one array with numpy.save");
  return Status::ok();
}

} // namespace

std::optional<DType> parseArgumentDType(std::string_view text) {
  for (auto [alias, dtype] : kDTypeAliases)
    if (alias == text)
      return dtype;
  return kiln::isa::parseDType(text);
}

Expected<Argument> parseArgument(std::string_view text, const ArgumentOptions &options) {
  if (MaybeScalar scalar = parseScalar(text)) {
    if (!*scalar)
      return scalar->error();
    return Argument{std::string(text), std::move(**scalar), {}};
  }
  const std::vector<std::string_view> fields = split(text, ':');
  if (fields.size() > 1)
    for (const Generator &generator : kGenerators)
      if (generator.name == fields[0])
        return parseGenerator(text, fields, generator.source, options);
  if (endsWithNpy(text))
    return parseFile(text, std::string(text), std::nullopt, options);
  if (fields.size() > 1) {
    const std::string_view cast = fields.back();
    const std::string_view path = text.substr(0, text.size() - cast.size() - 1);
    if (endsWithNpy(path)) {
      auto dtype = parseArgumentDType(cast);
      if (!dtype)
        return unknownDType(text, cast);
      return parseFile(text, std::string(path), dtype, options);
    }
  }
  if (Status other = refuseOtherFormats(text); !other)
    return other.error();
  if (Status misspelt = refuseMisspelt(text, fields); !misspelt)
    return misspelt.error();
  return Argument{std::string(text), std::string(text), {}};
}

} // namespace kilnrt
