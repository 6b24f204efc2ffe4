//===- Process.cpp - run a program and keep what it says --------------------------------------===//

#include "Process.h"

#include "Leftovers.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace kiln::driver {
namespace {

constexpr const char *kSystemPath = "/usr/local/bin:/usr/bin:/bin";

std::string searchPath() {
  const char *path = std::getenv("PATH");
  return path && *path ? std::string(path) + ":" + kSystemPath : kSystemPath;
}

/// A program that was started in a process group of its own, and the pipes it writes to.
class Child {
public:
  Child(pid_t pid, std::array<int, 2> fds, const std::atomic<bool> *stop)
      : pid(pid), stop(stop), polls{{{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}}} {
    setCompilerGroup(pid);
  }
  ~Child() { setCompilerGroup(0); }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// Reads both pipes until each is closed, so that neither side blocks on a full one, then waits
  /// for the end.
  void finish(ProcessResult &result) {
    drain({&result.output, &result.errors});
    int status = 0;
    for (;;) {
      const pid_t ended = waitpid(pid, &status, stop ? WNOHANG : 0);
      if (ended == pid || (ended < 0 && errno != EINTR))
        break;
      if (ended == 0 && !endIfAsked())
        poll(nullptr, 0, kLook);
    }
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.stopped = deadline.has_value();
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kLook = 20; ///< ms between two looks at `stop`
  static constexpr std::chrono::milliseconds kPatience{500};

  void drain(std::array<std::string *, 2> texts) {
    std::array<char, 65536> buffer;
    while (polls[0].fd >= 0 || polls[1].fd >= 0) {
      if (endIfAsked())
        break; // a process that left the group may hold the pipes
      if (poll(polls.data(), polls.size(), stop ? kLook : -1) < 0) {
        if (errno == EINTR)
          continue;
        break;
      }
      for (size_t i = 0; i < polls.size(); ++i) {
        if (polls[i].fd < 0 || !polls[i].revents)
          continue;
        const ssize_t n = read(polls[i].fd, buffer.data(), buffer.size());
        if (n > 0)
          texts[i]->append(buffer.data(), size_t(n));
        else if (n == 0 || errno != EINTR)
          closePipe(polls[i]);
      }
    }
    for (pollfd &pipe : polls)
      closePipe(pipe);
  }

  static void closePipe(pollfd &pipe) {
    if (pipe.fd >= 0)
      close(pipe.fd);
    pipe.fd = -1;
  }

  /// Tells the group to end when `stop` is set. True once it was made to, after its patience.
  bool endIfAsked() {
    if (!stop || !*stop)
      return false;
    if (!deadline) {
      deadline = Clock::now() + kPatience;
      kill(-pid, SIGTERM);
    }
    if (Clock::now() < *deadline)
      return false;
    kill(-pid, SIGKILL);
    return true;
  }

  pid_t pid;
  const std::atomic<bool> *stop;
  std::array<pollfd, 2> polls;
  std::optional<Clock::time_point> deadline; ///< set when it was told to end
};

} // namespace

ProcessResult runProcess(const std::vector<std::string> &arguments, const std::atomic<bool> *stop) {
  ProcessResult result;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
    result.errors = std::strerror(errno);
    return result;
  }
  std::vector<char *> argv;
  for (const std::string &a : arguments)
    argv.push_back(const_cast<char *>(a.c_str()));
  argv.push_back(nullptr);

  std::string path = "PATH=" + searchPath();
  // Messages of the host compiler are shown to the author and stored in tests:
  // one language only.
  std::string locale = "LC_ALL=C";
  std::vector<char *> env;
  for (char **e = environ; *e; ++e)
    if (std::strncmp(*e, "PATH=", 5) != 0 && std::strncmp(*e, "LC_ALL=", 7) != 0)
      env.push_back(*e);
  env.push_back(path.data());
  env.push_back(locale.data());
  env.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  // A group of its own: a compiler driver has children, which end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  int problem = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), env.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  if (problem) {
    close(out[0]);
    close(err[0]);
    result.errors = std::strerror(problem);
    return result;
  }
  result.started = true;
  Child(pid, {out[0], err[0]}, stop).finish(result);
  return result;
}

std::optional<std::string> findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  std::stringstream folders(searchPath());
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return std::nullopt;
}

} // namespace kiln::driver
