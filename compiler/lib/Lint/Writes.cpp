//===- Writes.cpp - reads of what nothing has written -----------------------------------------===//
//
// M-08 and M-10, as far as whole tensors tell: an instruction or a value reads a tensor that
// nothing before it writes, or adds to an accumulator that no matmul has written. Which elements
// are missing is the executor's to say; here the author hears of it before anything runs. Where the
// run decides whether an iteration reads, it may be one that reads what another has written.
//
//===------------------------------------------------------------------------------------------===//

#include "Findings.h"
#include "kiln/ISA/Args.h"

#include <algorithm>

namespace kiln::lint {
namespace {

using trace::TensorRole;

enum class Written : uint8_t { Never, Otherwise, ByMatmul };

void readsUnwritten(Findings &findings, const trace::Instruction &instruction, unsigned operand) {
  findings.add("M-08", instruction.location, [&] {
    const uint32_t tensor = instruction.inst.operands[operand].tensor;
    const std::string name = findings.nameOf(tensor);
    return Finding{
        text(instruction.inst.desc().mnemonic, " reads ", name, ", which nothing has written"),
        text("write ", findings.trace.tensors[tensor].isNamed ? name : "it",
             " first: dma_copy, memset or a matmul"),
        {{tensor}}};
  });
}

/// Loads and stores of values up to a place in the program.
class ValueUses {
public:
  ValueUses(Findings &findings, std::vector<Written> &written)
      : findings(findings), nodes(findings.trace.graph.nodes), written(written) {}

  /// Goes on to the border nodes in front of instruction `index`.
  void advance(size_t index) {
    for (; next < nodes.size() && nodes[next].position <= index; ++next)
      visit(nodes[next]);
  }
  void finish() { advance(SIZE_MAX); }

private:
  void visit(const tile::Node &node) {
    const uint32_t tensor = node.view.buffer;
    if (node.isEffect())
      written[tensor] = std::max(written[tensor], Written::Otherwise);
    else if (node.op == tile::Op::Load && written[tensor] == Written::Never)
      findings.add("M-08", node.location, [&] {
        const std::string name = findings.nameOf(tensor);
        return Finding{text("a value is computed from ", name, ", which nothing has written"),
                       text("write ", findings.trace.tensors[tensor].isNamed ? name : "it",
                            " first: nl::store, dma_copy, memset or a matmul"),
                       {{tensor}}};
      });
  }

  Findings &findings;
  const std::vector<tile::Node> &nodes;
  std::vector<Written> &written;
  size_t next = 0;
};

void addsToNothing(Findings &findings, const trace::Instruction &instruction, Written written) {
  findings.add("M-10", instruction.location, [&] {
    const uint32_t tensor = instruction.inst.operands[isa::NcMatmulArgs::dst].tensor;
    return Finding{text("accumulate=true adds to ", findings.nameOf(tensor), ", which ",
                        written == Written::Never
                            ? "nothing has written"
                            : "no matmul has written: a fill or copy opens no "
                              "accumulation on trn2"),
                   "let the first matmul overwrite: leave accumulate out, or make it false",
                   {{tensor}}};
  });
}

/// Whether an instruction that the run may leave out of an iteration, as number `index` is, may
/// find in `tensor` what the iteration before wrote behind it.
bool mayBeCarried(const trace::Trace &trace, size_t index, uint32_t tensor) {
  const auto writes = [&](const trace::Instruction &instruction) {
    const isa::InstDesc &desc = instruction.inst.desc();
    for (size_t i = 0; i < desc.operands.size(); ++i)
      if (desc.operands[i].isOutput && instruction.inst.operands[i].present() &&
          instruction.inst.operands[i].tensor == tensor)
        return true;
    return false;
  };
  bool isDecided = false; // by a loop inside the one at hand
  // Inner loops come after outer ones.
  for (size_t l = trace.loops.size(); l-- > 0;) {
    const trace::Loop &loop = trace.loops[l];
    if (index < loop.begin || loop.end <= index)
      continue;
    if (l == trace.tensors[tensor].loop) // each iteration has its own
      return false;
    if (isDecided && std::any_of(trace.instructions.begin() + std::ptrdiff_t(index) + 1,
                                 trace.instructions.begin() + loop.end, writes))
      return true;
    isDecided |= !loop.control.isCounted();
  }
  return false;
}

} // namespace

void lintWrites(Findings &findings) {
  const trace::Trace &trace = findings.trace;
  std::vector<Written> written(trace.tensors.size(), Written::Never);
  for (size_t t = 0; t < written.size(); ++t)
    if (trace.tensors[t].role == TensorRole::Input)
      written[t] = Written::Otherwise;
  ValueUses values(findings, written);
  for (size_t index = 0; index < trace.instructions.size(); ++index) {
    values.advance(index);
    const trace::Instruction &instruction = trace.instructions[index];
    const isa::Instruction &inst = instruction.inst;
    const isa::InstDesc &desc = inst.desc();
    const bool isMatmul = inst.opcode == isa::Opcode::NcMatmul;
    if (isMatmul && isa::NcMatmulArgs(inst).accumulate == isa::Accumulate::Add)
      if (Written w = written[inst.operands[isa::NcMatmulArgs::dst].tensor];
          w != Written::ByMatmul &&
          !mayBeCarried(trace, index, inst.operands[isa::NcMatmulArgs::dst].tensor))
        addsToNothing(findings, instruction, w);
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (const isa::Access &a = inst.operands[i]; a.present() && !desc.operands[i].isOutput &&
                                                   written[a.tensor] == Written::Never &&
                                                   !mayBeCarried(trace, index, a.tensor))
        readsUnwritten(findings, instruction, i);
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (const isa::Access &a = inst.operands[i]; a.present() && desc.operands[i].isOutput) {
        // A matmul that wrote part of a tensor makes the whole count: elements are not followed.
        Written &w = written[a.tensor];
        w = isMatmul ? Written::ByMatmul : std::max(w, Written::Otherwise);
      }
  }
  values.finish();
}

} // namespace kiln::lint
