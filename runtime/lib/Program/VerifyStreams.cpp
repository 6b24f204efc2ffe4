//===- VerifyStreams.cpp - what must hold of a program's streams ------------------------------===//
//
// One pass over each stream, a record at a time: nothing decoded is kept but
// the order numbers. The rules of an instruction are the table's, shared with
// the compiler; here is what only streams have: engines, order, semaphores.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "Verify.h"
#include "kiln/ISA/Rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
    std::vector<uint32_t> &order = orders.emplace_back();
    std::span<const std::byte> rest = stream.bytes;
    Place place{stream.engine, 0, {}, kNone};
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
      if (!order.empty() && record->order <= order.back())
        return fault(place, kMalformed,
                     fmt::format("order {} follows order {}, a stream keeps "
                                 "the program's order",
                                 record->order, order.back()));
      order.push_back(record->order);
    }
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
    if (Status status = checkRules(record.inst, place); !status)
      return status;
    return checkSync(record, place);
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
    isa::InstView view{inst, inst.desc(), {}};
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
    return fault(place, first->rule, first->message, first->help);
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
      Wait &longest = waits[sync.waitSemaphore];
      if (sync.waitValue > longest.value)
        longest = {sync.waitValue, place};
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
    if (record.inst.opcode == isa::Opcode::DmaCopy && sync.updateValue != isa::machine.dmaEngines)
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
    uint64_t &total = totals[sync.updateSemaphore];
    if (total += sync.updateValue; total > UINT32_MAX)
      return fault(place, kMalformed,
                   fmt::format("the updates of semaphore {} add up to {} here, "
                               "a semaphore counts to {}",
                               sync.updateSemaphore, total, UINT32_MAX));
    return Status::ok();
  }

  Status checkWaits() {
    for (size_t i = 0; i < waits.size(); ++i)
      if (waits[i].value > totals[i])
        return fault(waits[i].place, kNeverReached,
                     fmt::format("'{}' waits until semaphore {} is {}, all its "
                                 "updates add up to {}",
                                 waits[i].place.mnemonic, i, waits[i].value, totals[i]));
    return Status::ok();
  }

  //---- order ------------------------------------------------------------===//

  /// Streams are ordered each on its own by now: merging them finds an order
  /// two records share.
  Status checkOrders() {
    std::vector<size_t> next(orders.size());
    bool isFirst = true;
    for (uint32_t last = 0;;) {
      size_t lowest = orders.size();
      for (size_t i = 0; i < orders.size(); ++i)
        if (next[i] < orders[i].size() &&
            (lowest == orders.size() || orders[i][next[i]] < orders[lowest][next[lowest]]))
          lowest = i;
      if (lowest == orders.size())
        return Status::ok();
      const uint32_t order = orders[lowest][next[lowest]];
      if (!isFirst && order == last) {
        const Place place{program.streams[lowest].engine, next[lowest], {}, kNone};
        return fault(place, kMalformed,
                     fmt::format("order {} is taken by a record of another "
                                 "stream",
                                 order));
      }
      isFirst = false;
      last = order;
      ++next[lowest];
    }
  }

  struct Wait {
    uint32_t value = 0;
    Place place;
  };

  const Program &program;
  std::vector<std::vector<uint32_t>> orders; ///< of each stream
  std::array<uint64_t, isa::machine.numSemaphores> totals{};
  std::array<Wait, isa::machine.numSemaphores> waits{};
};

} // namespace

Status verifyStreams(const Program &program) { return StreamVerifier(program).run(); }

} // namespace kilnrt
