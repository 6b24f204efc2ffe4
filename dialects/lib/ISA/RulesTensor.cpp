//===- RulesTensor.cpp - rules of a tensor declaration and of an address the author chose -----===//

#include "RuleHelpers.h"

#include <algorithm>

namespace kiln::isa {
namespace {

using namespace rules;

/// A declaration while it is checked.
struct Declaration {
  const TensorView &tensor;
  const RuleSink &sink;

  std::string named() const {
    std::string_view kind = isOnChip(tensor.memory) ? "tile" : "tensor";
    return tensor.name.empty() ? text("this ", kind) : text(kind, " '", tensor.name, "'");
  }
  std::string shape() const { return tupleText(tensor.shape); }
  int64_t partitions() const { return tensor.shape[0]; }
  /// Bytes of one partition, or of the whole tensor in HBM.
  int64_t bytes() const { return mulSaturated(tensor.freeElements(), bytesOf(tensor.dtype)); }
  void fault(std::string_view id, std::string message, std::string help = {}) const {
    report(sink, id, -1, std::move(message), std::move(help));
  }
};

/// "(128, 2, 512)": how a dim 0 above the limit can live in a free dim; empty
/// when it does not divide.
std::string foldedShape(const TensorView &tensor) {
  int64_t n = tensor.shape[0], limit = machine.numPartitions;
  if (n % limit != 0 || tensor.shape.size() >= size_t(machine.maxRank))
    return {};
  std::string out = text("(", limit, ", ", n / limit);
  for (size_t i = 1; i < tensor.shape.size(); ++i)
    out += text(", ", tensor.shape[i]);
  return text(" or move ", n / limit, " into a free dim: ", out, ")");
}

/// Rank and extents. False when nothing else can be said of the tensor.
bool checkShape(const Declaration &d) {
  size_t rank = d.tensor.shape.size();
  bool onChip = isOnChip(d.tensor.memory);
  if (rank == 0 || (onChip && rank < 2)) {
    if (!onChip)
      d.fault("V-02", text(d.named(), " has no dims, a tensor has at least one"),
              "give it the shape (1,)");
    else
      d.fault("P-02",
              text(d.named(), " has shape ", d.shape(),
                   ", on-chip tensors have a partition dim and at least one "
                   "free dim"),
              rank ? text("write (", d.tensor.shape[0], ", 1) for a column or (1, ",
                          d.tensor.shape[0], ") for a row")
                   : std::string("write (1, 1) for one element"));
    return false;
  }
  if (rank > size_t(machine.maxRank)) {
    d.fault(
        "S-06",
        text(d.named(), " has rank ", rank, ", a tensor has at most ", machine.maxRank, " dims"),
        "merge two dims");
    return false;
  }
  for (size_t i = 0; i < rank; ++i)
    if (d.tensor.shape[i] < 1) {
      d.fault("V-02", text(d.named(), " is empty: dim ", i, " has extent ", d.tensor.shape[i]),
              "every extent is at least 1");
      return false;
    }
  return true;
}

void checkSize(const Declaration &d) {
  constexpr int64_t limit = machine.numPartitions;
  if (!isOnChip(d.tensor.memory)) {
    if (d.bytes() == INT64_MAX)
      d.fault("M-02", text(d.shape(), " ", name(d.tensor.dtype), " needs more than 2^63 bytes"));
    return;
  }
  if (d.partitions() > limit)
    d.fault("P-01", text(d.named(), " needs ", d.partitions(), " partitions, the core has ", limit),
            text("split dim 0 into ", (d.partitions() - 1) / limit + 1, " tiles of at most ", limit,
                 foldedShape(d.tensor)));
  bool psum = d.tensor.memory == Memory::Psum;
  int64_t usable = psum ? machine.psumBytesPerPartition : machine.sbufUsableBytesPerPartition;
  if (d.bytes() > usable)
    d.fault("M-02",
            text(d.named(), " ", d.shape(), " ", name(d.tensor.dtype), " needs ", d.bytes(),
                 " bytes per partition, ", usable, psum ? " are in PSUM" : " are usable"),
            text("split the free dims into ", (d.bytes() - 1) / usable + 1, " tiles or more"));
}

void checkStart(const Declaration &d, uint32_t partition) {
  int64_t count = d.partitions();
  if (count > machine.numPartitions || isLegalStartPartition(partition, uint32_t(count)))
    return; // Too many partitions have been reported.
  if (int64_t last = int64_t(partition) + count - 1; last >= machine.numPartitions)
    return d.fault("M-07",
                   text(d.named(), " covers partitions ", partition, " to ", last,
                        ", the core has ", machine.numPartitions, " (0 to ",
                        machine.numPartitions - 1, ")"),
                   "place it at partition 0");
  d.fault("M-07",
          text(startRuleFor(uint32_t(count)), ", ", d.named(), " of ", counted(count, "partition"),
               " starts at ", partition),
          "place it at partition 0");
}

void checkPsumAddress(const Declaration &d, uint64_t byte) {
  constexpr uint64_t bank = machine.psumMinAlign, size = machine.psumBytesPerPartition;
  if (byte % bank != 0)
    d.fault("M-06",
            text("free offset ", byte, " of ", d.named(), " is inside bank ", byte / bank,
                 ", banks start at multiples of ", bank),
            text("place it at ", std::min(byte / bank * bank, size - bank)));
  if (uint64_t(d.bytes()) <= size && byte > size - uint64_t(d.bytes()))
    d.fault("M-03",
            text("[", byte, ", ",
                 addSaturated(int64_t(std::min<uint64_t>(byte, INT64_MAX)), d.bytes()), ") of ",
                 d.named(), " exceeds the ", size, " bytes of a PSUM partition"),
            text("place it at ", (size - uint64_t(d.bytes())) / bank * bank, " or lower"));
}

void checkSbufAddress(const Declaration &d, uint64_t byte) {
  constexpr uint64_t size = machine.sbufUsableBytesPerPartition;
  uint64_t align = std::max<uint64_t>(machine.sbufMinAlign, bytesOf(d.tensor.dtype));
  if (byte % align != 0)
    d.fault("M-03", text("byte ", byte, " of ", d.named(), " is not a multiple of ", align),
            text("place it at ", byte / align * align));
  if (uint64_t(d.bytes()) <= size && byte > size - uint64_t(d.bytes()))
    d.fault("M-03",
            text("[", byte, ", ",
                 addSaturated(int64_t(std::min<uint64_t>(byte, INT64_MAX)), d.bytes()), ") of ",
                 d.named(), " exceeds the ", size, " usable bytes"),
            text("place it at ", (size - uint64_t(d.bytes())) / align * align, " or lower"));
}

} // namespace

bool checkTensor(const TensorView &tensor, const std::optional<TensorAddress> &address,
                 const RuleSink &sink) {
  bool clean = true;
  const RuleSink counting = [&clean, &sink](Violation v) {
    clean = false;
    sink(std::move(v));
  };
  Declaration d{tensor, counting};
  if (!checkShape(d))
    return false;
  checkSize(d);
  if (!isOnChip(tensor.memory)) {
    if (address)
      d.fault("M-03", text(d.named(), " is in HBM, only on-chip tiles take an address"),
              "leave the address out");
    return clean;
  }
  checkStart(d, address ? address->partition : tensor.partitionBase);
  if (!address)
    return clean;
  if (tensor.memory == Memory::Psum)
    checkPsumAddress(d, address->byte);
  else
    checkSbufAddress(d, address->byte);
  return clean;
}

} // namespace kiln::isa
