//===- SignalMessage.cpp - messages of signal handlers ----------------------------------------===//

#include "SignalMessage.h"

#include <cstring>
#include <unistd.h>

namespace kiln::tool {
namespace {

/// Only write() and _exit(): nothing else is safe in here.
void say(const char *text, size_t length) {
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text, length);
}
void say(const char *text) { say(text, std::strlen(text)); }

void sayJson(const SignalMessage &message) {
  say("{\"severity\":\"error\",\"rule\":\"");
  say(message.rule);
  say("\",\"message\":\"");
  for (const char *part : message.parts)
    say(part);
  say("\",\"help\":\"");
  say(message.help);
  say("\",\"fault\":\"");
  say(message.fault);
  say("\",\"place\":[");
  if (const char *colon = std::strrchr(message.at, ':')) {
    say("{\"file\":\"");
    say(message.at, size_t(colon - message.at));
    say("\",\"line\":");
    say(colon + 1);
    say("}");
  }
  say("],\"notes\":[]}\n");
}

} // namespace

void writeMessage(const SignalMessage &message) {
  if (signalContext.asJson)
    return sayJson(message);
  say(*message.at ? message.at : "kiln");
  say(": error");
  if (*message.rule) {
    say("[");
    say(message.rule);
    say("]");
  }
  say(": ");
  for (const char *part : message.parts)
    say(part);
  if (*message.help) {
    say("\nhelp: ");
    say(message.help);
  }
  say("\n");
}

void endProcess(int code) {
  if (signalContext.abandon)
    signalContext.abandon();
  _exit(code);
}

} // namespace kiln::tool
