//===- Pipeline.h - a program that keeps every engine busy ------------------------------------===//
//
// Five engines and four DMA rings at work on several tiles at a time, for tests of schedules.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_TEST_UNIT_EXECUTOR_PIPELINE_H
#define KILN_TEST_UNIT_EXECUTOR_PIPELINE_H

#include "NumberModel.h"
#include "ProgramBuilder.h"

namespace kilnrt::test {

inline constexpr ProgramFlags kSynchronised{
    .placed = true, .scheduled = true, .synchronised = true};

/// A pipeline of `tiles` tiles over two buffers of each kind: load, scale on
/// ACT, multiply on PE, copy on DVE, store. Correctly synchronised, unless one
/// wait is left out.
class Pipeline {
public:
  enum class Wait { Load, Scaled, Product, Copied, InFree, ProductFree, OutFree };

  explicit Pipeline(int tiles, std::optional<Wait> dropped = {})
      : b(kSynchronised), tiles(tiles), dropped(dropped) {
    x = b.input("x", DType::Float32, {int64_t(tiles) * 32, 48});
    y = b.output("y", DType::Float32, {int64_t(tiles) * 48, 32});
    identity = b.onChip("w", Memory::Sbuf, DType::Float32, {32, 32}, 4096);
    for (uint64_t i : {0, 1}) {
      in[i] = b.onChip("in", Memory::Sbuf, DType::Float32, {32, 48}, i * 256);
      scaled[i] = b.onChip("s", Memory::Sbuf, DType::Float32, {32, 48}, 512 + i * 256);
      product[i] = b.onChip("p", Memory::Psum, DType::Float32, {48, 32}, i * 2048);
      out[i] = b.onChip("o", Memory::Sbuf, DType::Float32, {48, 32}, 1024 + i * 128);
    }
    b.memset(b.all(identity), 0.25).sync = update(6, 1);
    for (int t = 0; t < tiles; ++t)
      addTile(t);
    values.resize(size_t(tiles) * 32 * 48);
    for (size_t e = 0; e < values.size(); ++e)
      values[e] = encode(DType::Float32, double(e % 97) / 8);
    inputs = {fromBits(DType::Float32, {int64_t(tiles) * 32, 48}, values)};
  }

  ProgramBuilder b;
  std::vector<HostArray> inputs;

  std::vector<uint32_t> expected() const {
    std::vector<uint32_t> result;
    for (int t = 0; t < tiles; ++t)
      for (size_t m = 0; m < 48; ++m) {
        float sum = 0; // every product is exact
        for (size_t k = 0; k < 32; ++k)
          sum += 3 * f32(decode(DType::Float32, values[(size_t(t) * 32 + k) * 48 + m])) / 4;
        result.insert(result.end(), 32, encode(DType::Float32, sum));
      }
    return result;
  }

private:
  static Sync update(uint16_t semaphore, uint32_t value) {
    Sync sync;
    sync.updateSemaphore = semaphore;
    sync.updateValue = value;
    return sync;
  }

  /// Waits on the record's own slot or, where it is taken, in front of it.
  void waitBefore(Engine engine, Wait kind, uint16_t semaphore, int value) {
    if (kind == dropped || value <= 0)
      return;
    waitFor(b.add(engine, Opcode::SemaphoreWait, {}), semaphore, uint32_t(value));
  }

  // Semaphores: 0, 1 loads into either buffer; 2 scaled; 3 multiplied;
  // 4 copied; 5, 7 stores from either buffer; 6 the weights.
  void addTile(int t) {
    const size_t slot = size_t(t % 2);
    const int round = t / 2;
    waitBefore(Engine::Sync, Wait::InFree, 2, t - 1);
    b.dma(b.all(in[slot]), b.rows(x, int64_t(t) * 32 * 48, 32, 48, {{1, 48}}), uint32_t(slot))
        .sync = update(uint16_t(slot), 16);

    waitBefore(Engine::Scalar, Wait::Load, uint16_t(slot), 16 * (round + 1));
    waitBefore(Engine::Scalar, Wait::InFree, 3, t - 1);
    Record &scale =
        b.add(Engine::Scalar, Opcode::Activation, {b.all(scaled[slot]), b.all(in[slot])});
    scale.inst.setWord("op", int64_t(isa::ActFn::Copy));
    scale.inst.setReal("imm_scale", 3);
    scale.sync = update(2, 1);

    waitBefore(Engine::Tensor, Wait::Scaled, 2, t + 1);
    waitBefore(Engine::Tensor, Wait::ProductFree, 4, t - 1);
    if (t == 0)
      waitFor(b.add(Engine::Tensor, Opcode::SemaphoreWait, {}), 6, 1);
    b.matmul(b.all(product[slot]), b.all(scaled[slot]), b.all(identity), isa::Accumulate::Overwrite)
        .sync = update(3, 1);

    waitBefore(Engine::Vector, Wait::Product, 3, t + 1);
    waitBefore(Engine::Vector, Wait::OutFree, slot ? 7 : 5, 16 * round);
    b.copy(b.all(out[slot]), b.all(product[slot])).sync = update(4, 1);

    waitBefore(Engine::Gpsimd, Wait::Copied, 4, t + 1);
    Record &store = b.add(Engine::Gpsimd, Opcode::DmaCopy,
                          {b.rows(y, int64_t(t) * 48 * 32, 48, 32, {{1, 32}}), b.all(out[slot])});
    store.inst.setWord("ring", 2 + int64_t(slot));
    store.inst.setWord("dge_mode", int64_t(isa::DgeMode::Swdge));
    store.sync = update(slot ? 7 : 5, 16);
  }

  int tiles;
  std::optional<Wait> dropped;
  uint32_t x, y, identity;
  std::array<uint32_t, 2> in, scaled, product, out;
  std::vector<uint32_t> values;
};

} // namespace kilnrt::test

#endif // KILN_TEST_UNIT_EXECUTOR_PIPELINE_H
