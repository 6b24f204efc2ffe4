//===- Tensors.cpp - lints that follow a tensor through the kernel ----------------------------===//

#include "Findings.h"
#include "kiln/ISA/Args.h"

#include <algorithm>
#include <unordered_map>

namespace kiln::lint {
namespace {

using isa::Access;
using isa::machine;
using isa::Memory;
using trace::kNone;
using trace::TensorRole;

using Line = std::pair<uint32_t, uint32_t>; // file, line

Line lineOf(const trace::Trace &trace, uint32_t location) {
  return location == kNone ? Line{kNone, 0}
                           : Line{trace.locations[location].file, trace.locations[location].line};
}

/// Elements of a tensor.
int64_t elementsOf(const trace::Tensor &tensor) {
  int64_t n = 1;
  for (int64_t extent : tensor.shape)
    n *= extent;
  return n;
}

//---- declarations -------------------------------------------------------===//

/// P-03. Remainders of a loop are small too, so the largest tile of the line counts.
void blocksOnPartitions(Findings &findings) {
  const trace::Trace &trace = findings.trace;
  std::map<Line, int64_t> most;
  for (const trace::Tensor &t : trace.tensors)
    if (t.memory != Memory::Hbm)
      most[lineOf(trace, t.location)] = std::max(most[lineOf(trace, t.location)], t.shape.front());
  for (uint32_t i = 0; i < trace.tensors.size(); ++i) {
    const trace::Tensor &t = trace.tensors[i];
    if (t.memory == Memory::Hbm || t.shape.size() < 3 || t.shape[1] != machine.numPartitions ||
        most[lineOf(trace, t.location)] >= machine.partitionQuadrant)
      continue;
    findings.add("P-03", t.location, [&] {
      std::vector<int64_t> swapped = t.shape;
      std::swap(swapped[0], swapped[1]);
      return Finding{text("dim 0 is always the partition dim, so ",
                          t.isNamed ? findings.nameOf(i) : "this tile", " ", tupleText(t.shape),
                          " uses ", t.shape[0], " of ", machine.numPartitions, " partitions"),
                     text("if ", t.shape[0], " counts blocks, keep a std::vector of ", t.shape[0],
                          " tiles, or declare ", tupleText(swapped)),
                     {}};
    });
  }
}

/// K-04.
void sharedInLoops(Findings &findings) {
  const trace::Trace &trace = findings.trace;
  std::map<Line, std::vector<uint32_t>> lines;
  for (uint32_t i = 0; i < trace.tensors.size(); ++i)
    if (trace.tensors[i].isShared && trace.tensors[i].role == TensorRole::Internal)
      lines[lineOf(trace, trace.tensors[i].location)].push_back(i);
  for (const auto &[line, tensors] : lines) {
    if (tensors.size() < 2)
      continue;
    findings.add("K-04", trace.tensors[tensors.front()].location, [&] {
      return Finding{text("this line declares ", tensors.size(),
                          " shared_hbm tensors that are no results: shared tensors are the same on "
                          "every core, so they are declared once, at the top of the kernel"),
                     "use nl::private_hbm, or move the declaration out of the loop",
                     {}};
    });
  }
}

//---- outputs that end early ---------------------------------------------===//

/// Where the writes of a tensor end.
struct End {
  int64_t bytes = 0; ///< written, counted from the start to the last one
  uint32_t location = kNone;
};

/// Stores of values to outputs.
void addStores(const trace::Trace &trace, std::vector<End> &ends) {
  for (const tile::Node &node : trace.graph.nodes) {
    if (node.op != tile::Op::Store || trace.tensors[node.view.buffer].role != TensorRole::Output)
      continue;
    int64_t last = node.view.offset;
    for (size_t d = 0; d < node.shape.size(); ++d)
      last += std::max<int64_t>(node.view.stride[d], 0) * (node.shape[d] - 1);
    const int64_t bytes = (last + 1) * isa::bytesOf(trace.tensors[node.view.buffer].dtype);
    if (End &end = ends[node.view.buffer]; bytes > end.bytes)
      end = {bytes, node.location};
  }
}

/// H-05: the last element anything writes, for each output.
void unwrittenEnds(Findings &findings) {
  const trace::Trace &trace = findings.trace;
  std::vector<End> ends(trace.tensors.size());
  addStores(trace, ends);
  for (uint32_t index = 0; index < trace.instructions.size(); ++index) {
    const trace::Instruction &instruction = trace.instructions[index];
    const isa::InstDesc &desc = instruction.inst.desc();
    for (unsigned i = 0; i < desc.operands.size(); ++i) {
      const Access &a = instruction.inst.operands[i];
      if (!desc.operands[i].isOutput || !a.present() ||
          trace.tensors[a.tensor].role != TensorRole::Output)
        continue;
      int64_t last = isa::elementRange(a).last;
      if (a.moves()) // loops write up to their last iteration
        for (unsigned l = 0; int64_t trips : trace.tripCounts(index))
          last += std::max<int64_t>(a.loopStep[l++], 0) * (trips - 1);
      const int64_t bytes = (last + 1) * isa::bytesOf(a.dtype);
      if (End &end = ends[a.tensor]; bytes > end.bytes)
        end = {bytes, instruction.location};
    }
  }
  for (uint32_t t = 0; t < trace.tensors.size(); ++t) {
    const trace::Tensor &tensor = trace.tensors[t];
    const int64_t total = elementsOf(tensor);
    const int64_t missing = total - ends[t].bytes / isa::bytesOf(tensor.dtype);
    if (tensor.role != TensorRole::Output || ends[t].bytes == 0 || missing <= 0)
      continue;
    const int64_t rowElements = total / tensor.shape[0];
    const bool isRows = tensor.shape.size() == 1 || missing >= rowElements;
    const int64_t extent = isRows ? tensor.shape.front() : tensor.shape.back();
    const int64_t count =
        isRows ? (missing + rowElements - 1) / rowElements : std::min(missing, tensor.shape.back());
    const std::string what = tensor.shape.size() == 1 ? "element" : isRows ? "row" : "column";
    findings.add("H-05", ends[t].location, [&] {
      return Finding{text("the writes of ", findings.nameOf(t), " end here: ", what,
                          count == 1 ? " " : "s ", extent - count,
                          count == 1 ? std::string() : text(" to ", extent - 1), " of ", extent,
                          count == 1 ? " is" : " are", " never written"),
                     text("count tiles with nl::tiles(", extent,
                          ", t) or nl::ceil_div: the division ", extent, " / t drops what is left"),
                     {{t}}};
    });
  }
}

//---- tiles that iterations share ----------------------------------------===//

/// M-12. A new life of a tile begins when an instruction overwrites all of it without reading it.
/// Lives that begin at one statement are iterations; when each meets a DMA, they wait for each
/// other.
class TileLives {
public:
  explicit TileLives(Findings &findings)
      : findings(findings), trace(findings.trace), lives(trace.tensors.size()) {}

  void run() {
    for (const trace::Instruction &instruction : trace.instructions)
      visit(instruction);
    for (uint32_t t = 0; t < lives.size(); ++t) {
      endLife(t);
      report(t);
    }
  }

private:
  struct Lives {
    uint32_t start = kNone;         ///< location of the instruction that began the current one
    bool loaded = false;            ///< it began with a DMA
    bool stored = false;            ///< a DMA read it
    bool used = false;              ///< an engine read it
    uint32_t loads = 0, stores = 0; ///< lives of that statement that count
    uint32_t location = kNone;      ///< the statement
  };

  bool isTile(const Access &a) const {
    return a.present() && trace.tensors[a.tensor].memory == Memory::Sbuf &&
           !trace.tensors[a.tensor].address;
  }

  bool coversAll(const Access &a) const {
    const trace::Tensor &t = trace.tensors[a.tensor];
    return a.elements() * isa::bytesOf(a.dtype) == elementsOf(t) * isa::bytesOf(t.dtype);
  }

  bool reads(const isa::Instruction &inst, uint32_t tensor) const {
    const isa::InstDesc &desc = inst.desc();
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if ((!desc.operands[i].isOutput || desc.operands[i].keepsOld) && inst.operands[i].present() &&
          inst.operands[i].tensor == tensor)
        return true;
    return false;
  }

  void visit(const trace::Instruction &instruction) {
    const isa::Instruction &inst = instruction.inst;
    const isa::InstDesc &desc = inst.desc();
    const bool isTransfer = desc.isTransfer;
    for (unsigned i = 0; i < desc.operands.size(); ++i) {
      const Access &a = inst.operands[i];
      if (!isTile(a))
        continue;
      Lives &l = lives[a.tensor];
      if (!desc.operands[i].isOutput) {
        (isTransfer ? l.stored : l.used) = true;
      } else if (coversAll(a) && !reads(inst, a.tensor)) {
        endLife(a.tensor);
        l.start = instruction.location;
        l.loaded = isTransfer;
      }
    }
  }

  /// Counts the current life of `tensor` and begins none.
  void endLife(uint32_t tensor) {
    Lives &l = lives[tensor];
    const bool isLoad = l.loaded && (l.used || l.stored), isStore = !l.loaded && l.stored;
    if (l.start != kNone && (isLoad || isStore)) {
      if (l.start != l.location) {
        l.location = l.start;
        l.loads = l.stores = 0;
      }
      ++(isLoad ? l.loads : l.stores);
    }
    l.start = kNone;
    l.loaded = l.stored = l.used = false;
  }

  void report(uint32_t tensor) {
    const Lives &l = lives[tensor];
    const uint32_t iterations = std::max(l.loads, l.stores);
    if (iterations < 2)
      return;
    findings.add("M-12", trace.tensors[tensor].location, [&] {
      const bool isLoad = l.loads >= l.stores;
      const CallChain at = trace.chain(l.location);
      return Finding{
          text(trace.tensors[tensor].isNamed ? findings.nameOf(tensor) : "this tile",
               " serves all ", iterations, " iterations of line ", at.empty() ? 0 : at.front().line,
               ", so ",
               isLoad ? "each load waits until the one before has been used"
                      : "each result waits until the one before has been stored"),
          "declare it inside the loop: every iteration then has its own, and they overlap",
          {}};
    });
  }

  Findings &findings;
  const trace::Trace &trace;
  std::vector<Lives> lives;
};

//---- loads that repeat --------------------------------------------------===//

struct AccessHash {
  size_t operator()(const Access &a) const {
    size_t hash = a.tensor;
    const auto mix = [&hash](int64_t v) { hash = (hash ^ size_t(v)) * 0x9E3779B97F4A7C15u; };
    mix(a.partitionCount);
    mix(a.rowStep);
    mix(a.offset);
    for (unsigned i = 0; i < a.rank; ++i) {
      mix(a.step[i]);
      mix(a.num[i]);
    }
    return hash ^ hash >> 32;
  }
};

/// W-08.
void repeatedLoads(Findings &findings) {
  struct Loads {
    int64_t bytes = 0, distinct = 0;
    uint32_t most = 0, location = kNone;
  };
  const trace::Trace &trace = findings.trace;
  std::unordered_map<Access, uint32_t, AccessHash> counts;
  std::vector<Loads> loads(trace.tensors.size());
  for (const trace::Instruction &instruction : trace.instructions) {
    const isa::Instruction &inst = instruction.inst;
    if (!inst.desc().isTransfer)
      continue;
    const Access &src = inst.operands[isa::mainInput(inst.desc())];
    if (trace.tensors[src.tensor].role != TensorRole::Input)
      continue;
    const int64_t bytes = src.elements() * isa::bytesOf(src.dtype);
    const uint32_t count = ++counts[src];
    Loads &l = loads[src.tensor];
    l.bytes += bytes;
    l.distinct += count == 1 ? bytes : 0;
    if (count > l.most) {
      l.most = count;
      l.location = instruction.location;
    }
  }
  for (uint32_t t = 0; t < loads.size(); ++t) {
    const Loads &l = loads[t];
    if (l.distinct == 0 || l.bytes < 2 * l.distinct)
      continue;
    findings.add("W-08", l.location, [&] {
      return Finding{text(findings.nameOf(t), " is loaded ", l.bytes / l.distinct,
                          " times: ", sizeText(l.bytes), " instead of ", sizeText(l.distinct)),
                     "load it once, before the loop, and keep the tiles as far as SBUF has room",
                     {}};
    });
  }
}

} // namespace

void lintTensors(Findings &findings) {
  if (findings.wants("P-03"))
    blocksOnPartitions(findings);
  if (findings.wants("K-04"))
    sharedInLoops(findings);
  if (findings.wants("H-05"))
    unwrittenEnds(findings);
  if (findings.wants("M-12"))
    TileLives(findings).run();
  if (findings.wants("W-08"))
    repeatedLoads(findings);
}

} // namespace kiln::lint
