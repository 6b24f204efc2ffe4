//===- SyncReport.cpp - synchronisation as text and JSON --------------------------------------===//

#include "kiln/Report/Report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace kiln::analysis;

namespace kiln::report {
namespace {

using nlohmann::ordered_json;

/// "#17 nc_matmul (line 12)".
std::string instruction(const Kernel &kernel, uint32_t i) {
  const KernelInstruction &entry = kernel.instructions[i];
  return fmt::format("#{} {} ({})", i, entry.inst.desc().mnemonic,
                     lineText(kernel, entry.location));
}

std::string_view needText(SyncNeed need) {
  switch (need) {
  case SyncNeed::Bytes:
    return "same bytes";
  case SyncNeed::Takeover:
    return "its tile takes that one's place";
  case SyncNeed::Ring:
    return "its ring";
  }
  return "";
}

std::string_view needName(SyncNeed need) {
  switch (need) {
  case SyncNeed::Bytes:
    return "bytes";
  case SyncNeed::Takeover:
    return "takeover";
  case SyncNeed::Ring:
    return "ring";
  }
  return "";
}

std::string_view meansName(SyncMeans means) {
  switch (means) {
  case SyncMeans::Wait:
    return "wait";
  case SyncMeans::ProgramOrder:
    return "program-order";
  case SyncMeans::Known:
    return "known";
  }
  return "";
}

std::string meansText(const Kernel &kernel, const SyncDecision &decision) {
  switch (decision.means) {
  case SyncMeans::Wait:
    return "waits";
  case SyncMeans::ProgramOrder:
    return "no wait: the same engine runs it before";
  case SyncMeans::Known:
    return fmt::format(
        "no wait: known since {} waited for {}",
        decision.learnedAt == decision.instruction ? "it" : instruction(kernel, decision.learnedAt),
        instruction(kernel, decision.through));
  }
  return "";
}

} // namespace

std::string syncText(const Kernel &kernel, std::string_view name, const SyncReport &report) {
  std::string text = fmt::format(
      "synchronisation of '{}': {} instructions\n"
      "  needs              {}: {} waits, {} kept by an engine's own order, {} known through an "
      "earlier wait\n"
      "  wait instructions  {}: an instruction carries one wait, these carry the second\n"
      "  updates            {} on {} of {} semaphores\n"
      "  longest chain      {} instructions; {} if every tile had memory of its own\n",
      name, report.instructions, report.decisions.size(), report.byWait, report.byProgramOrder,
      report.byKnown, report.waitInstructions, report.updates, report.semaphores,
      isa::machine.numSemaphores, report.chain, report.chainUnlimited);
  for (const SyncDecision &decision : report.decisions)
    text += fmt::format("{} needs {}: {}; {}\n", instruction(kernel, decision.instruction),
                        instruction(kernel, decision.source), needText(decision.need),
                        meansText(kernel, decision));
  return text;
}

std::string syncJson(const Kernel &kernel, std::string_view name, const SyncReport &report) {
  ordered_json json;
  json["version"] = 1;
  json["kernel"] = name;
  json["target"] = "trn2";
  json["instructions"] = report.instructions;
  json["waits"] = report.waits;
  json["wait_instructions"] = report.waitInstructions;
  json["updates"] = report.updates;
  json["semaphores"] = report.semaphores;
  json["longest_chain"] = report.chain;
  json["longest_chain_unlimited_memory"] = report.chainUnlimited;
  json["needs"] = ordered_json::array();
  for (const SyncDecision &decision : report.decisions) {
    ordered_json need;
    need["instruction"] = decision.instruction;
    need["line"] = kernel.line(kernel.instructions[decision.instruction].location);
    need["source"] = decision.source;
    need["source_line"] = kernel.line(kernel.instructions[decision.source].location);
    need["why"] = needName(decision.need);
    need["means"] = meansName(decision.means);
    if (decision.means == SyncMeans::Known) {
      need["learned_at"] = decision.learnedAt;
      need["through"] = decision.through;
    }
    json["needs"].push_back(std::move(need));
  }
  return json.dump(2) + "\n";
}

} // namespace kiln::report
