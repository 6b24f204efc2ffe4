//===- SignalMessage.h - messages of signal handlers ------------------------------------------===//
//
// A handler may neither allocate nor lock: it has only what was put here before.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TOOLS_KILN_SIGNALMESSAGE_H
#define KILN_TOOLS_KILN_SIGNALMESSAGE_H

namespace kiln::tool {

struct SignalContext {
  const char *(*tracePosition)() = nullptr; ///< libkiln's kiln_trace_position; null: not at work
  void (*abandon)() = nullptr;              ///< libkiln's kiln_abandon
  bool asJson = false;                      ///< the form of messages
};
inline SignalContext signalContext;

struct SignalMessage {
  const char *at = "";    ///< "file.cpp:12" or empty
  const char *rule = "";  ///< or empty
  const char *fault = ""; ///< as in JSON: "user"
  const char *help = "";  ///< or empty
  /// The message is these, one after the other; constant or static text.
  const char *parts[6] = {"", "", "", "", "", ""};
};

/// Writes one message to stderr, as text or as the record `--diagnostics=json` promises.
void writeMessage(const SignalMessage &message);
/// Removes what the compiler would leave behind, and ends the process.
[[noreturn]] void endProcess(int code);

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_SIGNALMESSAGE_H
