//===- BuildId.cpp - identity of the running libkiln ------------------------------------------===//

#include "BuildId.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <link.h>

namespace kiln::driver {
namespace {

struct NoteSearch {
  uint64_t wanted = 0;
  std::string id;
};

size_t padded(size_t bytes) { return (bytes + 3) & ~size_t(3); }

/// The build id among the notes [begin, end).
std::string buildIdIn(const char *begin, const char *end) {
  constexpr uint32_t kBuildId = 3; // NT_GNU_BUILD_ID
  while (begin + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, begin, sizeof(note));
    const char *name = begin + sizeof(note);
    const char *value = name + padded(note.n_namesz);
    if (value + note.n_descsz > end)
      break;
    if (note.n_type == kBuildId && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return llvm::toHex(llvm::StringRef(value, note.n_descsz),
                         /*LowerCase=*/true);
    begin = value + padded(note.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info *info, size_t, void *opaque) {
  auto &search = *static_cast<NoteSearch *>(opaque);
  bool mine = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    mine |= segment.p_type == PT_LOAD && begin <= search.wanted &&
            search.wanted < begin + segment.p_memsz;
  }
  if (!mine)
    return 0;
  for (int i = 0; i < info->dlpi_phnum && search.id.empty(); ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    auto *begin = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
    search.id = buildIdIn(begin, begin + segment.p_memsz);
  }
  return 1;
}

} // namespace

std::string ownBuildId() {
  NoteSearch search;
  search.wanted = reinterpret_cast<uint64_t>(&ownBuildId);
  dl_iterate_phdr(visit, &search);
  return search.id;
}

} // namespace kiln::driver
