//===- Expected.h - a value or a diagnostic ---------------------------------------------------===//
//
// The runtime never prints, throws or exits: whatever can fail returns one of these.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILNRT_EXPECTED_H
#define KILNRT_EXPECTED_H

#include "kiln/ISA/Diagnostic.h"

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

namespace kilnrt {

using kiln::CallChain;
using kiln::Diagnostic;
using kiln::Fault;

/// An error of class `fault` without a place.
inline Diagnostic makeError(Fault fault, std::string message, std::string help = {},
                            std::string rule = {}) {
  Diagnostic d;
  d.fault = fault;
  d.message = std::move(message);
  d.help = std::move(help);
  d.rule = std::move(rule);
  return d;
}

/// Either a T or the diagnostic that says why there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::move(value)) {}
  Expected(Diagnostic error) : state(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() {
    assert(*this && "an error was dereferenced");
    return std::get<T>(state);
  }
  const T &operator*() const {
    assert(*this && "an error was dereferenced");
    return std::get<T>(state);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Diagnostic &error() const { return std::get<Diagnostic>(state); }

private:
  std::variant<T, Diagnostic> state;
};

/// Success, or the diagnostic that says what failed.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Diagnostic error) : problem(std::move(error)) {}
  static Status ok() { return {}; }
  explicit operator bool() const { return !problem; } ///< true on success
  const Diagnostic &error() const { return *problem; }

private:
  std::optional<Diagnostic> problem;
};

} // namespace kilnrt

#endif // KILNRT_EXPECTED_H
