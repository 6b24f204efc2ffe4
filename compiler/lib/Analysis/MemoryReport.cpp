//===- MemoryReport.cpp - why a kernel does not fit -------------------------------------------===//
//
// Measuring is one sweep. Savings are not guessed: each candidate is measured
// again with the saving applied, and offered as a cure only if the kernel then
// fits.
//
//===------------------------------------------------------------------------------------------===//

#include "MemoryReport.h"

#include <algorithm>
#include <map>

namespace kiln::analysis {
namespace {

constexpr size_t kNamesInMessage = 3;
constexpr size_t kTried = 8;

std::string number(int64_t value) { return std::to_string(value); }

/// A life together with what it costs.
struct Load {
  Lifetime life;
  int64_t bytes;
};

struct Peak {
  uint32_t position = 0;
  int64_t bytes = 0;
};

/// The first position at which the most bytes are live.
Peak findPeak(const std::vector<Load> &loads) {
  std::vector<std::pair<uint32_t, int64_t>> changes;
  changes.reserve(2 * loads.size());
  for (const Load &load : loads) {
    changes.push_back({load.life.begin, load.bytes});
    changes.push_back({load.life.end, -load.bytes});
  }
  // At one position ends come first: lives are half open.
  std::sort(changes.begin(), changes.end());
  Peak peak;
  int64_t live = 0;
  for (const auto &[position, bytes] : changes) {
    live += bytes;
    if (live > peak.bytes)
      peak = {position, live};
  }
  return peak;
}

std::vector<Load> loadsOf(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                          isa::Memory memory, auto &&keep) {
  std::vector<Load> loads;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t)
    if (kernel.tensors[t].memory == memory && !lifetimes[t].empty() && keep(t))
      loads.push_back({lifetimes[t], occupiedBytes(kernel.tensors[t])});
  return loads;
}

/// "'panel' and 15 more (line 30, 8192 bytes each)".
std::string describeGroup(const Kernel &kernel, const LiveGroup &group) {
  const KernelTensor &tensor = kernel.tensors[group.tensor];
  std::string text = quotedName(tensor);
  if (group.count > 1)
    text += " and " + number(group.count - 1) + " more";
  text += " (" + lineText(kernel, tensor.location) + ", " + number(group.bytesEach) + " bytes";
  return text + (group.count > 1 ? " each)" : ")");
}

bool sameGroup(const Kernel &kernel, const LiveGroup &group, uint32_t t) {
  const KernelTensor &tensor = kernel.tensors[t];
  return t == group.tensor ||
         (tensor.location != kNone && tensor.location == kernel.tensors[group.tensor].location &&
          tensor.memory == kernel.tensors[group.tensor].memory &&
          occupiedBytes(tensor) == group.bytesEach);
}

/// The largest groups by name, at most `limit`, then how many tensors are left.
std::string joinGroups(const Kernel &kernel, const MemoryReport &report, size_t limit) {
  std::string text;
  uint32_t named = 0;
  for (size_t i = 0; i < report.groups.size() && i < limit; ++i) {
    text += (i ? ", " : "") + describeGroup(kernel, report.groups[i]);
    named += report.groups[i].count;
  }
  if (named < report.liveTensors)
    text += " and " + number(report.liveTensors - named) + " other tensors";
  return text;
}

//---- savings --------------------------------------------------------------------------------===//

/// The longest time around the peak in which a tensor only occupies memory.
struct Idle {
  uint32_t tensor = kNone;
  uint32_t lastUse = 0, nextUse = 0;
};

/// Idle spans over `peak` of the live tensors, largest tensor first, at most
/// eight.
std::vector<Idle> idleAt(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                         isa::Memory memory, uint32_t peak) {
  std::vector<Idle> idle(kernel.tensors.size());
  for (uint32_t position = 0; position < kernel.instructions.size(); ++position)
    for (const isa::Access &access : kernel.instructions[position].inst.operands) {
      if (!access.present())
        continue;
      Idle &entry = idle[access.tensor];
      if (position <= peak)
        entry.lastUse = position;
      else if (entry.nextUse == 0)
        entry.nextUse = position;
    }
  std::vector<Idle> found;
  for (uint32_t t = 0; t < idle.size(); ++t) {
    const bool isLive = lifetimes[t].begin <= peak && peak < lifetimes[t].end;
    if (kernel.tensors[t].memory != memory || !isLive || idle[t].lastUse == peak)
      continue;
    idle[t].tensor = t;
    found.push_back(idle[t]);
  }
  std::sort(found.begin(), found.end(), [&](const Idle &a, const Idle &b) {
    const int64_t aBytes = occupiedBytes(kernel.tensors[a.tensor]);
    const int64_t bBytes = occupiedBytes(kernel.tensors[b.tensor]);
    return aBytes != bBytes ? aBytes > bBytes : a.tensor < b.tensor;
  });
  found.resize(std::min<size_t>(found.size(), 8));
  return found;
}

/// The single largest saving that makes `memory` fit, as a sentence; empty when
/// no single one does.
std::string describeSaving(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           const MemoryReport &report) {
  for (const Idle &idle : idleAt(kernel, lifetimes, report.memory, report.position)) {
    std::vector<Load> loads =
        loadsOf(kernel, lifetimes, report.memory, [&](uint32_t t) { return t != idle.tensor; });
    const int64_t bytes = occupiedBytes(kernel.tensors[idle.tensor]);
    loads.push_back({{lifetimes[idle.tensor].begin, idle.lastUse + 1}, bytes});
    loads.push_back({{idle.nextUse, lifetimes[idle.tensor].end}, bytes});
    if (findPeak(loads).bytes > report.limitBytes)
      continue;
    return quotedName(kernel.tensors[idle.tensor]) + " (" + number(bytes) +
           " bytes) lies idle from " +
           lineText(kernel, kernel.instructions[idle.lastUse].location) + " to " +
           lineText(kernel, kernel.instructions[idle.nextUse].location) +
           (report.memory == isa::Memory::Psum
                ? ": tensor_copy it to SBUF after the one and read the copy at the other, and all "
                  "fits"
                : ": load or compute it again for the later use, and all fits");
  }
  for (size_t i = 0; i < report.groups.size() && i < kTried; ++i) {
    const LiveGroup &group = report.groups[i];
    const int64_t rest = liveBytesWithout(kernel, lifetimes, report.memory, group);
    if (rest > report.limitBytes)
      continue;
    return "the largest saving is " + describeGroup(kernel, group) + ": everything else takes " +
           number(rest) + " bytes, so cut " + (group.count > 1 ? "them" : "it") + " from " +
           number(group.bytesEach * group.count) + " to at most " +
           number(report.limitBytes - rest) + " bytes";
  }
  return "no single tensor is the cause: cut at least " +
         number(report.liveBytes - report.limitBytes) +
         " bytes with smaller tiles or fewer live ones";
}

//---- messages -------------------------------------------------------------------------------===//

/// Message and help for the case that the operands of the one instruction at the peak are too much:
/// no order and no placement helps. False when they would fit alone.
bool describeOneInstruction(const Kernel &kernel, const MemoryReport &report,
                            Diagnostic &diagnostic) {
  const isa::Instruction &inst = kernel.instructions[report.position].inst;
  std::vector<uint32_t> tensors;
  int64_t bytes = 0;
  for (const isa::Access &access : inst.operands) {
    if (!access.present() || kernel.tensors[access.tensor].memory != report.memory ||
        std::find(tensors.begin(), tensors.end(), access.tensor) != tensors.end())
      continue;
    tensors.push_back(access.tensor);
    bytes += occupiedBytes(kernel.tensors[access.tensor]);
  }
  if (bytes <= report.limitBytes)
    return false;
  std::string names;
  for (uint32_t t : tensors)
    names += (names.empty() ? "" : ", ") + quotedName(kernel.tensors[t]) + " (" +
             lineText(kernel, kernel.tensors[t].location) + ", " +
             number(occupiedBytes(kernel.tensors[t])) + " bytes)";
  const std::string memory = report.memory == isa::Memory::Psum ? "PSUM" : "SBUF";
  diagnostic.message = "the operands of one " + std::string(inst.desc().mnemonic) + " take " +
                       number(bytes) + " of " + number(report.limitBytes) + " " + memory +
                       " bytes per partition, so no order of instructions fits: " + names;
  const int64_t share = report.limitBytes / int64_t(tensors.size());
  const isa::DType dtype = kernel.tensors[tensors.front()].dtype;
  diagnostic.help = "cut the free dims into tiles: " + number(int64_t(tensors.size())) +
                    " tiles fit with at most " + number(share) + " bytes each, which is " +
                    number(share / isa::bytesOf(dtype)) + " elements of " +
                    std::string(isa::name(dtype));
  return true;
}

/// One note for every declaration that is live at the fullest moment: what it holds, where it lies
/// if by hand, and from where to where its lives reach.
void addNotes(const Kernel &kernel, std::span<const Lifetime> lifetimes, const MemoryReport &report,
              Diagnostic &diagnostic) {
  for (const LiveGroup &group : report.groups) {
    const KernelTensor &tensor = kernel.tensors[group.tensor];
    Lifetime life = lifetimes[group.tensor];
    for (uint32_t t = group.tensor; t < kernel.tensors.size() && group.count > 1; ++t)
      if (sameGroup(kernel, group, t) && lifetimes[t].begin <= report.position &&
          report.position < lifetimes[t].end)
        life = {std::min(life.begin, lifetimes[t].begin), std::max(life.end, lifetimes[t].end)};
    std::string text = quotedName(tensor);
    if (group.count > 1)
      text += " and " + number(group.count - 1) + " more";
    text += (group.count > 1 ? " hold " : " holds ") + number(group.bytesEach * group.count) +
            " bytes per partition";
    if (tensor.address && group.count == 1)
      text += " from byte " + number(int64_t(tensor.address->byte));
    text += ", live from " + lineText(kernel, kernel.instructions[life.begin].location) + " to " +
            lineText(kernel, kernel.instructions[life.end - 1].location);
    diagnostic.notes.push_back({std::move(text), kernel.chain(tensor.location)});
  }
}

} // namespace

int64_t occupiedBytes(const KernelTensor &tensor) {
  const int64_t bytes = tensor.bytes();
  if (tensor.memory != isa::Memory::Psum)
    return bytes;
  const int64_t bank = isa::machine.psumBankBytesPerPartition;
  return bytes > INT64_MAX - bank ? bytes : (bytes + bank - 1) / bank * bank;
}

int64_t capacityBytes(isa::Memory memory) {
  return memory == isa::Memory::Psum ? isa::machine.psumBytesPerPartition
                                     : isa::machine.sbufUsableBytesPerPartition;
}

int64_t liveBytesWithout(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                         isa::Memory memory, const LiveGroup &group) {
  return findPeak(loadsOf(kernel, lifetimes, memory,
                          [&](uint32_t t) { return !sameGroup(kernel, group, t); }))
      .bytes;
}

MemoryReport measureMemory(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           isa::Memory memory) {
  const Peak peak = findPeak(loadsOf(kernel, lifetimes, memory, [](uint32_t) { return true; }));
  MemoryReport report;
  report.memory = memory;
  report.position = peak.position;
  report.liveBytes = peak.bytes;
  report.limitBytes = capacityBytes(memory);
  std::map<std::pair<uint32_t, int64_t>, size_t> byDeclaration;
  for (uint32_t t = 0; t < kernel.tensors.size(); ++t) {
    const KernelTensor &tensor = kernel.tensors[t];
    if (tensor.memory != memory || peak.position < lifetimes[t].begin ||
        peak.position >= lifetimes[t].end)
      continue;
    ++report.liveTensors;
    const int64_t bytes = occupiedBytes(tensor);
    size_t group = report.groups.size();
    if (tensor.location != kNone)
      group = byDeclaration.try_emplace({tensor.location, bytes}, group).first->second;
    if (group == report.groups.size())
      report.groups.push_back({t, 0, bytes});
    ++report.groups[group].count;
  }
  std::sort(report.groups.begin(), report.groups.end(), [](const LiveGroup &a, const LiveGroup &b) {
    const int64_t aBytes = a.bytesEach * a.count, bBytes = b.bytesEach * b.count;
    return aBytes != bBytes ? aBytes > bBytes : a.tensor < b.tensor;
  });
  return report;
}

Diagnostic describeOveruse(const Kernel &kernel, std::span<const Lifetime> lifetimes,
                           isa::Memory memory, uint32_t tensor) {
  const MemoryReport report = measureMemory(kernel, lifetimes, memory);
  const bool isPsum = memory == isa::Memory::Psum;
  const int64_t bank = isa::machine.psumBankBytesPerPartition;
  Diagnostic diagnostic;
  diagnostic.rule = isPsum ? "S-04" : "M-01";

  if (report.liveBytes <= report.limitBytes) {
    // All of it would fit, but not in whole: what is free lies in pieces.
    const uint32_t location = kernel.instructions[lifetimes[tensor].begin].location;
    const int64_t bytes = occupiedBytes(kernel.tensors[tensor]);
    diagnostic.place = kernel.chain(location);
    diagnostic.message = quotedName(kernel.tensors[tensor]) + " needs " +
                         (isPsum ? number(bytes / bank) + " PSUM banks in a row"
                                 : number(bytes) + " SBUF bytes per partition in a row") +
                         " at " + lineText(kernel, location) +
                         ", and what is free there lies in smaller pieces; the peak is " +
                         number(report.liveBytes) + " of " + number(report.limitBytes) + " bytes";
    diagnostic.help = isPsum ? "give long-lived accumulators an address at one end of PSUM"
                             : "give long-lived tensors an address at one end of SBUF; "
                               "addresses "
                               "chosen by the compiler are multiples of " +
                                   number(isa::machine.sbufMinAlign);
    addNotes(kernel, lifetimes, report, diagnostic);
    return diagnostic;
  }

  const uint32_t location = kernel.instructions[report.position].location;
  diagnostic.place = kernel.chain(location);
  const std::string where = lineText(kernel, location);
  if (describeOneInstruction(kernel, report, diagnostic)) {
    addNotes(kernel, lifetimes, report, diagnostic);
    return diagnostic;
  }
  if (isPsum) {
    const int64_t banks = report.liveBytes / bank;
    diagnostic.message =
        (banks == report.liveTensors ? number(banks) + " PSUM accumulators are live at " + where
                                     : number(report.liveTensors) + " PSUM accumulators hold " +
                                           number(banks) + " banks at " + where) +
        ", the core has " + number(isa::machine.psumBanks) + " banks; evacuate one of " +
        joinGroups(kernel, report, kNamesInMessage);
  } else {
    diagnostic.message = "SBUF peaks at " + number(report.liveBytes) + " of " +
                         number(report.limitBytes) + " bytes per partition at " + where +
                         "; largest live: " + joinGroups(kernel, report, kNamesInMessage);
  }
  diagnostic.help = describeSaving(kernel, lifetimes, report);
  addNotes(kernel, lifetimes, report, diagnostic);
  return diagnostic;
}

} // namespace kiln::analysis
