//===- Progress.cpp - a line that says Kiln is still at work ----------------------------------===//

#include "Progress.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <utility>

namespace kiln::tool {

Progress::Progress(std::string text) : what(std::move(text)) {
  if (isatty(STDERR_FILENO))
    thread = std::thread([this] { show(); });
}

void Progress::show() {
  // Signals are for the thread that works: what it is at is known there.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex);
  if (!wake.wait_for(lock, 2s, [this] { return done; })) {
    for (int seconds = 2; !done; ++seconds) {
      std::fprintf(stderr, "\rkiln: %s, %d s \x1b[K", what.c_str(), seconds);
      std::fflush(stderr);
      shown = true;
      wake.wait_for(lock, 1s, [this] { return done; });
    }
  }
  erase();
}

void Progress::erase() {
  if (std::exchange(shown, false))
    std::fputs("\r\x1b[K", stderr);
}

void Progress::clear() {
  std::lock_guard lock(mutex);
  erase();
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  thread.join();
}

} // namespace kiln::tool
