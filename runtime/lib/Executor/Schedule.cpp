//===- Schedule.cpp - schedules and their spelling --------------------------------------------===//

#include "kilnrt/Schedule.h"

#include "kilnrt/Program.h"

#include <array>
#include <charconv>
#include <optional>

using namespace kilnrt;
using isa::machine;

namespace {

constexpr std::string_view kProgram = "program", kRoundRobin = "round-robin", kRandom = "random:",
                           kAdversarial = "adversarial:", kReverse = "reverse-dma",
                           kStarve = "starve-", kRing = "ring", kDelay = "delay-dma";

} // namespace

/// The whole of `text` as a number.
static std::optional<uint64_t> numberOf(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static Diagnostic noSchedule(std::string_view text, std::string help) {
  return makeError(Fault::Usage, "there is no schedule '" + std::string(text) + "'",
                   std::move(help));
}

/// "0 to 15".
static std::string rangeText(int64_t count) { return "0 to " + std::to_string(count - 1); }

static Diagnostic noAdversary(std::string_view text) {
  std::string engines;
  for (const isa::EnumCase &engine : isa::engineCases())
    if (isa::Engine(engine.value) != isa::Engine::Unknown)
      engines += (engines.empty() ? "" : ", ") + std::string(engine.name);
  return noSchedule(text, "after adversarial: comes starve-ENGINE with one of " + engines +
                              "; starve-ringN with N from " + rangeText(machine.dmaRings) +
                              "; reverse-dma; or delay-dmaN with N from " +
                              rangeText(machine.dmaEngines));
}

/// `name` is what follows "adversarial:" in `text`.
static Expected<Schedule> parseAdversary(std::string_view name, std::string_view text) {
  if (name == kReverse)
    return Schedule(Schedule::ReverseDma);
  if (name.starts_with(kDelay)) {
    const auto number = numberOf(name.substr(kDelay.size()));
    if (number && *number < uint64_t(machine.dmaEngines))
      return Schedule(Schedule::DelayDma, *number);
    return noAdversary(text);
  }
  if (!name.starts_with(kStarve))
    return noAdversary(text);
  name.remove_prefix(kStarve.size());
  if (name.starts_with(kRing)) {
    const auto number = numberOf(name.substr(kRing.size()));
    if (number && *number < uint64_t(machine.dmaRings))
      return Schedule(Schedule::StarveRing, *number);
    return noAdversary(text);
  }
  const std::optional<uint32_t> engine = isa::valueOf(isa::engineCases(), name);
  if (!engine || isa::Engine(*engine) == isa::Engine::Unknown)
    return noAdversary(text);
  return Schedule(Schedule::StarveEngine, *engine);
}

Expected<Schedule> kilnrt::parseSchedule(std::string_view text) {
  if (text == kProgram)
    return Schedule(Schedule::Program);
  if (text == kRoundRobin)
    return Schedule(Schedule::RoundRobin);
  if (text.starts_with(kRandom)) {
    if (const auto seed = numberOf(text.substr(kRandom.size())))
      return Schedule(Schedule::Random, *seed);
    return noSchedule(text, "a seed is a whole number from 0 to " + std::to_string(UINT64_MAX) +
                                ", as in random:7");
  }
  if (text.starts_with(kAdversarial))
    return parseAdversary(text.substr(kAdversarial.size()), text);
  return noSchedule(text, "schedules are program, round-robin, random:SEED as in random:7, and "
                          "adversarial:NAME as in adversarial:reverse-dma");
}

std::string kilnrt::scheduleText(const Schedule &schedule) {
  const std::string number = std::to_string(schedule.number);
  std::string text;
  switch (schedule.kind) {
  case Schedule::Program:
    return text.append(kProgram);
  case Schedule::RoundRobin:
    return text.append(kRoundRobin);
  case Schedule::Random:
    return text.append(kRandom).append(number);
  case Schedule::StarveEngine:
    return text.append(kAdversarial)
        .append(kStarve)
        .append(isa::name(isa::Engine(schedule.number)));
  case Schedule::StarveRing:
    return text.append(kAdversarial).append(kStarve).append(kRing).append(number);
  case Schedule::ReverseDma:
    return text.append(kAdversarial).append(kReverse);
  case Schedule::DelayDma:
    return text.append(kAdversarial).append(kDelay).append(number);
  }
  return text;
}

std::vector<Schedule> kilnrt::adversarialSchedules(const Program &program) {
  std::vector<Schedule> schedules;
  if (!program.flags.synchronised)
    return schedules;
  std::array<bool, size_t(machine.dmaRings)> isUsed{};
  bool hasTransfers = false;
  for (const Stream &stream : program.streams) {
    const Expected<std::vector<Record>> records = decodeStream(stream);
    if (!records) // not a program `verify` accepts
      continue;
    bool hasSteps = false; // edges of loops are passed by all streams together
    for (const Record &record : *records) {
      const isa::Opcode opcode = record.inst.opcode;
      hasSteps |= opcode != isa::Opcode::LoopBegin && opcode != isa::Opcode::LoopEnd;
      if (!isa::findInstruction(opcode)->isTransfer)
        continue;
      isUsed[size_t(record.inst.word("ring"))] = true;
      hasTransfers = true;
    }
    if (hasSteps)
      schedules.push_back({Schedule::StarveEngine, uint64_t(stream.engine)});
  }
  for (size_t ring = 0; ring < isUsed.size(); ++ring)
    if (isUsed[ring])
      schedules.push_back({Schedule::StarveRing, ring});
  if (!hasTransfers)
    return schedules;
  schedules.push_back(Schedule::ReverseDma);
  for (uint64_t engine = 0; engine < uint64_t(machine.dmaEngines); ++engine)
    schedules.push_back({Schedule::DelayDma, engine});
  return schedules;
}
