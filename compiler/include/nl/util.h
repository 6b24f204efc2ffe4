//===- util.h - small helpers of kernel authors -----------------------------------------------===//
//
// Cutting a dim into tiles, checking what a kernel assumes, and the sizes of the machine.
//
//   for (nl::Chunk m : nl::tiles(M, nl::tile_size.pmax))   // 200 rows: 0..127, then 128..199
//     nisa::dma_copy(buffer(nl::ds(0, m.size), nl::_), x(m, nl::_));
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_UTIL_H
#define NL_UTIL_H

#include "nl/kernel.h"

namespace nl {

//---- sizes of the machine -----------------------------------------------===//

/// Limits of one NeuronCore of a Trainium2.
struct TileSize {
  /// Partitions: 128.
  int64_t pmax = detail::table::numPartitions;
  /// Float32 elements of one PSUM bank, in a partition: 512.
  int64_t psum_bank_fmax = detail::table::psumBankBytesPerPartition / detail::table::psumCellBytes;
  /// The same in bytes: 2048.
  int64_t psum_bank_fmax_bytes = detail::table::psumBankBytesPerPartition;
  /// PSUM banks: 8.
  int64_t psum_num_banks = detail::table::psumBanks;
  /// Free elements of a stationary matmul operand: 128.
  int64_t gemm_stationary_fmax = detail::table::matmulMaxStationaryFree;
  /// Free elements of a moving matmul operand: 512.
  int64_t gemm_moving_fmax = detail::table::matmulMaxMovingFree;
  /// Free elements of one bn_stats: 512.
  int64_t bn_stats_fmax = detail::table::bnStatsMaxFree;
  /// Bytes of a partition of SBUF a kernel may use: 212,984.
  int64_t sbuf_fmax_bytes = detail::table::sbufUsableBytesPerPartition;
  /// The same in float32 elements: 53,246.
  int64_t sbuf_fmax = detail::table::sbufUsableBytesPerPartition / 4;
  /// Alignment of a PSUM address, in bytes: 2048.
  int64_t psum_min_align = detail::table::psumMinAlign;
  /// Alignment of an SBUF address, in bytes: 4.
  int64_t sbuf_min_align = detail::table::sbufMinAlign;
  [[deprecated("write psum_bank_fmax")]] int64_t psum_fmax =
      detail::table::psumBankBytesPerPartition / detail::table::psumCellBytes;
  [[deprecated("write sbuf_fmax_bytes")]] int64_t total_available_sbuf_size =
      detail::table::sbufUsableBytesPerPartition;
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
inline constexpr TileSize tile_size{};
#pragma GCC diagnostic pop

//---- loops --------------------------------------------------------------===//

/// a / b rounded up, for counts: the number of tiles of b that cover a.
template <detail::Integer A, detail::Integer B>
constexpr int64_t ceil_div(A a, B b) {
  return (static_cast<int64_t>(a) + static_cast<int64_t>(b) - 1) / static_cast<int64_t>(b);
}

/// The range nl::tiles returns.
class Tiles {
public:
  class Iterator {
  public:
    constexpr Iterator(int64_t index, int64_t total, int64_t tile)
        : index(index), total(total), tile(tile) {}
    constexpr Chunk operator*() const {
      const int64_t left = total - index * tile;
      return {index, index * tile, left < tile ? left : tile};
    }
    constexpr Iterator &operator++() {
      ++index;
      return *this;
    }
    constexpr bool operator==(const Iterator &other) const { return index == other.index; }

  private:
    int64_t index, total, tile;
  };
  constexpr Tiles(int64_t total, int64_t tile) : total(total), tile(tile) {}
  constexpr Iterator begin() const { return {0, total, tile}; }
  constexpr Iterator end() const { return {size(), total, tile}; }
  /// How many tiles there are.
  constexpr int64_t size() const { return ceil_div(total, tile); }
  constexpr Chunk operator[](int64_t i) const { return *Iterator(i, total, tile); }

private:
  int64_t total, tile;
};

/// Cuts `total` elements into tiles of `tile`; the last one is clipped. Chunks stand for their
/// slice in a subscript and know their `index`, `start`, `size` and `end()`. A tile below 1 or a
/// negative total ends the trace.
Tiles tiles(detail::Int total, detail::Int tile, SrcLoc loc = SrcLoc::current());

/// Whole numbers from `start` up to `stop`: Python's range. The loop unrolls while tracing.
class Range {
public:
  class Iterator {
  public:
    constexpr Iterator(int64_t value, int64_t step) : value(value), step(step) {}
    constexpr int64_t operator*() const { return value; }
    constexpr Iterator &operator++() {
      value += step;
      return *this;
    }
    constexpr bool operator==(const Iterator &other) const { return value == other.value; }

  private:
    int64_t value, step;
  };
  constexpr Range(int64_t start, int64_t stop, int64_t step)
      : first(start), last(count(start, stop, step) * step + start), step(step) {}
  constexpr Iterator begin() const { return {first, step}; }
  constexpr Iterator end() const { return {last, step}; }

private:
  static constexpr int64_t count(int64_t start, int64_t stop, int64_t step) {
    if (step > 0)
      return start < stop ? (stop - start - 1) / step + 1 : 0;
    if (step < 0)
      return start > stop ? (start - stop - 1) / -step + 1 : 0;
    return 0;
  }
  int64_t first, last, step;
};
namespace detail {
/// Remembers a loop that has no iterations, for a later message about what it did not do.
void emptyLoop(const SrcLoc &loc);
/// Begins a loop whose iterations claim to be independent; returns its number.
uint32_t enterLoop(const SrcLoc &loc);
/// The current iteration is over; after the last one that ends the loop.
void nextIteration(uint32_t loop);

constexpr Range noted(const Range &range, const SrcLoc &loc) {
  if (!std::is_constant_evaluated() && range.begin() == range.end())
    emptyLoop(loc);
  return range;
}
} // namespace detail

constexpr Range range(detail::Int stop, SrcLoc loc = SrcLoc::current()) {
  return detail::noted({0, stop.value, 1}, loc);
}
constexpr Range range(detail::Int start, detail::Int stop, detail::Int step = 1,
                      SrcLoc loc = SrcLoc::current()) {
  return detail::noted({start.value, stop.value, step.value}, loc);
}

/// The range nl::affine_range returns: it tells the trace where an iteration ends.
class AffineRange {
public:
  class Iterator {
  public:
    Iterator(Range::Iterator at, uint32_t loop) : at(at), loop(loop) {}
    int64_t operator*() const { return *at; }
    Iterator &operator++() {
      detail::nextIteration(loop);
      ++at;
      return *this;
    }
    bool operator==(const Iterator &other) const { return at == other.at; }

  private:
    Range::Iterator at;
    uint32_t loop;
  };
  AffineRange(const Range &range, const SrcLoc &loc) : range(range), loc(loc) {}
  Iterator begin() const {
    return {range.begin(), range.begin() == range.end() ? 0 : detail::enterLoop(loc)};
  }
  Iterator end() const { return {range.end(), 0}; }

private:
  Range range;
  SrcLoc loc;
};
/// A range whose iterations are independent: none reads or writes what another one writes. Matmuls
/// that add to one PSUM tile are fine. The promise changes nothing in the program; it is checked
/// (C-11).
inline AffineRange affine_range(detail::Int stop, SrcLoc loc = SrcLoc::current()) {
  return {range(stop, loc), loc};
}
inline AffineRange affine_range(detail::Int start, detail::Int stop, detail::Int step = 1,
                                SrcLoc loc = SrcLoc::current()) {
  return {range(start, stop, step, loc), loc};
}
/// NKI's other names of range; they promise nothing more.
constexpr Range sequential_range(detail::Int stop, SrcLoc loc = SrcLoc::current()) {
  return range(stop, loc);
}
constexpr Range sequential_range(detail::Int start, detail::Int stop, detail::Int step = 1,
                                 SrcLoc loc = SrcLoc::current()) {
  return range(start, stop, step, loc);
}
constexpr Range static_range(detail::Int stop, SrcLoc loc = SrcLoc::current()) {
  return range(stop, loc);
}
constexpr Range static_range(detail::Int start, detail::Int stop, detail::Int step = 1,
                             SrcLoc loc = SrcLoc::current()) {
  return range(start, stop, step, loc);
}

//---- loops of the device ------------------------------------------------===//

namespace detail {

/// Begins an nl::affine_for in the trace and ends it.
class LoopScope {
public:
  LoopScope(int64_t tripCount, SrcLoc loc);
  ~LoopScope();
  LoopScope(const LoopScope &) = delete;
  LoopScope &operator=(const LoopScope &) = delete;
  const nl::Index &index() const { return index_; }

private:
  nl::Index index_;
};

} // namespace detail

/// Runs `body` `n` times, in order, as one loop of the program: its size does not depend on `n`.
/// The body is traced once, with an nl::Index in place of the number of the iteration, and checked
/// for all of them.
///
///   nl::affine_for(x.dim(0) / 128, [&](nl::Index i) {
///     nl::Tensor t = nl::load(x(nl::ds(i * 128, 128), nl::_));
///     nl::store(y(nl::ds(i * 128, 128), nl::_), t);
///   });
///
/// A tensor declared in the body is a new one in every iteration and gone behind the loop; what is
/// to be carried from one iteration to the next, or out of the loop, lies in a tensor declared
/// before it. At most four loops stand inside one another. Checks C-05, C-06.
template <class Body>
void affine_for(detail::Int n, Body &&body, SrcLoc loc = SrcLoc::current()) {
  if constexpr (!std::is_invocable_v<Body &, Index>) {
    static_assert(detail::never<Body>, "the body of nl::affine_for takes an nl::Index "
                                       "(write [&](nl::Index i) { ... })");
  } else {
    static_assert(
        std::is_void_v<std::invoke_result_t<Body &, Index>>,
        "[C-04] the body of nl::affine_for returns nothing (carry state in a tensor declared "
        "before the loop)");
    detail::LoopScope scope(n.value, loc);
    body(scope.index());
  }
}

/// Options of nl::fori_loop.
struct ForOptions {
  int64_t step = 1; ///< added to the counter after each iteration; at least 1
};

namespace detail {

/// Begins a loop that registers decide, and ends it.
class RegisterLoopScope {
public:
  RegisterLoopScope(const RegTerm &lower, const RegTerm &upper, int64_t step, SrcLoc loc);
  RegisterLoopScope(const Reg &condition, bool isOnce, SrcLoc loc);
  ~RegisterLoopScope();
  RegisterLoopScope(const RegisterLoopScope &) = delete;
  RegisterLoopScope &operator=(const RegisterLoopScope &) = delete;
  /// The counter, or the condition.
  const Reg &reg() const { return reg_; }

private:
  Reg reg_;
  bool isOpen = false;
};
/// A register with the value of `init`, for a condition that the body changes.
Reg conditionOf(const Reg &init, SrcLoc loc);
void setCondition(const Reg &condition, const Reg &next, SrcLoc loc);

} // namespace detail

/// Runs `body(i)` on the device with a register i = lower, lower + step, ... below upper, which may
/// be registers: perhaps never. The body is traced once. Like nl::affine_for, what is carried from
/// iteration to iteration lies in tensors or registers declared before the loop. Checks C-02, C-03,
/// C-05, C-06.
///
///   nl::Reg rows = nisa::register_alloc(count); // a (1, 1) int32 tensor
///   nl::fori_loop(0, rows, [&](nl::Reg row) {
///     nl::Tensor t = nl::load(x.ap({{F, 128}, {1, F}}, {.scalar_offset = row}));
///     nl::store(y.ap({{F, 128}, {1, F}}, {.scalar_offset = row}), t);
///   }, {.step = 128});
template <class Body>
void fori_loop(const RegTerm &lower, const RegTerm &upper, Body &&body,
               const ForOptions &options = {}, SrcLoc loc = SrcLoc::current()) {
  if constexpr (!std::is_invocable_v<Body &, Reg>) {
    static_assert(detail::never<Body>,
                  "the body of nl::fori_loop takes an nl::Reg (write [&](nl::Reg i) { ... })");
  } else {
    static_assert(std::is_void_v<std::invoke_result_t<Body &, Reg>>,
                  "[C-04] the body of nl::fori_loop returns nothing (carry state in a tensor "
                  "declared before the loop)");
    detail::RegisterLoopScope scope(lower, upper, options.step, loc);
    body(scope.reg());
  }
}

/// Runs `body(r)` on the device as long as r, first `init`, is not 0; the body returns the register
/// with its next value. Asked before each iteration: perhaps never. Checks C-02, C-05.
template <class Body>
void while_loop(const Reg &init, Body &&body, SrcLoc loc = SrcLoc::current()) {
  if constexpr (!std::is_invocable_v<Body &, Reg>) {
    static_assert(detail::never<Body>,
                  "the body of nl::while_loop takes an nl::Reg (write [&](nl::Reg r) { ... })");
  } else {
    static_assert(std::is_same_v<std::invoke_result_t<Body &, Reg>, Reg>,
                  "[C-04] the body of nl::while_loop returns the register with the next condition");
    const Reg condition = detail::conditionOf(init, loc);
    detail::RegisterLoopScope scope(condition, /*isOnce=*/false, loc);
    detail::setCondition(condition, body(condition), loc);
  }
}

/// Runs `body()` on the device once if `condition` is not 0, else not at all. Checks C-02, C-05.
template <class Body>
void if_(const Reg &condition, Body &&body, SrcLoc loc = SrcLoc::current()) {
  if constexpr (!std::is_invocable_v<Body &>) {
    static_assert(detail::never<Body>, "the body of nl::if_ takes nothing (write [&] { ... })");
  } else {
    static_assert(std::is_void_v<std::invoke_result_t<Body &>>,
                  "[C-04] the body of nl::if_ returns nothing (carry state in a tensor declared "
                  "before it)");
    detail::RegisterLoopScope scope(condition, /*isOnce=*/true, loc);
    body();
  }
}

//---- arithmetic on registers --------------------------------------------===//

namespace detail {
Reg compute(const RegTerm &left, const char *op, const RegTerm &right);
}
#define NL_REG_OPERATOR(symbol, name)                                                              \
  inline Reg operator symbol(const Reg &left, const RegTerm &right) {                              \
    return detail::compute(RegTerm(left, right.loc), name, right);                                 \
  }                                                                                                \
  template <detail::Integer T>                                                                     \
  Reg operator symbol(T left, const RegTerm &right) {                                              \
    return detail::compute(RegTerm(left, right.loc), name, right);                                 \
  }
NL_REG_OPERATOR(+, "add")
NL_REG_OPERATOR(-, "subtract")
NL_REG_OPERATOR(*, "multiply")
#undef NL_REG_OPERATOR
// C-02: a comparison would have to be a bool of the host.
#define NL_REG_COMPARISON(symbol)                                                                  \
  template <class T>                                                                               \
  bool operator symbol(const Reg &, const T &) {                                                   \
    static_assert(detail::never<T>,                                                                \
                  "[C-02] a register has no value while the kernel is traced (compare on the "     \
                  "device: nisa::register_alu with nl::less, nl::equal, ... gives 1 or 0)");       \
    return false;                                                                                  \
  }
NL_REG_COMPARISON(==)
NL_REG_COMPARISON(<)
NL_REG_COMPARISON(<=)
NL_REG_COMPARISON(>)
NL_REG_COMPARISON(>=)
#undef NL_REG_COMPARISON

//---- what a kernel assumes ----------------------------------------------===//

namespace detail {

/// A value that `{}` in a format prints.
struct FormatArg {
  enum class Kind : uint8_t { Integer, Unsigned, Real, Bool, Text, Shape, Dtype };
  Kind kind;
  int64_t integer = 0;
  double real = 0;
  const char *text = "";
  Shape shape{};
  template <Integer T>
  FormatArg(T v)
      : kind(std::is_signed_v<T> ? Kind::Integer : Kind::Unsigned),
        integer(static_cast<int64_t>(v)) {}
  template <class T>
    requires std::is_same_v<T, bool>
  FormatArg(T v) : kind(Kind::Bool), integer(v) {}
  FormatArg(float v) : kind(Kind::Real), real(v) {}
  FormatArg(double v) : kind(Kind::Real), real(v) {}
  FormatArg(const char *v) : kind(Kind::Text), text(v) {}
  FormatArg(const std::string &v) : kind(Kind::Text), text(v.c_str()) {}
  FormatArg(const nl::Shape &v) : kind(Kind::Shape), shape(v) {}
  FormatArg(DType v) : kind(Kind::Dtype), integer(static_cast<int64_t>(v)) {}
};

/// The text of nl::require with the place it was written at.
struct Format {
  const char *text;
  SrcLoc loc;
  Format(const char *text, SrcLoc place = SrcLoc::current()) : text(text), loc(place) {}
  Format(const std::string &text, SrcLoc place = SrcLoc::current())
      : text(text.c_str()), loc(place) {}
};

[[noreturn]] void requireFailed(const Format &format, const FormatArg *args, unsigned count);

} // namespace detail

/// Ends the trace with a message unless `condition` holds. Each `{}` in the text prints the next
/// value: numbers, strings, shapes and dtypes. The message points at the call.
///
///   nl::require(K % tk == 0, "K={} is not a multiple of {}", K, tk);
template <class... Args>
void require(bool condition, detail::Format format, const Args &...args) {
  if (condition)
    return;
  const detail::FormatArg list[] = {detail::FormatArg(args)..., detail::FormatArg("")};
  detail::requireFailed(format, list, sizeof...(Args));
}

} // namespace nl

#endif // NL_UTIL_H
