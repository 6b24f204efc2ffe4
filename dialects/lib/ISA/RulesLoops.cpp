//===- RulesLoops.cpp - instructions whose operands move with loops ---------------------------===//
//
// A rule sees one iteration at a time. Most rules hold in all iterations when they hold in the
// first and the last one of each loop: offsets are largest and smallest there. Two need more:
// whether a PSUM access crosses a bank repeats with the offset modulo the bank, and whether a
// transfer overlaps its source is a question of every distance the two have on their way.
//
//===------------------------------------------------------------------------------------------===//

#include "RulesLoops.h"

#include "RuleHelpers.h"

#include <algorithm>
#include <numeric>

namespace kiln::isa::rules {
namespace {

using Counts = std::array<int64_t, kMaxLoopDepth>;

/// More iterations than this are not tried one by one.
constexpr int64_t kMaxTried = 4096;

/// Why the steps make no sense; none when they do.
std::optional<Violation> brokenSteps(const InstView &view) {
  for (unsigned i = 0; i < view.desc.operands.size(); ++i) {
    const Access &access = view.access(i);
    if (access.loopSteps() > view.tripCounts.size())
      return Violation{kMalformed,
                       text(view.describe(i), " moves with ", counted(access.loopSteps(), "loop"),
                            ", there ", view.tripCounts.size() == 1 ? "is " : "are ",
                            view.tripCounts.size(), " around it"),
                       "", int(i)};
    int64_t low = access.offset, high = access.offset;
    for (unsigned l = 0; l < access.loopSteps(); ++l) {
      int64_t &end = access.loopStep[l] < 0 ? low : high;
      end = addSaturated(end, mulSaturated(access.loopStep[l], view.tripCounts[l] - 1));
    }
    if (low == INT64_MIN || high == INT64_MAX)
      return Violation{"V-11",
                       text("the loops move ", view.describe(i), " by more than 2^63 - 1 elements"),
                       "", int(i)};
  }
  return std::nullopt;
}

/// The instruction as iteration `at` runs it.
Instruction atIteration(const Instruction &inst, const Counts &at) {
  Instruction moved = inst;
  for (Access &access : moved.operands) {
    for (unsigned l = 0; l < kMaxLoopDepth; ++l)
      access.offset += access.loopStep[l] * at[l];
    access.loopStep.fill(0);
  }
  return moved;
}

/// Counts `at` up below `limits`, the innermost loop first; false after the last.
bool advance(Counts &at, const Counts &limits) {
  for (unsigned l = kMaxLoopDepth; l-- > 0;) {
    if (++at[l] < limits[l])
      return true;
    at[l] = 0;
  }
  return false;
}

/// The first and the last iteration of every loop some operand moves with.
bool checkCorners(const InstView &view, const CheckOnce &checkOnce) {
  Counts limits{}, at{};
  for (unsigned l = 0; l < kMaxLoopDepth; ++l) {
    limits[l] = 1;
    if (l < view.tripCounts.size() && view.tripCounts[l] > 1)
      for (const Access &access : view.inst.operands)
        if (access.loopStep[l] != 0)
          limits[l] = 2;
  }
  do {
    Counts corner{};
    for (unsigned l = 0; l < kMaxLoopDepth; ++l)
      if (at[l] != 0)
        corner[l] = view.tripCounts[l] - 1;
    if (!checkOnce(atIteration(view.inst, corner)))
      return false;
  } while (advance(at, limits));
  return true;
}

/// Iterations of each loop after which a PSUM operand repeats its place in a bank.
Counts bankPeriods(const InstView &view) {
  constexpr int64_t bank = machine.psumBankBytesPerPartition;
  Counts periods;
  periods.fill(1);
  for (unsigned i = 0; i < view.desc.operands.size(); ++i) {
    const Access &access = view.access(i);
    if (!access.present() || memoryOf(view, i) != Memory::Psum)
      continue;
    for (unsigned l = 0; l < view.tripCounts.size(); ++l) {
      const int64_t bytes = access.loopStep[l] % bank * bytesOf(access.dtype);
      periods[l] = std::lcm(periods[l], bank / std::gcd(bank, bytes));
    }
  }
  return periods;
}

/// Bytes between the two ends of what an access touches in one iteration, on its way through a
/// tensor that is laid out partition after partition.
ElementRange reach(const Access &access) {
  ElementRange range = elementRangeSaturated(access);
  return {range.first * bytesOf(access.dtype),
          addSaturated(range.last * bytesOf(access.dtype), bytesOf(access.dtype) - 1)};
}

/// The two sides of a transfer inside one tensor that come nearer or farther: true when some
/// iteration may bring them together.
bool mayMeet(const InstView &view, unsigned a, unsigned b) {
  const Access &x = view.access(a), &y = view.access(b);
  const bool sharesPartitions =
      memoryOf(view, a) == Memory::Hbm || (x.partitionStart < y.partitionStart + y.partitionCount &&
                                           y.partitionStart < x.partitionStart + x.partitionCount);
  ElementRange near = reach(x), far = reach(y);
  for (unsigned l = 0; l < view.tripCounts.size(); ++l) {
    const int64_t step = x.loopStep[l] * bytesOf(x.dtype) - y.loopStep[l] * bytesOf(y.dtype);
    (step < 0 ? near.first : near.last) += mulSaturated(step, view.tripCounts[l] - 1);
  }
  return sharesPartitions && near.first <= far.last && far.first <= near.last;
}

/// The loops that change the distance of two operands in one tensor of a transfer.
Counts distanceCounts(const InstView &view) {
  Counts counts;
  counts.fill(1);
  if (!isTransfer(view.desc))
    return counts;
  for (unsigned a = 0; a < view.desc.operands.size(); ++a)
    for (unsigned b = a + 1; b < view.desc.operands.size(); ++b) {
      const Access &x = view.access(a), &y = view.access(b);
      if (!x.present() || x.tensor != y.tensor || !mayMeet(view, a, b))
        continue;
      for (unsigned l = 0; l < view.tripCounts.size(); ++l)
        if (x.loopStep[l] * bytesOf(x.dtype) != y.loopStep[l] * bytesOf(y.dtype))
          counts[l] = view.tripCounts[l];
    }
  return counts;
}

/// Checks the iterations below `counts`, and below the trip counts, one by one.
bool checkEach(const InstView &view, const Counts &counts, const CheckOnce &checkOnce,
               const Violation &tooMany, const RuleSink &sink) {
  Counts limits{}, at{};
  int64_t tried = 1;
  for (unsigned l = 0; l < kMaxLoopDepth; ++l) {
    limits[l] = l < view.tripCounts.size() ? std::min(view.tripCounts[l], counts[l]) : 1;
    tried = mulSaturated(tried, limits[l]);
  }
  if (tried == 1)
    return true; // the first iteration is a corner
  if (tried > kMaxTried) {
    sink(tooMany);
    return false;
  }
  do
    if (!checkOnce(atIteration(view.inst, at)))
      return false;
  while (advance(at, limits));
  return true;
}

} // namespace

bool checkInLoops(const InstView &view, const CheckOnce &checkOnce, const RuleSink &sink) {
  if (std::optional<Violation> broken = brokenSteps(view)) {
    sink(std::move(*broken));
    return false;
  }
  if (!checkCorners(view, checkOnce))
    return false;
  const std::string limit = text("at most ", kMaxTried, " can be checked one by one");
  return checkEach(view, distanceCounts(view), checkOnce,
                   {"V-09",
                    text("dst and src of ", view.desc.mnemonic,
                         " move differently through one tensor, and ", limit),
                    "let both sides move alike, or copy to a second tensor first", -1},
                   sink) &&
         checkEach(view, bankPeriods(view), checkOnce,
                   {kMalformed,
                    text("the loops move ", view.desc.mnemonic,
                         " to too many places of a PSUM bank: ", limit),
                    "let the loops step by whole tiles of a bank", -1},
                   sink);
}

} // namespace kiln::isa::rules
