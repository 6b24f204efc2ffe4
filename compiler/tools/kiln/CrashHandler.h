//===- CrashHandler.h - what happens when native code crashes ---------------------------------===//

#ifndef KILN_TOOLS_KILN_CRASHHANDLER_H
#define KILN_TOOLS_KILN_CRASHHANDLER_H

#include "CompilerLibrary.h"

namespace kiln::tool {

/// While it lives, a fatal signal ends the process with a message instead of a
/// core dump. A kernel is native code: a crash while it is traced is the
/// author's (exit 1, with the last line that was reached); any other crash is
/// Kiln's own (exit 70).
class CrashHandler {
public:
  explicit CrashHandler(const CompilerLibrary &library);
  ~CrashHandler();
  CrashHandler(const CrashHandler &) = delete;
  CrashHandler &operator=(const CrashHandler &) = delete;
};

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_CRASHHANDLER_H
