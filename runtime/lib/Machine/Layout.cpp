//===- Layout.cpp - tensors to blocks, accesses to bytes --------------------------------------===//

#include "kilnrt/Machine/Layout.h"

#include <algorithm>

using namespace kilnrt;
using isa::machine;

/// Bytes from partition to partition: an odd number of cache lines, so that the
/// elements of a column spread over all sets of a cache instead of meeting in
/// one.
static int64_t paddedStride(int64_t bytes) {
  constexpr int64_t line = 64;
  int64_t lines = (bytes + line - 1) / line;
  return (lines + (lines % 2 == 0 ? 1 : 2)) * line;
}

static bool isOnChip(isa::Memory memory) { return memory != isa::Memory::Hbm; }

uint32_t Layout::addBlock(BlockInfo block) {
  block.stride = isOnChip(block.memory) ? paddedStride(block.bytes) : block.bytes;
  blockInfos.push_back(block);
  return uint32_t(blockInfos.size() - 1);
}

Layout::Layout(const Program &program) {
  // SBUF and PSUM are as long as the program's own tensors reach: what lies
  // beyond cannot be touched.
  std::array<int64_t, 2> reach{};
  for (const TensorInfo &t : program.tensors)
    if (isOnChip(t.memory))
      reach[unsigned(t.memory)] =
          std::max(reach[unsigned(t.memory)], int64_t(t.byte) + t.freeBytes());
  if (program.flags.placed)
    for (isa::Memory memory : {isa::Memory::Sbuf, isa::Memory::Psum})
      addBlock({.memory = memory,
                .partitions = uint32_t(machine.numPartitions),
                .bytes = reach[unsigned(memory)]});

  for (const TensorInfo &t : program.tensors) {
    TensorPlace place;
    place.bytes = t.freeBytes();
    place.partitions = isOnChip(t.memory) ? uint32_t(t.shape[0]) : 1;
    if (isOnChip(t.memory) && program.flags.placed) {
      place.block = unsigned(t.memory);
      place.partition = t.partition;
      place.byte = int64_t(t.byte);
    } else {
      place.block = addBlock({.memory = t.memory,
                              .partitions = place.partitions,
                              .bytes = place.bytes,
                              .tensor = uint32_t(places.size())});
    }
    places.push_back(place);
  }
}

/// The bytes of `shape` as runs; see Pattern.
static TileShape runsOf(const TileShape &shape, bool onChip) {
  if (onChip)
    return shape.asBytes();
  TileShape flat = shape;
  for (unsigned i = shape.rank; i > 0; --i) {
    flat.num[i] = shape.num[i - 1];
    flat.step[i] = shape.step[i - 1];
  }
  flat.num[0] = shape.rows;
  flat.step[0] = shape.rowStep;
  ++flat.rank;
  flat.elements *= shape.rows;
  flat.rows = 1;
  flat.rowStep = 0;
  return flat.asBytes();
}

const Pattern *Layout::intern(const TileShape &shape, bool onChip) {
  return &*patterns.insert({shape, runsOf(shape, onChip)}).first;
}

/// No byte twice: each dim steps over everything the smaller ones cover.
static bool isInjective(const TileShape &runs) {
  std::array<std::pair<int64_t, int64_t>, kMaxTileDims> dims; // |step|, num
  dims.fill({0, 1});
  for (unsigned i = 0; i < runs.rank; ++i)
    dims[i] = {std::abs(runs.step[i]), runs.num[i]};
  std::sort(dims.begin(), dims.end());
  int64_t covered = 0; // last byte reached, relative to the first
  for (auto [step, num] : dims) {
    if (num > 1 && step <= covered)
      return false;
    covered += step * (num - 1);
  }
  return true;
}

/// The bytes a place touches, from its pattern and its first byte.
static void deriveRange(Place &place) {
  const TileShape &runs = place.pattern->runs;
  place.firstByte = place.byte;
  place.endByte = place.byte + 1;
  for (unsigned i = 0; i < runs.rank; ++i)
    (runs.step[i] < 0 ? place.firstByte : place.endByte) += runs.step[i] * (runs.num[i] - 1);
}

/// Fills in what follows from the pattern and the first byte.
static void deriveExtent(Place &place, const TensorPlace &tensor) {
  const TileShape &runs = place.pattern->runs;
  deriveRange(place);
  place.injective = isInjective(runs);
  place.whole = runs.rank == 1 && runs.step[0] == 1 && place.byte == tensor.byte &&
                runs.num[0] == tensor.bytes && place.partition == tensor.partition &&
                place.partitions() == tensor.partitions;
}

Place Layout::place(const isa::Access &access) {
  Place place;
  if (!access.present())
    return place;
  const TensorPlace &tensor = places[access.tensor];
  place.tensor = access.tensor;
  place.block = tensor.block;
  place.onChip = isOnChip(blockInfos[tensor.block].memory);
  place.partition = place.onChip ? tensor.partition + access.partitionStart : 0;

  TileShape shape;
  shape.dtype = access.dtype;
  const int64_t bytes = shape.elementBytes();
  shape.rows = access.partitionCount;
  if (place.onChip)
    shape.rowStep = blockInfos[tensor.block].stride;
  else if (shape.rows > 1)
    shape.rowStep = access.rowStep * bytes;
  shape.rank = access.rank;
  shape.elements = access.freeElements();
  for (unsigned i = 0; i < access.rank; ++i) {
    shape.num[i] = access.num[i];
    shape.step[i] = access.step[i] * bytes;
  }
  shape.canonicalize();
  place.byte = tensor.byte + access.offset * bytes;
  place.pattern = intern(shape, place.onChip);
  deriveExtent(place, tensor);
  return place;
}

std::optional<Place> Layout::reshapeRows(const Place &place, uint32_t rows) {
  // All dims with rows outermost, then a new row dim is cut off the outermost
  // one.
  TileShape flat = place.shape();
  for (unsigned i = flat.rank; i > 0; --i) {
    flat.num[i] = flat.num[i - 1];
    flat.step[i] = flat.step[i - 1];
  }
  flat.num[0] = flat.rows;
  flat.step[0] = flat.rowStep;
  ++flat.rank;
  flat.canonicalize();
  if (flat.num[0] % rows != 0)
    return std::nullopt;
  flat.elements = flat.elements * flat.rows / rows;
  flat.num[0] /= rows;
  flat.rows = rows;
  flat.rowStep = flat.step[0] * flat.num[0];
  flat.canonicalize();

  Place result = place;
  result.pattern = intern(flat, place.onChip);
  return result;
}

const Pattern *Layout::patternOfRows(const Place &place, uint32_t count) {
  TileShape shape = place.shape();
  shape.rows = count;
  return intern(shape, place.onChip);
}

const Pattern *Layout::patternOfColumns(const Place &place, int64_t columns, int64_t count) {
  TileShape shape = place.shape();
  if (count == columns)
    return place.pattern;
  // The innermost dim holds whole blocks: those that follow one another were merged.
  const unsigned inner = shape.rank - 1;
  shape.num[inner + 1] = count;
  shape.step[inner + 1] = shape.step[inner];
  shape.num[inner] /= columns;
  shape.step[inner] *= columns;
  ++shape.rank;
  shape.elements = shape.elements / columns * count;
  shape.canonicalize();
  return intern(shape, place.onChip);
}

Place kilnrt::columnsFrom(const Place &place, int64_t first, const Pattern *columns) {
  Place part = place;
  part.pattern = columns;
  part.whole = place.whole && columns == place.pattern;
  part.byte += first * place.shape().innerStep();
  deriveRange(part);
  return part;
}

Place kilnrt::rowsFrom(const Place &place, uint32_t first, const Pattern *rows) {
  Place part = place;
  part.pattern = rows;
  part.whole = place.whole && rows->shape.rows == place.shape().rows;
  if (place.onChip) {
    part.partition += first;
    return part;
  }
  const int64_t skipped = int64_t(first) * place.shape().rowStep;
  part.byte += skipped;
  deriveRange(part);
  return part;
}

bool kilnrt::mayOverlap(const Place &a, const Place &b) {
  return a.present() && b.present() && a.block == b.block &&
         a.partition < b.partition + b.partitions() && b.partition < a.partition + a.partitions() &&
         a.firstByte < b.endByte && b.firstByte < a.endByte;
}

bool kilnrt::sameElements(const Place &a, const Place &b) {
  return a.block == b.block && a.partition == b.partition && a.byte == b.byte &&
         a.pattern == b.pattern;
}
