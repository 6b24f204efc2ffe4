//===- Diagnose.cpp - the words of faults in memory -------------------------------------------===//

#include "Diagnose.h"

#include <algorithm>

using namespace kilnrt;

static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string kilnrt::nameOf(const Image &image, uint32_t tensor) {
  const std::string &name = image.info.tensors[tensor].name;
  return quoted(name.empty() ? "tensor " + std::to_string(tensor) : name);
}

std::string kilnrt::operationText(const Operation &op) {
  return "instruction " + std::to_string(op.index) + " of the " +
         std::string(isa::name(op.engine)) + " stream, " + std::string(op.desc().mnemonic);
}

//---- elements and bytes -------------------------------------------------===//

static std::string span(int64_t first, int64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

/// "(0, 5)" of one end of a box.
static std::string cornerText(const std::vector<int64_t> &corner) {
  std::string text;
  for (int64_t index : corner)
    text += (text.empty() ? "" : ", ") + std::to_string(index);
  return "(" + text + ")";
}

std::string kilnrt::bytesText(const TensorInfo &tensor, const ByteSet &bytes, int64_t asked) {
  const ElementBox box =
      bytes.elements(tensor.shape, isa::bytesOf(tensor.dtype), tensor.memory != isa::Memory::Hbm);
  std::string text;
  if (!box.isExact) {
    text = std::to_string(box.elements) + " elements between " + cornerText(box.first) + " and " +
           cornerText(box.last);
  } else {
    text = box.elements == 1 ? "element (" : "elements (";
    for (size_t d = 0; d < box.first.size(); ++d)
      text += (d ? ", " : "") + span(box.first[d], box.last[d]);
    text += ")";
  }
  const int64_t meant = bytes.bytes();
  if (meant == asked)
    return text + ", all " + std::to_string(asked) + " bytes";
  return text + ", " + std::to_string(meant) + " of " + std::to_string(asked) + " bytes";
}

/// "90-95" or "0-3, 8-11, ..., 120-123".
static std::string runsText(const ByteRectangle &r) {
  const auto run = [&](int64_t i) {
    return span(r.byte + i * r.step, r.byte + i * r.step + r.bytes - 1);
  };
  if (r.runs == 1)
    return run(0);
  return run(0) + ", " + run(1) + (r.runs > 3 ? ", ..., " : ", ") + run(r.runs - 1);
}

/// The rectangles of a set in the addresses of the memory; HBM tensors have their own.
static std::vector<ByteRectangle> placed(const Image &image, uint32_t tensor,
                                         const ByteSet &bytes) {
  const TensorInfo &info = image.info.tensors[tensor];
  std::vector<ByteRectangle> rectangles = bytes.rectangles();
  if (info.memory != isa::Memory::Hbm)
    for (ByteRectangle &r : rectangles) {
      r.partition += info.partition;
      r.byte += int64_t(info.byte);
    }
  return rectangles;
}

/// "sbuf partitions 0-127, bytes 2048-4095", or "hbm bytes 0-511"; more than a few rectangles are
/// counted.
static std::string rectanglesText(isa::Memory memory,
                                  const std::vector<ByteRectangle> &rectangles) {
  constexpr size_t most = 8;
  const size_t count = std::min(rectangles.size(), most);
  const auto isSameRows = [&](size_t i) { // as the one before
    return i > 0 && i < count && rectangles[i].partition == rectangles[i - 1].partition &&
           rectangles[i].partitions == rectangles[i - 1].partitions;
  };
  std::string text(isa::name(memory));
  for (size_t i = 0; i < count; ++i) {
    const ByteRectangle &r = rectangles[i];
    if (isSameRows(i)) {
      text += ", " + runsText(r);
      continue;
    }
    text += i > 0 ? "; " : " ";
    if (memory != isa::Memory::Hbm)
      text += (r.partitions == 1 ? "partition " : "partitions ") +
              span(r.partition, int64_t(r.partition) + r.partitions - 1) + ", ";
    const bool isOneByte = r.bytes == 1 && r.runs == 1 && !isSameRows(i + 1);
    text += (isOneByte ? "byte " : "bytes ") + runsText(r);
  }
  if (rectangles.size() > most)
    text += "; and " + std::to_string(rectangles.size() - most) + " more";
  return text;
}

/// Adds records of `rectangles`.
static void addRecords(const Image &image, uint32_t tensor, const std::string &what,
                       const std::vector<ByteRectangle> &rectangles, Diagnostic &d) {
  const TensorInfo &info = image.info.tensors[tensor];
  for (const ByteRectangle &r : rectangles)
    d.bytes.push_back({what, std::string(isa::name(info.memory)), info.name, r.partition,
                       r.partitions, r.byte, r.bytes, r.step, r.runs});
}

void kilnrt::addBytes(const Image &image, uint32_t tensor, const std::string &what,
                      const ByteSet &bytes, int64_t asked, Diagnostic &d) {
  if (bytes.empty())
    return;
  const std::vector<ByteRectangle> rectangles = placed(image, tensor, bytes);
  addRecords(image, tensor, what, rectangles, d);
  if (bytes.bytes() == asked)
    return;
  const isa::Memory memory = image.info.tensors[tensor].memory;
  d.notes.push_back({what + ": " + rectanglesText(memory, rectangles) +
                         (memory == isa::Memory::Hbm ? " of " + nameOf(image, tensor) : ""),
                     {}});
}

//---- notes --------------------------------------------------------------===//

void kilnrt::addAuthor(const Image &image, Author author, std::string text, Diagnostic &d) {
  if (author == kNoAuthor)
    return;
  const Operation &op = operationOf(image, author);
  d.notes.push_back({std::move(text) + " by " + operationText(op), image.info.chain(op.location)});
}

void kilnrt::addDeclaration(const Image &image, uint32_t tensor, Diagnostic &d) {
  kiln::CallChain chain = image.info.chain(image.info.tensors[tensor].location);
  if (!chain.empty())
    d.notes.push_back({nameOf(image, tensor) + " was declared here", std::move(chain)});
}

Diagnostic kilnrt::faultAt(const Image &image, const Operation &op, int operand, std::string rule,
                           std::string message, std::string help) {
  Diagnostic d = makeError(Fault::Check, std::move(message), std::move(help), std::move(rule));
  d.place = image.info.chain(op.location);
  std::string note = operationText(op);
  if (operand >= 0) {
    const Place &place = op.places[operand];
    const std::vector<ByteRectangle> rectangles =
        placed(image, place.tensor, bytesOf(place, image.layout));
    const isa::Memory memory = image.info.tensors[place.tensor].memory;
    const std::string verb = op.outputs >> operand & 1 ? "writes" : "reads",
                      name = nameOf(image, place.tensor);
    note += ": operand " + quoted(op.desc().operands[operand].name) + " " + verb + " " +
            rectanglesText(memory, rectangles) +
            (memory == isa::Memory::Hbm ? " of " + name : " (" + name + ")");
    addRecords(image, place.tensor, verb, rectangles, d);
  }
  d.notes.push_back({std::move(note), {}});
  return d;
}

//---- reads and outputs --------------------------------------------------===//

/// What another tensor took: "elements (0-15, 4-7), 256 of 512 bytes, are lost".
static std::string lossText(const TensorInfo &info, const UnwrittenBytes &why) {
  if (why.bytes.empty())
    return "the " + std::to_string(why.asked) +
           " bytes read are intact, but both tensors are live at once";
  return bytesText(info, why.bytes, why.asked) + ", are lost";
}

Diagnostic kilnrt::unwrittenRead(const Image &image, const Operation &op, unsigned operand,
                                 const UnwrittenBytes &why) {
  const uint32_t tensor = op.places[operand].tensor;
  const TensorInfo &info = image.info.tensors[tensor];
  const std::string name = nameOf(image, tensor);
  const std::string reader = std::string(op.desc().mnemonic) + " reads " + name;
  const auto fault = [&](std::string rule, std::string message, std::string help) {
    return faultAt(image, op, int(operand), std::move(rule), reader + std::move(message),
                   std::move(help));
  };
  if (why.kind == UnwrittenBytes::Overwritten) {
    const std::string other = nameOf(image, why.other);
    Diagnostic d =
        fault("M-04", " after " + other + " was written to the same memory: " + lossText(info, why),
              "place " + name + " and " + other + " at different addresses");
    addBytes(image, tensor, "lost", why.bytes, why.asked, d);
    addAuthor(image, why.author, other + " was written there", d);
    addDeclaration(image, tensor, d);
    addDeclaration(image, why.other, d);
    return d;
  }
  const bool isNever = why.kind == UnwrittenBytes::Never;
  const std::string bytes = ": " + bytesText(info, why.bytes, why.asked);
  Diagnostic d;
  if (why.wasWrittenEarlier)
    d = fault(isNever ? "M-08" : "M-09",
              (isNever ? ", which this iteration has not written"
                       : " where this iteration has not written it") +
                  bytes,
              "declare " + name +
                  " before the loop to keep its elements, or write it first in "
                  "each iteration");
  else if (isNever)
    d = fault("M-08", ", which was never written" + bytes,
              "write " + name + " first: dma_copy, memset or a matmul");
  else
    d = fault("M-09", " where it was not written" + bytes,
              "read only what was written, or clear " + name + " with memset first");
  addBytes(image, tensor, "unwritten", why.bytes, why.asked, d);
  addAuthor(image, why.author, name + " was last written", d);
  if (why.wasWrittenEarlier)
    addAuthor(image, why.earlierAuthor,
              name + " is new in each iteration of its loop; in an earlier one it was last written",
              d);
  addDeclaration(image, tensor, d);
  return d;
}

Diagnostic kilnrt::unwrittenOutput(const Image &image, uint32_t tensor, const UnwrittenBytes &why) {
  const std::string name = nameOf(image, tensor);
  const bool isNever = why.kind == UnwrittenBytes::Never;
  Diagnostic d = makeError(
      Fault::Check,
      "output " + name + (isNever ? " was never written: " : " was not written as a whole: ") +
          bytesText(image.info.tensors[tensor], why.bytes, why.asked),
      "store every element of " + name + " before the kernel returns", isNever ? "M-08" : "M-09");
  d.place = image.info.chain(image.info.tensors[tensor].location);
  addBytes(image, tensor, "unwritten", why.bytes, why.asked, d);
  addAuthor(image, why.author, name + " was last written", d);
  return d;
}

void kilnrt::addSchedule(Diagnostic &diagnostic, const Schedule &schedule) {
  if (schedule != Schedule::Program)
    diagnostic.notes.push_back({"schedule: " + scheduleText(schedule), {}});
}
