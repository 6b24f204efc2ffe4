//===- Mutants.cpp - programs with one thing wrong --------------------------------------------===//

#include "Mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

using namespace kilnrt;
using namespace kilnrt::mutation;
using isa::machine;

std::string_view kilnrt::mutation::nameOf(MutationKind kind) {
  constexpr std::string_view names[] = {
      "drop-wait",     "weaken-wait",     "retarget-wait", "move-wait",       "drop-update",
      "weaken-update", "retarget-update", "move-update",   "shrink-rotation", "swap-neighbours"};
  static_assert(std::size(names) == kMutationKinds);
  return names[size_t(kind)];
}

static bool isEdge(const Record &record) {
  return record.inst.opcode == isa::Opcode::LoopBegin || record.inst.opcode == isa::Opcode::LoopEnd;
}

//---- what there is to spoil -----------------------------------------------------------------===//

/// Semaphores of one epoch, ascending, with the sum of their updates.
using Totals = std::vector<std::pair<uint16_t, uint64_t>>;

/// The epochs of all streams; every stream has the same edges.
static std::vector<Totals> totalsOf(const std::vector<std::vector<Record>> &streams) {
  std::vector<std::map<uint16_t, uint64_t>> epochs(1);
  for (const std::vector<Record> &records : streams) {
    size_t epoch = 0;
    for (const Record &record : records) {
      if (isEdge(record) && ++epoch == epochs.size())
        epochs.emplace_back();
      if (record.sync.waitSemaphore != Sync::kNoSemaphore)
        epochs[epoch][record.sync.waitSemaphore];
      if (record.sync.updateSemaphore != Sync::kNoSemaphore)
        epochs[epoch][record.sync.updateSemaphore] += record.sync.updateValue;
    }
  }
  std::vector<Totals> result;
  for (const auto &epoch : epochs)
    result.emplace_back(epoch.begin(), epoch.end());
  return result;
}

/// The next semaphore behind `current`, around the end, that reaches `value`; else just the next.
/// kNoSemaphore when there is no other.
static uint16_t anotherSemaphore(const Totals &totals, uint16_t current, uint64_t value) {
  const auto isCurrent = [&](const auto &entry) { return entry.first == current; };
  const size_t at = size_t(std::find_if(totals.begin(), totals.end(), isCurrent) - totals.begin());
  for (const uint64_t needed : {value, uint64_t{0}})
    for (size_t i = 1; i < totals.size(); ++i)
      if (const auto &[semaphore, total] = totals[(at + i) % totals.size()]; total >= needed)
        return semaphore;
  return Sync::kNoSemaphore;
}

static bool sameWait(const Sync &a, const Sync &b) {
  return a.waitSemaphore == b.waitSemaphore && a.waitValue == b.waitValue;
}
static bool sameUpdate(const Sync &a, const Sync &b) {
  return a.updateSemaphore == b.updateSemaphore;
}

Mutator::Mutator(const Program &program) : program(program) {
  for (const Stream &stream : program.streams) {
    Expected<std::vector<Record>> records = decodeStream(stream);
    assert(records && "the program passes the verifier");
    streams.push_back(std::move(*records));
  }
  for (uint32_t s = 0; s < streams.size(); ++s)
    addSyncs(s);
  for (uint32_t s = 0; s < streams.size(); ++s)
    addSwaps(s);
  addRotations();
}

void Mutator::addSyncs(uint32_t stream) {
  const std::vector<Totals> totals = totalsOf(streams);
  size_t epoch = 0;
  for (uint32_t r = 0; r < streams[stream].size(); ++r) {
    const Record &record = streams[stream][r];
    epoch += isEdge(record);
    if (record.sync.waitSemaphore != Sync::kNoSemaphore)
      addWait(stream, r, totals[epoch]);
    if (record.sync.updateSemaphore != Sync::kNoSemaphore)
      addUpdate(stream, r, totals[epoch]);
  }
}

void Mutator::addWait(uint32_t stream, uint32_t r, const Totals &totals) {
  const std::vector<Record> &records = streams[stream];
  const Sync &sync = records[r].sync;
  all.push_back({MutationKind::DropWait, stream, r});
  const auto weaken = [&](uint32_t less) {
    all.push_back({MutationKind::WeakenWait, stream, r, sync.waitValue - less});
  };
  if (sync.waitValue > 0)
    weaken(1);
  if (const uint32_t transfer = uint32_t(machine.dmaEngines); sync.waitValue > transfer)
    weaken(transfer);
  if (const uint16_t other = anotherSemaphore(totals, sync.waitSemaphore, sync.waitValue);
      other != Sync::kNoSemaphore)
    all.push_back({MutationKind::RetargetWait, stream, r, other});
  // Edges of loops wait for nothing: the verifier proves it. Two waits that change places are one
  // mutant, that of the first.
  if (r > 0 && !isEdge(records[r - 1]) && records[r - 1].sync.waitSemaphore == Sync::kNoSemaphore)
    all.push_back({MutationKind::MoveWait, stream, r, 0});
  if (r + 1 < records.size() && !isEdge(records[r + 1]) && !sameWait(sync, records[r + 1].sync))
    all.push_back({MutationKind::MoveWait, stream, r, 1});
}

void Mutator::addUpdate(uint32_t stream, uint32_t r, const Totals &totals) {
  const std::vector<Record> &records = streams[stream];
  const Sync &sync = records[r].sync;
  all.push_back({MutationKind::DropUpdate, stream, r});
  all.push_back({MutationKind::WeakenUpdate, stream, r, sync.updateValue - 1});
  if (const uint16_t other = anotherSemaphore(totals, sync.updateSemaphore, 0);
      other != Sync::kNoSemaphore)
    all.push_back({MutationKind::RetargetUpdate, stream, r, other});
  if (r > 0 && !isEdge(records[r - 1]) && records[r - 1].sync.updateSemaphore == Sync::kNoSemaphore)
    all.push_back({MutationKind::MoveUpdate, stream, r, 0});
  if (r + 1 < records.size() && !isEdge(records[r + 1]) && !sameUpdate(sync, records[r + 1].sync))
    all.push_back({MutationKind::MoveUpdate, stream, r, 1});
}

void Mutator::addSwaps(uint32_t stream) {
  const std::vector<Record> &records = streams[stream];
  for (uint32_t r = 0; r + 1 < records.size(); ++r)
    if (!isEdge(records[r]) || !isEdge(records[r + 1]))
      all.push_back({MutationKind::SwapNeighbours, stream, r});
}

// Tensors of one declaration: of one place, memory, dtype, loop and number of partitions. Extents
// may differ, the last tile of a loop is cut.
void Mutator::addRotations() {
  using Key = std::tuple<uint32_t, isa::Memory, isa::DType, uint32_t, size_t>;
  std::map<Key, Rotation> byDeclaration;
  if (program.flags.placed)
    for (uint32_t t = 0; t < program.tensors.size(); ++t) {
      const TensorInfo &tensor = program.tensors[t];
      if (tensor.memory == isa::Memory::Hbm || tensor.location == kNone)
        continue;
      Rotation &rotation = byDeclaration[{tensor.location, tensor.memory, tensor.dtype, tensor.loop,
                                          tensor.shape.size()}];
      rotation.tensors.push_back(t);
      const std::pair address{tensor.partition, tensor.byte};
      if (std::find(rotation.addresses.begin(), rotation.addresses.end(), address) ==
          rotation.addresses.end())
        rotation.addresses.push_back(address);
    }
  for (auto &[key, rotation] : byDeclaration) {
    if (rotation.addresses.size() < 2)
      continue;
    for (uint32_t variant = 0; variant < (rotation.addresses.size() > 2 ? 3u : 1u); ++variant)
      all.push_back({MutationKind::ShrinkRotation, 0, 0, uint32_t(rotations.size()), variant});
    rotations.push_back(std::move(rotation));
  }
}

//---- making one -----------------------------------------------------------------------------===//

static void exchangeUpdates(Record &a, Record &b) {
  std::swap(a.sync.updateSemaphore, b.sync.updateSemaphore);
  std::swap(a.sync.updateValue, b.sync.updateValue);
  // A transfer adds one from each of its engines, whatever it took the update from.
  for (Record *record : {&a, &b})
    if (record->inst.desc().isTransfer && record->sync.updateSemaphore != Sync::kNoSemaphore)
      record->sync.updateValue = uint32_t(machine.dmaEngines);
}

void Mutator::change(std::vector<Record> &records, const Mutant &mutant) const {
  Record &record = records[mutant.record];
  Sync &sync = record.sync;
  const auto neighbour = [&]() -> Record & {
    return records[mutant.argument == 0 ? mutant.record - 1 : mutant.record + 1];
  };
  switch (mutant.kind) {
  case MutationKind::DropWait:
    sync.waitSemaphore = Sync::kNoSemaphore;
    sync.waitValue = 0;
    break;
  case MutationKind::WeakenWait:
    sync.waitValue = mutant.argument;
    break;
  case MutationKind::RetargetWait:
    sync.waitSemaphore = uint16_t(mutant.argument);
    break;
  case MutationKind::MoveWait:
    std::swap(sync.waitSemaphore, neighbour().sync.waitSemaphore);
    std::swap(sync.waitValue, neighbour().sync.waitValue);
    break;
  case MutationKind::DropUpdate:
    sync.updateSemaphore = Sync::kNoSemaphore;
    sync.updateValue = 0;
    break;
  case MutationKind::WeakenUpdate:
    sync.updateValue = mutant.argument;
    break;
  case MutationKind::RetargetUpdate:
    sync.updateSemaphore = uint16_t(mutant.argument);
    break;
  case MutationKind::MoveUpdate:
    exchangeUpdates(record, neighbour());
    break;
  case MutationKind::SwapNeighbours:
    std::swap(record, records[mutant.record + 1]);
    break;
  case MutationKind::ShrinkRotation:
    break;
  }
}

void Mutator::shrink(Program &mutated, const Mutant &mutant) const {
  const Rotation &rotation = rotations[mutant.argument];
  const size_t left = rotation.addresses.size() - 1;
  for (size_t i = 0; i < rotation.tensors.size(); ++i) {
    TensorInfo &tensor = mutated.tensors[rotation.tensors[i]];
    const bool isLast = std::pair{tensor.partition, tensor.byte} == rotation.addresses[left];
    if (mutant.variant == 1 && !isLast)
      continue;
    std::tie(tensor.partition, tensor.byte) = rotation.addresses[mutant.variant == 0   ? i % left
                                                                 : mutant.variant == 1 ? left - 1
                                                                                       : 0];
  }
}

Program Mutator::apply(const Mutant &mutant) const {
  Program mutated = program;
  if (mutant.kind == MutationKind::ShrinkRotation) {
    shrink(mutated, mutant);
    return mutated;
  }
  std::vector<Record> records = streams[mutant.stream];
  change(records, mutant);
  std::vector<std::byte> &bytes = mutated.streams[mutant.stream].bytes;
  bytes.clear();
  for (const Record &record : records)
    encodeRecord(record, bytes);
  return mutated;
}

//---- words ----------------------------------------------------------------------------------===//

static std::string syncText(const Sync &sync) {
  std::string text;
  if (sync.waitSemaphore != Sync::kNoSemaphore)
    text = fmt::format("wait s{}>={}", sync.waitSemaphore, sync.waitValue);
  if (sync.updateSemaphore != Sync::kNoSemaphore)
    text += fmt::format("{}update s{}+={}", text.empty() ? "" : " ", sync.updateSemaphore,
                        sync.updateValue);
  return text.empty() ? "no semaphore" : text;
}

static std::string recordText(const Record &record) {
  return fmt::format("{} #{} [{}]", record.inst.desc().mnemonic, record.order,
                     syncText(record.sync));
}

std::string Mutator::describe(const Mutant &mutant) const {
  if (mutant.kind == MutationKind::ShrinkRotation) {
    const Rotation &rotation = rotations[mutant.argument];
    return fmt::format("{} {} tensors '{}' at {} addresses, {}", nameOf(mutant.kind),
                       rotation.tensors.size(), program.tensors[rotation.tensors.front()].name,
                       rotation.addresses.size(),
                       mutant.variant == 0   ? "all in turns at one less"
                       : mutant.variant == 1 ? "those of the last one at the one before"
                                             : "all at the first one");
  }
  const std::vector<Record> &before = streams[mutant.stream];
  // One record in front and two behind are all a mutant can change.
  const uint32_t first = mutant.record == 0 ? 0 : mutant.record - 1;
  const uint32_t end = std::min(mutant.record + 2, uint32_t(before.size()));
  std::vector<Record> after = before;
  change(after, mutant);
  std::string text = fmt::format("{} {}[{}]", nameOf(mutant.kind),
                                 isa::name(program.streams[mutant.stream].engine), mutant.record);
  std::string_view separator = ": ";
  for (uint32_t r = first; r < end; ++r)
    if (before[r] != after[r]) {
      text +=
          fmt::format("{}{} becomes {}", separator, recordText(before[r]), recordText(after[r]));
      separator = ", ";
    }
  return text;
}
