//===- KilnRoad.cpp - compiles a graph and compares it with its definition --------------------===//
//
// Usage: kiln-road GRAPH [SEED]
//
// GRAPH is a graph as text (kiln/Tile/Parse.h). Inputs are random; outputs of the program and of
// the interpreter on the planned graph are compared bit for bit.
//
//===------------------------------------------------------------------------------------------===//

#include "Road.h"

#include "kiln/ISA/DiagnosticText.h"
#include "kiln/Tile/Parse.h"
#include "kilnrt/Numerics/Convert.h"

#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

using namespace kiln;

static tile::Value randomValue(const tile::Buffer &buffer, std::mt19937_64 &random) {
  tile::Value value{buffer.dtype, buffer.shape, {}};
  int64_t n = 1;
  for (int64_t extent : buffer.shape)
    n *= extent;
  const unsigned width = isa::bytesOf(buffer.dtype);
  value.bytes.resize(size_t(n) * width);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < n; ++i)
    kilnrt::storeElement(
        buffer.dtype, isa::isFloat(buffer.dtype) ? normal(random) : std::floor(20 * normal(random)),
        value.bytes.data() + size_t(i) * width);
  return value;
}

int main(int argc, char **argv) {
  std::ifstream file(argv[1]);
  std::ostringstream source;
  source << file.rdbuf();
  std::string error;
  const std::optional<tile::Graph> graph = tile::parse(source.str(), error);
  if (!graph) {
    std::cerr << argv[1] << ": " << error << "\n";
    return 1;
  }
  std::mt19937_64 random(argc > 2 ? std::stoull(argv[2]) : 1);
  test::Compiled compiled = test::compileGraph(*graph);
  for (const Diagnostic &d : compiled.diagnostics)
    std::cerr << toText(d);
  if (!compiled.program || !compiled.plan)
    return 1;
  for (const plan::Group &group : compiled.plan->groups)
    for (const std::string &line : plan::describe(*compiled.plan, group))
      std::cout << line << "\n";
  std::vector<tile::Value> inputs;
  for (const tile::Buffer &buffer : graph->buffers)
    if (buffer.role == tile::Buffer::Role::Input)
      inputs.push_back(randomValue(buffer, random));
  auto expected = test::interpret(compiled.plan->graph, inputs);
  auto got = test::execute(*compiled.program, inputs);
  for (const auto *result : {&expected, &got})
    if (const auto *problem = std::get_if<Diagnostic>(result)) {
      std::cerr << (result == &got ? "program: " : "interpreter: ") << toText(*problem);
      return 1;
    }
  const auto &a = std::get<0>(expected), &b = std::get<0>(got);
  int bad = a.size() != b.size();
  for (size_t i = 0; i < a.size() && !bad; ++i)
    if (a[i].bytes != b[i].bytes) {
      size_t at = 0;
      while (a[i].bytes[at] == b[i].bytes[at])
        ++at;
      std::cout << "output " << i << " differs first at byte " << at << " of " << a[i].bytes.size()
                << "\n";
      bad = 1;
    }
  std::cout << (bad ? "DIFFERENT" : "equal") << ", " << compiled.plan->groups.size() << " groups, "
            << compiled.plan->sbufBytes << " bytes of SBUF\n";
  return bad;
}
