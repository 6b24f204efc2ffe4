//===- Oracle.h - what a synchronised program does in all executions --------------------------===//
//
// A second opinion on the static proof, made from the documents of the program file and the
// executor and from nothing else.
//
// Between two edges of loops semaphores only grow and a wait is a threshold, so of all executions
// that hold back the completion of one instruction (of a transfer, its last increment) one gets
// furthest, and it is found by running everything that can run. What starts in it may start before
// that instruction is complete; what does not start in it never does. One such run for each
// instruction that touches something first decides every pair. Streams meet at the edges of loops
// with nothing in flight: accesses of different epochs or iterations are ordered by the meeting.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_MUTATION_ORACLE_H
#define KILN_TEST_MUTATION_ORACLE_H

#include "kilnrt/Program.h"

#include <memory>
#include <string>

namespace kilnrt::mutation {

/// What holds in every execution of a program.
struct Verdict {
  bool isReached = true; ///< every record is reached
  /// Accesses of one tensor that share bytes, one of them a write, keep the program's order.
  bool isOrdered = true;
  /// Instructions that hand on or set the reduction registers of their engine keep it too, and
  /// those that show something to the author.
  bool keepsRegisters = true;
  /// A tensor that takes bytes of another one is accessed after all accesses of the other.
  bool isReuseOrdered = true;
  /// No tensor is accessed after one that overlaps it was first accessed.
  bool hasNoOverlap = true;
  std::string witness; ///< the first thing that is wrong, by order numbers; empty if all is right

  bool isRight() const {
    return isReached && isOrdered && keepsRegisters && isReuseOrdered && hasNoOverlap;
  }
};

class Oracle {
public:
  /// Finds what has to be ordered in `program`, once. Precondition: `program` passes the verifier
  /// and is synchronised.
  explicit Oracle(const Program &program);
  Oracle(Oracle &&) noexcept;
  ~Oracle();

  /// The verdict on `program` itself.
  const Verdict &verdict() const;
  /// The verdict on another program. Fast where it has the tensors and instructions of `program`
  /// with the same order numbers in the same epochs, and only synchronisation or the order inside
  /// streams differ; any other program is looked at anew.
  ///
  /// When `program` is right and the other one, too, both compute the same: every read finds the
  /// bytes its predecessors in program order left, and program order is the same. Precondition: the
  /// other program passes the verifier and is synchronised, and where it has other addresses it has
  /// the same instructions.
  Verdict judge(const Program &other) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace kilnrt::mutation

#endif // KILN_TEST_MUTATION_ORACLE_H
