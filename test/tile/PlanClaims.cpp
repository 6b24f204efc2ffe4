//===- PlanClaims.cpp - plan-claims: what plans claim and what their programs do --------------===//
//
// Usage: plan-claims FILE.mlir...           kernels as `kiln compile --emit=tile` prints them
//        plan-claims --random SEED COUNT    random graphs
//
// A plan claims bytes of a partition of SBUF, and bytes read from and written to HBM. Each kernel
// is planned, compiled and run; its addresses, the transfers of its streams, and what the executor
// sees stay within the claim. One line a file; a line for all random graphs.
//
//===------------------------------------------------------------------------------------------===//

#include "CheckGraph.h"
#include "ProgramFacts.h"
#include "RandomGraph.h"
#include "kiln/Conversion/TileGraph.h"
#include "kiln/ISA/DiagnosticText.h"
#include "kiln/ISA/Text.h"
#include "kiln/InitAllDialects.h"
#include "kiln/Pipelines/Pipelines.h"
#include "kiln/Plan/Plan.h"
#include "kiln/Target/Encode.h"
#include "kiln/Tile/Decompose.h"
#include "kilnrt/Debug.h"
#include "kilnrt/Executor.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <fstream>
#include <iostream>
#include <sstream>

using namespace kiln;

namespace {

/// Bytes, claimed or found. A plan that claims nothing of HBM is not held to it.
struct Bytes {
  int64_t sbuf = 0; ///< of a partition, up to the last one
  int64_t read = 0, written = 0;
  bool movesBytes() const { return read != 0 || written != 0; }
};

struct Outcome {
  enum class Kind : uint8_t { Within, Refused, Beyond } kind = Kind::Within;
  std::string text; ///< what is beyond the claim, or the refusal
  Bytes claim, streams, run;
};

/// What the executor sees.
struct Seen final : kilnrt::RunObserver {
  Bytes bytes;

  void starts(const kilnrt::RunView &view) override { program = &view.program; }
  void reads(const kilnrt::RunStep &, unsigned, const kilnrt::Place &place) override {
    see(place, bytes.read);
  }
  void writes(const kilnrt::RunStep &, unsigned, const kilnrt::Place &place) override {
    see(place, bytes.written);
  }

private:
  void see(const kilnrt::Place &place, int64_t &moved) {
    const isa::Memory memory = program->tensors[place.tensor].memory;
    if (memory == isa::Memory::Sbuf)
      bytes.sbuf = std::max(bytes.sbuf, place.endByte);
    else if (memory == isa::Memory::Hbm)
      moved += place.shape().rows * place.shape().elements * place.shape().elementBytes();
  }
  const kilnrt::Program *program = nullptr;
};

Outcome beyond(Outcome outcome, std::string what) {
  outcome.kind = Outcome::Kind::Beyond;
  outcome.text = std::move(what);
  return outcome;
}

/// Runs the program; empty, or why it did not run to its end.
std::string run(const kilnrt::Program &program, const tile::Graph &graph, uint64_t seed,
                Seen &seen) {
  const auto executable = kilnrt::Executable::prepare(program);
  if (!executable)
    return toText(executable.error());
  const std::vector<tile::Value> data = tile::test::randomData(graph, seed);
  std::vector<kilnrt::HostArray> inputs;
  for (size_t i = 0; i < graph.buffers.size(); ++i)
    if (const tile::Buffer &buffer = graph.buffers[i]; buffer.role == tile::Buffer::Role::Input) {
      inputs.resize(std::max<size_t>(inputs.size(), buffer.index + 1));
      inputs[buffer.index] = {data[i].dtype, data[i].shape, data[i].bytes};
    }
  kilnrt::RunOptions options;
  options.observer = &seen;
  const auto result = executable->run(inputs, options);
  return result ? std::string() : toText(result.error());
}

Outcome compare(Outcome outcome) {
  const auto exceeds = [&](std::string_view what, int64_t bytes, int64_t claimed) {
    if (bytes > claimed)
      outcome = beyond(outcome, text(bytes, " bytes ", what, ", the plan claims ", claimed));
  };
  for (const Bytes &found : {outcome.streams, outcome.run}) {
    exceeds("of a partition", found.sbuf, outcome.claim.sbuf);
    if (outcome.claim.movesBytes()) {
      exceeds("read", found.read, outcome.claim.read);
      exceeds("written", found.written, outcome.claim.written);
    }
  }
  return outcome;
}

Outcome check(mlir::MLIRContext &context, const std::string &source, uint64_t seed) {
  Outcome outcome;
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message += message.empty() ? d.str() : "";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  const auto runTo = [&](Level level) {
    mlir::PassManager manager(&context);
    buildPipeline(manager, level, {});
    return mlir::succeeded(manager.run(*module));
  };
  if (!module || !runTo(Level::Tile))
    return beyond(outcome, message);
  const auto kernel = [&] { return *module->getOps<nisa::KernelOp>().begin(); };
  const tile::Graph graph = graphOf(kernel()).graph;
  const plan::PlanResult planned = plan::makePlan(tile::decompose(graph), {});
  if (!planned.plan || !runTo(Level::Streams)) {
    outcome.kind = Outcome::Kind::Refused;
    outcome.text = planned.plan ? message : planned.problem->message;
    return outcome;
  }
  outcome.claim = {planned.plan->sbufBytes, planned.plan->readBytes, planned.plan->writtenBytes};
  const kilnrt::Program program = encode(kernel());
  const auto facts = test::factsOf(program);
  if (!facts)
    return beyond(outcome, toText(facts.error()));
  outcome.streams = {facts->sbufEnd, facts->readBytes, facts->writtenBytes};
  Seen seen;
  if (std::string why = run(program, graph, seed, seen); !why.empty())
    return beyond(outcome, why);
  outcome.run = seen.bytes;
  return compare(outcome);
}

std::string toText(const Bytes &bytes) {
  return text(bytes.sbuf, " of a partition, ", bytes.read, " read, ", bytes.written, " written");
}

int checkFile(mlir::MLIRContext &context, const char *path) {
  std::ifstream file(path);
  std::ostringstream source;
  source << file.rdbuf();
  const Outcome outcome = check(context, source.str(), 1);
  std::cout << path << ": claimed " << toText(outcome.claim) << "; streams "
            << toText(outcome.streams) << "; run " << toText(outcome.run);
  if (outcome.kind != Outcome::Kind::Within)
    std::cout << ": " << outcome.text;
  std::cout << "\n";
  return outcome.kind == Outcome::Kind::Within ? 0 : 1;
}

int checkRandom(mlir::MLIRContext &context, uint64_t seed, uint64_t count) {
  uint64_t within = 0, refused = 0, unclaimed = 0;
  Bytes claimed, found;
  for (uint64_t i = seed; i < seed + count; ++i) {
    const tile::Graph graph = tile::test::randomGraph(i);
    const Outcome outcome = check(context, tile::test::printAsKernel(graph), i);
    within += outcome.kind == Outcome::Kind::Within;
    refused += outcome.kind == Outcome::Kind::Refused;
    if (outcome.kind == Outcome::Kind::Beyond)
      std::cout << "seed " << i << ": " << outcome.text << "\n";
    unclaimed += outcome.kind == Outcome::Kind::Within && !outcome.claim.movesBytes();
    claimed.sbuf = std::max(claimed.sbuf, outcome.claim.sbuf);
    found.sbuf = std::max(found.sbuf, outcome.run.sbuf);
    claimed.read += outcome.claim.read, claimed.written += outcome.claim.written;
    found.read += outcome.run.read, found.written += outcome.run.written;
  }
  std::cout << "seeds " << seed << " to " << seed + count - 1 << ": " << within
            << " within their claims, " << refused << " refused, " << count - within - refused
            << " beyond, " << unclaimed << " claim nothing of HBM; claimed " << toText(claimed)
            << "; found " << toText(found) << "\n";
  return within + refused == count ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (argc == 4 && std::string_view(argv[1]) == "--random")
    return checkRandom(context, std::strtoull(argv[2], nullptr, 10),
                       std::strtoull(argv[3], nullptr, 10));
  if (argc < 2 || argv[1][0] == '-') {
    std::cerr << "usage: plan-claims FILE.mlir...\n       plan-claims --random SEED COUNT\n";
    return 2;
  }
  int failed = 0;
  for (int i = 1; i < argc; ++i)
    failed |= checkFile(context, argv[i]);
  return failed;
}
