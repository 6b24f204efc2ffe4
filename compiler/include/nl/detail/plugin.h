//===- plugin.h - what a compiled kernel file and libkiln agree on ----------------------------===//
//
// Plain data only: the kernel file is a shared library that libkiln loads and asks for its kernels
// through one C function. Both sides are compiled from the same headers; the ABI version says so.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_DETAIL_PLUGIN_H
#define NL_DETAIL_PLUGIN_H

#include "nl/core.h"

namespace nl::detail {

/// Grows with every change of a type or function that crosses the border.
inline constexpr uint32_t kAbiVersion = 4;

/// What a kernel parameter accepts.
enum class ParamKind : uint8_t { Tensor, InOut, Int32, Int64, Float32, Float64, Bool, String };

/// One argument, already checked against its parameter: the member of the parameter's kind is set.
struct ArgValue {
  Tensor tensor;
  int64_t integer = 0;
  double real = 0;
  bool flag = false;
  const char *text = "";
};

/// Calls `function` with the arguments and appends the tensors it returns.
using Invoker = void (*)(void (*function)(), const ArgValue *args, std::vector<Tensor> &results);

/// One registered kernel.
struct KernelEntry {
  const char *name = "";
  SrcLoc place; ///< of its registration
  std::vector<ParamKind> parameters;
  std::vector<const char *> parameterNames; ///< for messages; empty or one for each parameter
  bool returnsTensors = true;
  void (*function)() = nullptr;
  Invoker invoke = nullptr;
};

/// What `kiln_plugin` returns.
struct PluginInfo {
  uint32_t abiVersion = kAbiVersion;
  uint32_t tensorBytes = sizeof(Tensor);
  const char *header = ""; ///< path of nl/kernel.h as the plug-in was compiled
  const KernelEntry *kernels = nullptr;
  uint32_t kernelCount = 0;
};

} // namespace nl::detail

#endif // NL_DETAIL_PLUGIN_H
