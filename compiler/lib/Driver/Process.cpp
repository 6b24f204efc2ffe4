//===- Process.cpp - run a program and keep what it says --------------------------------------===//

#include "Process.h"

#include <array>
#include <cerrno>
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

/// Reads both pipes until each is closed, so that neither side blocks on a full
/// pipe.
void drain(std::array<int, 2> fds, std::array<std::string *, 2> texts) {
  std::array<pollfd, 2> polls{{{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}}};
  int open = 2;
  std::array<char, 65536> buffer;
  while (open > 0) {
    if (poll(polls.data(), polls.size(), -1) < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    for (size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || !polls[i].revents)
        continue;
      ssize_t n = read(polls[i].fd, buffer.data(), buffer.size());
      if (n > 0)
        texts[i]->append(buffer.data(), size_t(n));
      else if (n == 0 || errno != EINTR) {
        close(polls[i].fd);
        polls[i].fd = -1;
        --open;
      }
    }
  }
}

} // namespace

ProcessResult runProcess(const std::vector<std::string> &arguments) {
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
  pid_t pid = 0;
  int problem = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), env.data());
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
  drain({out[0], err[0]}, {&result.output, &result.errors});
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
