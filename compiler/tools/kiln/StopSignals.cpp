//===- StopSignals.cpp - Ctrl-C and its like --------------------------------------------------===//

#include "StopSignals.h"

#include "SignalMessage.h"

#include <array>
#include <csignal>
#include <unistd.h>

namespace kiln::tool {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM};
/// Seconds until work that said it looks at `stop` and does not is ended with the process.
constexpr unsigned kPatience = 1;

driver::Activity theActivity;
std::atomic<int> received{0};
bool isTold = false; ///< a message named the signal

constexpr const char *nameOf(int number) { return number == SIGINT ? "SIGINT" : "SIGTERM"; }

[[noreturn]] void endNow(int number) {
  SignalMessage message;
  message.fault = "limit";
  if (const char *at = signalContext.tracePosition ? signalContext.tracePosition() : nullptr) {
    message.at = at;
    if (*at)
      message.help = "the line is the last one that reached Kiln";
  }
  const char *what = theActivity.what, *name = theActivity.name;
  message.parts[0] = "stopped by ";
  message.parts[1] = nameOf(number);
  message.parts[2] = " ";
  message.parts[3] = what;
  message.parts[4] = *name ? " " : "";
  message.parts[5] = name;
  writeMessage(message);
  endProcess(128 + number);
}

void onStop(int number) {
  int none = 0;
  if (!received.compare_exchange_strong(none, number))
    endNow(number);
  theActivity.stop = true;
  if (!theActivity.heeds)
    endNow(number);
  alarm(kPatience);
}

void onAlarm(int) { endNow(received); }

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action{}, before{};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN)
    return;
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  for (int other : {SIGINT, SIGTERM, SIGALRM})
    sigaddset(&action.sa_mask, other);
  sigaction(number, &action, nullptr);
}

} // namespace

driver::Activity &activity() { return theActivity; }

void handleStopSignals() {
  for (int number : kStopSignals)
    handle(number, onStop, SA_RESTART | SA_ONSTACK);
  handle(SIGALRM, onAlarm, SA_ONSTACK);
}

int exitCodeAfterSignals(int code) { return received ? 128 + received : code; }

std::vector<Diagnostic> naming(std::vector<Diagnostic> diagnostics) {
  // Other limits have a rule.
  for (Diagnostic &d : diagnostics)
    if (received && d.fault == Fault::Limit && d.rule.empty()) {
      d.message += std::string(" by ") + nameOf(received);
      isTold = true;
    }
  return diagnostics;
}

bool isStopped(Reporter &reporter) {
  if (!received)
    return false;
  if (isTold)
    return true;
  isTold = true;
  Diagnostic d;
  d.fault = Fault::Limit;
  d.message = std::string("stopped by ") + nameOf(received) + " " + theActivity.what.load();
  if (*theActivity.name)
    d.message += std::string(" ") + theActivity.name.load();
  reporter.report(d);
  return true;
}

} // namespace kiln::tool
