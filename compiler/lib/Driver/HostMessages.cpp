//===- HostMessages.cpp - what a host compiler says, in the kernel's terms --------------------===//

#include "HostMessages.h"

#include "kiln/Trace/Tracer.h"

#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace kiln::driver {
namespace {

struct Line {
  enum class Kind { Error, Note, Required, Other };
  Kind kind = Kind::Other;
  std::string_view file;
  unsigned number = 0;
  std::string_view text; ///< after "error: "
};

/// Splits "file:12:7: error: text".
Line readLine(std::string_view all) {
  Line line;
  // The file ends at the first ":digits:".
  for (size_t colon = all.find(':'); colon != std::string_view::npos;
       colon = all.find(':', colon + 1)) {
    auto [end, problem] =
        std::from_chars(all.data() + colon + 1, all.data() + all.size(), line.number);
    if (problem != std::errc() || end == all.data() + all.size() || *end != ':')
      continue;
    line.file = all.substr(0, colon);
    std::string_view rest = all.substr(size_t(end - all.data()) + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size())); // the column
    if (rest.starts_with(":"))
      rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::pair<std::string_view, Line::Kind> kinds[] = {
        {"error: ", Line::Kind::Error},
        {"fatal error: ", Line::Kind::Error},
        {"note: ", Line::Kind::Note},
        {"required from here", Line::Kind::Required}};
    for (auto [prefix, kind] : kinds)
      if (rest.starts_with(prefix)) {
        line.kind = kind;
        line.text = rest.substr(prefix.size());
      }
    return line;
  }
  return line;
}

std::vector<Line> readLines(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(readLine(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

//---- sentences ----------------------------------------------------------===//

/// What stands between `before` and `after`; nothing when one is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const size_t start = text.find(before);
  if (start == std::string_view::npos)
    return std::nullopt;
  text.remove_prefix(start + before.size());
  const size_t end = text.find(after);
  if (end == std::string_view::npos)
    return std::nullopt;
  return text.substr(0, end);
}

Diagnostic diagnostic(std::string_view rule, std::string message, std::string help) {
  Diagnostic d;
  d.rule = rule;
  d.message = std::move(message);
  d.help = std::move(help);
  return d;
}

/// The headers' static_asserts say "[K-11] what is wrong (the way out)"; the id and the way out may
/// be missing.
std::optional<Diagnostic> fromStaticAssert(std::string_view text) {
  constexpr std::string_view kGcc = "static assertion failed: ";
  if (text.starts_with(kGcc)) {
    text.remove_prefix(kGcc.size());
  } else if (text.starts_with("static_assert failed") ||
             text.starts_with("static assertion failed")) {
    // clang: ... due to requirement 'x' "text", or, from version 16 on, ... 'x': text
    if (auto quoted = between(text, " \"", "\""); quoted && text.ends_with("\""))
      text = *quoted;
    else if (const size_t colon = text.rfind("': "); colon != std::string_view::npos)
      text.remove_prefix(colon + 3);
    else
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  std::string_view rule = "X-03";
  if (text.starts_with("["))
    if (const size_t end = text.find("] "); end != std::string_view::npos) {
      rule = text.substr(1, end - 1);
      text.remove_prefix(end + 2);
    }
  std::string_view help;
  if (const size_t open = text.rfind(" ("); open != std::string_view::npos && text.ends_with(")")) {
    help = text.substr(open + 2, text.size() - open - 3);
    text = text.substr(0, open);
  }
  return diagnostic(rule, std::string(text), std::string(help));
}

/// Functions and values other chips or versions have, which no header of ours declares: they are
/// called with braces, which no catch-all parameter takes.
std::optional<Diagnostic> fromMissingName(std::string_view text) {
  std::optional<std::string_view> name, space;
  if ((space = between(text, "is not a member of '", "'"))) // g++
    name = between(text, "'", "'");
  else if ((space = between(text, "in namespace '", "'"))) // clang++
    name = between(text, "no member named '", "'");
  if (!name || !space)
    return std::nullopt;
  struct Missing {
    const char *space, *name, *rule, *message, *help;
  };
  constexpr const char *kTrn3 = "exists on trn3 only";
  static const Missing kMissing[] = {
      {"nisa", "exponential", "B-12", kTrn3,
       "use nisa::activation with nl::exp and the negated maximum as bias"},
      {"nisa", "nc_matmul_mx", "B-12", kTrn3, "use nisa::nc_matmul on bfloat16 tiles"},
      {"nisa", "quantize_mx", "B-12", kTrn3, "use nisa::tensor_scalar and nisa::tensor_copy"},
      {"nisa", "activate2", "B-12", kTrn3, "use nisa::activation"},
      {"nl", "indirect", "B-12", kTrn3, "load the rows with nisa::dma_copy"},
      {"nl", "float8_e8m0fnu", "B-12", kTrn3, "scale with nisa::tensor_scalar"},
      {"nl", "float8_e5m2_x4", "B-12", kTrn3, "use nl::float8_e5m2"},
      {"nl", "float8_e4m3fn_x4", "B-12", kTrn3, "use nl::float8_e4m3"},
      {"nl", "float4_e2m1fn_x4", "B-12", kTrn3, "use nl::float8_e4m3"},
      {"nisa", "tensor_copy_dynamic_src", "K-11", "is gone", "copy a view with nisa::tensor_copy"},
      {"nisa", "tensor_copy_dynamic_dst", "K-11", "is gone",
       "copy to a view with nisa::tensor_copy"},
  };
  for (const Missing &m : kMissing)
    if (*space == m.space && *name == m.name)
      return diagnostic(m.rule, std::string(*space) + "::" + std::string(*name) + " " + m.message,
                        m.help);
  return std::nullopt;
}

/// H-01, and fields the structs never had.
std::optional<Diagnostic> fromFields(std::string_view text) {
  constexpr const char *kOrder =
      "write dst first, then the others in the order nl/isa.h lists them";
  if (auto field = between(text, "designator order for field '", "'")) // g++
    return diagnostic("H-01",
                      "field '" + std::string(field->substr(field->rfind(':') + 1)) +
                          "' stands too late: C++ takes fields in the order of their declaration",
                      kOrder);
  if (text.find("reorder-init-list") != std::string_view::npos) // clang++
    if (auto field = between(text, "will be initialized after field '", "'"))
      return diagnostic("H-01",
                        "field '" + std::string(*field) +
                            "' stands too late: C++ takes fields in the order of their declaration",
                        kOrder);
  const bool isMask =
      text.find("no non-static data member named 'mask'") != std::string_view::npos ||
      text.find("field designator 'mask' does not refer") != std::string_view::npos;
  if (isMask)
    return diagnostic("K-11", "masks are gone",
                      "clip the slices with nl::tiles(n, t) or std::min(end, n)");
  return std::nullopt;
}

/// The last part of a type's name: "Tensor" of "const nl::Tensor".
std::string_view lastName(std::string_view type) {
  return type.substr(type.find_last_of(": ") + 1);
}

/// C-02: a number made of a tile. The handle has no conversion for the host compiler to call: with
/// one, `tile + 1` could mean the sum of two numbers.
std::optional<Diagnostic> fromConversion(std::string_view text) {
  // g++, clang++, and both for casts.
  for (const auto &[before, middle] : {std::pair("cannot convert '", "' to '"),
                                       {"no viable conversion from '", "' to '"},
                                       {"from type '", "' to type '"}}) {
    const auto from = between(text, before, middle), to = between(text, middle, "'");
    if (!from || !to || (lastName(*from) != "Tensor" && lastName(*from) != "InOut"))
      continue;
    for (std::string_view number :
         {"int", "int64_t", "size_t", "short", "long", "char", "unsigned", "float", "double"})
      if (lastName(*to) == number)
        return diagnostic("C-02", "an element of a tile is no number while the kernel is traced",
                          "use a number of the host, such as an int parameter of the kernel");
  }
  return std::nullopt;
}

std::optional<Diagnostic> fromLanguage(std::string_view text) {
  if (auto name = between(text, "reference to '", "' is ambiguous"))
    return diagnostic("H-02",
                      "'" + std::string(*name) + "' is nl::" + std::string(*name) +
                          " and a function of the C library",
                      "write nl::" + std::string(*name) + ", and leave `using namespace nl` out");
  if (text.find("-Werror=comma-subscript") != std::string_view::npos ||
      text.find("deprecated-comma-subscript") != std::string_view::npos)
    return diagnostic("H-03", "in C++20 a comma in brackets drops all but the last subscript",
                      "write t(i, j), or t[{i, j}]");
  if (auto name = between(text, "reference to local binding '", "'"))
    return diagnostic("H-06",
                      "this compiler does not capture the structured binding '" +
                          std::string(*name) + "'",
                      "capture it by value, as in [" + std::string(*name) + " = " +
                          std::string(*name) + "], or use a named variable");
  if (text == "expected unqualified-id before 'static_cast'")
    return diagnostic("K-11", "nl::static_cast is gone",
                      "the dtype of dst is the cast: nisa::tensor_copy to a tile of it");
  return std::nullopt;
}

std::optional<Diagnostic> recognise(std::string_view text) {
  for (auto *reader : {fromStaticAssert, fromMissingName, fromFields, fromConversion, fromLanguage})
    if (auto d = reader(text))
      return d;
  return std::nullopt;
}

//---- places ---------------------------------------------------------------===//

/// The author's line of the error at `lines[i]`: its own, or the one whose template it happened in.
FileLine authorLine(const std::vector<Line> &lines, size_t i, const std::string &headers) {
  const auto isAuthors = [&](const Line &l) {
    return l.number != 0 && !l.file.starts_with(headers);
  };
  const auto at = [](const Line &l) { return FileLine{std::string(l.file), l.number}; };
  if (isAuthors(lines[i]))
    return at(lines[i]);
  // g++ names the instantiations before the error, the author's last.
  for (size_t k = i; k-- > 0 && lines[k].kind != Line::Kind::Error;)
    if (lines[k].kind == Line::Kind::Required && isAuthors(lines[k]))
      return at(lines[k]);
  // clang++ names them after it.
  for (size_t k = i + 1; k < lines.size() && lines[k].kind != Line::Kind::Error; ++k)
    if (lines[k].kind == Line::Kind::Note && isAuthors(lines[k]))
      return at(lines[k]);
  return {};
}

} // namespace

HostMessages readHostMessages(std::string_view errors, const std::string &kernelFile,
                              const std::string &includeDir) {
  HostMessages out;
  const std::vector<Line> lines = readLines(errors);
  const std::string headers = includeDir + "/nl/";
  using Place = std::pair<std::string, unsigned>;
  std::set<std::pair<std::string, Place>> seen;
  std::set<Place> explained, others;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind != Line::Kind::Error)
      continue;
    std::optional<Diagnostic> d = recognise(lines[i].text);
    const FileLine at = authorLine(lines, i, headers);
    const Place place = {at.file, at.line};
    if (!d || at.line == 0) {
      others.insert(place);
      continue;
    }
    explained.insert(place);
    // One mistake may be an error twice: as an instantiation and as what follows from it.
    if (!seen.insert({d->rule, place}).second)
      continue;
    d->place = {{trace::relativeToKernel(at.file, kernelFile), at.line}};
    out.known.push_back(std::move(*d));
  }
  // What else is wrong in a line with a known mistake comes from that mistake.
  for (const Place &place : others)
    out.hasOthers |= !explained.contains(place);
  sortBySource(out.known);
  return out;
}

} // namespace kiln::driver
