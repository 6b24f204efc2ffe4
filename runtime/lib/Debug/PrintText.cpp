//===- PrintText.cpp - an nl::device_print as text --------------------------------------------===//

#include "kilnrt/Debug/PrintText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace kilnrt;

/// A program file may hold any byte; none of them moves the cursor of a terminal.
static std::string withoutControls(std::string_view text) {
  std::string out;
  for (unsigned char c : text)
    out += c < 0x20 || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, char(c));
  return out;
}

std::string kilnrt::placeText(const CallChain &place) {
  std::string text;
  for (const kiln::FileLine &frame : place)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " from ", frame.file, frame.line);
  return text.empty() ? "an unknown line" : text;
}

std::string kilnrt::toText(const DevicePrint &print, const ArrayTextOptions &options) {
  std::string text = withoutControls(print.prefix);
  text += fmt::format("{}{} [{}] at {}", text.empty() || text.ends_with(' ') ? "" : " ",
                      isa::name(print.value.dtype), fmt::join(print.value.shape, ", "),
                      placeText(print.place));
  if (!print.iterations.empty())
    text += fmt::format(", iteration{} {}", print.iterations.size() == 1 ? "" : "s",
                        fmt::join(print.iterations, ", "));
  return text + "\n" + arrayText(print.value, options) + "\n";
}
