//===- File.h - reading and atomically replacing files ----------------------------------------===//
//
// Thin over POSIX, because a reader of hostile input must know the size before
// it allocates, and a writer must not leave half a file.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_HOSTDATA_FILE_H
#define KILNRT_HOSTDATA_FILE_H

#include "kilnrt/Expected.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace kilnrt {

/// A regular file open for reading.
class InputFile {
public:
  /// Directories, devices and pipes are refused: they have no size to trust.
  static Expected<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&) = delete;
  ~InputFile();

  uint64_t bytes() const { return size; } ///< when it was opened
  /// Fills `target` from `offset` on; a file that has become shorter is an
  /// error.
  Status read(uint64_t offset, std::span<std::byte> target) const;

private:
  InputFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  std::string path;
  int descriptor = -1;
  uint64_t size = 0;
};

/// Replaces `path` by a file that holds `pieces` one after the other, or leaves
/// it untouched. Symbolic links are followed. Devices and pipes are written to,
/// not replaced.
Status replaceFile(const std::string &path,
                   std::initializer_list<std::span<const std::byte>> pieces);

} // namespace kilnrt

#endif // KILNRT_HOSTDATA_FILE_H
