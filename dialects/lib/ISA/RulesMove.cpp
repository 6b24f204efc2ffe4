//===- RulesMove.cpp - rules of fills, patterns and transfers, and GpSimd's missing port ------===//

#include "RuleHelpers.h"

#include <cmath>

namespace kiln::isa::rules {
namespace {

enum : unsigned { Dst = 0, Src = 1 };

std::string_view spelled(const InstView &view, DgeMode mode) {
  return nameOf(view.desc.field("dge_mode")->cases, uint32_t(mode));
}

} // namespace

void gpsimdNoPsum(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (engineOf(view) != Engine::Gpsimd)
    return;
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    if (view.access(i).present() && memoryOf(view, i) == Memory::Psum)
      report(sink, id, int(i),
             text(view.desc.mnemonic, " runs on GpSimd here, which cannot access PSUM; ",
                  view.describe(i), " is in PSUM"),
             text(view.desc.operands[i].isOutput ? "write to an SBUF tile"
                                                 : "tensor_copy it to an SBUF tile first",
                  view.inst.engine == Engine::Gpsimd ? ", or leave the engine unset" : ""));
}

void memsetValue(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType dtype = view.access(Dst).dtype;
  if (isFloat(dtype))
    return;
  double value = realOf(fieldOf(view, "value"));
  // Written so that NaN counts as not whole.
  if (!(value == std::floor(value)) || std::isinf(value))
    return report(sink, id, Dst,
                  text("fill value ", value, " is no whole number, ", view.describe(Dst), " is ",
                       name(dtype)),
                  std::isfinite(value) ? text("write ", std::nearbyint(value))
                                       : std::string("write a whole number"));
  IntegerRange range = integerRange(dtype);
  if (value < range.low || value > range.high)
    report(sink, id, Dst,
           text("fill value ", value, " does not fit ", view.describe(Dst), ", ", name(dtype),
                " holds ", int64_t(range.low), " to ", int64_t(range.high)),
           text("write a value from ", int64_t(range.low), " to ", int64_t(range.high)));
}

void iotaPattern(const InstView &view, std::string_view id, const RuleSink &sink) {
  constexpr unsigned pairs = machine.maxFreeDims;
  int64_t values = 1;
  for (unsigned i = 0; i < pairs; ++i) {
    int64_t num = fieldOf(view, "pattern", 2 * i + 1);
    if (num < 1)
      return report(sink, id, -1,
                    text("pair ", i, " of the pattern has ", num, " values, at least 1 is needed"),
                    "write unused pairs as [0, 1]");
    values = mulSaturated(values, num);
  }
  int64_t elements = view.access(Dst).freeElements();
  if (values != elements)
    report(sink, id, Dst,
           text("the pattern has ", counted(values, "value"), ", ", view.describe(Dst), " has ",
                elements, " per partition"),
           "make the product of the pattern's counts equal to the free size of "
           "dst");
}

void dmaElements(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(Dst), &src = view.access(Src);
  if (dst.elements() != src.elements())
    report(sink, id, Dst,
           text(view.describe(Dst), " holds ", counted(dst.elements(), "element"), ", ",
                view.describe(Src), " ", src.elements()),
           text("dst is ", shapeOf(dst), ", src is ", shapeOf(src),
                ": slice both to the same extents"));
}

void dmaHwdgeDtypes(const InstView &view, std::string_view id, const RuleSink &sink) {
  DType dst = view.access(Dst).dtype, src = view.access(Src).dtype;
  if (DgeMode(fieldOf(view, "dge_mode")) == DgeMode::Hwdge && dst != src)
    report(sink, id, Dst,
           text("hardware DGE moves raw bytes: ", view.describe(Src), " is ", name(src), ", ",
                view.describe(Dst), " is ", name(dst), ", they must match"),
           "use view(), or another mode");
}

void dmaEngine(const InstView &view, std::string_view id, const RuleSink &sink) {
  Engine engine = engineOf(view);
  auto mode = DgeMode(fieldOf(view, "dge_mode"));
  // Static descriptors are triggered on the Sync Engine; the Scalar Engine only
  // reaches the hardware block; software descriptors are built and started by
  // GpSimd.
  if (engine == Engine::Gpsimd && mode != DgeMode::Swdge)
    report(sink, id, -1,
           text("gpsimd starts a transfer only with dge_mode swdge, dge_mode is ",
                spelled(view, mode)),
           "leave the engine unset, or use dge_mode::swdge");
  else if (engine == Engine::Scalar && mode != DgeMode::Hwdge)
    report(sink, id, -1,
           text("choosing a trigger engine needs dge_mode hwdge, engine is "
                "scalar and dge_mode is ",
                spelled(view, mode)),
           "leave the engine unset, or use dge_mode::hwdge");
  else if (engine == Engine::Sync && mode == DgeMode::Swdge)
    report(sink, id, -1, "dge_mode swdge makes descriptors on gpsimd, engine is sync",
           "leave the engine unset, or use dge_mode::hwdge");
}

void dmaRing(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (int64_t ring = fieldOf(view, "ring"); ring >= machine.dmaRings)
    report(sink, id, -1,
           text("ring ", ring, " does not exist, the core has ", machine.dmaRings, " (0 to ",
                machine.dmaRings - 1, ")"),
           "leave the ring to the compiler");
}

} // namespace kiln::isa::rules
