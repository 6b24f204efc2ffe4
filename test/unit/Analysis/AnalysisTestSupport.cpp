//===- AnalysisTestSupport.cpp - small kernels for the analysis tests -------------------------===//
//
// See the header.
//
//===------------------------------------------------------------------------------------------===//

#include "AnalysisTestSupport.h"

#include <gtest/gtest.h>

namespace kiln::analysis {

uint32_t KernelBuilder::location(unsigned line) {
  kernel.locations.push_back({0, line, kNone});
  return uint32_t(kernel.locations.size() - 1);
}

uint32_t KernelBuilder::tensor(std::string name, Memory memory, std::vector<int64_t> shape,
                               unsigned line, DType dtype) {
  KernelTensor tensor;
  tensor.name = std::move(name);
  tensor.memory = memory;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.role = memory == Memory::Hbm ? TensorRole::Output : TensorRole::Internal;
  // Tensors of one line have one location, as those of an unrolled loop do.
  for (uint32_t l = 0; l < kernel.locations.size(); ++l)
    if (kernel.locations[l].line == line)
      tensor.location = l;
  if (tensor.location == kNone)
    tensor.location = location(line);
  kernel.tensors.push_back(std::move(tensor));
  return uint32_t(kernel.tensors.size() - 1);
}

Access KernelBuilder::whole(uint32_t t) const {
  const KernelTensor &tensor = kernel.tensors[t];
  return part(t, 0, uint32_t(tensor.shape[0]), 0, tensor.bytes() / isa::bytesOf(tensor.dtype));
}

Access KernelBuilder::part(uint32_t t, uint32_t p, uint32_t count, int64_t first, int64_t n) const {
  Access access;
  access.tensor = t;
  access.dtype = kernel.tensors[t].dtype;
  access.partitionStart = p;
  access.partitionCount = count;
  access.offset = first;
  access.rank = 1;
  access.step[0] = 1;
  access.num[0] = n;
  return access;
}

Access KernelBuilder::block(uint32_t t, int64_t row, int64_t rows, int64_t column,
                            int64_t n) const {
  Access access;
  access.tensor = t;
  access.dtype = kernel.tensors[t].dtype;
  access.partitionCount = uint32_t(rows);
  access.rowStep = kernel.tensors[t].shape.back();
  access.offset = row * access.rowStep + column;
  access.rank = 1;
  access.step[0] = 1;
  access.num[0] = n;
  return access;
}

uint32_t KernelBuilder::add(Opcode opcode, Engine engine, std::vector<Access> operands,
                            unsigned line) {
  KernelInstruction entry;
  entry.inst.opcode = opcode;
  entry.inst.engine = engine;
  std::copy(operands.begin(), operands.end(), entry.inst.operands.begin());
  entry.location = location(line);
  kernel.instructions.push_back(entry);
  return uint32_t(kernel.instructions.size() - 1);
}

uint32_t KernelBuilder::beginLoop(int64_t tripCount) {
  const uint32_t begin = uint32_t(kernel.instructions.size());
  kernel.loops.push_back({begin, begin, tripCount, open.empty() ? kNone : open.back()});
  open.push_back(uint32_t(kernel.loops.size() - 1));
  return open.back();
}

void KernelBuilder::endLoop() {
  kernel.loops[open.back()].end = uint32_t(kernel.instructions.size());
  open.pop_back();
}

Placement placed(const Kernel &kernel, const PlacementOptions &options) {
  PlacementResult result = place(kernel, options);
  if (result.placement)
    return *result.placement;
  ADD_FAILURE() << textOf(result.diagnostics);
  Placement none;
  none.addresses.resize(kernel.tensors.size());
  return none;
}

std::string textOf(const std::vector<Diagnostic> &diagnostics) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics)
    text += "[" + diagnostic.rule + "] " + diagnostic.message + "\n";
  return text;
}

std::string textOf(const Kernel &kernel, const Synchronisation &result, Engine engine) {
  const auto semaphore = [](uint16_t s) {
    return s < kNumEngines ? std::string(isa::name(kEngines[s]))
                           : "ring" + std::to_string(s - kNumEngines);
  };
  std::string text;
  for (const ScheduledRecord &record : result.streams[engineStream(engine)]) {
    text += record.isWaitOnly
                ? "wait"
                : std::string(kernel.instructions[record.instruction].inst.desc().mnemonic);
    text += " " + std::to_string(record.instruction);
    if (record.waitSemaphore != kNoSemaphore)
      text += " " + semaphore(record.waitSemaphore) + ">=" + std::to_string(record.waitValue);
    if (record.updateSemaphore != kNoSemaphore)
      text += " " + semaphore(record.updateSemaphore) + "+" + std::to_string(record.updateValue);
    text += "\n";
  }
  return text;
}

Kernel randomKernel(uint32_t seed, uint32_t instructions, bool isTiny) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  KernelBuilder b;
  const int64_t width = isTiny ? 8 : 512;
  const uint32_t rows = isTiny ? 4 : 128;
  const uint32_t scratch = b.hbm("scratch", {3 * rows, 3 * width}, 1);
  const uint32_t input = b.hbm("input", {3 * rows, 3 * width}, 1);
  // Tiles come and go: a few are open at any time.
  std::vector<uint32_t> tiles, sums;
  const auto newTile = [&] {
    tiles.push_back(
        b.sbuf("t" + std::to_string(b.kernel.tensors.size()), {rows, width * (1 + below(3))}, 2));
  };
  const auto newSum = [&] {
    sums.push_back(b.psum("s" + std::to_string(b.kernel.tensors.size()),
                          {rows, std::min<int64_t>(width, 512)}, 3));
  };
  for (int i = 0; i < 4; ++i)
    newTile();
  newSum();
  newSum();
  // Every second element, or two halves apart, as long as the tile is wide
  // enough; seldom enough that dense accesses remain the rule.
  const auto stretch = [&](Access &access, int64_t room) {
    const int64_t n = access.num[0];
    if (n > 8 || 2 * n > room || below(4) != 0)
      return;
    if (below(2)) {
      access.step[0] = 2;
      access.offset += below(2);
      return;
    }
    access.rank = 2;
    access.step = {n, 1};
    access.num = {2, n / 2};
  };
  const auto anyTile = [&](int64_t n) {
    const uint32_t t = tiles[below(uint32_t(tiles.size()))];
    const int64_t free = b.kernel.tensors[t].shape[1];
    // Sometimes a part in both directions, mostly all rows.
    const uint32_t half = below(4) == 0 ? rows / 2 : 0;
    const int64_t first = below(2) ? 0 : below(uint32_t(free - n + 1));
    Access access = b.part(t, half, rows - half, first, n);
    stretch(access, free - first);
    return access;
  };
  const auto anyBlock = [&](uint32_t t, uint32_t count, int64_t n) {
    const int64_t column = width * below(3);
    Access access = b.block(t, rows * below(3), count, column, n);
    if (below(4) == 0 && n <= 3 * rows && column + count <= 3 * width) {
      // Transposed: partitions are columns.
      access = b.block(t, 0, count, column, n);
      std::swap(access.rowStep, access.step[0]);
    } else {
      stretch(access, 3 * width - column);
    }
    return access;
  };
  for (uint32_t i = 0; i < instructions; ++i) {
    if (below(4) == 0) {
      tiles.erase(tiles.begin() + below(uint32_t(tiles.size())));
      newTile();
    }
    if (below(8) == 0) {
      sums.erase(sums.begin());
      newSum();
    }
    const unsigned line = 10 + i;
    const int64_t n = below(2) ? width : width / 2;
    const Engine trigger =
        std::array{Engine::Sync, Engine::Sync, Engine::Scalar, Engine::Gpsimd}[below(4)];
    const Access sum = b.part(sums[below(2)], 0, rows, 0, n);
    switch (below(8)) {
    case 0:
    case 1: {
      const Access dst = anyTile(n);
      b.dma(dst, anyBlock(below(2) ? input : scratch, dst.partitionCount, n), line, trigger);
      break;
    }
    case 2: {
      const Access src = anyTile(n);
      b.dma(anyBlock(scratch, src.partitionCount, n), src, line, trigger);
      break;
    }
    case 3:
    case 4:
      b.matmul(sum, anyTile(n), anyTile(n), line);
      break;
    case 5:
      b.copy(below(2) ? Engine::Vector : Engine::Scalar, anyTile(n), sum, line);
      break;
    case 6:
      b.copy(below(2) ? Engine::Gpsimd : Engine::Vector, anyTile(n), anyTile(n), line);
      break;
    case 7:
      b.memset(Engine::Gpsimd, anyTile(n), line);
      break;
    }
  }
  return b.kernel;
}

Kernel matmulKernel(uint32_t blocks, uint32_t depth) {
  KernelBuilder b;
  const uint32_t lhs = b.hbm("lhs", {128, 128 * int64_t(depth)}, 1);
  const uint32_t rhs = b.hbm("rhs", {128, 512 * int64_t(depth)}, 2);
  const uint32_t out = b.hbm("out", {128 * int64_t(blocks / 8 + 1), 4096}, 3);
  b.kernel.locations.push_back({0, 10, kNone});
  const uint32_t here = uint32_t(b.kernel.locations.size() - 1);
  const auto tile = [&](Memory memory, int64_t n) {
    KernelTensor tensor;
    tensor.name = "t" + std::to_string(b.kernel.tensors.size());
    tensor.memory = memory;
    tensor.shape = {128, n};
    tensor.location = here;
    b.kernel.tensors.push_back(std::move(tensor));
    return uint32_t(b.kernel.tensors.size() - 1);
  };
  for (uint32_t block = 0; block < blocks; ++block) {
    const uint32_t sum = tile(Memory::Psum, 512);
    for (uint32_t k = 0; k < depth; ++k) {
      const uint32_t a = tile(Memory::Sbuf, 128), c = tile(Memory::Sbuf, 512);
      b.dma(b.whole(a), b.block(lhs, 0, 128, 128 * k, 128), 11);
      b.dma(b.whole(c), b.block(rhs, 0, 128, 512 * k, 512), 12);
      b.matmul(b.whole(sum), b.whole(a), b.whole(c), 13);
    }
    const uint32_t result = tile(Memory::Sbuf, 512);
    b.copy(block % 2 ? Engine::Vector : Engine::Scalar, b.whole(result), b.whole(sum), 14);
    b.dma(b.block(out, 128 * int64_t(block / 8), 128, 512 * (block % 8), 512), b.whole(result), 15);
  }
  return b.kernel;
}

} // namespace kiln::analysis
