//===- value-reference.cpp - random instances of a row against its reference ------------------===//
//
//   value-reference --row MNEMONIC [--instances N] [--seed S] [--keep DIR] [--list FILE]
//   value-reference --replay FILE
//   value-reference --ctest FILE    writes one add_test for each row of the table
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"
#include "ReferenceVariants.h"
#include "TableExamples.h"

#include "kilnrt/Asm.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace kiln;
using namespace kiln::reference;

namespace {

struct Options {
  std::string row, keep, replay, ctest, list;
  uint64_t instances = 300, seed = 1;
};

/// Trials that share a program. Those that need one to themselves say so.
constexpr size_t kBatch = 16;
/// Elements of all operands of an instance: of most instances, and of one in thirty.
constexpr int64_t kMostElements = 6000, kMostOfAll = 40000;
/// Steps of a walk, on average, before another one begins elsewhere.
constexpr unsigned kWalk = 40;

int64_t elementsOf(const Instance &instance) {
  int64_t elements = 0;
  for (const isa::Access &access : instance.inst.operands)
    if (access.present())
      elements += access.elements();
  return elements;
}

/// What a trial's program is called where it is kept, and its assembler text.
std::string textOf(const Trial &trial) {
  auto text = kilnrt::disassemble(programOf({&trial, 1}));
  return text ? *text : "no text: " + text.error().message;
}

/// The instruction alone, its operands with their memories and dtypes.
std::string lineOf(const Instance &instance) {
  std::array<std::string, isa::kMaxOperands> names;
  std::array<kilnrt::OperandText, isa::kMaxOperands> operands;
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    const InstanceTensor &tensor = instance.tensors[i];
    names[i] = std::string(isa::name(tensor.memory)) + "." + std::string(isa::name(tensor.dtype));
    operands[i] = {names[i], tensor.memory, tensor.dtype};
  }
  std::string text;
  kilnrt::printInstruction(text, instance.inst, operands);
  return text;
}

int report(const isa::InstDesc &desc, const Trial &failing, const Options &options) {
  std::string first = compare(programOf({&failing, 1}));
  Trial small = shrink(failing);
  std::string text = textOf(small);
  std::printf("%s disagrees with its reference (seed %llu)\n  as drawn: %s\n  shrunk:   %s\n%s",
              std::string(desc.mnemonic).c_str(), (unsigned long long)options.seed, first.c_str(),
              compare(programOf({&small, 1})).c_str(), text.c_str());
  if (!options.keep.empty()) {
    std::string path = options.keep + "/" + std::string(desc.mnemonic) + "-" +
                       std::to_string(failing.seed % 100000) + ".s";
    std::ofstream(path) << text;
    std::printf("kept as %s\n", path.c_str());
  }
  return 1;
}

int checkBatch(const isa::InstDesc &desc, const std::vector<Trial> &batch, const Options &options) {
  std::string together = compare(programOf(batch));
  if (together.empty())
    return 0;
  for (const Trial &trial : batch)
    if (!compare(programOf({&trial, 1})).empty())
      return report(desc, trial, options);
  std::printf("%s: %zu instances fail together, none alone: %s (seed %llu)\n",
              std::string(desc.mnemonic).c_str(), batch.size(), together.c_str(),
              (unsigned long long)options.seed);
  return 1;
}

int checkRow(const Options &options) {
  const isa::InstDesc *desc = isa::findInstruction(options.row);
  if (!desc) {
    std::printf("the table has no row '%s'\n", options.row.c_str());
    return 1;
  }
  if (!findRow(desc->mnemonic)) {
    std::printf("no reference for %s: write it in test/reference/Reference*.cpp and list it in "
                "ReferenceRows.cpp\n",
                options.row.c_str());
    return 1;
  }
  std::optional<InstanceWalk> walk(std::in_place, *desc, exampleOf(*desc), options.seed);
  if (!walk->isStarted()) {
    std::printf("%s has no legal instance: %s\n", options.row.c_str(), walk->why().c_str());
    return 1;
  }
  Rng rng(options.seed);
  std::ofstream list;
  if (!options.list.empty())
    list.open(options.list);
  const size_t size = standsAlone(desc->opcode) ? 1 : kBatch;
  int64_t elements = 0;
  for (uint64_t done = 0; done < options.instances;) {
    std::vector<Trial> batch;
    while (batch.size() < size && done < options.instances) {
      if (isOneIn(rng, kWalk))
        walk.emplace(*desc, exampleOf(*desc), rng());
      if (!walk->isStarted())
        continue;
      const Instance instance = isOneIn(rng, 3) ? walk->next() : vary(walk->next(), rng);
      if (elementsOf(instance) > (isOneIn(rng, 30) ? kMostOfAll : kMostElements))
        continue;
      elements += elementsOf(instance);
      batch.push_back({instance, rng(), false});
      if (list.is_open())
        list << lineOf(instance) << '\n';
      ++done;
    }
    if (int failed = checkBatch(*desc, batch, options))
      return failed;
  }
  std::printf("%s: %llu instances, %lld elements, seed %llu\n", options.row.c_str(),
              (unsigned long long)options.instances, (long long)elements,
              (unsigned long long)options.seed);
  return 0;
}

int replay(const Options &options) {
  std::ifstream file(options.replay);
  std::stringstream text;
  text << file.rdbuf();
  auto program = kilnrt::assemble(text.str(), options.replay);
  if (!program) {
    std::printf("%s: %s\n", options.replay.c_str(), program.error().message.c_str());
    return 1;
  }
  std::string found = compare(*program);
  std::printf("%s%s", found.c_str(), found.empty() ? "" : "\n");
  return !found.empty();
}

/// A quick test and a thorough one for each row.
int writeTests(const char *self, const Options &options) {
  std::ofstream out(options.ctest);
  for (const isa::InstDesc &desc : isa::instructions())
    for (bool isNightly : {false, true}) {
      std::string name =
          (isNightly ? "nightly.reference." : "reference.") + std::string(desc.mnemonic);
      out << "add_test(" << name << " \"" << self << "\" --row " << desc.mnemonic;
      if (isNightly)
        out << " --instances 10000 --seed 2";
      out << ")\nset_tests_properties(" << name << " PROPERTIES TIMEOUT "
          << (isNightly ? "7200" : "300") << " LABELS " << (isNightly ? "nightly" : "reference")
          << ")\n";
    }
  return !out;
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i], value = argv[i + 1];
    if (name == "--row")
      options.row = value;
    else if (name == "--keep")
      options.keep = value;
    else if (name == "--replay")
      options.replay = value;
    else if (name == "--list")
      options.list = value;
    else if (name == "--ctest")
      options.ctest = value;
    else if (name == "--instances")
      options.instances = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    else
      return false;
  }
  return argc % 2 == 1 && (options.row + options.replay + options.ctest).size() > 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::printf("usage: value-reference --row MNEMONIC [--instances N] [--seed S] [--keep DIR] "
                "[--list FILE]\n"
                "       value-reference --replay FILE\n"
                "       value-reference --ctest FILE\n");
    return 2;
  }
  if (!options.ctest.empty())
    return writeTests(argv[0], options);
  return options.replay.empty() ? checkRow(options) : replay(options);
}
