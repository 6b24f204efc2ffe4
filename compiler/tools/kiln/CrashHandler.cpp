//===- CrashHandler.cpp - what happens when native code crashes
//----------------------------------------------===//

#include "CrashHandler.h"

#include <array>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace kiln::tool {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const char *(*position)() = nullptr;
std::array<struct sigaction, kSignals.size()> before;
/// A kernel that recurses without end has no stack left to handle its own fault
/// on.
alignas(16) std::array<char, 65536> handlerStack;
stack_t stackBefore;

/// Only write() and _exit(): nothing else is safe in here.
void say(const char *text) {
  [[maybe_unused]] ssize_t ignored =
      write(STDERR_FILENO, text, std::strlen(text));
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

void onSignal(int number) {
  const char *at = position ? position() : nullptr;
  if (at) {
    say(*at ? at : "kiln");
    say(": error[X-03]: the kernel's own C++ crashed with ");
    say(signalName(number));
    say("\nhelp: the line is the last one that reached Kiln; run the kernel's "
        "code under a debugger\n");
    _exit(1);
  }
  say("kiln: error: internal fault: ");
  say(signalName(number));
  say("\nhelp: this is a fault of Kiln; please report it with the command line "
      "and the kernel file\n");
  _exit(70);
}

} // namespace

CrashHandler::CrashHandler(const char *(*tracePosition)()) {
  position = tracePosition;
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
