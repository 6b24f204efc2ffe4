//===- WriteContraction.cpp - instructions of matmuls and what is done to their results -------===//

#include "Frames.h"

#include "kiln/Plan/Pieces.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace kiln::emit {

using nl::Tensor;
using plan::ContractionPlan;
using plan::Group;
using plan::Product;
using plan::Side;
using plan::Step;

namespace {

constexpr int64_t kHeight = isa::machine.matmulMaxContraction;
constexpr int64_t kAlign = isa::machine.sbufMinAlign;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Pieces of one operand in SBUF. A piece holds some array heights of a block: [height, chunks,
/// block]. PieceSlots says which make room.
class Pieces {
public:
  Pieces(const Context &context, const Side &side, int64_t contraction, int64_t pieceChunks,
         int64_t block, int64_t extent, int64_t slots, int64_t base)
      : context(context), side(side), contraction(contraction), pieceChunks(pieceChunks),
        block(block), extent(extent), base(base),
        slotBytes(ceilDiv(pieceChunks * block * isa::bytesOf(side.dtype), kAlign) * kAlign),
        slots(size_t(slots)), tiles(size_t(slots)) {}

  int64_t bytes() const { return slotBytes * int64_t(slots.size()); }
  int64_t count() const { return ceilDiv(ceilDiv(contraction, kHeight), pieceChunks); }

  /// How rows [begin, end) of the operand are computed; each tile of them goes to the taker.
  using Taker = std::function<void(const Tensor &rows, int64_t start)>;
  std::function<void(int64_t begin, int64_t end, const Taker &taker)> computeRows;

  void startBatch(int64_t offset) {
    if (offset == batchOffset)
      return;
    batchOffset = offset;
    slots.clear();
  }

  /// Piece `piece` of block `number` is in SBUF from here on.
  void ensure(int64_t number, int64_t piece) {
    if (piece >= count())
      return;
    if (side.producer != plan::kNone && !isHere(number, piece))
      return compute(number);
    find(number, piece);
  }

  bool isHere(int64_t number, int64_t piece) const {
    return slots.find(number, piece) < slots.size();
  }

  /// The piece, in a slot of its own if it is not there yet.
  const Tensor &find(int64_t number, int64_t piece) {
    const auto [slot, isThere] = slots.take(number, piece);
    if (!isThere) {
      tiles[slot] = declare(number, piece, int64_t(slot));
      if (side.producer == plan::kNone)
        fetch(tiles[slot], number, piece);
    }
    return tiles[slot];
  }

  void startSweep() { slots.startSweep(); }

  /// Rows [chunk * height, ...) and columns [start, start + size) of block `number`.
  Tensor chunk(int64_t number, int64_t chunk, int64_t start, int64_t size) const {
    const int64_t piece = chunk / pieceChunks;
    const int64_t columns = columnsOf(number);
    const Dim free[] = {{size, 1}};
    return onChip(tiles[slots.find(number, piece)], heightOf(chunk), free,
                  chunk % pieceChunks * columns + start);
  }
  int64_t chunks() const { return ceilDiv(contraction, kHeight); }

private:
  int64_t columnsOf(int64_t number) const { return std::min(block, extent - number * block); }
  int64_t heightOf(int64_t chunk) const { return std::min(kHeight, contraction - chunk * kHeight); }

  Tensor declare(int64_t number, int64_t piece, int64_t slot) const {
    const int64_t first = piece * pieceChunks;
    const int64_t last = std::min(chunks(), first + pieceChunks);
    nl::NdarrayOptions options;
    if (context.isPlaced)
      options.address = nl::Address{0, base + slot * slotBytes};
    context.session.at(context.node(side.load).location);
    return nl::ndarray({heightOf(first), last - first, columnsOf(number)}, toNl(side.dtype),
                       nl::sbuf, options);
  }

  void fetch(const Tensor &tile, int64_t number, int64_t piece) const {
    const tile::Node &node = context.node(side.load);
    const int64_t columns = columnsOf(number), first = piece * pieceChunks;
    const int64_t last = std::min(chunks(), first + pieceChunks);
    const Tensor &buffer = context.buffers[node.view.buffer];
    const int64_t offset = node.view.offset + batchOffset + number * block * side.sideStride;
    const auto loadChunks = [&](int64_t from, int64_t count) {
      const int64_t height = heightOf(from);
      const Dim target[] = {{count, columns}, {columns, 1}};
      const Dim source[] = {{count, kHeight * side.contractionStride}, {columns, side.sideStride}};
      const Dim *begin = count == 1 ? source + 1 : source;
      load(onChip(tile, height, std::span(target).subspan(count == 1 ? 1 : 0),
                  (from - first) * columns),
           buffer, offset + from * kHeight * side.contractionStride,
           {height, side.contractionStride}, std::span(begin, source + 2));
    };
    // The last chunk may be lower than the others.
    const bool isRagged = heightOf(last - 1) != heightOf(first);
    loadChunks(first, last - first - (isRagged ? 1 : 0));
    if (isRagged)
      loadChunks(last - 1, 1);
  }

  /// Computes the rows of block `number` and turns them into its pieces.
  void compute(int64_t number) {
    std::vector<Tensor> pieces;
    for (int64_t piece = 0; piece < count(); ++piece)
      pieces.push_back(find(number, piece));
    const int64_t begin = number * block;
    computeRows(begin, begin + columnsOf(number), [&](const Tensor &rows, int64_t start) {
      for (int64_t piece = 0; piece < count(); ++piece)
        turn(rows, start - begin, pieces[size_t(piece)], number, piece);
    });
  }

  /// Columns of a piece from `rows` of the operand.
  void turn(const Tensor &rows, int64_t column, const Tensor &tile, int64_t number,
            int64_t piece) const {
    const int64_t first = piece * pieceChunks, columns = columnsOf(number), size = rows.dim(0);
    const int64_t last = std::min(chunks(), first + pieceChunks);
    const bool isRagged = heightOf(last - 1) != kHeight;
    const int64_t full = last - first - (isRagged ? 1 : 0);
    context.session.at(context.node(side.load).location);
    if (full > 0) {
      const Dim source[] = {{full, kHeight}, {kHeight, 1}}, target[] = {{full, columns}, {size, 1}};
      const unsigned skip = full == 1 ? 1 : 0;
      nisa::DmaTranspose args{
          .dst = onChip(tile, kHeight, std::span(target).subspan(skip), column),
          .src = onChip(rows, size, std::span(source).subspan(skip), first * kHeight)};
      args.axes = skip ? nl::AxisOrder{1, 0} : nl::AxisOrder{2, 1, 0};
      nisa::dma_transpose(args);
    }
    if (isRagged) {
      const int64_t height = heightOf(last - 1);
      const Dim source[] = {{height, 1}}, target[] = {{size, 1}};
      nisa::dma_transpose({.dst = onChip(tile, height, target, full * columns + column),
                           .src = onChip(rows, size, source, (last - 1) * kHeight),
                           .axes = {1, 0}});
    }
  }

  const Context &context;
  const Side &side;
  const int64_t contraction, pieceChunks, block, extent, base, slotBytes;
  plan::PieceSlots slots;
  std::vector<Tensor> tiles; ///< of the slots
  int64_t batchOffset = 0;
};

class ContractionWriter {
public:
  ContractionWriter(const Context &context, const Group &group)
      : context(context), group(group), loops(group.contraction), stationaryDim(group.partition),
        movingDim(group.partition + 1 == group.extents.size() ? group.partition - 1
                                                              : group.partition + 1),
        body(context, group), region{std::vector<int64_t>(group.extents.size(), 0),
                                     std::vector<int64_t>(group.extents.size(), 1)} {
    int64_t base = 0;
    for (size_t l = 0; l < group.slotBytes.size(); ++l)
      for (int64_t slot : group.slotBytes[l])
        base += slot * group.copies[l];
    base = make(stationary, loops.stationary, true, base);
    make(moving, loops.moving, false, base);
  }

  void run() {
    writeSteps(0);
    for (const auto &once : hoisted)
      once();
    std::vector<int64_t> index(group.extents.size() - 2, 0);
    for (size_t changed = 0;;) { // what moves with the dims in front is still there
      for (size_t d = changed; d < index.size(); ++d) {
        region.start[d] = index[d];
        body.next(unsigned(d + 1));
      }
      for (unsigned level = unsigned(changed) + 1; level <= index.size(); ++level)
        writeSteps(level);
      batch(index);
      size_t d = index.size();
      while (d > 0 && ++index[d - 1] == group.extents[d - 1])
        index[--d] = 0;
      if (d == 0)
        return;
      changed = d - 1;
    }
  }

private:
  int64_t make(std::vector<Pieces> &list, const std::vector<Side> &sides, bool isStationary,
               int64_t base) {
    const bool isOuter = loops.isSpannedOutside || isStationary == loops.outerIsStationary;
    list.reserve(sides.size());
    for (uint32_t i = 0; i < sides.size(); ++i) {
      int64_t contraction = 1;
      for (const Product &p : loops.products)
        if ((isStationary ? p.stationary : p.moving) == i)
          contraction = p.contraction;
      list.emplace_back(context, sides[i], contraction, loops.pieceChunks,
                        isStationary ? loops.stationaryBlock : loops.movingBlock,
                        group.extents[isStationary ? stationaryDim : movingDim],
                        isOuter ? loops.outerSlots : loops.innerSlots, base);
      base += list.back().bytes();
      if (sides[i].producer != plan::kNone)
        base = addProducer(list.back(), context.plan.groups[sides[i].producer], base);
    }
    return base;
  }

  /// Lets `rows` compute the operand of `pieces`, with frames from byte `base` on.
  int64_t addProducer(Pieces &pieces, const Group &rows, int64_t base) {
    producers.push_back(std::make_unique<Body>(context, rows, base));
    Body *body = producers.back().get();
    Region first{{0, 0}, {std::min(rows.tile[0], rows.extents[0]), rows.extents[1]}};
    const bool isLooped = !rows.loops.empty();
    hoisted.push_back([=, &rows] {
      if (isLooped)
        for (const Step &step : rows.steps)
          if (step.level == 0)
            body->write(step, first);
    });
    pieces.computeRows = [=, &rows](int64_t begin, int64_t end, const Pieces::Taker &taker) {
      body->redirect(
          [&](const Tensor &tile, const Region &region) { taker(tile, region.start[0]); });
      for (int64_t start = begin; start < end; start += rows.tile[0]) {
        Region region = first;
        region.start[0] = start;
        region.size[0] = std::min(rows.tile[0], end - start);
        if (isLooped)
          body->next(1);
        for (const Step &step : rows.steps)
          if (step.level == rows.loops.size())
            body->write(step, region);
      }
    };
    return base + rows.sbufBytes;
  }

  void writeSteps(unsigned level) {
    for (const Step &step : group.steps)
      if (step.level == level)
        body.write(step, region);
  }

  int64_t pieceCount() const {
    int64_t count = 1;
    for (const auto *list : {&stationary, &moving})
      for (const Pieces &p : *list)
        count = std::max(count, p.count());
    return count;
  }

  void batch(const std::vector<int64_t> &index) {
    const auto start = [&](std::vector<Pieces> &list, const std::vector<Side> &sides) {
      for (size_t i = 0; i < list.size(); ++i) {
        int64_t offset = 0;
        for (size_t d = 0; d < index.size(); ++d)
          offset += index[d] * sides[i].batchStride[d];
        list[i].startBatch(offset);
      }
    };
    start(stationary, loops.stationary);
    start(moving, loops.moving);
    const int64_t stationaryBlocks = ceilDiv(group.extents[stationaryDim], loops.stationaryBlock);
    const int64_t movingBlocks = ceilDiv(group.extents[movingDim], loops.movingBlock);
    const int64_t outer = loops.outerIsStationary ? stationaryBlocks : movingBlocks;
    const int64_t inner = loops.outerIsStationary ? movingBlocks : stationaryBlocks;
    for (int64_t o = 0; o < outer; ++o) {
      for (auto *list : {&stationary, &moving})
        for (Pieces &pieces : *list)
          pieces.startSweep();
      for (int64_t i = 0; i < inner; ++i) {
        // Back and forth: what came last is still there.
        const int64_t turned = o % 2 == 0 ? i : inner - 1 - i;
        const int64_t s = loops.outerIsStationary ? o : turned;
        const int64_t m = loops.outerIsStationary ? turned : o;
        if (loops.isSpannedOutside)
          spannedBlock(s, m);
        else
          stayingBlock(s, m);
      }
    }
  }

  void ensure(int64_t s, int64_t m, int64_t piece) {
    for (Pieces &p : stationary)
      p.ensure(s, piece);
    for (Pieces &p : moving)
      p.ensure(m, piece);
  }

  struct Cell {
    int64_t stationaryStart = 0, stationarySize = 0, movingStart = 0, movingSize = 0; ///< in blocks
    bool isFirstOfRow = false;
  };

  /// The tiles of a block, in the order of the loops.
  std::vector<Cell> cells(int64_t s, int64_t m) const {
    const int64_t height =
        std::min(loops.stationaryBlock, group.extents[stationaryDim] - s * loops.stationaryBlock);
    const int64_t width =
        std::min(loops.movingBlock, group.extents[movingDim] - m * loops.movingBlock);
    const int64_t tileS = group.tile[stationaryDim], tileM = group.tile[movingDim];
    std::vector<Cell> out;
    const auto add = [&](int64_t a, int64_t b, bool first) {
      out.push_back({a, std::min(tileS, height - a), b, std::min(tileM, width - b), first});
    };
    if (loops.isMovingFirst) {
      for (int64_t b = 0; b < width; b += tileM)
        for (int64_t a = 0; a < height; a += tileS)
          add(a, b, a == 0);
    } else {
      for (int64_t a = 0; a < height; a += tileS)
        for (int64_t b = 0; b < width; b += tileM)
          add(a, b, b == 0);
    }
    return out;
  }

  Tensor accumulator(const Cell &cell) {
    nl::NdarrayOptions options;
    if (context.isPlaced)
      options.address = nl::Address{0, int64_t(bank++ % isa::machine.psumBanks) *
                                           int64_t(isa::machine.psumBankBytesPerPartition)};
    return nl::ndarray({cell.stationarySize, cell.movingSize}, nl::float32, nl::psum, options);
  }

  void multiply(const Tensor &sum, const Product &product, int64_t s, int64_t m, const Cell &cell,
                int64_t chunk) {
    context.session.at(context.node(group.tiles[product.tile].node).location);
    nisa::nc_matmul(
        {.dst = sum,
         .stationary = stationary[product.stationary].chunk(s, chunk, cell.stationaryStart,
                                                            cell.stationarySize),
         .moving = moving[product.moving].chunk(m, chunk, cell.movingStart, cell.movingSize),
         .accumulate = chunk > 0});
  }

  void stayingBlock(int64_t s, int64_t m) {
    for (int64_t piece = 0, count = pieceCount(); piece < count; ++piece)
      ensure(s, m, piece);
    for (const Cell &cell : cells(s, m)) {
      std::vector<Tensor> sums;
      for (const Product &product : loops.products) {
        context.session.at(context.node(group.tiles[product.tile].node).location);
        sums.push_back(accumulator(cell));
        for (int64_t chunk = 0; chunk < stationary[product.stationary].chunks(); ++chunk)
          multiply(sums.back(), product, s, m, cell, chunk);
      }
      finish(s, m, cell, sums);
    }
  }

  void spannedBlock(int64_t s, int64_t m) {
    const std::vector<Cell> all = cells(s, m);
    std::vector<std::vector<Tensor>> sums;
    for (const Cell &cell : all) {
      sums.emplace_back();
      for (const Product &product : loops.products) {
        context.session.at(context.node(group.tiles[product.tile].node).location);
        sums.back().push_back(accumulator(cell));
      }
    }
    for (int64_t piece = 0, count = pieceCount(); piece < count; ++piece) {
      ensure(s, m, piece);
      for (size_t c = 0; c < all.size(); ++c)
        for (size_t p = 0; p < loops.products.size(); ++p) {
          const Product &product = loops.products[p];
          const int64_t end =
              std::min(stationary[product.stationary].chunks(), (piece + 1) * loops.pieceChunks);
          for (int64_t chunk = piece * loops.pieceChunks; chunk < end; ++chunk)
            multiply(sums[c][p], product, s, m, all[c], chunk);
        }
    }
    for (size_t c = 0; c < all.size(); ++c)
      finish(s, m, all[c], sums[c]);
  }

  /// What is done to the results of a tile.
  void finish(int64_t s, int64_t m, const Cell &cell, const std::vector<Tensor> &sums) {
    region.start[stationaryDim] = s * loops.stationaryBlock + cell.stationaryStart;
    region.size[stationaryDim] = cell.stationarySize;
    region.start[movingDim] = m * loops.movingBlock + cell.movingStart;
    region.size[movingDim] = cell.movingSize;
    const unsigned last = unsigned(group.loops.size());
    if (cell.isFirstOfRow) {
      body.next(last - 1);
      writeSteps(last - 1);
    }
    body.next(last);
    for (size_t p = 0; p < sums.size(); ++p)
      body.bind(loops.products[p].tile, sums[p], region);
    writeSteps(last);
  }

  const Context &context;
  const Group &group;
  const ContractionPlan &loops;
  const unsigned stationaryDim, movingDim;
  Body body;
  Region region;
  std::vector<Pieces> stationary, moving;
  std::vector<std::unique_ptr<Body>> producers;
  std::vector<std::function<void()>> hoisted; ///< what producers do once
  uint64_t bank = 0;
};

} // namespace

void writeContraction(const Context &context, const Group &group) {
  ContractionWriter(context, group).run();
}

} // namespace kiln::emit
