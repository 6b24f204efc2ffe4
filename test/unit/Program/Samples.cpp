//===- Samples.cpp - programs and records the tests start from --------------------------------===//

#include "Samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace kilnrt::samples {
namespace {

TensorInfo tensor(std::string name, isa::Memory memory, isa::DType dtype,
                  std::vector<int64_t> shape) {
  TensorInfo info;
  info.name = std::move(name);
  info.memory = memory;
  info.dtype = dtype;
  info.shape = std::move(shape);
  return info;
}

Record record(isa::Opcode opcode, isa::Engine engine, uint32_t order, uint32_t location) {
  Record r;
  r.inst = isa::makeInstruction(opcode);
  r.inst.engine = engine;
  r.order = order;
  r.location = location;
  return r;
}

int64_t pick(std::initializer_list<int64_t> values, Rng &rng) {
  return values.begin()[rng() % values.size()];
}

/// Edges of the type as often as values in between.
int64_t anyInt64(Rng &rng) {
  if (rng() % 2)
    return pick({0, 1, -1, 512, INT64_MAX, INT64_MIN, UINT32_MAX}, rng);
  return int64_t(rng());
}

int64_t anyReal(Rng &rng, bool narrow) {
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            0.1f,
                            INFINITY,
                            -INFINITY,
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max()};
  if (rng() % 2)
    return isa::bitsOf(special[rng() % std::size(special)]);
  if (!narrow) {
    // A third are NaNs of any payload.
    const uint64_t nan = rng() % 3 ? 0 : uint64_t{0x7FF} << 52;
    return std::bit_cast<int64_t>(rng() | nan);
  }
  const auto bits = uint32_t(rng());
  const auto value = std::bit_cast<float>(bits);
  if (!std::isnan(value))
    return isa::bitsOf(double(value));
  // The conversion would quiet the NaN: place its payload by hand.
  return std::bit_cast<int64_t>(uint64_t{bits >> 31} << 63 | uint64_t{0x7FF} << 52 |
                                uint64_t{bits & 0x7FFFFF} << 29);
}

int64_t anyWord(const isa::FieldDesc &field, Rng &rng) {
  switch (field.kind) {
  case isa::FieldKind::Bool:
    return int64_t(rng() % 2);
  case isa::FieldKind::Enum:
    return field.cases[rng() % field.cases.size()].value;
  case isa::FieldKind::I32:
    return rng() % 2 ? pick({0, 1, -1, INT32_MIN, INT32_MAX}, rng) : int32_t(rng());
  case isa::FieldKind::U32:
    return rng() % 2 ? pick({0, 1, UINT32_MAX}, rng) : uint32_t(rng());
  case isa::FieldKind::Register:
    return int64_t(!field.required && rng() % 2 ? isa::kNoRegister : rng() % isa::kNoRegister);
  case isa::FieldKind::F32:
    return anyReal(rng, /*narrow=*/true);
  case isa::FieldKind::F64:
    break;
  }
  return anyReal(rng, /*narrow=*/false);
}

isa::Access anyAccess(uint32_t tensors, Rng &rng) {
  isa::Access access;
  access.tensor = uint32_t(rng() % tensors);
  access.dtype = isa::DType(isa::dtypeCases()[rng() % isa::dtypeCases().size()].value);
  access.rank = uint8_t(rng() % (isa::kMaxFreeDims + 1));
  access.partitionStart = uint32_t(rng() % 2 ? 0 : rng());
  access.partitionCount = uint32_t(rng() % 2 ? 1 : rng());
  access.rowStep = rng() % 2 ? 0 : anyInt64(rng);
  access.offset = anyInt64(rng);
  for (unsigned i = 0; i < access.rank; ++i) {
    access.step[i] = anyInt64(rng);
    access.num[i] = anyInt64(rng);
  }
  if (rng() % 4 == 0)
    for (size_t i = rng() % (isa::kMaxLoopDepth + 1); i-- > 0;)
      access.loopStep[i] = anyInt64(rng);
  if (rng() % 4 == 0) {
    const bool isScalar = rng() % 2;
    access.indexing = isScalar ? isa::Indexing::Scalar : isa::Indexing::Vector;
    access.indexRegister = isScalar ? uint16_t(rng() % isa::kNoRegister) : isa::kNoRegister;
    access.indexStep = anyInt64(rng);
    access.indexExtent = anyInt64(rng);
  }
  return access;
}

} // namespace

isa::Access whole(const Program &program, uint32_t index) {
  const TensorInfo &info = program.tensors[index];
  isa::Access access;
  access.tensor = index;
  access.dtype = info.dtype;
  access.partitionCount = uint32_t(info.shape[0]);
  int64_t row = 1;
  for (size_t i = 1; i < info.shape.size(); ++i)
    row *= info.shape[i];
  access.rowStep = info.memory == isa::Memory::Hbm ? row : 0;
  access.rank = 1;
  access.step[0] = 1;
  access.num[0] = row;
  return access;
}

void append(Program &program, const Record &record) {
  for (Stream &stream : program.streams)
    if (stream.engine == record.inst.engine)
      return encodeRecord(record, stream.bytes);
  auto before = [](const Stream &stream, isa::Engine engine) { return stream.engine < engine; };
  auto at =
      std::lower_bound(program.streams.begin(), program.streams.end(), record.inst.engine, before);
  at = program.streams.insert(at, Stream{record.inst.engine, {}});
  encodeRecord(record, at->bytes);
}

void edit(Program &program, isa::Engine engine, size_t index,
          const std::function<void(Record &)> &change) {
  for (Stream &stream : program.streams) {
    if (stream.engine != engine)
      continue;
    std::vector<Record> records = *decodeStream(stream);
    change(records.at(index));
    stream.bytes.clear();
    for (const Record &r : records)
      encodeRecord(r, stream.bytes);
  }
}

Program copy() {
  using isa::Memory;
  Program p;
  p.kernel = "copy";
  p.flags = {.placed = true, .scheduled = true, .synchronised = true};
  p.files = {"copy.cpp", "helpers.h"};
  p.locations = {{0, 33, kNone}, {1, 7, 0}, {0, 35, kNone}};
  p.tensors = {tensor("x", Memory::Hbm, isa::DType::Float32, {128, 512}),
               tensor("y", Memory::Hbm, isa::DType::Float32, {128, 512}),
               tensor("t", Memory::Sbuf, isa::DType::Float32, {128, 512}),
               tensor("u", Memory::Sbuf, isa::DType::Float32, {128, 512})};
  p.tensors[0].role = TensorRole::Input;
  p.tensors[1].role = TensorRole::Output;
  p.tensors[2].location = 1;
  p.tensors[3].byte = 2048;
  p.tensors[3].location = 2;

  const auto dmas = uint32_t(isa::machine.dmaEngines);
  Record in = record(isa::Opcode::DmaCopy, isa::Engine::Sync, 0, 1);
  in.inst.operands = {whole(p, 2), whole(p, 0)};
  in.sync = {.updateSemaphore = 0, .updateValue = dmas};
  Record move = record(isa::Opcode::TensorCopy, isa::Engine::Vector, 1, 2);
  move.inst.operands = {whole(p, 3), whole(p, 2)};
  move.sync = {.waitSemaphore = 0, .waitValue = dmas, .updateSemaphore = 1, .updateValue = 1};
  Record out = record(isa::Opcode::DmaCopy, isa::Engine::Sync, 2, kNone);
  out.inst.operands = {whole(p, 1), whole(p, 3)};
  out.sync = {.waitSemaphore = 1, .waitValue = 1, .updateSemaphore = 2, .updateValue = dmas};
  for (const Record *r : {&in, &move, &out})
    append(p, *r);
  return p;
}

Program loops() {
  using isa::Memory;
  Program p;
  p.kernel = "loops";
  p.flags = {.placed = true, .scheduled = true, .synchronised = true};
  p.files = {"loops.cpp"};
  p.locations = {{0, 5, kNone}, {0, 6, kNone}, {0, 7, kNone}};
  p.tensors = {tensor("x", Memory::Hbm, isa::DType::Float32, {192, 64}),
               tensor("y", Memory::Hbm, isa::DType::Float32, {192, 64}),
               tensor("t", Memory::Sbuf, isa::DType::Float32, {32, 64})};
  p.tensors[0].role = TensorRole::Input;
  p.tensors[1].role = TensorRole::Output;
  p.tensors[2].loop = 1;

  const auto dmas = uint32_t(isa::machine.dmaEngines);
  uint32_t order = 0;
  auto edge = [&](isa::Opcode opcode, uint32_t location, int64_t trips) {
    for (isa::Engine engine : {isa::Engine::Vector, isa::Engine::Sync}) {
      Record r = record(opcode, engine, order++, location);
      if (trips)
        r.inst.setWord("trip_count", trips);
      append(p, r);
    }
  };
  auto rows = [&](uint32_t index) {
    isa::Access access = whole(p, index);
    access.partitionCount = 32;
    access.loopStep = {3 * 32 * 64, 32 * 64};
    return access;
  };
  edge(isa::Opcode::LoopBegin, 0, 2);
  edge(isa::Opcode::LoopBegin, 1, 3);
  Record in = record(isa::Opcode::DmaCopy, isa::Engine::Sync, order++, 2);
  in.inst.operands = {whole(p, 2), rows(0)};
  in.sync = {.updateSemaphore = 0, .updateValue = dmas};
  Record move = record(isa::Opcode::TensorCopy, isa::Engine::Vector, order++, 2);
  move.inst.operands = {whole(p, 2), whole(p, 2)};
  move.sync = {.waitSemaphore = 0, .waitValue = dmas, .updateSemaphore = 1, .updateValue = 1};
  Record out = record(isa::Opcode::DmaCopy, isa::Engine::Sync, order++, 2);
  out.inst.operands = {rows(1), whole(p, 2)};
  out.sync = {.waitSemaphore = 1, .waitValue = 1, .updateSemaphore = 2, .updateValue = dmas};
  for (const Record *r : {&in, &move, &out})
    append(p, *r);
  edge(isa::Opcode::LoopEnd, 1, 0);
  edge(isa::Opcode::LoopEnd, 0, 0);
  return p;
}

Program matmul() {
  using isa::Memory;
  Program p;
  p.kernel = "matmul against an identity";
  p.files = {"m.cpp"};
  p.locations = {{0, 12, kNone}};
  p.tensors = {tensor("a", Memory::Hbm, isa::DType::BFloat16, {32, 40}),
               tensor("eye", Memory::Hbm, isa::DType::BFloat16, {32, 32}),
               tensor("out", Memory::Hbm, isa::DType::BFloat16, {32, 40}),
               tensor("t", Memory::Sbuf, isa::DType::BFloat16, {32, 40}),
               tensor("t", Memory::Sbuf, isa::DType::BFloat16, {32, 32}),
               tensor("acc", Memory::Psum, isa::DType::Float32, {32, 40}),
               tensor("my result", Memory::Sbuf, isa::DType::BFloat16, {32, 40})};
  p.tensors[0].role = TensorRole::Input;
  p.tensors[1].role = TensorRole::Constant;
  p.tensors[2].role = TensorRole::Output;
  p.tensors[4].byte = 128;
  p.tensors[6].byte = 192;
  std::vector<std::byte> eye(32 * 32 * 2);
  for (size_t i = 0; i < 32; ++i) {
    eye[(i * 32 + i) * 2] = std::byte{0x80};
    eye[(i * 32 + i) * 2 + 1] = std::byte{0x3f};
  }
  p.constants = {{std::move(eye)}};

  Record load = record(isa::Opcode::DmaCopy, isa::Engine::Sync, 0, 0);
  load.inst.operands = {whole(p, 3), whole(p, 0)};
  Record loadEye = record(isa::Opcode::DmaCopy, isa::Engine::Sync, 1, 0);
  loadEye.inst.operands = {whole(p, 4), whole(p, 1)};
  Record mm = record(isa::Opcode::NcMatmul, isa::Engine::Tensor, 2, 0);
  mm.inst.operands = {whole(p, 5), whole(p, 4), whole(p, 3)};
  mm.inst.setWord("accumulate", int64_t(isa::Accumulate::Overwrite));
  Record set = record(isa::Opcode::Memset, isa::Engine::Vector, 3, kNone);
  set.inst.operands = {whole(p, 6)};
  set.inst.setReal("value", 0.1);
  Record evict = record(isa::Opcode::TensorCopy, isa::Engine::Vector, 4, 0);
  evict.inst.operands = {whole(p, 6), whole(p, 5)};
  Record store = record(isa::Opcode::DmaCopy, isa::Engine::Sync, 5, 0);
  store.inst.operands = {whole(p, 2), whole(p, 6)};
  for (const Record *r : {&load, &loadEye, &mm, &set, &evict, &store})
    append(p, *r);
  return p;
}

Record randomRecord(const isa::InstDesc &desc, uint32_t tensors, Rng &rng) {
  Record r;
  r.inst.opcode = desc.opcode;
  r.inst.engine = isa::Engine(isa::engineCases()[rng() % isa::engineCases().size()].value);
  for (const isa::FieldDesc &field : desc.fields) {
    // Defaults are printed in another way: make them common.
    const bool isDefault = rng() % 4 == 0;
    for (unsigned i = 0; i < field.words; ++i)
      r.inst.fields[field.word + i] = isDefault ? field.init : anyWord(field, rng);
  }
  for (size_t i = 0; i < desc.operands.size(); ++i)
    if (rng() % 8)
      r.inst.operands[i] = anyAccess(tensors, rng);
  auto semaphore = [&] { return rng() % 3 ? Sync::kNoSemaphore : uint16_t(rng()); };
  r.sync.waitSemaphore = semaphore();
  r.sync.waitValue = uint32_t(pick({0, 1, 16, UINT32_MAX}, rng));
  r.sync.updateSemaphore = semaphore();
  r.sync.updateValue = uint32_t(pick({0, 1, 16, UINT32_MAX}, rng));
  r.order = uint32_t(rng());
  r.location = rng() % 2 ? kNone : uint32_t(rng());
  return r;
}

Program randomProgram(Rng &rng) {
  const std::string names[] = {"a",
                               "a",
                               "",
                               "a b",
                               "7",
                               "x.y_z",
                               "%3",
                               "quote\"back\\slash",
                               std::string("nul\0byte", 8),
                               "line\nbreak\ttab//no comment",
                               "\xce\xbc\xff",
                               "[0: 1x2]"};
  Program p;
  p.kernel = names[rng() % std::size(names)];
  p.target = names[rng() % std::size(names)];
  p.flags = {bool(rng() % 2), bool(rng() % 2), bool(rng() % 2)};
  for (size_t i = rng() % 4; i-- > 0;)
    p.files.push_back(names[rng() % std::size(names)]);
  for (size_t i = rng() % 4; i-- > 0;)
    p.locations.push_back(
        {uint32_t(rng() % 3), uint32_t(rng()), rng() % 2 ? kNone : uint32_t(rng())});
  for (size_t i = rng() % 4; i-- > 0;)
    p.texts.push_back(names[rng() % std::size(names)]);
  for (const std::string &name : names) {
    TensorInfo info;
    info.name = name;
    info.memory = isa::Memory(rng() % 3);
    info.dtype = isa::DType(isa::dtypeCases()[rng() % isa::dtypeCases().size()].value);
    info.role = TensorRole(rng() % 4);
    for (size_t i = rng() % 6; i-- > 0;)
      info.shape.push_back(anyInt64(rng));
    info.index = uint32_t(pick({0, 1, UINT32_MAX}, rng));
    info.partition = uint32_t(pick({0, 32, UINT32_MAX}, rng));
    info.byte = uint64_t(anyInt64(rng));
    info.location = uint32_t(pick({0, kNone}, rng));
    info.loop = uint32_t(pick({0, 7, kNone, kNone}, rng));
    p.tensors.push_back(std::move(info));
  }
  for (size_t i = rng() % 3; i-- > 0;) {
    Constant constant;
    constant.data.resize(rng() % 5000);
    for (size_t n = rng() % 200; n-- > 0 && !constant.data.empty();)
      constant.data[rng() % constant.data.size()] = std::byte(rng());
    p.constants.push_back(std::move(constant));
  }
  for (const isa::EnumCase &engine : isa::engineCases()) {
    Stream stream{isa::Engine(engine.value), {}};
    for (const isa::InstDesc &desc : isa::instructions())
      encodeRecord(randomRecord(desc, uint32_t(p.tensors.size()), rng), stream.bytes);
    p.streams.push_back(std::move(stream));
  }
  return p;
}

} // namespace kilnrt::samples
