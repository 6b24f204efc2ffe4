//===- Verify.cpp - what must hold of a program's declarations --------------------------------===//
//
// Header, locations, tensors and constants. Limits of a tensor come from the
// rules the compiler uses too; what is checked here besides is what only a
// file can get wrong.
//
//===------------------------------------------------------------------------------------------===//

#include "Verify.h"

#include "Text.h"
#include "kiln/ISA/Rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace kilnrt {
namespace {

constexpr std::string_view kBadFile = "X-05";

class DeclarationVerifier {
public:
  explicit DeclarationVerifier(const Program &program) : program(program) {}

  Status run() {
    for (auto check : {&DeclarationVerifier::checkHeader, &DeclarationVerifier::checkLocations,
                       &DeclarationVerifier::checkTensors, &DeclarationVerifier::checkTotals,
                       &DeclarationVerifier::checkRoles, &DeclarationVerifier::checkPrivate})
      if (Status status = (this->*check)(); !status)
        return status;
    return Status::ok();
  }

private:
  static Diagnostic fault(std::string message, std::string help = {},
                          std::string_view rule = kBadFile) {
    return makeError(Fault::User, std::move(message), std::move(help), std::string(rule));
  }

  Diagnostic tensorFault(size_t index, std::string_view what,
                         std::string_view rule = kBadFile) const {
    const TensorInfo &tensor = program.tensors[index];
    Diagnostic error =
        fault(fmt::format("tensor {} {} {}", index, text::quoted(tensor.name), what), {}, rule);
    error.place = program.chain(tensor.location);
    return error;
  }

  //---- header -----------------------------------------------------------===//

  Status checkHeader() {
    if (program.target != kTargetName)
      return fault(fmt::format("the program is for target {}, this is {}",
                               text::quoted(program.target), text::quoted(kTargetName)));
    if (uint64_t bytes = fileBytesBound(program); bytes > Limits::fileBytes)
      return fault(fmt::format("the program needs a file of {} bytes, at most "
                               "{} are allowed",
                               bytes, Limits::fileBytes));
    return Status::ok();
  }

  Status checkLocations() {
    std::vector<uint16_t> depths(program.locations.size());
    for (size_t i = 0; i < program.locations.size(); ++i) {
      const Location &location = program.locations[i];
      if (location.file >= program.files.size())
        return fault(fmt::format("location {} names file {}, the program has "
                                 "{} files",
                                 i, location.file, program.files.size()));
      if (location.caller == kNone)
        continue;
      if (location.caller >= i)
        return fault(fmt::format("location {} is called from location {}, a "
                                 "caller comes first",
                                 i, location.caller));
      depths[i] = uint16_t(depths[location.caller] + 1);
      if (depths[i] >= Limits::callDepth)
        return fault(
            fmt::format("location {} is nested in more than {} calls", i, Limits::callDepth));
    }
    return Status::ok();
  }

  //---- tensors ----------------------------------------------------------===//

  Status checkTensors() {
    if (program.tensors.size() >= kNone)
      return fault(fmt::format("the program has {} tensors, at most {} are "
                               "allowed",
                               program.tensors.size(), kNone - 1));
    for (size_t i = 0; i < program.tensors.size(); ++i)
      if (Status status = checkTensor(i); !status)
        return status;
    return Status::ok();
  }

  Status checkTensor(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    if (tensor.location != kNone && tensor.location >= program.locations.size())
      return tensorFault(index, fmt::format("names location {}, the program "
                                            "has {}",
                                            tensor.location, program.locations.size()));
    if (!text::hasCase(isa::memoryCases(), uint32_t(tensor.memory)))
      return tensorFault(index, fmt::format("has unknown memory {}", unsigned(tensor.memory)));
    if (!text::hasCase(isa::dtypeCases(), uint32_t(tensor.dtype)))
      return tensorFault(index, fmt::format("has unknown dtype {}", unsigned(tensor.dtype)));
    if (tensor.role > TensorRole::Constant)
      return tensorFault(index, fmt::format("has unknown role {}", unsigned(tensor.role)));
    if (tensor.loop != kNone && tensor.role != TensorRole::Internal)
      return tensorFault(index, "is an input, output or constant declared in a loop");
    if (Status status = checkTensorRules(index); !status)
      return status;
    return tensor.memory == isa::Memory::Hbm ? checkHbmTensor(index) : checkOnChipTensor(index);
  }

  /// The rules every tensor declaration obeys, in the author's words.
  Status checkTensorRules(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    const std::string name = text::shown(tensor.name);
    isa::TensorView view{name, tensor.memory, tensor.dtype, tensor.shape, tensor.partition};
    std::optional<isa::TensorAddress> address;
    if (program.flags.placed && tensor.memory != isa::Memory::Hbm)
      address = isa::TensorAddress{tensor.partition, tensor.byte};
    std::optional<isa::Violation> first;
    isa::checkTensor(view, address, [&](isa::Violation violation) {
      if (!first)
        first = std::move(violation);
    });
    if (!first)
      return Status::ok();
    Diagnostic error = fault(first->message, first->help, first->rule);
    error.place = program.chain(tensor.location);
    error.notes.push_back({fmt::format("tensor {} of the program", index), {}});
    return error;
  }

  Status checkHbmTensor(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    if (tensor.partition != 0 || tensor.byte != 0)
      return tensorFault(index, "is in HBM, but has an on-chip address");
    if (tensor.freeBytes() > Limits::hbmBytes)
      return tensorFault(index, fmt::format("takes {} bytes of HBM, all tensors "
                                            "together may take {}",
                                            tensor.freeBytes(), Limits::hbmBytes));
    return Status::ok();
  }

  /// Rules hold for one tensor; addresses of programs not placed are numbers
  /// of the file alone.
  Status checkOnChipTensor(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    if (tensor.role != TensorRole::Internal)
      return tensorFault(index, "is an input, output or constant on chip, "
                                "those are in HBM");
    if (tensor.partition + tensor.shape[0] > isa::machine.numPartitions)
      return tensorFault(index,
                         fmt::format("takes partitions {} to {}, the core has "
                                     "{}",
                                     tensor.partition, tensor.partition + tensor.shape[0] - 1,
                                     isa::machine.numPartitions));
    if (tensor.byte % isa::machine.sbufMinAlign != 0)
      return tensorFault(index, fmt::format("starts at byte {}, which is no "
                                            "multiple of {}",
                                            tensor.byte, isa::machine.sbufMinAlign));
    if (tensor.byte > uint64_t(Limits::onChipBytes) ||
        int64_t(tensor.byte) + tensor.freeBytes() > Limits::onChipBytes)
      return tensorFault(index, fmt::format("starts at byte {} and takes {}, a "
                                            "partition holds at most {} while "
                                            "nothing is placed",
                                            tensor.byte, tensor.freeBytes(), Limits::onChipBytes));
    return Status::ok();
  }

  Status checkTotals() {
    int64_t total = 0;
    for (const TensorInfo &tensor : program.tensors)
      if (tensor.memory == isa::Memory::Hbm)
        if (total += tensor.freeBytes(); total > Limits::hbmBytes)
          return fault(fmt::format("the program's HBM tensors take more than "
                                   "{} bytes",
                                   Limits::hbmBytes));
    return Status::ok();
  }

  //---- roles ------------------------------------------------------------===//

  Status checkRoles() {
    if (Status status = checkNumbering(TensorRole::Input, "input"); !status)
      return status;
    if (Status status = checkNumbering(TensorRole::Output, "output"); !status)
      return status;
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const TensorInfo &tensor = program.tensors[i];
      if (tensor.role == TensorRole::Internal && tensor.index != 0)
        return tensorFault(i, fmt::format("has index {}, but is no input, "
                                          "output or constant",
                                          tensor.index));
      if (tensor.role == TensorRole::Constant)
        if (Status status = checkConstant(i); !status)
          return status;
    }
    return Status::ok();
  }

  /// The tensors of `role` are numbered 0 to n-1, each number once.
  Status checkNumbering(TensorRole role, std::string_view name) {
    size_t count = 0;
    for (const TensorInfo &tensor : program.tensors)
      count += tensor.role == role;
    std::vector<bool> isTaken(count);
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      const TensorInfo &tensor = program.tensors[i];
      if (tensor.role != role)
        continue;
      if (tensor.index >= count)
        return tensorFault(i, fmt::format("is {} {}, {}s are numbered 0 to {}", name, tensor.index,
                                          name, count - 1));
      if (isTaken[tensor.index])
        return tensorFault(i, fmt::format("is {} {}, as an earlier tensor is", name, tensor.index));
      isTaken[tensor.index] = true;
    }
    return Status::ok();
  }

  Status checkConstant(size_t index) {
    const TensorInfo &tensor = program.tensors[index];
    if (tensor.index >= program.constants.size())
      return tensorFault(index, fmt::format("is constant {}, the program has "
                                            "{}",
                                            tensor.index, program.constants.size()));
    const size_t bytes = program.constants[tensor.index].data.size();
    if (bytes != uint64_t(tensor.freeBytes()))
      return tensorFault(index, fmt::format("takes {} bytes, constant {} has "
                                            "{}",
                                            tensor.freeBytes(), tensor.index, bytes));
    return Status::ok();
  }

  //---- private ranges ---------------------------------------------------===//

  /// Without placement no two on-chip tensors share a byte.
  Status checkPrivate() {
    if (program.flags.placed)
      return Status::ok();
    std::vector<uint32_t> order;
    for (size_t i = 0; i < program.tensors.size(); ++i)
      if (program.tensors[i].memory != isa::Memory::Hbm)
        order.push_back(uint32_t(i));
    auto key = [&](uint32_t i) {
      const TensorInfo &tensor = program.tensors[i];
      return std::tuple(tensor.memory, tensor.byte, i);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order.size(); ++i) {
      const TensorInfo &before = program.tensors[order[i - 1]];
      const TensorInfo &after = program.tensors[order[i]];
      if (before.memory == after.memory && before.byte + uint64_t(before.freeBytes()) > after.byte)
        return tensorFault(order[i],
                           fmt::format("starts at byte {}, inside tensor {} "
                                       "{}; tensors of a program not placed "
                                       "do not overlap",
                                       after.byte, order[i - 1], text::quoted(before.name)));
    }
    return Status::ok();
  }

  const Program &program;
};

} // namespace

Status verifyDeclarations(const Program &program) { return DeclarationVerifier(program).run(); }

Status verify(const Program &program) {
  if (Status status = verifyDeclarations(program); !status)
    return status;
  return verifyStreams(program);
}

} // namespace kilnrt
