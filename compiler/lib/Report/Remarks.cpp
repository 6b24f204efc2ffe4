//===- Remarks.cpp - how whole tensors are computed, as text and JSON
//---------------------------===//

#include "kiln/Report/Report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kiln::report {
namespace {

using nlohmann::ordered_json;
using plan::kNone;
using plan::NodeId;
using tile::Op;
using Lines = std::function<unsigned(uint32_t)>;

std::string_view kindName(const plan::Group &group) {
  switch (group.skeleton) {
  case plan::Skeleton::Copy:
    return "copy";
  case plan::Skeleton::Rows:
    return "rows";
  case plan::Skeleton::Contraction:
    return "matmul";
  }
  return "";
}

std::string_view bufferName(const plan::Plan &plan, NodeId node) {
  return plan.graph.buffers[plan.graph[node].view.buffer].name;
}

ordered_json operationsJson(const plan::Plan &plan, const plan::Group &group, const Lines &line) {
  ordered_json list = ordered_json::array();
  for (NodeId id : group.nodes) {
    const tile::Node &node = plan.graph[id];
    if (node.op == Op::Load || node.op == Op::Splat || node.isEffect())
      continue;
    std::string_view what = tile::name(node.op);
    if (node.op == Op::Unary)
      what = isa::name(node.fn);
    if (node.op == Op::Binary || node.op == Op::Reduce)
      what = isa::name(node.alu);
    ordered_json json;
    json["operation"] = what;
    json["is_fold"] = node.op == Op::Reduce;
    json["shape"] = node.shape;
    json["dtype"] = isa::name(node.dtype);
    json["line"] = line(node.location);
    list.push_back(std::move(json));
  }
  return list;
}

ordered_json matmulJson(const plan::ContractionPlan &loops) {
  ordered_json json;
  json["stays"] = loops.isSpannedOutside    ? "neither"
                  : loops.outerIsStationary ? "stationary"
                                            : "moving";
  json["result_partitions"] = loops.stationaryIsN ? "columns" : "rows";
  json["stationary_block"] = loops.stationaryBlock;
  json["moving_block"] = loops.movingBlock;
  json["piece_chunks"] = loops.pieceChunks;
  json["matmuls"] = loops.products.size();
  return json;
}

ordered_json transfersJson(const plan::Plan &plan, const plan::Group &group, const Lines &line) {
  ordered_json list = ordered_json::array();
  for (const plan::Transfer &transfer : group.transfers) {
    const tile::Node &node = plan.graph[transfer.node];
    ordered_json json;
    json["tensor"] = bufferName(plan, transfer.node);
    json["direction"] = node.isEffect() ? "write" : "read";
    json["bytes"] = transfer.bytes;
    json["compulsory_bytes"] = plan::compulsoryBytes(plan.graph, transfer.node);
    json["line"] = line(node.location);
    list.push_back(std::move(json));
  }
  return list;
}

ordered_json crossingsJson(const plan::Plan &plan, const plan::Group &group, const Lines &line) {
  ordered_json list = ordered_json::array();
  for (const plan::Crossing &crossing : plan.crossings) {
    if (group.isInlined ||
        !std::binary_search(group.nodes.begin(), group.nodes.end(), crossing.store))
      continue;
    const tile::Node &store = plan.graph[crossing.store];
    ordered_json json;
    json["tensor"] = bufferName(plan, crossing.store);
    json["bytes"] = plan::compulsoryBytes(plan.graph, crossing.store);
    json["line"] = line(plan.graph[store.operands[0]].location);
    json["why"] = crossing.why;
    list.push_back(std::move(json));
  }
  return list;
}

ordered_json groupJson(const plan::Plan &plan, const plan::Group &group, size_t instructions,
                       const Lines &line) {
  ordered_json json;
  json["kind"] = kindName(group);
  json["line"] = line(group.location);
  json["inside_a_later_group"] = group.isInlined;
  json["instructions"] = instructions;
  json["operations"] = operationsJson(plan, group, line);
  const bool isCopy = group.skeleton == plan::Skeleton::Copy;
  json["extents"] = group.extents;
  json["partition_dim"] =
      isCopy || group.partition == kNone ? ordered_json(nullptr) : ordered_json(group.partition);
  json["tile"] = group.tile;
  json["loops"] = group.loops;
  json["passes"] = group.stages;
  json["cut_elements"] = group.ragged == 0 ? ordered_json(nullptr) : ordered_json(group.ragged);
  json["buffers"] = group.copies.empty() ? int64_t(1) : group.copies.back();
  json["steps"] = ordered_json::array();
  for (const plan::Step &step : group.steps)
    json["steps"].push_back(plan::describeStep(plan, step));
  json["matmul"] = group.skeleton == plan::Skeleton::Contraction ? matmulJson(group.contraction)
                                                                 : ordered_json(nullptr);
  json["sbuf_bytes"] = group.sbufBytes;
  json["psum_banks"] = group.psumBanks;
  json["hbm_read_bytes"] = group.readBytes;
  json["hbm_written_bytes"] = group.writtenBytes;
  json["transfers"] = transfersJson(plan, group, line);
  json["through_hbm"] = crossingsJson(plan, group, line);
  return json;
}

} // namespace

std::string remarksText(std::string_view name, const plan::Plan &plan,
                        const std::vector<size_t> &instructions, const Lines &line) {
  if (plan.groups.empty())
    return fmt::format("whole tensors of '{}': none\n", name);
  const auto place = [&](uint32_t location) {
    const unsigned number = line(location);
    return number == 0 ? std::string() : fmt::format("line {}", number);
  };
  std::string text = fmt::format("whole tensors of '{}': {}\n", name, plan::describeTotals(plan));
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const std::vector<std::string> lines = plan::describe(plan, plan.groups[g], place);
    for (size_t i = 0; i < lines.size(); ++i)
      text += i == 0 ? fmt::format("group {}, {} instructions, {}\n", g, instructions[g], lines[i])
                     : lines[i] + "\n";
  }
  return text;
}

std::string remarksJson(std::string_view name, const plan::Plan &plan,
                        const std::vector<size_t> &instructions, const Lines &line) {
  ordered_json json;
  json["version"] = 1;
  json["kernel"] = name;
  json["target"] = "trn2";
  json["sbuf_bytes"] = plan.sbufBytes;
  json["sbuf_limit_bytes"] = plan.sbufLimit;
  json["hbm_read_bytes"] = plan.readBytes;
  json["hbm_written_bytes"] = plan.writtenBytes;
  json["groups"] = ordered_json::array();
  for (size_t g = 0; g < plan.groups.size(); ++g)
    json["groups"].push_back(groupJson(plan, plan.groups[g], instructions[g], line));
  return json.dump(2) + "\n";
}

} // namespace kiln::report
