//===- Builders.cpp - the functions of nl/isa.h -----------------------------------------------===//
//
// Each one moves its parameters into the row of the table. A check stands here only when the record
// cannot express it: how a number was written, which axes were named, a missing scalar.
//
//===------------------------------------------------------------------------------------------===//

#include "Emitter.h"

#include "kiln/ISA/Args.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

namespace nisa {
namespace {

using kiln::trace::Emitter;
using kiln::trace::FreeDims;
using kiln::trace::Row;
using kiln::trace::text;
namespace isa = kiln::isa;

/// A scalar operand: the column, or the immediate in field word `immediate`.
void scalarOperand(Emitter &e, const nl::Operand &value, unsigned column, unsigned immediate,
                   bool isFloat32) {
  if (value.kind == nl::Operand::Kind::Column)
    e.operand(column, value.column);
  else if (value.kind == nl::Operand::Kind::Number && isFloat32)
    e.real32(immediate, value.value);
  else if (value.kind == nl::Operand::Kind::Number)
    e.real(immediate, value.value);
}

} // namespace

//---- any row ------------------------------------------------------------===//

namespace {

const Row &rowOf(std::string_view mnemonic) {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const isa::InstDesc &desc : isa::instructions())
      all.emplace_back(desc.opcode);
    return all;
  }();
  const isa::InstDesc *desc = isa::findInstruction(mnemonic);
  assert(desc && "nl/isa.h names an instruction the table does not have");
  return rows[desc - isa::instructions().data()];
}

/// Pairs of a pattern field, padded with [0, 1].
void setPattern(Emitter &e, std::string_view mnemonic, unsigned word, const nl::Pattern &pattern) {
  if (e.usable() && (pattern.size() > isa::kMaxFreeDims || pattern.empty()))
    e.fault("S-06",
            text("the pattern of ", mnemonic, " has ", pattern.size(),
                 " pairs, an instruction holds 1 to ", isa::kMaxFreeDims),
            "fill the tile in parts");
  for (unsigned i = 0; e.usable() && i < isa::kMaxFreeDims; ++i) {
    bool given = i < pattern.size();
    e.word(word + 2 * i, given ? pattern[i].step.value : 0);
    e.word(word + 2 * i + 1, given ? pattern[i].num.value : 1);
  }
}

void setField(Emitter &e, std::string_view mnemonic, const isa::FieldDesc &field,
              const detail::Argument &argument) {
  using isa::FieldKind;
  if (argument.kind == detail::Argument::Kind::Pattern) {
    setPattern(e, mnemonic, field.word, *argument.pattern);
  } else if (argument.kind == detail::Argument::Kind::Operator) {
    // An operator field takes the ALU's operators or the Scalar Engine's functions.
    if (isa::nameOf(field.cases, 0) == isa::nameOf(isa::actFnCases(), 0))
      e.function(field.word, argument.op, field.name);
    else
      e.aluOp(field.word, argument.op, field.name, !field.required);
  } else if (field.kind == FieldKind::F32) {
    e.real32(field.word, argument.number);
  } else if (field.kind == FieldKind::F64) {
    e.real(field.word, argument.number);
  } else {
    e.word(field.word, static_cast<int64_t>(argument.number));
  }
}

/// A scalar operand: the column, or the number in the field it falls back on.
void setScalar(Emitter &e, const isa::InstDesc &desc, unsigned operand,
               const detail::Argument &argument) {
  const nl::Operand &scalar = *argument.scalar;
  const isa::FieldDesc &field = desc.fields[static_cast<size_t>(desc.operands[operand].immediate)];
  if (scalar.kind != nl::Operand::Kind::None)
    return scalarOperand(e, scalar, operand, field.word, field.kind == isa::FieldKind::F32);
  const bool isOfStage = argument.op.alu >= 0; // no ALU operator: reported as such
  if (!e.usable() || !(argument.isNeeded ||
                       (isOfStage && !isa::info(static_cast<isa::AluOp>(argument.op.alu)).isUnary)))
    return;
  std::string help = text("give ", argument.name, " a number, or a tile",
                          desc.operands[operand].isColumn ? " with one value per partition" : "");
  if (isOfStage)
    e.fault("D-08", text("nl::", argument.op.name, " of ", desc.mnemonic, " needs ", argument.name),
            help);
  else
    e.fault("D-10", text(argument.name, " of ", desc.mnemonic, " is missing"), help);
}

} // namespace

void detail::record(const char *mnemonic, std::initializer_list<Argument> arguments,
                    const SrcLoc &loc, nisa::engine where) {
  const Row &row = rowOf(mnemonic);
  Emitter e(row, loc);
  e.engine(where);
  for (const Argument &argument : arguments) {
    const int operand = row.desc.operandIndex(argument.name);
    const isa::FieldDesc *field = row.desc.field(argument.name);
    const bool isTile = argument.kind == Argument::Kind::Tile,
               isScalar = argument.kind == Argument::Kind::Scalar;
    assert((isTile || isScalar ? operand >= 0 : field != nullptr) &&
           "nl/isa.h names a parameter the table does not have");
    assert((!isScalar || row.desc.operands[static_cast<size_t>(operand)].immediate >= 0) &&
           "nl/isa.h gives a number to an operand that has no immediate");
    if (isTile)
      e.operand(static_cast<unsigned>(operand), *argument.tile);
    else if (isScalar)
      setScalar(e, row.desc, static_cast<unsigned>(operand), argument);
    else
      setField(e, mnemonic, *field, argument);
  }
  e.record();
}

//---- Tensor Engine ------------------------------------------------------===//

/// S-11: the two rows of a partition are a dim of their own, which the access does not show.
static void checkDoubleRow(Emitter &e, const char *role, const nl::Tensor &operand) {
  const nl::Shape &shape = operand.shape();
  if (e.usable() && !(shape.size() >= 2 && shape[1] == 2))
    e.fault("S-11",
            text("perf_mode double_row takes two rows a partition as dim 1, ", role, " is ",
                 shape.size() >= 2
                     ? text("(", shape[0], ", ", shape[1], shape.size() > 2 ? ", ...)" : ")")
                     : std::string("one dim")),
            "shape it (K, 2, columns): row k + K * i of the contraction in partition k, slot i");
}

void nc_matmul(const NcMatmul &args, SrcLoc loc) {
  static const Row row(isa::Opcode::NcMatmul);
  static const unsigned stationaryHint = row.word("is_stationary_onezero"),
                        movingHint = row.word("is_moving_onezero"),
                        transpose = row.word("is_transpose"), accumulate = row.word("accumulate"),
                        position = row.word("tile_position"), size = row.word("tile_size"),
                        perfMode = row.word("perf_mode");
  using Place = isa::NcMatmulArgs;
  Emitter e(row, loc);
  e.operand(Place::dst, args.dst);
  e.operand(Place::stationary, args.stationary);
  e.operand(Place::moving, args.moving);
  e.word(stationaryHint, args.is_stationary_onezero);
  e.word(movingHint, args.is_moving_onezero);
  e.word(transpose, args.is_transpose);
  e.word(position, args.tile_position.row);
  e.word(position + 1, args.tile_position.column);
  e.word(size, args.tile_size.row);
  e.word(size + 1, args.tile_size.column);
  e.word(perfMode, static_cast<int64_t>(args.perf_mode));
  if (args.perf_mode == matmul_perf_mode::double_row) {
    checkDoubleRow(e, "stationary", args.stationary);
    checkDoubleRow(e, "moving", args.moving);
  }
  if (args.accumulate)
    e.word(accumulate, static_cast<int64_t>(*args.accumulate ? isa::Accumulate::Add
                                                             : isa::Accumulate::Overwrite));
  e.record();
}

void nc_transpose(const NcTranspose &args, SrcLoc loc) {
  static const Row row(isa::Opcode::NcTranspose);
  using Place = isa::NcTransposeArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.operand(Place::dst, args.dst);
  e.operand(Place::data, args.data);
  e.record();
}

//---- Scalar Engine ------------------------------------------------------===//

void activation(const Activation &args, SrcLoc loc) {
  static const Row row(isa::Opcode::Activation);
  static const unsigned op = row.word("op"), bias = row.word("imm_bias"),
                        scale = row.word("imm_scale"), reduceOp = row.word("reduce_op"),
                        reduceCmd = row.word("reduce_cmd");
  using Place = isa::ActivationArgs;
  Emitter e(row, loc);
  e.operand(Place::dst, args.dst);
  e.function(op, args.op, "op");
  e.operand(Place::data, args.data);
  scalarOperand(e, args.bias, Place::bias, bias, true);
  scalarOperand(e, args.scale, Place::scale, scale, true);
  e.aluOp(reduceOp, args.reduce_op, "reduce_op", /*optional=*/true);
  e.operand(Place::reduceRes, args.reduce_res);
  e.word(reduceCmd, static_cast<int64_t>(args.reduce_cmd));
  e.record();
}

//---- Vector Engine ------------------------------------------------------===//

namespace {

/// How many trailing dims `axes` names, or 0 after a report.
unsigned reducedDims(Emitter &e, const Axes &axes, const Tensor &data) {
  const int64_t rank = data.rank();
  std::string named;
  std::vector<int64_t> sorted;
  for (unsigned i = 0; i < std::min(axes.count, nl::detail::maxRank); ++i) {
    int64_t axis = axes.values[i] < 0 ? axes.values[i] + rank : axes.values[i];
    named += text(i ? ", " : "", axes.values[i]);
    if (axis < 0 || axis >= rank) {
      e.fault("V-01",
              text("axis ", axes.values[i], " is outside the ", rank, " dims of ",
                   e.describe(isa::TensorReduceArgs::data)),
              text("axes are numbered 0 to ", rank - 1, ", or -", rank, " to -1 from the end"));
      return 0;
    }
    sorted.push_back(axis);
  }
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.front() == 0) {
    e.fault("P-09",
            text("axis 0 of ", e.describe(isa::TensorReduceArgs::data),
                 " is the partition dim and cannot be reduced here"),
            "transpose first, or multiply by a column of ones with nisa::nc_matmul");
    return 0;
  }
  bool trailing = !sorted.empty() && axes.count == sorted.size();
  for (size_t i = 0; i < sorted.size(); ++i)
    trailing &= sorted[i] == rank - int64_t(sorted.size()) + int64_t(i);
  if (trailing)
    return static_cast<unsigned>(sorted.size());
  e.fault("P-10",
          text("axes {", named, "} are not the trailing dims of ",
               e.describe(isa::TensorReduceArgs::data), ", a rank-", rank, " tile"),
          "permute the view so that the reduced dims come last");
  return 0;
}

} // namespace

void tensor_reduce(const TensorReduce &args, SrcLoc loc) {
  static const Row row(isa::Opcode::TensorReduce);
  static const unsigned op = row.word("op"), dims = row.word("reduced_dims"),
                        negate = row.word("negate");
  using Place = isa::TensorReduceArgs;
  Emitter e(row, loc);
  e.operand(Place::dst, args.dst);
  e.aluOp(op, args.op, "op");
  // The reduced dims are counted, so the dims of data stay as the author sees them.
  e.operand(Place::data, args.data, FreeDims::Keep);
  if (e.usable())
    e.word(dims, reducedDims(e, args.axis, args.data));
  e.word(negate, args.negate);
  e.record();
}

void tensor_tensor(const TensorTensor &args, SrcLoc loc) {
  static const Row row(isa::Opcode::TensorTensor);
  static const unsigned op = row.word("op");
  using Place = isa::TensorTensorArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.operand(Place::dst, args.dst);
  e.operand(Place::data1, args.data1);
  e.operand(Place::data2, args.data2);
  e.aluOp(op, args.op, "op");
  e.record();
}

namespace {

/// Each stage needs its scalar unless the operator is unary, and a scalar needs its stage.
void checkStage(Emitter &e, int stage, const Op &op, const Operand &scalar, bool reverse) {
  bool given = scalar.kind != Operand::Kind::None;
  if (!op.name) {
    if (given || reverse)
      e.fault("D-08",
              text(given ? "operand" : "reverse", stage, " of tensor_scalar is given without op",
                   stage),
              text("give op", stage, ", or leave both out"));
    return;
  }
  if (op.alu < 0)
    return; // reported as no ALU operator
  bool isUnary = isa::info(static_cast<isa::AluOp>(op.alu)).isUnary;
  if (!isUnary && !given)
    e.fault("D-08", text("op", stage, " nl::", op.name, " of tensor_scalar needs operand", stage),
            text("give operand", stage, " a number, or a tile with one value per partition"));
  bool isZero = scalar.kind == Operand::Kind::Number && scalar.value == 0;
  if (isUnary && given && !isZero)
    e.fault("D-08",
            text("op", stage, " nl::", op.name, " of tensor_scalar takes no scalar, operand", stage,
                 " is given"),
            text("leave operand", stage, " out"));
}

} // namespace

void tensor_scalar(const TensorScalar &args, SrcLoc loc) {
  static const Row row(isa::Opcode::TensorScalar);
  static const unsigned op0 = row.word("op0"), imm0 = row.word("imm0"),
                        reverse0 = row.word("reverse0"), op1 = row.word("op1"),
                        imm1 = row.word("imm1"), reverse1 = row.word("reverse1");
  using Place = isa::TensorScalarArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.operand(Place::dst, args.dst);
  e.operand(Place::data, args.data);
  e.aluOp(op0, args.op0, "op0");
  scalarOperand(e, args.operand0, Place::operand0, imm0, false);
  e.word(reverse0, args.reverse0);
  e.aluOp(op1, args.op1, "op1", /*optional=*/true);
  scalarOperand(e, args.operand1, Place::operand1, imm1, false);
  e.word(reverse1, args.reverse1);
  if (e.usable()) {
    checkStage(e, 0, args.op0, args.operand0, args.reverse0);
    checkStage(e, 1, args.op1, args.operand1, args.reverse1);
  }
  e.record();
}

void tensor_copy(const TensorCopy &args, SrcLoc loc) {
  static const Row row(isa::Opcode::TensorCopy);
  using Place = isa::TensorCopyArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.operand(Place::dst, args.dst);
  e.operand(Place::src, args.src);
  e.record();
}

void memset(const Memset &args, SrcLoc loc) {
  static const Row row(isa::Opcode::Memset);
  static const unsigned value = row.word("value");
  using Place = isa::MemsetArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.operand(Place::dst, args.dst);
  e.real(value, args.value.value);
  isa::DType dtype = kiln::trace::toIsa(args.dst.dtype());
  if (e.usable() && !args.value.isInteger && !isa::isFloat(dtype)) {
    bool whole =
        std::abs(args.value.value) < 1e15 && args.value.value == std::int64_t(args.value.value);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", args.value.value);
    std::string written = whole ? text(int64_t(args.value.value), ".0") : std::string(digits);
    e.fault("D-07",
            text("fill value ", written, " is floating, ", e.describe(Place::dst), " is ",
                 isa::name(dtype)),
            whole ? text("write ", int64_t(args.value.value))
                  : std::string("write a whole number"));
  }
  e.record();
}

//---- GpSimd Engine ------------------------------------------------------===//

void iota(const Iota &args, SrcLoc loc) {
  static const Row row(isa::Opcode::Iota);
  static const unsigned pattern = row.word("pattern"), offset = row.word("offset"),
                        multiplier = row.word("channel_multiplier");
  using Place = isa::IotaArgs;
  Emitter e(row, loc);
  e.operand(Place::dst, args.dst);
  setPattern(e, "iota", pattern, args.pattern);
  e.word(offset, args.offset);
  e.word(multiplier, args.channel_multiplier);
  e.record();
}

//---- nc_stream_shuffle --------------------------------------------------===//

void nc_stream_shuffle(const NcStreamShuffle &args, SrcLoc loc) {
  static const Row row(isa::Opcode::NcStreamShuffle);
  static const unsigned mask = row.word("shuffle_mask");
  constexpr size_t entries = isa::machine.partitionQuadrant, perWord = sizeof(uint32_t);
  using Place = isa::NcStreamShuffleArgs;
  Emitter e(row, loc);
  e.operand(Place::dst, args.dst);
  e.operand(Place::src, args.src);
  const std::vector<int64_t> &rows = args.shuffle_mask.rows;
  if (e.usable() && rows.size() != entries)
    e.fault("V-01",
            text("shuffle_mask has ", rows.size(), " entries, it needs ", entries,
                 ": one for each row of a group of partitions"),
            text("repeat ", isa::machine.shuffleKeepRow, " for the rows dst keeps"));
  std::vector<int64_t> words(entries / perWord);
  for (size_t i = 0; e.usable() && i < entries; ++i) {
    // Larger numbers do not fit an entry; those that fit are the table's business.
    if (rows[i] < 0 || rows[i] > isa::machine.shuffleKeepRow)
      e.fault("V-01",
              text("shuffle_mask[", i, "] is ", rows[i], "; rows of a group are 0 to ", entries - 1,
                   ", and ", isa::machine.shuffleKeepRow, " keeps the row of dst"),
              "use a row of the group");
    else
      words[i / perWord] |= rows[i] << 8 * (i % perWord);
  }
  for (size_t w = 0; w < words.size(); ++w)
    e.word(mask + static_cast<unsigned>(w), words[w]);
  e.record();
}

//---- DMA ----------------------------------------------------------------===//

void dma_copy(const DmaCopy &args, SrcLoc loc) {
  static const Row row(isa::Opcode::DmaCopy);
  static const unsigned dgeMode = row.word("dge_mode"), oobMode = row.word("oob_mode");
  using Place = isa::DmaCopyArgs;
  Emitter e(row, loc);
  e.engine(args.engine);
  e.transferOperand(Place::dst, args.dst, args.src);
  e.transferOperand(Place::src, args.src, args.dst);
  e.word(dgeMode, static_cast<int64_t>(args.dge_mode));
  e.word(oobMode, static_cast<int64_t>(args.oob_mode));
  e.record();
}

namespace {

/// "(1, 0)".
template <class Values>
std::string listText(const Values &values, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += text(i ? ", " : "", values[i]);
  return "(" + out + ")";
}

/// src's axes in the order of a transpose's result: the last, the middle ones, the first.
std::vector<int64_t> transposedAxes(int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    axes.push_back(i == 0 ? rank - 1 : i == rank - 1 ? 0 : i);
  return axes;
}

/// dst has the permuted shape of src, and the axes are the ones of its rank.
void checkTranspose(Emitter &e, const DmaTranspose &args) {
  using Place = isa::DmaTransposeArgs;
  const int64_t rank = args.src.rank();
  if (rank < 2 || rank > isa::kMaxFreeDims)
    return e.fault("S-10",
                   text(e.describe(Place::src), " has rank ", rank,
                        ", dma_transpose takes rank 2 to ", isa::kMaxFreeDims),
                   "reshape it, or transpose parts of it");
  const std::vector<int64_t> axes = transposedAxes(rank);
  const bool isUsual =
      args.axes.count == axes.size() && std::equal(axes.begin(), axes.end(), args.axes.values);
  if (args.axes.count != 0 && !isUsual)
    return e.fault("S-10",
                   text("axes of dma_transpose are ",
                        listText(args.axes.values, std::min(args.axes.count, nl::detail::maxRank)),
                        ", a rank-", rank, " src takes ", listText(axes, axes.size())),
                   "permute the view of src first");
  const nl::Shape from = args.src.shape(), to = args.dst.shape();
  std::vector<int64_t> wanted, found(to.begin(), to.end());
  for (int64_t axis : axes)
    wanted.push_back(from[static_cast<size_t>(axis)]);
  if (found != wanted)
    e.fault("S-10",
            text(e.describe(Place::dst), " must be the permuted src shape ",
                 listText(wanted, wanted.size()), ", got ", listText(found, found.size())),
            "declare it with that shape, or reshape the view");
}

} // namespace

void dma_transpose(const DmaTranspose &args, SrcLoc loc) {
  static const Row row(isa::Opcode::DmaTranspose);
  static const unsigned dgeMode = row.word("dge_mode"), oobMode = row.word("oob_mode");
  using Place = isa::DmaTransposeArgs;
  Emitter e(row, loc);
  // The last dim of src is told apart by its place, so the dims stay as the author sees them.
  e.operand(Place::dst, args.dst, FreeDims::Keep);
  e.operand(Place::src, args.src, FreeDims::Keep);
  if (e.usable())
    checkTranspose(e, args);
  e.word(dgeMode, static_cast<int64_t>(args.dge_mode));
  e.word(oobMode, static_cast<int64_t>(args.oob_mode));
  e.record();
}

} // namespace nisa
