//===- Lint.h - warnings on a kernel that compiles --------------------------------------------===//
//
// Rules refuse what the machine cannot do; lints point at what it can do but the author hardly
// meant, or what costs time for nothing. They read a finished trace and change nothing. What each
// one looks for, and why, stands in the rule catalogue; here is when it speaks:
//
//   P-03  a tile (n, 128, ...) with n below a quadrant, and no larger one of the same line
//   B-11  a DMA between SBUF tiles that one tensor_copy could do
//   D-13  int32 to int32 through float32 where another engine or instruction is exact
//   V-09  dst and an input are different, overlapping views, and an element is read after it was
//   written V-14  oob_mode::skip where no index is known only at run time C-11  two iterations of
//   nl::affine_range touch the same bytes, one of them writing H-05  the writes of an output stop
//   before its end K-04  a statement that runs again and again declares shared_hbm tensors that are
//   no results M-12  a tile declared outside a loop is filled and moved by DMA in each iteration
//   W-01, W-02, W-03, W-05, W-08  performance
//
// Two are errors, which the executor's checks would find too, but only when the kernel runs:
//
//   M-08  an instruction reads a tensor nothing has written
//   M-10  a matmul adds to a tensor no matmul has written
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LINT_LINT_H
#define KILN_LINT_LINT_H

#include "kiln/ISA/Warnings.h"
#include "kiln/Trace/Trace.h"

namespace kiln::lint {

/// The errors of `trace`, and the warnings that `warnings` wants, with the severity it gives them;
/// one for each source line and rule, with a count. Time and memory are linear in the instructions.
std::vector<Diagnostic> lint(const trace::Trace &trace, const WarningOptions &warnings);

} // namespace kiln::lint

#endif // KILN_LINT_LINT_H
