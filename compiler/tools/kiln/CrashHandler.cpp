//===- CrashHandler.cpp - what happens when native code crashes -------------------------------===//

#include "CrashHandler.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace kiln::tool {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char *(*position)() = nullptr;
bool asJson = false;
std::array<struct sigaction, kSignals.size()> before;
/// A kernel that recurses without end has no stack left to handle its own fault
/// on.
alignas(16) std::array<char, 65536> handlerStack;
stack_t stackBefore;

/// Only write() and _exit(): nothing else is safe in here.
void say(const char *text) {
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
}

const char *signalName(int number) {
  switch (number) {
  case SIGSEGV:
    return "an invalid memory access (SIGSEGV)";
  case SIGBUS:
    return "an invalid memory access (SIGBUS)";
  case SIGFPE:
    return "an arithmetic fault such as a division by zero (SIGFPE)";
  case SIGILL:
    return "an illegal instruction (SIGILL)";
  default:
    return "abort() or a failed assertion (SIGABRT)";
  }
}

/// One message, as text or as the record `--diagnostics=json` promises.
void report(const char *at, const char *rule, const char *what, const char *how, const char *help) {
  if (asJson) {
    say("{\"severity\":\"error\",\"rule\":\"");
    say(rule);
    say("\",\"message\":\"");
    say(what);
    say(how);
    say("\",\"help\":\"");
    say(help);
    say("\",\"fault\":\"");
    say(*rule ? "user" : "internal");
    say("\",\"place\":[");
    if (const char *colon = std::strrchr(at, ':')) {
      say("{\"file\":\"");
      [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, at, size_t(colon - at));
      say("\",\"line\":");
      say(colon + 1);
      say("}");
    }
    say("],\"notes\":[]}\n");
    return;
  }
  say(*at ? at : "kiln");
  say(": error");
  if (*rule) {
    say("[");
    say(rule);
    say("]");
  }
  say(": ");
  say(what);
  say(how);
  say("\nhelp: ");
  say(help);
  say("\n");
}

void onSignal(int number) {
  if (const char *at = position ? position() : nullptr) {
    report(at, "X-07", "the kernel's own C++ crashed with ", signalName(number),
           "the line is the last one that reached Kiln; run the kernel's code under a debugger");
    _exit(1);
  }
  report("", "", "internal fault: ", signalName(number),
         "this is a fault of Kiln; please report it with the command line and the kernel file");
  _exit(70);
}

/// A kernel that calls exit() would end the tool as if all were done and right.
void onExit() {
  if (const char *at = position ? position() : nullptr) {
    report(at, "X-07", "the kernel's own C++ ended the process", "",
           "return from the kernel function; nl::require stops a kernel with a message");
    _exit(1);
  }
}

} // namespace

CrashHandler::CrashHandler(const char *(*tracePosition)(), bool json) {
  static const int registered = std::atexit(onExit);
  (void)registered;
  position = tracePosition;
  asJson = json;
  stack_t own{};
  own.ss_sp = handlerStack.data();
  own.ss_size = handlerStack.size();
  sigaltstack(&own, &stackBefore);
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &action, &before[i]);
}

CrashHandler::~CrashHandler() {
  for (size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
  sigaltstack(&stackBefore, nullptr);
  position = nullptr;
}

} // namespace kiln::tool
