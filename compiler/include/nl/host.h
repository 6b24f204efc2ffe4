//===- host.h - run kernels from an ordinary C++ program --------------------------------------===//
//
// A program that includes this file can run the kernels it registers, on arrays of the host:
//
//   nl::Array a("rand:1000:float32:1"), b("rand:1000:float32:2"); // as on the command line
//   nl::Array c = nl::execute("vector_add", {a, b}).front();
//   bool right = c[17] == float(a[17] + b[17]);
//
// `execute` traces the kernel for its arguments, compiles it, and runs the streams on the executor
// with all checks on. Kernel files do not need this header: `kiln run` does the same from outside.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_HOST_H
#define NL_HOST_H

#include "nl/kernel.h"

#include <cstdio>
#include <exception>
#include <variant>

namespace nl {

/// A tensor on the host: row-major, in a device dtype. Values are read and written as double, which
/// holds every value of every dtype.
class Array {
public:
  /// All zeros. Throws RunError when the shape has no or too many elements.
  Array(std::vector<int64_t> shape, DType dtype);
  /// What the command line accepts: "rand:64x512:bf16:1", "randn:...", "iota:...", "zeros:...",
  /// "file.npy". Throws RunError.
  explicit Array(const char *argument);

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return extents; }
  int64_t size() const;
  /// Element at a row-major position. Precondition: 0 <= i < size().
  double operator[](int64_t i) const;
  /// Element of a matrix.
  double operator()(int64_t row, int64_t column) const {
    return (*this)[row * extents.back() + column];
  }
  /// Writes an element: the value as float32, rounded to the dtype (int32 and uint32: the value
  /// itself, which must fit).
  void set(int64_t i, double value);
  /// Equal dtype, shape and bits: NaN equals the same NaN, 0 does not equal -0.
  bool sameBits(const Array &other) const {
    return type == other.type && extents == other.extents && bytes == other.bytes;
  }

  /// The elements, little-endian.
  std::vector<unsigned char> bytes;

private:
  DType type;
  std::vector<int64_t> extents;
};

/// An argument of a kernel: an array, or a value for a scalar parameter.
using Value = std::variant<Array, int64_t, double, bool, std::string>;

/// A kernel that could not be compiled or run; what() is the message kiln would print.
class __attribute__((visibility("default"))) RunError : public std::exception {
public:
  explicit RunError(std::string text) : text(std::move(text)) {}
  const char *what() const noexcept override { return text.c_str(); }

private:
  std::string text;
};

/// How a kernel is run.
struct LaunchOptions {
  int cores = 1; ///< programs of the kernel; this Kiln runs one (K-05)
};

namespace detail {
std::vector<Array> execute(const PluginInfo &kernels, const char *kernel,
                           const std::vector<Value> &args, const LaunchOptions &options,
                           const SrcLoc &loc);
} // namespace detail

/// Runs the registered kernel `name`; returns its results, then its InOut parameters. Throws
/// RunError. Host code only: inside a kernel the function of another one is called directly (K-06).
inline std::vector<Array> execute(const char *name, const std::vector<Value> &args,
                                  const LaunchOptions &options = {},
                                  SrcLoc loc = SrcLoc::current()) {
  return detail::execute(*kiln_plugin(), name, args, options, loc);
}

/// For main() of a kernel file that checks itself: counts what was checked, prints what was wrong.
class SelfCheck {
public:
  explicit SelfCheck(const char *title) : title(title) {}

  /// Reports `what` unless `ok`.
  void expect(bool ok, const std::string &what) {
    ++checks;
    if (ok)
      return;
    ++failures;
    std::fprintf(stderr, "%s: wrong: %s\n", title, what.c_str());
  }
  /// Exit code of the program; prints the verdict.
  int finish() const {
    std::printf("%s: %d of %d checks right\n", title, checks - failures, checks);
    return failures || !checks ? 1 : 0;
  }

private:
  const char *title;
  int checks = 0, failures = 0;
};

} // namespace nl

#endif // NL_HOST_H
