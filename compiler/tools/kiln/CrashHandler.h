//===- CrashHandler.h - what happens when native code crashes ---------------------------------===//

#ifndef KILN_TOOLS_KILN_CRASHHANDLER_H
#define KILN_TOOLS_KILN_CRASHHANDLER_H

namespace kiln::tool {

/// While it lives, a fatal signal ends the process with a message instead of a
/// core dump. A kernel is native code: a crash while it is traced is the
/// author's (exit 1, with the last line that was reached); any other crash is
/// Kiln's own (exit 70).
class CrashHandler {
public:
  /// `tracePosition` is libkiln's kiln_trace_position; `json` is the form of the message.
  CrashHandler(const char *(*tracePosition)(), bool json);
  ~CrashHandler();
  CrashHandler(const CrashHandler &) = delete;
  CrashHandler &operator=(const CrashHandler &) = delete;
};

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_CRASHHANDLER_H
