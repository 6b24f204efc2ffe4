//===- Activity.h - what Kiln is at, for whoever wants it to stop -----------------------------===//
//
// Work that takes long either looks at `stop` every few milliseconds, and says so, or can only be
// ended with the process: the author's own C++, a pass. Signal handlers read and write this, so
// everything is lock-free.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_DRIVER_ACTIVITY_H
#define KILN_DRIVER_ACTIVITY_H

#include <atomic>

namespace kiln::driver {

struct Activity {
  std::atomic<bool> stop{false};  ///< asks the work to end soon
  std::atomic<bool> heeds{false}; ///< the work looks at `stop` and cleans up after itself
  /// What is being done, such as "while tracing the kernel"; constant text.
  std::atomic<const char *> what{"while starting"};
  std::atomic<const char *> name{""}; ///< what of, such as a pass; constant text
  static_assert(std::atomic<bool>::is_always_lock_free &&
                std::atomic<const char *>::is_always_lock_free);

  void begin(const char *text, const char *of = "") {
    what = text;
    name = of;
  }
};

/// While it lives, the work looks at `stop`. Whoever made it looks once more afterwards.
class Heeding {
public:
  explicit Heeding(Activity &activity) : activity(activity) { activity.heeds = true; }
  ~Heeding() { activity.heeds = false; }
  Heeding(const Heeding &) = delete;
  Heeding &operator=(const Heeding &) = delete;

private:
  Activity &activity;
};

} // namespace kiln::driver

#endif // KILN_DRIVER_ACTIVITY_H
