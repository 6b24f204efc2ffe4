//===- HappensBefore.cpp - the order that records alone enforce -------------------------------===//
//
// Semaphores only grow, so running every stream as far as it goes meets every
// record that any execution can reach, in an order that respects
// happens-before.
//
//===------------------------------------------------------------------------------------------===//

#include "HappensBefore.h"

#include <algorithm>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxReports = 20;
/// Runs before an assumption that keeps failing is replaced by the weakest one.
constexpr unsigned kPatience = 8;

Diagnostic makeFault(const Kernel &kernel, uint32_t instruction, std::string message) {
  Diagnostic diagnostic;
  diagnostic.fault = Fault::Internal;
  diagnostic.message = std::move(message);
  if (instruction < kernel.instructions.size())
    diagnostic.place = kernel.chain(kernel.instructions[instruction].location);
  return diagnostic;
}

std::string describe(const Kernel &kernel, uint32_t instruction) {
  const KernelInstruction &entry = kernel.instructions[instruction];
  return "'" + std::string(entry.inst.desc().mnemonic) + "' at " + lineText(kernel, entry.location);
}

std::string engineName(unsigned engine) { return std::string(isa::name(kEngines[engine])); }

/// What is wrong with one record by itself; empty when nothing is.
std::string recordFault(const Kernel &kernel, const ScheduledRecord &record, unsigned engine) {
  const isa::Instruction &inst = kernel.instructions[record.instruction].inst;
  const auto isSemaphore = [](uint16_t s) {
    return s == kNoSemaphore || s < isa::machine.numSemaphores;
  };
  if (!isSemaphore(record.waitSemaphore) || !isSemaphore(record.updateSemaphore))
    return "names a semaphore the core does not have";
  if (record.isWaitOnly)
    return record.updateSemaphore != kNoSemaphore || record.waitSemaphore == kNoSemaphore
               ? "is preceded by a wait record that does not just wait"
               : "";
  if (engineStream(inst.engine) != engine)
    return "is in the stream of engine " + engineName(engine);
  if (isTransfer(inst)) {
    if (record.ring >= isa::machine.dmaRings)
      return "has no DMA ring";
    if (record.updateSemaphore == kNoSemaphore || record.updateValue != isa::machine.dmaEngines)
      return "does not count its " + std::to_string(isa::machine.dmaEngines) + " DMA engines";
  } else if (record.ring != kNoRing) {
    return "has a DMA ring without being a transfer";
  } else if (record.updateSemaphore != kNoSemaphore && record.updateValue == 0) {
    return "updates a semaphore by 0";
  }
  return "";
}

} // namespace

std::vector<Diagnostic> HappensBefore::structuralFaults(const Kernel &kernel,
                                                        const Synchronisation &result) {
  std::vector<Diagnostic> faults;
  const uint32_t count = uint32_t(kernel.instructions.size());
  std::vector<uint8_t> seen(count);
  for (unsigned engine = 0; engine < kNumEngines; ++engine) {
    uint32_t atLeast = 0;
    for (const ScheduledRecord &record : result.streams[engine]) {
      if (faults.size() >= kMaxReports)
        return faults;
      if (record.instruction >= count) {
        faults.push_back(makeFault(kernel, kNone,
                                   "a record names instruction " +
                                       std::to_string(record.instruction) + " of " +
                                       std::to_string(count)));
        continue;
      }
      std::string fault = recordFault(kernel, record, engine);
      if (fault.empty() && record.instruction < atLeast)
        fault = "is out of program order in the stream of engine " + engineName(engine);
      if (!record.isWaitOnly) {
        atLeast = record.instruction + 1;
        if (seen[record.instruction]++)
          fault = "is in the streams more than once";
      }
      if (!fault.empty())
        faults.push_back(makeFault(kernel, record.instruction,
                                   describe(kernel, record.instruction) + " " + fault));
    }
  }
  for (uint32_t i = 0; i < count && faults.size() < kMaxReports; ++i)
    if (!seen[i])
      faults.push_back(makeFault(kernel, i, describe(kernel, i) + " is in no stream"));
  return faults;
}

HappensBefore::HappensBefore(const Kernel &kernel, const Synchronisation &result)
    : kernel(kernel), result(result), semaphores(isa::machine.numSemaphores),
      slots(isa::machine.numSemaphores), agents(kernel.instructions.size()),
      ordinals(kernel.instructions.size()), updates(kernel.instructions.size(), kNone),
      updateRank(kernel.instructions.size()) {
  std::vector<uint32_t> values(kernel.instructions.size());
  for (unsigned engine = 0; engine < kNumEngines; ++engine)
    for (size_t r = 0; r < result.streams[engine].size(); ++r) {
      const ScheduledRecord &record = result.streams[engine][r];
      if (record.isWaitOnly)
        continue;
      agents[record.instruction] = engine;
      ordinals[record.instruction] = uint32_t(r + 1);
      if (record.updateSemaphore != kNoSemaphore) {
        updates[record.instruction] = record.updateSemaphore;
        values[record.instruction] = record.updateValue;
      }
    }
  for (uint32_t i = 0; i < updates.size(); ++i) {
    if (updates[i] == kNone)
      continue;
    Semaphore &semaphore = semaphores[updates[i]];
    if (semaphore.producers.empty()) {
      semaphore.sums.push_back(0);
      slots[updates[i]] = width++;
    }
    semaphore.producers.push_back(i);
    semaphore.sums.push_back(semaphore.sums.back() + values[i]);
    updateRank[i] = uint32_t(semaphore.producers.size());
    // A transfer runs beside the engine that triggered it: only its semaphore
    // tells when it is done.
    if (isTransfer(kernel.instructions[i].inst)) {
      agents[i] = slots[updates[i]];
      ordinals[i] = updateRank[i];
    }
  }
  starts.resize(kernel.instructions.size() * size_t(width));
}

void HappensBefore::assumeChains() {
  for (Semaphore &semaphore : semaphores) {
    semaphore.back.resize(semaphore.producers.size());
    for (uint32_t i = 0; i < semaphore.back.size(); ++i)
      semaphore.back[i] = i;
  }
}

void HappensBefore::computeProofs(Semaphore &semaphore) {
  const size_t count = semaphore.producers.size();
  // lastWith[b]: the last producer (from 1) that starts when just b are known
  // complete.
  std::vector<uint32_t> lastWith(count + 1);
  for (uint32_t j = 1; j <= count; ++j)
    lastWith[semaphore.back[j - 1]] = j;
  semaphore.proofs.resize(count);
  uint32_t lastBeside = 0; // the last producer that may run beside producer i
  uint64_t atLeast = 0;
  for (uint32_t i = 1; i <= count; ++i) {
    lastBeside = std::max(lastBeside, lastWith[i - 1]);
    const uint64_t own = semaphore.sums[i] - semaphore.sums[i - 1];
    const bool isSplit = isTransfer(kernel.instructions[semaphore.producers[i - 1]].inst);
    const uint64_t most = semaphore.sums[lastBeside] - (isSplit ? 1 : own);
    atLeast = std::max(atLeast, most + 1);
    semaphore.proofs[i - 1] = atLeast;
  }
}

void HappensBefore::mergeCompletion(std::vector<uint32_t> &clock, uint32_t instruction) {
  const uint32_t *start = &starts[size_t(instruction) * width];
  for (unsigned k = 0; k < width; ++k)
    clock[k] = std::max(clock[k], start[k]);
  clock[agents[instruction]] = std::max(clock[agents[instruction]], ordinals[instruction]);
}

void HappensBefore::prove(std::vector<uint32_t> &clock, uint32_t s, uint64_t value) {
  const Semaphore &semaphore = semaphores[s];
  if (semaphore.producers.empty())
    return;
  const size_t proven =
      size_t(std::upper_bound(semaphore.proofs.begin(), semaphore.proofs.end(), value) -
             semaphore.proofs.begin());
  for (size_t i = clock[slots[s]]; i < proven; ++i) {
    // Under an assumption that is too good, something may seem proven that has
    // not happened.
    if (!isDone[semaphore.producers[i]]) {
      assumptionsHold = false;
      return;
    }
    mergeCompletion(clock, semaphore.producers[i]);
    clock[slots[s]] = std::max(clock[slots[s]], uint32_t(i + 1));
  }
}

bool HappensBefore::step(unsigned engine) {
  const std::vector<ScheduledRecord> &records = result.streams[engine];
  if (next[engine] >= records.size())
    return false;
  const ScheduledRecord &record = records[next[engine]];
  std::vector<uint32_t> &clock = clocks[engine];
  if (record.waitSemaphore != kNoSemaphore) {
    if (semaphores[record.waitSemaphore].now < record.waitValue)
      return false;
    prove(clock, record.waitSemaphore, record.waitValue);
  }
  ++next[engine];
  if (record.isWaitOnly)
    return true;
  const uint32_t i = record.instruction;
  std::copy(clock.begin(), clock.end(), starts.begin() + std::ptrdiff_t(size_t(i) * width));
  isDone[i] = true;
  if (agents[i] == engine)
    clock[engine] = ordinals[i];
  if (updates[i] == kNone)
    return true;
  Semaphore &semaphore = semaphores[updates[i]];
  semaphore.now += record.updateValue;
  uint32_t &known = clock[slots[updates[i]]];
  uint32_t &assumed = semaphore.back[updateRank[i] - 1];
  const uint32_t actual = std::min(known, updateRank[i] - 1);
  if (actual < assumed) {
    // An engine knows its own updates; those that it made itself need no wait.
    assumed = actual;
    assumptionsHold = false;
  }
  if (agents[i] == engine && known + 1 == updateRank[i])
    known = updateRank[i];
  return true;
}

bool HappensBefore::simulate() {
  for (Semaphore &semaphore : semaphores) {
    semaphore.now = 0;
    computeProofs(semaphore);
  }
  isDone.assign(kernel.instructions.size(), false);
  next.fill(0);
  for (std::vector<uint32_t> &clock : clocks)
    clock.assign(width, 0);
  assumptionsHold = true;
  bool moved = true;
  while (moved) {
    moved = false;
    for (unsigned engine = 0; engine < kNumEngines; ++engine)
      while (step(engine))
        moved = true;
  }
  return assumptionsHold;
}

std::vector<Diagnostic> HappensBefore::run() {
  assumeChains();
  for (unsigned attempt = 0; !simulate(); ++attempt)
    if (attempt >= kPatience)
      for (Semaphore &semaphore : semaphores)
        if (std::any_of(semaphore.back.begin(), semaphore.back.end(),
                        [&, i = 0u](uint32_t b) mutable { return b != i++; }))
          std::fill(semaphore.back.begin(), semaphore.back.end(), 0);

  std::vector<Diagnostic> faults;
  for (unsigned engine = 0; engine < kNumEngines; ++engine) {
    if (next[engine] == result.streams[engine].size())
      continue;
    const ScheduledRecord &record = result.streams[engine][next[engine]];
    faults.push_back(makeFault(kernel, record.instruction,
                               describe(kernel, record.instruction) + " waits forever: semaphore " +
                                   std::to_string(record.waitSemaphore) + " never reaches " +
                                   std::to_string(record.waitValue) + ", only " +
                                   std::to_string(semaphores[record.waitSemaphore].now)));
  }
  return faults;
}

} // namespace kiln::analysis
