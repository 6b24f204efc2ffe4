//===- Host.cpp - kernels run by the program that contains them -------------------------------===//

#include "nl/host.h"

#include "Compiler.h"
#include "Plugin.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kilnrt/Executor.h"
#include "kilnrt/HostData/Argument.h"
#include "kilnrt/Numerics/Convert.h"

#include <cstring>

namespace isa = kiln::isa;

namespace nl {
namespace {

isa::DType toIsa(DType type) { return static_cast<isa::DType>(type); }
DType fromIsa(isa::DType type) { return static_cast<DType>(type); }

[[noreturn]] void fail(const std::vector<kiln::Diagnostic> &diagnostics) {
  std::string text;
  for (const kiln::Diagnostic &d : diagnostics)
    text += kiln::toText(d);
  throw RunError(text);
}

kilnrt::HostArray toHost(const Array &array) {
  kilnrt::HostArray host;
  host.dtype = toIsa(array.dtype());
  host.shape = array.shape();
  host.data.resize(array.bytes.size());
  std::memcpy(host.data.data(), array.bytes.data(), array.bytes.size());
  return host;
}

Array fromHost(const kilnrt::HostArray &host) {
  Array array(host.shape, fromIsa(host.dtype));
  std::memcpy(array.bytes.data(), host.data.data(), host.data.size());
  return array;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

kilnrt::HostArray materialise(const std::string &argument) {
  auto parsed = kilnrt::parseArgument(argument);
  if (!parsed)
    fail({parsed.error()});
  const auto *tensor = std::get_if<kilnrt::TensorArgument>(&parsed->value);
  if (!tensor)
    fail({kilnrt::makeError(kiln::Fault::User, "'" + argument + "' is no array",
                            "write it as on the command line, as in "
                            "rand:64x512:bf16:1")});
  std::vector<kiln::Diagnostic> notes;
  auto array = kilnrt::materialise(*tensor, notes);
  if (!array)
    fail({array.error()});
  return std::move(*array);
}

kiln::driver::Arg argumentOf(const Value &value) {
  return std::visit(
      [](const auto &v) -> kiln::driver::Arg {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, Array>)
          return kiln::driver::TensorArg{toIsa(v.dtype()), v.shape()};
        else
          return v;
      },
      value);
}

} // namespace

Array::Array(std::vector<int64_t> shape, DType dtype) : type(dtype), extents(std::move(shape)) {
  // The parser of arguments knows all limits of a shape.
  std::string argument = "zeros:" + shapeText(extents) + ":" + std::string(isa::name(toIsa(dtype)));
  bytes.resize(materialise(argument).data.size());
}

Array::Array(const char *argument) : type(DType::float32) {
  kilnrt::HostArray host = materialise(argument);
  type = fromIsa(host.dtype);
  extents = host.shape;
  bytes.resize(host.data.size());
  std::memcpy(bytes.data(), host.data.data(), host.data.size());
}

int64_t Array::size() const { return int64_t(bytes.size() / isa::bytesOf(toIsa(type))); }

double Array::operator[](int64_t i) const {
  unsigned width = isa::bytesOf(toIsa(type));
  const unsigned char *at = bytes.data() + i * width;
  // Not every 32-bit integer is a float.
  if (type == DType::int32) {
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (type == DType::uint32) {
    uint32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  float value;
  kilnrt::loadRow(toIsa(type), reinterpret_cast<const std::byte *>(at), width, 1, &value);
  return value;
}

void Array::set(int64_t i, double value) {
  unsigned width = isa::bytesOf(toIsa(type));
  unsigned char *at = bytes.data() + i * width;
  if (type == DType::int32) {
    int32_t whole = int32_t(value);
    std::memcpy(at, &whole, sizeof(whole));
    return;
  }
  if (type == DType::uint32) {
    uint32_t whole = uint32_t(value);
    std::memcpy(at, &whole, sizeof(whole));
    return;
  }
  kilnrt::storeElement(toIsa(type), float(value), reinterpret_cast<std::byte *>(at));
}

namespace detail {

std::vector<Array> execute(const PluginInfo &kernels, const char *name,
                           const std::vector<Value> &args, const LaunchOptions &launch,
                           const SrcLoc &loc) {
  kiln::trace::refuseLaunchInKernel(name, loc);
  if (auto problem = kiln::trace::checkLaunch(name, launch.cores))
    fail({*problem});
  auto kernel = kiln::trace::findKernel(kernels, name, "this program");
  if (auto *problem = std::get_if<kiln::Diagnostic>(&kernel))
    fail({*problem});
  const KernelEntry &entry = *std::get<const KernelEntry *>(kernel);

  kiln::driver::CodeMap code(reinterpret_cast<const void *>(entry.function), "/proc/self/exe");
  kiln::trace::TraceOptions options;
  options.kernelFile = entry.place.file;
  std::string header = kernels.header;
  options.includeDir = header.substr(0, header.rfind("/nl/"));
  options.text = code.text;
  options.resolver = [&code](uint64_t address) { return code.resolve(address); };
  std::vector<kiln::driver::Arg> kernelArgs;
  std::vector<kilnrt::HostArray> inputs;
  for (const Value &value : args) {
    kernelArgs.push_back(argumentOf(value));
    if (const auto *array = std::get_if<Array>(&value))
      inputs.push_back(toHost(*array));
  }
  kiln::trace::TraceResult traced = kiln::trace::traceKernel(entry, kernelArgs, options);
  if (!traced.ok)
    fail(traced.diagnostics);

  kiln::driver::CompileResult compiled;
  kiln::driver::compileTrace(traced.trace, {}, compiled);
  if (!compiled.ok)
    fail(compiled.diagnostics);
  auto program = kilnrt::load(compiled.program);
  if (!program)
    fail({program.error()});
  auto executable = kilnrt::Executable::prepare(*program);
  if (!executable)
    fail({executable.error()});
  auto result = executable->run(inputs);
  if (!result)
    fail({result.error()});
  std::vector<Array> outputs;
  for (const kilnrt::HostArray &output : result->outputs)
    outputs.push_back(fromHost(output));
  return outputs;
}

} // namespace detail
} // namespace nl
