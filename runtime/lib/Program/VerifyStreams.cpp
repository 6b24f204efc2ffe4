//===- VerifyStreams.cpp - what must hold of a program's streams ------------------------------===//
//
// One pass over each stream, a record at a time: nothing decoded is kept but
// the order numbers, the loops, and what each epoch adds to semaphores. The rules of an instruction
// are the table's, shared with the compiler; here is what only streams have: engines, order,
// semaphores.
//
//===------------------------------------------------------------------------------------------===//

#include "LoopWalk.h"
#include "Text.h"
#include "Verify.h"
#include "kiln/ISA/Rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace kilnrt {
namespace {

constexpr std::string_view kBadFile = "X-05", kMalformed = "X-06", kNeverReached = "X-01",
                           kReadOnly = "K-02";

/// Where a record stands, for messages.
struct Place {
  isa::Engine engine = isa::Engine::Unknown;
  size_t index = 0;
  std::string_view mnemonic;
  uint32_t location = kNone;
};

class StreamVerifier {
public:
  explicit StreamVerifier(const Program &program) : program(program) {}

  Status run() {
    for (size_t i = 0; i < program.streams.size(); ++i) {
      if (Status status = checkEngine(i); !status)
        return status;
      if (Status status = checkStream(program.streams[i]); !status)
        return status;
    }
    if (Status status = checkScopes(); !status)
      return status;
    if (Status status = checkOrders(); !status)
      return status;
    return checkWaits();
  }

private:
  Diagnostic fault(const Place &place, std::string_view rule, std::string message,
                   std::string help = {}) const {
    Diagnostic error =
        makeError(Fault::User, std::move(message), std::move(help), std::string(rule));
    error.place = program.chain(place.location);
    error.notes.push_back({text::placeInStream(place.engine, place.index, place.mnemonic), {}});
    return error;
  }

  Status checkEngine(size_t index) {
    const isa::Engine engine = program.streams[index].engine;
    auto bad = [&](std::string what) {
      return makeError(Fault::User, fmt::format("stream {} {}", index, what), {},
                       std::string(kBadFile));
    };
    if (engine == isa::Engine::Unknown || !text::hasCase(isa::engineCases(), uint32_t(engine)))
      return bad(fmt::format("belongs to engine number {}, which does not run "
                             "instructions",
                             unsigned(engine)));
    if (index > 0 && engine <= program.streams[index - 1].engine)
      return bad(fmt::format("belongs to the {} engine, after that of {}; each "
                             "engine has one stream, in the order of their "
                             "numbers",
                             isa::name(engine), isa::name(program.streams[index - 1].engine)));
    return Status::ok();
  }

  Status checkStream(const Stream &stream) {
    std::vector<RecordOrder> &order = orders.emplace_back();
    std::span<const std::byte> rest = stream.bytes;
    Place place{stream.engine, 0, {}, kNone};
    loops.startStream(stream.engine);
    for (; !rest.empty(); ++place.index) {
      Expected<Record> record = decodeRecord(rest);
      if (!record) {
        place.mnemonic = {};
        place.location = kNone;
        return fault(place, record.error().rule, record.error().message, record.error().help);
      }
      place.mnemonic = record->inst.desc().mnemonic;
      place.location = record->location;
      if (Status status = checkRecord(*record, place); !status)
        return status;
      if (Status status = checkOrder(*record, place); !status)
        return status;
      order.push_back({record->order, place.index});
    }
    std::sort(order.begin(), order.end());
    if (std::string wrong = loops.endStream(); !wrong.empty())
      return makeError(Fault::User,
                       fmt::format("the {} stream: {}", isa::name(stream.engine), wrong), {},
                       std::string(kMalformed));
    return Status::ok();
  }

  /// Semaphores may keep what must be kept of the program's order; without them streams do. Nothing
  /// passes the edge of a loop.
  Status checkOrder(const Record &record, const Place &place) {
    if (place.index == 0)
      highest = lastEdge = std::nullopt;
    const bool isEdge = LoopWalk::isEdge(record.inst.opcode);
    const bool isStrict = isEdge || !program.flags.synchronised;
    const std::optional<uint32_t> floor = isStrict ? highest : lastEdge;
    if (floor && record.order <= *floor)
      return fault(place, kMalformed,
                   fmt::format("order {} follows order {}, {} the program's order", record.order,
                               *floor, isStrict && !isEdge ? "a stream keeps" : "loops keep"));
    highest = std::max(highest.value_or(0), record.order);
    if (isEdge)
      lastEdge = record.order;
    return Status::ok();
  }

  Status checkRecord(const Record &record, const Place &place) {
    if (record.location != kNone && record.location >= program.locations.size())
      return fault(place, kMalformed,
                   fmt::format("the record names location {}, the program has "
                               "{}",
                               record.location, program.locations.size()));
    if (record.inst.engine != place.engine)
      return fault(place, kMalformed,
                   fmt::format("'{}' for the {} engine stands in the {} stream", place.mnemonic,
                               isa::name(record.inst.engine), isa::name(place.engine)));
    if (Status status = checkOperands(record.inst, place); !status)
      return status;
    if (Status status = checkRegisters(record.inst, place); !status)
      return status;
    if (Status status = checkRules(record.inst, place); !status)
      return status;
    if (record.inst.desc().isObserver)
      if (Status status = checkText(record.inst, place); !status)
        return status;
    if (LoopWalk::isEdge(record.inst.opcode))
      return checkEdge(record, place);
    return checkSync(record, place);
  }

  //---- loops ------------------------------------------------------------===//

  Status checkEdge(const Record &record, const Place &place) {
    if (record.sync != Sync{})
      return fault(place, kMalformed,
                   fmt::format("'{}' waits for or updates a semaphore: at the edge of a loop all "
                               "streams meet, and semaphores restart",
                               place.mnemonic));
    if (std::string wrong = loops.pass(record.inst); !wrong.empty())
      return fault(place, kMalformed, wrong);
    return Status::ok();
  }

  /// A tensor declared in a loop names one there is. Accesses have been seen to stand inside it.
  Status checkScopes() {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const TensorInfo &tensor = program.tensors[i];
      if (tensor.loop == kNone || tensor.loop < loops.loops())
        continue;
      Diagnostic error =
          makeError(Fault::User,
                    fmt::format("tensor {} {} is declared in loop {}, the streams have {}", i,
                                text::quoted(tensor.name), tensor.loop, loops.loops()),
                    {}, std::string(kBadFile));
      error.place = program.chain(tensor.location);
      return error;
    }
    return Status::ok();
  }

  //---- operands ---------------------------------------------------------===//

  /// What must hold before the rules may look at the tensors, and what they do
  /// not know of: roles, and how much work one access may ask for.
  Status checkOperands(const isa::Instruction &inst, const Place &place) {
    const isa::InstDesc &desc = inst.desc();
    for (size_t i = 0; i < desc.operands.size(); ++i) {
      const isa::Access &access = inst.operands[i];
      const std::string_view role = desc.operands[i].name;
      if (!access.present())
        continue;
      if (access.tensor >= program.tensors.size())
        return fault(place, kMalformed,
                     fmt::format("operand '{}' names tensor {}, the program "
                                 "has {}",
                                 role, access.tensor, program.tensors.size()));
      if (countsTooMuch(access))
        return fault(
            place, kMalformed,
            fmt::format("operand '{}' counts more than {} elements", role, Limits::hbmBytes));
      const TensorInfo &tensor = program.tensors[access.tensor];
      if (tensor.loop != kNone && !loops.isInside(tensor.loop))
        return fault(place, kMalformed,
                     fmt::format("operand '{}' names {} outside loop {}, in which it is declared",
                                 role, text::quoted(tensor.name), tensor.loop));
      if (!desc.operands[i].isOutput)
        continue;
      if (tensor.role == TensorRole::Input)
        return fault(
            place, kReadOnly,
            fmt::format("{} {} is a kernel input and read-only", role, text::quoted(tensor.name)),
            "declare the parameter as nl::InOut, or copy it");
      if (tensor.role == TensorRole::Constant)
        return fault(
            place, kReadOnly,
            fmt::format("{} {} is a constant and read-only", role, text::quoted(tensor.name)),
            "write to a tensor of its own");
    }
    return Status::ok();
  }

  /// The sequencer has the registers that fields and accesses name.
  Status checkRegisters(const isa::Instruction &inst, const Place &place) {
    const auto check = [&](std::string_view what, int64_t number) -> Status {
      if (number == isa::kNoRegister || number < isa::machine.maxSequencerRegisters)
        return Status::ok();
      return fault(place, kMalformed,
                   fmt::format("{} names register {}, a sequencer has {} (0 to {})", what, number,
                               isa::machine.maxSequencerRegisters,
                               isa::machine.maxSequencerRegisters - 1));
    };
    for (const isa::FieldDesc &field : inst.desc().fields)
      if (field.kind == isa::FieldKind::Register)
        if (Status status = check(field.name, inst.fields[field.word]); !status)
          return status;
    for (size_t i = 0; i < inst.desc().operands.size(); ++i)
      if (Status status = check(inst.desc().operands[i].name, inst.operands[i].indexRegister);
          !status)
        return status;
    return Status::ok();
  }

  /// What the fields number is there.
  Status checkText(const isa::Instruction &inst, const Place &place) {
    const int64_t text = inst.word("text");
    if (uint64_t(text) < program.texts.size())
      return Status::ok();
    return fault(place, kMalformed,
                 fmt::format("'{}' shows text {}, the program has {}", place.mnemonic, text,
                             program.texts.size()));
  }

  /// Empty dims are the rules' business.
  static bool countsTooMuch(const isa::Access &access) {
    int64_t elements = access.partitionCount;
    for (unsigned i = 0; i < access.rank; ++i)
      if (access.num[i] > 1 && (__builtin_mul_overflow(elements, access.num[i], &elements) ||
                                elements > Limits::hbmBytes))
        return true;
    return false;
  }

  Status checkRules(const isa::Instruction &inst, const Place &place) {
    isa::InstView view{inst, inst.desc(), {}, loops.tripCounts()};
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      if (inst.operands[i].present()) {
        const TensorInfo &tensor = program.tensors[inst.operands[i].tensor];
        view.tensors[i] = {tensor.name, tensor.memory, tensor.dtype, tensor.shape,
                           tensor.partition};
      }
    if (isa::checkInstruction(view, [](isa::Violation) {}))
      return Status::ok();
    // A name may be long or hold any byte: the message shows a tame form.
    std::array<std::string, isa::kMaxOperands> names;
    for (unsigned i = 0; i < isa::kMaxOperands; ++i) {
      names[i] = text::shown(view.tensors[i].name);
      view.tensors[i].name = names[i];
    }
    std::optional<isa::Violation> first;
    isa::checkInstruction(view, [&](isa::Violation violation) {
      if (!first)
        first = std::move(violation);
    });
    assert(first && "a rule that fails says why");
    Diagnostic error = fault(place, first->rule, first->message, first->help);
    if (first->operand >= 0 && (first->rule == "V-01" || first->rule == "V-11"))
      addReach(view, unsigned(first->operand), error);
    return error;
  }

  /// An operand leaves its tensor: the bytes of both, in every iteration, and the declaration.
  void addReach(const isa::InstView &view, unsigned operand, Diagnostic &error) const {
    const isa::Access &access = view.access(operand);
    const TensorInfo &tensor = program.tensors[access.tensor];
    const bool isOnChip = tensor.memory != isa::Memory::Hbm;
    // Numbers of a file may be anything: wide enough for each product, and few enough of them.
    __int128 first = access.offset, last = access.offset;
    const auto extend = [&](int64_t step, int64_t count) {
      (step < 0 ? first : last) += __int128(step) * (count - 1);
    };
    for (unsigned i = 0; i < access.rank; ++i)
      extend(access.step[i], access.num[i]);
    for (size_t l = 0; l < view.tripCounts.size(); ++l)
      extend(access.loopStep[l], view.tripCounts[l]);
    extend(access.rowStep, access.partitionCount);
    const int64_t width = isa::bytesOf(access.dtype), base = isOnChip ? int64_t(tensor.byte) : 0;
    const auto number = [](__int128 n) {
      return int64_t(std::clamp<__int128>(n, INT64_MIN, INT64_MAX));
    };
    const auto partitions = [&](int64_t start, int64_t count) {
      return isOnChip ? fmt::format("partitions {}-{}, ", tensor.partition + start,
                                    tensor.partition + start + count - 1)
                      : std::string();
    };
    error.notes.push_back(
        {fmt::format("'{}' asks for {} {}bytes {} to {}; {} is {}bytes {} to {}",
                     view.desc.operands[operand].name, isa::name(tensor.memory),
                     partitions(access.partitionStart, access.partitionCount),
                     number(base + first * width), number(base + (last + 1) * width - 1),
                     text::quoted(tensor.name), partitions(0, isOnChip ? tensor.shape[0] : 1), base,
                     base + tensor.freeBytes() - 1),
         {}});
    if (kiln::CallChain chain = program.chain(tensor.location); !chain.empty())
      error.notes.push_back({text::quoted(tensor.name) + " was declared here", std::move(chain)});
  }

  //---- semaphores -------------------------------------------------------===//

  Status checkSync(const Record &record, const Place &place) {
    const Sync &sync = record.sync;
    if (!program.flags.synchronised && sync != Sync{})
      return fault(place, kMalformed,
                   fmt::format("'{}' waits for or updates a semaphore, but the "
                               "program is not synchronised",
                               place.mnemonic));
    if (Status status = checkSemaphore(sync.waitSemaphore, sync.waitValue, "waits for", place);
        !status)
      return status;
    if (Status status = checkSemaphore(sync.updateSemaphore, sync.updateValue, "updates", place);
        !status)
      return status;
    if (sync.updateSemaphore != Sync::kNoSemaphore)
      if (Status status = checkUpdate(record, place); !status)
        return status;
    if (sync.waitSemaphore != Sync::kNoSemaphore) {
      Semaphore &semaphore = semaphoreAt(sync.waitSemaphore);
      if (sync.waitValue > semaphore.longest) {
        semaphore.longest = sync.waitValue;
        semaphore.place = place;
      }
    }
    return Status::ok();
  }

  Status checkSemaphore(uint16_t semaphore, uint32_t value, std::string_view verb,
                        const Place &place) {
    if (semaphore == Sync::kNoSemaphore) {
      if (value != 0)
        return fault(
            place, kMalformed,
            fmt::format("'{}' {} no semaphore, but with value {}", place.mnemonic, verb, value));
      return Status::ok();
    }
    if (semaphore >= isa::machine.numSemaphores)
      return fault(place, kMalformed,
                   fmt::format("'{}' {} semaphore {}, the core has {} (0 to "
                               "{})",
                               place.mnemonic, verb, semaphore, isa::machine.numSemaphores,
                               isa::machine.numSemaphores - 1));
    return Status::ok();
  }

  Status checkUpdate(const Record &record, const Place &place) {
    const Sync &sync = record.sync;
    if (record.inst.desc().isTransfer && sync.updateValue != isa::machine.dmaEngines)
      return fault(place, kMalformed,
                   fmt::format("'{}' adds {} to semaphore {}, a DMA adds {}: 1 "
                               "from each of its engines",
                               place.mnemonic, sync.updateValue, sync.updateSemaphore,
                               isa::machine.dmaEngines));
    if (sync.updateValue == 0)
      return fault(place, kMalformed,
                   fmt::format("'{}' adds 0 to semaphore {}, an update adds at "
                               "least 1",
                               place.mnemonic, sync.updateSemaphore));
    uint64_t &total = semaphoreAt(sync.updateSemaphore).total;
    if (total += sync.updateValue; total > UINT32_MAX)
      return fault(place, kMalformed,
                   fmt::format("the updates of semaphore {} add up to {} here, "
                               "a semaphore counts to {}",
                               sync.updateSemaphore, total, UINT32_MAX));
    return Status::ok();
  }

  Status checkWaits() {
    for (size_t e = 0; e < epochs.size(); ++e)
      for (const auto &[number, semaphore] : epochs[e])
        if (semaphore.longest > semaphore.total)
          return fault(semaphore.place, kNeverReached,
                       fmt::format("'{}' waits until semaphore {} is {}, all its "
                                   "updates {}add up to {}",
                                   semaphore.place.mnemonic, number, semaphore.longest,
                                   epochs.size() > 1 ? "between two edges of loops " : "",
                                   semaphore.total));
    return Status::ok();
  }

  //---- order ------------------------------------------------------------===//

  /// Merging the sorted orders of the streams finds one that two records share.
  Status checkOrders() {
    std::vector<size_t> next(orders.size());
    bool isFirst = true;
    for (uint32_t last = 0;;) {
      size_t lowest = orders.size();
      for (size_t i = 0; i < orders.size(); ++i)
        if (next[i] < orders[i].size() &&
            (lowest == orders.size() ||
             orders[i][next[i]].order < orders[lowest][next[lowest]].order))
          lowest = i;
      if (lowest == orders.size())
        return Status::ok();
      const auto [order, index] = orders[lowest][next[lowest]];
      if (!isFirst && order == last) {
        const Place place{program.streams[lowest].engine, index, {}, kNone};
        return fault(place, kMalformed, fmt::format("order {} is taken by another record", order));
      }
      isFirst = false;
      last = order;
      ++next[lowest];
    }
  }

  struct RecordOrder {
    uint32_t order;
    size_t index; ///< of the record in its stream
    auto operator<=>(const RecordOrder &) const = default;
  };
  /// One semaphore between two edges of loops.
  struct Semaphore {
    uint64_t total = 0; ///< of the updates
    uint32_t longest = 0;
    Place place; ///< of the wait for `longest`
  };
  Semaphore &semaphoreAt(uint16_t number) {
    if (loops.epoch() >= epochs.size())
      epochs.resize(loops.epoch() + 1);
    return epochs[loops.epoch()][number];
  }

  const Program &program;
  std::vector<std::vector<RecordOrder>> orders; ///< of each stream, ascending
  LoopWalk loops;
  std::optional<uint32_t> highest, lastEdge;         ///< orders of the stream at hand
  std::vector<std::map<uint16_t, Semaphore>> epochs; ///< semaphores that were named in it
};

} // namespace

Status verifyStreams(const Program &program) { return StreamVerifier(program).run(); }

} // namespace kilnrt
