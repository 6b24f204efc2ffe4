//===- Math.cpp - element-wise functions, products, reductions, norms -------------------------===//
//
// The functions of nl/math.h that compute. Each is a few nodes of the trace's graph; what they
// mean, and in which order they round, stands in kiln/Tile/Graph.h.
//
//===------------------------------------------------------------------------------------------===//

#include "Values.h"

#include <algorithm>

namespace nl {
namespace {

using kiln::trace::text;
using kiln::trace::toIsa;
using kiln::trace::Value;
using kiln::trace::ValueCall;
namespace isa = kiln::isa;
namespace tile = kiln::tile;

std::optional<isa::DType> toIsa(const std::optional<DType> &dtype) {
  return dtype ? std::optional(toIsa(*dtype)) : std::nullopt;
}

/// Whether the number is one of the integers of `dtype`.
bool isInteger(const Term &term, isa::DType dtype) {
  if (!term.isInteger || isa::isFloat(dtype))
    return false;
  const isa::IntegerRange range = isa::integerRange(dtype);
  return term.number >= range.low && term.number <= range.high;
}

/// The dtype of number `term` beside a tensor: the tensor's, where that is an integer type which
/// holds it, so that integer arithmetic stays exact; float32 otherwise.
isa::DType numberDType(const Term &term, const Term &other) {
  const isa::DType dtype = toIsa(other.tensor.dtype());
  return !other.isNumber && isInteger(term, dtype) ? dtype : isa::DType::Float32;
}

/// Both operands; numbers fit the tensor beside them.
std::array<Value, 2> operands(ValueCall &call, const Term &x, const Term &y) {
  const Value first = call.operand(x, numberDType(x, y));
  return {first, call.operand(y, numberDType(y, x))};
}

/// 1 / n, as the float32 it is multiplied by.
double inverse(double n) { return static_cast<float>(1 / n); }

std::string nameOf(const Op &op) { return text("nl::", op.name ? op.name : "Op"); }

} // namespace

//---- operators ----------------------------------------------------------===//

Tensor Op::operator()(const Term &x, const MathOptions &options, SrcLoc loc) const {
  ValueCall call(nameOf(*this), loc);
  const Value value = call.operand(x);
  const std::optional<isa::DType> dtype = toIsa(options.dtype);
  if (function == static_cast<int16_t>(isa::ActFn::Copy)) // bits unchanged
    return call.handle(dtype ? call.cast(value, *dtype) : value);
  if (function >= 0)
    return call.handle(call.unary(static_cast<isa::ActFn>(function), value, dtype));
  if (alu == static_cast<int16_t>(isa::AluOp::Invert)) {
    if (isa::isFloat(value.dtype)) {
      if (!value.isPoison())
        call.fault("D-08",
                   text("nl::invert needs integers, its operand is ", isa::name(value.dtype)),
                   "cast the operand to an integer dtype first", {value});
      return call.handle(call.poison(value.shape));
    }
    const double ones = isa::info(value.dtype).isSigned ? -1 : isa::integerRange(value.dtype).high;
    return call.handle(
        call.binary(isa::AluOp::BitwiseXor, value, call.splat(ones, value.dtype), dtype));
  }
  call.fault("D-08", text(nameOf(*this), " takes two operands, one is given"),
             "give it another tensor, or a number");
  return call.handle(call.poison(value.shape));
}

Tensor Op::operator()(const Term &x, const Term &y, const MathOptions &options, SrcLoc loc) const {
  ValueCall call(nameOf(*this), loc);
  const auto [a, b] = operands(call, x, y);
  if (alu >= 0 && !isa::info(static_cast<isa::AluOp>(alu)).isUnary) {
    // Beside a number the tensor says which type of bits there is.
    const Value &typed = x.isNumber ? b : a;
    std::optional<isa::DType> dtype = toIsa(options.dtype);
    if (!dtype && isa::info(static_cast<isa::AluOp>(alu)).isBitvec)
      dtype = typed.dtype;
    return call.handle(call.binary(static_cast<isa::AluOp>(alu), a, b, dtype));
  }
  call.fault("D-08", text(nameOf(*this), " takes one operand, two are given"),
             "leave the second out");
  return call.handle(call.poison(a.shape));
}

Tensor operator/(const Term &x, const Term &y) {
  ValueCall call("operator /", x.loc);
  if (y.isNumber)
    return call.handle(
        call.binary(isa::AluOp::Multiply, call.operand(x), call.splat(inverse(y.number))));
  const Value divisor = call.unary(isa::ActFn::Reciprocal, call.operand(y));
  if (x.isNumber && x.number == 1)
    return call.handle(divisor);
  return call.handle(call.binary(isa::AluOp::Multiply, call.operand(x), divisor));
}

Tensor negative(const Term &x, const MathOptions &options, SrcLoc loc) {
  ValueCall call("nl::negative", loc);
  const Value value = call.operand(x);
  const isa::DType one = isa::isFloat(value.dtype) || !isa::info(value.dtype).isSigned
                             ? isa::DType::Float32
                             : value.dtype;
  return call.handle(
      call.binary(isa::AluOp::Multiply, value, call.splat(-1, one), toIsa(options.dtype)));
}

Tensor logical_not(const Term &x, const MathOptions &options, SrcLoc loc) {
  ValueCall call("nl::logical_not", loc);
  return call.handle(
      call.binary(isa::AluOp::Equal, call.operand(x), call.splat(0), toIsa(options.dtype)));
}

Tensor where(const Term &cond, const Term &x, const Term &y, const MathOptions &options,
             SrcLoc loc) {
  ValueCall call("nl::where", loc);
  const Value condition = call.operand(cond);
  const auto [a, b] = operands(call, x, y);
  tile::Node node;
  node.op = tile::Op::Select;
  const isa::DType common = a.dtype == b.dtype ? a.dtype : isa::DType::Float32;
  const std::optional<isa::DType> dtype = toIsa(options.dtype);
  node.dtype = dtype.value_or(common);
  return call.handle(call.add(std::move(node), {condition, a, b}, dtype));
}

Tensor cast(const Term &x, DType dtype, SrcLoc loc) {
  ValueCall call("nl::cast", loc);
  return call.handle(call.cast(call.operand(x), toIsa(dtype)));
}

//---- matrix product -----------------------------------------------------===//

Tensor matmul(const Tensor &x, const Tensor &y, const MatmulOptions &options, SrcLoc loc) {
  ValueCall call("nl::matmul", loc);
  Value a = call.operand(x), b = call.operand(y);
  // The Tensor Engine takes both in 32 bits or both in 16; the narrower operand decides.
  const auto narrow = [&](Value &value, const Value &other) {
    if (value.dtype == isa::DType::Float32 && isa::isFloat(other.dtype) &&
        isa::bytesOf(other.dtype) < isa::bytesOf(value.dtype))
      value = call.cast(value, other.dtype);
  };
  const std::optional<isa::DType> said = toIsa(options.dtype);
  std::optional<isa::DType> result = said;
  if (!said && !a.isPoison() && !b.isPoison())
    result = call.agreement(a, b); // of what was multiplied, not of what it was rounded to
  narrow(a, b);
  narrow(b, a);
  tile::Node node;
  node.op = tile::Op::Matmul;
  node.transposeX = options.transpose_x;
  node.transposeY = options.transpose_y;
  node.dtype = said.value_or(isa::DType::Float32);
  return call.handle(call.add(std::move(node), {a, b}, result));
}

//---- reductions ---------------------------------------------------------===//

namespace {

/// A reduction being built: the operand, its axes, and the shape the author sees in the end.
class Reducer {
public:
  Reducer(ValueCall &call, const Term &x, const Axes &axis, const ReduceOptions &options)
      : call(call), dtype(toIsa(options.dtype)), keepDims(options.keepdims), x(call.operand(x)) {
    const unsigned rank = static_cast<unsigned>(this->x.shape.size());
    if (axis.count > detail::maxRank && !this->x.isPoison())
      call.fault("T-03", text(call.function, " names ", axis.count, " axes of ", rank, " dims"),
                 "name each axis once");
    for (unsigned i = 0; i < axis.count && i < detail::maxRank; ++i) {
      const std::optional<int64_t> found = call.axis(axis.values[i], this->x);
      isLegal = isLegal && found && axis.count <= detail::maxRank;
      axes.push_back(found.value_or(0));
    }
    std::sort(axes.begin(), axes.end());
  }

  const Value &operand() const { return x; }
  double count() const {
    double n = 1;
    for (int64_t axis : axes)
      n *= static_cast<double>(x.shape[axis]);
    return n;
  }

  /// Folds `value`, of the operand's shape. Dims stay when `keep`.
  Value fold(isa::AluOp alu, const Value &value, bool keep, std::optional<isa::DType> type) {
    tile::Node node;
    node.op = tile::Op::Reduce;
    node.alu = alu;
    node.axes = axes;
    node.dtype = type.value_or(isa::DType::Float32);
    if (!isLegal)
      return call.poison(shapeOf(value.shape, keep), node.dtype);
    // No value has rank 0: when nothing is left, one dim of extent 1 is.
    const bool isAll = !keep && axes.size() == value.shape.size();
    node.keepDims = keep || isAll;
    const Value folded = call.add(std::move(node), {value}, type);
    return isAll && !folded.isPoison() ? call.reshape(folded, {1}) : folded;
  }
  Value fold(isa::AluOp alu) { return fold(alu, x, keepDims, dtype); }

  /// sum(value) / n.
  Value mean(const Value &value, bool keep, std::optional<isa::DType> type) {
    const Value sum = fold(isa::AluOp::Add, value, keep, {});
    return call.binary(isa::AluOp::Multiply, sum, call.splat(inverse(count())), type);
  }
  Value mean() { return mean(x, keepDims, dtype); }

  /// mean(square(x - mean(x))).
  Value variance() {
    const Value centred = call.binary(isa::AluOp::Subtract, x, mean(x, /*keep=*/true, {}));
    return mean(call.unary(isa::ActFn::Square, centred), keepDims, dtype);
  }

private:
  /// Of the result, as far as the axes can be told.
  tile::Shape shapeOf(const tile::Shape &from, bool keep) const {
    tile::Shape shape;
    for (size_t d = 0; d < from.size(); ++d)
      if (std::ranges::count(axes, static_cast<int64_t>(d)) == 0)
        shape.push_back(from[d]);
      else if (keep)
        shape.push_back(1);
    return shape.empty() ? tile::Shape{1} : shape;
  }

  ValueCall &call;
  const std::optional<isa::DType> dtype;
  const bool keepDims;
  const Value x;
  std::vector<int64_t> axes;
  bool isLegal = true;
};

} // namespace

Tensor sum(const Term &x, const Axes &axis, const ReduceOptions &options, SrcLoc loc) {
  ValueCall call("nl::sum", loc);
  return call.handle(Reducer(call, x, axis, options).fold(isa::AluOp::Add));
}

Tensor prod(const Term &x, const Axes &axis, const ReduceOptions &options, SrcLoc loc) {
  ValueCall call("nl::prod", loc);
  return call.handle(Reducer(call, x, axis, options).fold(isa::AluOp::Multiply));
}

Tensor mean(const Term &x, const Axes &axis, const ReduceOptions &options, SrcLoc loc) {
  ValueCall call("nl::mean", loc);
  return call.handle(Reducer(call, x, axis, options).mean());
}

Tensor var(const Term &x, const Axes &axis, const ReduceOptions &options, SrcLoc loc) {
  ValueCall call("nl::var", loc);
  return call.handle(Reducer(call, x, axis, options).variance());
}

Tensor detail::fold(Fold kind, const Term &x, const Axes &axis, const ReduceOptions &options,
                    SrcLoc loc) {
  ValueCall call(kind == Fold::Max ? "nl::max" : kind == Fold::Min ? "nl::min" : "nl::all", loc);
  Reducer reducer(call, x, axis, options);
  if (kind != Fold::All)
    return call.handle(reducer.fold(kind == Fold::Max ? isa::AluOp::Maximum : isa::AluOp::Minimum));
  const Value isSet = call.binary(isa::AluOp::NotEqual, reducer.operand(), call.splat(0));
  return call.handle(
      reducer.fold(isa::AluOp::Minimum, isSet, options.keepdims, toIsa(options.dtype)));
}

//---- normalisations -----------------------------------------------------===//

namespace {

/// RmsNorm or LayerNorm of x with up to two factors.
Tensor norm(ValueCall &call, tile::Op op, const Term &x, std::initializer_list<Tensor> weights,
            const NormOptions &options) {
  std::vector<Value> operands{call.operand(x)};
  for (const Tensor &weight : weights)
    operands.push_back(call.operand(weight));
  tile::Node node;
  node.op = op;
  node.number = static_cast<float>(options.epsilon);
  const std::optional<isa::DType> dtype = toIsa(options.dtype);
  node.dtype = dtype.value_or(isa::DType::Float32);
  return call.handle(call.add(std::move(node), operands, dtype));
}

} // namespace

Tensor softmax(const Term &x, int64_t axis, const MathOptions &options, SrcLoc loc) {
  ValueCall call("nl::softmax", loc);
  const Value value = call.operand(x);
  tile::Node node;
  node.op = tile::Op::Softmax;
  const std::optional<isa::DType> dtype = toIsa(options.dtype);
  node.dtype = dtype.value_or(isa::DType::Float32);
  const std::optional<int64_t> found = call.axis(axis, value);
  if (!found)
    return call.handle(call.poison(value.shape, node.dtype));
  node.axis = *found;
  return call.handle(call.add(std::move(node), {value}, dtype));
}

Tensor rms_norm(const Term &x, const Tensor &w, const NormOptions &options, SrcLoc loc) {
  ValueCall call("nl::rms_norm", loc);
  return norm(call, tile::Op::RmsNorm, x, {w}, options);
}
Tensor rms_norm(const Term &x, const NormOptions &options, SrcLoc loc) {
  ValueCall call("nl::rms_norm", loc);
  return norm(call, tile::Op::RmsNorm, x, {}, options);
}

Tensor layer_norm(const Term &x, const Tensor &gamma, const Tensor &beta,
                  const NormOptions &options, SrcLoc loc) {
  ValueCall call("nl::layer_norm", loc);
  return norm(call, tile::Op::LayerNorm, x, {gamma, beta}, options);
}
Tensor layer_norm(const Term &x, const Tensor &gamma, const NormOptions &options, SrcLoc loc) {
  ValueCall call("nl::layer_norm", loc);
  return norm(call, tile::Op::LayerNorm, x, {gamma}, options);
}
Tensor layer_norm(const Term &x, const NormOptions &options, SrcLoc loc) {
  ValueCall call("nl::layer_norm", loc);
  return norm(call, tile::Op::LayerNorm, x, {}, options);
}

} // namespace nl
