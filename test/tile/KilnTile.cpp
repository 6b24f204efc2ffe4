//===- KilnTile.cpp - evaluates a graph on .npy files, for tests ------------------------------===//
//
// Usage: kiln-tile GRAPH FOLDER [--nodes]
//
// GRAPH is a graph as text (kiln/Tile/Parse.h). Inputs are read from FOLDER/<buffer>.npy, the other
// buffers are written there, and with --nodes every value, to FOLDER/<node>.npy. 16-bit floats are
// files of uint16, their bits. Exit codes: 1 the graph or an input is at fault, 2 wrong usage.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/DiagnosticText.h"
#include "kiln/ISA/Text.h"
#include "kiln/Tile/Interpreter.h"
#include "kiln/Tile/Parse.h"
#include "kilnrt/HostData/Npy.h"

#include <fstream>
#include <iostream>
#include <sstream>

using namespace kiln;
using namespace kiln::tile;

namespace {

int fail(const Diagnostic &diagnostic) {
  std::cerr << toText(diagnostic);
  return 1;
}

bool isNarrowFloat(isa::DType dtype) { return isa::isFloat(dtype) && isa::bytesOf(dtype) == 2; }

std::string fileOf(const std::string &folder, std::string_view name) {
  return folder + "/" + std::string(name) + ".npy";
}

std::optional<Diagnostic> readInput(const Buffer &buffer, const std::string &path, Value &value) {
  kilnrt::Expected<kilnrt::NpyArray> read = kilnrt::readNpyFile(path);
  if (!read)
    return read.error();
  const isa::DType expected = isNarrowFloat(buffer.dtype) ? isa::DType::UInt16 : buffer.dtype;
  if (read->array.dtype != expected)
    return kilnrt::makeError(Fault::User, text("'", path, "' is ", isa::name(read->array.dtype),
                                               ", expected ", isa::name(expected)));
  value = {buffer.dtype, std::move(read->array.shape), std::move(read->array.data)};
  return std::nullopt;
}

kilnrt::Status write(const std::string &path, const Value &value) {
  return kilnrt::writeNpyFile(path, {value.dtype, value.shape, value.bytes}, {/*raw=*/true});
}

int run(const Graph &graph, const std::string &folder, bool writesNodes) {
  std::vector<Value> buffers(graph.buffers.size()), nodes;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (graph.buffers[i].role == Buffer::Role::Input)
      if (const auto fault =
              readInput(graph.buffers[i], fileOf(folder, graph.buffers[i].name), buffers[i]))
        return fail(*fault);
  InterpreterOptions options;
  if (writesNodes)
    options.nodes = &nodes;
  if (const auto fault = evaluate(graph, buffers, options))
    return fail(*fault);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (graph.buffers[i].role != Buffer::Role::Input)
      if (const auto status = write(fileOf(folder, graph.buffers[i].name), buffers[i]); !status)
        return fail(status.error());
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].bytes.empty())
      if (const auto status = write(fileOf(folder, text(i)), nodes[i]); !status)
        return fail(status.error());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const bool writesNodes = argc == 4 && std::string_view(argv[3]) == "--nodes";
  if (argc != 3 && !writesNodes) {
    std::cerr << "usage: kiln-tile GRAPH FOLDER [--nodes]\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  std::ostringstream source;
  source << file.rdbuf();
  if (!file) {
    std::cerr << "kiln-tile: cannot read '" << argv[1] << "'\n";
    return 2;
  }
  std::string error;
  const std::optional<Graph> graph = parse(source.str(), error);
  if (!graph) {
    std::cerr << argv[1] << ": " << error << "\n";
    return 1;
  }
  return run(*graph, argv[2], writesNodes);
}
