//===- Instruction.cpp - descriptors of the rows, and access to fields by name ----------------===//

#include "kiln/ISA/Instruction.h"

#include <algorithm>
#include <cassert>

namespace kiln::isa {
namespace {

#include "kiln/ISA/EnumCases.cpp.inc"
#include "kiln/ISA/InstDescs.cpp.inc"

} // namespace

ElementRange elementRange(const Access &a) {
  ElementRange r{a.offset, a.offset};
  auto extend = [&r](int64_t step, int64_t num) {
    (step < 0 ? r.first : r.last) += step * (num - 1);
  };
  extend(a.rowStep, a.partitionCount);
  for (unsigned i = 0; i < a.rank; ++i)
    extend(a.step[i], a.num[i]);
  return r;
}

Access hullOf(const Access &access, bool isOnChip, DType dtype, int64_t freeElements) {
  Access hull;
  hull.tensor = access.tensor;
  hull.dtype = dtype;
  if (isOnChip) {
    hull.partitionStart = access.partitionStart;
    hull.partitionCount = access.partitionCount;
  }
  hull.rank = 1;
  hull.step[0] = 1;
  hull.num[0] = freeElements;
  return hull;
}

const FieldDesc *InstDesc::field(std::string_view name) const {
  auto it = std::ranges::find(fields, name, &FieldDesc::name);
  return it == fields.end() ? nullptr : &*it;
}

int InstDesc::operandIndex(std::string_view name) const {
  auto it = std::ranges::find(operands, name, &OperandDesc::name);
  return it == operands.end() ? -1 : int(it - operands.begin());
}

bool InstDesc::runsOn(Engine e) const { return std::ranges::find(engines, e) != engines.end(); }

std::span<const InstDesc> instructions() { return kInstructions; }

const InstDesc *findInstruction(Opcode opcode) {
  // Opcodes are sparse but few: a binary search over the sorted rows stays in
  // one cache line or two.
  auto it = std::ranges::lower_bound(kInstructions, opcode, {}, &InstDesc::opcode);
  return it != std::end(kInstructions) && it->opcode == opcode ? &*it : nullptr;
}

const InstDesc *findInstruction(std::string_view mnemonic) {
  auto it = std::ranges::find(kInstructions, mnemonic, &InstDesc::mnemonic);
  return it == std::end(kInstructions) ? nullptr : &*it;
}

unsigned mainInput(const InstDesc &desc) {
  for (unsigned i = 0; i < desc.operands.size(); ++i)
    if (const OperandDesc &op = desc.operands[i]; !op.isOutput && !op.isColumn && !op.isOptional)
      return i;
  return 0;
}

int64_t Instruction::word(std::string_view field, unsigned i) const {
  const FieldDesc *f = desc().field(field);
  assert(f && i < f->words && "the instruction has no such field word");
  return fields[f->word + i];
}

double Instruction::real(std::string_view field) const { return realOf(word(field)); }

void Instruction::setWord(std::string_view field, int64_t v, unsigned i) {
  const FieldDesc *f = desc().field(field);
  assert(f && i < f->words && "the instruction has no such field word");
  fields[f->word + i] = v;
}

void Instruction::setReal(std::string_view field, double v) { setWord(field, bitsOf(v)); }

Instruction makeInstruction(Opcode opcode) {
  Instruction inst;
  inst.opcode = opcode;
  for (const FieldDesc &f : inst.desc().fields)
    std::fill_n(inst.fields.begin() + f.word, f.words, f.init);
  return inst;
}

} // namespace kiln::isa
