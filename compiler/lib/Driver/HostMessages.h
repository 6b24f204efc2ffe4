//===- HostMessages.h - what a host compiler says, in the kernel's terms ----------------------===//
//
// Some mistakes are found by the host compiler: a tile as a condition, a name NKI has dropped,
// fields out of order. Its own messages point into nl/ headers or speak of templates; here they
// become diagnostics at the author's line, with the id of the rule. Whatever is not recognised
// stays as it is.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DRIVER_HOSTMESSAGES_H
#define KILN_LIB_DRIVER_HOSTMESSAGES_H

#include "kiln/ISA/Diagnostic.h"

#include <string_view>

namespace kiln::driver {

struct HostMessages {
  std::vector<Diagnostic> known; ///< by file and line, each once
  bool hasOthers = false;        ///< there are errors nothing is known about
};

/// Reads the errors of g++ or clang++ (in the C locale) about `kernelFile`, compiled with the
/// language's headers in `includeDir`.
HostMessages readHostMessages(std::string_view errors, const std::string &kernelFile,
                              const std::string &includeDir);

} // namespace kiln::driver

#endif // KILN_LIB_DRIVER_HOSTMESSAGES_H
