//===- core.h - tensors, shapes, dtypes and views ---------------------------------------------===//
//
// The first layer of the kernel language: handles of tensors and the views cut out of them.
//
//   nl::Tensor a = nl::ndarray({128, 512}, nl::float32);            // a tile in SBUF
//   nl::Tensor top = a(nl::slice(0, 64), nl::_);                    // its first 64 partitions
//   nl::Tensor pairs = a.reshape({128, 256, 2}).permute({0, 2, 1}); // free dims split, swapped
//
// A tensor is storage (buffer, shape, dtype, perhaps an address and a name) that a kernel declares
// while it is traced; a handle names a strided view of it. Views cost nothing on the device: they
// are folded into the instruction that uses them.
//
// A view has up to five dims. Element (i0, i1, ...) lies at `offset + stride0 * i0 + stride1 * i1 +
// ...` of the storage, counted in elements. On chip dim 0 is the partition dim: it keeps its place,
// is never strided, and every partition is accessed alike.
//
//   t of 64x64x64 in SBUF   | becomes | h of 4x128x32 in HBM      | becomes
//   t(0, 0, 10)             | 1x1     | h(0)                      | 128x32
//   t(nl::_, 0)             | 64x64   | h(0, nl::_, 3)            | 128
//   t(nl::_, 0, 10)         | 64x1    | h(nl::dots, slice(0, 16)) | 4x128x16
//   t(0)                    | 1x64x64 | h(ds(1, 2))               | 2x128x32
//
// Names in nl clash with those of the C library (exp, log, sqrt): write nl:: in front of them, and
// never `using namespace nl`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_CORE_H
#define NL_CORE_H

#include "nl/detail/table.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nl {

class Tensor;

//---- places -------------------------------------------------------------===//

/// A line of the author's source. Every function that can fail takes one as its last, defaulted
/// parameter, so that a message points at the call; nobody passes it by hand, except a helper that
/// wants its caller to be blamed.
struct SrcLoc {
  const char *file = "";
  unsigned line = 0;
  /// The place of the call whose default argument this is. (std::source_location would do, but not
  /// with every compiler.)
  static constexpr SrcLoc current(const char *file = __builtin_FILE(),
                                  unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

//---- dtypes and buffers -------------------------------------------------===//

/// Element types. Engines compute in float32 and round once when they write; the dtype of the
/// destination is the cast.
enum class DType : uint8_t {
  float32,
  bfloat16,
  float16,
  int32,
  uint8,
  int8,
  int16,
  uint16,
  uint32,
  float8_e4m3,
  float8_e5m2,
  float8_e4m3fn,
  tfloat32
};
inline constexpr DType float32 = DType::float32;         ///< 4 bytes
inline constexpr DType bfloat16 = DType::bfloat16;       ///< 2 bytes, 8 bits of exponent
inline constexpr DType float16 = DType::float16;         ///< 2 bytes, 5 bits of exponent
inline constexpr DType int32 = DType::int32;             ///< 4 bytes
inline constexpr DType uint8 = DType::uint8;             ///< 1 byte; predicates too
inline constexpr DType int8 = DType::int8;               ///< 1 byte
inline constexpr DType int16 = DType::int16;             ///< 2 bytes
inline constexpr DType uint16 = DType::uint16;           ///< 2 bytes; predicates too
inline constexpr DType uint32 = DType::uint32;           ///< 4 bytes; predicates too
inline constexpr DType float8_e4m3 = DType::float8_e4m3; ///< 1 byte, with infinities; largest 240
inline constexpr DType float8_e5m2 = DType::float8_e5m2; ///< 1 byte; largest 57344
/// 1 byte; largest 448. DMA moves it, no engine of trn2 computes with it: view it as float8_e4m3
/// (the same bits; magnitudes from 256 on read as infinities and NaNs).
inline constexpr DType float8_e4m3fn = DType::float8_e4m3fn;
/// 4 bytes: a float32 of 10 mantissa bits. Writes round to them; the Tensor Engine rounds what it
/// reads, and multiplies at the rate of 16-bit floats.
inline constexpr DType tfloat32 = DType::tfloat32;
inline constexpr DType bool_ = DType::uint8; ///< stored as a byte that holds 0 or 1

/// Where a tensor lives. The result of an nl:: function on tensors is a value, which lives nowhere
/// until the compiler gives it a place (nl/math.h).
enum class Buffer : uint8_t { sbuf, psum, private_hbm, shared_hbm, value };
inline constexpr Buffer sbuf = Buffer::sbuf; ///< on chip: what engines read and write
inline constexpr Buffer psum = Buffer::psum; ///< on chip: what matmuls write, in banks
inline constexpr Buffer private_hbm = Buffer::private_hbm; ///< device memory of one program
inline constexpr Buffer hbm = Buffer::private_hbm;         ///< the same
inline constexpr Buffer shared_hbm = Buffer::shared_hbm;   ///< device memory; results live here

constexpr bool is_sbuf(Buffer b) { return b == Buffer::sbuf; }
constexpr bool is_psum(Buffer b) { return b == Buffer::psum; }
constexpr bool is_on_chip(Buffer b) { return is_sbuf(b) || is_psum(b); }
constexpr bool is_value(Buffer b) { return b == Buffer::value; }
constexpr bool is_hbm(Buffer b) { return !is_on_chip(b) && !is_value(b); }

//---- numbers and shapes -------------------------------------------------===//

namespace detail {

/// True for every type; makes a static_assert depend on a template parameter.
template <class...>
inline constexpr bool never = false;

template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// A handle: nl::Tensor, or nl::InOut.
template <class T>
concept Handle = std::is_base_of_v<Tensor, std::remove_cvref_t<T>>;

/// Any integer, so that braces accept int, size_t and int64_t side by side.
struct Int {
  int64_t value = 0;
  template <Integer T>
  constexpr Int(T v) : value(static_cast<int64_t>(v)) {}
  template <Handle T>
  constexpr Int(const T &) {
    static_assert(never<T>, "[C-02] an element of a tile is no number while the kernel is traced "
                            "(use a number of the host, such as an int parameter of the kernel)");
  }
};

inline constexpr unsigned maxRank = table::maxRank;

} // namespace detail

/// Extents, strides or a dim order: up to five integers, outermost first.
class Shape {
public:
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<detail::Int> values) {
    for (detail::Int v : values)
      push_back(v.value);
  }
  Shape(const std::vector<int64_t> &values) {
    for (int64_t v : values)
      push_back(v);
  }

  /// How many integers were given. More than five are counted but not kept; whoever takes the shape
  /// reports that.
  constexpr unsigned size() const { return count; }
  constexpr int64_t operator[](unsigned i) const { return values[i]; }
  constexpr int64_t &operator[](unsigned i) { return values[i]; }
  constexpr const int64_t *begin() const { return values; }
  constexpr const int64_t *end() const { return values + kept(); }
  constexpr void push_back(int64_t v) {
    if (count < detail::maxRank)
      values[count] = v;
    ++count;
  }
  constexpr bool operator==(const Shape &other) const {
    if (count != other.count)
      return false;
    for (unsigned i = 0; i < kept(); ++i)
      if (values[i] != other.values[i])
        return false;
    return true;
  }

private:
  constexpr unsigned kept() const { return count < detail::maxRank ? count : detail::maxRank; }
  int64_t values[detail::maxRank] = {};
  unsigned count = 0;
};

//---- indices of loops ---------------------------------------------------===//

namespace detail {

inline constexpr unsigned maxLoopDepth = table::maxLoopDepth;

/// What a number gains in each iteration of the loops around it, outermost first.
struct Moves {
  int64_t step[maxLoopDepth] = {};
  uint32_t loop[maxLoopDepth] = {}; ///< which loop each step belongs to, by its number in the trace
  bool isMixed = false;             ///< loops that do not stand inside one another were added up
  constexpr bool any() const {
    for (int64_t s : step)
      if (s != 0)
        return true;
    return isMixed;
  }
  constexpr bool operator==(const Moves &other) const {
    for (unsigned i = 0; i < maxLoopDepth; ++i)
      if (step[i] != other.step[i] || (step[i] != 0 && loop[i] != other.loop[i]))
        return false;
    return isMixed == other.isMixed;
  }
  constexpr void add(const Moves &other, int64_t times) {
    isMixed = isMixed || other.isMixed;
    for (unsigned i = 0; i < maxLoopDepth; ++i) {
      if (other.loop[i] == 0)
        continue;
      isMixed = isMixed || (loop[i] != 0 && loop[i] != other.loop[i]);
      loop[i] = other.loop[i];
      step[i] += other.step[i] * times;
    }
  }
};

} // namespace detail

/// The number of the iteration of an nl::affine_for, or a whole number times it, plus another. The
/// loop runs on the device and its body is traced once, so there is no number yet: an index says
/// where a view starts, and nothing else.
class Index {
public:
  friend constexpr Index operator+(Index a, const Index &b) { return a.plus(b, 1); }
  friend constexpr Index operator-(Index a, const Index &b) { return a.plus(b, -1); }
  template <detail::Integer T>
  friend constexpr Index operator+(Index a, T b) {
    return a.plus(static_cast<int64_t>(b));
  }
  template <detail::Integer T>
  friend constexpr Index operator+(T a, Index b) {
    return b.plus(static_cast<int64_t>(a));
  }
  template <detail::Integer T>
  friend constexpr Index operator-(Index a, T b) {
    return a.plus(-static_cast<int64_t>(b));
  }
  template <detail::Integer T>
  friend constexpr Index operator-(T a, Index b) {
    return b.times(-1).plus(static_cast<int64_t>(a));
  }
  template <detail::Integer T>
  friend constexpr Index operator*(Index a, T b) {
    return a.times(static_cast<int64_t>(b));
  }
  template <detail::Integer T>
  friend constexpr Index operator*(T a, Index b) {
    return b.times(static_cast<int64_t>(a));
  }

  /// C-02: an index has no value while the kernel is traced.
#define NL_NO_VALUE                                                                                \
  "[C-02] the index of nl::affine_for has no value while the kernel is traced (multiply it by "    \
  "and "                                                                                           \
  "add it to whole numbers to say where a view starts; a C++ for gives numbers)"
  template <class T>
    requires std::is_arithmetic_v<T>
  operator T() const {
    static_assert(detail::never<T>, NL_NO_VALUE);
    return {};
  }
#define NL_INDEX_MISUSE(op)                                                                        \
  template <class T>                                                                               \
  friend bool operator op(const Index &, const T &) {                                              \
    static_assert(detail::never<T>, NL_NO_VALUE);                                                  \
    return false;                                                                                  \
  }                                                                                                \
  template <detail::Integer T>                                                                     \
  friend bool operator op(const T &, const Index &) {                                              \
    static_assert(detail::never<T>, NL_NO_VALUE);                                                  \
    return false;                                                                                  \
  }
  NL_INDEX_MISUSE(<)
  NL_INDEX_MISUSE(<=)
  NL_INDEX_MISUSE(>)
  NL_INDEX_MISUSE(>=)
  NL_INDEX_MISUSE(==)
  NL_INDEX_MISUSE(/)
  NL_INDEX_MISUSE(%)
#undef NL_INDEX_MISUSE
  template <std::same_as<Index> T> // no affine function of the loops any more
  friend constexpr Index operator*(const Index &a, const T &) {
    static_assert(detail::never<T>, NL_NO_VALUE);
    return a;
  }
#undef NL_NO_VALUE

  /// Made by nl::affine_for.
  constexpr explicit Index(const detail::Moves &moves) : moves_(moves) {}
  constexpr int64_t constant() const { return constant_; }
  /// For libkiln.
  constexpr const detail::Moves &moves() const { return moves_; }

private:
  constexpr Index plus(int64_t n) const {
    Index result = *this;
    result.constant_ += n;
    return result;
  }
  constexpr Index plus(const Index &other, int64_t times) const {
    Index result = plus(other.constant_ * times);
    result.moves_.add(other.moves_, times);
    return result;
  }
  constexpr Index times(int64_t n) const {
    Index result = *this;
    result.constant_ *= n;
    for (int64_t &step : result.moves_.step)
      step *= n;
    return result;
  }

  int64_t constant_ = 0;
  detail::Moves moves_;
};

//---- registers ----------------------------------------------------------===//

/// A register of the device: an integer of 32 bits that exists only when the kernel runs. It bounds
/// loops (nl::fori_loop), decides them (nl::while_loop, nl::if_), says where a view starts
/// (Tensor::select, a subscript, ApOptions::scalar_offset), and can be computed with: `+ - *` give
/// a new register and wrap at 32 bits, nisa::register_alu does that and more. A copy of the handle
/// is the same register; nisa::register_move copies the value.
class Reg {
public:
  constexpr Reg() = default;
  /// For libkiln.
  constexpr Reg(uint32_t trace, uint32_t number) : trace_(trace), number_(number) {}
  constexpr uint32_t trace() const { return trace_; }
  constexpr uint32_t number() const { return number_; }

  /// C-02: a register has no value while the kernel is traced.
  template <class T>
    requires std::is_same_v<T, bool>
  explicit operator T() const {
    static_assert(
        detail::never<T>,
        "[C-02] a register has no value while the kernel is traced (branch with nl::if_ or "
        "nl::while_loop, bound nl::fori_loop with it, or choose with Tensor::select)");
    return {};
  }

private:
  uint32_t trace_ = 0; ///< number of the trace; 0: no register
  uint32_t number_ = 0;
};

/// A register or a whole number, with the place it was written at.
struct RegTerm {
  template <detail::Integer T>
  constexpr RegTerm(T v, SrcLoc place = SrcLoc::current())
      : value(static_cast<int64_t>(v)), loc(place) {}
  constexpr RegTerm(const Reg &r, SrcLoc place = SrcLoc::current())
      : reg(r), isRegister(true), loc(place) {}

  Reg reg;
  int64_t value = 0;
  bool isRegister = false;
  SrcLoc loc;
};

//---- subscripts ---------------------------------------------------------===//

/// `nl::_` takes a whole dim: Python's `:`.
struct Whole {};
inline constexpr Whole _{};
inline constexpr Whole whole{};
/// `nl::dots` stands for as many whole dims as are left: Python's `...`.
struct Dots {};
inline constexpr Dots dots{};

namespace detail {
/// A place in a dim: a whole number, or one that a loop moves.
struct Position {
  int64_t value = 0;
  Moves moves{};
  template <Integer T>
  constexpr Position(T v) : value(static_cast<int64_t>(v)) {}
  constexpr Position(const nl::Index &i) : value(i.constant()), moves(i.moves()) {}
  constexpr Position after(int64_t n) const {
    Position p = *this;
    p.value += n;
    return p;
  }
};
/// One end of a slice; `nl::_` leaves it open.
struct Bound : Position {
  bool open = true;
  template <Integer T>
  constexpr Bound(T v) : Position(v), open(false) {}
  constexpr Bound(const nl::Index &i) : Position(i), open(false) {}
  constexpr Bound(const Position &p) : Position(p), open(false) {}
  constexpr Bound(Whole) : Position(0) {}
};
} // namespace detail

/// A range of one dim, as `nl::slice` and `nl::ds` make it.
struct Slice {
  detail::Bound start = Whole{}, stop = Whole{};
  int64_t step = 1;
  bool fromEnd = true; ///< negative bounds count from the end
};
/// Elements start, start + step, ... below `stop`: Python's `start:stop:step`. Negative bounds
/// count from the end, `nl::_` leaves a bound open. On chip dim 0 takes step 1 only. The index of a
/// loop moves both bounds alike. Checks V-01, V-02, P-08, P-14.
constexpr Slice slice(detail::Bound start, detail::Bound stop, int64_t step = 1) {
  return {start, stop, step, true};
}
/// `size` elements from `start` on.
constexpr Slice ds(detail::Position start, detail::Int size) {
  return {start, start.after(size.value), 1, false};
}

/// A piece of a dim that `nl::tiles` cut: the index-th, `size` elements from `start` on. It stands
/// for its own slice in a subscript.
struct Chunk {
  int64_t index = 0, start = 0, size = 0;
  constexpr int64_t end() const { return start + size; }
  constexpr operator Slice() const { return ds(start, size); }
};

namespace detail {
/// One subscript.
struct Index {
  enum class Kind : uint8_t { Element, Range, Whole, Dots, Register };
  Slice range{};
  Kind kind = Kind::Whole;
  Reg reg{}; ///< Register: Tensor::select by it
  template <Integer T>
  constexpr Index(T element) : range{element, element, 1, true}, kind(Kind::Element) {}
  constexpr Index(const nl::Index &element)
      : range{element, element, 1, false}, kind(Kind::Element) {}
  constexpr Index(const Reg &r) : kind(Kind::Register), reg(r) {}
  constexpr Index(const Slice &s) : range(s), kind(Kind::Range) {}
  constexpr Index(const Chunk &c) : range(c), kind(Kind::Range) {}
  constexpr Index(Whole) {}
  constexpr Index(Dots) : kind(Kind::Dots) {}
  template <Handle T>
  constexpr Index(const T &) {
    static_assert(never<T>, "[C-02] an element of a tile is no index while the kernel is traced "
                            "(use a number of the host, such as an int parameter of the kernel)");
  }
};

/// The subscripts of `t[{...}]` with the place they were written at.
struct IndexList {
  Index values[maxRank] = {Whole{}, Whole{}, Whole{}, Whole{}, Whole{}};
  unsigned count = 0; ///< as written; more than maxRank are counted only
  SrcLoc loc;
  constexpr IndexList(std::initializer_list<Index> list, SrcLoc place = SrcLoc::current())
      : loc(place) {
    for (const Index &i : list) {
      if (count < maxRank)
        values[count] = i;
      ++count;
    }
  }
};

/// What a handle holds: which tensor of which trace, and the view. Plain data, shared with libkiln.
struct View {
  uint32_t trace = 0;  ///< number of the trace; 0: no tensor
  uint32_t tensor = 0; ///< index of the storage in the trace; of a value, its node
  DType dtype = DType::float32;
  Buffer buffer = Buffer::sbuf;
  uint8_t rank = 0;
  bool poison = false;         ///< stands in for a tensor a reported error prevented
  bool keepsPartition = false; ///< an integer index chose a partition, which stayed as extent 1
  uint32_t partition = 0;      ///< on chip: first partition; `offset` counts from its start
  int64_t offset = 0;
  int64_t shape[maxRank] = {};
  int64_t stride[maxRank] = {}; ///< on chip stride[0] is the elements of one partition
  Moves moves{};                ///< what `offset` gains in each iteration of loops
  /// Where a register says: its number plus 1 (0: nowhere), the elements one index moves the view
  /// by, and how many there are.
  uint32_t index = 0;
  bool indexIsTensor = false; ///< `index` counts the tensors that say where views lie instead
  int64_t indexStep = 0, indexExtent = 0;
};

/// An index known only when the kernel runs: a register, or the one element of an integer tensor,
/// which every instruction that uses the view reads before it begins.
struct RunTimeIndex {
  RunTimeIndex(const Reg &r) : reg(r) {}
  template <Handle T>
  RunTimeIndex(const T &t) : tensor(t.raw()), isTensor(true) {}
  Reg reg{};
  View tensor{};
  bool isTensor = false;
};
} // namespace detail

/// One pair of an access pattern: `num` elements, `step` elements apart.
struct Step {
  detail::Int step, num;
};
/// An access pattern: pairs of [step, num], outermost first: `{{512, 128}, {1, 256}}`.
using Pattern = std::vector<Step>;

/// Options of Tensor::ap.
struct ApOptions {
  std::optional<int64_t> offset =
      {}; ///< first element, in elements of the pattern's dtype; 0 when absent
  std::optional<DType> dtype =
      {}; ///< reads the storage as this dtype; steps and counts are in its elements
  /// A register, or a (1, 1) integer tensor, whose value, times the elements right of
  /// `indirect_dim` in the tensor, is added to the offset when the kernel runs.
  std::optional<detail::RunTimeIndex> scalar_offset = {};
  int indirect_dim = 0; ///< of the tensor; the values of the index are below its extent
};

//---- the tensor handle --------------------------------------------------===//

/// A view of a tensor. A cheap value: copying a handle copies no data, and assigning one only makes
/// the variable name another view, as in Python. A default-constructed handle names nothing yet.
///
/// Everything but the elements is known while the kernel is traced. Elements are not: a tile cannot
/// be asked in an `if`.
///
/// The handle of a value (nl/math.h) names no memory. Its view methods make further values, and
/// those that say how bytes lie, `view` and `ap`, it does not have (T-04).
class Tensor {
public:
  Tensor() = default;
  Tensor(const Tensor &) = default;
  Tensor &operator=(const Tensor &) & = default;
  explicit Tensor(const detail::View &v) : view_(v) {}

  //-- what is known
  //---------------------------------------------------------------------------------

  unsigned rank() const { return view_.rank; }
  unsigned ndim() const { return view_.rank; }
  Shape shape() const { return list(view_.shape); }
  Shape strides() const { return list(view_.stride); }
  /// Extent of dim `i`; negative dims count from the end.
  int64_t dim(int i, SrcLoc loc = SrcLoc::current()) const;
  /// All extents of a tensor that must have N dims: `const auto [K, M] = lhsT.dims<2>();`. Another
  /// rank ends the trace (K-10).
  template <unsigned N>
  std::array<int64_t, N> dims(SrcLoc loc = SrcLoc::current()) const {
    std::array<int64_t, N> extents{};
    requireRank(N, loc);
    for (unsigned i = 0; i < N; ++i)
      extents[i] = view_.shape[i];
    return extents;
  }
  /// Number of elements.
  int64_t size() const {
    int64_t n = 1;
    for (unsigned i = 0; i < view_.rank; ++i)
      n *= view_.shape[i];
    return n;
  }
  /// First element of the view in its storage, in the first iteration of loops that move it; on
  /// chip counted as partition * elements of a partition + element in the partition.
  int64_t offset() const {
    return view_.offset + (onChip() ? view_.partition * view_.stride[0] : 0);
  }
  DType dtype() const { return view_.dtype; }
  Buffer buffer() const { return view_.buffer; }
  /// The author's name of the storage, or an empty string.
  std::string name() const;
  /// [stride, extent] of every dim.
  std::vector<std::pair<int64_t, int64_t>> get_pattern() const;
  /// Whether the elements lie side by side in row-major order; on chip inside each partition.
  bool is_contiguous() const;

  //-- subscripts
  //--------------------------------------------------------------------------------------

  /// The part of the tensor the subscripts select; missing ones take whole dims. An integer drops
  /// its dim, except that on chip dim 0 stays as extent 1 and at least two dims stay, in HBM at
  /// least one. A register is an integer known when the kernel runs, see select. Checks V-01, V-02,
  /// V-03, P-08, P-14; with registers B-14, V-12.
  Tensor operator()(detail::Index i0, SrcLoc loc = SrcLoc::current()) const {
    const detail::Index list[] = {i0};
    return subscript(list, 1, loc);
  }
  Tensor operator()(detail::Index i0, detail::Index i1, SrcLoc loc = SrcLoc::current()) const {
    const detail::Index list[] = {i0, i1};
    return subscript(list, 2, loc);
  }
  Tensor operator()(detail::Index i0, detail::Index i1, detail::Index i2,
                    SrcLoc loc = SrcLoc::current()) const {
    const detail::Index list[] = {i0, i1, i2};
    return subscript(list, 3, loc);
  }
  Tensor operator()(detail::Index i0, detail::Index i1, detail::Index i2, detail::Index i3,
                    SrcLoc loc = SrcLoc::current()) const {
    const detail::Index list[] = {i0, i1, i2, i3};
    return subscript(list, 4, loc);
  }
  Tensor operator()(detail::Index i0, detail::Index i1, detail::Index i2, detail::Index i3,
                    detail::Index i4, SrcLoc loc = SrcLoc::current()) const {
    const detail::Index list[] = {i0, i1, i2, i3, i4};
    return subscript(list, 5, loc);
  }
  /// The same with brackets: `t[{_, slice(0, 64)}]`.
  Tensor operator[](detail::IndexList list) const {
    return subscript(list.values, list.count, list.loc);
  }
  /// H-03: `t[i, j]`, which C++20 reads as `t[j]`.
  template <class T>
  Tensor operator[](const T &) const {
    static_assert(detail::never<T>, "[H-03] in C++20 a comma in brackets drops all but the last "
                                    "subscript (write t(i, j), or t[{i, j}])");
    return *this;
  }

  //-- views
  //-------------------------------------------------------------------------------------------
  // S, T and o are shape, strides and offset; primes mark the result.

  /// S'_d = ceil((end - start) / step), T'_d = step * T_d, o' = o + start * T_d.
  /// Checks V-01, V-02, P-08, P-14.
  Tensor slice(int dim, detail::Position start, detail::Position end, int64_t step = 1,
               SrcLoc loc = SrcLoc::current()) const;
  /// Drops dim d: o' = o + index * T_d. On chip d is not 0. Checks V-01, V-06.
  Tensor select(int dim, detail::Position index, SrcLoc loc = SrcLoc::current()) const;
  /// The same with an index known only when the kernel runs, 0 to S_d - 1: a register, or the one
  /// element of an integer tensor in SBUF or HBM, as it is when an instruction uses the view. One a
  /// view. Checks B-14, D-14, V-12; V-17 while it runs.
  Tensor select(int dim, const Reg &index, SrcLoc loc = SrcLoc::current()) const;
  Tensor select(int dim, const Tensor &index, SrcLoc loc = SrcLoc::current()) const;
  /// S'_k = S_order(k), T'_k = T_order(k); on chip order(0) = 0. Checks V-03, V-06.
  Tensor permute(const Shape &order, SrcLoc loc = SrcLoc::current()) const;
  /// Repeats dim d, of extent 1, `size` times: S'_d = size, T'_d = 0. On chip d is not 0. The
  /// result is only read from. Checks V-06, V-07.
  Tensor broadcast(int dim, int64_t size, SrcLoc loc = SrcLoc::current()) const;
  /// Inserts a dim of extent 1 in front of dim d (d = rank appends it). On chip d is not 0.
  /// Checks V-06, S-06.
  Tensor expand_dim(int dim, SrcLoc loc = SrcLoc::current()) const;
  /// Drops dim d, of extent 1. On chip d is not 0 and two dims stay. Checks V-06, V-07.
  Tensor squeeze_dim(int dim, SrcLoc loc = SrcLoc::current()) const;
  /// Splits dim d into `shape`, whose product is S_d; one extent may be -1. On chip d is not 0.
  /// Checks V-04, V-06, S-06.
  Tensor reshape_dim(int dim, const Shape &shape, SrcLoc loc = SrcLoc::current()) const;
  /// Merges dims first..last, which must be adjacent in memory: T_k = T_(k+1) * S_(k+1). On chip
  /// first is not 0. Checks V-05, V-06.
  Tensor flatten_dims(int first, int last, SrcLoc loc = SrcLoc::current()) const;
  /// Regroups the elements, in row-major order, without moving them; one extent may be -1. On chip
  /// dim 0 keeps its extent. Checks V-04, V-05, S-06.
  Tensor reshape(const Shape &shape, SrcLoc loc = SrcLoc::current()) const;
  /// The same bits as another dtype; the last dim grows or shrinks by the ratio of the sizes. The
  /// last dim must be contiguous and divide evenly. Checks D-15.
  Tensor view(DType dtype, SrcLoc loc = SrcLoc::current()) const;
  /// A raw access pattern over the whole storage, for layouts the other views cannot say. Only on a
  /// tensor no view was taken of. On chip the first pair is [elements of a partition, partitions].
  /// Checks V-10, V-11, V-16, P-02, S-06.
  Tensor ap(const Pattern &pattern, const ApOptions &options = {},
            SrcLoc loc = SrcLoc::current()) const;

  //-- misuse the host compiler explains
  //-----------------------------------------------------------------
  // Kiln shows the text of these at the author's line: rule id, what is wrong, (the way out).

  /// C-01: `if (tile)`, `tile && x`, `!tile`.
  template <class T>
    requires std::is_same_v<T, bool>
  explicit operator T() const {
    static_assert(detail::never<T>,
                  "[C-01] a tile has no value while the kernel is traced (nl::where chooses "
                  "element by element; on tiles compare with nisa::tensor_scalar or "
                  "nisa::tensor_tensor, which give 1 and 0)");
    return false;
  }
  /// H-04: `t(_, s) = x` would only rebind a temporary handle.
  template <class T>
  void operator=(const T &) && {
    static_assert(
        detail::never<T>,
        "[H-04] assigning to a view moves no data (write nisa::tensor_copy(view, tile) on "
        "chip, nisa::dma_copy(view, tile) or nl::store(view, tile) to HBM)");
  }
  /// K-11: `tile.astype(dtype)` of earlier NKI versions.
  template <class... A>
  Tensor astype(A &&...) const {
    static_assert(detail::never<A...>, "[K-11] Tensor::astype is gone (the dtype of dst is the "
                                       "cast: nisa::tensor_copy to a tile of it)");
    return *this;
  }

  /// The view itself; for libkiln.
  const detail::View &raw() const { return view_; }

private:
  bool onChip() const { return is_on_chip(view_.buffer); }
  Shape list(const int64_t *values) const {
    Shape s;
    for (unsigned i = 0; i < view_.rank; ++i)
      s.push_back(values[i]);
    return s;
  }
  Tensor subscript(const detail::Index *indices, unsigned count, SrcLoc loc) const;
  void requireRank(unsigned rank, SrcLoc loc) const;

  detail::View view_{};
};

// C-02: `tile += x`, `tile % 2`. Arithmetic and comparisons make values: see nl/math.h. (A number
// made of a tile, `int n = tile`, is C-02 too; Kiln tells it from the host compiler's own words.)
#define NL_NO_OPERATOR(op, text)                                                                   \
  template <class A, class B>                                                                      \
    requires(detail::Handle<A> || detail::Handle<B>)                                               \
  Tensor operator op(A &&, B &&) {                                                                 \
    static_assert(detail::never<A, B>, text);                                                      \
    return {};                                                                                     \
  }
#define NL_NOT_IN_PLACE                                                                            \
  "[C-02] a tensor is not changed in place by an operator (write x = x + y for a new value, or "   \
  "nisa::tensor_tensor with dst = x)"
NL_NO_OPERATOR(+=, NL_NOT_IN_PLACE)
NL_NO_OPERATOR(-=, NL_NOT_IN_PLACE)
NL_NO_OPERATOR(*=, NL_NOT_IN_PLACE)
NL_NO_OPERATOR(/=, NL_NOT_IN_PLACE)
NL_NO_OPERATOR(%, "[C-02] elements have no remainder: no instruction computes it (subtract "
                  "multiples)")
#undef NL_NOT_IN_PLACE
#undef NL_NO_OPERATOR

//---- declarations -------------------------------------------------------===//

/// A place chosen by hand: first partition, and byte in the usable part of each partition.
struct Address {
  int64_t partition = 0;
  int64_t byte = 0;
};

/// Options of nl::ndarray.
struct NdarrayOptions {
  std::string name = {};               ///< for messages and reports; unique in a kernel
  std::optional<Address> address = {}; ///< on chip; absent: the compiler places the tensor
};

/// A new tensor with unwritten elements. On chip it has two to five dims, dim 0 counts partitions,
/// and the rest fits a partition. A tensor declared inside a loop is a new one in every iteration,
/// so its memory can rotate; one declared outside makes iterations wait for each other. Checks
/// P-01, P-02, M-02, M-03, M-06, M-07, M-13.
Tensor ndarray(const Shape &shape, DType dtype, Buffer buffer = sbuf,
               const NdarrayOptions &options = {}, SrcLoc loc = SrcLoc::current());

} // namespace nl

#endif // NL_CORE_H
