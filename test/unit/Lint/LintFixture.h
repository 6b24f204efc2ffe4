//===- LintFixture.h - warnings on kernels written inside a test ------------------------------===//

#ifndef KILN_TEST_UNIT_LINT_LINTFIXTURE_H
#define KILN_TEST_UNIT_LINT_LINTFIXTURE_H

#include "KernelFixture.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kiln/Lint/Lint.h"

#include <gtest/gtest.h>

#include <regex>

namespace kiln::test {

inline WarningOptions warningFlags(std::initializer_list<const char *> flags) {
  WarningOptions options;
  for (const char *flag : flags)
    if (auto problem = options.add(flag))
      ADD_FAILURE() << toText(*problem);
  return options;
}

/// "... of line 33" with the line counted from `base`: "... of line +3".
inline std::string relativeLines(const std::string &text, unsigned base) {
  static const std::regex numbers("lines? ([0-9]+)(?: and ([0-9]+))?");
  std::string out;
  size_t done = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), numbers), end; m != end; ++m)
    for (unsigned group : {1u, 2u})
      if ((*m)[group].matched) {
        const size_t at = size_t(m->position(group));
        out +=
            text.substr(done, at - done) + "+" + std::to_string(std::stoi((*m)[group]) - int(base));
        done = at + size_t(m->length(group));
      }
  return out + text.substr(done);
}

/// "+3: warning[B-11]: message", notes "+1: note" and "help: ..." of each, a line each; lines count
/// from the one the test names.
inline std::string lintText(const TraceResult &result, const WarningOptions &options,
                            unsigned baseLine) {
  if (!result.ok)
    return "does not trace: " + errorsOf(result);
  std::string out;
  const auto at = [&](const CallChain &place) {
    return place.empty() ? std::string("?")
                         : "+" + std::to_string(int(place.front().line) - int(baseLine));
  };
  for (const Diagnostic &d : lint::lint(result.trace, options)) {
    out += at(d.place) + ": " + name(d.severity) + "[" + d.rule +
           "]: " + relativeLines(d.message, baseLine) + "\n";
    for (const DiagnosticNote &note : d.notes)
      out += at(note.place) + ": note: " + note.message + "\n";
    out += "help: " + d.help + "\n";
  }
  return out;
}

/// Warnings on a kernel of one 128x512 float32 nl::InOut parameter 'y'; `base` is the line before
/// the kernel.
template <class Lambda>
std::string lintsOf(Lambda body, std::initializer_list<const char *> flags, unsigned base,
                    nl::SrcLoc place = nl::SrcLoc::current()) {
  return lintText(traceBody(body, {place.file, base}), warningFlags(flags), base);
}

} // namespace kiln::test

#endif // KILN_TEST_UNIT_LINT_LINTFIXTURE_H
