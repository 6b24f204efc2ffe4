//===- RulesVector.cpp - rules of the elementwise, reducing and activating instructions -------===//
//
// How operands pair up, which operators an engine has, and what an operator
// asks of its tiles. Operators live in fields; checkFields has established that
// each is one of the table's.
//
//===------------------------------------------------------------------------------------------===//

#include "RuleHelpers.h"

#include <cmath>

namespace kiln::isa::rules {
namespace {

/// Calls `visit(operand)` for each present operand but the main input.
template <class Visit>
void forOtherOperands(const InstView &view, unsigned main, Visit visit) {
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    if (i != main && view.access(i).present())
      visit(i);
}

std::string_view kind(AluOp op) { return info(op).isBitvec ? "bit" : "arithmetic"; }

/// Reports tiles a bitvec operator cannot take: floats, and widths other than
/// the main input's.
void checkBitvecTiles(const InstView &view, std::string_view id, const RuleSink &sink, AluOp op) {
  unsigned main = mainInput(view);
  DType reference = view.access(main).dtype;
  auto check = [&](unsigned i) {
    if (view.desc.operands[i].isColumn || !view.access(i).present())
      return;
    DType dtype = view.access(i).dtype;
    if (isFloat(dtype))
      report(sink, id, int(i),
             text(info(op).name, " needs integer tiles, ", view.describe(i), " is ", name(dtype)),
             "view the tile as an integer dtype of the same width to work on "
             "its bits");
    else if (!isFloat(reference) && bytesOf(dtype) != bytesOf(reference))
      report(sink, id, int(i),
             text(info(op).name, " needs integer tiles of one width, ", view.describe(main), " is ",
                  name(reference), " and ", view.describe(i), " is ", name(dtype)),
             text("convert with tensor_copy to ", name(reference), " first"));
  };
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    check(i);
}

std::string reductionOperators() {
  std::string out;
  for (const EnumCase &c : aluOpCases())
    if (info(AluOp(c.value)).isReduction)
      out += text(out.empty() ? "" : ", ", c.name);
  return out;
}

} // namespace

//---- operands that go together
//-------------------------------------------------------------------===//

void samePartitions(const InstView &view, std::string_view id, const RuleSink &sink) {
  unsigned main = mainInput(view);
  uint32_t expected = view.access(main).partitionCount;
  forOtherOperands(view, main, [&](unsigned i) {
    uint32_t found = view.access(i).partitionCount;
    // A column of the wrong shape has been reported as such.
    if (found == expected || (view.desc.operands[i].isColumn && view.access(i).freeElements() != 1))
      return;
    unsigned small = found < expected ? i : main;
    bool replicate = view.access(small).partitionCount == 1 && !view.desc.operands[small].isOutput;
    report(sink, id, int(i),
           text(view.describe(main), " uses ", counted(expected, "partition"), " and ",
                view.describe(i), " uses ", found, "; hardware never broadcasts across partitions"),
           replicate ? text("replicate ", quoted(view, small),
                            " first: dma_copy from an HBM view with broadcast(0, ",
                            std::max(found, expected), ")")
                     : text("slice both to ", std::min(found, expected), " partitions"));
  });
}

void sameElements(const InstView &view, std::string_view id, const RuleSink &sink) {
  unsigned main = mainInput(view);
  int64_t expected = view.access(main).freeElements();
  forOtherOperands(view, main, [&](unsigned i) {
    int64_t found = view.access(i).freeElements();
    if (found == expected || view.desc.operands[i].isColumn)
      return;
    bool repeat = std::min(found, expected) == 1 && !view.desc.operands[i].isOutput;
    report(sink, id, int(i),
           text(view.describe(main), " has ", counted(expected, "element"), " per partition, ",
                view.describe(i), " has ", found),
           repeat ? "for a per-partition scalar use tensor_scalar, for a "
                    "repeated free dim use broadcast()"
                  : text("take views of ", std::min(found, expected),
                         " elements per partition on both sides"));
  });
}

void oneInputInPsum(const InstView &view, std::string_view id, const RuleSink &sink) {
  int first = -1;
  for (unsigned i = 0; i < view.desc.operands.size(); ++i) {
    const OperandDesc &op = view.desc.operands[i];
    if (op.isOutput || op.isColumn || !view.access(i).present() ||
        memoryOf(view, i) != Memory::Psum)
      continue;
    if (first < 0) {
      first = int(i);
      continue;
    }
    report(sink, id, int(i),
           text("only one of the two inputs may be in PSUM, ", view.describe(unsigned(first)),
                " and ", view.describe(i), " both are"),
           "copy one to SBUF");
  }
}

void sameStartPartition(const InstView &view, std::string_view id, const RuleSink &sink) {
  int first = -1;
  for (unsigned i = 0; i < view.desc.operands.size(); ++i) {
    const OperandDesc &op = view.desc.operands[i];
    if (op.isOutput || op.isColumn || !view.access(i).present() ||
        memoryOf(view, i) != Memory::Sbuf)
      continue;
    if (first < 0) {
      first = int(i);
      continue;
    }
    int64_t a = physicalStart(view, unsigned(first)), b = physicalStart(view, i);
    if (a != b)
      report(sink, id, int(i),
             text("two SBUF inputs must start at the same partition, ",
                  view.describe(unsigned(first)), " starts at ", a, " and ", view.describe(i),
                  " at ", b),
             text("copy ", quoted(view, i), " to partition ", a, " first"));
  }
}

void bitvecDtypes(const InstView &view, std::string_view id, const RuleSink &sink) {
  if (AluOp op = aluField(view, "op"); info(op).isBitvec)
    checkBitvecTiles(view, id, sink, op);
}

//---- tensor_tensor
//-------------------------------------------------------------------------------===//

void tensorTensorEngine(const InstView &view, std::string_view id, const RuleSink &sink) {
  AluOp op = aluField(view, "op");
  std::string_view spelling = info(op).name;
  if (info(op).isUnary)
    return report(sink, id, -1,
                  text("tensor_tensor needs a binary operator, '", spelling, "' ",
                       op == AluOp::None ? "is no operator" : "takes one argument"),
                  "use tensor_scalar or activation for functions of one tile");
  Engine engine = engineOf(view);
  if (engine == Engine::Vector && op == AluOp::Power)
    return report(sink, id, -1, "power runs on GpSimd only, not on the Vector Engine",
                  "leave the engine unset, or use engine::gpsimd");
  if (engine != Engine::Gpsimd || op == AluOp::Power)
    return;
  if (info(op).isBitvec)
    return report(sink, id, -1, text(spelling, " runs on the Vector Engine only, not on GpSimd"),
                  "leave the engine unset, or use engine::vector");
  bool allWide = true;
  for (unsigned i = 0; i < view.desc.operands.size(); ++i)
    allWide &= isWideInteger(view.access(i).dtype);
  if (!allWide && op != AluOp::Add && op != AluOp::Multiply)
    report(sink, id, -1,
           text("GpSimd runs tensor_tensor as add, multiply or power, and any "
                "arithmetic operator when all three "
                "tiles are int32 or uint32, not as ",
                spelling),
           "leave the engine unset, or use engine::vector");
}

//---- tensor_scalar
//-------------------------------------------------------------------------------===//

namespace {

enum : unsigned { Data = 1, Operand0 = 2, Operand1 = 3 };

struct Stages {
  AluOp op0, op1;
  bool has(AluOp op) const { return op0 == op || op1 == op; }
  /// "multiply then add".
  std::string spelled() const {
    return op1 == AluOp::None ? std::string(info(op0).name)
                              : text(info(op0).name, " then ", info(op1).name);
  }
};

Stages stagesOf(const InstView &view) { return {aluField(view, "op0"), aluField(view, "op1")}; }

/// Operators that no engine runs, or only alone, have their own sentence.
bool isHomeless(Stages stages) {
  bool alone = stages.op0 == AluOp::Reciprocal && stages.op1 == AluOp::None;
  return stages.has(AluOp::Power) || (stages.has(AluOp::Reciprocal) && !alone);
}

void reportHomeless(std::string_view id, const RuleSink &sink, Stages stages) {
  if (stages.has(AluOp::Power))
    return report(sink, id, -1, "no engine runs tensor_scalar with power",
                  "memset a tile with the exponent and use tensor_tensor with power");
  report(sink, id, -1, text("reciprocal is alone in its tensor_scalar, not ", stages.spelled()),
         "use nisa::reciprocal and a tensor_scalar for the other operator");
}

void checkScalar(const InstView &view, std::string_view id, const RuleSink &sink, unsigned stage) {
  AluOp op = stage == 0 ? aluField(view, "op0") : aluField(view, "op1");
  unsigned operand = stage == 0 ? Operand0 : Operand1;
  double value = realOf(fieldOf(view, stage == 0 ? "imm0" : "imm1"));
  bool isTile = view.access(operand).present();
  if (info(op).isUnary) {
    if (!isTile && value == 0)
      return;
    std::string reason =
        op == AluOp::None ? text("op", stage, " is none") : text(info(op).name, " takes no scalar");
    return report(sink, id, isTile ? int(operand) : -1,
                  isTile ? text(reason, ", ", view.describe(operand), " has no use")
                         : text(reason, ", imm", stage, " is ", value),
                  "leave the operand out");
  }
  DType data = view.access(Data).dtype;
  if (!info(op).isBitvec) {
    if (isTile && view.access(operand).dtype != DType::Float32)
      report(sink, id, int(operand),
             text("a scalar tile of an arithmetic operator must be float32, ",
                  view.describe(operand), " is ", name(view.access(operand).dtype)),
             "cast it to float32 with tensor_copy");
    return;
  }
  if (isFloat(data))
    return; // Said of the data already; its width means nothing.
  if (isTile) {
    DType scalar = view.access(operand).dtype;
    if (isFloat(scalar) || bytesOf(scalar) != bytesOf(data))
      report(sink, id, int(operand),
             text(info(op).name, " needs a scalar tile of data's dtype ", name(data), ", ",
                  view.describe(operand), " is ", name(scalar)),
             text("convert it to ", name(data), " with tensor_copy"));
    return;
  }
  // A mask may be written signed or unsigned: only its bits count.
  double span = std::ldexp(1.0, 8 * bytesOf(data));
  if (value != std::floor(value) || value < -span / 2 || value >= span)
    report(sink, id, -1,
           text(info(op).name, " on ", name(data), " takes a whole number of ", 8 * bytesOf(data),
                " bits, imm", stage, " is ", value),
           text("use a value from ", int64_t(-span / 2), " to ", int64_t(span) - 1));
}

} // namespace

void tensorScalarClass(const InstView &view, std::string_view id, const RuleSink &sink) {
  Stages stages = stagesOf(view);
  if (stages.op0 == AluOp::None)
    return report(sink, id, -1, "tensor_scalar needs a first operator, op0 is none",
                  "name an operator as op0");
  if (stages.op1 != AluOp::None && info(stages.op0).isBitvec != info(stages.op1).isBitvec)
    return report(sink, id, -1,
                  text("op0 ", info(stages.op0).name, " (", kind(stages.op0), ") and op1 ",
                       info(stages.op1).name, " (", kind(stages.op1), ") must be of one kind"),
                  "use two tensor_scalar instructions");
  if (info(stages.op0).isBitvec)
    checkBitvecTiles(view, id, sink, stages.op0);
}

void tensorScalarOperands(const InstView &view, std::string_view id, const RuleSink &sink) {
  checkScalar(view, id, sink, 0);
  checkScalar(view, id, sink, 1);
}

void tensorScalarEngine(const InstView &view, std::string_view id, const RuleSink &sink) {
  Stages stages = stagesOf(view);
  if (stages.op0 == AluOp::None)
    return;
  if (isHomeless(stages))
    return reportHomeless(id, sink, stages);
  Engine engine = engineOf(view);
  if (engine == Engine::Vector && stages.has(AluOp::Rsqrt))
    report(sink, id, -1,
           text("the Vector Engine has no rsqrt, tensor_scalar is ", stages.spelled()),
           "use engine::gpsimd for rsqrt alone, or activation with rsqrt");
  if (engine != Engine::Scalar)
    return;
  bool runs =
      (stages.op0 == AluOp::Multiply && (stages.op1 == AluOp::Add || stages.op1 == AluOp::None)) ||
      (stages.op0 == AluOp::Add && stages.op1 == AluOp::None);
  if (!runs)
    report(sink, id, -1,
           text("on trn2 the Scalar Engine runs tensor_scalar only as "
                "multiply, add, or multiply then add, not as ",
                stages.spelled()),
           "use engine::vector, or activation with scale and bias");
}

void tensorScalarGpsimd(const InstView &view, std::string_view id, const RuleSink &sink) {
  Stages stages = stagesOf(view);
  if (engineOf(view) != Engine::Gpsimd || stages.op0 == AluOp::None || isHomeless(stages))
    return;
  if (stages.op0 != AluOp::Rsqrt || stages.op1 != AluOp::None)
    report(sink, id, -1,
           text("gpsimd accepts tensor_scalar for rsqrt only, not for ", stages.spelled()),
           stages.has(AluOp::Rsqrt)
               ? "split it: rsqrt alone on gpsimd, the other operator on vector"
               : "leave the engine unset, or use engine::vector");
}

//---- tensor_reduce
//-------------------------------------------------------------------------------===//

void reducedDims(const InstView &view, std::string_view id, const RuleSink &sink) {
  int64_t dims = fieldOf(view, "reduced_dims"), rank = view.access(Data).rank;
  if (dims >= 1 && dims <= rank)
    return;
  report(sink, id, Data,
         text("the last ", counted(dims, "dim"), " of ", view.describe(Data),
              " cannot be reduced, it has ", counted(rank, "free dim"), " (1 to ", rank, ")"),
         "dim 0 is the partition dim: transpose first, or multiply by a ones "
         "column with nc_matmul");
}

void reduceShape(const InstView &view, std::string_view id, const RuleSink &sink) {
  const Access &data = view.access(Data), &dst = view.access(0);
  int64_t dims = fieldOf(view, "reduced_dims");
  if (dims < 1 || dims > data.rank)
    return;
  int64_t kept = 1;
  for (unsigned i = 0; i + dims < data.rank; ++i)
    kept *= data.num[i];
  if (dst.freeElements() != kept)
    report(sink, id, 0,
           text(view.describe(0), " must hold ", counted(kept, "element"), " per partition, ",
                view.describe(Data), " is ", shapeOf(data), " and its last ", counted(dims, "dim"),
                dims == 1 ? " is" : " are", " reduced; got ", dst.freeElements()),
           text("use a (", data.partitionCount, ", ", kept, ") dst"));
}

void reduceOperator(const InstView &view, std::string_view id, const RuleSink &sink) {
  AluOp op = aluField(view, "op");
  if (!info(op).isReduction)
    return report(sink, id, -1, text("'", info(op).name, "' cannot be a reduction operator"),
                  text("allowed: ", reductionOperators()));
  if (info(op).isBitvec && fieldOf(view, "negate") != 0)
    report(sink, id, -1,
           text("negate needs an arithmetic operator, ", info(op).name, " works on bits"),
           "leave negate out");
}

//---- activation
//----------------------------------------------------------------------------------===//

void activationReduce(const InstView &view, std::string_view id, const RuleSink &sink) {
  AluOp op = aluField(view, "reduce_op");
  auto command = ReduceCmd(fieldOf(view, "reduce_cmd"));
  std::string_view spelling = nameOf(view.desc.field("reduce_cmd")->cases, uint32_t(command));
  if (command == ReduceCmd::LoadReduce)
    return report(sink, id, -1, "activation has no reduce_cmd load_reduce",
                  "allowed: idle, reset, reduce, reset_reduce");
  if (op != AluOp::None && op != AluOp::Add)
    return report(sink, id, -1,
                  text("'", info(op).name, "' cannot be the reduction operator of activation"),
                  "allowed: add");
  bool reduces = command == ReduceCmd::Reduce || command == ReduceCmd::ResetReduce;
  if (reduces && op == AluOp::None)
    report(sink, id, -1, text("reduce_cmd ", spelling, " needs a reduce_op"),
           "set reduce_op to add");
  if (!reduces && op != AluOp::None)
    report(sink, id, -1, text("reduce_op is add, but reduce_cmd ", spelling, " reduces nothing"),
           "set reduce_cmd to reset_reduce or reduce, or leave reduce_op out");
}

} // namespace kiln::isa::rules
