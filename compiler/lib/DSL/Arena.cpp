//===- Arena.cpp - addresses by hand ----------------------------------------------------------===//
//
// Arithmetic on byte ranges; the tiles themselves are ordinary declarations with an address, so the
// rules of nl::ndarray and the placement's checks hold for them as for any other.
//
//===------------------------------------------------------------------------------------------===//

#include "Text.h"
#include "TraceState.h"

#include "nl/memory.h"

#include <algorithm>

namespace isa = kiln::isa;
using kiln::trace::text;
using kiln::trace::TraceState;

namespace nl {
namespace {

/// Ends the trace with `message` at `loc`.
[[noreturn]] void fatal(const char *function, std::string message, std::string help, SrcLoc loc) {
  if (TraceState *state = TraceState::current())
    state->fatal({"", std::move(message), std::move(help)}, loc);
  kiln::trace::reportOutsideKernel(function, loc);
  throw kiln::trace::Abort{};
}

/// Bytes a tile takes of each partition.
int64_t bytesOfTile(const Shape &shape, DType dtype) {
  int64_t bytes = isa::bytesOf(kiln::trace::toIsa(dtype));
  for (size_t d = 1; d < shape.size(); ++d)
    if (__builtin_mul_overflow(bytes, shape[d], &bytes))
      return 0; // the declaration reports it
  return bytes;
}

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t roundDown(int64_t value, int64_t unit) { return value / unit * unit; }

} // namespace

//---- modulo allocation ----------------------------------------------------------------------===//

ModuloAllocation::ModuloAllocation(const ModuloOptions &options, SrcLoc loc) : options(options) {
  if (options.tile_bytes < 1)
    fatal("nl::ModuloAllocation", text("a tile of ", options.tile_bytes, " bytes has no address"),
          "set tile_bytes to the bytes one tile takes of each partition", loc);
  for (int64_t count : options.num_tiles)
    if (count < 1)
      fatal("nl::ModuloAllocation",
            text("num_tiles holds ", count, ", a block dim rotates over at least 1 tile"), "", loc);
}

Address ModuloAllocation::at(const int64_t *indices, unsigned count, SrcLoc loc) const {
  if (count != options.num_tiles.size())
    fatal("nl::ModuloAllocation",
          text(count, count == 1 ? " index" : " indices", " for a modulo allocation of ",
               options.num_tiles.size(), " block dims"),
          "give one index for each count of num_tiles", loc);
  int64_t tile = 0;
  for (unsigned d = 0; d < count; ++d) {
    if (indices[d] < 0)
      fatal("nl::ModuloAllocation", text("index ", indices[d], " of a block is negative"),
            "count blocks from 0", loc);
    tile = tile * options.num_tiles[d] + indices[d] % options.num_tiles[d];
  }
  return {options.partition, options.base + options.tile_bytes * tile};
}

Address ModuloAllocation::operator()(detail::Int i, SrcLoc loc) const {
  const int64_t indices[] = {i.value};
  return at(indices, 1, loc);
}
Address ModuloAllocation::operator()(detail::Int i, detail::Int j, SrcLoc loc) const {
  const int64_t indices[] = {i.value, j.value};
  return at(indices, 2, loc);
}
Address ModuloAllocation::operator()(detail::Int i, detail::Int j, detail::Int k,
                                     SrcLoc loc) const {
  const int64_t indices[] = {i.value, j.value, k.value};
  return at(indices, 3, loc);
}

int64_t ModuloAllocation::footprint() const {
  int64_t tiles = 1;
  for (int64_t count : options.num_tiles)
    tiles *= count;
  return tiles * options.tile_bytes;
}

//---- arena ----------------------------------------------------------------------------------===//

struct SbufArena::State {
  struct Level {
    int64_t buffers = 1;
    int64_t section = 0;
    std::vector<int64_t> bases; ///< where each buffer begins, as far as it was used
    int64_t high = 0;           ///< the highest byte the scope or one inside it reached
  };

  ArenaOptions options;
  int64_t top = 0, bottom = 0; ///< end of the stack, begin of the heap
  int64_t highWater = 0;
  std::vector<Level> levels; ///< open scopes, outermost first
  std::vector<int64_t> heap; ///< bottoms to go back to
  std::string lines;

  void note(const std::string &line) { lines += std::string(2 * levels.size(), ' ') + line + "\n"; }
  void noteTile(const char *where, int64_t lo, int64_t bytes, const Shape &shape, DType dtype,
                const std::string &name) {
    std::string extents;
    for (int64_t extent : shape)
      extents += text(extents.empty() ? "" : "x", extent);
    note(text(where, " ", lo, "-", lo + bytes - 1, " ", extents, " ",
              isa::name(kiln::trace::toIsa(dtype)), name.empty() ? "" : text(" '", name, "'")));
  }
  void raise() {
    highWater = std::max(highWater, top - options.begin + options.end - bottom);
    for (Level &level : levels)
      level.high = std::max(level.high, top);
  }
};

SbufArena::SbufArena(const ArenaOptions &options, SrcLoc loc) : state(new State) {
  const int64_t limit = detail::table::sbufUsableBytesPerPartition;
  if (options.begin < 0 || options.end < options.begin || options.end > limit)
    fatal("nl::SbufArena",
          text("an arena of bytes ", options.begin, " to ", options.end, " does not lie in the ",
               limit, " usable bytes of a partition"),
          "leave begin and end out to take all of it", loc);
  state->options = options;
  state->top = options.begin;
  state->bottom = options.end;
}
SbufArena::~SbufArena() = default;

/// Ends the trace unless `align` is an alignment that tiles can have.
static void checkAlign(int64_t align, SrcLoc loc) {
  const int64_t least = detail::table::sbufMinAlign;
  if (align < least || (align & (align - 1)) != 0)
    fatal("nl::SbufArena", text("a tile cannot be aligned to ", align, " bytes"),
          text("give a power of two of at least ", least), loc);
}

Tensor SbufArena::alloc_stack(const Shape &shape, DType dtype, const ArenaTile &tile, SrcLoc loc) {
  checkAlign(tile.align, loc);
  const int64_t bytes = bytesOfTile(shape, dtype), lo = roundUp(state->top, tile.align);
  if (state->options.automatic || bytes <= 0)
    return ndarray(shape, dtype, sbuf, {.name = tile.name}, loc);
  if (lo + bytes > state->bottom) {
    reportOverflow("stack", bytes, tile, loc);
    return ndarray(shape, dtype, sbuf, {.name = tile.name}, loc);
  }
  state->top = lo + bytes;
  state->raise();
  state->noteTile("stack", lo, bytes, shape, dtype, tile.name);
  return ndarray(shape, dtype, sbuf,
                 {.name = tile.name, .address = Address{state->options.partition, lo}}, loc);
}

Tensor SbufArena::alloc_heap(const Shape &shape, DType dtype, const ArenaTile &tile, SrcLoc loc) {
  checkAlign(tile.align, loc);
  const int64_t bytes = bytesOfTile(shape, dtype);
  const int64_t lo = roundDown(state->bottom - bytes, tile.align);
  state->heap.push_back(state->bottom);
  if (state->options.automatic || bytes <= 0)
    return ndarray(shape, dtype, sbuf, {.name = tile.name}, loc);
  if (lo < state->top) {
    reportOverflow("heap", bytes, tile, loc);
    return ndarray(shape, dtype, sbuf, {.name = tile.name}, loc);
  }
  state->bottom = lo;
  state->raise();
  state->noteTile("heap", lo, bytes, shape, dtype, tile.name);
  return ndarray(shape, dtype, sbuf,
                 {.name = tile.name, .address = Address{state->options.partition, lo}}, loc);
}

void SbufArena::reportOverflow(const char *where, int64_t bytes, const ArenaTile &tile,
                               SrcLoc loc) const {
  TraceState *trace = TraceState::current();
  if (!trace)
    return; // ndarray says so
  trace->log.report({"M-03",
                     text(tile.name.empty() ? "a tile" : text("'", tile.name, "'"), " of ", bytes,
                          " bytes per partition does not fit the arena: ", free_bytes(),
                          " bytes are left between the stack (", stack_bytes(), ") and the heap (",
                          heap_bytes(), ")"),
                     text("close a scope before this ", where,
                          " allocation, use fewer buffers, or make the tiles smaller")},
                    trace->capture(loc));
}

void SbufArena::pop_heap(SrcLoc loc) {
  if (state->heap.empty())
    fatal("nl::SbufArena", "the heap of the arena is empty", "pop what alloc_heap has pushed", loc);
  state->bottom = state->heap.back();
  state->heap.pop_back();
  state->note("pop heap");
}

SbufArena::Scope SbufArena::scope(const ScopeOptions &options, SrcLoc loc) {
  if (options.buffers < 1)
    fatal("nl::SbufArena", text("a scope of ", options.buffers, " buffers holds no tile"),
          "1 buffer reuses the addresses at once, 2 overlap two iterations", loc);
  state->note(text("scope of ", options.buffers, options.buffers == 1 ? " buffer" : " buffers"));
  state->levels.push_back({options.buffers, 0, {state->top}, state->top});
  return Scope(this, state->levels.size());
}

int64_t SbufArena::stack_bytes() const { return state->top - state->options.begin; }
int64_t SbufArena::heap_bytes() const { return state->options.end - state->bottom; }
int64_t SbufArena::free_bytes() const { return state->bottom - state->top; }
int64_t SbufArena::high_water() const { return state->highWater; }
std::string SbufArena::log() const { return state->lines; }

SbufArena::Scope::Scope(SbufArena *arena, size_t depth) : arena(arena), depth(depth) {}
SbufArena::Scope::Scope(Scope &&other) noexcept : arena(other.arena), depth(other.depth) {
  other.arena = nullptr;
}

SbufArena::Scope::~Scope() {
  // A scope inside that is still open, because the author keeps both in a container, ends here too.
  if (!arena || arena->state->levels.size() < depth)
    return;
  arena->state->top = arena->state->levels[depth - 1].bases.front();
  arena->state->levels.resize(depth - 1);
}

void SbufArena::Scope::next() {
  if (!arena || arena->state->levels.size() < depth)
    return;
  arena->state->levels.resize(depth);
  State::Level &level = arena->state->levels.back();
  const size_t buffer = size_t(++level.section % level.buffers);
  // A buffer begins where everything before it ended, the first time round; the same later.
  if (buffer == level.bases.size())
    level.bases.push_back(level.high);
  arena->state->top = level.bases[buffer];
}

} // namespace nl
