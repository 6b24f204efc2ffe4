//===- MemoryReport.cpp - the memory map as text and JSON -------------------------------------===//

#include "kiln/Report/Report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace kiln::analysis;

namespace kiln::report {
namespace {

using nlohmann::ordered_json;

/// Lines between which a life reaches.
std::pair<unsigned, unsigned> linesOf(const Kernel &kernel, const Lifetime &life) {
  return {kernel.line(kernel.instructions[life.begin].location),
          kernel.line(kernel.instructions[life.end - 1].location)};
}

std::string lines(const Kernel &kernel, const Lifetime &life) {
  const auto [first, last] = linesOf(kernel, life);
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string shapeText(const KernelTensor &tensor) {
  return fmt::format("{} {}", fmt::join(tensor.shape, "x"), isa::name(tensor.dtype));
}

std::string groupText(const Kernel &kernel, const LiveGroup &group) {
  const KernelTensor &tensor = kernel.tensors[group.tensor];
  const std::string name = fmt::format("'{}'", tensor.name);
  return fmt::format("{}{}, {}", name,
                     group.count > 1 ? fmt::format(" and {} more", group.count - 1) : "",
                     lineText(kernel, tensor.location));
}

void addTiles(const Kernel &kernel, const MemoryMap &map, std::string &text) {
  text += fmt::format("  {:>17}  {:>7}  {:>10}  {:>9}  {:>4}  {}\n", "bytes", "size", "partitions",
                      "live", "line", "tile");
  for (const MappedTile &tile : map.tiles) {
    const KernelTensor &tensor = kernel.tensors[tile.tensor];
    const std::string range =
        tile.byte ? fmt::format("{}-{}", *tile.byte, *tile.byte + uint64_t(tile.bytes) - 1) : "-";
    text += fmt::format("  {:>17}  {:>7}  {:>10}  {:>9}  {:>4}  '{}' {}{}\n", range, tile.bytes,
                        fmt::format("{}-{}", tile.partition, tile.partition + tile.partitions - 1),
                        lines(kernel, tile.life), kernel.line(tensor.location), tensor.name,
                        shapeText(tensor), tensor.address ? ", placed by hand" : "");
  }
}

void addPartitions(const MemoryMap &map, std::string &text) {
  for (const PartitionLoad &load : map.partitions)
    text += fmt::format("  partitions {}-{} hold {} bytes, {:.1f} %\n", load.first, load.last,
                        load.liveBytes, 100.0 * double(load.liveBytes) / double(map.limitBytes));
}

/// "line 29, called at line 133": a helper declares for many callers.
std::string placeText(const Kernel &kernel, uint32_t location) {
  std::string text;
  for (const FileLine &frame : kernel.chain(location))
    text += fmt::format("{} {}", text.empty() ? "line" : ", called at line", frame.line);
  return text.empty() ? "an unknown line" : text;
}

void addRotations(const Kernel &kernel, const MemoryMap &map, std::string &text) {
  for (const RotationDepth &depth : map.rotations)
    if (depth.tensors > 1)
      text += fmt::format("  {}: {} tiles rotate over {} address{}\n",
                          placeText(kernel, depth.location), depth.tensors, depth.addresses,
                          depth.addresses == 1 ? "" : "es");
}

ordered_json tileJson(const Kernel &kernel, const MappedTile &tile) {
  const KernelTensor &tensor = kernel.tensors[tile.tensor];
  const auto [first, last] = linesOf(kernel, tile.life);
  ordered_json json;
  json["name"] = tensor.name;
  json["shape"] = tensor.shape;
  json["dtype"] = isa::name(tensor.dtype);
  json["line"] = kernel.line(tensor.location);
  json["byte"] = tile.byte ? ordered_json(*tile.byte) : ordered_json(nullptr);
  json["bytes"] = tile.bytes;
  json["partition"] = tile.partition;
  json["partitions"] = tile.partitions;
  json["placed_by_hand"] = tensor.address.has_value();
  json["live_from_line"] = first;
  json["live_to_line"] = last;
  return json;
}

ordered_json mapJson(const Kernel &kernel, const MemoryMap &map) {
  ordered_json json;
  json["memory"] = isa::name(map.memory);
  json["limit_bytes"] = map.limitBytes;
  json["used_bytes"] = map.endBytes ? ordered_json(*map.endBytes) : ordered_json(nullptr);
  json["live_bytes"] = map.liveBytes;
  json["peak_line"] =
      map.tiles.empty() ? 0 : kernel.line(kernel.instructions[map.position].location);
  json["peak_instruction"] = map.position;
  json["tiles"] = ordered_json::array();
  for (const MappedTile &tile : map.tiles)
    json["tiles"].push_back(tileJson(kernel, tile));
  json["partitions"] = ordered_json::array();
  for (const PartitionLoad &load : map.partitions)
    json["partitions"].push_back(
        {{"first", load.first}, {"last", load.last}, {"live_bytes", load.liveBytes}});
  json["largest_saving"] = nullptr;
  if (const LiveGroup &group = map.saving.group; group.count > 0)
    json["largest_saving"] = {{"name", kernel.tensors[group.tensor].name},
                              {"line", kernel.line(kernel.tensors[group.tensor].location)},
                              {"tiles", group.count},
                              {"bytes", map.saving.bytes}};
  json["rotations"] = ordered_json::array();
  for (const RotationDepth &depth : map.rotations)
    json["rotations"].push_back({{"line", kernel.line(depth.location)},
                                 {"place", placeText(kernel, depth.location)},
                                 {"tiles", depth.tensors},
                                 {"addresses", depth.addresses}});
  return json;
}

} // namespace

std::string memoryText(const Kernel &kernel, std::string_view name,
                       const std::vector<MemoryMap> &maps) {
  std::string text = fmt::format("memory of '{}' on trn2, bytes of one partition\n", name);
  for (const MemoryMap &map : maps) {
    text += fmt::format("{}: ", isa::name(map.memory));
    if (map.tiles.empty()) {
      text += "not used\n";
      continue;
    }
    text += map.endBytes ? fmt::format("placed in {} of {}", *map.endBytes, map.limitBytes)
                         : fmt::format("not placed, {} there", map.limitBytes);
    text += fmt::format("; live at once {} at line {}, instruction {} of {}\n", map.liveBytes,
                        kernel.line(kernel.instructions[map.position].location), map.position,
                        kernel.instructions.size());
    addTiles(kernel, map, text);
    addPartitions(map, text);
    if (map.saving.bytes > 0)
      text += fmt::format("  the largest saving is {} bytes: {}\n", map.saving.bytes,
                          groupText(kernel, map.saving.group));
    addRotations(kernel, map, text);
  }
  return text;
}

std::string memoryJson(const Kernel &kernel, std::string_view name,
                       const std::vector<MemoryMap> &maps) {
  ordered_json json;
  json["version"] = 1;
  json["kernel"] = name;
  json["target"] = "trn2";
  json["memories"] = ordered_json::array();
  for (const MemoryMap &map : maps)
    json["memories"].push_back(mapJson(kernel, map));
  return json.dump(2) + "\n";
}

} // namespace kiln::report
