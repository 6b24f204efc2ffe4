//===- RandomInstruction.cpp - random legal instances of any row of the table -----------------===//
//
//===------------------------------------------------------------------------------------------===//

#include "RandomInstruction.h"

#include "kilnrt/Asm.h"

#include <algorithm>
#include <limits>

namespace kiln::reference {

using isa::Access;
using isa::FieldKind;
using isa::Memory;

namespace {

/// Draws until a row's example has dtypes and memories the rules accept.
constexpr unsigned kStartDraws = 20000;
/// Changes drawn before the walk gives the same instance again.
constexpr unsigned kStepDraws = 200;

/// Counts where code that works in blocks goes wrong: 1, primes, powers of two and their
/// neighbours.
constexpr int64_t kCounts[] = {1,  2,  3,  5,  6,  7,  8,   11,  12,  16,  17,  24,  31, 32,
                               33, 37, 48, 63, 64, 65, 100, 127, 128, 129, 257, 511, 512};
constexpr uint32_t kPartitions[] = {1, 2, 3, 7, 16, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128};
constexpr uint32_t kStarts[] = {0, 32, 64, 96};

bool isOnChip(Memory m) { return m == Memory::Sbuf || m == Memory::Psum; }

/// Sets the free dims of `access` to nums with row-major steps.
void setDense(Access &access, std::span<const int64_t> nums) {
  access.rank = uint8_t(nums.size());
  access.step = {};
  access.num = {};
  int64_t step = 1;
  for (size_t i = nums.size(); i-- > 0;) {
    access.step[i] = step;
    access.num[i] = nums[i];
    step *= nums[i];
  }
}

/// Moves the first element to where the lowest one is at `offset`.
void setLowest(Access &access, int64_t offset) {
  access.offset = 0;
  access.offset = offset - elementRange(access).first;
}

} // namespace

std::vector<Breach> brokenRules(const Instance &instance, std::span<const int64_t> tripCounts) {
  isa::InstView view{instance.inst, instance.inst.desc(), {}, tripCounts};
  for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
    const InstanceTensor &t = instance.tensors[i];
    view.tensors[i] = {"", t.memory, t.dtype, t.shape, 0};
  }
  std::vector<Breach> broken;
  checkInstruction(view,
                   [&](isa::Violation v) { broken.push_back({std::string(v.rule), v.operand}); });
  return broken;
}

std::optional<std::string> brokenRule(const Instance &instance,
                                      std::span<const int64_t> tripCounts) {
  std::vector<Breach> broken = brokenRules(instance, tripCounts);
  if (broken.empty())
    return std::nullopt;
  return broken.front().rule;
}

void fitTensor(Instance &instance, unsigned operand, int64_t slack) {
  Access &access = instance.inst.operands[operand];
  InstanceTensor &tensor = instance.tensors[operand];
  tensor.dtype = access.dtype;
  access.rowStep = 0;
  if (!isOnChip(tensor.memory)) {
    access.partitionStart = 0;
    isa::ElementRange row = elementRange(access);
    access.rowStep = row.last - row.first + 1;
  }
  int64_t free = elementRange(access).last + 1 + slack;
  tensor.shape = isOnChip(tensor.memory)
                     ? std::vector<int64_t>{access.partitionStart + access.partitionCount, free}
                     : std::vector<int64_t>{free};
}

InstanceWalk::InstanceWalk(const isa::InstDesc &desc, std::string_view example, uint64_t seed)
    : desc(desc), rng(seed ^ uint64_t(desc.opcode) << 32) {
  start(example);
}

void InstanceWalk::start(std::string_view example) {
  Instance first;
  first.inst = isa::makeInstruction(desc.opcode);
  const bool hasExample = !example.empty();
  if (hasExample) {
    auto resolve = [](std::string_view,
                      unsigned operand) -> kilnrt::Expected<kilnrt::OperandTensor> {
      return kilnrt::OperandTensor{operand, isa::DType::Float32};
    };
    auto parsed = kilnrt::parseInstruction(example, resolve);
    if (!parsed) {
      obstacle = parsed.error().message;
      return;
    }
    first.inst = *parsed;
  }
  first.inst.engine = desc.engines.front();
  for (unsigned draw = 0; draw < kStartDraws && !started; ++draw) {
    Instance trial = first;
    if (!hasExample)
      drawSingle(trial);
    isa::DType common = isa::DType(isa::dtypeCases()[below(isa::dtypeCases().size())].value);
    for (unsigned i = 0; i < desc.operands.size(); ++i) {
      std::vector<Memory> memories;
      std::vector<isa::DType> dtypes;
      for (const isa::EnumCase &c : isa::memoryCases())
        if (desc.operands[i].allows(Memory(c.value)))
          memories.push_back(Memory(c.value));
      for (const isa::EnumCase &c : isa::dtypeCases())
        if (desc.operands[i].allows(isa::DType(c.value)))
          dtypes.push_back(isa::DType(c.value));
      trial.tensors[i].memory = memories[below(memories.size())];
      bool isCommon = desc.operands[i].allows(common) && !isOneIn(3);
      trial.inst.operands[i].dtype = trial.inst.operands[i].present()
                                         ? (isCommon ? common : dtypes[below(dtypes.size())])
                                         : isa::Access{}.dtype;
    }
    fitTensors(trial);
    if (std::optional<std::string> rule = brokenRule(trial)) {
      obstacle = "breaks " + *rule;
      continue;
    }
    current = trial;
    started = true;
  }
}

/// One element of every operand there must be, and any field.
void InstanceWalk::drawSingle(Instance &instance) {
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    if (desc.operands[i].isOptional)
      continue;
    instance.inst.operands[i].tensor = i;
    setDense(instance.inst.operands[i], std::array<int64_t, 1>{1});
  }
  for (const isa::FieldDesc &field : desc.fields)
    if (!field.isPattern() && (field.required || isOneIn(2)))
      drawField(instance, field);
}

const Instance &InstanceWalk::next() {
  for (unsigned draw = 0; draw < kStepDraws; ++draw) {
    Instance trial = current;
    do
      change(trial);
    while (isOneIn(3));
    fitTensors(trial);
    if (trial.inst == current.inst)
      continue;
    ++draws;
    if (brokenRule(trial))
      continue;
    ++kept;
    current = trial;
    break;
  }
  return current;
}

void InstanceWalk::change(Instance &instance) {
  // Fields and single patterns are most of what there is to vary, and seldom refused.
  switch (below(8)) {
  case 0:
    return changePartitions(instance);
  case 1:
    return changeCounts(instance);
  case 2:
    return changeDtype(instance);
  case 3:
  case 4:
    return changeOperand(instance);
  case 5:
    instance.inst.engine = desc.engines[below(desc.engines.size())];
    return;
  default:
    return changeField(instance);
  }
}

/// All operands that agree with the main one keep agreeing with it.
void InstanceWalk::changePartitions(Instance &instance) {
  if (desc.operands.empty())
    return;
  auto &operands = instance.inst.operands;
  uint32_t old = operands[below(desc.operands.size())].partitionCount;
  uint32_t count = kPartitions[below(std::size(kPartitions))];
  uint32_t start = kStarts[below(std::size(kStarts))];
  if (!isa::isLegalStartPartition(start, count))
    start = 0;
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    if (!operands[i].present())
      continue;
    // What moves between partitions has one operand's rows along another's free axis.
    if (desc.crossesPartitions && !desc.operands[i].isColumn && operands[i].freeElements() == old)
      layOut(instance, i, count);
    if (operands[i].partitionCount != old)
      continue;
    operands[i].partitionCount = count;
    operands[i].partitionStart = isOnChip(instance.tensors[i].memory) ? start : 0;
  }
}

void InstanceWalk::changeCounts(Instance &instance) {
  if (desc.operands.empty())
    return;
  auto &operands = instance.inst.operands;
  int64_t old = operands[below(desc.operands.size())].freeElements();
  int64_t count = kCounts[below(std::size(kCounts))];
  for (unsigned i = 0; i < desc.operands.size(); ++i)
    if (operands[i].present() && !desc.operands[i].isColumn && operands[i].freeElements() == old)
      layOut(instance, i, count);
  for (const isa::FieldDesc &field : desc.fields) {
    if (!field.isPattern())
      continue;
    int64_t total = 1;
    for (unsigned w = 0; w < field.words; w += 2)
      total *= std::max<int64_t>(1, instance.inst.fields[field.word + w + 1]);
    if (total == old)
      for (unsigned w = 0; w < field.words; w += 2) {
        instance.inst.fields[field.word + w] = w == 0 ? int64_t(below(9)) - 4 : 0;
        instance.inst.fields[field.word + w + 1] = w == 0 ? count : 0;
      }
  }
}

void InstanceWalk::changeDtype(Instance &instance) {
  if (desc.operands.empty())
    return;
  auto &operands = instance.inst.operands;
  isa::DType old = operands[below(desc.operands.size())].dtype;
  isa::DType dtype = isa::DType(isa::dtypeCases()[below(isa::dtypeCases().size())].value);
  bool isAll = isOneIn(2);
  unsigned one = unsigned(below(desc.operands.size()));
  for (unsigned i = 0; i < desc.operands.size(); ++i)
    if (operands[i].present() && desc.operands[i].allows(dtype) &&
        (isAll ? operands[i].dtype == old : i == one))
      operands[i].dtype = dtype;
}

void InstanceWalk::changeOperand(Instance &instance) {
  if (desc.operands.empty())
    return;
  unsigned i = unsigned(below(desc.operands.size()));
  Access &access = instance.inst.operands[i];
  if (desc.operands[i].isOptional && isOneIn(3)) {
    const Access &main = instance.inst.operands[mainInput(desc)];
    bool wasPresent = access.present();
    access = {};
    if (wasPresent)
      return;
    access = main;
    access.tensor = i;
    instance.tensors[i].memory = Memory::Sbuf;
    if (desc.operands[i].isColumn)
      setDense(access, std::array<int64_t, 1>{1});
    return;
  }
  if (!access.present())
    return;
  if (isOneIn(4)) {
    Memory memory = Memory(isa::memoryCases()[below(isa::memoryCases().size())].value);
    if (desc.operands[i].allows(memory) && isOnChip(memory) == isOnChip(instance.tensors[i].memory))
      instance.tensors[i].memory = memory;
    return;
  }
  layOut(instance, i, access.freeElements());
}

/// Gives operand `operand` a pattern of `count` elements: split into dims, with gaps, backwards,
/// and, where it is read, with elements repeated.
void InstanceWalk::layOut(Instance &instance, unsigned operand, int64_t count) {
  Access &access = instance.inst.operands[operand];
  std::vector<int64_t> nums;
  int64_t left = count;
  for (unsigned dim = 1 + unsigned(below(isa::kMaxFreeDims)); dim > 1; --dim)
    for (int64_t factor : {2, 3, 5, 7})
      if (left % factor == 0 && isOneIn(2)) {
        nums.push_back(factor);
        left /= factor;
        break;
      }
  nums.push_back(left);
  nums.resize(std::min<size_t>(nums.size(), isa::kMaxFreeDims));
  std::shuffle(nums.begin(), nums.end(), rng);
  setDense(access, nums);
  int64_t gap = isOneIn(3) ? 2 : 1;
  bool isRepeated = !desc.operands[operand].isOutput && isOneIn(6);
  for (unsigned dim = 0; dim < access.rank; ++dim)
    access.step[dim] *= isOneIn(5) ? -gap : gap;
  if (isRepeated)
    access.step[0] = 0;
  setLowest(access, int64_t(below(5)));
}

double InstanceWalk::drawReal(bool isSingle) {
  using Float = std::numeric_limits<float>;
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 Float::max(),
                                 Float::min(),
                                 240.0,
                                 Float::infinity(),
                                 -Float::infinity(),
                                 Float::denorm_min(),
                                 16777215.0,
                                 16777217.0,
                                 -128.0,
                                 255.0};
  double value = isOneIn(2) ? kSpecial[below(std::size(kSpecial))]
                            : (double(below(20001)) - 10000) / double(1 + below(64));
  return isSingle ? double(float(value)) : value;
}

void InstanceWalk::changeField(Instance &instance) {
  if (desc.fields.empty())
    return;
  const isa::FieldDesc &field = desc.fields[below(desc.fields.size())];
  if (field.isPattern())
    return changeCounts(instance);
  drawField(instance, field);
}

void InstanceWalk::drawField(Instance &instance, const isa::FieldDesc &field) {
  for (unsigned w = 0; w < field.words; ++w) {
    int64_t &word = instance.inst.fields[field.word + w];
    switch (field.kind) {
    case FieldKind::Bool:
      word = int64_t(below(2));
      break;
    case FieldKind::Enum: {
      uint32_t value = field.cases[below(field.cases.size())].value;
      word = field.allows(value) ? value : word;
      break;
    }
    case FieldKind::I32:
      word = isOneIn(8) ? int64_t(int32_t(rng())) : int64_t(below(65)) - 32;
      break;
    case FieldKind::U32:
      word = isOneIn(8) ? int64_t(uint32_t(rng())) : int64_t(below(9));
      break;
    case FieldKind::F32:
    case FieldKind::F64:
      word = isa::bitsOf(drawReal(field.kind == FieldKind::F32));
      break;
    case FieldKind::Register:
      word = field.required || !isOneIn(4) ? int64_t(below(isa::machine.maxSequencerRegisters))
                                           : field.init;
      break;
    }
  }
}

/// Each tensor is just large enough for its access, or a little larger.
void InstanceWalk::fitTensors(Instance &instance) {
  for (unsigned i = 0; i < desc.operands.size(); ++i) {
    if (instance.inst.operands[i].present())
      fitTensor(instance, i, int64_t(below(3)));
    else
      instance.tensors[i] = {};
  }
}

} // namespace kiln::reference
