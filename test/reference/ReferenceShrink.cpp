//===- ReferenceShrink.cpp - a failing trial made smaller -------------------------------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceTrial.h"

#include <algorithm>
#include <functional>

namespace kiln::reference {

using isa::Access;
using isa::Memory;

namespace {

/// Runs a shrink may cost.
constexpr unsigned kMaxRuns = 2000;
/// Contents tried for each smaller instance, after the trial's own.
constexpr unsigned kSeeds = 6;

class Shrinker {
public:
  explicit Shrinker(Trial trial) : best(std::move(trial)) {}

  Trial run() {
    bool isSmaller = true;
    while (isSmaller && runs < kMaxRuns) {
      isSmaller = false;
      for (const Instance &smaller : candidates())
        if (accept(smaller)) {
          isSmaller = true;
          break;
        }
    }
    for (unsigned seed = 0; !best.isPlain && seed < 4 * kSeeds; ++seed)
      if (fails({best.instance, seed, true}))
        best = {best.instance, seed, true};
    return best;
  }

private:
  bool fails(const Trial &trial) {
    ++runs;
    return !compare(programOf({&trial, 1})).empty();
  }

  bool accept(Instance smaller) {
    const isa::InstDesc &desc = smaller.inst.desc();
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (smaller.inst.operands[i].present())
        fitTensor(smaller, i);
      else
        smaller.tensors[i] = {};
    bool isSame = smaller.inst == best.instance.inst;
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      isSame = isSame && smaller.tensors[i].memory == best.instance.tensors[i].memory &&
               smaller.tensors[i].shape == best.instance.tensors[i].shape;
    if (isSame || brokenRule(smaller))
      return false;
    std::vector<uint64_t> seeds{best.seed};
    for (unsigned i = 1; i <= kSeeds; ++i)
      seeds.push_back(best.seed % 1000 + i);
    for (uint64_t seed : seeds) {
      Trial trial{smaller, seed, best.isPlain};
      if (fails(trial)) {
        best = trial;
        return true;
      }
    }
    return false;
  }

  std::vector<Instance> candidates() {
    std::vector<Instance> all;
    addCounts(all);
    addOperands(all);
    addFields(all);
    return all;
  }

  void addCounts(std::vector<Instance> &all);
  void addOperands(std::vector<Instance> &all);
  void addFields(std::vector<Instance> &all);

  Trial best;
  unsigned runs = 0;
};

void setDense(Access &access, int64_t count) {
  access.rank = 1;
  access.step = {1};
  access.num = {count};
  access.offset = 0;
}

/// Fewer partitions and elements: a number is replaced wherever it stands, as rows, elements or the
/// extent of a pattern.
void Shrinker::addCounts(std::vector<Instance> &all) {
  const Instance &from = best.instance;
  std::vector<int64_t> numbers;
  for (const Access &access : from.inst.operands)
    if (access.present()) {
      numbers.push_back(access.partitionCount);
      numbers.push_back(access.freeElements());
    }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (int64_t old : numbers)
    for (int64_t count : {int64_t(1), int64_t(2), old / 2, old - old / 4, old - 1, old - 2}) {
      if (count < 1 || count >= old)
        continue;
      for (unsigned what = 1; what <= 3; ++what) { // rows, elements, or both
        Instance smaller = from;
        for (Access &access : smaller.inst.operands) {
          if (!access.present())
            continue;
          if (what & 1 && access.partitionCount == old)
            access.partitionCount = uint32_t(count);
          if (what & 2 && access.freeElements() == old)
            setDense(access, count);
        }
        for (const isa::FieldDesc &field : from.inst.desc().fields) {
          if (!field.isPattern() || !(what & 2))
            continue;
          int64_t total = 1;
          for (unsigned w = 1; w < field.words; w += 2)
            total *= std::max<int64_t>(1, from.inst.fields[field.word + w]);
          if (total == old)
            for (unsigned w = 1; w < field.words; w += 2)
              smaller.inst.fields[field.word + w] = w == 1 ? count : field.init;
        }
        all.push_back(smaller);
      }
    }
}

/// Operands that start at 0, are dense, lie in SBUF, hold fp32, or are not there.
void Shrinker::addOperands(std::vector<Instance> &all) {
  const Instance &from = best.instance;
  const isa::InstDesc &desc = from.inst.desc();
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    const Access &access = from.inst.operands[i];
    if (!access.present())
      continue;
    auto with = [&](const std::function<void(Instance &)> &change) {
      all.push_back(from);
      change(all.back());
    };
    if (desc.operands[i].isOptional)
      with([&](Instance &s) { s.inst.operands[i] = {}; });
    with([&](Instance &s) { setDense(s.inst.operands[i], access.freeElements()); });
    with([&](Instance &s) { s.inst.operands[i].partitionStart = 0; });
    with([&](Instance &s) {
      for (Access &other : s.inst.operands)
        other.partitionStart = 0;
    });
    if (from.tensors[i].memory != Memory::Sbuf && desc.operands[i].allows(Memory::Sbuf))
      with([&](Instance &s) {
        s.tensors[i].memory = Memory::Sbuf;
        s.inst.operands[i].rowStep = 0;
      });
    if (access.dtype == isa::DType::Float32)
      continue;
    with([&](Instance &s) { s.inst.operands[i].dtype = isa::DType::Float32; });
    with([&](Instance &s) {
      for (Access &other : s.inst.operands)
        if (other.present() && other.dtype == access.dtype)
          other.dtype = isa::DType::Float32;
    });
  }
}

void Shrinker::addFields(std::vector<Instance> &all) {
  const Instance &from = best.instance;
  for (const isa::FieldDesc &field : from.inst.desc().fields) {
    if (field.isPattern())
      continue;
    for (unsigned w = 0; w < field.words; ++w)
      for (int64_t value : {field.required ? int64_t(0) : field.init, int64_t(0), int64_t(1)})
        if (from.inst.fields[field.word + w] != field.init &&
            from.inst.fields[field.word + w] > value) {
          all.push_back(from);
          all.back().inst.fields[field.word + w] = value;
        }
  }
}

} // namespace

Trial shrink(Trial trial) { return Shrinker(std::move(trial)).run(); }

} // namespace kiln::reference
