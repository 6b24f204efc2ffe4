//===- memory.h - addresses by hand -----------------------------------------------------------===//
//
// Without an address the compiler places a tile, and tiles declared in a loop rotate. Who wants to
// decide it computes addresses here; the compiler then checks them exactly, tile by tile (M-04,
// M-05), because a trace has no loops left. Both helpers are plain arithmetic: tiles with and
// without an address mix freely in one kernel.
//
//   nl::ModuloAllocation ring({.base = 0, .tile_bytes = 4000, .num_tiles = {4}});
//   for (nl::Chunk c : nl::tiles(N, 1000))        // tile i at 4000 * (i mod 4)
//     Tensor t = nl::ndarray({128, c.size}, nl::float32, nl::sbuf, {.address = ring(c.index)});
//
//   nl::SbufArena arena;
//   Tensor panel = arena.alloc_stack({128, 2048}, nl::bfloat16);
//   auto loop = arena.scope({.buffers = 2});      // double buffering for all that is in it
//   for (nl::Chunk k : nl::tiles(K, 128)) {
//     Tensor a = arena.alloc_stack({k.size, 512}, nl::bfloat16);
//     loop.next();
//   }
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_MEMORY_H
#define NL_MEMORY_H

#include "nl/core.h"

#include <memory>
#include <string>

namespace nl {

//---- modulo allocation --------------------------------------------------===//

/// What a ModuloAllocation is made of.
struct ModuloOptions {
  int64_t base = 0;       ///< first byte, in the usable part of each partition
  int64_t partition = 0;  ///< first partition
  int64_t tile_bytes = 0; ///< of one tile, in each partition; at least 1
  Shape num_tiles = {1};  ///< physical tiles of each block dim, outermost first; each at least 1
};

/// Addresses that repeat: block (i0, i1, ...) lies at
/// `base + tile_bytes * sum over j of (i_j mod n_j) * n_{j+1} * n_{j+2} * ...`. Two tiles are
/// double buffering. Tile i must be dead before tile i + n is written: M-05 says so if it is not.
class ModuloAllocation {
public:
  /// A tile without bytes or a count below 1 ends the trace.
  explicit ModuloAllocation(const ModuloOptions &options, SrcLoc loc = SrcLoc::current());

  /// Address of a block: as many indices as `num_tiles` has counts, each at least 0. Anything else
  /// ends the trace.
  Address operator()(detail::Int i, SrcLoc loc = SrcLoc::current()) const;
  Address operator()(detail::Int i, detail::Int j, SrcLoc loc = SrcLoc::current()) const;
  Address operator()(detail::Int i, detail::Int j, detail::Int k,
                     SrcLoc loc = SrcLoc::current()) const;

  /// Bytes of a partition all physical tiles take together.
  int64_t footprint() const;
  /// The first byte after them.
  int64_t end() const { return options.base + footprint(); }

private:
  Address at(const int64_t *indices, unsigned count, SrcLoc loc) const;
  ModuloOptions options;
};

//---- arena --------------------------------------------------------------===//

/// A part of SBUF a kernel divides by hand.
struct ArenaOptions {
  int64_t begin = 0; ///< first byte, in the usable part of each partition
  /// The first byte after the arena.
  int64_t end = detail::table::sbufUsableBytesPerPartition;
  int64_t partition = 0;  ///< first partition of every tile
  bool automatic = false; ///< compute no addresses: the compiler places the tiles
};

/// Options of one tile in an arena.
struct ArenaTile {
  std::string name = {};                       ///< as for nl::ndarray
  int64_t align = detail::table::sbufMinAlign; ///< of its first byte; a power of two, at least 4
};

/// Options of a scope.
struct ScopeOptions {
  int64_t buffers = 1; ///< sections that lie side by side before addresses repeat; at least 1
};

/// A stack that grows up and a heap that grows down in a range of SBUF, with scopes that free what
/// was allocated in them. What does not fit is reported (M-03) and tracing goes on with a tile the
/// compiler places; log() says what lies where.
class SbufArena {
public:
  explicit SbufArena(const ArenaOptions &options = {}, SrcLoc loc = SrcLoc::current());
  ~SbufArena();
  SbufArena(const SbufArena &) = delete; ///< scopes refer to it

  /// A tile on the stack, at its top. It is freed when the innermost scope closes or rotates.
  Tensor alloc_stack(const Shape &shape, DType dtype, const ArenaTile &tile = {},
                     SrcLoc loc = SrcLoc::current());
  /// A tile on the heap, below the last one. It stays until pop_heap.
  Tensor alloc_heap(const Shape &shape, DType dtype, const ArenaTile &tile = {},
                    SrcLoc loc = SrcLoc::current());
  /// Frees the last tile of the heap. An empty heap ends the trace.
  void pop_heap(SrcLoc loc = SrcLoc::current());

  /// Frees its tiles when it goes out of scope, in C++ terms.
  class [[nodiscard]] Scope {
  public:
    Scope(Scope &&) noexcept;
    ~Scope();
    /// Begins the next section: `buffers` sections get addresses of their own, then they repeat.
    void next();

  private:
    friend class SbufArena;
    Scope(SbufArena *arena, size_t depth);
    SbufArena *arena;
    size_t depth;
  };
  /// Opens a scope at the top of the stack. Scopes nest; they close in reverse order.
  Scope scope(const ScopeOptions &options = {}, SrcLoc loc = SrcLoc::current());

  int64_t stack_bytes() const; ///< on the stack now
  int64_t heap_bytes() const;  ///< on the heap now
  int64_t free_bytes() const;  ///< between stack and heap
  int64_t high_water() const;  ///< most bytes of stack and heap together so far
  /// Everything allocated so far, one line a tile, indented by scope: range, shape, name.
  std::string log() const;

private:
  struct State;
  void reportOverflow(const char *where, int64_t bytes, const ArenaTile &tile, SrcLoc loc) const;
  std::unique_ptr<State> state;
};

} // namespace nl

#endif // NL_MEMORY_H
