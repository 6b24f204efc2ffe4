//===- Progress.h - a line that says Kiln is still at work ------------------------------------===//

#ifndef KILN_TOOLS_KILN_PROGRESS_H
#define KILN_TOOLS_KILN_PROGRESS_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::tool {

/// While it lives, and stderr is a terminal, rewrites one line a second from
/// the second second on; clears it at the end. Nothing is printed elsewhere, so
/// logs and tests stay the same.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress();
  /// Takes the line away before something else is written; it comes back by itself.
  void clear();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

private:
  void show();
  void erase(); ///< with the mutex held

  std::string what;
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  bool shown = false;
  std::thread thread;
};

} // namespace kiln::tool

#endif // KILN_TOOLS_KILN_PROGRESS_H
