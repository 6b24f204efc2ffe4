//===- Describe.cpp - a plan in words
//-----------------------------------------------------------===//
//
// For authors who ask why a kernel is as fast as it is: what is computed together, which dim lies
// on partitions, what is read more than once, what goes through HBM and why.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Plan/Plan.h"

#include "Wish.h"
#include "kiln/ISA/Text.h"

#include <algorithm>

namespace kiln::plan {

using tile::Node;
using tile::Op;

namespace {

std::string join(const std::vector<std::string> &parts, std::string_view between = ", ") {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i ? std::string(between) : "") + parts[i];
  return out;
}

std::string times(int64_t n) {
  return n == 1 ? std::string("once") : n == 2 ? std::string("twice") : text(n, " times");
}

std::string argumentText(const Argument &argument) {
  return argument.isTile() ? "a column" : text(argument.number);
}

/// Like parts that follow each other are named once: "tensor_scalar multiply, add (3 times)".
std::vector<std::string> counted(const std::vector<std::string> &parts) {
  std::vector<std::string> out;
  for (size_t i = 0; i < parts.size();) {
    size_t end = i;
    while (end < parts.size() && parts[end] == parts[i])
      ++end;
    out.push_back(end - i == 1 ? parts[i] : text(parts[i], " (", times(int64_t(end - i)), ")"));
    i = end;
  }
  return out;
}

class Words {
public:
  Words(const Plan &plan, const Group &group, const PlaceText &place)
      : plan(plan), group(group), place(place) {}

  std::vector<std::string> run() {
    addTitle();
    if (group.skeleton != Skeleton::Copy) {
      addLayout();
      addInstructions();
      addMemory();
    }
    addTransfers();
    addCrossings();
    return std::move(lines);
  }

private:
  template <typename... Parts>
  void detail(const Parts &...parts) {
    lines.push_back(text("  ", parts...));
  }

  std::string at(uint32_t location) const {
    const std::string where = place && location != kNone ? place(location) : std::string();
    return where.empty() ? where : ", " + where;
  }

  std::string_view kind() const {
    if (group.isInlined)
      return "rows, computed inside a later group";
    switch (group.skeleton) {
    case Skeleton::Copy:
      return "copy";
    case Skeleton::Rows:
      return "rows";
    case Skeleton::Contraction:
      return "matmul";
    }
    return "";
  }

  void addTitle() {
    std::vector<std::string> names;
    for (NodeId id : group.nodes)
      if (isComputed(plan.graph[id].op))
        names.push_back(nameOf(plan.graph, id));
    if (names.empty())
      for (NodeId id : group.nodes)
        names.push_back(nameOf(plan.graph, id));
    lines.push_back(text(kind(), ": ", join(counted(names)), at(group.location)));
  }

  void addLayout() {
    const std::string space = tupleText(group.extents);
    if (group.ragged != 0)
      detail("layout: ", group.ragged, " elements in ", group.extents[group.partition], " rows of ",
             group.extents[group.partition + 1], " on partitions");
    else if (group.partition == kNone)
      detail("layout: ", space, " on one partition");
    else
      detail("layout: dim ", group.partition, " of ", space, " on partitions, ",
             group.tile[group.partition], " at a time");
    std::vector<std::string> loops;
    for (unsigned d : group.loops)
      loops.push_back(
          text("dim ", d, " ", times((group.extents[d] + group.tile[d] - 1) / group.tile[d])));
    detail("tiles: ", tupleText(group.tile),
           loops.empty() ? ", all at once" : ", loops outermost first: " + join(loops));
    if (group.isChunked)
      detail("cut rows: each fold is a pass over the pieces, ", group.stages, " passes");
    if (group.skeleton != Skeleton::Contraction)
      return;
    const ContractionPlan &loops_ = group.contraction;
    const std::string blocks =
        text("blocks of ", loops_.stationaryBlock, " on partitions x ", loops_.movingBlock);
    if (loops_.isSpannedOutside)
      detail("operands: both stream along the contraction dim into PSUM, ", blocks);
    else
      detail("operands: a block of the ", loops_.outerIsStationary ? "stationary" : "moving",
             " one stays in SBUF, the other streams past it, ", blocks);
  }

  void addInstructions() {
    std::vector<std::string> steps;
    for (size_t i = 0; i < group.contraction.products.size(); ++i)
      steps.push_back("nc_matmul");
    for (const Step &step : group.steps)
      steps.push_back(describeStep(plan, step));
    detail("instructions of a tile: ", join(counted(steps)));
  }

  void addMemory() {
    int64_t frame = 0;
    for (int64_t slot : group.slotBytes.back())
      frame += slot;
    std::string out =
        text("SBUF: ", group.sbufBytes, " of ", plan.sbufLimit, " bytes of a partition");
    if (frame > 0)
      out += text("; ", group.copies.back(), group.copies.back() == 1 ? " tile" : " tiles", " of ",
                  frame, " bytes in flight");
    if (group.psumBanks > 0)
      out += text("; ", group.psumBanks, " PSUM banks");
    detail(out);
  }

  /// "'x'", also of what a cast or a view reads.
  std::string bufferText(NodeId id) const {
    return "'" + plan.graph.buffers[plan.graph[id].view.buffer].name + "'";
  }

  void addTransfers() {
    int64_t least = 0;
    for (const Transfer &transfer : group.transfers) {
      const int64_t compulsory = compulsoryBytes(plan.graph, transfer.node);
      least += compulsory;
      const bool isStore = plan.graph[transfer.node].isEffect();
      const int64_t hundredths = (transfer.bytes * 100 + compulsory / 2) / compulsory;
      const std::string often = transfer.bytes % compulsory == 0
                                    ? times(transfer.bytes / compulsory)
                                    : text(hundredths / 100, hundredths % 100 < 10 ? ".0" : ".",
                                           hundredths % 100, " times");
      detail(isStore ? "writes " : "reads ", bufferText(transfer.node), " ",
             tupleText(plan.graph[transfer.node].shape), ": ", transfer.bytes, " bytes, ", often,
             at(plan.graph[transfer.node].location));
    }
    detail("HBM: ", group.readBytes, " bytes read, ", group.writtenBytes, " written, ", least,
           " compulsory");
  }

  void addCrossings() {
    if (group.isInlined)
      return;
    for (const Crossing &crossing : plan.crossings)
      if (std::binary_search(group.nodes.begin(), group.nodes.end(), crossing.store))
        detail("through HBM: ", bufferText(crossing.store), ", the result of ",
               nameOf(plan.graph, plan.graph[crossing.store].operands[0]), ", because ",
               crossing.why);
  }

  const Plan &plan;
  const Group &group;
  const PlaceText &place;
  std::vector<std::string> lines;
};

} // namespace

std::string describeStep(const Plan &plan, const Step &step) {
  const auto ops = [&] {
    std::string out(isa::name(step.op0));
    if (step.op1 != isa::AluOp::None)
      out += text(", ", isa::name(step.op1));
    return out;
  };
  switch (step.kind) {
  case Step::Kind::Load:
  case Step::Kind::Store:
    return nameOf(plan.graph, step.node);
  case Step::Kind::Fill:
    return text("memset ", step.x.number);
  case Step::Kind::Iota:
    return "iota";
  case Step::Kind::Copy:
    return "tensor_copy";
  case Step::Kind::Activation: {
    std::string out = text("activation ", isa::name(step.fn));
    if (step.y.isTile() || step.y.number != 1)
      out += " of scaled";
    if (step.z.isTile() || (step.z.kind == Argument::Kind::Number && step.z.number != 0))
      out += text(" plus ", argumentText(step.z));
    return step.sum != kNone ? out + " with row sum" : out;
  }
  case Step::Kind::TensorScalar:
    return "tensor_scalar " + ops();
  case Step::Kind::TensorTensor:
    return "tensor_tensor " + std::string(isa::name(step.op0));
  case Step::Kind::ScalarTensorTensor:
    return "scalar_tensor_tensor " + ops();
  case Step::Kind::Reciprocal:
    return "reciprocal";
  case Step::Kind::Predicated:
    return "tensor_copy_predicated";
  case Step::Kind::Reduce:
    return "tensor_reduce " + std::string(isa::name(step.op0));
  }
  return "";
}

std::string describeTotals(const Plan &plan) {
  // What the kernel's own tensors make unavoidable: each read place once, each written one once.
  int64_t least = 0;
  std::vector<std::pair<uint32_t, int64_t>> read; // buffer, most bytes of one place
  for (const Node &node : plan.graph.nodes) {
    const bool isEffect = node.isEffect();
    if ((node.op != Op::Load && !isEffect) || node.view.buffer >= plan.ownBuffers ||
        plan.graph.buffers[node.view.buffer].memory != isa::Memory::Hbm)
      continue;
    const int64_t bytes = compulsoryBytes(plan.graph, NodeId(&node - plan.graph.nodes.data()));
    if (isEffect) {
      least += bytes;
      continue;
    }
    const auto known = std::find_if(read.begin(), read.end(),
                                    [&](const auto &r) { return r.first == node.view.buffer; });
    if (known == read.end())
      read.push_back({node.view.buffer, bytes});
    else
      known->second = std::max(known->second, bytes);
  }
  for (const auto &[buffer, bytes] : read)
    least += bytes;
  return text(plan.groups.size(),
              plan.groups.size() == 1 ? " group; HBM: " : " groups; HBM: ", plan.readBytes,
              " bytes read, ", plan.writtenBytes, " written; reading inputs and ",
              "writing results once is ", least, "; SBUF: ", plan.sbufBytes, " of ", plan.sbufLimit,
              " bytes of a partition");
}

std::vector<std::string> describe(const Plan &plan, const Group &group, const PlaceText &place) {
  return Words(plan, group, place).run();
}

} // namespace kiln::plan
