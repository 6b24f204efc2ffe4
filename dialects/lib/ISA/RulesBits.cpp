//===- RulesBits.cpp - rules of what moves, selects and counts --------------------------------===//
//
// Shuffles, predicated copies, position tests, statistics and DMA transposes.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

#include <array>

namespace kiln::isa::rules {
namespace {

enum : unsigned { Dst = 0, Src = 1 };

} // namespace

void movesBits(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (!view.access(Src).present())
    return;
  DType dst = view.access(Dst).dtype, src = view.access(Src).dtype;
  if (dst != src)
    report(sink, id, Dst,
           text(view.desc.mnemonic, " moves bits: ", view.describe(Dst), " is ", name(dst), ", ",
                view.describe(Src), " is ", name(src)),
           "cast in a separate copy");
}

void statisticsTriples(const InstView &view, std::string_view id, const RuleSink &sink) {
  int64_t elements = view.access(Src).freeElements();
  if (elements % 3 != 0)
    report(sink, id, Src,
           text(view.describe(Src), " has ", counted(elements, "element"),
                " per partition, bn_aggr takes triples of count, mean and squared deviations"),
           "bn_stats writes two triples: take 6 elements of each");
}

//---- nc_stream_shuffle --------------------------------------------------===//

void shuffleStart(const InstView &view, std::string_view id, const RuleSink &sink) {
  constexpr uint32_t group = machine.partitionQuadrant;
  uint32_t larger = std::max(view.access(Dst).partitionCount, view.access(Src).partitionCount);
  uint32_t rounded = (larger + group - 1) / group * group;
  for (unsigned i : {Dst, Src}) {
    int64_t start = physicalStart(view, i);
    // What breaks the rule of its own partitions was reported as such.
    if (!isLegalStartPartition(uint32_t(start), view.access(i).partitionCount) ||
        isLegalStartPartition(uint32_t(start), rounded))
      continue;
    report(sink, id, int(i),
           text(view.describe(i), " starts at partition ", start, ", and the larger operand of ",
                view.desc.mnemonic, " has ", counted(larger, "partition")),
           startRuleFor(rounded));
  }
}

void shuffleRows(const InstView &view, std::string_view id, const RuleSink &sink) {
  constexpr uint32_t group = machine.partitionQuadrant, perWord = sizeof(uint32_t);
  uint32_t rows = view.access(Dst).partitionCount, sources = view.access(Src).partitionCount;
  for (uint32_t i = 0; i < std::min(rows, group); ++i) {
    uint32_t entry =
        uint32_t(fieldOf(view, "shuffle_mask", i / perWord)) >> 8 * (i % perWord) & 0xFF;
    if (entry == uint32_t(machine.shuffleKeepRow))
      continue;
    if (entry >= group)
      return report(sink, id, -1,
                    text("shuffle_mask[", i, "] is ", entry, "; rows of a group are 0 to ",
                         group - 1, ", and ", machine.shuffleKeepRow, " keeps the row of dst"),
                    "use a row of the group");
    // The last group with a row i names the highest row.
    uint32_t source = (rows - 1 - i) / group * group + entry;
    if (source >= sources)
      return report(sink, id, Src,
                    text("shuffle_mask[", i, "] is ", entry, ", so ", view.describe(Dst),
                         " needs row ", source, " of ", view.describe(Src), ", which has ",
                         counted(sources, "partition")),
                    text("name a row below ", sources % group ? sources % group : group,
                         ", or use ", machine.shuffleKeepRow, " to keep the row of dst"));
  }
}

//---- dma_transpose ------------------------------------------------------===//

void dmaTransposeShape(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &dst = view.access(Dst), &src = view.access(Src);
  int64_t rows = src.partitionCount, columns = src.rank ? src.num[src.rank - 1] : 1;
  int64_t blocks = freeElementsSaturated(src) / columns;
  if (dst.partitionCount == columns && freeElementsSaturated(dst) == mulSaturated(blocks, rows))
    return;
  const std::array dims = {columns, blocks, rows};
  const std::string wanted = blocks == 1 ? tupleText(std::array{columns, rows}) : tupleText(dims);
  report(
      sink, id, Dst,
      text(view.describe(Dst), " must be the permuted src shape ", wanted, ", got ", shapeOf(dst)),
      text(view.describe(Src), " is ", shapeOf(src),
           "; the last dim becomes the partitions, the first the last"));
}

void dmaTransposeMode(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (DgeMode(fieldOf(view, "dge_mode")) == DgeMode::Swdge)
    report(sink, id, -1, "dma_transpose takes dge_mode swdge for run-time indices only",
           "leave dge_mode unset, or use dge_mode::hwdge or dge_mode::none");
}

void dmaTransposeHardware(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (DgeMode(fieldOf(view, "dge_mode")) != DgeMode::Hwdge)
    return;
  constexpr int64_t lanes = machine.dmaTransposeRows, widest = machine.dmaTransposeMaxColumns;
  const Access &src = view.access(Src);
  int64_t rows = src.partitionCount, columns = src.rank ? src.num[src.rank - 1] : 1;
  const std::string help = "leave dge_mode unset, or copy and use nc_transpose";
  if (bytesOf(src.dtype) != 2)
    report(sink, id, Src,
           text("hardware DGE transposes elements of 2 bytes, ", view.describe(Src), " is ",
                name(src.dtype)),
           help);
  if (columns > widest)
    report(sink, id, Src,
           text("hardware DGE transposes at most ", widest, " columns, the last dim of ",
                view.describe(Src), " has ", columns),
           help);
  if (src.rank <= 1) {
    if (rows != lanes)
      report(sink, id, Src,
             text("hardware DGE transposes a matrix of ", lanes, " rows, ", view.describe(Src),
                  " has ", rows),
             help);
    return;
  }
  int64_t inner = src.num[src.rank - 2];
  if (lanes % rows != 0 || mulSaturated(rows, inner) % lanes != 0)
    report(sink, id, Src,
           text("hardware DGE transposes a first dim that divides ", lanes,
                " and with the last but one is a multiple of it; those of ", view.describe(Src),
                " are ", rows, " and ", inner),
           help);
}

} // namespace kiln::isa::rules
