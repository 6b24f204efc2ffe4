//===- Session.h - a trace that the compiler itself writes ------------------------------------===//
//
// The functions authors call record into the trace of their thread. A session is such a trace
// without a kernel function: while it is open, nl:: and nisa:: calls made by the compiler are
// checked and recorded as an author's are, at the location `at` names.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TRACE_SESSION_H
#define KILN_TRACE_SESSION_H

#include "kiln/Trace/Trace.h"
#include "nl/core.h"

#include <functional>
#include <memory>

namespace kiln::trace {

class Session {
public:
  explicit Session(std::string kernel);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// A tensor that exists already. Sessions number tensors in the order of their declaration, those
  /// of nl::ndarray too.
  nl::Tensor declare(const Tensor &tensor);
  /// Whatever is recorded from now on belongs to `location`, a number the caller understands.
  void at(uint32_t location);
  /// Runs `write`, which records. Null when it broke no rule; else the first error, without a
  /// place. Nothing recorded after an error is of use.
  std::optional<Diagnostic> run(const std::function<void()> &write);

  size_t instructionCount() const;
  /// All tensors, in the order of their declaration; names may be empty.
  std::vector<Tensor> tensors() const;
  /// The instructions so far; their accesses name tensors by that order.
  const std::vector<Instruction> &instructions() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace kiln::trace

#endif // KILN_TRACE_SESSION_H
