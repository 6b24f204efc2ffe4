//===- VerifySynchronisation.cpp - an independent proof of the streams ------------------------===//
//
// Form of the records, then what they order, then whether that is enough for
// every pair of accesses to the same bytes and for every tensor that takes the place of another.
//
//===------------------------------------------------------------------------------------------===//

#include "Conflicts.h"
#include "Epochs.h"
#include "HappensBefore.h"
#include "VerifyTakeover.h"

#include <algorithm>
#include <set>

namespace kiln::analysis {
namespace {

constexpr size_t kMaxReports = 20;

std::string describeAccess(const Kernel &kernel, const LoggedAccess &entry) {
  const KernelInstruction &instruction = kernel.instructions[entry.instruction];
  const isa::Access &access = instruction.inst.operands[entry.operand];
  return "'" + std::string(instruction.inst.desc().mnemonic) + "' at " +
         lineText(kernel, instruction.location) + (entry.writes ? " writes " : " reads ") +
         quotedName(kernel.tensors[access.tensor]);
}

Diagnostic describeRace(const Kernel &kernel, const LoggedAccess &earlier,
                        const LoggedAccess &later) {
  const uint32_t tensor =
      kernel.instructions[later.instruction].inst.operands[later.operand].tensor;
  Diagnostic diagnostic;
  diagnostic.fault = Fault::Internal;
  diagnostic.message = describeAccess(kernel, later) + " and " + describeAccess(kernel, earlier) +
                       ", both in bytes " + std::to_string(std::max(earlier.lo, later.lo)) +
                       " to " + std::to_string(std::min(earlier.hi, later.hi) - 1);
  if (kernel.tensors[tensor].isOnChip())
    diagnostic.message += ", partitions " + std::to_string(std::max(earlier.rowLo, later.rowLo)) +
                          " to " + std::to_string(std::min(earlier.rowHi, later.rowHi) - 1) +
                          " of " + std::string(isa::name(kernel.tensors[tensor].memory));
  diagnostic.message += "; no program order and no semaphore keeps them in order";
  diagnostic.place = kernel.chain(kernel.instructions[later.instruction].location);
  diagnostic.notes.push_back({"the earlier access is here",
                              kernel.chain(kernel.instructions[earlier.instruction].location)});
  return diagnostic;
}

Diagnostic describeTakeover(const Kernel &kernel, const OpenTakeover &open) {
  const KernelInstruction &earlier = kernel.instructions[open.earlier];
  const KernelInstruction &later = kernel.instructions[open.later];
  Diagnostic diagnostic;
  diagnostic.fault = Fault::Internal;
  diagnostic.message =
      "'" + std::string(later.inst.desc().mnemonic) + "' at " + lineText(kernel, later.location) +
      " uses " + quotedName(kernel.tensors[open.newTensor]) + ", which takes the place of " +
      quotedName(kernel.tensors[open.oldTensor]) + ", and '" +
      std::string(earlier.inst.desc().mnemonic) + "' at " + lineText(kernel, earlier.location) +
      " still uses that; no program order and no semaphore keeps them in order";
  diagnostic.place = kernel.chain(later.location);
  diagnostic.notes.push_back({"the earlier access is here", kernel.chain(earlier.location)});
  return diagnostic;
}

/// The races of a kernel in whose middle no streams meet; its records are well formed.
std::vector<Diagnostic> findRaces(const Kernel &kernel, const Placement &placement,
                                  const Synchronisation &result) {
  HappensBefore order(kernel, result);
  std::vector<Diagnostic> faults = order.run();
  if (!faults.empty())
    return faults;

  AccessLog log(kernel, placement);
  std::set<std::pair<uint32_t, uint32_t>> reported;
  const auto isOrdered = [&](uint32_t earlier, uint32_t later) {
    return order.isOrdered(earlier, later);
  };
  const auto report = [&](const LoggedAccess &earlier, const LoggedAccess &later) {
    if (faults.size() < kMaxReports &&
        reported.insert({earlier.instruction, later.instruction}).second)
      faults.push_back(describeRace(kernel, earlier, later));
  };
  for (uint32_t i = 0; i < kernel.instructions.size(); ++i)
    log.add(i, order.agent(i), isOrdered, report);
  for (const OpenTakeover &open : findOpenTakeovers(kernel, placement, order, kMaxReports))
    if (faults.size() < kMaxReports && reported.insert({open.earlier, open.later}).second)
      faults.push_back(describeTakeover(kernel, open));
  return faults;
}

/// The records of the instructions [begin, end), counted from `begin`.
Synchronisation recordsOf(const Synchronisation &whole, const Epoch &epoch) {
  Synchronisation part;
  for (unsigned engine = 0; engine < kNumEngines; ++engine) {
    const std::vector<ScheduledRecord> &records = whole.streams[engine];
    const auto isBefore = [](const ScheduledRecord &record, uint32_t position) {
      return record.instruction < position;
    };
    auto record = std::lower_bound(records.begin(), records.end(), epoch.begin, isBefore);
    for (; record != records.end() && record->instruction < epoch.end; ++record) {
      part.streams[engine].push_back(*record);
      part.streams[engine].back().instruction -= epoch.begin;
    }
  }
  return part;
}

} // namespace

std::vector<Diagnostic> verifySynchronisation(const Kernel &kernel, const Placement &placement,
                                              const Synchronisation &result) {
  std::vector<Diagnostic> faults = HappensBefore::structuralFaults(kernel, result);
  if (!faults.empty())
    return faults;
  if (kernel.loops.empty())
    return findRaces(kernel, placement, result);
  for (const Epoch &epoch : findEpochs(kernel)) {
    const Synchronisation records = recordsOf(result, epoch);
    // Places are wanted for messages only.
    for (const bool withLocations : {false, true}) {
      const EpochKernel part(kernel, placement, epoch, withLocations);
      faults = findRaces(part.kernel, part.placement, records);
      if (faults.empty() || withLocations)
        break;
    }
    if (!faults.empty())
      break;
  }
  return faults;
}

} // namespace kiln::analysis
