//===- Score.cpp - how many mutants of a program are caught -----------------------------------===//

#include "Score.h"

#include "kilnrt/Executor.h"
#include "kilnrt/HostData/Random.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kilnrt;
using namespace kilnrt::mutation;

std::string_view kilnrt::mutation::nameOf(Outcome outcome) {
  constexpr std::string_view names[] = {"verifier", "race", "order", "reuse", "overlap",
                                        "deadlock", "run",  "equal", "missed"};
  static_assert(std::size(names) == kOutcomes);
  return names[size_t(outcome)];
}

//---- counts ---------------------------------------------------------------------------------===//

uint64_t Score::mutants() const {
  uint64_t sum = 0;
  for (const auto &kind : counts)
    for (const uint64_t n : kind)
      sum += n;
  return sum;
}

uint64_t Score::of(Outcome outcome) const {
  uint64_t sum = 0;
  for (const auto &kind : counts)
    sum += kind[size_t(outcome)];
  return sum;
}

double Score::score() const {
  const uint64_t all = mutants();
  return all == 0 ? 1 : double(all - of(Outcome::Missed)) / double(all);
}

void Score::add(const Score &other) {
  for (size_t k = 0; k < kMutationKinds; ++k)
    for (size_t o = 0; o < kOutcomes; ++o)
      counts[k][o] += other.counts[k][o];
  compared += other.compared;
  const auto append = [](std::vector<Remark> &to, const std::vector<Remark> &from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(missed, other.missed);
  append(missedByProof, other.missedByProof);
  append(falseAlarms, other.falseAlarms);
}

//---- samples --------------------------------------------------------------------------------===//

static uint64_t splitMix(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

std::vector<size_t> kilnrt::mutation::sampleOf(const std::vector<Mutant> &mutants, size_t count,
                                               uint64_t seed) {
  std::array<std::vector<size_t>, kMutationKinds> byKind;
  for (size_t i = 0; i < mutants.size(); ++i)
    byKind[size_t(mutants[i].kind)].push_back(i);
  std::vector<size_t> chosen;
  if (count == 0 || count > mutants.size())
    count = mutants.size();
  for (std::vector<size_t> &ids : byKind)
    for (size_t i = ids.size(); i > 1; --i)
      std::swap(ids[i - 1], ids[splitMix(seed) % i]);
  for (size_t turn = 0; chosen.size() < count; ++turn)
    for (const std::vector<size_t> &ids : byKind)
      if (turn < ids.size() && chosen.size() < count)
        chosen.push_back(ids[turn]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

//---- runs -----------------------------------------------------------------------------------===//

/// Values for the inputs: normal floats, integers of any bits.
static std::vector<HostArray> inputsOf(const Program &program, uint64_t seed) {
  std::vector<HostArray> inputs;
  for (const TensorInfo &tensor : program.tensors) {
    if (tensor.role != TensorRole::Input)
      continue;
    if (inputs.size() <= tensor.index)
      inputs.resize(tensor.index + 1);
    HostArray &array = inputs[tensor.index];
    array = {tensor.dtype, tensor.shape, {}};
    array.data.resize(size_t(array.elements()) * isa::bytesOf(tensor.dtype));
    if (isa::isFloat(tensor.dtype)) {
      fillNormal(array, {seed, tensor.index});
      continue;
    }
    uint64_t state = seed ^ uint64_t(tensor.index) << 32;
    for (std::byte &byte : array.data)
      byte = std::byte(splitMix(state));
  }
  return inputs;
}

static Expected<RunResult> runOnce(const Program &program, std::span<const HostArray> inputs,
                                   const RunOptions &options) {
  Expected<Executable> executable = Executable::prepare(program);
  if (!executable)
    return executable.error();
  return executable->run(inputs, options);
}

/// What the kernel returns and what it shows.
static bool sameBits(const RunResult &a, const RunResult &b) {
  const auto sameData = [](const HostArray &x, const HostArray &y) { return x.data == y.data; };
  const auto samePrint = [&](const DevicePrint &x, const DevicePrint &y) {
    return x.prefix == y.prefix && x.iterations == y.iterations && sameData(x.value, y.value);
  };
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    sameData) &&
         std::equal(a.prints.begin(), a.prints.end(), b.prints.begin(), b.prints.end(), samePrint);
}

/// Instructions beyond which a program is not run in schedules: sixteen DMA engines that take turns
/// make long loops slow.
constexpr uint64_t kLongRun = 5000;

//---- judging --------------------------------------------------------------------------------===//

namespace {

class Judge {
public:
  Judge(const Program &program, const Prover &prover, const ScoreOptions &options)
      : mutator(program), oracle(program), prover(prover), options(options),
        inputs(inputsOf(program, options.inputSeed)) {}

  /// Whether the original is what it has to be: proven and runnable.
  Status checkOriginal(const Program &program) {
    const ProofAnswer answer = prover(program);
    compare(answer, oracle.verdict(), 0, "the program itself");
    if (!answer.isProven)
      return makeError(Fault::Check,
                       "the program is not proven: " + answer.message + noteOf(oracle.verdict()));
    if (!oracle.verdict().isRight())
      return makeError(Fault::Check, "the oracle finds that " + oracle.verdict().witness);
    Expected<RunResult> result = runOnce(program, inputs, {});
    if (!result)
      return result.error();
    expected = std::move(*result);
    return Status::ok();
  }

  void judgeAll() {
    for (const size_t id : sampleOf(mutator.mutants(), options.sample, options.seed)) {
      if (options.only && id != *options.only)
        continue;
      const Mutant &mutant = mutator.mutants()[id];
      const Outcome outcome = judge(mutant, id);
      ++score.counts[size_t(mutant.kind)][size_t(outcome)];
    }
  }

  Score score;

private:
  Mutator mutator;
  Oracle oracle;
  const Prover &prover;
  const ScoreOptions &options;
  std::vector<HostArray> inputs;
  RunResult expected;

  static std::string noteOf(const Verdict &verdict) {
    return verdict.isRight() ? " (the oracle finds nothing wrong)"
                             : " (the oracle finds that " + verdict.witness + ")";
  }

  void compare(const ProofAnswer &answer, const Verdict &verdict, size_t id,
               const std::string &what) {
    ++score.compared;
    if (answer.isProven && !verdict.isRight())
      score.missedByProof.push_back({{}, id, what + ": " + verdict.witness});
    if (!answer.isProven && verdict.isRight())
      score.falseAlarms.push_back({{}, id, what + ": " + answer.message});
    if (answer.isReached && *answer.isReached && !verdict.isReached)
      score.missedByProof.push_back({{}, id, what + ": a deadlock, " + verdict.witness});
    if (answer.isReached && !*answer.isReached && verdict.isReached)
      score.falseAlarms.push_back({{}, id, what + ": no deadlock, " + answer.message});
  }

  bool givesSameBits(const Program &program, RunOptions run) const {
    // What goes on for ever is stopped: no mutant has more to do than the original.
    run.maxSteps = 64 * expected.stats.steps + 1000;
    Expected<RunResult> result = runOnce(program, inputs, run);
    return result && sameBits(expected, *result);
  }

  /// A schedule that tells the mutant from the original although the oracle calls them equivalent.
  /// Random ones and adversarial ones in turns, others for every mutant.
  std::string shownBySchedule(const Program &program, size_t id) const {
    if (expected.stats.instructions > kLongRun)
      return {};
    const std::vector<Schedule> adversarial = adversarialSchedules(program);
    for (uint32_t i = 0; i < options.schedules; ++i) {
      const uint64_t number = id * options.schedules + i;
      RunOptions run;
      run.schedule = i % 2 == 0 || adversarial.empty()
                         ? Schedule(Schedule::Random, options.seed + number)
                         : adversarial[number / 2 % adversarial.size()];
      if (!givesSameBits(program, run))
        return fmt::format("other bits in schedule {}, though the oracle finds nothing",
                           scheduleText(run.schedule));
    }
    return {};
  }

  Outcome judge(const Mutant &mutant, size_t id) {
    const Program program = mutator.apply(mutant);
    if (!verify(program))
      return Outcome::Verifier;
    const ProofAnswer answer = prover(program);
    if (options.compare)
      compare(answer, oracle.judge(program), id, mutator.describe(mutant));
    if (answer.finding)
      return *answer.finding;
    if (!givesSameBits(program, {}))
      return Outcome::Run;
    const Verdict verdict = oracle.judge(program);
    const std::string wrong = verdict.isRight() ? shownBySchedule(program, id) : verdict.witness;
    if (wrong.empty())
      return Outcome::Equivalent;
    score.missed.push_back({{}, id, mutator.describe(mutant) + ": " + wrong});
    return Outcome::Missed;
  }
};

} // namespace

Expected<Score> kilnrt::mutation::scoreOf(const Program &program, const Prover &prover,
                                          const ScoreOptions &options) {
  if (Status status = verify(program); !status)
    return status.error();
  if (!program.flags.synchronised)
    return makeError(Fault::User, "the program is not synchronised: it has nothing to mutate");
  Judge judge(program, prover, options);
  if (Status status = judge.checkOriginal(program); !status)
    return status.error();
  judge.judgeAll();
  return std::move(judge.score);
}

//---- words ----------------------------------------------------------------------------------===//

std::string kilnrt::mutation::tableOf(const Score &score) {
  std::string text = fmt::format("{:<16}{:>9}", "", "mutants");
  for (size_t o = 0; o < kOutcomes; ++o)
    text += fmt::format("{:>9}", nameOf(Outcome(o)));
  text += '\n';
  const auto addLine = [&](std::string_view name, const std::array<uint64_t, kOutcomes> &counts) {
    uint64_t sum = 0;
    for (const uint64_t n : counts)
      sum += n;
    if (sum == 0)
      return;
    text += fmt::format("{:<16}{:>9}", name, sum);
    for (const uint64_t n : counts)
      text += fmt::format("{:>9}", n);
    text += '\n';
  };
  std::array<uint64_t, kOutcomes> sums{};
  for (size_t k = 0; k < kMutationKinds; ++k) {
    addLine(nameOf(MutationKind(k)), score.counts[k]);
    for (size_t o = 0; o < kOutcomes; ++o)
      sums[o] += score.counts[k][o];
  }
  addLine("all", sums);
  // Rounded down: one mutant missed is not 100 %.
  return text + fmt::format("score {:.3f} %: {} of {} caught or proven equivalent\n",
                            std::floor(score.score() * 1e5) / 1e3,
                            score.mutants() - score.of(Outcome::Missed), score.mutants());
}

std::string kilnrt::mutation::jsonOf(const Score &score) {
  using Json = nlohmann::ordered_json;
  const auto remarksOf = [](const std::vector<Remark> &remarks) {
    Json list = Json::array();
    for (const Remark &remark : remarks)
      list.push_back({{"program", remark.program}, {"id", remark.id}, {"text", remark.text}});
    return list;
  };
  Json kinds = Json::object();
  for (size_t k = 0; k < kMutationKinds; ++k)
    for (size_t o = 0; o < kOutcomes; ++o)
      kinds[nameOf(MutationKind(k))][nameOf(Outcome(o))] = score.counts[k][o];
  return Json{{"mutants", score.mutants()},
              {"score", score.score()},
              {"kinds", kinds},
              {"missed", remarksOf(score.missed)},
              {"compared", score.compared},
              {"missed_by_proof", remarksOf(score.missedByProof)},
              {"false_alarms", remarksOf(score.falseAlarms)}}
             .dump(2) +
         "\n";
}
