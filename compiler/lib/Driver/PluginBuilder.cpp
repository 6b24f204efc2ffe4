//===- PluginBuilder.cpp - from a kernel file to a shared object ------------------------------===//

#include "PluginBuilder.h"

#include "HostMessages.h"
#include "Leftovers.h"
#include "Process.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace kiln::driver {
namespace {

/// -O0 and frame pointers: a kernel's C++ only records, so build time matters,
/// and the call chain of every statement is read from the frames and the line
/// table.
const std::vector<std::string> kFlags = {"-std=c++20", "-O0",
                                         "-g1",        "-fno-omit-frame-pointer",
                                         "-fPIC",      "-fvisibility=hidden",
                                         "-shared",    "-Wno-unused-command-line-argument"};

Diagnostic buildError(std::string message, std::string help, const std::string &file) {
  Diagnostic d;
  d.rule = "X-03";
  d.message = std::move(message);
  d.help = std::move(help);
  if (!file.empty())
    d.place = {FileLine{fs::path(file).filename().string(), 0}};
  return d;
}

/// The compiler as words of a command: $CXX may be "ccache g++". Empty when there is none.
std::vector<std::string> chooseCompiler(const std::string &asked) {
  std::string text = asked;
  if (const char *cxx = std::getenv("CXX"); text.empty() && cxx)
    text = cxx;
  if (text.empty())
    for (const char *name : {"g++", "clang++", "c++"})
      if (auto path = findProgram(name))
        return {*path};
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;)
    words.push_back(word);
  auto path = words.empty() ? std::nullopt : findProgram(words.front());
  if (!path)
    return {};
  words.front() = *path;
  return words;
}

Diagnostic noCompiler(const std::string &asked) {
  const char *cxx = std::getenv("CXX");
  if (!asked.empty())
    return buildError("there is no program '" + asked + "' to compile kernels with",
                      "give --host-compiler a C++20 compiler", "");
  if (cxx && *cxx)
    return buildError("CXX is '" + std::string(cxx) + "', and there is no such program",
                      "set CXX to a C++20 compiler, or unset it", "");
  return buildError("no host C++ compiler was found", "install g++ or set CXX", "");
}

/// Whether `source` is a file a host compiler can build.
std::optional<Diagnostic> checkSource(const std::string &source) {
  struct stat info;
  if (stat(source.c_str(), &info) != 0)
    return buildError("cannot read the kernel file '" + source + "': " + std::strerror(errno),
                      "name an existing .cpp file, as in examples/03_matmul.cpp:matmul_tiled", "");
  std::string ending = fs::path(source).extension();
  bool isSource = ending == ".cpp" || ending == ".cc" || ending == ".cxx" || ending == ".C";
  if (!S_ISREG(info.st_mode) || !isSource)
    return buildError("'" + source + "' is no kernel file",
                      "a kernel is a .cpp to build, a .so to load, or a .kiln program", "");
  return std::nullopt;
}

/// Flags only one compiler knows.
std::vector<std::string> compilerFlags(const std::string &identity) {
  std::vector<std::string> flags = kFlags;
  bool clang = identity.find("clang") != std::string::npos;
  if (!clang)
    flags.pop_back(); // g++ has no such warning
  // Fields out of NKI's order, and t[i, j] in C++20, compile silently into
  // something else.
  flags.push_back(clang ? "-Werror=reorder-init-list" : "-Werror=comma-subscript");
  return flags;
}

/// The cache folder, or nothing when it cannot be trusted or made: only the
/// user may write there, since whatever lies in it is loaded as code.
std::optional<fs::path> cacheFolder(std::string &problemText) {
  fs::path folder;
  if (const char *own = std::getenv("KILN_CACHE_DIR"); own && *own)
    folder = own;
  else if (const char *xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg)
    folder = fs::path(xdg) / "kiln";
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = fs::path(home) / ".cache" / "kiln";
  else
    return std::nullopt;
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return std::nullopt;
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 0077) != 0) {
    problemText = "the cache '" + folder.string() + "' is not used: only its owner may enter it";
    return std::nullopt;
  }
  return folder;
}

std::string hashOf(const std::vector<std::string> &parts) {
  llvm::SHA256 hash;
  for (const std::string &part : parts) {
    // The length keeps ("ab", "c") and ("a", "bc") apart.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  auto digest = hash.final();
  return llvm::toHex(llvm::ArrayRef<uint8_t>(digest.data(), digest.size()),
                     /*LowerCase=*/true);
}

/// The first lines of a host compiler's output: its first errors are the ones
/// that matter.
std::string firstLines(const std::string &text, unsigned limit) {
  size_t end = 0;
  for (unsigned i = 0; i < limit && end < text.size(); ++i) {
    size_t next = text.find('\n', end);
    end = next == std::string::npos ? text.size() : next + 1;
  }
  std::string out = text.substr(0, end);
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return end < text.size() ? out + "\n..." : out;
}

std::vector<Diagnostic> compileFailure(const std::string &source, const std::string &includeDir,
                                       const std::string &compiler, const ProcessResult &run) {
  constexpr unsigned kShownLines = 40;
  const std::string program = fs::path(compiler).filename().string();
  if (run.stopped) {
    Diagnostic d =
        buildError("the build of the kernel file by " + program + " was stopped", "", source);
    d.rule = "";
    d.fault = Fault::Limit;
    return {d};
  }
  if (!run.started)
    return {buildError("the host compiler '" + compiler + "' could not be started: " + run.errors,
                       "set CXX to a C++20 compiler", source)};
  HostMessages messages = readHostMessages(run.errors, source, includeDir);
  if (!messages.known.empty() && !messages.hasOthers)
    return std::move(messages.known);
  Diagnostic d =
      buildError("the host compiler rejects the kernel file",
                 "the messages above are " + compiler + "'s; a kernel file is C++20", source);
  d.notes.push_back({"what " + program + " says:\n" + firstLines(run.errors, kShownLines), {}});
  messages.known.push_back(std::move(d));
  return std::move(messages.known);
}

} // namespace

BuiltPlugin::~BuiltPlugin() {
  if (temporaryDir.empty())
    return;
  std::error_code ignored;
  fs::remove_all(temporaryDir, ignored);
  forgetBuild(temporaryDir);
}

std::variant<BuiltPlugin, std::vector<Diagnostic>> buildPlugin(const std::string &source,
                                                               const BuildOptions &options) {
  if (auto problem = checkSource(source))
    return std::vector{*problem};
  std::error_code problem;
  // Absolute: a name that starts with '-' would be an option.
  std::string file = fs::absolute(source, problem).lexically_normal();
  std::vector<std::string> compiler = chooseCompiler(options.hostCompiler);
  if (compiler.empty())
    return std::vector{noCompiler(options.hostCompiler)};
  const std::atomic<bool> *stop = options.activity ? &options.activity->stop : nullptr;
  const auto runCompiler = [&compiler, stop](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), compiler.begin(), compiler.end());
    return runProcess(arguments, stop);
  };
  ProcessResult version = runCompiler({"--version"});
  if (!version.started || version.exitCode != 0)
    return compileFailure(source, options.includeDir, compiler.front(), version);
  std::vector<std::string> flags = compilerFlags(version.output);
  flags.push_back("-I" + options.includeDir);

  std::vector<std::string> preprocess = flags;
  std::erase(preprocess, "-shared");
  preprocess.insert(preprocess.end(), {"-E", file});
  ProcessResult text = runCompiler(preprocess);
  if (!text.started || text.exitCode != 0)
    return compileFailure(source, options.includeDir, compiler.front(), text);

  std::string cacheProblem;
  auto cache = options.useCache ? cacheFolder(cacheProblem) : std::nullopt;
  std::string key = hashOf({text.output, llvm::join(flags, " "), version.output, options.buildId});
  fs::path cached = cache ? *cache / (key + ".so") : fs::path();
  if (cache && !options.rebuild && access(cached.c_str(), R_OK) == 0)
    return BuiltPlugin(cached, "", /*fromCache=*/true);

  fs::path temporary = fs::temp_directory_path(problem);
  std::string workspace = (cache ? *cache : problem ? "/tmp" : temporary) / "kiln-build-XXXXXX";
  if (!mkdtemp(workspace.data()))
    return std::vector{
        buildError("cannot make a folder for the build: " + std::string(std::strerror(errno)),
                   "check TMPDIR, or set KILN_CACHE_DIR to a writable folder", "")};
  rememberBuild(workspace, workspace + "/kernel.so");
  BuiltPlugin result(workspace + "/kernel.so", workspace, /*fromCache=*/false);
  result.cacheProblem = cacheProblem;
  std::vector<std::string> compile = flags;
  compile.insert(compile.end(), {file, "-o", result.path});
  ProcessResult run = runCompiler(compile);
  if (!run.started || run.exitCode != 0)
    return compileFailure(source, options.includeDir, compiler.front(), run);
  // Atomic: another process that builds the same key leaves the same file.
  if (!cache || std::rename(result.path.c_str(), cached.c_str()) != 0)
    return result;
  return BuiltPlugin(cached, "", /*fromCache=*/false);
}

} // namespace kiln::driver
