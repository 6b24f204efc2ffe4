//===- ReferenceVariants.cpp - instances farther apart than a walk's neighbours ---------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "ReferenceVariants.h"

#include "kiln/ISA/Args.h"

namespace kiln::reference {

using isa::Access;
using isa::DType;
using isa::Memory;

namespace {

/// Draws of everything at once before the single ones.
constexpr unsigned kTries = 60;

void setDims(Access &access, int64_t outer, int64_t inner) {
  access.rank = outer == 1 ? 1 : 2;
  access.offset = 0;
  access.num = {};
  access.step = {};
  access.num[access.rank - 1] = inner;
  access.step[access.rank - 1] = 1;
  if (outer != 1) {
    access.num[0] = outer;
    access.step[0] = inner;
  }
}

class Variation {
public:
  Variation(Instance instance, Rng &rng)
      : best(std::move(instance)), desc(best.inst.desc()), rng(rng) {}

  Instance draw() {
    for (unsigned i = 0; i < kTries; ++i) {
      Instance trial = best;
      drawJointly(trial);
      if (keep(trial))
        break;
    }
    for (const isa::FieldDesc &field : desc.fields) {
      Instance trial = best;
      drawField(trial, field);
      keep(trial);
    }
    for (unsigned i = 0; i < desc.operands.size(); ++i) {
      Instance trial = best;
      if (isOneIn(rng, 2))
        drawDtype(trial, i);
      else
        drawMemory(trial, i);
      keep(trial);
    }
    if (best.inst.opcode == isa::Opcode::NcMatmul)
      drawMatmul();
    return best;
  }

private:
  bool keep(Instance &trial) {
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (trial.inst.operands[i].present())
        fitTensor(trial, i, int64_t(below(rng, 3)));
    if (brokenRule(trial))
      return false;
    best = trial;
    return true;
  }

  void drawField(Instance &trial, const isa::FieldDesc &field) {
    int64_t &word = trial.inst.fields[field.word];
    if (field.kind == isa::FieldKind::Enum) {
      uint32_t value = field.cases[below(rng, field.cases.size())].value;
      word = field.allows(value) ? int64_t(value) : word;
    } else if (field.kind == isa::FieldKind::Bool) {
      word = isOneIn(rng, 3);
    } else if (field.kind == isa::FieldKind::F32 || field.kind == isa::FieldKind::F64) {
      double value = decode(DType::Float32, drawElement(DType::Float32, drawStyle(), rng));
      word = isa::bitsOf(isOneIn(rng, 3) ? double(int64_t(below(rng, 300)) - 20) : value);
    }
  }
  Style drawStyle() { return Style(below(rng, kStyles)); }

  void drawDtype(Instance &trial, unsigned i) {
    DType dtype = DType(isa::dtypeCases()[below(rng, isa::dtypeCases().size())].value);
    if (trial.inst.operands[i].present() && desc.operands[i].allows(dtype))
      trial.inst.operands[i].dtype = dtype;
  }
  void drawMemory(Instance &trial, unsigned i) {
    Memory memory = Memory(isa::memoryCases()[below(rng, isa::memoryCases().size())].value);
    bool isTile = trial.tensors[i].memory != Memory::Hbm;
    if (trial.inst.operands[i].present() && desc.operands[i].allows(memory) &&
        isTile == (memory != Memory::Hbm))
      trial.tensors[i].memory = memory;
  }

  /// Dtypes that go together, all memories, the engine and the enums.
  void drawJointly(Instance &trial) {
    groupKind = below(rng, 5);
    common = DType(isa::dtypeCases()[below(rng, isa::dtypeCases().size())].value);
    const bool isAllSbuf = isOneIn(rng, 2);
    for (unsigned i = 0; i < desc.operands.size(); ++i) {
      if (desc.operands[i].isOptional)
        drawPresence(trial, i);
      if (!trial.inst.operands[i].present())
        continue;
      for (unsigned j = 0; j < 16; ++j) {
        DType dtype = DType(isa::dtypeCases()[below(rng, isa::dtypeCases().size())].value);
        if (isInGroup(dtype) && desc.operands[i].allows(dtype)) {
          trial.inst.operands[i].dtype = dtype;
          break;
        }
      }
      if (groupKind == 0 && desc.operands[i].allows(common))
        trial.inst.operands[i].dtype = common;
      if (trial.tensors[i].memory != Memory::Hbm) {
        if (isAllSbuf && desc.operands[i].allows(Memory::Sbuf))
          trial.tensors[i].memory = Memory::Sbuf;
        else
          drawMemory(trial, i);
      }
    }
    trial.inst.engine = desc.engines[below(rng, desc.engines.size())];
    for (const isa::FieldDesc &field : desc.fields) {
      if (field.kind == isa::FieldKind::Enum)
        drawField(trial, field);
      if (field.kind == isa::FieldKind::F64 && isOneIn(rng, 2)) // as operators on bits take them
        trial.inst.fields[field.word] = isa::bitsOf(double(below(rng, 32)));
    }
  }
  /// Has the optional operand `i` in half of all cases.
  void drawPresence(Instance &trial, unsigned i) {
    Access &access = trial.inst.operands[i];
    if (isOneIn(rng, 2)) {
      access = {};
      trial.tensors[i] = {};
      return;
    }
    if (access.present())
      return;
    access = trial.inst.operands[mainInput(desc)];
    access.tensor = i;
    if (desc.operands[i].isColumn)
      setDims(access, 1, 1);
    trial.tensors[i].memory = Memory::Sbuf;
  }
  /// Whether `dtype` is of the kind drawn last: one, wide integers, integers, floats, any.
  bool isInGroup(DType dtype) const {
    switch (groupKind) {
    case 0:
      return dtype == common;
    case 1:
      return isa::isWideInteger(dtype);
    case 2:
      return !isa::isFloat(dtype);
    case 3:
      return isa::isFloat(dtype);
    default:
      return true;
    }
  }

  void drawMatmul();

  Instance best;
  const isa::InstDesc &desc;
  Rng &rng;
  uint64_t groupKind = 4;
  DType common = DType::Float32;
};

/// What the modes of the array ask of all operands together: pairs of rows in 8 bits, bits
/// transposed, a tile of the array.
void Variation::drawMatmul() {
  using Args = isa::NcMatmulArgs;
  Instance trial = best;
  isa::Instruction &inst = trial.inst;
  Access &dst = inst.operands[Args::dst], &stationary = inst.operands[Args::stationary];
  Access &moving = inst.operands[Args::moving];
  const int64_t partitions = stationary.partitionCount;
  const int64_t rows = dst.partitionCount, columns = dst.freeElements();
  const DType eights[] = {DType::Float8E4M3, DType::Float8E5M2};
  auto setAll = [&](bool isTranspose, isa::MatmulPerfMode mode) {
    inst.setWord("is_transpose", isTranspose);
    inst.setWord("perf_mode", int64_t(mode));
    for (unsigned w = 0; w < 2; ++w) {
      inst.setWord("tile_size", 0, w);
      inst.setWord("tile_position", 0, w);
    }
  };
  switch (below(rng, 6)) {
  case 0: // pairs of rows
    setAll(false, isa::MatmulPerfMode::DoubleRow);
    dst.dtype = DType::Float32;
    stationary.dtype = eights[below(rng, 2)];
    moving.dtype = eights[below(rng, 2)];
    setDims(stationary, 2, rows);
    setDims(moving, 2, columns);
    break;
  case 1: { // bits transposed
    setAll(true, isa::MatmulPerfMode::None);
    const DType dtypes[] = {DType::Float32,  DType::BFloat16,   DType::Float16,
                            DType::TFloat32, DType::Float8E4M3, DType::Float8E5M2};
    DType dtype = dtypes[below(rng, 6)];
    stationary.dtype = moving.dtype = dtype;
    dst.dtype = isa::bytesOf(dtype) > 1 ? dtype
                : isOneIn(rng, 2)       ? DType::BFloat16
                                        : DType::Float16;
    inst.setWord("accumulate", int64_t(isOneIn(rng, 2) ? isa::Accumulate::Overwrite
                                                       : isa::Accumulate::Automatic));
    setDims(moving, 1, partitions);
    setDims(dst, 1, partitions);
    break;
  }
  case 2: { // a tile of the array
    const int64_t sides[] = {32, 64, 128};
    for (unsigned w = 0; w < 2; ++w) {
      int64_t side = sides[below(rng, 3)];
      int64_t place = side * int64_t(below(rng, uint64_t(128 / side)));
      inst.setWord("tile_size", side, w);
      inst.setWord("tile_position", place, w);
      if (w == 0)
        stationary.partitionStart = moving.partitionStart = uint32_t(place);
      else
        dst.partitionStart = uint32_t(place);
    }
    break;
  }
  default:
    return;
  }
  keep(trial);
}

} // namespace

Instance vary(Instance instance, Rng &rng) { return Variation(std::move(instance), rng).draw(); }

} // namespace kiln::reference
