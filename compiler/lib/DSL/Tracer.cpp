//===- Tracer.cpp - arguments in, one call of the kernel, results out -------------------------===//

#include "kiln/Trace/Tracer.h"

#include "TraceState.h"
#include "nl/isa.h"

#include <algorithm>
#include <exception>

namespace kiln::trace {

using nl::detail::KernelEntry;
using nl::detail::ParamKind;

//---- signatures ---------------------------------------------------------===//

namespace {

std::string_view spell(ParamKind kind) {
  switch (kind) {
  case ParamKind::Tensor:
    return "tensor";
  case ParamKind::InOut:
    return "inout tensor";
  case ParamKind::Int32:
    return "int";
  case ParamKind::Int64:
    return "int64";
  case ParamKind::Float32:
    return "float";
  case ParamKind::Float64:
    return "double";
  case ParamKind::Bool:
    return "bool";
  case ParamKind::String:
    return "string";
  }
  return "?";
}

std::string parameterName(const KernelEntry &kernel, size_t i) {
  return i < kernel.parameterNames.size() ? kernel.parameterNames[i] : text("arg", i);
}

std::string spellParameter(const KernelEntry &kernel, size_t i) {
  return text(parameterName(kernel, i), ": ", spell(kernel.parameters[i]));
}

/// "matmul(lhsT: tensor, rhs: tensor)".
std::string signature(const KernelEntry &kernel) {
  std::string out = text(kernel.name, "(");
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    out += text(i ? ", " : "", spellParameter(kernel, i));
  return out + ")";
}

std::string spell(const driver::Arg &arg) {
  struct Visitor {
    std::string operator()(const driver::TensorArg &t) const {
      return text("a ", shapeText(std::span<const int64_t>(t.shape)), " ", isa::name(t.dtype),
                  " tensor");
    }
    std::string operator()(int64_t v) const { return text("the whole number ", v); }
    std::string operator()(double v) const {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%g", v);
      return text("the number ", digits);
    }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string &v) const { return text("the string \"", v, "\""); }
  };
  return std::visit(Visitor{}, arg);
}

/// Converts a scalar argument. False when the parameter does not take it.
bool convert(ParamKind kind, const driver::Arg &arg, nl::detail::ArgValue &value) {
  const auto *integer = std::get_if<int64_t>(&arg);
  const auto *real = std::get_if<double>(&arg);
  switch (kind) {
  case ParamKind::Tensor:
  case ParamKind::InOut:
    return std::holds_alternative<driver::TensorArg>(arg);
  case ParamKind::Int32:
    if (!integer || *integer < INT32_MIN || *integer > INT32_MAX)
      return false;
    value.integer = *integer;
    return true;
  case ParamKind::Int64:
    value.integer = integer ? *integer : 0;
    return integer;
  case ParamKind::Float32:
  case ParamKind::Float64:
    value.real = real ? *real : integer ? static_cast<double>(*integer) : 0;
    return real || integer;
  case ParamKind::Bool:
    value.flag = std::holds_alternative<bool>(arg) && std::get<bool>(arg);
    return std::holds_alternative<bool>(arg);
  case ParamKind::String:
    if (const auto *s = std::get_if<std::string>(&arg))
      value.text = s->c_str();
    return std::holds_alternative<std::string>(arg);
  }
  return false;
}

} // namespace

void TraceState::bindParameters(std::span<const driver::Arg> args,
                                std::vector<nl::detail::ArgValue> &values) {
  const size_t count = kernel.parameters.size();
  if (args.size() != count) {
    log.report({"K-10",
                text("kernel '", kernel.name, "' takes ", count,
                     count == 1 ? " argument, got " : " arguments, got ", args.size()),
                text("its signature is ", signature(kernel))},
               kernelPlace);
    throw Abort{};
  }
  values.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!convert(kernel.parameters[i], args[i], values[i])) {
      log.report({"K-10",
                  text("argument '", parameterName(kernel, i), "' is ", spell(args[i]),
                       ", expected ", spell(kernel.parameters[i])),
                  text("the signature is ", signature(kernel)), static_cast<int>(i)},
                 kernelPlace);
      continue;
    }
    const auto *tensor = std::get_if<driver::TensorArg>(&args[i]);
    if (!tensor)
      continue;
    isa::TensorView view;
    std::string name = parameterName(kernel, i);
    view.name = name;
    view.memory = isa::Memory::Hbm;
    view.dtype = tensor->dtype;
    view.shape = tensor->shape;
    bool legal = isa::checkTensor(view, std::nullopt, [&](isa::Violation v) {
      log.report({v.rule, std::move(v.message), std::move(v.help), static_cast<int>(i)},
                 kernelPlace);
    });
    if (!legal)
      continue;
    bool inOut = kernel.parameters[i] == ParamKind::InOut;
    TensorRecord record;
    record.name = inOut ? name + ".in" : name;
    record.buffer = nl::shared_hbm;
    record.dtype = static_cast<nl::DType>(tensor->dtype);
    record.role = TensorRole::Input;
    record.shape = nl::Shape(tensor->shape);
    record.index = static_cast<uint32_t>(i);
    record.place = kernelPlace;
    record.written = true;
    values[i].tensor = declare(record);
    if (!inOut)
      continue;
    // The kernel works on an output that starts as a copy of the argument.
    nl::Tensor source = values[i].tensor;
    record.name = name;
    record.role = TensorRole::Output;
    record.updated = true;
    values[i].tensor = declare(record);
    nisa::dma_copy({.dst = values[i].tensor, .src = source}, kernel.place);
  }
  if (log.hasErrors())
    throw Abort{};
}

//---- the call -----------------------------------------------------------===//

namespace {

/// Calls the kernel. Not inlined: its frame is where the author's frames end.
__attribute__((noinline)) void callKernel(TraceState &state,
                                          const std::vector<nl::detail::ArgValue> &values,
                                          std::vector<nl::Tensor> &results) {
  state.locations.setInvokerFrame(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  state.kernel.invoke(state.kernel.function, values.data(), results);
  state.locations.setInvokerFrame(0);
}

/// Runs everything that may throw; the author's own exceptions become diagnostics.
void run(TraceState &state, std::span<const driver::Arg> args) {
  auto thrown = [&state](std::string what) {
    state.log.report({"X-07", text("kernel '", state.kernel.name, "' threw ", what),
                      "the line is the last one that reached Kiln; nl::require stops a kernel "
                      "with a message"},
                     state.locations.plain(state.last));
  };
  try {
    std::vector<nl::detail::ArgValue> values;
    std::vector<nl::Tensor> results;
    state.bindParameters(args, values);
    callKernel(state, values, results);
    state.takeResults(results);
  } catch (const Abort &) {
    // Reported where it was thrown.
  } catch (const std::exception &e) {
    thrown(text("an exception: ", e.what()));
  } catch (...) {
    thrown("an exception of an unknown type");
  }
  state.locations.setInvokerFrame(0);
}

} // namespace

TraceResult traceKernel(const KernelEntry &kernel, std::span<const driver::Arg> args,
                        const TraceOptions &options) {
  TraceResult result;
  TraceState state(kernel, options);
  run(state, args);
  result.diagnostics = takeCallsOutsideKernel(options.kernelFile);
  bool calledOutside = !result.diagnostics.empty();
  std::vector<Diagnostic> own = state.log.finish();
  result.diagnostics.insert(result.diagnostics.end(), std::make_move_iterator(own.begin()),
                            std::make_move_iterator(own.end()));
  result.ok = !state.log.hasErrors() && !calledOutside;
  if (result.ok)
    result.trace = state.finish();
  return result;
}

//---- kernel files -------------------------------------------------------===//

std::optional<Diagnostic> checkPlugin(const nl::detail::PluginInfo *info,
                                      const std::string &kernelFile) {
  Diagnostic d;
  std::string file = relativeToKernel(kernelFile, kernelFile);
  d.place = {{file, 0}};
  if (!info) {
    d.message = text("'", file, "' registers no kernel");
    d.help = "include nl/nl.h and register the kernel function with NL_KERNEL";
    return d;
  }
  if (info->abiVersion == nl::detail::kAbiVersion && info->tensorBytes == sizeof(nl::Tensor))
    return std::nullopt;
  d.message =
      text("'", file, "' was compiled with version ", info->abiVersion,
           " of the nl headers (tensors of ", info->tensorBytes, " bytes), this Kiln has version ",
           nl::detail::kAbiVersion, " (", sizeof(nl::Tensor), " bytes)");
  d.help = "compile it again with the headers of this Kiln";
  return d;
}

std::variant<const KernelEntry *, Diagnostic> findKernel(const nl::detail::PluginInfo &info,
                                                         std::string_view name,
                                                         const std::string &kernelFile) {
  std::span<const KernelEntry> kernels(info.kernels, info.kernelCount);
  const KernelEntry *found = nullptr;
  size_t matches = 0;
  std::string names;
  size_t count = 0;
  constexpr size_t kShownNames = 10;
  for (const KernelEntry &kernel : kernels) {
    if (++count <= kShownNames)
      names += text(names.empty() ? "" : ", ", kernel.name);
    if (name.empty() || name == kernel.name) {
      found = &kernel;
      ++matches;
    }
  }
  if (count > kShownNames)
    names += text(" and ", count - kShownNames, " more");
  if (matches == 1)
    return found;
  Diagnostic d;
  std::string file = relativeToKernel(kernelFile, kernelFile);
  d.rule = "X-04";
  d.place = {{file, 0}};
  if (kernels.empty()) {
    d.message = text("'", file, "' registers no kernel");
    d.help = "register the kernel function with NL_KERNEL";
  } else if (matches == 0) {
    d.message = text("'", file, "' has no kernel '", name, "'");
    d.help = text("it has ", names);
  } else if (name.empty()) {
    d.message = text("'", file, "' has ", kernels.size(), " kernels, and none is named");
    d.help = text("name one of ", names);
  } else {
    d.message = text("'", file, "' registers ", matches, " kernels called '", name, "'");
    d.help = "rename one of them";
    d.place = {{relativeToKernel(found->place.file, kernelFile), found->place.line}};
  }
  return d;
}

driver::KernelInfo describeKernel(const KernelEntry &kernel, const std::string &kernelFile) {
  driver::KernelInfo info;
  info.name = kernel.name;
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    info.parameters.push_back(spellParameter(kernel, i));
  info.place = {relativeToKernel(kernel.place.file, kernelFile), kernel.place.line};
  return info;
}

} // namespace kiln::trace
