//===- Container.cpp - program files: FlatBuffers around the streams --------------------------===//
//
// Writing is a function of the program alone. Reading trusts nothing: first
// FlatBuffers' verifier (offsets, sizes, nesting), then a budget that stops
// files whose parts share bytes to grow without bound in memory, then the
// program verifier, and last that the file is the one the program is written
// as.
//
//===------------------------------------------------------------------------------------------===//

#include "Layout.h"
#include "Program_generated.h"
#include "Text.h"
#include "Verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

namespace kilnrt {
namespace {

constexpr uint32_t kPlaced = 1, kScheduled = 2, kSynchronised = 4;
/// What the smallest string, table and list entry take in a file written
/// here; a file cannot hold more of them than fit.
constexpr uint64_t kStringBytes = 8, kTableBytes = 16, kEntryBytes = 4;

Diagnostic badFile(std::string message, std::string help = {}) {
  return makeError(Fault::User, std::move(message), std::move(help), "X-05");
}

//---- checksum -----------------------------------------------------------===//

/// FNV-1a over values of one meaning each.
class Hash {
public:
  void add(uint64_t value) {
    for (unsigned i = 0; i < 8; ++i)
      byte(uint8_t(value >> (8 * i)));
  }
  void add(std::string_view s) {
    add(s.size());
    for (char c : s)
      byte(uint8_t(c));
  }
  void add(isa::EnumCases cases) {
    add(cases.size());
    for (const isa::EnumCase &c : cases) {
      add(c.name);
      add(c.value);
    }
  }
  uint64_t value() const { return state; }

private:
  void byte(uint8_t b) { state = (state ^ b) * 0x100000001b3; }
  uint64_t state = 0xcbf29ce484222325;
};

void addInstruction(Hash &hash, const isa::InstDesc &desc) {
  hash.add(uint64_t(desc.opcode));
  hash.add(desc.mnemonic);
  hash.add(layout::recordBytes(desc));
  hash.add(desc.engines.size());
  for (isa::Engine engine : desc.engines)
    hash.add(uint64_t(engine));
  hash.add(desc.operands.size());
  for (const isa::OperandDesc &operand : desc.operands) {
    hash.add(operand.name);
    hash.add(uint64_t{operand.isOutput} | uint64_t{operand.isOptional} << 1 |
             uint64_t{operand.isColumn} << 2);
    hash.add(operand.memories);
    hash.add(operand.dtypes);
  }
  hash.add(desc.fields.size());
  for (const isa::FieldDesc &field : desc.fields) {
    hash.add(field.name);
    hash.add(uint64_t(field.kind));
    hash.add(field.word);
    hash.add(field.words);
    hash.add(field.cases);
  }
}

//---- writing ------------------------------------------------------------===//

flatbuffers::Offset<flatbuffers::String> writeString(flatbuffers::FlatBufferBuilder &builder,
                                                     const std::string &s) {
  return builder.CreateString(s.data(), s.size());
}

flatbuffers::Offset<flatbuffers::Vector<uint8_t>>
writeBytes(flatbuffers::FlatBufferBuilder &builder, const std::vector<std::byte> &bytes) {
  return builder.CreateVector(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

flatbuffers::Offset<fb::Tensor> writeTensor(flatbuffers::FlatBufferBuilder &builder,
                                            const TensorInfo &tensor) {
  auto name = writeString(builder, tensor.name);
  auto shape = builder.CreateVector(tensor.shape.data(), tensor.shape.size());
  return fb::CreateTensor(builder, name, uint8_t(tensor.memory), uint8_t(tensor.dtype),
                          uint8_t(tensor.role), shape, tensor.index, tensor.partition, tensor.byte,
                          tensor.location, tensor.loop);
}

//---- reading ------------------------------------------------------------===//

/// What the parts read so far would take in a file that shares no bytes. More
/// than the file has means that they do, and that memory could grow without
/// bound.
class Budget {
public:
  explicit Budget(uint64_t bytes) : left(bytes) {}
  bool take(uint64_t bytes) {
    if (bytes > left)
      return false;
    left -= bytes;
    return true;
  }

private:
  uint64_t left;
};

class Reader {
public:
  Reader(const fb::Program &file, uint64_t bytes) : file(file), budget(bytes) {}

  Expected<Program> run() {
    if (Status status = readHeader(); !status)
      return status.error();
    if (!readParts())
      return badFile("parts of the program file overlap",
                     "the file is damaged or was made by hand");
    return std::move(program);
  }

private:
  Status readHeader() {
    if (file.version() != kProgramVersion)
      return badFile(fmt::format("the program file has version {}, this reads "
                                 "version {}",
                                 file.version(), kProgramVersion),
                     "compile the kernel again");
    if (file.checksum() != tableChecksum())
      return badFile(fmt::format("the program file was written with another "
                                 "instruction table: checksum {:016x}, here "
                                 "{:016x}",
                                 file.checksum(), tableChecksum()),
                     "compile the kernel again");
    const uint32_t known = kPlaced | kScheduled | kSynchronised;
    if (file.flags() & ~known)
      return badFile(
          fmt::format("the program file has unknown flags {:#x}", file.flags() & ~known));
    program.flags.placed = file.flags() & kPlaced;
    program.flags.scheduled = file.flags() & kScheduled;
    program.flags.synchronised = file.flags() & kSynchronised;
    return Status::ok();
  }

  bool readParts() {
    if (!readString(program.kernel, file.kernel()) || !readString(program.target, file.target()))
      return false;
    for (const flatbuffers::String *name : *file.files())
      if (!budget.take(kEntryBytes) || !readString(program.files.emplace_back(), name))
        return false;
    if (!budget.take(uint64_t{file.locations()->size()} * sizeof(fb::Location)))
      return false;
    program.locations.reserve(file.locations()->size());
    for (const fb::Location *location : *file.locations())
      program.locations.push_back({location->file(), location->line(), location->caller()});
    for (const flatbuffers::String *text : *file.texts())
      if (!budget.take(kEntryBytes) || !readString(program.texts.emplace_back(), text))
        return false;
    for (const fb::Tensor *tensor : *file.tensors())
      if (!readTensor(*tensor))
        return false;
    for (const fb::Constant *constant : *file.constants())
      if (!budget.take(kTableBytes) ||
          !readBytes(program.constants.emplace_back().data, constant->data()))
        return false;
    for (const fb::Stream *stream : *file.streams()) {
      Stream &result = program.streams.emplace_back();
      result.engine = isa::Engine(stream->engine());
      if (!budget.take(kTableBytes) || !readBytes(result.bytes, stream->records()))
        return false;
    }
    return true;
  }

  bool readTensor(const fb::Tensor &tensor) {
    TensorInfo &info = program.tensors.emplace_back();
    if (!budget.take(kTableBytes + kStringBytes +
                     sizeof(int64_t) * uint64_t{tensor.shape()->size()}) ||
        !readString(info.name, tensor.name()))
      return false;
    // Enum values out of range are reported by the verifier.
    info.memory = isa::Memory(tensor.memory());
    info.dtype = isa::DType(tensor.dtype());
    info.role = TensorRole(tensor.role());
    // FlatBuffers' verifier aligns the length of a list, not its elements.
    info.shape.resize(tensor.shape()->size());
    for (size_t i = 0; i < info.shape.size(); ++i) {
      std::memcpy(&info.shape[i], tensor.shape()->Data() + i * sizeof(int64_t), sizeof(int64_t));
      info.shape[i] = flatbuffers::EndianScalar(info.shape[i]);
    }
    info.index = tensor.index();
    info.partition = tensor.partition();
    info.byte = tensor.byte();
    info.location = tensor.location();
    info.loop = tensor.loop();
    return true;
  }

  bool readString(std::string &out, const flatbuffers::String *s) {
    if (!budget.take(kEntryBytes + uint64_t{s->size()}))
      return false;
    out.assign(s->data(), s->size());
    return true;
  }

  bool readBytes(std::vector<std::byte> &out, const flatbuffers::Vector<uint8_t> *bytes) {
    if (!budget.take(bytes->size()))
      return false;
    const auto *first = reinterpret_cast<const std::byte *>(bytes->data());
    out.assign(first, first + bytes->size());
    return true;
  }

  const fb::Program &file;
  Budget budget;
  Program program;
};

/// Bytes at an address FlatBuffers may read numbers from; copied only when
/// the caller's are not.
class Aligned {
public:
  explicit Aligned(std::span<const std::byte> bytes) : view(bytes) {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0)
      return;
    copy.assign(bytes.begin(), bytes.end());
    view = copy;
  }
  const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(view.data()); }

private:
  std::vector<std::byte> copy;
  std::span<const std::byte> view;
};

bool isSound(const uint8_t *data, size_t size) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 4; // a program, its tables, nothing below
  options.max_tables = flatbuffers::uoffset_t(size / kTableBytes + 1);
  flatbuffers::Verifier verifier(data, size, options);
  return fb::VerifyProgramBuffer(verifier);
}

/// A sound file may still carry bytes no part claims, or lack the padding at its end. Only the one
/// form `serialize` writes is taken: equal files are then equal programs, and the other way round.
Status checkCanonical(const Program &program, std::span<const std::byte> bytes) {
  const std::vector<std::byte> own = serialize(program);
  auto [mine, theirs] = std::mismatch(own.begin(), own.end(), bytes.begin(), bytes.end());
  if (mine == own.end() && theirs == bytes.end())
    return Status::ok();
  return badFile(fmt::format("the program file is damaged: byte {} is not what belongs there",
                             mine - own.begin()));
}

} // namespace

//---- interface ----------------------------------------------------------===//

uint64_t tableChecksum() {
  static const uint64_t value = [] {
    Hash hash;
    hash.add(isa::engineCases());
    hash.add(isa::memoryCases());
    hash.add(isa::dtypeCases());
    hash.add(isa::instructions().size());
    for (const isa::InstDesc &desc : isa::instructions())
      addInstruction(hash, desc);
    return hash.value();
  }();
  return value;
}

uint64_t fileBytesBound(const Program &program) {
  constexpr uint64_t kTable = 104; // with its vtable, lists and padding
  uint64_t bytes = 1024 + program.kernel.size() + program.target.size();
  for (const TensorInfo &tensor : program.tensors)
    bytes += kTable + tensor.name.size() + sizeof(int64_t) * tensor.shape.size();
  for (const Constant &constant : program.constants)
    bytes += kTable + constant.data.size();
  for (const std::string &file : program.files)
    bytes += kTable + file.size();
  for (const std::string &text : program.texts)
    bytes += kTable + text.size();
  for (const Stream &stream : program.streams)
    bytes += kTable + stream.bytes.size();
  return bytes + sizeof(fb::Location) * program.locations.size();
}

std::vector<std::byte> serialize(const Program &program) {
  const uint64_t bound = fileBytesBound(program);
  if (bound > Limits::fileBytes)
    return {};
  flatbuffers::FlatBufferBuilder builder(bound);
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  for (const TensorInfo &tensor : program.tensors)
    tensors.push_back(writeTensor(builder, tensor));
  std::vector<flatbuffers::Offset<fb::Constant>> constants;
  for (const Constant &constant : program.constants)
    constants.push_back(fb::CreateConstant(builder, writeBytes(builder, constant.data)));
  std::vector<flatbuffers::Offset<flatbuffers::String>> files;
  for (const std::string &file : program.files)
    files.push_back(writeString(builder, file));
  std::vector<fb::Location> locations;
  for (const Location &location : program.locations)
    locations.emplace_back(location.file, location.line, location.caller);
  std::vector<flatbuffers::Offset<flatbuffers::String>> texts;
  for (const std::string &text : program.texts)
    texts.push_back(writeString(builder, text));
  std::vector<flatbuffers::Offset<fb::Stream>> streams;
  for (const Stream &stream : program.streams)
    streams.push_back(
        fb::CreateStream(builder, uint8_t(stream.engine), writeBytes(builder, stream.bytes)));
  const uint32_t flags = (program.flags.placed ? kPlaced : 0) |
                         (program.flags.scheduled ? kScheduled : 0) |
                         (program.flags.synchronised ? kSynchronised : 0);
  // One statement each: the order of writing is the order of the bytes, and
  // arguments of one call have none.
  auto kernel = writeString(builder, program.kernel);
  auto target = writeString(builder, program.target);
  auto tensorList = builder.CreateVector(tensors);
  auto constantList = builder.CreateVector(constants);
  auto fileList = builder.CreateVector(files);
  auto locationList = builder.CreateVectorOfStructs(locations);
  auto textList = builder.CreateVector(texts);
  auto streamList = builder.CreateVector(streams);
  fb::FinishProgramBuffer(builder,
                          fb::CreateProgram(builder, kProgramVersion, tableChecksum(), flags,
                                            kernel, target, tensorList, constantList, fileList,
                                            locationList, textList, streamList));
  const auto *first = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {first, first + builder.GetSize()};
}

Expected<Program> load(std::span<const std::byte> bytes) {
  if (bytes.size() > Limits::fileBytes)
    return badFile(fmt::format("the program file has {} bytes, at most {} are "
                               "allowed",
                               bytes.size(), Limits::fileBytes));
  // Identifier after the root offset, as FlatBuffers lays it out.
  constexpr size_t kIdentifierEnd = 8;
  const Aligned aligned(bytes);
  if (bytes.size() < kIdentifierEnd || !fb::ProgramBufferHasIdentifier(aligned.data()))
    return badFile(
        fmt::format("not a program file: bytes 4 to 7 are not '{}'", fb::ProgramIdentifier()));
  if (!isSound(aligned.data(), bytes.size()))
    return badFile("the program file is damaged: an offset or a size points "
                   "out of it");
  Expected<Program> program = Reader(*fb::GetProgram(aligned.data()), bytes.size()).run();
  if (!program)
    return program;
  if (Status status = verify(*program); !status)
    return status.error();
  if (Status status = checkCanonical(*program, bytes); !status)
    return status.error();
  return program;
}

namespace {

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

Diagnostic fileError(std::string_view verb, const std::string &path) {
  return badFile(fmt::format("cannot {} {}: {}", verb, text::quoted(path), std::strerror(errno)));
}

} // namespace

Expected<Program> loadFile(const std::string &path) {
  FileHandle file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return fileError("open", path);
  std::vector<std::byte> bytes;
  constexpr size_t kChunk = size_t{1} << 20;
  // Read to the end rather than trusting a size: pipes have none.
  for (size_t got = kChunk; got == kChunk;) {
    const size_t size = bytes.size();
    bytes.resize(size + kChunk);
    got = std::fread(bytes.data() + size, 1, kChunk, file.get());
    bytes.resize(size + got);
    if (bytes.size() > Limits::fileBytes)
      return badFile(
          fmt::format("{} has more than {} bytes", text::quoted(path), Limits::fileBytes));
  }
  if (std::ferror(file.get()))
    return fileError("read", path);
  return load(bytes);
}

Status saveFile(const Program &program, const std::string &path) {
  const std::vector<std::byte> bytes = serialize(program);
  if (bytes.empty())
    return badFile(fmt::format("the program is too large for a file of {} "
                               "bytes",
                               Limits::fileBytes));
  FileHandle file(std::fopen(path.c_str(), "wb"));
  if (!file)
    return fileError("create", path);
  const bool isWritten = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  // Closing flushes: a full disk shows here.
  if (!isWritten || std::fclose(file.release()) != 0)
    return fileError("write", path);
  return Status::ok();
}

} // namespace kilnrt
