//===- PluginTest.cpp - kernel files built by each host compiler, loaded and traced -----------===//
//
// The helper chain of a statement must be the same whichever compiler built the kernel file, and so
// must the whole trace.
//
//===------------------------------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <unistd.h>

namespace kiln::test {
namespace {

/// Output of a command, without the last newline.
std::string outputOf(const std::string &command) {
  std::string out;
  if (FILE *pipe = popen(command.c_str(), "r")) {
    char buffer[512];
    while (size_t n = fread(buffer, 1, sizeof buffer, pipe))
      out.append(buffer, n);
    pclose(pipe);
  }
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

/// Executable addresses of the loaded object at `base`.
std::vector<trace::TextRange> textOf(uint64_t base) {
  std::vector<trace::TextRange> ranges;
  std::pair<uint64_t, std::vector<trace::TextRange> *> wanted{base, &ranges};
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        auto &[base, ranges] = *static_cast<decltype(wanted) *>(data);
        for (int i = 0; object->dlpi_addr == base && i < object->dlpi_phnum; ++i)
          if (const auto &segment = object->dlpi_phdr[i];
              segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
            ranges->push_back({base + segment.p_vaddr, base + segment.p_vaddr + segment.p_memsz});
        return 0;
      },
      &wanted);
  return ranges;
}

/// A kernel file of test/DSL, compiled and loaded.
class LoadedKernelFile {
public:
  LoadedKernelFile(const std::string &compiler, const std::string &name)
      : source(std::string(KILN_TEST_DSL_DIR) + "/" + name) {
    std::string pattern =
        (std::filesystem::path(testing::TempDir()) / "kiln-plugin-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    library = (folder / (name + ".so")).string();
    // Hidden: the inline functions of nl/ this program exports must not replace the kernel file's
    // own.
    std::string command =
        compiler +
        " -std=c++20 -fPIC -shared -O0 -g1 -fno-omit-frame-pointer -fvisibility=hidden -I " +
        KILN_NL_INCLUDE + " " + source + " -o " + library;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(handle) << dlerror();
    auto query =
        reinterpret_cast<const nl::detail::PluginInfo *(*)()>(dlsym(handle, "kiln_plugin"));
    info = query();
    EXPECT_FALSE(trace::checkPlugin(info, source));
  }
  ~LoadedKernelFile() {
    dlclose(handle);
    std::filesystem::remove_all(folder);
  }
  LoadedKernelFile(const LoadedKernelFile &) = delete;

  TraceResult trace(const std::string &kernel, const std::vector<driver::Arg> &args) const {
    trace::TraceOptions options;
    options.kernelFile = source;
    options.includeDir = KILN_NL_INCLUDE;
    link_map *map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    const uint64_t base = map->l_addr;
    options.text = textOf(base);
    options.resolver = [this, base](uint64_t address) {
      std::ostringstream command;
      command << KILN_SYMBOLIZER << " --obj=" << library << " --output-style=GNU --functions=none "
              << (address - base);
      std::string line = outputOf(command.str());
      size_t colon = line.rfind(':');
      return colon == std::string::npos
                 ? FileLine{}
                 : FileLine{line.substr(0, colon), unsigned(std::atoi(line.c_str() + colon + 1))};
    };
    auto found = trace::findKernel(*info, kernel, source);
    return trace::traceKernel(*std::get<0>(found), args, options);
  }

private:
  std::string source, library;
  std::filesystem::path folder;
  void *handle = nullptr;
  const nl::detail::PluginInfo *info = nullptr;
};

class Plugin : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!*GetParam())
      GTEST_SKIP() << "this host compiler is not installed";
  }
};

TEST_P(Plugin, StatementsKnowTheHelpersTheyLieIn) {
  LoadedKernelFile file(GetParam(), "Chain.cpp");
  TraceResult r = file.trace("chain", {TensorArg{DType::Float32, {128, 4}}});
  ASSERT_EQ(errorsOf(r), "");
  ASSERT_EQ(r.trace.instructions.size(), 4u);
  auto place = [&](unsigned i) {
    return placeText(r.trace.chain(r.trace.instructions[i].location));
  };
  EXPECT_EQ(place(0), "ChainHelpers.h:11 < Chain.cpp:14 < Chain.cpp:22 < Chain.cpp:25");
  EXPECT_EQ(place(1), "Chain.cpp:15 < Chain.cpp:22 < Chain.cpp:25");
  // A helper that passes its caller's place on is no part of the chain.
  EXPECT_EQ(place(2), "Chain.cpp:22 < Chain.cpp:25");
  EXPECT_EQ(place(3), "ChainHelpers.h:11 < Chain.cpp:26 < Chain.cpp:27");
  for (const trace::Tensor &t : r.trace.tensors) {
    if (t.role == trace::TensorRole::Output) {
      EXPECT_EQ(placeText(r.trace.chain(t.location)), "Chain.cpp:20");
    }
  }
}

TEST_P(Plugin, ErrorsCarryTheChain) {
  LoadedKernelFile file(GetParam(), "Chain.cpp");
  TraceResult r = file.trace("wrong", {TensorArg{DType::Float32, {128, 4}}});
  ASSERT_EQ(r.diagnostics.size(), 2u);
  EXPECT_EQ(r.diagnostics[0].message, "index 600 is outside dim 0 of 'x' (extent 128)");
  EXPECT_EQ(placeText(r.diagnostics[0].place), "Chain.cpp:33");
  EXPECT_EQ(r.diagnostics[1].rule, "P-02");
  EXPECT_EQ(placeText(r.diagnostics[1].place), "ChainHelpers.h:10 < Chain.cpp:14 < Chain.cpp:33");
}

INSTANTIATE_TEST_SUITE_P(Compilers, Plugin, testing::Values(KILN_TEST_GCC, KILN_TEST_CLANG),
                         [](const auto &info) {
                           return std::string(info.index ? "clang" : "gcc");
                         });

TEST(PluginTraces, AreTheSameUnderEveryCompiler) {
  if (!*KILN_TEST_GCC || !*KILN_TEST_CLANG)
    GTEST_SKIP() << "needs two host compilers";
  const TensorArg lhsT{DType::BFloat16, {200, 130}}, rhs{DType::BFloat16, {200, 600}};
  auto traced = [&](const char *compiler) {
    LoadedKernelFile file(compiler, "Sample.cpp");
    std::string out;
    for (const TraceResult &r :
         {file.trace("matmul_tiled", {lhsT, rhs}), file.trace("softmax", {rhs, 0.125})}) {
      EXPECT_EQ(errorsOf(r), "");
      out += dump(r);
      for (const trace::Instruction &i : r.trace.instructions)
        out += placeText(r.trace.chain(i.location)) + "\n";
    }
    return out;
  };
  std::string gcc = traced(KILN_TEST_GCC);
  EXPECT_EQ(traced(KILN_TEST_CLANG), gcc);
  EXPECT_NE(gcc.find("nc_matmul dst=t"), std::string::npos);
}

} // namespace
} // namespace kiln::test
