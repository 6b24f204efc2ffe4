//===- Plugin.h - a kernel file, loaded -------------------------------------------------------===//
//
// A shared object with kernels in this process: its list of kernels, where its
// code lies, and which source line an address of it belongs to.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DRIVER_PLUGIN_H
#define KILN_LIB_DRIVER_PLUGIN_H

#include "kiln/Trace/Tracer.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace kiln::driver {

/// Source lines of the code of one object in this process.
class CodeMap {
public:
  /// The object that contains `address`; `file` is read for its line table.
  CodeMap(const void *address, std::string file);
  ~CodeMap();
  CodeMap(CodeMap &&) noexcept;

  std::vector<trace::TextRange> text; ///< executable segments
  /// Line of the code at `address`; line 0 when unknown.
  FileLine resolve(uint64_t address) const;

private:
  struct Symbolizer;
  std::unique_ptr<Symbolizer> symbolizer;
  std::string file;
  uint64_t base = 0; ///< where the object is loaded
};

/// A loaded kernel file. It stays loaded: tensors and messages may point into
/// it, and a process loads few.
struct Plugin {
  const nl::detail::PluginInfo *info = nullptr;
  CodeMap code;
};

/// Loads `path`; `kernelFile` is the name for messages.
std::variant<Plugin, Diagnostic> loadPlugin(const std::string &path, const std::string &kernelFile);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_PLUGIN_H
