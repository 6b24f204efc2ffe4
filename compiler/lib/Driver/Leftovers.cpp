//===- Leftovers.cpp - what a process that ends at once must not leave ------------------------===//

#include "Leftovers.h"

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace kiln::driver {
namespace {

using PathText = std::array<char, PATH_MAX>;

std::atomic<pid_t> compilerGroup{0};
/// Taken: somebody writes the paths or has written them.
std::atomic<bool> isTaken{false};
/// The paths are complete.
std::atomic<bool> isSet{false};
PathText buildFolder, buildFile;

} // namespace

void setCompilerGroup(pid_t group) { compilerGroup = group; }

void rememberBuild(const std::string &folder, const std::string &file) {
  if (folder.size() >= PATH_MAX || file.size() >= PATH_MAX || isTaken.exchange(true))
    return;
  std::strcpy(buildFolder.data(), folder.c_str());
  std::strcpy(buildFile.data(), file.c_str());
  isSet = true;
}

void forgetBuild(const std::string &folder) {
  if (!isSet || folder != buildFolder.data())
    return;
  isSet = false;
  isTaken = false;
}

void abandonBuild() {
  if (const pid_t group = compilerGroup)
    kill(-group, SIGKILL);
  if (!isSet)
    return;
  unlink(buildFile.data());
  rmdir(buildFolder.data());
}

} // namespace kiln::driver
