//===- Copy.cpp - moving and converting elements ----------------------------------------------===//

#include "kilnrt/Semantics/Copy.h"

#include "FloatStream.h"
#include "Stream.h"
#include "kilnrt/Semantics/Rows.h"

#include <cstring>
#include <vector>

using namespace kilnrt;

/// Moves `n` elements of `Word` between runs of any step.
template <typename Word>
static void moveStrided(const std::byte *src, int64_t srcStep, std::byte *dst, int64_t dstStep,
                        int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(dst, src, sizeof(Word));
    src += srcStep;
    dst += dstStep;
  }
}

/// Moves `n` elements of `width` bytes.
static void moveRun(const std::byte *src, int64_t srcStep, std::byte *dst, int64_t dstStep,
                    int64_t n, int64_t width) {
  if (srcStep == width && dstStep == width)
    std::memmove(dst, src, size_t(n * width)); // in place is allowed
  else if (width == 4)
    moveStrided<uint32_t>(src, srcStep, dst, dstStep, n);
  else if (width == 2)
    moveStrided<uint16_t>(src, srcStep, dst, dstStep, n);
  else
    moveStrided<uint8_t>(src, srcStep, dst, dstStep, n);
}

static void moveTile(const ConstTile &src, const Tile &dst) {
  const int64_t width = dst.elementBytes();
  if (src.isContiguous() && dst.isContiguous()) {
    const int64_t rowBytes = dst.elements * width;
    if (rowBytes == src.rowStep && rowBytes == dst.rowStep) {
      std::memmove(dst.base, src.base, size_t(rowBytes * dst.rows));
      return;
    }
    if (dst.elements > 1) {
      for (uint32_t r = 0; r < dst.rows; ++r)
        std::memmove(dst.row(r), src.row(r), size_t(rowBytes));
      return;
    }
  }
  TileCursor<const std::byte> from(src);
  TileCursor<std::byte> to(dst);
  for (int64_t left = int64_t(dst.rows) * dst.elements; left > 0;) {
    const int64_t n = std::min(from.runLeft(), to.runLeft());
    moveRun(from.address(), from.step(), to.address(), to.step(), n, width);
    from.advance(n);
    to.advance(n);
    left -= n;
  }
}

void kilnrt::copyTile(const ConstTile &src, const Tile &dst) {
  if (src.dtype == dst.dtype) {
    moveTile(src, dst);
    return;
  }
  FloatReader reader(src);
  FloatWriter writer(dst);
  float buffer[kChunkElements];
  const int64_t total = int64_t(dst.rows) * dst.elements;
  for (int64_t done = 0; done < total;) {
    const int64_t n = chunkLength(dst.rows, dst.elements, done);
    writer.write(reader.read(buffer, n), n);
    done += n;
  }
}

/// Blocks of this side keep both the reads and the writes of a transpose in few cache lines.
static constexpr int64_t kTransposeBlock = 16;

/// `isDense`: elements of a row are neighbours on both sides.
template <typename Word, bool isDense>
static void transposeWords(const ConstTile &src, const Tile &dst, int64_t blocks) {
  // Offsets of a row's elements, once: rows share the pattern.
  std::vector<int64_t> from, to;
  auto collect = [](const TileShape &shape, std::vector<int64_t> &offsets) {
    offsets.reserve(size_t(shape.elements));
    forEachRun(shape, int64_t{0}, [&](int64_t first, int64_t n, int64_t step) {
      for (int64_t i = 0; i < n; ++i)
        offsets.push_back(first + i * step);
    });
  };
  if constexpr (!isDense) {
    collect(src, from);
    collect(dst, to);
  }
  constexpr int64_t width = sizeof(Word);
  auto offset = [](const std::vector<int64_t> &offsets, int64_t i) {
    return isDense ? i * width : offsets[size_t(i)];
  };
  const int64_t columns = dst.rows;
  const auto transposeBlock = [&](int64_t block, int64_t r0, int64_t f0) {
    for (int64_t f = f0; f < std::min(f0 + kTransposeBlock, columns); ++f) {
      const std::byte *in = src.row(uint32_t(r0)) + offset(from, block * columns + f);
      std::byte *out = dst.row(uint32_t(f));
      for (int64_t r = r0; r < std::min<int64_t>(r0 + kTransposeBlock, src.rows); ++r) {
        std::memcpy(out + offset(to, block * src.rows + r), in, sizeof(Word));
        in += src.rowStep;
      }
    }
  };
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t r0 = 0; r0 < src.rows; r0 += kTransposeBlock)
      for (int64_t f0 = 0; f0 < columns; f0 += kTransposeBlock)
        transposeBlock(block, r0, f0);
}

template <typename Word>
static void transposeAs(const ConstTile &src, const Tile &dst, int64_t blocks) {
  if (src.isContiguous() && dst.isContiguous())
    transposeWords<Word, true>(src, dst, blocks);
  else
    transposeWords<Word, false>(src, dst, blocks);
}

void kilnrt::transposeTile(const ConstTile &src, const Tile &dst, int64_t blocks) {
  switch (src.elementBytes()) {
  case 4:
    return transposeAs<uint32_t>(src, dst, blocks);
  case 2:
    return transposeAs<uint16_t>(src, dst, blocks);
  default:
    return transposeAs<uint8_t>(src, dst, blocks);
  }
}

void kilnrt::copyRows(std::span<const int> rows, const ConstTile &src, const Tile &dst) {
  for (uint32_t r = 0; r < dst.rows; ++r)
    if (rows[r] >= 0)
      moveTile(rowOf(src, uint32_t(rows[r])), rowOf(dst, r));
}
