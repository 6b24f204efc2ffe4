//===- ExhaustiveTest.cpp - the oracle against every execution of small programs --------------===//
//
// Streams of a few records with waits and updates at random, all of which write the same bytes. A
// search through all states, with each of a transfer's sixteen increments a step of its own, finds
// what may start before what is complete, and whether all executions end. The oracle has to say the
// same from its one run for each instruction.
//
//===------------------------------------------------------------------------------------------===//

#include "Oracle.h"
#include "Samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

using namespace kilnrt;
using namespace kilnrt::mutation;
using namespace kilnrt::mutation::test;

namespace {

constexpr unsigned kStreams = 3, kIncrements = 16;

struct Step {
  uint32_t order = 0;
  bool isTransfer = false, isAccess = false;
  int waitSemaphore = -1, waitValue = 0, updateSemaphore = -1;
};
using Streams = std::array<std::vector<Step>, kStreams>;

//---- all executions -------------------------------------------------------------------------===//

struct State {
  std::array<uint8_t, kStreams> next{}, isRunning{};
  std::array<uint8_t, 8> increments{}; ///< by transfer, in the order of the last stream
  auto operator<=>(const State &) const = default;
};

class Search {
public:
  explicit Search(const Streams &streams) : streams(streams) {
    visit({});
    while (!open.empty()) {
      const State state = open.back();
      open.pop_back();
      expand(state);
    }
  }
  bool canStop = false;  ///< some execution gets stuck
  bool isOrdered = true; ///< no access starts before one with a lower order is complete

private:
  const Streams &streams;
  std::set<State> seen;
  std::vector<State> open;

  void visit(const State &state) {
    if (seen.insert(state).second)
      open.push_back(state);
  }

  bool isComplete(const State &state, unsigned s, unsigned i) const {
    if (i >= state.next[s])
      return false;
    return !streams[s][i].isTransfer || state.increments[i] == kIncrements;
  }

  int valueOf(const State &state, int semaphore) const {
    int value = 0;
    for (unsigned s = 0; s < kStreams; ++s)
      for (unsigned i = 0; i < state.next[s]; ++i)
        if (streams[s][i].updateSemaphore == semaphore)
          value += streams[s][i].isTransfer ? state.increments[i] : 1;
    return value;
  }

  void start(const State &state, const Step &step) {
    for (unsigned s = 0; s < kStreams; ++s)
      for (unsigned i = 0; i < streams[s].size(); ++i)
        if (const Step &other = streams[s][i];
            other.isAccess && step.isAccess && other.order < step.order && !isComplete(state, s, i))
          isOrdered = false;
  }

  void expand(const State &state) {
    bool moves = false;
    for (unsigned s = 0; s < kStreams; ++s) {
      const unsigned i = state.next[s];
      State next = state;
      if (state.isRunning[s]) {
        next.isRunning[s] = 0;
        ++next.next[s];
      } else if (i < streams[s].size() &&
                 (streams[s][i].waitSemaphore < 0 ||
                  valueOf(state, streams[s][i].waitSemaphore) >= streams[s][i].waitValue)) {
        start(state, streams[s][i]);
        if (streams[s][i].isTransfer)
          ++next.next[s];
        else
          next.isRunning[s] = 1;
      } else {
        continue;
      }
      moves = true;
      visit(next);
    }
    for (unsigned i = 0; i < state.next[2]; ++i)
      if (streams[2][i].isTransfer && state.increments[i] < kIncrements) {
        State next = state;
        ++next.increments[i];
        moves = true;
        visit(next);
      }
    for (unsigned s = 0; s < kStreams; ++s)
      canStop = canStop || (!moves && state.next[s] < streams[s].size());
  }
};

//---- random programs ------------------------------------------------------------------------===//

Streams randomStreams(std::mt19937 &random) {
  const auto below = [&](unsigned n) { return int(random() % n); };
  Streams streams;
  std::vector<uint32_t> orders;
  unsigned transfers = 0;
  for (unsigned s = 0; s < kStreams; ++s)
    streams[s].resize(1 + size_t(below(3)));
  for (const std::vector<Step> &stream : streams)
    for (size_t i = 0; i < stream.size(); ++i)
      orders.push_back(uint32_t(orders.size()));
  std::shuffle(orders.begin(), orders.end(), random);
  // Half of the programs have their streams in program order, as most of the compiler's.
  const bool isSorted = below(2) == 0;
  for (unsigned s = 0; s < kStreams; ++s) {
    std::vector<uint32_t> own(orders.end() - std::ptrdiff_t(streams[s].size()), orders.end());
    orders.resize(orders.size() - streams[s].size());
    if (isSorted)
      std::sort(own.begin(), own.end());
    for (size_t i = 0; i < streams[s].size(); ++i) {
      Step &step = streams[s][i];
      step.order = own[i];
      step.isAccess = below(2) == 0;
      step.isTransfer = s == 2 && step.isAccess && transfers < 2;
      transfers += step.isTransfer;
      step.isAccess = step.isAccess && (s < 2 || step.isTransfer);
      if (below(5) > 0) // of its own, or shared
        step.updateSemaphore = below(3) > 0 ? int(step.order) : below(3);
    }
  }
  // Waits for what comes earlier in program order make sense; others may get stuck.
  for (std::vector<Step> &stream : streams)
    for (Step &step : stream) {
      const std::vector<Step> &others = streams[size_t(below(kStreams))];
      const Step &other = others[size_t(below(unsigned(others.size())))];
      if (below(6) == 0 || other.updateSemaphore < 0 || (other.order > step.order && below(8) > 0))
        continue;
      step.waitSemaphore = other.updateSemaphore;
      step.waitValue = other.isTransfer ? std::array{16, 16, 16, 15, 17, 31, 32}[below(7)]
                                        : std::array{1, 1, 1, 1, 2, 3, 17}[below(7)];
    }
  return streams;
}

std::string textOf(const Streams &streams) {
  constexpr std::string_view engines[] = {"gpsimd", "vector", "sync"};
  std::string text;
  for (unsigned s = 0; s < kStreams; ++s) {
    text += fmt::format(".stream {}\n", engines[s]);
    for (const Step &step : streams[s]) {
      text += step.waitSemaphore < 0
                  ? std::string("  ")
                  : fmt::format("  wait s{}>={} ", step.waitSemaphore, step.waitValue);
      text += step.isTransfer ? "dma_copy dst=t[0+16, 0: 1x8] src=x[16 rows of 8, 0: 1x8]"
              : step.isAccess ? "memset dst=t[0+16, 0: 1x8] value=1"
                              : "semaphore_wait";
      if (step.updateSemaphore >= 0)
        text +=
            fmt::format(" update s{}+={}", step.updateSemaphore, step.isTransfer ? kIncrements : 1);
      text += fmt::format(" #{}\n", step.order);
    }
  }
  return text;
}

TEST(Exhaustive, TheOracleKnowsAllExecutions) {
  constexpr char kHead[] = ".kernel \"small\"\n.target \"trn2\"\n"
                           ".flags placed scheduled synchronised\n"
                           ".tensor %0 x hbm 16x8xf32 input 0\n.tensor %1 t sbuf 16x8xf32 at 0,0\n";
  std::mt19937 random(7);
  int judged = 0, stuck = 0, ordered = 0;
  for (int round = 0; round < 6000; ++round) {
    const Streams streams = randomStreams(random);
    const std::string text = kHead + textOf(streams);
    Expected<Program> program = assemble(text, "small.s");
    ASSERT_TRUE(program) << program.error().message << "\n" << text;
    if (!verify(*program)) // a wait beyond all updates
      continue;
    const Search search(streams);
    const Oracle oracle(*program);
    ASSERT_EQ(oracle.verdict().isReached, !search.canStop) << text << oracle.verdict().witness;
    // Where an execution gets stuck, the oracle also counts what would start behind that.
    if (!search.canStop) {
      ASSERT_EQ(oracle.verdict().isOrdered, search.isOrdered) << text << oracle.verdict().witness;
    }
    ++judged;
    stuck += search.canStop;
    ordered += search.isOrdered && !search.canStop;
  }
  // All answers occur often enough to mean something.
  EXPECT_GT(judged, 1000);
  EXPECT_GT(stuck, judged / 20);
  EXPECT_LT(stuck, judged * 19 / 20);
  EXPECT_GT(ordered, judged / 20);
  EXPECT_LT(ordered, (judged - stuck) * 19 / 20);
}

} // namespace
