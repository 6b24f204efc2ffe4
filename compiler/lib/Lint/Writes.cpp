//===- Writes.cpp - reads of what nothing has written -----------------------------------------===//
//
// M-08 and M-10, as far as whole tensors tell: an instruction reads a tensor that no instruction
// before it writes, or adds to an accumulator that no matmul has written. Which elements are
// missing is the executor's to say; here the author hears of it before anything runs.
//
//===------------------------------------------------------------------------------------------===//

#include "Findings.h"
#include "kiln/ISA/Args.h"

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

} // namespace

void lintWrites(Findings &findings) {
  const trace::Trace &trace = findings.trace;
  std::vector<Written> written(trace.tensors.size(), Written::Never);
  for (size_t t = 0; t < written.size(); ++t)
    if (trace.tensors[t].role == TensorRole::Input)
      written[t] = Written::Otherwise;
  for (const trace::Instruction &instruction : trace.instructions) {
    const isa::Instruction &inst = instruction.inst;
    const isa::InstDesc &desc = inst.desc();
    const bool isMatmul = inst.opcode == isa::Opcode::NcMatmul;
    if (isMatmul && isa::NcMatmulArgs(inst).accumulate == isa::Accumulate::Add)
      if (Written w = written[inst.operands[isa::NcMatmulArgs::dst].tensor]; w != Written::ByMatmul)
        addsToNothing(findings, instruction, w);
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (const isa::Access &a = inst.operands[i];
          a.present() && !desc.operands[i].isOutput && written[a.tensor] == Written::Never)
        readsUnwritten(findings, instruction, i);
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (const isa::Access &a = inst.operands[i]; a.present() && desc.operands[i].isOutput) {
        // A matmul that wrote part of a tensor makes the whole count: elements are not followed.
        Written &w = written[a.tensor];
        w = isMatmul ? Written::ByMatmul : std::max(w, Written::Otherwise);
      }
  }
}

} // namespace kiln::lint
