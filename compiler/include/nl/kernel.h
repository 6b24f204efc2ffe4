//===- kernel.h - kernels and how the compiler finds them -------------------------------------===//
//
// A kernel is a plain function of HBM tensors and compile-time values that returns HBM tensors:
//
//   nl::Tensor scale(nl::Tensor x, float factor) {
//     nl::Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
//     ...
//     return y;
//   }
//   NL_KERNEL(scale, "x", "factor")
//
// Parameters are nl::Tensor (read-only), nl::InOut (updated in place), int, int64_t, float, double,
// bool and std::string; results are a Tensor, or a pair, tuple, array or vector of them. Returned
// tensors lie in nl::shared_hbm, are written, and are neither parameters nor returned twice. `kiln
// run file.cpp:scale` compiles the file, looks the name up, and traces the function once for the
// shapes of its arguments.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_KERNEL_H
#define NL_KERNEL_H

#include "nl/detail/plugin.h"
#include "nl/lang.h"

namespace nl {

/// A tensor parameter the kernel may write: it starts with the argument's elements, and its final
/// elements are an output, after the returned ones.
class InOut : public Tensor {
public:
  explicit InOut(const Tensor &t) : Tensor(t) {}
};

namespace detail {

template <class T>
struct Param {
  static_assert(never<T>, "a kernel parameter is nl::Tensor, nl::InOut, int, int64_t, float, "
                          "double, bool or std::string (convert other types inside the kernel)");
};
#define NL_PARAM(type, parameterKind, expression)                                                  \
  template <>                                                                                      \
  struct Param<type> {                                                                             \
    static constexpr ParamKind kind = ParamKind::parameterKind;                                    \
    static type get(const ArgValue &a) { return expression; }                                      \
  };
NL_PARAM(Tensor, Tensor, a.tensor)
NL_PARAM(InOut, InOut, InOut(a.tensor))
NL_PARAM(int, Int32, static_cast<int>(a.integer))
NL_PARAM(long, Int64, a.integer)
NL_PARAM(long long, Int64, a.integer)
NL_PARAM(float, Float32, static_cast<float>(a.real))
NL_PARAM(double, Float64, a.real)
NL_PARAM(bool, Bool, a.flag)
NL_PARAM(std::string, String, a.text)
#undef NL_PARAM

inline void collect(std::vector<Tensor> &out, const Tensor &t) { out.push_back(t); }
inline void collect(std::vector<Tensor> &out, const std::vector<Tensor> &list) {
  for (const Tensor &t : list)
    out.push_back(t);
}
/// pair, tuple and array.
template <class T>
void collect(std::vector<Tensor> &out, const T &results) {
  std::apply([&out](const auto &...t) { (collect(out, t), ...); }, results);
}

template <class R, class... P>
struct Glue {
  static void invoke(void (*function)(), const ArgValue *args, std::vector<Tensor> &results) {
    call(reinterpret_cast<R (*)(P...)>(function), args, results, std::index_sequence_for<P...>{});
  }
  template <size_t... I>
  static void call(R (*function)(P...), [[maybe_unused]] const ArgValue *args,
                   [[maybe_unused]] std::vector<Tensor> &results, std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>)
      function(Param<std::remove_cv_t<std::remove_reference_t<P>>>::get(args[I])...);
    else
      collect(results,
              function(Param<std::remove_cv_t<std::remove_reference_t<P>>>::get(args[I])...));
  }
};

/// The kernels of this kernel file. Hidden, so that two loaded files keep two lists.
__attribute__((visibility("hidden"))) inline std::vector<KernelEntry> &registry() {
  static std::vector<KernelEntry> kernels;
  return kernels;
}

} // namespace detail

/// A registered kernel. Constructing one at namespace scope is what NL_KERNEL does; directly it
/// also takes instances of templates: `const nl::Kernel k("matmul_64", matmul<64>);`.
class __attribute__((visibility("hidden"))) Kernel {
public:
  /// `parameterNames` are for messages: none, or one for each parameter.
  template <class R, class... P>
  Kernel(const char *name, R (*function)(P...),
         std::initializer_list<const char *> parameterNames = {},
         SrcLoc place = SrcLoc::current()) {
    detail::registry().push_back(
        {name,
         place,
         {detail::Param<std::remove_cv_t<std::remove_reference_t<P>>>::kind...},
         parameterNames,
         !std::is_void_v<R>,
         reinterpret_cast<void (*)()>(function),
         &detail::Glue<R, P...>::invoke});
  }
};
/// `const auto k = nl::kernel("name", function);`
template <class R, class... P>
Kernel kernel(const char *name, R (*function)(P...),
              std::initializer_list<const char *> parameterNames = {},
              SrcLoc place = SrcLoc::current()) {
  return Kernel(name, function, parameterNames, place);
}

} // namespace nl

#define NL_DETAIL_JOIN2(a, b) a##b
#define NL_DETAIL_JOIN(a, b) NL_DETAIL_JOIN2(a, b)
/// Registers a function under its own name: `NL_KERNEL(matmul)`, or with the names of its
/// parameters for messages: `NL_KERNEL(matmul, "lhsT", "rhs")`.
#define NL_KERNEL(function, ...)                                                                   \
  static const ::nl::Kernel NL_DETAIL_JOIN(nlKernelNumber, __COUNTER__)(#function, function,          \
                                                                     {__VA_ARGS__});

#ifndef KILN_BUILDING_LIBKILN
/// What libkiln asks a loaded kernel file. Weak: every file of a plug-in defines it alike.
extern "C" __attribute__((visibility("default"), weak)) const nl::detail::PluginInfo *
kiln_plugin() {
  static nl::detail::PluginInfo info;
  info.header = __FILE__;
  info.kernels = nl::detail::registry().data();
  info.kernelCount = static_cast<uint32_t>(nl::detail::registry().size());
  return &info;
}
#endif

#endif // NL_KERNEL_H
