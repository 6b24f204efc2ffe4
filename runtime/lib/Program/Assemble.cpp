//===- Assemble.cpp - a program from assembler text -------------------------------------------===//
//
// Line by line; a directive or a record a line. What the text says is what
// the program holds: nothing is verified here beyond what the encoding needs.
//
//===------------------------------------------------------------------------------------------===//

#include "Cursor.h"
#include "kilnrt/Asm.h"
#include "kilnrt/Program.h"

#include <fmt/format.h>

#include <unordered_map>

namespace kilnrt {
namespace {

const std::vector<std::string_view> kDirectives = {".kernel", ".target",   ".flags", ".file",
                                                   ".loc",    ".tensor",   ".hex",   ".zero",
                                                   ".stream", ".constant", ".text"};
const std::vector<std::string_view> kFlags = {"placed", "scheduled", "synchronised"};
constexpr isa::EnumCase kRoles[] = {
    {"internal", 0, ""}, {"input", 1, ""}, {"output", 2, ""}, {"constant", 3, ""}};
/// One ".zero": bounds the memory a short text can ask for.
constexpr uint32_t kMaxZeros = 4096;

/// `line` up to "//" outside a string.
std::string_view withoutComment(std::string_view line) {
  bool inString = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (inString && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      inString = !inString;
    else if (!inString && line.substr(i, 2) == "//")
      return line.substr(0, i);
  }
  return line;
}

class Assembler {
public:
  Expected<Program> run(std::string_view text, const std::string &name) {
    resolve = [this](std::string_view spelling, unsigned) { return lookUp(spelling); };
    for (unsigned number = 1; !text.empty(); ++number) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (Status status = parseLine(line); !status) {
        Diagnostic error = status.error();
        error.place = {{name, number}};
        return error;
      }
    }
    return std::move(program);
  }

private:
  //---- lines ------------------------------------------------------------===//

  Status parseLine(std::string_view line) {
    Cursor cursor(withoutComment(line));
    if (cursor.atEnd())
      return Status::ok();
    Status status = cursor.remaining()[0] == '.' ? parseDirective(cursor) : parseRecord(cursor);
    if (status && !cursor.atEnd())
      return cursor.expected("the end of the line");
    return status;
  }

  Status parseDirective(Cursor &cursor) {
    std::string_view word = cursor.word();
    if (word == ".kernel")
      return cursor.readString(program.kernel, "the kernel's name");
    if (word == ".target")
      return cursor.readString(program.target, "the target's name");
    if (word == ".flags")
      return parseFlags(cursor);
    if (word == ".file")
      return parseFile(cursor);
    if (word == ".loc")
      return parseLocation(cursor);
    if (word == ".text")
      return parseText(cursor);
    if (word == ".tensor")
      return parseTensor(cursor);
    if (word == ".constant")
      return parseConstant(cursor);
    if (word == ".hex" || word == ".zero")
      return parseData(cursor, word);
    if (word == ".stream")
      return parseStream(cursor);
    return Cursor::unknown("directive", word, kDirectives);
  }

  /// Numbers are there for the reader: each must be the next one.
  Status readNumber(Cursor &cursor, size_t next, std::string_view what) {
    uint32_t number = 0;
    if (Status status = cursor.readInt(number, fmt::format("a {} number", what)); !status)
      return status;
    if (number != next)
      return makeError(Fault::User,
                       fmt::format("{} {} stands where {} {} is due", what, number, what, next));
    return Status::ok();
  }

  Status parseFlags(Cursor &cursor) {
    while (!cursor.atEnd()) {
      std::string_view word = cursor.peekWord();
      if (word.empty())
        return cursor.expected("a flag");
      cursor.word();
      if (word == "placed")
        program.flags.placed = true;
      else if (word == "scheduled")
        program.flags.scheduled = true;
      else if (word == "synchronised")
        program.flags.synchronised = true;
      else
        return Cursor::unknown("flag", word, kFlags);
    }
    return Status::ok();
  }

  Status parseFile(Cursor &cursor) {
    if (Status status = readNumber(cursor, program.files.size(), "file"); !status)
      return status;
    return cursor.readString(program.files.emplace_back(), "a file name");
  }

  Status parseText(Cursor &cursor) {
    if (Status status = readNumber(cursor, program.texts.size(), "text"); !status)
      return status;
    return cursor.readString(program.texts.emplace_back(), "a text");
  }

  Status parseLocation(Cursor &cursor) {
    if (Status status = cursor.expect('@', "before a location number"); !status)
      return status;
    if (Status status = readNumber(cursor, program.locations.size(), "location"); !status)
      return status;
    Location location;
    if (Status status = cursor.readInt(location.file, "a file number"); !status)
      return status;
    if (Status status = cursor.expect(':', "between file and line"); !status)
      return status;
    if (Status status = cursor.readInt(location.line, "a line number"); !status)
      return status;
    if (cursor.acceptWord("from"))
      if (Status status = readReference(cursor, location.caller); !status)
        return status;
    program.locations.push_back(location);
    return Status::ok();
  }

  /// "@12"
  Status readReference(Cursor &cursor, uint32_t &location) {
    if (Status status = cursor.expect('@', "before a location number"); !status)
      return status;
    return cursor.readInt(location, "a location number");
  }

  //---- tensors and constants --------------------------------------------===//

  Status parseTensor(Cursor &cursor) {
    TensorInfo tensor;
    if (cursor.accept('%'))
      if (Status status = readNumber(cursor, program.tensors.size(), "tensor"); !status)
        return status;
    if (std::string_view word = cursor.word(); !word.empty())
      tensor.name = word;
    else if (!cursor.remaining().starts_with('"'))
      return cursor.expected("a tensor name");
    else if (Status status = cursor.readString(tensor.name, "a tensor name"); !status)
      return status;
    uint32_t memory = 0;
    if (Status status = cursor.readEnum(memory, isa::memoryCases(), "memory"); !status)
      return status;
    tensor.memory = isa::Memory(memory);
    if (Status status = parseShape(cursor, tensor); !status)
      return status;
    if (Status status = parseTensorTail(cursor, tensor); !status)
      return status;
    const auto index = uint32_t(program.tensors.size());
    auto [entry, isNew] = tensorsByName.try_emplace(tensor.name, Named{index});
    if (!isNew)
      ++entry->second.count;
    program.tensors.push_back(std::move(tensor));
    return Status::ok();
  }

  /// "128x512xf32"
  static Status parseShape(Cursor &cursor, TensorInfo &tensor) {
    auto isNumber = [](std::string_view s) {
      return !s.empty() && ((s[0] >= '0' && s[0] <= '9') || s[0] == '-');
    };
    cursor.skipBlanks();
    while (isNumber(cursor.remaining())) {
      int64_t extent = 0;
      if (Status status = cursor.readInt(extent, "an extent"); !status)
        return status;
      if (!cursor.acceptAdjacent('x'))
        return cursor.expected("'x' after an extent");
      tensor.shape.push_back(extent);
    }
    return cursor.readDType(tensor.dtype);
  }

  /// "in loop" is next.
  static bool isScope(Cursor cursor) {
    return cursor.acceptWord("in") && cursor.acceptWord("loop");
  }

  Status parseTensorTail(Cursor &cursor, TensorInfo &tensor) {
    if (std::string_view word = cursor.peekWord();
        !word.empty() && word != "at" && !isScope(cursor)) {
      uint32_t role = 0;
      if (Status status = cursor.readEnum(role, kRoles, "role"); !status)
        return status;
      tensor.role = TensorRole(role);
      if (Status status = cursor.readInt(tensor.index, "an index"); !status)
        return status;
    }
    if (cursor.acceptWord("at")) {
      if (Status status = cursor.readInt(tensor.partition, "a partition"); !status)
        return status;
      if (Status status = cursor.expect(',', "between partition and byte"); !status)
        return status;
      if (Status status = cursor.readInt(tensor.byte, "a byte"); !status)
        return status;
    }
    if (isScope(cursor)) {
      cursor.word();
      cursor.word();
      if (Status status = cursor.readInt(tensor.loop, "a loop number"); !status)
        return status;
    }
    return cursor.atEnd() ? Status::ok() : readReference(cursor, tensor.location);
  }

  Status parseConstant(Cursor &cursor) {
    Status status = readNumber(cursor, program.constants.size(), "constant");
    if (status)
      program.constants.emplace_back();
    return status;
  }

  Status parseData(Cursor &cursor, std::string_view directive) {
    if (program.constants.empty())
      return makeError(Fault::User, fmt::format("'{}' stands before any "
                                                "'.constant'",
                                                directive));
    std::vector<std::byte> &data = program.constants.back().data;
    if (directive == ".zero") {
      uint32_t count = 0;
      if (Status status = cursor.readInt(count, "a number of bytes"); !status)
        return status;
      if (count > kMaxZeros)
        return makeError(Fault::User, fmt::format("'.zero' of {} bytes, one "
                                                  "line holds at most {}",
                                                  count, kMaxZeros));
      data.resize(data.size() + count);
      return Status::ok();
    }
    std::string_view digits = cursor.run("");
    if (digits.empty() || digits.size() % 2 != 0)
      return makeError(Fault::User,
                       fmt::format("'.hex' holds {} digits, a byte takes 2", digits.size()));
    for (; !digits.empty(); digits.remove_prefix(2)) {
      int value = 0;
      for (char c : digits.substr(0, 2)) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
          return makeError(Fault::User, fmt::format("{} is no pair of hexadecimal digits",
                                                    text::quoted(digits.substr(0, 2))));
        value = value * 16 + digit;
      }
      data.push_back(std::byte(value));
    }
    return Status::ok();
  }

  //---- streams ----------------------------------------------------------===//

  Status parseStream(Cursor &cursor) {
    uint32_t engine = 0;
    Status status = cursor.readEnum(engine, isa::engineCases(), "engine");
    if (status)
      program.streams.push_back({isa::Engine(engine), {}});
    return status;
  }

  /// "s3" or "none".
  static Status readSemaphore(Cursor &cursor, uint16_t &semaphore) {
    if (cursor.acceptWord("none"))
      return Status::ok();
    if (!cursor.accept('s'))
      return cursor.expected("a semaphore such as s3");
    return cursor.readInt(semaphore, "a semaphore number after 's'");
  }

  /// "s3>=16" with `relation` ">="
  static Status readSync(Cursor &cursor, std::string_view relation, uint16_t &semaphore,
                         uint32_t &value) {
    if (Status status = readSemaphore(cursor, semaphore); !status)
      return status;
    if (!cursor.accept(relation[0]) || !cursor.acceptAdjacent(relation[1]))
      return cursor.expected(fmt::format("'{}' after a semaphore", relation));
    return cursor.readInt(value, "a semaphore value");
  }

  Status parseRecord(Cursor &cursor) {
    if (program.streams.empty())
      return makeError(
          Fault::User,
          fmt::format("{} stands before any '.stream'", text::quoted(cursor.peekWord())),
          "records follow '.stream' and the name of an engine");
    Stream &stream = program.streams.back();
    Record record;
    if (cursor.acceptWord("wait"))
      if (Status status = readSync(cursor, ">=", record.sync.waitSemaphore, record.sync.waitValue);
          !status)
        return status;
    std::string_view rest = cursor.remaining();
    Expected<isa::Instruction> inst = parseInstruction(rest, resolve, stream.engine);
    if (!inst)
      return inst.error();
    record.inst = *inst;
    cursor = Cursor(rest);
    if (Status status = parseRecordTail(cursor, record); !status)
      return status;
    if (Status status = checkEncodable(record); !status)
      return status;
    encodeRecord(record, stream.bytes);
    nextOrder = record.order + 1;
    return Status::ok();
  }

  Status parseRecordTail(Cursor &cursor, Record &record) {
    if (cursor.acceptWord("update"))
      if (Status status =
              readSync(cursor, "+=", record.sync.updateSemaphore, record.sync.updateValue);
          !status)
        return status;
    cursor.skipBlanks();
    if (cursor.remaining().starts_with('@'))
      if (Status status = readReference(cursor, record.location); !status)
        return status;
    record.order = nextOrder;
    if (cursor.accept('#'))
      return cursor.readInt(record.order, "an order number after '#'");
    if (!cursor.atEnd())
      return cursor.expected("name=value, 'update', '@' or '#'");
    return Status::ok();
  }

  //---- tensor names -----------------------------------------------------===//

  struct Named {
    uint32_t first = 0;
    uint32_t count = 1;
  };

  /// name, %index or name%index.
  Expected<OperandTensor> lookUp(std::string_view spelling) {
    Cursor cursor(spelling);
    std::string name;
    const bool isQuoted = spelling.starts_with('"');
    if (isQuoted) {
      if (Status status = cursor.readString(name, "a tensor name"); !status)
        return status.error();
    } else {
      name = cursor.word();
    }
    const bool hasName = isQuoted || !name.empty();
    uint32_t index = isa::kNoTensor;
    if (cursor.accept('%')) {
      if (Status status = cursor.readInt(index, "a tensor number after '%'"); !status)
        return status.error();
      if (Status status = checkIndex(index, hasName, name); !status)
        return status.error();
    } else if (hasName && cursor.atEnd()) {
      if (Status status = findByName(name, index); !status)
        return status.error();
    }
    if (index == isa::kNoTensor || !cursor.atEnd())
      return makeError(Fault::User, fmt::format("{} is no tensor", text::quoted(spelling)),
                       "write name, %index or name%index");
    return OperandTensor{index, program.tensors[index].dtype};
  }

  Status checkIndex(uint32_t index, bool hasName, const std::string &name) {
    if (index >= program.tensors.size())
      return makeError(Fault::User, fmt::format("tensor %{} does not exist, there are {} "
                                                "tensors so far",
                                                index, program.tensors.size()));
    const std::string &actual = program.tensors[index].name;
    if (hasName && actual != name)
      return makeError(Fault::User, fmt::format("tensor %{} is {}, not {}", index,
                                                text::quoted(actual), text::quoted(name)));
    return Status::ok();
  }

  Status findByName(const std::string &name, uint32_t &index) {
    auto found = tensorsByName.find(name);
    if (found == tensorsByName.end()) {
      std::vector<std::string_view> names;
      for (const TensorInfo &tensor : program.tensors)
        names.push_back(tensor.name);
      return Cursor::unknown("tensor", name, names);
    }
    if (found->second.count > 1)
      return makeError(
          Fault::User,
          fmt::format("{} tensors are called {}", found->second.count, text::quoted(name)),
          fmt::format("add the number, as in {}%{}", name, found->second.first));
    index = found->second.first;
    return Status::ok();
  }

  Program program;
  std::unordered_map<std::string, Named> tensorsByName;
  OperandResolver resolve;
  uint32_t nextOrder = 0;
};

} // namespace

Expected<Program> assemble(std::string_view text, const std::string &name) {
  return Assembler().run(text, name);
}

} // namespace kilnrt
