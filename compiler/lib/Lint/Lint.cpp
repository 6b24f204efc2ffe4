//===- Lint.cpp - the list of findings --------------------------------------------------------===//

#include "kiln/Lint/Lint.h"

#include "Findings.h"
#include "kiln/ISA/Catalogue.h"

namespace kiln::lint {

std::string sizeText(int64_t bytes) {
  constexpr int64_t kUnit = 1024;
  if (bytes < kUnit)
    return counted(bytes, "byte");
  const bool large = bytes >= kUnit * kUnit;
  const int64_t unit = large ? kUnit * kUnit : kUnit;
  const int64_t tenths = (bytes * 10 + unit / 2) / unit;
  return text(tenths / 10, tenths % 10 ? text(".", tenths % 10) : "", large ? " MiB" : " KiB");
}

//---- names --------------------------------------------------------------===//

namespace {

std::string kindText(const trace::Tensor &tensor) {
  return text(shapeText(tensor.shape), " ", isa::name(tensor.dtype),
              tensor.memory == isa::Memory::Hbm ? " tensor" : " tile");
}

} // namespace

std::string Findings::nameOf(uint32_t tensor) const {
  const trace::Tensor &t = trace.tensors[tensor];
  if (t.isNamed)
    return text("'", t.name, "'");
  const CallChain place = trace.chain(t.location);
  return text("the ", kindText(t), " of line ", place.empty() ? 0 : place.front().line);
}

std::string Findings::declaration(uint32_t tensor) const {
  const trace::Tensor &t = trace.tensors[tensor];
  if (t.role == trace::TensorRole::Input)
    return text("this ", kindText(t).substr(0, kindText(t).rfind(' ')), " parameter of the kernel");
  std::string_view buffer = isa::name(t.memory);
  if (t.memory == isa::Memory::Hbm)
    buffer = t.isShared ? "shared_hbm" : "private_hbm";
  return text("this ", kindText(t), " in ", buffer);
}

isa::InstView Findings::viewOf(const isa::Instruction &inst) const {
  isa::InstView view{inst, inst.desc(), {}};
  for (unsigned i = 0; i < view.desc.operands.size(); ++i) {
    if (!inst.operands[i].present())
      continue;
    const trace::Tensor &tensor = trace.tensors[inst.operands[i].tensor];
    isa::TensorView &v = view.tensors[i];
    if (tensor.isNamed)
      v.name = tensor.name;
    v.memory = tensor.memory;
    v.dtype = tensor.dtype;
    v.shape = tensor.shape;
    v.partitionBase = tensor.address ? tensor.address->first : 0;
  }
  return view;
}

//---- the list -----------------------------------------------------------===//

bool Findings::isNew(std::string_view rule, uint32_t location) {
  uint32_t file = trace::kNone, line = 0;
  if (location != trace::kNone)
    std::tie(file, line) =
        std::pair(trace.locations[location].file, trace.locations[location].line);
  auto [slot, isNew] = seen.try_emplace({rule, file, line}, entries.size());
  if (!isNew)
    ++entries[slot->second].repetitions;
  return isNew;
}

void Findings::insert(std::string_view rule, uint32_t location, Finding finding) {
  Diagnostic d;
  d.severity = isa::findRule(rule)->severity;
  if (d.severity == Severity::Error)
    d.fault = Fault::Check; // the lints' own errors are what the executor's checks would find
  d.rule = rule;
  d.message = std::move(finding.message);
  d.help = std::move(finding.help);
  d.place = trace.chain(location);
  for (const Finding::Subject &subject : finding.subjects) {
    const trace::Tensor &t = trace.tensors[subject.tensor];
    const std::string_view kind = t.memory == isa::Memory::Hbm ? "the tensor" : "the tile";
    const std::string name = t.isNamed ? text("'", t.name, "'")
                                       : std::string(subject.role.empty() ? kind : subject.role);
    d.notes.push_back({text(name, " is ", declaration(subject.tensor)), trace.chain(t.location)});
  }
  entries.push_back({std::move(d)});
}

std::vector<Diagnostic> Findings::finish() {
  std::vector<Diagnostic> out;
  for (Entry &entry : entries) {
    Diagnostic &d = entry.diagnostic;
    if (entry.repetitions)
      d.notes.push_back(
          {text("the line does this ", counted(entry.repetitions, "more time")), d.place});
    if (warnings.apply(d))
      out.push_back(std::move(d));
  }
  return out;
}

/// `trace` with every access that the run places as one of everything it may touch; it stays marked
/// as indexed. Nothing where there is none.
static std::optional<trace::Trace> withHulls(const trace::Trace &trace) {
  std::optional<trace::Trace> copy;
  for (size_t i = 0; i < trace.instructions.size(); ++i)
    for (unsigned k = 0; k < isa::kMaxOperands; ++k) {
      const isa::Access &access = trace.instructions[i].inst.operands[k];
      if (!access.present() || !access.isIndexed())
        continue;
      if (!copy)
        copy = trace;
      const trace::Tensor &tensor = trace.tensors[access.tensor];
      const bool isOnChip = tensor.memory != isa::Memory::Hbm;
      int64_t elements = 1;
      for (size_t d = isOnChip ? 1 : 0; d < tensor.shape.size(); ++d)
        elements *= tensor.shape[d];
      isa::Access &hull = copy->instructions[i].inst.operands[k];
      hull = isa::hullOf(access, isOnChip, tensor.dtype, elements);
      hull.indexing = access.indexing;
    }
  return copy;
}

std::vector<Diagnostic> lint(const trace::Trace &given, const WarningOptions &warnings) {
  const std::optional<trace::Trace> hulls = withHulls(given);
  const trace::Trace &trace = hulls ? *hulls : given;
  Findings findings(trace, warnings);
  lintWrites(findings);
  lintTensors(findings);
  lintInstructions(findings);
  lintLoops(findings);
  return findings.finish();
}

} // namespace kiln::lint
