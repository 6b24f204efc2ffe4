//===- File.cpp - reading and atomically replacing files --------------------------------------===//
//
// See File.h.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/HostData/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kilnrt {
namespace {

// One system call moves at most about 2 GiB.
constexpr size_t kMostAtOnce = size_t{1} << 30;

Diagnostic systemError(std::string_view action, const std::string &path, int code) {
  return makeError(Fault::User, fmt::format("cannot {} '{}': {}", action, path,
                                            std::generic_category().message(code)));
}

int openRetrying(const char *path, int flags, mode_t mode = 0) {
  int descriptor;
  do
    descriptor = ::open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// Writes everything; returns 0 or an errno.
int writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t done = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return errno;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return 0;
}

int writePieces(int descriptor, std::initializer_list<std::span<const std::byte>> pieces) {
  int code = 0;
  for (std::span<const std::byte> piece : pieces)
    if (code == 0)
      code = writeAll(descriptor, piece);
  // Some file systems report a full disk only here.
  if (::close(descriptor) != 0 && code == 0 && errno != EINTR)
    code = errno;
  return code;
}

/// The file a chain of symbolic links ends at, or `path` where there is none
/// yet.
std::string followLinks(const std::string &path) {
  std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                       &std::free);
  return resolved ? std::string(resolved.get()) : path;
}

/// Opens a new file beside `target`, with the permissions the user's umask
/// gives.
int openTemporary(const std::string &target, std::string &temporary) {
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    temporary = fmt::format("{}.{}-{}.tmp", target, ::getpid(), attempt);
    int descriptor = openRetrying(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

} // namespace

Expected<InputFile> InputFile::open(const std::string &path) {
  // Without O_NONBLOCK a pipe that nobody writes to would block here.
  int descriptor = openRetrying(path.c_str(), O_RDONLY | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("open", path, errno);
  InputFile file(path, descriptor);
  struct stat facts;
  if (::fstat(descriptor, &facts) != 0)
    return systemError("open", path, errno);
  if (S_ISDIR(facts.st_mode))
    return makeError(Fault::User, fmt::format("'{}' is a directory, not a .npy file", path));
  if (!S_ISREG(facts.st_mode))
    return makeError(Fault::User,
                     fmt::format("'{}' is a pipe or a device, not a regular file", path),
                     "write the array to a file first");
  file.size = static_cast<uint64_t>(facts.st_size);
  return file;
}

InputFile::InputFile(InputFile &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
      size(other.size) {}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status InputFile::read(uint64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    ssize_t done = ::pread(descriptor, target.data(), std::min(target.size(), kMostAtOnce),
                           static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return systemError("read", path, errno);
    if (done == 0)
      return makeError(Fault::User, fmt::format("'{}' became shorter while it was read", path));
    offset += static_cast<uint64_t>(done);
    target = target.subspan(static_cast<size_t>(done));
  }
  return Status::ok();
}

Status replaceFile(const std::string &path,
                   std::initializer_list<std::span<const std::byte>> pieces) {
  const std::string target = followLinks(path);
  struct stat facts;
  if (::stat(target.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    // Renaming over /dev/null would remove the device.
    int descriptor = openRetrying(target.c_str(), O_WRONLY);
    int code = descriptor < 0 ? errno : writePieces(descriptor, pieces);
    return code ? Status(systemError("write", path, code)) : Status::ok();
  }
  std::string temporary;
  int descriptor = openTemporary(target, temporary);
  if (descriptor < 0)
    return systemError("write", path, errno);
  int code = writePieces(descriptor, pieces);
  if (code == 0 && ::rename(temporary.c_str(), target.c_str()) != 0)
    code = errno;
  if (code == 0)
    return Status::ok();
  ::unlink(temporary.c_str());
  return systemError("write", path, code);
}

} // namespace kilnrt
