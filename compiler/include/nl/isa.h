//===- isa.h - one function for each instruction ----------------------------------------------===//
//
// `nisa::` holds the instructions of a NeuronCore, named and ordered as in NKI: the Python call
// `nisa.activation(dst=y, op=nl.exp, data=x)` is written
//
//   nisa::activation({.dst = y, .op = nl::exp, .data = x});
//
// Destinations come first and are explicit. Operands of one instruction use the same number of
// partitions and the same number of elements in each, paired by their position in row-major order;
// hardware never repeats a partition or a free dim by itself. Operators (`nl::add`, `nl::exp`, ...)
// are objects that are passed as arguments. Short instructions also take their operands by
// position.
//
// Every function checks the rules it names at the line of the call and records one instruction. A
// broken rule is reported and tracing goes on, so that one run shows all mistakes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef NL_ISA_H
#define NL_ISA_H

#include "nl/operators.h"

#include <limits>

namespace nl {

//---- operands -----------------------------------------------------------===//

/// A number known while tracing. It remembers whether it was written as a whole number (D-07).
struct Scalar {
  double value = 0;
  bool isInteger = true;
  template <detail::Integer T>
  constexpr Scalar(T v) : value(static_cast<double>(v)) {}
  constexpr Scalar(float v) : value(v), isInteger(false) {}
  constexpr Scalar(double v) : value(v), isInteger(false) {}
};

/// A scalar operand: nothing (`{}`), a number, or a column tensor [P, 1] with one value a
/// partition.
struct Operand {
  enum class Kind : uint8_t { None, Number, Column };
  Tensor column{};
  double value = 0;
  Kind kind = Kind::None;
  Operand() = default;
  Operand(const Tensor &t) : column(t), kind(Kind::Column) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Operand(T v) : value(static_cast<double>(v)), kind(Kind::Number) {}
};

/// One axis or several: `.axis = 1`, `.axis = {1, 2}`. Negative axes count from the end.
struct Axes {
  int64_t values[detail::maxRank] = {};
  unsigned count = 0;
  template <detail::Integer T>
  constexpr Axes(T axis) : values{static_cast<int64_t>(axis)}, count(1) {}
  constexpr Axes(std::initializer_list<detail::Int> axes) {
    for (detail::Int a : axes) {
      if (count < detail::maxRank)
        values[count] = a.value;
      ++count;
    }
  }
};

/// The order of a transposed tensor's axes, `{1, 0}`; empty: the usual one of the rank.
struct AxisOrder {
  int64_t values[detail::maxRank] = {};
  unsigned count = 0;
  constexpr AxisOrder() = default;
  constexpr AxisOrder(std::initializer_list<detail::Int> axes) {
    for (detail::Int a : axes) {
      if (count < detail::maxRank)
        values[count] = a.value;
      ++count;
    }
  }
};

/// The rows of a shuffle: 32 entries, each a row of a group of 32 partitions, or 255 to keep the
/// row of dst.
struct ShuffleMask {
  std::vector<int64_t> rows;
  ShuffleMask(std::initializer_list<detail::Int> entries) {
    for (detail::Int e : entries)
      rows.push_back(e.value);
  }
  template <detail::Integer T>
  ShuffleMask(const std::vector<T> &entries) : rows(entries.begin(), entries.end()) {}
};

} // namespace nl

namespace nisa {

using nl::AxisOrder, nl::Axes, nl::Op, nl::Operand, nl::Pattern, nl::Scalar, nl::ShuffleMask,
    nl::SrcLoc, nl::Tensor;

/// Engines of a NeuronCore; `unknown` lets the compiler pick the first one that can run the
/// instruction.
enum class engine : uint8_t {
  unknown = 0,
  tensor = 1,
  scalar = 2,
  gpsimd = 3,
  vector = 5,
  sync = 6
};

/// What an instruction does to the reduction registers of its engine.
enum class reduce_cmd : uint8_t {
  idle = 0,
  reset = 1,
  reduce = 2,
  reset_reduce = 3,
  load_reduce = 4
};

/// Who builds the descriptors of a DMA.
enum class dge_mode : uint8_t { unknown = 0, swdge = 1, hwdge = 2, none = 3 };

/// What a run-time index out of range does: fail, or skip the row.
enum class oob_mode : uint8_t { error = 0, skip = 1 };

namespace detail {

/// One parameter of an instruction under the name the table has for it: a tile is an operand, an
/// operator or a number is a field, a scalar is an operand with a field to fall back on.
struct Argument {
  enum class Kind : uint8_t { Tile, Operator, Number, Scalar, Pattern };
  Argument(const char *name, const Tensor &tile) : name(name), kind(Kind::Tile), tile(&tile) {}
  Argument(const char *name, const Op &op) : name(name), kind(Kind::Operator), op(op) {}
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  Argument(const char *name, T number)
      : name(name), kind(Kind::Number), number(static_cast<double>(number)) {}
  /// Up to four pairs, outermost first.
  Argument(const char *name, const nl::Pattern &pattern)
      : name(name), kind(Kind::Pattern), pattern(&pattern) {}
  /// A scalar that the instruction needs, or may do without.
  Argument(const char *name, const Operand &scalar, bool isNeeded = true)
      : name(name), kind(Kind::Scalar), isNeeded(isNeeded), scalar(&scalar) {}
  /// The scalar of the operator `stage`: needed unless that is unary.
  Argument(const char *name, const Operand &scalar, const Op &stage)
      : name(name), kind(Kind::Scalar), scalar(&scalar), op(stage) {}

  const char *name;
  Kind kind;
  bool isNeeded = false;
  const Tensor *tile = nullptr;
  const Operand *scalar = nullptr;
  const nl::Pattern *pattern = nullptr;
  Op op; ///< the operator, or the one whose scalar this is
  double number = 0;
};

/// Checks and records the instruction `mnemonic`. Fields that are not among the arguments keep the
/// table's defaults. For functions whose parameters are those of the table, one to one.
void record(const char *mnemonic, std::initializer_list<Argument> arguments, const SrcLoc &loc,
            engine where = engine::unknown);

} // namespace detail

//---- registers ----------------------------------------------------------===//

/// A new register with the value 0, a number, or the one element of an integer tensor.
nl::Reg register_alloc(SrcLoc loc = SrcLoc::current());
nl::Reg register_alloc(const nl::RegTerm &x);
nl::Reg register_alloc(const Tensor &x, SrcLoc loc = SrcLoc::current());

/// Operands of register_move.
struct RegisterMove {
  nl::Reg dst;
  nl::RegTerm src; ///< a register or a number of 32 bits
};
/// dst = src. Checks C-02, C-03.
void register_move(const RegisterMove &args, SrcLoc loc = SrcLoc::current());
inline void register_move(const nl::Reg &dst, const nl::RegTerm &src,
                          SrcLoc loc = SrcLoc::current()) {
  register_move(RegisterMove{.dst = dst, .src = src}, loc);
}

/// Operands of register_load.
struct RegisterLoad {
  nl::Reg dst;
  Tensor src; ///< HBM or SBUF, one element of an integer dtype
};
/// dst = the element, extended to 32 bits. Checks C-03, S-08.
void register_load(const RegisterLoad &args, SrcLoc loc = SrcLoc::current());
inline void register_load(const nl::Reg &dst, const Tensor &src, SrcLoc loc = SrcLoc::current()) {
  register_load(RegisterLoad{.dst = dst, .src = src}, loc);
}

/// Operands of register_store.
struct RegisterStore {
  Tensor dst; ///< HBM or SBUF, one element of an integer dtype
  nl::Reg src;
};
/// The element = the lowest bits of src. Checks S-08.
void register_store(const RegisterStore &args, SrcLoc loc = SrcLoc::current());
inline void register_store(const Tensor &dst, const nl::Reg &src, SrcLoc loc = SrcLoc::current()) {
  register_store(RegisterStore{.dst = dst, .src = src}, loc);
}

/// Operands of register_alu.
struct RegisterAlu {
  nl::Reg dst;
  nl::Reg src;      ///< left argument
  nl::Op op;        ///< add, subtract, multiply, maximum, minimum, a comparison, a bit operator
  nl::RegTerm src1; ///< right argument
};
/// dst = src op src1 in 32 bits: sums and products wrap, comparisons are signed. Checks C-03, D-08.
void register_alu(const RegisterAlu &args, SrcLoc loc = SrcLoc::current());

//---- Tensor Engine ------------------------------------------------------===//

/// How the Tensor Engine takes its operands.
enum class matmul_perf_mode : uint8_t { none = 0, double_row = 1 };

/// First row and column, or rows and columns, of a tile of the Tensor Engine's array.
struct ArrayTile {
  uint32_t row = 0, column = 0;
};

/// Operands of nc_matmul.
struct NcMatmul {
  Tensor dst;                         ///< PSUM, float32, M partitions x N elements
  Tensor stationary;                  ///< SBUF, K partitions x M elements; K and M at most 128
  Tensor moving;                      ///< SBUF, K partitions x N elements; N at most 512
  bool is_stationary_onezero = false; ///< hint: a float32 stationary operand holds only 0 and 1
  bool is_moving_onezero = false;     ///< hint: a float32 moving operand holds only 0 and 1
  bool is_transpose = false;          ///< move the stationary operand's bits, transposed
  std::optional<bool> accumulate =
      {};                       ///< add (true), overwrite (false), or overwrite first and then add
  ArrayTile tile_position = {}; ///< first row (partition of the inputs) and column (of dst)
  ArrayTile tile_size = {};     ///< rows and columns, 32, 64 or 128; neither: the whole array
  matmul_perf_mode perf_mode =
      matmul_perf_mode::none; ///< double_row: 8-bit (K, 2, M) and (K, 2, N)
};
/// dst = stationary^T . moving, or dst += it: `R[m, n] = sum over k of stationary[k, m] * moving[k,
/// n]`. The contraction dim of both inputs lies on partitions. float32 and tfloat32 meet only each
/// other; narrower floats mix. With double_row the contraction is 2 K long, its row k + K * i in
/// partition k, slot i. dst fits one PSUM bank. Without `accumulate` the first matmul that writes a
/// location since its declaration overwrites it, later ones add. Checks B-01, B-02, D-01, D-02,
/// D-06, M-10, P-11, P-12, S-01, S-02, S-03, S-11, S-12.
void nc_matmul(const NcMatmul &args, SrcLoc loc = SrcLoc::current());
inline void nc_matmul(const Tensor &dst, const Tensor &stationary, const Tensor &moving,
                      SrcLoc loc = SrcLoc::current()) {
  nc_matmul(NcMatmul{.dst = dst, .stationary = stationary, .moving = moving}, loc);
}

/// Operands of nc_transpose.
struct NcTranspose {
  Tensor dst;                                  ///< F partitions x P elements, data's dtype
  Tensor data;                                 ///< P partitions x F elements
  nisa::engine engine = nisa::engine::unknown; ///< tensor or vector
};
/// dst[f, p] = data[p, f], bits unchanged. The Tensor Engine takes up to 128x128 floats from SBUF
/// to PSUM, the Vector Engine up to 32x32 of any dtype between any memories. Checks B-01, D-03,
/// P-12, S-05.
void nc_transpose(const NcTranspose &args, SrcLoc loc = SrcLoc::current());
inline void nc_transpose(const Tensor &dst, const Tensor &data, SrcLoc loc = SrcLoc::current()) {
  nc_transpose(NcTranspose{.dst = dst, .data = data}, loc);
}

//---- Scalar Engine ------------------------------------------------------===//

/// Operands of activation.
struct Activation {
  Tensor dst;             ///< P partitions x F elements
  Op op;                  ///< the function
  Tensor data;            ///< P partitions x F elements
  Operand bias = {};      ///< number or column; 0 when absent
  Operand scale = 1.0f;   ///< number or float32 column
  Op reduce_op = {};      ///< nl::add when reduce_cmd reduces
  Tensor reduce_res = {}; ///< column that receives the reduction register
  nisa::reduce_cmd reduce_cmd = nisa::reduce_cmd::idle; ///< what happens to the reduction register
};
/// dst = op(data * scale + bias), in float32, rounded once to dst's dtype. With a reducing
/// `reduce_cmd` the engine also sums every row, left to right, before narrowing, in its reduction
/// registers, one for each row: `reset_reduce` starts them at 0, `reduce` continues from the
/// activation before, on the same partitions. `reduce_res` receives them, also with `idle`; a plain
/// activation leaves them alone. Runs on the Scalar Engine. Checks D-09, D-10, D-17, M-08, P-04,
/// P-05, P-06.
void activation(const Activation &args, SrcLoc loc = SrcLoc::current());
inline void activation(const Tensor &dst, const Op &op, const Tensor &data,
                       SrcLoc loc = SrcLoc::current()) {
  activation(Activation{.dst = dst, .op = op, .data = data}, loc);
}

/// Operands of activation_reduce.
struct ActivationReduce {
  Tensor dst;             ///< P partitions x F elements
  Op op;                  ///< the function
  Tensor data;            ///< P partitions x F elements
  Op reduce_op;           ///< nl::add
  Tensor reduce_res = {}; ///< column that receives the row sums; without it they stay registers
  Operand bias = {};      ///< number or column; 0 when absent
  Operand scale = 1.0f;   ///< number or float32 column
};
/// activation with reduce_cmd::reset_reduce: dst = op(data * scale + bias), reduce_res = the sum of
/// every row before narrowing, left to right. Runs on the Scalar Engine. Checks D-09, D-10, D-17,
/// P-04, P-05.
inline void activation_reduce(const ActivationReduce &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("activation_reduce",
                 {{"dst", args.dst},
                  {"op", args.op},
                  {"data", args.data},
                  {"reduce_op", args.reduce_op},
                  {"reduce_res", args.reduce_res},
                  {"bias", args.bias, false},
                  {"scale", args.scale, false}},
                 loc);
}

//---- Vector Engine ------------------------------------------------------===//

/// Operands of tensor_reduce.
struct TensorReduce {
  Tensor dst;          ///< P partitions x one element for each kept index
  Op op;               ///< a reduction operator
  Tensor data;         ///< P partitions x F elements
  Axes axis;           ///< the last dims of data, numbered on its rank; never 0
  bool negate = false; ///< flip the sign of the result
  bool keepdims =
      false; ///< dst keeps the reduced dims as extent 1 (it makes no difference to the result)
};
/// Folds the trailing free dims, row-major, strictly left to right, in float32 (int32 values beyond
/// 2^24 lose bits). Runs on the Vector Engine. Checks D-08, D-17, P-04, P-09, P-10, P-12.
void tensor_reduce(const TensorReduce &args, SrcLoc loc = SrcLoc::current());
inline void tensor_reduce(const Tensor &dst, const Op &op, const Tensor &data, const Axes &axis,
                          SrcLoc loc = SrcLoc::current()) {
  tensor_reduce(TensorReduce{.dst = dst, .op = op, .data = data, .axis = axis}, loc);
}

/// Operands of tensor_tensor.
struct TensorTensor {
  Tensor dst;                                  ///< P partitions x F elements
  Tensor data1;                                ///< left argument
  Tensor data2;                                ///< right argument
  Op op;                                       ///< a binary operator
  nisa::engine engine = nisa::engine::unknown; ///< vector or gpsimd
};
/// dst = op(data1, data2), element by element. Not both inputs in PSUM; two SBUF inputs start at
/// the same partition. All-int32 arithmetic without an engine is exact, on GpSimd. Checks B-03,
/// B-05, B-07, D-08, P-04, P-05, P-06.
void tensor_tensor(const TensorTensor &args, SrcLoc loc = SrcLoc::current());
inline void tensor_tensor(const Tensor &dst, const Tensor &data1, const Tensor &data2, const Op &op,
                          SrcLoc loc = SrcLoc::current()) {
  tensor_tensor(TensorTensor{.dst = dst, .data1 = data1, .data2 = data2, .op = op}, loc);
}

/// Operands of tensor_scalar.
struct TensorScalar {
  Tensor dst;                                  ///< P partitions x F elements
  Tensor data;                                 ///< P partitions x F elements
  Op op0;                                      ///< first operator
  Operand operand0 = {};                       ///< number or column; absent for a unary op0
  bool reverse0 = false;                       ///< operand0 is the left argument
  Op op1 = {};                                 ///< second operator; absent: one stage
  Operand operand1 = {};                       ///< number or column
  bool reverse1 = false;                       ///< operand1 is the left argument
  nisa::engine engine = nisa::engine::unknown; ///< vector, scalar or gpsimd
};
/// dst = op1(op0(data, operand0), operand1), in float32 (int32 values beyond 2^24 lose bits),
/// rounded once. Both operators are of one kind: arithmetic or bitwise. Checks B-05, B-07, D-08,
/// D-10, P-04, P-05.
void tensor_scalar(const TensorScalar &args, SrcLoc loc = SrcLoc::current());
inline void tensor_scalar(const Tensor &dst, const Tensor &data, const Op &op0,
                          const Operand &operand0, SrcLoc loc = SrcLoc::current()) {
  tensor_scalar(TensorScalar{.dst = dst, .data = data, .op0 = op0, .operand0 = operand0}, loc);
}

/// Operands of tensor_copy.
struct TensorCopy {
  Tensor dst;                                  ///< P partitions x F elements
  Tensor src;                                  ///< P partitions x F elements
  nisa::engine engine = nisa::engine::unknown; ///< vector, scalar or gpsimd
};
/// dst = src, converting between dtypes; equal dtypes keep every bit. The way out of PSUM.
/// Checks B-05, P-04, P-05.
void tensor_copy(const TensorCopy &args, SrcLoc loc = SrcLoc::current());
inline void tensor_copy(const Tensor &dst, const Tensor &src, SrcLoc loc = SrcLoc::current()) {
  tensor_copy(TensorCopy{.dst = dst, .src = src}, loc);
}

/// Operands of reciprocal.
struct Reciprocal {
  Tensor dst;  ///< P partitions x F elements
  Tensor data; ///< P partitions x F elements
};
/// dst = 1 / data, IEEE division in float32. Runs on the Vector Engine.
/// Checks P-04, P-05.
inline void reciprocal(const Reciprocal &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("reciprocal", {{"dst", args.dst}, {"data", args.data}}, loc);
}
inline void reciprocal(const Tensor &dst, const Tensor &data, SrcLoc loc = SrcLoc::current()) {
  reciprocal(Reciprocal{.dst = dst, .data = data}, loc);
}

/// Operands of memset.
struct Memset {
  Tensor dst;                                  ///< the tile
  Scalar value;                                ///< the value; a whole number for an integer tile
  nisa::engine engine = nisa::engine::unknown; ///< vector or gpsimd
};
/// Every element of dst = value, rounded once.
/// Checks B-05, D-07.
void memset(const Memset &args, SrcLoc loc = SrcLoc::current());
inline void memset(const Tensor &dst, const Scalar &value, SrcLoc loc = SrcLoc::current()) {
  memset(Memset{.dst = dst, .value = value}, loc);
}

/// Operands of scalar_tensor_tensor.
struct ScalarTensorTensor {
  Tensor dst;            ///< P partitions x F elements
  Tensor data;           ///< P partitions x F elements
  Op op0;                ///< first operator
  Operand operand0 = {}; ///< number or column; absent for a unary op0
  Op op1;                ///< second operator, binary
  Tensor operand1;       ///< P partitions x F elements
  bool reverse0 = false; ///< operand0 is the left argument of op0
  bool reverse1 = false; ///< operand1 is the left argument of op1
};
/// dst = op1(op0(data, operand0), operand1), in float32, rounded once: two operators in one pass
/// over the tile. Both are arithmetic. Not both data and operand1 in PSUM; in SBUF they start at
/// the same partition. Runs on the Vector Engine. Checks B-03, B-07, D-08, P-04, P-05, P-06.
inline void scalar_tensor_tensor(const ScalarTensorTensor &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("scalar_tensor_tensor",
                 {{"dst", args.dst},
                  {"data", args.data},
                  {"op0", args.op0},
                  {"operand0", args.operand0, args.op0},
                  {"op1", args.op1},
                  {"operand1", args.operand1},
                  {"reverse0", args.reverse0},
                  {"reverse1", args.reverse1}},
                 loc);
}

/// Operands of tensor_tensor_scan.
struct TensorTensorScan {
  Tensor dst;            ///< P partitions x F elements
  Tensor data0;          ///< P partitions x F elements
  Tensor data1;          ///< P partitions x F elements
  Operand initial;       ///< number or column: the state at the start
  Op op0;                ///< combines data0 and the state
  Op op1;                ///< combines the result and data1
  bool reverse0 = false; ///< the state is the left argument of op0
  bool reverse1 = false; ///< data1 is the left argument of op1
};
/// A recurrence along the free dims: for each element in order
/// `state = op1(op0(data0, state), data1)`, dst = state rounded. The state is float32 throughout; a
/// longer recurrence continues with the last column of dst as `initial`. Both operators are
/// arithmetic and binary. Runs on the Vector Engine. Checks B-03, B-07, D-08, D-10, P-04, P-05,
/// P-06.
inline void tensor_tensor_scan(const TensorTensorScan &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("tensor_tensor_scan",
                 {{"dst", args.dst},
                  {"data0", args.data0},
                  {"data1", args.data1},
                  {"initial", args.initial},
                  {"op0", args.op0},
                  {"op1", args.op1},
                  {"reverse0", args.reverse0},
                  {"reverse1", args.reverse1}},
                 loc);
}

/// Operands of tensor_scalar_reduce.
struct TensorScalarReduce {
  Tensor dst;             ///< P partitions x F elements
  Tensor data;            ///< P partitions x F elements
  Op op0;                 ///< the operator
  Operand operand0 = {};  ///< number or column; absent for a unary op0
  Op reduce_op;           ///< add, multiply, maximum or minimum
  Tensor reduce_res = {}; ///< column that receives the reduction register
  bool reverse0 = false;  ///< must be false
  nisa::reduce_cmd reduce_cmd =
      nisa::reduce_cmd::reset_reduce; ///< start anew, continue, or start from reduce_init
  Operand reduce_init = {};           ///< number or column, for load_reduce only
  bool reduce_res_negate = false;     ///< write the register out with its sign flipped
};
/// dst = op0(data, operand0), and every row of it is folded by reduce_op, left to right, before
/// narrowing. The folds live in the reduction registers of the Vector Engine, one for each row,
/// shared by tensor_scalar_reduce, range_select and select_reduce: `reset_reduce` starts them at
/// the identity, `reduce` continues from the instruction before, on the same partitions. Checks
/// B-07, D-08, D-10, D-17, M-08, P-04, P-05, P-06.
inline void tensor_scalar_reduce(const TensorScalarReduce &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("tensor_scalar_reduce",
                 {{"dst", args.dst},
                  {"data", args.data},
                  {"op0", args.op0},
                  {"operand0", args.operand0, args.op0},
                  {"reduce_op", args.reduce_op},
                  {"reduce_res", args.reduce_res},
                  {"reverse0", args.reverse0},
                  {"reduce_cmd", args.reduce_cmd},
                  {"reduce_init", args.reduce_init, args.reduce_cmd == reduce_cmd::load_reduce},
                  {"reduce_res_negate", args.reduce_res_negate}},
                 loc);
}

/// Operands of range_select.
struct RangeSelect {
  Tensor dst;          ///< P partitions x F elements
  Tensor on_true_tile; ///< P partitions x F floats
  Op comp_op0;         ///< equal, less, less_equal, greater or greater_equal
  Op comp_op1;         ///< the same
  Tensor bound0;       ///< float32 column: the right side of comp_op0
  Tensor bound1;       ///< float32 column: the right side of comp_op1
  nisa::reduce_cmd reduce_cmd = nisa::reduce_cmd::reset_reduce; ///< idle, reset_reduce or reduce
  Tensor reduce_res = {};     ///< column that receives the reduction register
  Op reduce_op = nl::maximum; ///< maximum
  int64_t range_start = 0;    ///< position of the first element
  float on_false_value = -std::numeric_limits<float>::max(); ///< only this value
};
/// dst = on_true_tile where `comp_op0(i, bound0)` and `comp_op1(i, bound1)` hold for the position
/// i = range_start + f in the row, else -FP32_MAX, which in narrower dtypes becomes -Inf. The
/// reduction register of a row becomes its maximum, before narrowing: in a float32 column a row
/// with nothing selected gives -FP32_MAX. `idle` leaves the registers without a value. Runs on the
/// Vector Engine. Checks B-07, D-07, D-09, D-10, D-17, M-08, P-04, P-05, P-06.
inline void range_select(const RangeSelect &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("range_select",
                 {{"dst", args.dst},
                  {"on_true_tile", args.on_true_tile},
                  {"comp_op0", args.comp_op0},
                  {"comp_op1", args.comp_op1},
                  {"bound0", args.bound0},
                  {"bound1", args.bound1},
                  {"reduce_cmd", args.reduce_cmd},
                  {"reduce_res", args.reduce_res},
                  {"reduce_op", args.reduce_op},
                  {"range_start", args.range_start},
                  {"on_false_value", args.on_false_value}},
                 loc);
}

/// Operands of select_reduce.
struct SelectReduce {
  Tensor dst;             ///< P partitions x F elements
  Tensor predicate;       ///< P partitions x F integers of 8 or 16 bits: 0 is false
  Tensor on_true;         ///< P partitions x F elements, no int32 or uint32
  Operand on_false;       ///< number or column
  Tensor reduce_res = {}; ///< float column that receives the reduction register
  nisa::reduce_cmd reduce_cmd = nisa::reduce_cmd::idle; ///< idle, reset_reduce or reduce
  Op reduce_op = nl::maximum;                           ///< maximum
  bool reverse_pred = false;                            ///< on_true where the predicate is 0
};
/// dst = predicate ? on_true : on_false, element by element. With a reducing `reduce_cmd` the
/// reduction register of a row becomes its maximum, before narrowing; `idle` leaves the registers
/// without a value. Not both predicate and on_true in PSUM; in SBUF they start at the same
/// partition. Runs on the Vector Engine. Checks B-03, B-07, D-09, D-10, D-17, M-08, P-04, P-05,
/// P-06.
inline void select_reduce(const SelectReduce &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("select_reduce",
                 {{"dst", args.dst},
                  {"predicate", args.predicate},
                  {"on_true", args.on_true},
                  {"on_false", args.on_false},
                  {"reduce_res", args.reduce_res},
                  {"reduce_cmd", args.reduce_cmd},
                  {"reduce_op", args.reduce_op},
                  {"reverse_pred", args.reverse_pred}},
                 loc);
}

/// Operands of max8.
struct Max8 {
  Tensor dst; ///< P partitions x 8 elements
  Tensor src; ///< P partitions x 8 to 16384 elements
};
/// dst = the eight largest elements of each partition of src, descending; NaN ranks above +Inf.
/// Runs on the Vector Engine. Checks P-04, S-06, S-08.
inline void max8(const Max8 &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("max8", {{"dst", args.dst}, {"src", args.src}}, loc);
}
inline void max8(const Tensor &dst, const Tensor &src, SrcLoc loc = SrcLoc::current()) {
  max8(Max8{.dst = dst, .src = src}, loc);
}

/// Operands of tensor_copy_predicated.
struct TensorCopyPredicated {
  Tensor dst;                ///< P partitions x F elements
  Operand src;               ///< a tile of dst's dtype, P partitions x F elements, or a number
  Tensor predicate;          ///< P partitions x F elements of uint8, uint16 or uint32
  bool reverse_pred = false; ///< select where the predicate is 0
};
/// dst = src where the predicate is not 0, bits unchanged; elsewhere dst keeps what it held. A
/// number is rounded to dst's dtype. Not both src and predicate in PSUM; in SBUF they start at the
/// same partition. Runs on the Vector Engine. Checks B-03, D-03, D-11, P-04, P-05, P-06.
inline void tensor_copy_predicated(const TensorCopyPredicated &args,
                                   SrcLoc loc = SrcLoc::current()) {
  detail::record("tensor_copy_predicated",
                 {{"dst", args.dst},
                  {"src", args.src},
                  {"predicate", args.predicate},
                  {"reverse_pred", args.reverse_pred}},
                 loc);
}
inline void tensor_copy_predicated(const Tensor &dst, const Operand &src, const Tensor &predicate,
                                   SrcLoc loc = SrcLoc::current()) {
  tensor_copy_predicated(TensorCopyPredicated{.dst = dst, .src = src, .predicate = predicate}, loc);
}

/// Operands of bn_stats.
struct BnStats {
  Tensor dst;  ///< P partitions x 6 elements
  Tensor data; ///< P partitions x 1 to 512 elements
};
/// dst = count, mean and sum of squared deviations of the even elements of each partition, then of
/// the odd ones, in float32. Runs on the Vector Engine. Checks P-04, S-08.
inline void bn_stats(const BnStats &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("bn_stats", {{"dst", args.dst}, {"data", args.data}}, loc);
}
inline void bn_stats(const Tensor &dst, const Tensor &data, SrcLoc loc = SrcLoc::current()) {
  bn_stats(BnStats{.dst = dst, .data = data}, loc);
}

/// Operands of bn_aggr.
struct BnAggr {
  Tensor dst;  ///< P partitions x 2 elements: mean and variance
  Tensor data; ///< P partitions x 3 n elements: what n / 2 bn_stats wrote, side by side
};
/// dst = mean and population variance of everything the triples of data describe. Runs on the
/// Vector Engine. Checks P-04, S-08.
inline void bn_aggr(const BnAggr &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("bn_aggr", {{"dst", args.dst}, {"data", args.data}}, loc);
}
inline void bn_aggr(const Tensor &dst, const Tensor &data, SrcLoc loc = SrcLoc::current()) {
  bn_aggr(BnAggr{.dst = dst, .data = data}, loc);
}

/// Operands of nc_stream_shuffle.
struct NcStreamShuffle {
  Tensor dst;               ///< rows x F elements
  Tensor src;               ///< rows x F elements of dst's dtype
  ShuffleMask shuffle_mask; ///< 32 rows of a group, or 255 to keep the row of dst
};
/// In every group of 32 partitions, counted from each tile's first: row i of dst = row mask[i] of
/// src, bits unchanged; 255 leaves the row. A mask of zeros repeats the first row. dst may be src.
/// Runs on the Vector Engine. Checks D-03, P-05, P-06, V-01.
void nc_stream_shuffle(const NcStreamShuffle &args, SrcLoc loc = SrcLoc::current());
inline void nc_stream_shuffle(const Tensor &dst, const Tensor &src, const ShuffleMask &shuffle_mask,
                              SrcLoc loc = SrcLoc::current()) {
  nc_stream_shuffle(NcStreamShuffle{.dst = dst, .src = src, .shuffle_mask = shuffle_mask}, loc);
}

//---- GpSimd Engine ------------------------------------------------------===//

/// Operands of iota.
struct Iota {
  Tensor dst;         ///< SBUF, P partitions x F elements
  Pattern pattern;    ///< up to four [step, num] pairs, outermost first; their nums multiply to F
  int64_t offset = 0; ///< value at position 0
  int64_t channel_multiplier = 0; ///< added for each partition
};
/// dst[p, i...] = offset + p * channel_multiplier + sum of step * i, in int32.
/// Checks B-05, P-05.
void iota(const Iota &args, SrcLoc loc = SrcLoc::current());
inline void iota(const Tensor &dst, const Pattern &pattern, int64_t offset = 0,
                 int64_t channel_multiplier = 0, SrcLoc loc = SrcLoc::current()) {
  iota(Iota{.dst = dst,
            .pattern = pattern,
            .offset = offset,
            .channel_multiplier = channel_multiplier},
       loc);
}

/// Operands of affine_select.
struct AffineSelect {
  Tensor dst;      ///< SBUF, P partitions x F elements
  Pattern pattern; ///< up to four [step, num] pairs, outermost first; their nums multiply to F
  int64_t channel_multiplier; ///< added for each partition
  Tensor on_true_tile;        ///< SBUF, P partitions x F elements
  double on_false_value;      ///< float32
  Op cmp_op = nl::equal;      ///< a comparison
  int64_t offset = 0;         ///< value at position 0
};
/// Where `cmp_op(offset + p * channel_multiplier + sum of step * i, 0)` holds, dst = on_true_tile;
/// elsewhere on_false_value. The sum is int32, as in iota. dst may be on_true_tile. Runs on GpSimd.
/// Checks B-05, B-07, P-04, P-05.
inline void affine_select(const AffineSelect &args, SrcLoc loc = SrcLoc::current()) {
  detail::record("affine_select",
                 {{"dst", args.dst},
                  {"pattern", args.pattern},
                  {"channel_multiplier", args.channel_multiplier},
                  {"on_true_tile", args.on_true_tile},
                  {"on_false_value", args.on_false_value},
                  {"cmp_op", args.cmp_op},
                  {"offset", args.offset}},
                 loc);
}

//---- DMA ----------------------------------------------------------------===//

/// Operands of dma_copy.
struct DmaCopy {
  Tensor dst;                                        ///< SBUF or HBM
  Tensor src;                                        ///< SBUF or HBM, as many elements
  nisa::dge_mode dge_mode = nisa::dge_mode::unknown; ///< who builds the descriptors
  nisa::oob_mode oob_mode = nisa::oob_mode::error;   ///< what a run-time index out of range does
  nisa::engine engine = nisa::engine::unknown;       ///< scalar or sync, with hwdge
};
/// Element e of dst, in row-major order, receives element e of src. Equal dtypes keep every bit.
/// The only way to and from HBM; PSUM is out of its reach. Checks B-04, B-09, D-12, S-09.
void dma_copy(const DmaCopy &args, SrcLoc loc = SrcLoc::current());
inline void dma_copy(const Tensor &dst, const Tensor &src, SrcLoc loc = SrcLoc::current()) {
  dma_copy(DmaCopy{.dst = dst, .src = src}, loc);
}

/// Operands of dma_transpose.
struct DmaTranspose {
  Tensor dst;          ///< SBUF; the permuted shape of src, its rank included
  Tensor src;          ///< SBUF or HBM, rank 2 to 4, dst's dtype of 2 or 4 bytes
  AxisOrder axes = {}; ///< (1, 0), (2, 1, 0) or (3, 1, 2, 0); empty: the one of src's rank
  nisa::dge_mode dge_mode = nisa::dge_mode::unknown; ///< who builds the descriptors; not swdge
  nisa::oob_mode oob_mode = nisa::oob_mode::error;   ///< what a run-time index out of range does
};
/// dst = src with its first and last dims swapped, bits unchanged: the way to bring columns of an
/// HBM tensor to partitions. hwdge takes few shapes of 16-bit elements. Checks B-04, D-03, S-10,
/// V-09.
void dma_transpose(const DmaTranspose &args, SrcLoc loc = SrcLoc::current());
inline void dma_transpose(const Tensor &dst, const Tensor &src, SrcLoc loc = SrcLoc::current()) {
  dma_transpose(DmaTranspose{.dst = dst, .src = src}, loc);
}

} // namespace nisa

#endif // NL_ISA_H
