//===- Graph.cpp - graphs as text -------------------------------------------------------------===//

#include "kilnrt/Proof.h"

#include "kiln/ISA/Text.h"

using namespace kilnrt;
using kiln::text;

static std::string placeText(const kiln::CallChain &chain) {
  return chain.empty() ? "" : text(chain.front().file, ":", chain.front().line);
}

static std::string_view edgeText(GraphEdge::Kind kind) {
  switch (kind) {
  case GraphEdge::Kind::Program:
    return "program order";
  case GraphEdge::Kind::Semaphore:
    return "waits";
  case GraphEdge::Kind::WaitsFor:
    return "waits for";
  case GraphEdge::Kind::Missing:
    return "missing";
  }
  return "";
}

std::string kilnrt::graphText(const Graph &graph) {
  std::string out;
  const auto nodeName = [&](uint32_t node) {
    const GraphNode &n = graph.nodes[node];
    return text(isa::name(n.engine), " ", n.index);
  };
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    const std::string where = placeText(node.place);
    out += text(nodeName(i), "  ", node.text, where.empty() ? "" : "  ", where, "\n");
  }
  for (const GraphEdge &edge : graph.edges)
    out += text(nodeName(edge.from), " -> ", nodeName(edge.to), "  ", edgeText(edge.kind),
                edge.text.empty() ? "" : ": ", edge.text, "\n");
  return out;
}

static std::string quotedDot(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string kilnrt::graphDot(const Graph &graph, std::string_view name) {
  std::string out = text("digraph ", quotedDot(name), " {\n  node [shape=box];\n");
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    // Graphviz breaks a label at \n; quoting would double the backslash.
    std::string label = quotedDot(text(isa::name(node.engine), " ", node.index, " ", node.text));
    if (const std::string where = placeText(node.place); !where.empty()) {
      label.pop_back();
      label += "\\n" + quotedDot(where).substr(1);
    }
    out += text("  n", i, " [label=", label, "];\n");
  }
  for (const GraphEdge &edge : graph.edges) {
    out += text("  n", edge.from, " -> n", edge.to, " [");
    if (!edge.text.empty())
      out += text("label=", quotedDot(edge.text), ", ");
    switch (edge.kind) {
    case GraphEdge::Kind::Program:
      out += "style=bold";
      break;
    case GraphEdge::Kind::Semaphore:
      out += "style=solid";
      break;
    case GraphEdge::Kind::WaitsFor:
      out += "style=dashed";
      break;
    case GraphEdge::Kind::Missing:
      out += "style=dashed, color=red, fontcolor=red, constraint=false";
      break;
    }
    out += "];\n";
  }
  return out + "}\n";
}
