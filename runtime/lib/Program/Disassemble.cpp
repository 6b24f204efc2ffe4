//===- Disassemble.cpp - a program as assembler text ------------------------------------------===//
//
// Everything a program holds is printed, so that the assembler gives it back
// bit for bit. The grammar is in docs/ProgramFile.md.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "kilnrt/Asm.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace kilnrt {
namespace {

constexpr std::string_view kRoleNames[] = {"internal", "input", "output", "constant"};

class Disassembler {
public:
  explicit Disassembler(const Program &program) : program(program) {}

  Expected<std::string> run() {
    if (Status status = checkEnums(); !status)
      return status.error();
    spellTensors();
    printHeader();
    printLocations();
    printTexts();
    for (size_t i = 0; i < program.constants.size(); ++i)
      printConstant(i);
    for (size_t i = 0; i < program.tensors.size(); ++i)
      printTensor(i);
    for (const Stream &stream : program.streams)
      if (Status status = printStream(stream); !status)
        return status.error();
    return std::move(out);
  }

private:
  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }

  /// A program never verified may hold enum values that have no spelling.
  Status checkEnums() const {
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const TensorInfo &tensor = program.tensors[i];
      if (!text::hasCase(isa::memoryCases(), uint32_t(tensor.memory)) ||
          !text::hasCase(isa::dtypeCases(), uint32_t(tensor.dtype)) ||
          size_t(tensor.role) >= std::size(kRoleNames))
        return makeError(Fault::User, fmt::format("tensor {} {} has a memory, dtype or role "
                                                  "without a name",
                                                  i, text::quoted(tensor.name)));
    }
    for (const Stream &stream : program.streams)
      if (!text::hasCase(isa::engineCases(), uint32_t(stream.engine)))
        return makeError(Fault::User, fmt::format("a stream belongs to engine number {}, "
                                                  "which has no name",
                                                  unsigned(stream.engine)));
    return Status::ok();
  }

  /// The shortest spelling that names one tensor only.
  void spellTensors() {
    std::unordered_map<std::string_view, size_t> uses;
    for (const TensorInfo &tensor : program.tensors)
      ++uses[tensor.name];
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const std::string &name = program.tensors[i].name;
      std::string spelling;
      if (text::isIdentifier(name))
        spelling = name;
      else if (!name.empty())
        text::appendString(spelling, name);
      if (name.empty() || uses[name] > 1)
        spelling += fmt::format("%{}", i);
      spellings.push_back(std::move(spelling));
    }
  }

  void printHeader() {
    out += ".kernel ";
    text::appendString(out, program.kernel);
    out += "\n.target ";
    text::appendString(out, program.target);
    out += "\n.flags";
    if (program.flags.placed)
      out += " placed";
    if (program.flags.scheduled)
      out += " scheduled";
    if (program.flags.synchronised)
      out += " synchronised";
    out += '\n';
  }

  void printLocations() {
    for (size_t i = 0; i < program.files.size(); ++i) {
      print(".file {} ", i);
      text::appendString(out, program.files[i]);
      out += '\n';
    }
    for (size_t i = 0; i < program.locations.size(); ++i) {
      const Location &location = program.locations[i];
      print(".loc @{} {}:{}", i, location.file, location.line);
      if (location.caller != kNone)
        print(" from @{}", location.caller);
      out += '\n';
    }
  }

  void printTexts() {
    for (size_t i = 0; i < program.texts.size(); ++i) {
      print(".text {} ", i);
      text::appendString(out, program.texts[i]);
      out += '\n';
    }
  }

  /// Long runs of zeros, common in identities and masks, take one line.
  void printConstant(size_t index) {
    constexpr size_t kBytesPerLine = 32, kShortestRun = 16, kLongestRun = 4096;
    print(".constant {}\n", index);
    const std::vector<std::byte> &data = program.constants[index].data;
    auto zerosAt = [&](size_t at) {
      size_t end = std::min(data.size(), at + kLongestRun), n = at;
      while (n < end && data[n] == std::byte{0})
        ++n;
      return n - at;
    };
    for (size_t at = 0; at < data.size();) {
      if (size_t zeros = zerosAt(at); zeros >= kShortestRun) {
        print("  .zero {}\n", zeros);
        at += zeros;
        continue;
      }
      out += "  .hex ";
      for (size_t n = 0; n < kBytesPerLine && at < data.size(); ++n, ++at) {
        if (n && data[at] == std::byte{0} && zerosAt(at) >= kShortestRun)
          break;
        print("{:02x}", unsigned(data[at]));
      }
      out += '\n';
    }
  }

  void printTensor(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    print(".tensor %{} ", index);
    if (text::isIdentifier(tensor.name))
      out += tensor.name;
    else
      text::appendString(out, tensor.name);
    print(" {} ", isa::name(tensor.memory));
    for (int64_t extent : tensor.shape)
      print("{}x", extent);
    out += isa::info(tensor.dtype).shortName;
    if (tensor.role != TensorRole::Internal || tensor.index != 0)
      print(" {} {}", kRoleNames[size_t(tensor.role)], tensor.index);
    if (tensor.memory != isa::Memory::Hbm || tensor.partition || tensor.byte)
      print(" at {},{}", tensor.partition, tensor.byte);
    if (tensor.loop != kNone)
      print(" in loop {}", tensor.loop);
    if (tensor.location != kNone)
      print(" @{}", tensor.location);
    out += '\n';
  }

  void printSemaphore(uint16_t semaphore) {
    if (semaphore == Sync::kNoSemaphore)
      out += "none";
    else
      print("s{}", semaphore);
  }

  Status printStream(const Stream &stream) {
    print(".stream {}\n", isa::name(stream.engine));
    std::span<const std::byte> rest = stream.bytes;
    for (size_t i = 0; !rest.empty(); ++i) {
      Expected<Record> record = decodeRecord(rest);
      if (!record) {
        Diagnostic error = record.error();
        error.notes.push_back({text::placeInStream(stream.engine, i, {}), {}});
        return error;
      }
      if (Status status = checkTensors(*record, stream.engine, i); !status)
        return status;
      printRecord(*record, stream.engine);
    }
    return Status::ok();
  }

  Status checkTensors(const Record &record, isa::Engine engine, size_t index) {
    const isa::InstDesc &desc = record.inst.desc();
    for (size_t i = 0; i < desc.operands.size(); ++i) {
      const isa::Access &access = record.inst.operands[i];
      if (!access.present() || access.tensor < program.tensors.size())
        continue;
      Diagnostic error = makeError(
          Fault::User,
          fmt::format("'{}': operand '{}' names tensor {}, the program has {}", desc.mnemonic,
                      desc.operands[i].name, access.tensor, program.tensors.size()),
          {}, "X-06");
      error.notes.push_back({text::placeInStream(engine, index, desc.mnemonic), {}});
      return error;
    }
    return Status::ok();
  }

  void printRecord(const Record &record, isa::Engine engine) {
    const Sync &sync = record.sync;
    out += "  ";
    if (sync.waitSemaphore != Sync::kNoSemaphore || sync.waitValue != 0) {
      out += "wait ";
      printSemaphore(sync.waitSemaphore);
      print(">={} ", sync.waitValue);
    }
    std::array<OperandText, isa::kMaxOperands> operands;
    for (unsigned i = 0; i < isa::kMaxOperands; ++i)
      operands[i] = textOf(record.inst.operands[i]);
    printInstruction(out, record.inst, operands, engine);
    if (sync.updateSemaphore != Sync::kNoSemaphore || sync.updateValue != 0) {
      out += " update ";
      printSemaphore(sync.updateSemaphore);
      print("+={}", sync.updateValue);
    }
    if (record.location != kNone)
      print(" @{}", record.location);
    print(" #{}\n", record.order);
  }

  OperandText textOf(const isa::Access &access) {
    if (!access.present())
      return {};
    const TensorInfo &tensor = program.tensors[access.tensor];
    return {spellings[access.tensor], tensor.memory, tensor.dtype};
  }

  const Program &program;
  std::vector<std::string> spellings;
  std::string out;
};

} // namespace

Expected<std::string> disassemble(const Program &program) { return Disassembler(program).run(); }

} // namespace kilnrt
