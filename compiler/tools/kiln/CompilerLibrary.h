//===- CompilerLibrary.h - libkiln, loaded when something is compiled -------------------------===//

#ifndef KILN_TOOLS_KILN_COMPILERLIBRARY_H
#define KILN_TOOLS_KILN_COMPILERLIBRARY_H

#include "kiln/Driver/CompileApi.h"
#include "kilnrt/Expected.h"

namespace kiln::tool {

/// The entry points of libkiln.
struct CompilerLibrary {
  decltype(&kiln_compile) compile = nullptr;
  decltype(&kiln_list) list = nullptr;
  decltype(&kiln_trace_position) tracePosition = nullptr;
  decltype(&kiln_abandon) abandon = nullptr;
};

/// Loads ../lib/libkiln.so beside this program, once; it stays loaded. Refuses
/// a library of another build.
kilnrt::Expected<CompilerLibrary> loadCompiler();

/// ../include beside this program: where nl/nl.h lies.
std::string includeFolder();

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_COMPILERLIBRARY_H
