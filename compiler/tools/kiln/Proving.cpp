//===- Proving.cpp - proofs on the command line -----------------------------------------------===//

#include "Proving.h"

namespace kiln::tool {

using nlohmann::ordered_json;

/// Findings that a run reports; `kiln check` shows more.
static constexpr size_t kFindingsOfRun = 3;

bool proveBeforeRun(const kilnrt::Program &program, bool acceptsOverlaps, Reporter &reporter) {
  auto proof =
      kilnrt::prove(program, {.maxFindings = kFindingsOfRun, .acceptsOverlaps = acceptsOverlaps});
  if (!proof) {
    reporter.report(proof.error());
    return false;
  }
  for (kilnrt::Finding &finding : proof->findings) {
    const bool isOverlap = finding.kind == kilnrt::Finding::Kind::Overlap;
    finding.diagnostic.notes.push_back(
        {isOverlap ? "nothing was run; -Wno-error=M-04 runs it and shows what the chip would"
                   : "nothing was run; --no-proof runs it all the same",
         {}});
    reporter.report(finding.diagnostic);
  }
  return proof->findings.empty();
}

static std::string_view edgeKind(kilnrt::GraphEdge::Kind kind) {
  switch (kind) {
  case kilnrt::GraphEdge::Kind::Program:
    return "program";
  case kilnrt::GraphEdge::Kind::Semaphore:
    return "semaphore";
  case kilnrt::GraphEdge::Kind::WaitsFor:
    return "waits_for";
  case kilnrt::GraphEdge::Kind::Missing:
    return "missing";
  }
  return "";
}

ordered_json findingJson(const kilnrt::Finding &finding) {
  ordered_json nodes = ordered_json::array(), edges = ordered_json::array();
  for (const kilnrt::GraphNode &node : finding.graph.nodes) {
    ordered_json place = ordered_json::array();
    for (const FileLine &at : node.place)
      place.push_back({{"file", at.file}, {"line", at.line}});
    nodes.push_back({{"stream", std::string(isa::name(node.engine))},
                     {"index", node.index},
                     {"instruction", node.text},
                     {"place", place}});
  }
  for (const kilnrt::GraphEdge &edge : finding.graph.edges)
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"kind", std::string(edgeKind(edge.kind))},
                     {"text", edge.text}});
  return {{"kind", std::string(kindText(finding.kind))},
          {"diagnostic", renderJson(finding.diagnostic)},
          {"graph", {{"nodes", nodes}, {"edges", edges}}}};
}

} // namespace kiln::tool
