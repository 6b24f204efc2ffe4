//===- Instructions.cpp - lints that look at one instruction at a time ------------------------===//

#include "Findings.h"
#include "kiln/ISA/Args.h"

#include <algorithm>

namespace kiln::lint {
namespace {

using isa::Access;
using isa::Engine;
using isa::InstView;
using isa::machine;
using isa::Opcode;

/// An instruction, as the lints see it.
struct Candidate {
  const isa::Instruction &inst;
  uint32_t location;
};

//---- transfers ----------------------------------------------------------===//

/// B-11: whatever tensor_copy accepts, an engine copies in one instruction.
void onChipTransfer(Findings &findings, const Candidate &c) {
  using Place = isa::DmaCopyArgs;
  const trace::Trace &trace = findings.trace;
  for (unsigned i : {Place::dst, Place::src})
    if (trace.tensors[c.inst.operands[i].tensor].memory != isa::Memory::Sbuf)
      return;
  isa::Instruction copy = isa::makeInstruction(Opcode::TensorCopy);
  copy.operands[isa::TensorCopyArgs::dst] = c.inst.operands[Place::dst];
  copy.operands[isa::TensorCopyArgs::src] = c.inst.operands[Place::src];
  if (!isa::checkInstruction(findings.viewOf(copy), [](isa::Violation) {}))
    return;
  findings.add("B-11", c.location, [&] {
    std::vector<Finding::Subject> subjects = {{c.inst.operands[Place::src].tensor, "src"}};
    if (const uint32_t dst = c.inst.operands[Place::dst].tensor; dst != subjects.front().tensor)
      subjects.push_back({dst, "dst"});
    return Finding{"src and dst are both in SBUF: a DMA takes about two microseconds for what an "
                   "engine copies at once",
                   "use nisa::tensor_copy", std::move(subjects)};
  });
}

/// V-14.
void skipOfNothing(Findings &findings, const Candidate &c) {
  if (isa::OobMode(c.inst.word("oob_mode")) != isa::OobMode::Skip ||
      std::ranges::any_of(c.inst.operands, &Access::isIndexed))
    return;
  findings.add("V-14", c.location, [&] {
    return Finding{"oob_mode::skip affects indices known only at run time; this access is static "
                   "and in range",
                   "leave oob_mode out",
                   {}};
  });
}

/// Bytes of the longest piece of a row that lies side by side.
int64_t runBytes(const Access &a) {
  int64_t run = 1;
  for (unsigned i = a.rank; i-- > 0 && a.step[i] == run;)
    run *= a.num[i];
  return run * isa::bytesOf(a.dtype);
}

/// W-01.
void shortRows(Findings &findings, const Candidate &c) {
  using Place = isa::DmaCopyArgs;
  const Access &dst = c.inst.operands[Place::dst], &src = c.inst.operands[Place::src];
  const int64_t bytes = std::min(runBytes(dst), runBytes(src));
  if (bytes >= machine.dmaShortRowBytes || src.elements() * isa::bytesOf(src.dtype) <= bytes)
    return;
  findings.add("W-01", c.location, [&] {
    const unsigned hbm =
        findings.trace.tensors[src.tensor].memory == isa::Memory::Hbm ? Place::src : Place::dst;
    return Finding{text("this DMA moves pieces of ", counted(bytes, "byte"), " of ",
                        findings.nameOf(c.inst.operands[hbm].tensor), "; below ",
                        machine.dmaShortRowBytes, " nearly all time is overhead"),
                   text("move at least ", machine.dmaLongRowBytes,
                        " bytes side by side: more columns at once, or a layout in which they are "
                        "neighbours"),
                   {}};
  });
}

//---- the array ----------------------------------------------------------===//

/// W-03.
void slowDtype(Findings &findings, const Candidate &c) {
  using Place = isa::NcMatmulArgs;
  const Access &moving = c.inst.operands[Place::moving];
  if (moving.dtype != isa::DType::Float32 || Place(c.inst).isTranspose)
    return;
  findings.add("W-03", c.location, [&] {
    return Finding{"a float32 matmul runs at a quarter of the bfloat16 rate",
                   "cast the operands to bfloat16 on the way to SBUF, where 8 bits of mantissa are "
                   "enough: sums stay float32",
                   {}};
  });
}

/// Cycles the array is busy with `columns` moving columns.
int64_t movingCycles(const isa::InstDesc &desc, int64_t columns) {
  return std::max<int64_t>(columns, desc.costs.front().floorCycles);
}

/// W-05: the array is as wide as the stationary operand; a matmul takes as long as the moving one.
void narrowStationary(Findings &findings, const Candidate &c) {
  using Place = isa::NcMatmulArgs;
  constexpr int64_t kFewColumns = 16;
  const int64_t columns = c.inst.operands[Place::stationary].freeElements();
  const int64_t moving = c.inst.operands[Place::moving].freeElements();
  if (columns > kFewColumns || Place(c.inst).isTranspose)
    return;
  const int64_t width = machine.matmulMaxStationaryFree, blocks = (moving + width - 1) / width;
  const int64_t now = movingCycles(c.inst.desc(), moving);
  const int64_t swapped = blocks * movingCycles(c.inst.desc(), columns);
  if (2 * swapped > now)
    return;
  findings.add("W-05", c.location, [&] {
    return Finding{text("stationary has ", counted(columns, "column"), " and moving ", moving,
                        ": the array works on ", columns, " of its ", width, " columns for ", now,
                        " cycles"),
                   text("swap the operands: the transposed result takes ", swapped, " cycles, in ",
                        blocks > 1 ? text(blocks, " matmuls") : "one matmul"),
                   {}};
  });
}

//---- engines that compute -------------------------------------------------===//

bool areWide(const isa::Instruction &inst, std::initializer_list<unsigned> operands) {
  return std::ranges::all_of(operands, [&](unsigned i) {
    return inst.operands[i].present() && isa::isWideInteger(inst.operands[i].dtype);
  });
}

/// What keeps all 32 bits of an int32 or uint32 that this instruction sends through float32; empty
/// when it does not, or nothing else would.
std::string exactAlternative(const isa::Instruction &inst) {
  switch (inst.opcode) {
  case Opcode::Activation:
    if (!areWide(inst, {isa::ActivationArgs::dst, isa::ActivationArgs::data}))
      return {};
    return isa::ActivationArgs(inst).op == isa::ActFn::Copy
               ? "nisa::tensor_copy keeps every bit"
               : "nisa::tensor_tensor on three int32 tiles is exact, on GpSimd";
  case Opcode::TensorScalar:
    if (inst.engine != Engine::Scalar ||
        !areWide(inst, {isa::TensorScalarArgs::dst, isa::TensorScalarArgs::data}))
      return {};
    return "nisa::tensor_tensor on three int32 tiles is exact, on GpSimd";
  case Opcode::TensorTensor:
    using Args = isa::TensorTensorArgs;
    if (inst.engine != Engine::Vector || isa::info(Args(inst).op).isBitvec ||
        !areWide(inst, {Args::dst, Args::data1, Args::data2}))
      return {};
    return "leave the engine out: GpSimd computes on int32 tiles exactly";
  default:
    return {};
  }
}

/// D-13.
void integersThroughFloats(Findings &findings, const Candidate &c) {
  std::string help = exactAlternative(c.inst);
  if (help.empty())
    return;
  findings.add("D-13", c.location, [&] {
    return Finding{text(isa::name(c.inst.operands[isa::mainInput(c.inst.desc())].dtype),
                        " values of ", c.inst.desc().mnemonic,
                        " pass through float32 and lose bits beyond 2^24"),
                   std::move(help),
                   {}};
  });
}

/// V-09.
void overlapWithItself(Findings &findings, const Candidate &c) {
  const isa::InstDesc &desc = c.inst.desc();
  for (unsigned out = 0; out < desc.operands.size(); ++out) {
    const Access &dst = c.inst.operands[out];
    if (!desc.operands[out].isOutput || desc.operands[out].isColumn || !dst.present())
      continue;
    for (unsigned in = 0; in < desc.operands.size(); ++in) {
      const Access &src = c.inst.operands[in];
      // A column is read before the first element is written.
      if (desc.operands[in].isOutput || desc.operands[in].isColumn || !src.present() ||
          src.tensor != dst.tensor || src == dst)
        continue;
      const InstView view = findings.viewOf(c.inst);
      if (!readsWhatItWrote(view.tensors[out], dst, src))
        continue;
      findings.add("V-09", c.location, [&] {
        return Finding{text(findings.nameOf(dst.tensor), " is read as ", desc.operands[in].name,
                            " and written as ", desc.operands[out].name,
                            " through overlapping, different views; elements are read after they "
                            "were written, so the result depends on the depth of the pipeline"),
                       "write to a second tile",
                       {{dst.tensor}}};
      });
    }
  }
}

/// W-02: lanes that a line uses, over all its runs.
struct LaneUse {
  int64_t most = 0;
  uint32_t runs = 0;
  uint32_t location = 0;
  Opcode opcode{};
};

void idleLanes(Findings &findings, const std::map<std::pair<uint32_t, uint32_t>, LaneUse> &lines) {
  constexpr uint32_t kHot = 16; // runs of a line that make a loop worth a thought
  for (const auto &[line, use] : lines) {
    if (use.runs < kHot || use.most > machine.partitionQuadrant)
      continue;
    findings.add("W-02", use.location, [&] {
      return Finding{text(isa::findInstruction(use.opcode)->mnemonic, " keeps ", use.most, " of ",
                          machine.numPartitions, " lanes busy, in ", use.runs, " instructions"),
                     "give the partition dim the longest dim, or work on several rows at once",
                     {}};
    });
  }
}

} // namespace

void lintInstructions(Findings &findings) {
  struct Lint {
    const char *rule;
    void (*run)(Findings &, const Candidate &);
  };
  const auto wanted = [&](std::initializer_list<Lint> lints) {
    std::vector<Lint> out;
    for (const Lint &lint : lints)
      if (findings.wants(lint.rule))
        out.push_back(lint);
    return out;
  };
  const std::vector<Lint> copies =
      wanted({{"B-11", onChipTransfer}, {"V-14", skipOfNothing}, {"W-01", shortRows}});
  const std::vector<Lint> transfers = wanted({{"V-14", skipOfNothing}});
  const std::vector<Lint> matmuls = wanted({{"W-03", slowDtype}, {"W-05", narrowStationary}});
  const std::vector<Lint> others =
      wanted({{"D-13", integersThroughFloats}, {"V-09", overlapWithItself}});
  const bool wantsLanes = findings.wants("W-02");

  std::map<std::pair<uint32_t, uint32_t>, LaneUse> lanes; // by file and line
  for (const trace::Instruction &instruction : findings.trace.instructions) {
    const Candidate c{instruction.inst, instruction.location};
    const bool isTransfer = c.inst.desc().isTransfer;
    const bool isMatmul = c.inst.opcode == Opcode::NcMatmul;
    for (const Lint &lint : c.inst.opcode == Opcode::DmaCopy ? copies
                            : isTransfer                     ? transfers
                            : isMatmul                       ? matmuls
                                                             : others)
      lint.run(findings, c);
    if (!wantsLanes || isTransfer || isMatmul || c.location == trace::kNone)
      continue;
    const trace::Location &at = findings.trace.locations[c.location];
    LaneUse &use = lanes[{at.file, at.line}];
    if (use.runs++ == 0) {
      use.location = c.location;
      use.opcode = c.inst.opcode;
    }
    use.most = std::max<int64_t>(use.most, c.inst.operands[0].partitionCount);
  }
  idleLanes(findings, lanes);
}

} // namespace kiln::lint
