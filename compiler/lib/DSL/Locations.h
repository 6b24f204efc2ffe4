//===- Locations.h - where the author's statements are ----------------------------------------===//
//
// While a kernel runs, a place is the SrcLoc of the statement and the return addresses of the
// frames above it: cheap, and equal places share one number. File and line of the frames are looked
// up only when the trace is finished.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_LOCATIONS_H
#define KILN_LIB_DSL_LOCATIONS_H

#include "kiln/Trace/Tracer.h"

#include <unordered_map>

namespace kiln::trace {

/// Number of a place in a LocationTable, while tracing.
using Place = uint32_t;

class LocationTable {
public:
  explicit LocationTable(const TraceOptions &options) : options(options) {}

  /// Frames from here outwards are not the kernel's. 0: frames are not looked at.
  void setInvokerFrame(uintptr_t frame) { invokerFrame = frame; }

  /// From here on every statement belongs to `place`, which this table does not know: the caller's
  /// own number.
  void pin(Place place) { pinned = place; }

  /// The place of `loc`, reached through the frames that are on the stack now.
  Place capture(const nl::SrcLoc &loc);
  /// The place of `loc` alone.
  Place plain(const nl::SrcLoc &loc) { return intern(loc, {}); }

  /// The author's statement and its call sites, innermost first. Valid for every place, while the
  /// kernel file is loaded.
  CallChain chain(Place place);

private:
  struct Entry {
    const char *file;
    uint32_t line;
    uint32_t firstAddress, addressCount;
    Place next; ///< of the same hash; kNone: none
  };

  Place intern(const nl::SrcLoc &loc, std::span<const uintptr_t> addresses);
  bool equal(const Entry &entry, const nl::SrcLoc &loc, std::span<const uintptr_t> addresses) const;
  bool isKernelCode(uintptr_t address) const;
  /// The author's frame that holds `address`, or line 0.
  const FileLine &frame(uintptr_t address);
  const std::string &pathOf(const char *file);

  const TraceOptions &options;
  uintptr_t invokerFrame = 0;
  std::optional<Place> pinned;
  std::vector<Entry> entries;
  std::vector<uintptr_t> addressPool;
  std::unordered_map<uint64_t, Place> byHash;
  std::unordered_map<uintptr_t, FileLine> frames;
  std::unordered_map<const char *, std::string> paths;
};

} // namespace kiln::trace

#endif // KILN_LIB_DSL_LOCATIONS_H
