//===- RulesOperands.cpp - what operand and field descriptors state ---------------------------===//
//
// Presence, memory, dtype, access pattern, bounds, start partition and field
// values. Which rule a wrong memory breaks follows from the instruction: a
// transfer has no path to PSUM, the Tensor Engine reads SBUF only, and so on.
// Relations between operands are in the other Rules files.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

#include <cmath>
#include <limits>

namespace kiln::isa::rules {
namespace {

/// One operand of one instruction, while it is checked.
struct Operand {
  const InstView &view;
  const RuleSink &sink;
  unsigned index;
  const OperandDesc &desc;
  const Access &access;
  const TensorView &tensor;
  bool transfer; ///< no access port of an engine limits it

  bool onChip() const { return isOnChip(tensor.memory); }
  std::string name() const { return view.describe(index); }
  void fault(std::string_view id, std::string message, std::string help = {}) const {
    report(sink, id, int(index), std::move(message), std::move(help));
  }
};

//---- memory
//--------------------------------------------------------------------------------------===//

void reportTransferMemory(const Operand &op) {
  if (!op.onChip())
    op.fault("B-04", text(op.view.desc.mnemonic, " writes SBUF, ", op.name(), " is an HBM tensor"),
             "write to an SBUF tile, then dma_copy that to HBM");
  else if (op.desc.isOutput)
    op.fault("B-04", text("DMA has no path to PSUM, ", op.name(), " is in PSUM"),
             "dma_copy to an SBUF tile, then tensor_copy that to PSUM");
  else
    op.fault("B-04", text("DMA has no path from PSUM, ", op.name(), " is in PSUM"),
             text("tensor_copy ", quoted(op.view, op.index), " to an SBUF tile, then store that"));
}

void reportTensorEngineMemory(const Operand &op) {
  std::string_view memory = title(op.tensor.memory);
  if (op.desc.isOutput)
    op.fault(
        "B-01", text("the Tensor Engine writes PSUM only, ", op.name(), " is in ", memory),
        text("allocate ", quoted(op.view, op.index), " with nl::psum and copy it out afterwards"));
  else
    op.fault("B-02", text(op.name(), " is in ", memory, "; ", op.view.desc.mnemonic, " reads SBUF"),
             op.onChip() ? "insert nisa::tensor_copy to an SBUF tile"
                         : "dma_copy it to an SBUF tile first");
}

void checkMemory(const Operand &op) {
  if (op.desc.allows(op.tensor.memory))
    return;
  const InstDesc &inst = op.view.desc;
  if (op.transfer)
    return reportTransferMemory(op);
  if (inst.engines.size() == 1 && inst.engines.front() == Engine::Tensor)
    return reportTensorEngineMemory(op);
  if (!op.onChip() && op.desc.isOutput)
    return op.fault("B-06",
                    text(inst.mnemonic, " writes on-chip tiles, ", op.name(), " is an HBM tensor"),
                    "write to an SBUF tile, then dma_copy that to HBM");
  if (!op.onChip())
    return op.fault("B-06",
                    text(inst.mnemonic, " needs an on-chip tile, ", op.name(), " is an HBM tensor"),
                    "load it first: dma_copy it to an SBUF tile");
  op.fault("B-05",
           text(inst.mnemonic, " runs on ", title(inst.engines.front()), ", which cannot access ",
                title(op.tensor.memory), "; ", op.name(), " is there"),
           op.desc.isOutput ? "write to an SBUF tile, then tensor_copy it"
                            : "tensor_copy it to an SBUF tile first");
}

//---- dtype
//---------------------------------------------------------------------------------------===//

std::string allowedDtypes(const OperandDesc &desc) {
  std::vector<std::string_view> names;
  for (const EnumCase &c : dtypeCases())
    if (desc.allows(DType(c.value)))
      names.push_back(c.name);
  return joinOr(names);
}

/// False when the dtype is no dtype at all, so that sizes cannot be computed.
bool checkDtype(const Operand &op) {
  DType dtype = op.access.dtype;
  if (size_t(dtype) >= dtypeCases().size()) {
    op.fault(kMalformed, text(op.name(), " has dtype number ", unsigned(dtype), ", the largest is ",
                              dtypeCases().size() - 1));
    return false;
  }
  if (op.desc.allows(dtype))
    return true;
  std::string_view found = name(dtype);
  if (dtype == DType::Float8E4M3FN) {
    op.fault("D-05", text(op.name(), " is ", found, ", which no engine of trn2 computes with"),
             text("convert the data to ", name(DType::Float8E4M3),
                  " on the host, or view the bits as it "
                  "(magnitudes from 256 on become infinities and NaNs)"));
    return true;
  }
  bool tensorEngine = op.view.desc.runsOn(Engine::Tensor) && !op.view.desc.isSequencer;
  if (op.desc.isColumn)
    op.fault("D-09",
             text("a ", op.desc.name, " tile must be ", allowedDtypes(op.desc), ", ", op.name(),
                  " is ", found),
             text("cast it to ", allowedDtypes(op.desc), " with tensor_copy"));
  else if (op.desc.name == "predicate")
    op.fault("D-11",
             text(op.view.desc.mnemonic, " needs a ", allowedDtypes(op.desc), " predicate, ",
                  op.name(), " is ", found),
             "produce it with a comparison into uint8");
  else if (tensorEngine && op.desc.isOutput)
    op.fault("D-02", text("PSUM accumulates float32 on trn2, ", op.name(), " is ", found),
             "convert in the copy that evacuates PSUM");
  else if (tensorEngine)
    op.fault("D-06", text("the Tensor Engine has no integer path, ", op.name(), " is ", found),
             "convert to bfloat16 (whole numbers exact up to 2^8) or float32 "
             "(up to 2^24)");
  else
    op.fault("D-09",
             text(op.name(), " is ", found, ", ", op.view.desc.mnemonic, " takes ",
                  allowedDtypes(op.desc)),
             "cast it with tensor_copy");
  return true;
}

//---- access pattern
//------------------------------------------------------------------------------===//

/// Rank and counts: what must hold before anything is multiplied. False when it
/// does not.
bool checkCounts(const Operand &op) {
  const Access &a = op.access;
  if (a.rank > kMaxFreeDims) {
    op.fault("S-06",
             text(op.name(), " needs ", unsigned(a.rank), " free strides, an instruction holds ",
                  kMaxFreeDims),
             "make two dims contiguous, or copy the view once");
    return false;
  }
  if (op.onChip() && a.rank == 0) {
    op.fault("P-02",
             text(op.name(), " has no free dim, an on-chip access has a "
                             "partition dim and at least one free dim"),
             "give it one free dim of extent 1");
    return false;
  }
  if (a.partitionCount == 0) {
    op.fault("V-02", text(op.name(), " is empty: dim 0 has extent 0"),
             "skip the instruction when nothing is left");
    return false;
  }
  for (unsigned i = 0; i < a.rank; ++i)
    if (a.num[i] < 1) {
      op.fault("V-02", text(op.name(), " is empty: dim ", i + 1, " has extent ", a.num[i]),
               "skip the instruction when nothing is left");
      return false;
    }
  if (mulSaturated(freeElementsSaturated(a), a.partitionCount) == INT64_MAX) {
    op.fault("S-07", text(op.name(), " counts more than 2^63 elements"));
    return false;
  }
  return true;
}

/// Limits of an engine's access pattern (not of a DMA ring's).
void checkPatternLimits(const Operand &op) {
  const Access &a = op.access;
  for (unsigned i = 0; i < a.rank; ++i) {
    if (a.num[i] > machine.maxFreeCount)
      op.fault("S-07",
               text(op.name(), " has extent ", a.num[i], " in dim ", i + 1,
                    ", an access pattern counts to ", machine.maxFreeCount),
               "split the dim");
    // The step of a single element is never taken.
    bool tooFar = a.step[i] > machine.maxFreeStep || a.step[i] < -machine.maxFreeStep;
    if (tooFar && a.num[i] > 1)
      op.fault("S-07",
               text(op.name(), " has stride ", a.step[i], " in dim ", i + 1,
                    ", an access pattern holds strides up to ", machine.maxFreeStep,
                    " (signed 16 bit)"),
               "copy one slice at a time");
  }
  int64_t limit = op.tensor.memory == Memory::Psum ? machine.maxPsumElementsPerInstruction
                                                   : machine.maxSbufElementsPerInstruction;
  if (int64_t elements = a.freeElements(); elements > limit)
    op.fault("S-07",
             text(op.name(), " has ", elements,
                  " elements per partition, one instruction takes at most ", limit, " in ",
                  title(op.tensor.memory)),
             text("split it into ", (elements + limit - 1) / limit, " instructions"));
}

void checkColumn(const Operand &op) {
  if (!op.desc.isColumn || op.access.freeElements() == 1)
    return;
  // The column's height is that of the tile it goes with.
  int64_t partitions = op.access.partitionCount;
  for (unsigned i = 0; i < op.view.desc.operands.size(); ++i)
    if (const OperandDesc &other = op.view.desc.operands[i];
        !other.isColumn && !other.isOutput && op.view.access(i).present()) {
      partitions = op.view.access(i).partitionCount;
      break;
    }
  op.fault("D-10",
           text(op.name(), " is ", shapeOf(op.access), ", it must be (", partitions,
                ", 1): one value per partition"),
           text("take one column of it, or copy it to a (", partitions, ", 1) tile"));
}

/// Sizes the record states: "8 to 16384 elements in at most 2 free dims".
void checkSizes(const Operand &op) {
  const OperandDesc &desc = op.desc;
  std::string_view mnemonic = op.view.desc.mnemonic;
  if (desc.maxDims > 0 && op.access.rank > desc.maxDims)
    op.fault("S-06",
             text(op.name(), " needs ", unsigned(op.access.rank), " free strides, ", mnemonic,
                  " takes ", desc.maxDims),
             "make two dims contiguous, or copy the view once");
  int64_t elements = op.access.freeElements();
  if (desc.maxElements == 0 || (elements >= desc.minElements && elements <= desc.maxElements))
    return;
  bool exact = desc.minElements == desc.maxElements;
  op.fault("S-08",
           text(op.name(), " has ", counted(elements, "element"), " per partition, ", mnemonic,
                desc.isOutput ? " writes " : " takes ",
                exact ? std::string() : text(desc.minElements, " to "), desc.maxElements),
           exact ? text("give it ", desc.maxElements, " elements")
           : elements > desc.maxElements
               ? text("split it, or take at most ", desc.maxElements, " elements")
               : text("take at least ", desc.minElements, " elements"));
}

void checkRepeats(const Operand &op) {
  if (!op.desc.isOutput)
    return;
  const Access &a = op.access;
  auto fault = [&](unsigned dim) {
    op.fault("V-08",
             text(op.name(), " repeats storage (stride 0 in dim ", dim,
                  "): several values would land in one place"),
             "write to a tile of its own, and broadcast where it is read");
  };
  if (!op.onChip() && a.rowStep == 0 && a.partitionCount > 1 && a.indexing != Indexing::Vector)
    fault(0);
  for (unsigned i = 0; i < a.rank; ++i)
    if (a.step[i] == 0 && a.num[i] > 1)
      fault(i + 1);
}

//---- indices
//-------------------------------------------------------------------------------------//

/// How the run moves the access; where it lies without an index, the bounds look at.
void checkIndexing(const Operand &op) {
  const Access &a = op.access;
  if (!a.isIndexed())
    return;
  if (a.indexStep < 0 || a.indexExtent < 1)
    op.fault(kMalformed, text(op.name(), " is indexed in steps of ", a.indexStep, " below ",
                              a.indexExtent, ": steps are at least 0, the extent at least 1"));
  if (a.indexing == Indexing::Scalar) {
    // Which bank a matmul writes, and which of its cells, has to be known.
    if (op.desc.isOutput && op.view.desc.runsOn(Engine::Tensor) && !op.view.desc.isSequencer)
      op.fault("V-18",
               text(op.name(), " of ", op.view.desc.mnemonic,
                    " lies where a register says: the "
                    "bank a sum goes to must be known"),
               "write to a fixed tile and copy it to the indexed place");
    return;
  }
  op.fault(kMalformed, text(op.name(), " takes a row from each index, which ",
                            op.view.desc.mnemonic, " does not"));
}

//---- bounds
//--------------------------------------------------------------------------------------===//

void checkElementBounds(const Operand &op) {
  const Access &a = op.access;
  ElementRange range = elementRangeSaturated(a);
  int64_t bytes = mulSaturated(op.tensor.freeElements(), bytesOf(op.tensor.dtype));
  int64_t limit = bytes / bytesOf(a.dtype);
  std::string_view holder = op.onChip() ? "a partition of the tile" : "the tensor";
  if (range.first < 0)
    op.fault(
        "V-11",
        text(op.name(), " reaches element ", range.first, ", ", holder, " starts at element 0"),
        "clip the access to the extent of the tensor");
  if (range.last >= limit)
    op.fault("V-11",
             text(op.name(), " reaches element ", range.last, ", ", holder, " holds ", limit, " ",
                  name(a.dtype), " (0 to ", limit - 1, ")"),
             "clip the access to the extent of the tensor");
}

std::string partitionsOf(const Operand &op) {
  int64_t start = physicalStart(op.view, op.index), last = start + op.access.partitionCount - 1;
  return text(op.tensor.partitionBase ? "physical " : "",
              start == last ? text("partition ", start) : text("partitions ", start, " to ", last));
}

/// The legal start nearest to `start` from which `count` partitions fit below
/// `end`.
int64_t nearestLegalStart(int64_t start, uint32_t count, int64_t end) {
  int64_t best = 0;
  for (int64_t s = 0; s + count <= end; s += machine.partitionQuadrant)
    if (isLegalStartPartition(s, count) && std::abs(s - start) <= std::abs(best - start))
      best = s;
  return best;
}

void checkStartPartition(const Operand &op) {
  int64_t start = physicalStart(op.view, op.index);
  uint32_t count = op.access.partitionCount;
  if (start + count > machine.numPartitions)
    return op.fault(
        "P-01",
        text(op.name(), " covers ", partitionsOf(op), ", the core has ", machine.numPartitions),
        "place the tile at a lower partition");
  if (isLegalStartPartition(start, count))
    return;
  int64_t half = machine.numPartitions / 2;
  if (start % machine.partitionQuadrant == 0 && start < half && start + count > half &&
      count <= half) {
    // The author aligned to a quadrant: the half boundary is what stands in the
    // way.
    return op.fault("P-07",
                    text(op.name(), " covers ", partitionsOf(op),
                         ", which cross the half boundary at ", half, "; ", startRuleFor(count)),
                    text("start at 0 or ", half, ", or split into ", half - start, " + ",
                         count - (half - start)));
  }
  int64_t base = op.tensor.partitionBase;
  int64_t better = nearestLegalStart(start, count, base + op.tensor.shape[0]);
  op.fault("P-06", text(op.name(), " covers ", partitionsOf(op), "; ", startRuleFor(count)),
           text(count == 1 ? text("take partition ", better)
                           : text("take partitions ", better, " to ", better + count - 1),
                ", or dma_copy the rows to a legal start first"));
}

void checkPartitions(const Operand &op) {
  const Access &a = op.access;
  if (a.rowStep != 0)
    op.fault("P-08", text("partitions cannot be strided, ", op.name(), " has row step ", a.rowStep),
             "use dma_copy, or a matmul with a selection matrix");
  int64_t count = a.partitionCount, partitions = op.tensor.shape.empty() ? 0 : op.tensor.shape[0];
  if (count > machine.numPartitions)
    return op.fault(
        "P-01",
        text(op.name(), " needs ", count, " partitions, the core has ", machine.numPartitions),
        text("split dim 0 into ", (count + machine.numPartitions - 1) / machine.numPartitions,
             " tiles of at most ", machine.numPartitions));
  int64_t last = int64_t(a.partitionStart) + count - 1;
  if (last >= partitions)
    return op.fault("V-01",
                    text(op.name(), " reaches partition ", last, ", the tile has ", partitions,
                         " (0 to ", partitions - 1, ")"),
                    "clip the slice to the extent of dim 0");
  if (!op.transfer)
    checkStartPartition(op);
}

//---- one operand
//---------------------------------------------------------------------------------===//

/// Returns whether relations of this operand to others can be judged.
bool checkOperand(const Operand &op) {
  checkMemory(op);
  bool usable = checkDtype(op);
  if (!checkCounts(op))
    return false;
  if (usable)
    checkElementBounds(op);
  checkRepeats(op);
  if (!op.onChip()) {
    if (op.access.partitionStart != 0)
      op.fault(kMalformed,
               text(op.name(), " is in HBM and has start partition ", op.access.partitionStart));
    // Rows of an HBM tensor are no partitions: an instruction that computes
    // cannot compare them.
    return usable && op.transfer;
  }
  checkPartitions(op);
  if (!op.transfer)
    checkPatternLimits(op);
  checkIndexing(op);
  checkColumn(op);
  checkSizes(op);
  return usable;
}

} // namespace

bool isTransfer(const InstDesc &desc) { return desc.isTransfer; }

bool checkOperands(const InstView &view, const RuleSink &sink) {
  bool usable = true,
       transfer = isTransfer(view.desc) || view.desc.isObserver || view.desc.isSequencer;
  for (unsigned i = 0; i < kMaxOperands; ++i) {
    const Access &access = view.access(i);
    if (i >= view.desc.operands.size()) {
      if (access.present())
        report(sink, kMalformed, int(i),
               text(view.desc.mnemonic, " takes ", view.desc.operands.size(), " operands, operand ",
                    i, " is given"));
      continue;
    }
    const OperandDesc &desc = view.desc.operands[i];
    if (access.present()) {
      usable &= checkOperand({view, sink, i, desc, access, view.tensors[i], transfer});
    } else if (!desc.isOptional) {
      report(sink, kMalformed, int(i),
             text(view.desc.mnemonic, " has no '", desc.name, "' operand"),
             text("pass a tensor as ", desc.name));
      usable = false;
    }
  }
  return usable;
}

namespace {

void reportField(const InstView &view, const RuleSink &sink, const FieldDesc &field,
                 std::string value, std::string allowed) {
  report(sink, kMalformed, -1,
         text("field '", field.name, "' of ", view.desc.mnemonic, " is ", value, ", it takes ",
              allowed));
}

/// A case of the enum that this row does not take. The other rules still make sense.
void checkAllowed(const InstView &view, const RuleSink &sink, const FieldDesc &field,
                  const EnumCase &found) {
  if (field.allows(found.value))
    return;
  std::string allowed;
  for (const EnumCase &c : field.cases)
    if (field.allows(c.value))
      allowed += text(allowed.empty() ? "" : ", ", c.name);
  report(sink, field.allowedRule, -1,
         text(field.name, " of ", view.desc.mnemonic, " cannot be ", found.name),
         text("allowed: ", allowed));
}

bool checkWord(const InstView &view, const RuleSink &sink, const FieldDesc &field, int64_t word) {
  switch (field.kind) {
  case FieldKind::Bool:
    if (word == 0 || word == 1)
      return true;
    reportField(view, sink, field, text(word), "0 or 1");
    return false;
  case FieldKind::Enum:
    for (const EnumCase &c : field.cases)
      if (c.value == word) {
        checkAllowed(view, sink, field, c);
        return true;
      }
    reportField(view, sink, field, text(word),
                text("one of ", field.cases.size(), " named values"));
    return false;
  case FieldKind::I32:
    if (word >= INT32_MIN && word <= INT32_MAX)
      return true;
    reportField(view, sink, field, text(word), text(INT32_MIN, " to ", INT32_MAX));
    return false;
  case FieldKind::U32:
    if (word >= 0 && word <= UINT32_MAX)
      return true;
    reportField(view, sink, field, text(word), text("0 to ", UINT32_MAX));
    return false;
  case FieldKind::F32: {
    double value = realOf(word);
    // Rounding to fp32 is the field's business; a finite value that would
    // become infinite is a mistake.
    if (!std::isfinite(value) || std::fabs(value) <= std::numeric_limits<float>::max())
      return true;
    reportField(view, sink, field, text(value), "values in the range of float32");
    return false;
  }
  case FieldKind::F64:
    return true;
  case FieldKind::Register:
    if (word >= 0 && (word < kNoRegister || (word == kNoRegister && !field.required)))
      return true;
    reportField(view, sink, field, text(word), "the number of a register");
    return false;
  }
  return true;
}

} // namespace

bool checkFields(const InstView &view, const RuleSink &sink) {
  bool good = true;
  for (const FieldDesc &field : view.desc.fields)
    for (unsigned i = 0; i < field.words; ++i)
      good &= checkWord(view, sink, field, view.inst.fields[field.word + i]);
  return good;
}

} // namespace kiln::isa::rules
