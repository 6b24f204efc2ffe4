//===- EmitRules.cpp - the rule catalogue and its examples ------------------------------------===//
//
// An example in the table is a function `kernel`; here it becomes a file a user can save and
// compile: with its #include, the names it uses, and its NL_KERNEL. For the test all kernels become
// one file, each in a namespace, with the line numbers of its own file.
//
//===------------------------------------------------------------------------------------------===//

#include "Emit.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln::tblgen {
namespace {

std::vector<const Record *> rulesById(const RecordKeeper &records) {
  std::vector<const Record *> rules(records.getAllDerivedDefinitions("RuleText").begin(),
                                    records.getAllDerivedDefinitions("RuleText").end());
  std::sort(rules.begin(), rules.end(), [](const Record *a, const Record *b) {
    return a->getValueAsString("id") < b->getValueAsString("id");
  });
  return rules;
}

bool isWordCharacter(char c) { return isAlnum(c) || c == '_'; }

/// Whether `name` stands in `code` as a word of its own, not behind "::".
bool usesName(StringRef code, StringRef name) {
  for (size_t at = code.find(name); at != StringRef::npos; at = code.find(name, at + 1)) {
    const bool starts = at == 0 || (!isWordCharacter(code[at - 1]) && code[at - 1] != ':');
    const size_t end = at + name.size();
    if (starts && (end == code.size() || !isWordCharacter(code[end])))
      return true;
  }
  return false;
}

/// Names of the parameters of `kernel`, quoted: "x", "scale".
std::vector<std::string> parametersOf(StringRef code) {
  StringRef list = code.split(" kernel(").second.split(")").first;
  SmallVector<StringRef> parameters;
  list.split(parameters, ',', -1, /*KeepEmpty=*/false);
  std::vector<std::string> names;
  for (StringRef parameter : parameters)
    names.push_back(quoted(parameter.rsplit(' ').second));
  return names;
}

/// An example as a file, in parts.
struct Example {
  std::vector<std::string> includes;
  std::string names; ///< the using-declaration
  std::string body;
  std::vector<std::string> parameters;

  explicit Example(StringRef code) {
    const std::string dedented = dedent(code);
    SmallVector<StringRef> lines;
    StringRef(dedented).split(lines, '\n');
    includes.push_back("#include \"nl/nl.h\"");
    for (StringRef line : lines)
      if (line.starts_with("#include"))
        includes.push_back(line.str());
      else
        body += line.str() + "\n";
    body = StringRef(body).trim('\n').str() + "\n";
    for (StringRef name : {"Chunk", "ds", "InOut", "Tensor", "_"})
      if (usesName(body, name))
        names += (names.empty() ? "using nl::" : ", nl::") + name.str();
    names += ";";
    parameters = parametersOf(body);
  }

  std::string file(bool isRegistered) const {
    std::string out = join(includes, "\n") + "\n" + names + "\n\n" + body;
    if (isRegistered)
      out += "NL_KERNEL(kernel, " + join(parameters, ", ") + ")\n";
    return out;
  }

  /// The same lines inside a namespace of a file that has included everything.
  std::string fragment(StringRef id, StringRef part) const {
    std::string space = id.str() + "_" + part.str();
    std::replace(space.begin(), space.end(), '-', '_');
    return "namespace " + space + " {\n#line 1 \"" + id.str() + "-" + part.str() + ".cpp\"\n" +
           std::string(includes.size(), '\n') + names + "\n\n" + body +
           "static const ::nl::Kernel registered(\"" + id.str() + "." + part.str() +
           "\", kernel, {" + join(parameters, ", ") + "});\n} // namespace " + space + "\n\n";
  }
};

/// A C++ literal of several lines; examples hold quotes, but not the delimiter.
std::string literal(const std::string &text) { return "R\"example(" + text + ")example\""; }

std::string exampleText(const Record *rule, StringRef part) {
  StringRef form = rule->getValueAsString("form"), code = rule->getValueAsString(part);
  if (form == "asm" || form == "none")
    return dedent(code);
  return Example(code).file(form != "unregistered" || part == "right");
}

} // namespace

void emitCatalogue(raw_ostream &os, const RecordKeeper &records) {
  os << "static constexpr RuleText kCatalogue[] = {\n";
  for (const Record *r : rulesById(records)) {
    auto text = [&](StringRef field) { return quoted(r->getValueAsString(field)); };
    os << "    {" << text("id") << ",\n     " << text("title") << ",\n     " << text("why")
       << ",\n     " << text("wayOut")
       << ",\n     Severity::" << camelCase(r->getValueAsString("severity")) << ", "
       << (r->getValueAsBit("isPerformance") ? "true" : "false") << ", "
       << (r->getValueAsBit("isDemotable") ? "true" : "false")
       << ",\n     ExampleForm::" << camelCase(r->getValueAsString("form")) << ",\n     "
       << literal(exampleText(r, "wrong")) << ",\n     " << literal(exampleText(r, "right"))
       << ",\n     " << text("arguments") << ", " << text("wrongArguments") << ", " << text("flags")
       << "},\n";
  }
  os << "};\n";
}

void emitRuleKernels(raw_ostream &os, const RecordKeeper &records) {
  os << "// The examples of `kiln explain`, generated from the rule catalogue.\n"
     << "#include \"nl/host.h\"\n#include \"nl/nl.h\"\n#include <cmath>\n\n";
  for (const Record *r : rulesById(records)) {
    StringRef id = r->getValueAsString("id"), form = r->getValueAsString("form");
    if (form == "asm" || form == "none")
      continue;
    if (form == "kernel" || form == "run")
      os << Example(r->getValueAsString("wrong")).fragment(id, "wrong");
    os << Example(r->getValueAsString("right")).fragment(id, "right");
  }
}

} // namespace kiln::tblgen
