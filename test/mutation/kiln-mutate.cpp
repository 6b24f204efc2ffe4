//===- kiln-mutate.cpp - the mutation score of the static proof -------------------------------===//
//
// kiln-mutate PROGRAM.kiln... [--sample N:SEED] [--compare] [--schedules N] [--json FILE]
// kiln-mutate PROGRAM.kiln --emit ID -o MUTANT.kiln
//
// Exit 0: every mutant is caught or proven equivalent. 1: a program cannot be read or is not
// synchronised. 2: wrong command line. 3: a mutant was missed, an original is not proven, or, with
// --compare, proof and oracle disagree.
//
//===------------------------------------------------------------------------------------------===//

#include "Prove.h"
#include "Score.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

using namespace kilnrt;
using namespace kilnrt::mutation;

namespace {

struct CommandLine {
  std::vector<std::string> programs;
  std::string sample, json, output = "mutant.kiln";
  std::optional<size_t> emit;
  ScoreOptions options;
};

int fail(const Diagnostic &diagnostic, const std::string &file) {
  fmt::print(stderr, "kiln-mutate: {}: {}\n", file, diagnostic.message);
  return diagnostic.fault == Fault::Check ? 3 : 1;
}

bool parseSample(const std::string &text, ScoreOptions &options) {
  if (text.empty())
    return true;
  int length = 0;
  return std::sscanf(text.c_str(), "%zu:%lu%n", &options.sample, &options.seed, &length) == 2 &&
         size_t(length) == text.size() && options.sample > 0;
}

int emit(const CommandLine &line) {
  Expected<Program> program = loadFile(line.programs.front());
  if (!program)
    return fail(program.error(), line.programs.front());
  const Mutator mutator(*program);
  if (*line.emit >= mutator.mutants().size()) {
    fmt::print(stderr, "kiln-mutate: the program has {} mutants\n", mutator.mutants().size());
    return 2;
  }
  const Mutant &mutant = mutator.mutants()[*line.emit];
  fmt::print("{}\n", mutator.describe(mutant));
  if (Status status = saveFile(mutator.apply(mutant), line.output); !status)
    return fail(status.error(), line.output);
  return 0;
}

void print(const std::vector<Remark> &remarks, std::string_view what) {
  for (const Remark &remark : remarks)
    fmt::print("{}: {} {}: {}\n", what, remark.program, remark.id, remark.text);
  if (!remarks.empty())
    fmt::print(
        "reproduce: kiln-mutate PROGRAM --only ID --compare (or --emit ID -o mutant.kiln)\n");
}

int scoreAll(const CommandLine &line) {
  Score sum;
  int code = 0;
  for (const std::string &file : line.programs) {
    Expected<Program> program = loadFile(file);
    if (!program)
      return fail(program.error(), file);
    Expected<Score> score = scoreOf(*program, staticProof, line.options);
    if (!score) {
      code = fail(score.error(), file);
      if (code != 3)
        return code;
      continue;
    }
    for (std::vector<Remark> *remarks :
         {&score->missed, &score->missedByProof, &score->falseAlarms})
      for (Remark &remark : *remarks)
        remark.program = file;
    fmt::print("{}: {} mutants, {} equivalent, {} missed\n", file, score->mutants(),
               score->of(Outcome::Equivalent), score->of(Outcome::Missed));
    std::fflush(stdout); // many programs take a while
    sum.add(*score);
  }
  fmt::print("{}", tableOf(sum));
  if (line.options.compare)
    fmt::print("compared with the oracle: {} programs, {} missed by the proof, {} false alarms\n",
               sum.compared, sum.missedByProof.size(), sum.falseAlarms.size());
  print(sum.missed, "missed");
  print(sum.missedByProof, "missed by the proof");
  print(sum.falseAlarms, "false alarm");
  if (!line.json.empty() && !(std::ofstream(line.json) << jsonOf(sum))) {
    fmt::print(stderr, "kiln-mutate: cannot write '{}'\n", line.json);
    return 1;
  }
  const bool isClean = sum.missed.empty() && sum.missedByProof.empty() && sum.falseAlarms.empty();
  return isClean ? code : 3;
}

} // namespace

int main(int argc, char **argv) {
  CommandLine line;
  CLI::App app("Spoils programs in every way there is and counts what the static proof catches");
  app.add_option("PROGRAM", line.programs, "Program files")->required();
  app.add_option("--sample", line.sample, "Try N mutants of each program, evenly over the kinds")
      ->type_name("N:SEED");
  app.add_flag("--compare", line.options.compare,
               "Ask the oracle about every mutant, and compare it with the proof");
  app.add_option(
      "--schedules", line.options.schedules,
      "Run mutants that count as equivalent in so many schedules, random and adversarial");
  app.add_option("--input-seed", line.options.inputSeed, "Values of the inputs of runs");
  app.add_option("--json", line.json, "Write a machine-readable report");
  app.add_option("--only", line.options.only, "Try a single mutant, by the number a report names");
  app.add_option("--emit", line.emit, "Write a single mutant to a file instead");
  app.add_option("-o,--output", line.output, "Where to write it")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!parseSample(line.sample, line.options)) {
    fmt::print(stderr, "kiln-mutate: '{}' is no sample, write N:SEED\n", line.sample);
    return 2;
  }
  return line.emit ? emit(line) : scoreAll(line);
}
