//===- KernelFixture.h - tracing kernels written inside a test --------------------------------===//
//
// Kernels are captureless lambdas; traces and diagnostics become text that tests compare whole.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_DSL_KERNELFIXTURE_H
#define KILN_TEST_UNIT_DSL_KERNELFIXTURE_H

#include "kiln/Trace/Tracer.h"
#include "nl/nl.h"

#include <sstream>

namespace kiln::test {

using driver::TensorArg;
using isa::DType;
using nl::Chunk, nl::ds, nl::InOut, nl::Tensor;
using trace::TraceResult;

/// The registry entry of `kernel`, without leaving it in the registry.
template <class Lambda>
nl::detail::KernelEntry entryOf(Lambda kernel, std::initializer_list<const char *> names = {},
                                nl::SrcLoc place = nl::SrcLoc::current()) {
  [[maybe_unused]] nl::Kernel registration("k", +kernel, names, place);
  nl::detail::KernelEntry entry = nl::detail::registry().back();
  nl::detail::registry().pop_back();
  return entry;
}

inline trace::TraceOptions optionsHere(const char *file = __builtin_FILE()) {
  trace::TraceOptions options;
  options.kernelFile = file;
  return options;
}

/// Traces `kernel`.
template <class Lambda>
TraceResult traceOf(Lambda kernel, std::vector<driver::Arg> args = {},
                    std::initializer_list<const char *> names = {},
                    nl::SrcLoc place = nl::SrcLoc::current()) {
  return trace::traceKernel(entryOf(kernel, names, place), args, optionsHere(place.file));
}

/// Traces a kernel of one 128x512 float32 nl::InOut parameter named 'y', which is output enough for
/// tests of what happens on the way.
template <class Lambda>
TraceResult traceBody(Lambda kernel, nl::SrcLoc place = nl::SrcLoc::current()) {
  return traceOf(kernel, {TensorArg{DType::Float32, {128, 512}}}, {"y"}, place);
}

inline std::string placeText(const CallChain &chain) {
  std::string out;
  for (const FileLine &f : chain)
    out += (out.empty() ? "" : " < ") + f.file + ":" + std::to_string(f.line);
  return out;
}

/// "[V-01] message (help)" for each error, a line each.
inline std::string errorsOf(const TraceResult &result) {
  std::string out;
  for (const Diagnostic &d : result.diagnostics) {
    out += d.severity == Severity::Error ? "[" + d.rule + "] " : "";
    out += d.message + (d.help.empty() ? "" : " (" + d.help + ")") + "\n";
  }
  return out.empty() ? out : out.substr(0, out.size() - 1);
}

/// "t0[0+128, 0: 1x512]"; HBM accesses show the step of their rows: "x[128 rows of 4096, 0:
/// 1x512]".
inline std::string accessText(const trace::Trace &trace, const isa::Access &a) {
  std::ostringstream out;
  const trace::Tensor &tensor = trace.tensors[a.tensor];
  out << tensor.name << "[";
  if (tensor.memory == isa::Memory::Hbm)
    out << a.partitionCount << " rows of " << a.rowStep;
  else
    out << a.partitionStart << "+" << a.partitionCount;
  out << ", " << a.offset << ":";
  for (unsigned i = 0; i < a.rank; ++i)
    out << " " << a.step[i] << "x" << a.num[i];
  for (unsigned l = 0; l < a.loopSteps(); ++l)
    out << (l ? " " : " loop ") << a.loopStep[l];
  out << "]";
  if (a.dtype != tensor.dtype)
    out << ":" << isa::name(a.dtype);
  return out.str();
}

/// Mnemonic, operands and the fields that differ from their defaults.
inline std::string instructionText(const trace::Trace &trace, const isa::Instruction &inst) {
  std::ostringstream out;
  const isa::InstDesc &desc = inst.desc();
  out << desc.mnemonic;
  for (unsigned i = 0; i < desc.operands.size(); ++i)
    if (inst.operands[i].present())
      out << " " << desc.operands[i].name << "=" << accessText(trace, inst.operands[i]);
  for (const isa::FieldDesc &f : desc.fields) {
    bool isDefault = !f.required;
    for (unsigned w = 0; w < f.words; ++w)
      isDefault &= inst.fields[f.word + w] == f.init;
    if (isDefault)
      continue;
    out << " " << f.name << "=";
    for (unsigned w = 0; w < f.words; ++w) {
      int64_t v = inst.fields[f.word + w];
      out << (w ? "," : "");
      if (f.kind == isa::FieldKind::F32 || f.kind == isa::FieldKind::F64)
        out << isa::realOf(v);
      else if (f.kind == isa::FieldKind::Enum)
        out << isa::nameOf(f.cases, static_cast<uint32_t>(v));
      else
        out << v;
    }
  }
  if (inst.engine != isa::Engine::Unknown)
    out << " engine=" << isa::name(inst.engine);
  return out.str();
}

/// All instructions, a line each.
inline std::string instructionsOf(const TraceResult &result) {
  std::string out;
  for (const trace::Instruction &i : result.trace.instructions)
    out += instructionText(result.trace, i.inst) + "\n";
  return out;
}

/// "[0, 2) x 5 in 0" for each loop, a line each.
inline std::string loopsOf(const TraceResult &result) {
  std::string out;
  for (const trace::Loop &l : result.trace.loops)
    out += "[" + std::to_string(l.begin) + ", " + std::to_string(l.end) + ") x " +
           std::to_string(l.control.tripCount) +
           (l.parent == trace::kNone ? "" : " in " + std::to_string(l.parent)) + "\n";
  return out;
}

/// Everything but places.
inline std::string dump(const TraceResult &result) {
  std::ostringstream out;
  for (const trace::Tensor &t : result.trace.tensors) {
    out << t.name << " " << isa::name(t.memory) << " " << isa::name(t.dtype) << " role "
        << int(t.role) << " #" << t.index;
    for (int64_t d : t.shape)
      out << " " << d;
    out << "\n";
  }
  return out.str() + instructionsOf(result);
}

} // namespace kiln::test

#endif // KILN_TEST_UNIT_DSL_KERNELFIXTURE_H
