//===- Locations.cpp - capturing places and turning them into lines ---------------------------===//
//
// Kernel files are compiled with frame pointers, and so is this library: the helper chain of a
// statement is a walk over saved frame pointers, bounded by the frame of whoever called the kernel.
//
//===------------------------------------------------------------------------------------------===//

#include "Locations.h"

#include <filesystem>

namespace kiln::trace {
namespace {

/// Deeper helper chains are cut; recursion in a kernel should not make its messages unreadable.
constexpr size_t kMaxFrames = 64;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value;
  hash *= 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

bool isSystemPath(const std::string &path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.find("/include/c++/") != std::string::npos;
}

/// Collects the return addresses above `frame` that `accept` takes. Reads stack memory of callers,
/// which the address sanitizer cannot tell from a fault.
template <class Accept>
__attribute__((no_sanitize("address"))) size_t walkFrames(uintptr_t frame, uintptr_t end,
                                                          Accept accept, uintptr_t *out,
                                                          size_t capacity) {
  size_t count = 0;
  while (count < capacity) {
    const auto *saved = reinterpret_cast<const uintptr_t *>(frame);
    uintptr_t caller = saved[0], returnAddress = saved[1];
    if (accept(returnAddress))
      out[count++] = returnAddress;
    // A frame without a frame pointer (a callback through a C library) leaves anything here; frames
    // of the kernel lie above this one and below the invoker's.
    if (caller <= frame || caller >= end || caller % alignof(uintptr_t) != 0)
      break;
    frame = caller;
  }
  return count;
}

} // namespace

bool LocationTable::isKernelCode(uintptr_t address) const {
  for (const TextRange &range : options.text)
    if (address >= range.begin && address < range.end)
      return true;
  return false;
}

__attribute__((noinline)) Place LocationTable::capture(const nl::SrcLoc &loc) {
  if (pinned)
    return *pinned;
  uintptr_t addresses[kMaxFrames];
  size_t count = 0;
  auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (options.resolver && !options.text.empty() && frame < invokerFrame)
    count = walkFrames(
        frame, invokerFrame, [this](uintptr_t a) { return isKernelCode(a); }, addresses,
        kMaxFrames);
  return intern(loc, {addresses, count});
}

bool LocationTable::equal(const Entry &entry, const nl::SrcLoc &loc,
                          std::span<const uintptr_t> addresses) const {
  if (entry.file != loc.file || entry.line != loc.line || entry.addressCount != addresses.size())
    return false;
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addressPool[entry.firstAddress + i] != addresses[i])
      return false;
  return true;
}

Place LocationTable::intern(const nl::SrcLoc &loc, std::span<const uintptr_t> addresses) {
  uint64_t hash = mix(reinterpret_cast<uintptr_t>(loc.file), loc.line);
  for (uintptr_t address : addresses)
    hash = mix(hash, address);
  auto [slot, isNew] = byHash.try_emplace(hash, kNone);
  for (Place p = slot->second; p != kNone; p = entries[p].next)
    if (equal(entries[p], loc, addresses))
      return p;
  auto place = static_cast<Place>(entries.size());
  entries.push_back({loc.file, loc.line, static_cast<uint32_t>(addressPool.size()),
                     static_cast<uint32_t>(addresses.size()), slot->second});
  addressPool.insert(addressPool.end(), addresses.begin(), addresses.end());
  slot->second = place;
  return place;
}

const std::string &LocationTable::pathOf(const char *file) {
  auto [slot, isNew] = paths.try_emplace(file);
  if (isNew)
    slot->second = relativeToKernel(file, options.kernelFile);
  return slot->second;
}

const FileLine &LocationTable::frame(uintptr_t address) {
  auto [slot, isNew] = frames.try_emplace(address);
  if (!isNew)
    return slot->second;
  // The return address may belong to the next statement; the call ends one byte before it.
  FileLine found = options.resolver(address - 1);
  std::string path = std::filesystem::path(found.file).lexically_normal().string();
  std::string nlFolder =
      (std::filesystem::path(options.includeDir) / "nl" / "").lexically_normal().string();
  bool isHeader = !options.includeDir.empty() && path.starts_with(nlFolder);
  if (!path.empty() && found.line != 0 && !isHeader && !isSystemPath(path))
    slot->second = {relativeToKernel(path, options.kernelFile), found.line};
  return slot->second;
}

CallChain LocationTable::chain(Place place) {
  if (pinned)
    return {FileLine{}};
  const Entry &entry = entries[place];
  CallChain chain{{pathOf(entry.file), entry.line}};
  CallChain callers;
  for (uint32_t i = 0; i < entry.addressCount; ++i)
    if (const FileLine &f = frame(addressPool[entry.firstAddress + i]); f.line != 0)
      callers.push_back(f);
  // The innermost frame is the statement itself; a helper that passes on its caller's SrcLoc moves
  // the statement outwards.
  size_t statement = 0;
  for (size_t i = 0; i < callers.size(); ++i)
    if (callers[i] == chain.front()) {
      statement = i;
      break;
    }
  for (size_t i = statement + 1; i < callers.size(); ++i)
    chain.push_back(callers[i]);
  return chain;
}

std::string relativeToKernel(const std::string &path, const std::string &kernelFile) {
  namespace fs = std::filesystem;
  fs::path file = fs::path(path).lexically_normal();
  fs::path folder = fs::path(kernelFile).parent_path().lexically_normal();
  if (file.is_absolute() != folder.is_absolute())
    return file.string();
  fs::path relative = file.lexically_relative(folder.empty() ? fs::path(".") : folder);
  return relative.empty() ? file.string() : relative.string();
}

} // namespace kiln::trace
