//===- TileFolds.cpp - folders and canonical forms --------------------------------------------===//
//
// Nothing here changes a bit of any result: NaN payloads, signs of zeros and roundings included. An
// op with a hint stays, because the author has to hear what becomes of it.
//
//===------------------------------------------------------------------------------------------===//

#include "OpImpl.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===----------------------------------------------------------------------===//
// What may be said of a value
//===----------------------------------------------------------------------===//

template <typename OpT>
static bool isFree(OpT op) {
  return op && !op.getHintAttr();
}

/// The op of kind `OpT` that makes `value`, unless the author asked something of it.
template <typename OpT>
static OpT definedBy(Value value) {
  auto op = value.getDefiningOp<OpT>();
  return isFree(op) ? op : OpT();
}

/// All NaNs of `value` are the canonical one, because arithmetic made it. Loads may hold others.
static bool hasCanonicalNaNs(Value value) {
  if (!isa::isFloat(dtypeOf(value)))
    return true;
  Operation *op = value.getDefiningOp();
  if (auto binary = dyn_cast_if_present<BinaryOp>(op))
    return !isa::info(binary.getAlu()).isBitvec;
  if (auto cast = dyn_cast_if_present<CastOp>(op))
    return dtypeOf(cast.getX()) != dtypeOf(value);
  return llvm::isa_and_present<UnaryOp, MatmulOp, SoftmaxOp, RmsNormOp, LayerNormOp>(op);
}

/// LLVM's format of a float dtype.
static const llvm::fltSemantics &formatOf(MLIRContext *context, isa::DType dtype) {
  return cast<FloatType>(elementTypeOf(context, dtype)).getFloatSemantics();
}

/// Every value of `from` is one of `to`, -0 and infinities too.
static bool isExact(MLIRContext *context, isa::DType from, isa::DType to) {
  if (from == to)
    return true;
  if (isa::isFloat(from))
    return to == isa::DType::Float32;
  const isa::IntegerRange values = isa::integerRange(from);
  if (isa::isFloat(to)) {
    const llvm::fltSemantics &format = formatOf(context, to);
    const double largest = std::min(double(uint64_t(1) << APFloat::semanticsPrecision(format)),
                                    APFloat::getLargest(format).convertToDouble());
    return -largest <= values.low && values.high <= largest;
  }
  const isa::IntegerRange room = isa::integerRange(to);
  return room.low <= values.low && values.high <= room.high;
}

/// `number` is a value of `dtype`.
static bool isExact(MLIRContext *context, double number, isa::DType dtype) {
  if (std::isnan(number))
    return false;
  if (!isa::isFloat(dtype)) {
    const isa::IntegerRange room = isa::integerRange(dtype);
    return number == std::floor(number) && !(number == 0 && std::signbit(number)) &&
           room.low <= number && number <= room.high;
  }
  APFloat value(number);
  const llvm::fltSemantics &semantics = formatOf(context, dtype);
  bool losesInfo = false;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

//===----------------------------------------------------------------------===//
// Folders: the result is an operand
//===----------------------------------------------------------------------===//

/// Movement to the own type moves nothing.
template <typename OpT>
static OpFoldResult foldToSameType(OpT op) {
  return isFree(op) && op.getX().getType() == op.getType() ? op.getX() : Value();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return foldToSameType(*this); }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return foldToSameType(*this); }
OpFoldResult SliceOp::fold(FoldAdaptor) { return foldToSameType(*this); }
OpFoldResult PadOp::fold(FoldAdaptor) { return foldToSameType(*this); }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return foldToSameType(*this); }

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::is_sorted(getPermutation()) ? foldToSameType(*this) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return isFree(*this) && getValues().size() == 1 ? getValues()[0] : Value();
}

OpFoldResult UnaryOp::fold(FoldAdaptor) {
  // The engine's copy goes through fp32, which large integers do not survive.
  return getFn() == isa::ActFn::Copy && isa::isFloat(dtypeOf(getX())) && hasCanonicalNaNs(getX())
             ? foldToSameType(*this)
             : OpFoldResult();
}

/// `x alu number` is x for every x of `dtype` that is no NaN: x * 1, x + -0, x - 0. Integers have
/// one zero.
static bool isNeutral(isa::AluOp alu, double number, isa::DType dtype, bool isRight) {
  const bool isNegative = std::signbit(number);
  switch (alu) {
  case isa::AluOp::Multiply:
    return number == 1;
  case isa::AluOp::Add:
    return number == 0 && (isNegative || !isa::isFloat(dtype));
  case isa::AluOp::Subtract:
    return number == 0 && !isNegative && isRight;
  default:
    return false;
  }
}

OpFoldResult BinaryOp::fold(FoldAdaptor) {
  if (!isFree(*this))
    return {};
  for (bool isRight : {true, false}) {
    Value x = isRight ? getX() : getY(), other = isRight ? getY() : getX();
    auto splat = definedBy<SplatOp>(other);
    if (!splat || x.getType() != getType() || !hasCanonicalNaNs(x))
      continue;
    const isa::DType dtype = dtypeOf(x), otherDType = dtypeOf(other);
    // The integer -0 is 0: not what the number says. Large integers are exact among themselves
    // only.
    if (!isExact(getContext(), splat.getNumber(), otherDType) ||
        (isa::isWideInteger(dtype) && !isa::isWideInteger(otherDType)))
      continue;
    if (isNeutral(getAlu(), splat.getNumber(), dtype, isRight))
      return x;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Patterns: one op instead of two
//===----------------------------------------------------------------------===//

namespace {

/// Matches an op and the op of kind `InnerT` that makes its operand x; neither has a hint.
template <typename OpT, typename InnerT>
struct PairPattern : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const final {
    if (!isFree(op))
      return rewriter.notifyMatchFailure(op, "it has a hint");
    auto inner = definedBy<InnerT>(op.getX());
    if (!inner)
      return rewriter.notifyMatchFailure(op, "its operand is another op, or has a hint");
    Location loc = rewriter.getFusedLoc({op.getLoc(), inner.getLoc()});
    Value merged = merge(op, inner, rewriter, loc);
    if (!merged)
      return rewriter.notifyMatchFailure(op, "bits would change");
    rewriter.replaceOp(op, merged);
    return success();
  }

  /// The value that stands for both; null where there is none.
  virtual Value merge(OpT op, InnerT inner, PatternRewriter &rewriter, Location loc) const = 0;
};

struct TransposeOfTranspose : PairPattern<TransposeOp, TransposeOp> {
  using PairPattern::PairPattern;
  Value merge(TransposeOp op, TransposeOp inner, PatternRewriter &rewriter,
              Location loc) const final {
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    return TransposeOp::create(rewriter, loc, op.getType(), inner.getX(), permutation, HintAttr());
  }
};

struct ReshapeOfReshape : PairPattern<ReshapeOp, ReshapeOp> {
  using PairPattern::PairPattern;
  Value merge(ReshapeOp op, ReshapeOp inner, PatternRewriter &rewriter, Location loc) const final {
    return ReshapeOp::create(rewriter, loc, op.getType(), inner.getX(), HintAttr());
  }
};

struct BroadcastOfBroadcast : PairPattern<BroadcastOp, BroadcastOp> {
  using PairPattern::PairPattern;
  Value merge(BroadcastOp op, BroadcastOp inner, PatternRewriter &rewriter,
              Location loc) const final {
    return BroadcastOp::create(rewriter, loc, op.getType(), inner.getX(), HintAttr());
  }
};

struct SliceOfSlice : PairPattern<SliceOp, SliceOp> {
  using PairPattern::PairPattern;
  Value merge(SliceOp op, SliceOp inner, PatternRewriter &rewriter, Location loc) const final {
    SmallVector<int64_t> starts, steps;
    for (auto [start, step, innerStart, innerStep] :
         llvm::zip(op.getStarts(), op.getSteps(), inner.getStarts(), inner.getSteps())) {
      starts.push_back(innerStart + start * innerStep); // an index of inner's operand
      // A dim of one element may have any step.
      if (llvm::MulOverflow(step, innerStep, steps.emplace_back()))
        return {};
    }
    return SliceOp::create(rewriter, loc, op.getType(), inner.getX(), starts, steps, HintAttr());
  }
};

/// A cast that loses nothing in front of another cast. Floats that come back to their own type
/// have been through a conversion that makes NaNs canonical.
struct CastOfCast : PairPattern<CastOp, CastOp> {
  using PairPattern::PairPattern;
  Value merge(CastOp op, CastOp inner, PatternRewriter &rewriter, Location loc) const final {
    Value x = inner.getX();
    const isa::DType from = dtypeOf(x), middle = dtypeOf(inner.getResult()),
                     to = dtypeOf(op.getResult());
    if (!isExact(op.getContext(), from, middle))
      return {};
    if (from == to)
      return hasCanonicalNaNs(x) ? x : Value();
    // Between 32-bit integers a conversion does not go through fp32, as it does from `from`.
    if (isa::isWideInteger(middle) && isa::isWideInteger(to))
      return {};
    return CastOp::create(rewriter, loc, op.getType(), x, HintAttr());
  }
};

/// Movement of a splat is a splat.
template <typename OpT>
struct MovedSplat : PairPattern<OpT, SplatOp> {
  using PairPattern<OpT, SplatOp>::PairPattern;
  Value merge(OpT op, SplatOp inner, PatternRewriter &rewriter, Location loc) const final {
    return SplatOp::create(rewriter, loc, op.getType(), inner.getNumberAttr(), HintAttr());
  }
};

/// A number both types have.
struct CastSplat : PairPattern<CastOp, SplatOp> {
  using PairPattern::PairPattern;
  Value merge(CastOp op, SplatOp inner, PatternRewriter &rewriter, Location loc) const final {
    const double number = inner.getNumber();
    MLIRContext *context = op.getContext();
    if (!isExact(context, number, dtypeOf(inner.getResult())) ||
        !isExact(context, number, dtypeOf(op.getResult())))
      return {};
    return SplatOp::create(rewriter, loc, op.getType(), inner.getNumberAttr(), HintAttr());
  }
};

/// The same number around a splat.
struct PadSplat : PairPattern<PadOp, SplatOp> {
  using PairPattern::PairPattern;
  Value merge(PadOp op, SplatOp inner, PatternRewriter &rewriter, Location loc) const final {
    if (isa::bitsOf(op.getNumber()) != isa::bitsOf(inner.getNumber()))
      return {};
    return SplatOp::create(rewriter, loc, op.getType(), inner.getNumberAttr(), HintAttr());
  }
};

/// A matmul reads its operands either way round; which product is added when stays the same.
struct TransposedOperand : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool swapsLastTwo(ArrayRef<int64_t> permutation) {
    const int64_t rank = int64_t(permutation.size());
    for (int64_t i = 0; i + 2 < rank; ++i)
      if (permutation[i] != i)
        return false;
    return rank >= 2 && permutation[rank - 1] == rank - 2;
  }

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const final {
    if (!isFree(op))
      return rewriter.notifyMatchFailure(op, "it has a hint");
    Value operands[] = {op.getX(), op.getY()};
    bool isTransposed[] = {op.getTransposeX(), op.getTransposeY()};
    SmallVector<Location> locations = {op.getLoc()};
    for (auto [operand, flag] : llvm::zip(operands, isTransposed))
      if (auto transpose = definedBy<TransposeOp>(operand);
          transpose && swapsLastTwo(transpose.getPermutation())) {
        operand = transpose.getX();
        flag = !flag;
        locations.push_back(transpose.getLoc());
      }
    if (locations.size() == 1)
      return rewriter.notifyMatchFailure(op, "no operand is a transposed matrix");
    auto fused =
        MatmulOp::create(rewriter, rewriter.getFusedLoc(locations), op.getType(), operands[0],
                         operands[1], isTransposed[0], isTransposed[1], op.getOrder(), HintAttr());
    rewriter.replaceOp(op, fused.getResult());
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposeOfTranspose, MovedSplat<TransposeOp>>(context);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeOfReshape, MovedSplat<ReshapeOp>>(context);
}
void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfSlice, MovedSplat<SliceOp>>(context);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BroadcastOfBroadcast, MovedSplat<BroadcastOp>>(context);
}
void CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CastOfCast, CastSplat>(context);
}
void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<PadSplat>(context);
}
void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TransposedOperand>(context);
}
