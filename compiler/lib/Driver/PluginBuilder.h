//===- PluginBuilder.h - from a kernel file to a shared object --------------------------------===//
//
// Builds a kernel's .cpp with the host compiler, once: the result is kept under
// a key of everything it depends on. Running a kernel file is running native
// code; nothing here sandboxes it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DRIVER_PLUGINBUILDER_H
#define KILN_LIB_DRIVER_PLUGINBUILDER_H

#include "kiln/Driver/Activity.h"
#include "kiln/ISA/Diagnostic.h"

#include <string>
#include <variant>

namespace kiln::driver {

struct BuildOptions {
  std::string hostCompiler; ///< path or name; empty: $CXX, else g++, else clang++
  std::string includeDir;   ///< folder that holds nl/nl.h
  std::string buildId;      ///< identity of this libkiln
  bool useCache = true;
  Activity *activity = nullptr; ///< who may stop it; null: nobody
  bool rebuild = false;         ///< replace what the cache has: it could not be loaded
};

/// A shared object on disk. A temporary one is removed with this object.
class BuiltPlugin {
public:
  BuiltPlugin(std::string path, std::string temporaryDir, bool fromCache)
      : path(std::move(path)), fromCache(fromCache), temporaryDir(std::move(temporaryDir)) {}
  BuiltPlugin(BuiltPlugin &&other) noexcept
      : path(std::move(other.path)), fromCache(other.fromCache),
        cacheProblem(std::move(other.cacheProblem)),
        temporaryDir(std::exchange(other.temporaryDir, {})) {}
  BuiltPlugin &operator=(BuiltPlugin &&) = delete;
  ~BuiltPlugin();

  std::string path;
  bool fromCache;           ///< an earlier run built it
  std::string cacheProblem; ///< why the cache was not used; empty otherwise

private:
  std::string temporaryDir; ///< empty when the cache owns the file
};

/// Builds `source`, or finds the earlier build of the same text with the same
/// compiler, flags and libkiln. What the host compiler says about a mistake of the language is
/// given in its terms. A build that was told to stop is an error of class Limit.
std::variant<BuiltPlugin, std::vector<Diagnostic>> buildPlugin(const std::string &source,
                                                               const BuildOptions &options);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_PLUGINBUILDER_H
