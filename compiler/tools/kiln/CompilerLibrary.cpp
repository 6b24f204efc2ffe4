//===- CompilerLibrary.cpp - libkiln, loaded when something is compiled -----------------------===//

#include "CompilerLibrary.h"

#include <cstring>
#include <dlfcn.h>
#include <filesystem>

namespace fs = std::filesystem;

namespace kiln::tool {
namespace {

fs::path programFolder() {
  std::error_code problem;
  fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return problem ? fs::path(".") : self.parent_path();
}

kilnrt::Diagnostic broken(std::string message) {
  return kilnrt::makeError(kilnrt::Fault::Internal, std::move(message),
                           "kiln and libkiln.so come from one build: install both again");
}

} // namespace

std::string includeFolder() { return (programFolder().parent_path() / "include").string(); }

kilnrt::Expected<CompilerLibrary> loadCompiler() {
  fs::path path = programFolder().parent_path() / "lib" / "libkiln.so";
  // Global: a kernel's plug-in finds the DSL's functions in it.
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return broken(std::string("cannot load the compiler: ") + dlerror());
  auto buildId = reinterpret_cast<decltype(&kiln_build_id)>(dlsym(handle, "kiln_build_id"));
  CompilerLibrary library;
  library.compile = reinterpret_cast<decltype(&kiln_compile)>(dlsym(handle, "kiln_compile"));
  library.list = reinterpret_cast<decltype(&kiln_list)>(dlsym(handle, "kiln_list"));
  library.tracePosition =
      reinterpret_cast<decltype(&kiln_trace_position)>(dlsym(handle, "kiln_trace_position"));
  library.abandon = reinterpret_cast<decltype(&kiln_abandon)>(dlsym(handle, "kiln_abandon"));
  if (!buildId || !library.compile || !library.list || !library.tracePosition || !library.abandon)
    return broken("'" + path.string() + "' is not a Kiln compiler library");
  if (std::strcmp(buildId(), KILN_BUILD_ID) != 0)
    return broken("'" + path.string() + "' is of build " + buildId() + ", this kiln of " +
                  KILN_BUILD_ID);
  return library;
}

} // namespace kiln::tool
