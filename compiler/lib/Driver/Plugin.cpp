//===- Plugin.cpp - a kernel file, loaded -----------------------------------------------------===//

#include "Plugin.h"

#include "llvm/DebugInfo/Symbolize/Symbolize.h"

#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <link.h>

namespace kiln::driver {
namespace {

/// Load address and executable segments of the object around an address.
struct ObjectSearch {
  uint64_t wanted = 0, base = 0;
  std::vector<trace::TextRange> text;

  static int visit(dl_phdr_info *info, size_t, void *opaque) {
    auto &search = *static_cast<ObjectSearch *>(opaque);
    std::vector<trace::TextRange> text;
    bool found = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr) &segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD)
        continue;
      uint64_t begin = info->dlpi_addr + segment.p_vaddr;
      uint64_t end = begin + segment.p_memsz;
      found |= begin <= search.wanted && search.wanted < end;
      if (segment.p_flags & PF_X)
        text.push_back({begin, end});
    }
    if (!found)
      return 0;
    search.base = info->dlpi_addr;
    search.text = std::move(text);
    return 1;
  }
};

/// Whether `path` is an ELF file with all of its sections. The loader maps a truncated file without
/// a word and dies on the first missing page.
bool isWholeObject(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  file.seekg(0, std::ios::end);
  return uint64_t(file.tellg()) >= header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
}

} // namespace

struct CodeMap::Symbolizer {
  llvm::symbolize::LLVMSymbolizer lines;
};

CodeMap::CodeMap(const void *address, std::string path)
    : symbolizer(std::make_unique<Symbolizer>()), file(std::move(path)) {
  ObjectSearch search;
  search.wanted = reinterpret_cast<uint64_t>(address);
  dl_iterate_phdr(ObjectSearch::visit, &search);
  base = search.base;
  text = std::move(search.text);
}

CodeMap::~CodeMap() = default;
CodeMap::CodeMap(CodeMap &&) noexcept = default;

FileLine CodeMap::resolve(uint64_t address) const {
  auto line = symbolizer->lines.symbolizeCode(
      file, {address - base, llvm::object::SectionedAddress::UndefSection});
  if (!line) {
    // No line table: the chain stays short, which is not worth a message.
    llvm::consumeError(line.takeError());
    return {};
  }
  if (line->FileName == llvm::DILineInfo::BadString)
    return {};
  return {line->FileName, line->Line};
}

std::variant<Plugin, Diagnostic> loadPlugin(const std::string &path,
                                            const std::string &kernelFile) {
  // A name without a slash would be searched in the system's folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (!isWholeObject(file)) {
    Diagnostic d;
    d.rule = "X-03";
    d.message = "'" + kernelFile + "' is not a whole shared object";
    d.help = "build it again with -shared -fPIC";
    return d;
  }
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    Diagnostic d;
    d.rule = "X-03";
    d.message = "cannot load '" + kernelFile + "': " + dlerror();
    d.help = "every function a kernel file calls must be defined in it or in "
             "the nl/ headers";
    return d;
  }
  using Entry = const nl::detail::PluginInfo *();
  auto entry = reinterpret_cast<Entry *>(dlsym(handle, "kiln_plugin"));
  const nl::detail::PluginInfo *info = entry ? entry() : nullptr;
  if (auto problem = trace::checkPlugin(info, kernelFile)) {
    dlclose(handle);
    return *problem;
  }
  return Plugin{info, CodeMap(reinterpret_cast<const void *>(entry), file)};
}

} // namespace kiln::driver
