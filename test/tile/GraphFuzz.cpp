//===- GraphFuzz.cpp - random whole-tensor graphs, compiled and run ---------------------------===//
//
// Usage: graph-fuzz [--seed S] [--count N] [--no-shrink] [--out FOLDER]
//        graph-fuzz --show SEED
//        graph-fuzz --check FILE
//
// Each graph is either right in every step (CheckGraph.h) or refused with a rule. Of a wrong one
// the seed, what is wrong and the smallest graph that shares it are printed, and with --out a lit
// test is written, which runs --check. Graphs are checked in processes of their own, so a crash is
// one more way to be wrong.
//
//===------------------------------------------------------------------------------------------===//

#include "CheckGraph.h"
#include "RandomGraph.h"
#include "ShrinkGraph.h"
#include "kiln/ISA/Text.h"
#include "kiln/Tile/Parse.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln;
using namespace kiln::tile;
using namespace kiln::tile::test;

namespace {

/// Seconds a graph may take.
constexpr unsigned kPatience = 120;

Verdict readVerdict(int descriptor) {
  std::string bytes;
  char piece[4096];
  for (ssize_t n; (n = read(descriptor, piece, sizeof piece)) > 0;)
    bytes.append(piece, size_t(n));
  Verdict out;
  const size_t rule = bytes.find('\n');
  if (rule == std::string::npos)
    return {Verdict::Kind::Wrong, {}, {}, 0, false};
  const size_t body = bytes.find('\n', rule + 1);
  std::istringstream head(bytes.substr(0, rule));
  int kind = 0;
  head >> kind >> out.instructions >> out.isComparedWithSource;
  out.kind = Verdict::Kind(kind);
  out.rule = bytes.substr(rule + 1, body - rule - 1);
  out.text = bytes.substr(body + 1);
  return out;
}

/// The graph of a seed: every 16th is large, so that tiles, loops and chunks are many.
Graph graphOf(uint64_t seed) {
  RandomGraphOptions options;
  if (seed % 16 == 0) {
    options.maxElements = 3'000'000;
    options.maxProducts = 300'000'000;
    options.maxOps = 8;
    options.hasLongDims = true;
  }
  return randomGraph(seed, options);
}

/// checkGraph in a child process.
Verdict checkApart(const Graph &graph, uint64_t seed) {
  int ends[2];
  if (pipe(ends) != 0)
    return {Verdict::Kind::Wrong, {}, "no pipe", 0, false};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(kPatience);
    const Verdict verdict = checkGraph(graph, randomData(graph, seed));
    const std::string bytes =
        text(int(verdict.kind), " ", verdict.instructions, " ", int(verdict.isComparedWithSource),
             "\n", verdict.rule, "\n", verdict.text);
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = write(ends[1], bytes.data() + done, bytes.size() - done);
      if (n <= 0)
        _exit(1);
      done += size_t(n);
    }
    _exit(0);
  }
  close(ends[1]);
  Verdict verdict = readVerdict(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return {Verdict::Kind::Wrong, {}, text("crash: ", strsignal(WTERMSIG(status))), 0, false};
  return verdict;
}

/// "simplification" of "simplification: 3 of 5 elements ...": a smaller graph has to fail alike.
std::string stepOf(const Verdict &verdict) {
  return verdict.text.substr(0, verdict.text.find(':'));
}

Graph smallest(const Graph &graph, uint64_t seed, const Verdict &verdict) {
  return shrink(graph, [&](const Graph &candidate) {
    const Verdict next = checkApart(candidate, seed);
    return next.kind == Verdict::Kind::Wrong && stepOf(next) == stepOf(verdict);
  });
}

void writeTest(const std::string &folder, uint64_t seed, const Graph &graph,
               const Verdict &verdict) {
  std::ofstream file(folder + "/graph-" + std::to_string(seed) + ".test");
  file << "// RUN: %kiln_build/test/tile/graph-fuzz --check %s\n// data " << seed << "\n// "
       << stepOf(verdict) << "\n\n"
       << print(graph) << "\n";
  std::istringstream kernel(printAsKernel(graph));
  for (std::string line; std::getline(kernel, line);)
    file << "// " << line << "\n";
}

int fuzz(uint64_t first, uint64_t count, bool shrinks, const std::string &folder) {
  std::map<std::string, uint64_t> refused;
  uint64_t right = 0, compared = 0, wrong = 0, instructions = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Graph graph = graphOf(seed);
    const Verdict verdict = checkApart(graph, seed);
    instructions += verdict.instructions;
    if (verdict.kind == Verdict::Kind::Right) {
      ++right;
      compared += verdict.isComparedWithSource;
    } else if (verdict.kind == Verdict::Kind::Refused) {
      ++refused[verdict.rule];
      // Hints may ask for what cannot be; everything else should fit.
      if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node &node) { return node.hint.any(); }))
        std::cout << "seed " << seed << " is refused: " << verdict.rule << ": " << verdict.text
                  << "\n";
    } else {
      ++wrong;
      std::cout << "seed " << seed << ": " << verdict.text << "\n" << std::flush;
      if (!shrinks)
        continue;
      const Graph small = smallest(graph, seed, verdict);
      std::cout << "the smallest like it:\n"
                << print(small) << checkApart(small, seed).text << "\n"
                << std::flush;
      if (!folder.empty())
        writeTest(folder, seed, small, verdict);
    }
  }
  std::cout << "seeds " << first << " to " << first + count - 1 << ": " << right << " right ("
            << compared << " in the orders of the source, " << instructions << " instructions), "
            << wrong << " wrong, " << count - right - wrong << " refused";
  for (const auto &[rule, number] : refused)
    std::cout << ", " << rule << " " << number;
  std::cout << "\n";
  return wrong == 0 ? 0 : 1;
}

int check(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream source;
  source << file.rdbuf();
  std::string error;
  const std::optional<Graph> graph = parse(source.str(), error);
  if (!file || !graph) {
    std::cerr << path << ": " << (file ? error : "cannot be read") << "\n";
    return 2;
  }
  constexpr std::string_view mark = "// data ";
  const size_t at = source.str().find(mark);
  const uint64_t seed =
      at == std::string::npos ? 1 : std::stoull(source.str().substr(at + mark.size()));
  const Verdict verdict = checkApart(*graph, seed);
  if (verdict.kind != Verdict::Kind::Right)
    std::cout << path << ": " << (verdict.rule.empty() ? "" : verdict.rule + ": ") << verdict.text
              << "\n";
  return verdict.kind == Verdict::Kind::Wrong ? 1 : 0;
}

int usage() {
  std::cerr << "usage: graph-fuzz [--seed S] [--count N] [--no-shrink] [--out FOLDER]\n"
               "       graph-fuzz --show SEED\n       graph-fuzz --check FILE\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1, count = 300;
  bool shrinks = true;
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--no-shrink") {
      shrinks = false;
      continue;
    }
    if (++i == argc)
      return usage();
    if (flag == "--seed") {
      seed = std::strtoull(argv[i], nullptr, 10);
    } else if (flag == "--count") {
      count = std::strtoull(argv[i], nullptr, 10);
    } else if (flag == "--out") {
      folder = argv[i];
    } else if (flag == "--show") {
      const Graph graph = graphOf(std::strtoull(argv[i], nullptr, 10));
      std::cout << print(graph) << printAsKernel(graph);
      return 0;
    } else if (flag == "--check") {
      return check(argv[i]);
    } else {
      return usage();
    }
  }
  return fuzz(seed, count, shrinks, folder);
}
