//===- Launch.cpp - how a kernel may be launched, and what a trace may depend on --------------===//

#include "TraceState.h"

namespace kiln::trace {

void refuseLaunchInKernel(std::string_view kernel, const nl::SrcLoc &loc) {
  TraceState *state = TraceState::current();
  if (!state)
    return;
  state->fatal(
      {"K-06", text("kernel '", kernel, "' is launched while '", state->kernel.name, "' is traced"),
       "call its function directly: it becomes part of this kernel"},
      loc);
}

std::optional<Diagnostic> checkLaunch(std::string_view kernel, int64_t cores) {
  if (cores == 1)
    return std::nullopt;
  const bool exists = cores >= 1 && cores <= isa::machine.maxLogicalCores;
  Diagnostic d;
  d.rule = "K-05";
  d.message =
      text("kernel '", kernel, "' is launched on ", cores, cores == 1 ? " core; " : " cores; ",
           exists ? "this Kiln runs a kernel on 1"
                  : text("trn2 joins 1 or ", isa::machine.maxLogicalCores));
  d.help = "launch it on 1 core, where nl::num_programs() is 1";
  return d;
}

namespace {

bool sameTensor(const Tensor &a, const Tensor &b) {
  return a.name == b.name && a.memory == b.memory && a.dtype == b.dtype && a.role == b.role &&
         a.shape == b.shape && a.index == b.index && a.address == b.address && a.loop == b.loop;
}

bool sameLoop(const Loop &a, const Loop &b) {
  return a.begin == b.begin && a.end == b.end && a.control == b.control;
}

bool sameHint(const tile::Hint &a, const tile::Hint &b) {
  return a.partitionDim == b.partitionDim && a.tile == b.tile && a.buffers == b.buffers &&
         a.in == b.in;
}

bool sameView(const tile::View &a, const tile::View &b) {
  return a.buffer == b.buffer && a.partition == b.partition && a.offset == b.offset &&
         a.stride == b.stride;
}

bool sameNode(const tile::Node &a, const tile::Node &b) {
  const auto numbers = [](const tile::Node &n) {
    return std::tie(n.op, n.operands, n.shape, n.dtype, n.fn, n.alu, n.axes, n.axis, n.keepDims,
                    n.transposeX, n.transposeY, n.starts, n.ends, n.steps, n.position);
  };
  // A number by its bits, so that NaN equals itself.
  return numbers(a) == numbers(b) && isa::bitsOf(a.number) == isa::bitsOf(b.number) &&
         a.order == b.order && sameView(a.view, b.view) && sameHint(a.hint, b.hint);
}

Diagnostic difference(const Trace &trace, std::string what, CallChain place) {
  Diagnostic d;
  d.rule = "K-09";
  d.message = text("tracing '", trace.kernel, "' a second time gave ", what);
  d.help = "a kernel depends on its arguments only: no static variables, clocks or random numbers";
  d.place = std::move(place);
  return d;
}

} // namespace

std::optional<Diagnostic> compareTraces(const Trace &a, const Trace &b) {
  for (size_t i = 0; i < std::min(a.instructions.size(), b.instructions.size()); ++i) {
    const Instruction &x = a.instructions[i], &y = b.instructions[i];
    const CallChain place = a.chain(x.location);
    if (x.inst.opcode != y.inst.opcode || place != b.chain(y.location))
      return difference(a,
                        text("another instruction here: ", y.inst.desc().mnemonic, " instead of ",
                             x.inst.desc().mnemonic),
                        place);
    if (!(x.inst == y.inst))
      return difference(a, text(x.inst.desc().mnemonic, " with other operands or numbers here"),
                        place);
  }
  const size_t x = a.instructions.size(), y = b.instructions.size();
  if (x != y) {
    const Trace &longer = x > y ? a : b;
    return difference(a, text(y, " instructions instead of ", x),
                      longer.chain(longer.instructions[std::min(x, y)].location));
  }
  for (size_t i = 0; i < std::max(a.loops.size(), b.loops.size()); ++i)
    if (i >= a.loops.size() || i >= b.loops.size() || !sameLoop(a.loops[i], b.loops[i])) {
      const Trace &owner = i < a.loops.size() ? a : b;
      return difference(a, "another loop here", owner.chain(owner.loops[i].location));
    }
  const size_t nodes = std::max(a.graph.nodes.size(), b.graph.nodes.size());
  for (size_t i = 0; i < nodes; ++i)
    if (i >= a.graph.nodes.size() || i >= b.graph.nodes.size() ||
        !sameNode(a.graph.nodes[i], b.graph.nodes[i])) {
      const Trace &owner = i < a.graph.nodes.size() ? a : b;
      return difference(a, "another value here", owner.chain(owner.graph.nodes[i].location));
    }
  for (size_t i = 0; i < a.tensors.size(); ++i)
    if (i >= b.tensors.size() || !sameTensor(a.tensors[i], b.tensors[i]))
      return difference(a, text("another tensor '", a.tensors[i].name, "'"),
                        a.chain(a.tensors[i].location));
  return std::nullopt;
}

} // namespace kiln::trace
