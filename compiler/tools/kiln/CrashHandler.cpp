//===- CrashHandler.cpp - what happens when native code crashes -------------------------------===//

#include "CrashHandler.h"

#include "SignalMessage.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

namespace kiln::tool {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::array<struct sigaction, kSignals.size()> before;
/// A kernel that recurses without end has no stack left to handle its own fault
/// on.
alignas(16) std::array<char, 65536> handlerStack;
stack_t stackBefore;

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
  SignalMessage message;
  if (const char *at = signalContext.tracePosition()) {
    message.at = at;
    message.rule = "X-07";
    message.fault = "user";
    message.parts[0] = "the kernel's own C++ crashed with ";
    message.parts[1] = signalName(number);
    message.help =
        "the line is the last one that reached Kiln; run the kernel's code under a debugger";
    writeMessage(message);
    endProcess(1);
  }
  message.fault = "internal";
  message.parts[0] = "internal fault: ";
  message.parts[1] = signalName(number);
  message.help =
      "this is a fault of Kiln; please report it with the command line and the kernel file";
  writeMessage(message);
  endProcess(70);
}

/// A kernel that calls exit() would end the tool as if all were done and right.
void onExit() {
  const char *at = signalContext.tracePosition ? signalContext.tracePosition() : nullptr;
  if (!at)
    return;
  SignalMessage message;
  message.at = at;
  message.rule = "X-07";
  message.fault = "user";
  message.parts[0] = "the kernel's own C++ ended the process";
  message.help = "return from the kernel function; nl::require stops a kernel with a message";
  writeMessage(message);
  endProcess(1);
}

} // namespace

CrashHandler::CrashHandler(const CompilerLibrary &library) {
  static const int registered = std::atexit(onExit);
  (void)registered;
  signalContext.tracePosition = library.tracePosition;
  signalContext.abandon = library.abandon;
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
  signalContext.tracePosition = nullptr;
}

} // namespace kiln::tool
