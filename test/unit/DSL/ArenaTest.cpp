//===- ArenaTest.cpp - addresses by hand ------------------------------------------------------===//

#include "KernelFixture.h"

#include <gmock/gmock.h>

namespace kiln::test {
namespace {

using nl::Address, nl::ModuloAllocation, nl::SbufArena;

/// "partition:byte" of every tensor with an address, in order of declaration; "-" without one.
template <class Lambda>
std::string addresses(Lambda body) {
  const TraceResult result = traceBody(body);
  std::string out = errorsOf(result);
  for (const trace::Tensor &tensor : result.trace.tensors)
    if (tensor.memory == isa::Memory::Sbuf)
      out +=
          (out.empty() ? "" : " ") + (tensor.address ? std::to_string(tensor.address->first) + ":" +
                                                           std::to_string(tensor.address->second)
                                                     : std::string("-"));
  return out;
}
/// Tensors nobody uses are not in the trace.
void use(const Tensor &tile) { nisa::memset(tile, 0); }

template <class Lambda>
std::string errors(Lambda body) {
  return errorsOf(traceBody(body));
}

//---- modulo allocation ----------------------------------------------------------------------===//

TEST(ModuloAllocation, OneBlockDim) {
  EXPECT_EQ(addresses([](InOut) {
              ModuloAllocation ring(
                  {.base = 100, .partition = 64, .tile_bytes = 40, .num_tiles = {3}});
              for (int i = 0; i < 5; ++i)
                use(nl::ndarray({32, 10}, nl::float32, nl::sbuf, {.address = ring(i)}));
            }),
            "64:100 64:140 64:180 64:100 64:140");
}

TEST(ModuloAllocation, BlockDimsAreRowMajor) {
  EXPECT_EQ(addresses([](InOut) {
              ModuloAllocation grid({.tile_bytes = 8, .num_tiles = {2, 3}});
              nl::require(grid.footprint() == 48 && grid.end() == 48, "footprint");
              for (int i : {0, 1, 2})
                for (int j : {0, 2, 3})
                  use(nl::ndarray({1, 2}, nl::float32, nl::sbuf, {.address = grid(i, j)}));
              ModuloAllocation cube({.base = 1000, .tile_bytes = 4, .num_tiles = {2, 1, 2}});
              use(nl::ndarray({1, 1}, nl::float32, nl::sbuf, {.address = cube(3, 7, 5)}));
            }),
            "0:0 0:16 0:0 0:24 0:40 0:24 0:0 0:16 0:0 0:1012");
}

TEST(ModuloAllocation, RefusesWhatHasNoAddress) {
  EXPECT_EQ(errors([](InOut) { ModuloAllocation ring({.num_tiles = {2}}); }),
            "[] a tile of 0 bytes has no address (set tile_bytes to the bytes one tile takes of "
            "each partition)");
  EXPECT_EQ(errors([](InOut) { ModuloAllocation ring({.tile_bytes = 4, .num_tiles = {2, 0}}); }),
            "[] num_tiles holds 0, a block dim rotates over at least 1 tile");
  EXPECT_EQ(errors([](InOut) { ModuloAllocation({.tile_bytes = 4, .num_tiles = {2, 2}})(1); }),
            "[] 1 index for a modulo allocation of 2 block dims (give one index for each count of "
            "num_tiles)");
  EXPECT_EQ(errors([](InOut) { ModuloAllocation({.tile_bytes = 4, .num_tiles = {2}})(-1); }),
            "[] index -1 of a block is negative (count blocks from 0)");
}

//---- arena ----------------------------------------------------------------------------------===//

TEST(SbufArena, StackAndHeapGrowTowardsEachOther) {
  EXPECT_EQ(addresses([](InOut) {
              SbufArena arena({.begin = 1000, .end = 2000});
              use(arena.alloc_stack({128, 10}, nl::bfloat16));
              use(arena.alloc_stack({128, 3}, nl::bfloat16, {.align = 64}));
              use(arena.alloc_heap({128, 10}, nl::float32));
              use(arena.alloc_heap({64, 2, 3}, nl::bfloat16, {.align = 32}));
              nl::require(arena.stack_bytes() == 30 && arena.heap_bytes() == 80 &&
                              arena.free_bytes() == 890 && arena.high_water() == 110,
                          "{} {} {} {}", arena.stack_bytes(), arena.heap_bytes(),
                          arena.free_bytes(), arena.high_water());
              arena.pop_heap();
              use(arena.alloc_heap({128, 1}, nl::float32));
            }),
            "0:1000 0:1024 0:1960 0:1920 0:1956");
}

TEST(SbufArena, ScopesFreeAndRotate) {
  EXPECT_EQ(addresses([](InOut) {
              SbufArena arena;
              use(arena.alloc_stack({128, 25}, nl::float32)); // 0 to 99
              {
                auto loop = arena.scope({.buffers = 2});
                for (int i = 0; i < 4; ++i) {
                  use(arena.alloc_stack({128, 50}, nl::float32)); // 100, 300, 100, 300
                  loop.next();
                }
              }
              use(arena.alloc_stack({128, 1}, nl::float32)); // 100 again
            }),
            "0:0 0:100 0:300 0:100 0:300 0:100");
}

TEST(SbufArena, ASectionBeginsAboveWhatNestedScopesReached) {
  EXPECT_EQ(addresses([](InOut) {
              SbufArena arena;
              auto outer = arena.scope({.buffers = 3});
              for (int i = 0; i < 4; ++i) {
                use(arena.alloc_stack({128, 1}, nl::float32));
                {
                  auto inner = arena.scope();
                  use(arena.alloc_stack({128, 2}, nl::float32));
                  inner.next();
                  use(arena.alloc_stack({128, 4}, nl::float32));
                }
                outer.next();
              }
            }),
            "0:0 0:4 0:4 0:20 0:24 0:24 0:40 0:44 0:44 0:0 0:4 0:4");
}

TEST(SbufArena, AutomaticModeLeavesAddressesToTheCompiler) {
  EXPECT_EQ(addresses([](InOut) {
              SbufArena arena({.automatic = true});
              auto loop = arena.scope({.buffers = 2});
              use(arena.alloc_stack({128, 50}, nl::float32));
              use(arena.alloc_heap({128, 50}, nl::float32));
              arena.pop_heap();
            }),
            "- -");
}

TEST(SbufArena, WhatDoesNotFitIsReportedAndTracingGoesOn) {
  EXPECT_EQ(addresses([](InOut) {
              SbufArena arena({.end = 100});
              use(arena.alloc_stack({128, 15}, nl::float32));
              use(arena.alloc_heap({128, 10}, nl::float32)); // exactly full
              use(arena.alloc_stack({128, 1}, nl::uint8, {.name = "late"}));
            }),
            "[M-03] 'late' of 1 bytes per partition does not fit the arena: 0 bytes are left "
            "between the stack (60) and the heap (40) (close a scope before this stack "
            "allocation, use fewer buffers, or make the tiles smaller)");
}

TEST(SbufArena, RefusesWrongUse) {
  EXPECT_EQ(errors([](InOut) { SbufArena arena({.begin = 8, .end = 4}); }),
            "[] an arena of bytes 8 to 4 does not lie in the 212984 usable bytes of a partition "
            "(leave begin and end out to take all of it)");
  EXPECT_EQ(errors([](InOut) {
              SbufArena arena;
              arena.pop_heap();
            }),
            "[] the heap of the arena is empty (pop what alloc_heap has pushed)");
  EXPECT_EQ(errors([](InOut) {
              SbufArena arena;
              auto scope = arena.scope({.buffers = 0});
            }),
            "[] a scope of 0 buffers holds no tile (1 buffer reuses the addresses at once, 2 "
            "overlap two iterations)");
}

TEST(SbufArena, AlignmentIsAPowerOfTwo) {
  for (const bool isHeap : {false, true}) {
    static bool heap; // a kernel is a function without captures
    heap = isHeap;
    EXPECT_EQ(errors([](InOut) {
                SbufArena arena;
                heap ? arena.alloc_heap({128, 4}, nl::float32, {.align = 12})
                     : arena.alloc_stack({128, 4}, nl::float32, {.align = 12});
              }),
              "[] a tile cannot be aligned to 12 bytes (give a power of two of at least 4)");
  }
}

TEST(SbufArena, LogIsATree) {
  static std::string log; // a kernel is a function without captures
  traceBody([](InOut) {
    SbufArena arena;
    use(arena.alloc_stack({128, 4}, nl::float32, {.name = "a"}));
    auto loop = arena.scope({.buffers = 2});
    use(arena.alloc_stack({128, 2, 8}, nl::bfloat16));
    use(arena.alloc_heap({1, 1}, nl::int32, {.name = "h"}));
    log = arena.log();
  });
  EXPECT_EQ(log, "stack 0-15 128x4 float32 'a'\n"
                 "scope of 2 buffers\n"
                 "  stack 16-47 128x2x8 bfloat16\n"
                 "  heap 212980-212983 1x1 int32 'h'\n");
}

} // namespace
} // namespace kiln::test
