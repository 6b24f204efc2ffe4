//===- RunProgram.cpp - verify, prepare, run --------------------------------------------------===//

#include "ProgramBuilder.h"

using namespace kilnrt;
using namespace kilnrt::test;

Expected<RunResult> kilnrt::test::run(ProgramBuilder &builder, std::span<const HostArray> inputs,
                                      const RunOptions &options) {
  Program program = builder.finish();
  if (Status status = verify(program); !status) {
    ADD_FAILURE() << "the verifier refuses the program: " << render(status.error());
    return status.error();
  }
  Expected<Executable> executable = Executable::prepare(program);
  if (!executable)
    return executable.error();
  return executable->run(inputs, options);
}

std::vector<HostArray> kilnrt::test::outputsOf(ProgramBuilder &builder,
                                               std::span<const HostArray> inputs,
                                               const RunOptions &options) {
  Expected<RunResult> result = run(builder, inputs, options);
  if (!result) {
    ADD_FAILURE() << "the run failed: " << render(result.error());
    std::vector<HostArray> none;
    for (const TensorInfo &t : builder.program.tensors)
      if (t.role == TensorRole::Output)
        none.push_back({t.dtype, t.shape, std::vector<std::byte>(size_t(t.freeBytes()))});
    return none;
  }
  return std::move(result->outputs);
}

Diagnostic kilnrt::test::faultOf(ProgramBuilder &builder, std::span<const HostArray> inputs,
                                 const RunOptions &options) {
  Expected<RunResult> result = run(builder, inputs, options);
  if (result) {
    ADD_FAILURE() << "the run succeeded";
    return {};
  }
  return result.error();
}

static std::string renderChain(const kiln::CallChain &chain) {
  std::string text;
  for (const kiln::FileLine &frame : chain)
    text += (text.empty() ? "" : " < ") + frame.file + ":" + std::to_string(frame.line);
  return text;
}

std::string kilnrt::test::render(const Diagnostic &diagnostic) {
  std::string text = diagnostic.rule + ": " + diagnostic.message + " @ " +
                     renderChain(diagnostic.place) + "\nhelp: " + diagnostic.help;
  for (const kiln::DiagnosticNote &note : diagnostic.notes)
    text += "\nnote: " + note.message + " @ " + renderChain(note.place);
  return text;
}
