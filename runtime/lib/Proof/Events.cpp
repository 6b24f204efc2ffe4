//===- Events.cpp - records to events ---------------------------------------------------------===//

#include "Events.h"

#include "kiln/ISA/Accumulators.h"
#include "kiln/ISA/Args.h"

#include <algorithm>

using namespace kilnrt;
using namespace kilnrt::proof;

uint32_t Epoch::size() const {
  uint32_t count = 0;
  for (size_t s = 0; s < kEngineSlots; ++s)
    count += end[s] - begin[s];
  return count;
}

namespace {

class EventDecoder {
public:
  explicit EventDecoder(Events &out) : out(out), registers(out.layout.blocks().size()) {
    out.motions.emplace_back();
    out.isWritten.resize(registers + kEngineSlots);
    out.registerPattern.shape.num[0] = out.registerPattern.shape.step[0] = 1;
    out.registerPattern.runs = out.registerPattern.shape;
  }

  Status decode(const Stream &stream);
  void finish();

private:
  void addTouches(const isa::Instruction &inst, Event &event);
  void addState(Event &event, uint8_t what);
  uint32_t motionOf(const isa::Access &access);
  void passEdge(const isa::Instruction &inst, const Event &event);
  Epoch &epochAt(size_t index);

  Events &out;
  size_t registers; ///< block of the state of engine 0 that is no memory
  bool isFirst = true;
  size_t epoch = 0; ///< of the stream at hand
  std::vector<uint32_t> open;
  std::vector<int64_t> trips;
};

} // namespace

uint32_t EventDecoder::motionOf(const isa::Access &access) {
  if (!access.moves())
    return 0;
  Shift shift{};
  for (unsigned l = 0; l < isa::kMaxLoopDepth; ++l)
    shift[l] = access.loopStep[l] * isa::bytesOf(access.dtype);
  auto found = std::find(out.motions.rbegin(), out.motions.rend(), shift);
  if (found != out.motions.rend())
    return uint32_t(out.motions.rend() - found - 1);
  out.motions.push_back(shift);
  return uint32_t(out.motions.size() - 1);
}

void EventDecoder::addTouches(const isa::Instruction &inst, Event &event) {
  const isa::InstDesc &desc = inst.desc();
  event.firstTouch = uint32_t(out.touches.size());
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    if (!inst.operands[i].present())
      continue;
    Touch touch;
    touch.place = out.layout.place(inst.operands[i]);
    touch.motion = motionOf(inst.operands[i]);
    if (inst.operands[i].isIndexed()) {
      const TensorInfo &tensor = out.program.tensors[inst.operands[i].tensor];
      touch.base = uint32_t(out.bases.size());
      out.bases.push_back({touch.place, touch.motion});
      touch.place =
          out.layout.place(isa::hullOf(inst.operands[i], tensor.memory != isa::Memory::Hbm,
                                       tensor.dtype, tensor.freeElements()));
      touch.motion = 0;
    }
    touch.operand = uint8_t(i);
    touch.writes = desc.operands[i].isOutput;
    if (touch.writes)
      out.isWritten[touch.place.block] = true;
    out.touches.push_back(touch);
    ++event.touches;
  }
  if (desc.accumulators.isUsed && isa::accumulatorStep(inst, desc) != isa::AccumulatorStep::None)
    addState(event, Touch::kRegisters);
  if (desc.isObserver)
    addState(event, Touch::kShown);
}

/// Chains through reduction registers keep their order, and so does what an author is shown,
/// whatever bytes they touch.
void EventDecoder::addState(Event &event, uint8_t what) {
  Touch touch;
  touch.operand = what;
  touch.writes = true;
  touch.place.block = uint32_t(registers + size_t(event.engine));
  touch.place.endByte = 1;
  touch.place.pattern = &out.registerPattern;
  out.isWritten[touch.place.block] = true;
  out.touches.push_back(touch);
  ++event.touches;
}

Epoch &EventDecoder::epochAt(size_t index) {
  if (index < out.epochs.size())
    return out.epochs[index];
  out.tripCounts.push_back(trips);
  out.steps.push_back({Step::Run, uint32_t(index)});
  return out.epochs.emplace_back();
}

static void setTrips(Loop &loop, const isa::LoopBeginArgs &control) {
  switch (control.kind) {
  case isa::LoopKind::Count:
    loop.maxTrips = int64_t(control.tripCount);
    break;
  case isa::LoopKind::Range:
    loop.mayRunFewer =
        control.firstRegister != isa::kNoRegister || control.lastRegister != isa::kNoRegister;
    loop.maxTrips = loop.mayRunFewer ? INT64_MAX : 0;
    if (!loop.mayRunFewer && control.first < control.last)
      loop.maxTrips = (int64_t(control.last) - control.first - 1) / int64_t(control.step) + 1;
    break;
  case isa::LoopKind::Once:
  case isa::LoopKind::While:
    loop.mayRunFewer = true;
    loop.maxTrips = control.kind == isa::LoopKind::Once ? 1 : INT64_MAX;
    break;
  }
}

void EventDecoder::passEdge(const isa::Instruction &inst, const Event &event) {
  const bool begins = inst.opcode == isa::Opcode::LoopBegin;
  if (!isFirst)
    return;
  if (!begins) {
    out.steps.push_back({Step::End, open.back()});
    open.pop_back();
    trips.pop_back();
    return;
  }
  Loop loop;
  const isa::LoopBeginArgs control(inst);
  setTrips(loop, control);
  loop.location = event.location;
  open.push_back(uint32_t(out.loops.size()));
  trips.push_back(control.tripCount);
  out.steps.push_back({Step::Begin, open.back()});
  out.loops.push_back(std::move(loop));
}

Status EventDecoder::decode(const Stream &stream) {
  const size_t slot = size_t(stream.engine);
  std::span<const std::byte> bytes = stream.bytes;
  epoch = 0;
  epochAt(0).begin[slot] = EventId(out.events.size());
  for (uint32_t index = 0; !bytes.empty(); ++index) {
    Expected<Record> record = decodeRecord(bytes);
    if (!record)
      return record.error();
    const isa::Instruction &inst = record->inst;
    Event event;
    event.opcode = inst.opcode;
    event.engine = stream.engine;
    event.isTransfer = inst.desc().isTransfer;
    event.sync = record->sync;
    event.index = index;
    event.order = record->order;
    event.location = record->location;
    const bool isEdge =
        inst.opcode == isa::Opcode::LoopBegin || inst.opcode == isa::Opcode::LoopEnd;
    if (isEdge) {
      out.epochs[epoch++].end[slot] = EventId(out.events.size());
      passEdge(inst, event);
    } else {
      addTouches(inst, event);
    }
    out.events.push_back(event);
    if (isEdge)
      epochAt(epoch).begin[slot] = EventId(out.events.size());
  }
  out.epochs[epoch].end[slot] = EventId(out.events.size());
  isFirst = false;
  return Status::ok();
}

void EventDecoder::finish() {
  for (uint32_t t = 0; t < out.program.tensors.size(); ++t)
    if (out.program.tensors[t].loop != kNone)
      out.loops[out.program.tensors[t].loop].tensors.push_back(t);
}

Expected<std::unique_ptr<Events>> proof::decodeEvents(const Program &program) {
  auto events = std::make_unique<Events>(program);
  EventDecoder decoder(*events);
  for (const Stream &stream : program.streams)
    if (Status status = decoder.decode(stream); !status)
      return status.error();
  decoder.finish();
  return events;
}
