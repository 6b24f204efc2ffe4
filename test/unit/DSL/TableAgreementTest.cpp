//===- TableAgreementTest.cpp - the public headers against the instruction table --------------===//
//
// Operators have the names and numbers of the table. Parameter structs have the names and the order
// of NKI, and every operand and field of a public row can be reached through one of them.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Instruction.h"
#include "nl/nl.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace kiln::test {
namespace {

#define OPS(X)                                                                                     \
  X(add)                                                                                           \
  X(subtract)                                                                                      \
  X(multiply)                                                                                      \
  X(maximum)                                                                                       \
  X(minimum)                                                                                       \
  X(equal)                                                                                         \
  X(not_equal)                                                                                     \
  X(greater_equal)                                                                                 \
  X(greater)                                                                                       \
  X(less_equal) X(less) X(logical_and) X(logical_or) X(logical_xor) X(power) X(abs) X(rsqrt)       \
      X(reciprocal) X(invert) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(left_shift)            \
          X(right_shift) X(copy) X(square) X(sigmoid) X(relu) X(gelu) X(gelu_dx)                   \
              X(gelu_apprx_tanh) X(gelu_apprx_sigmoid) X(gelu_apprx_sigmoid_dx) X(silu) X(silu_dx) \
                  X(tanh) X(softplus) X(mish) X(erf) X(erf_dx) X(exp) X(log) X(sin) X(arctan)      \
                      X(sqrt) X(sign)

TEST(TableAgreement, OperatorsHaveTheTablesNamesAndNumbers) {
  std::map<std::string_view, int> alu, functions;
#define COLLECT(token)                                                                             \
  EXPECT_STREQ(nl::token.name, #token);                                                            \
  if (nl::token.alu >= 0)                                                                          \
    alu[#token] = nl::token.alu;                                                                   \
  if (nl::token.function >= 0)                                                                     \
    functions[#token] = nl::token.function;
  OPS(COLLECT)
#undef COLLECT
  std::map<std::string_view, int> tableAlu, tableFunctions;
  for (const isa::EnumCase &c : isa::aluOpCases())
    if (isa::AluOp(c.value) != isa::AluOp::None)
      tableAlu[c.name] = int(c.value);
  for (const isa::EnumCase &c : isa::actFnCases())
    tableFunctions[c.name] = int(c.value);
  EXPECT_EQ(alu, tableAlu);
  EXPECT_EQ(functions, tableFunctions);
}

struct Parameter {
  std::string name;
  const void *place;
};

/// Parameters of each row in the order of NKI 0.6, with their places in an object.
const std::map<std::string_view, std::vector<Parameter>> &parameters() {
  static const nisa::NcMatmul matmul{};
  static const nisa::NcTranspose transpose{};
  static const nisa::Activation activation{};
  static const nisa::TensorReduce reduce{.dst = {}, .op = {}, .data = {}, .axis = 1};
  static const nisa::TensorTensor tensorTensor{};
  static const nisa::TensorScalar tensorScalar{};
  static const nisa::TensorCopy copy{};
  static const nisa::Reciprocal reciprocal{};
  static const nisa::ScalarTensorTensor fused{};
  static const nisa::TensorTensorScan scan{};
  static const nisa::ActivationReduce sums{};
  static const nisa::TensorScalarReduce folds{};
  static const nisa::RangeSelect range{};
  static const nisa::SelectReduce select{};
  static const nisa::Memset memset{.dst = {}, .value = 0};
  static const nisa::Iota iota{};
  static const nisa::DmaCopy dma{};
  static const nisa::Max8 max8{};
  static const nisa::TensorCopyPredicated predicated{};
  static const nisa::BnStats stats{};
  static const nisa::BnAggr aggr{};
  static const nisa::NcStreamShuffle shuffle{.dst = {}, .src = {}, .shuffle_mask = {}};
  static const nisa::AffineSelect affine{};
  static const nisa::DmaTranspose dmaTranspose{};
  static const nisa::RegisterMove registerMove{.dst = {}, .src = 0};
  static const nisa::RegisterLoad registerLoad{};
  static const nisa::RegisterStore registerStore{};
  static const nisa::RegisterAlu registerAlu{.dst = {}, .src = {}, .op = {}, .src1 = 0};
#define P(object, field)                                                                           \
  {                                                                                                \
    #field, &object.field                                                                          \
  }
  static const std::map<std::string_view, std::vector<Parameter>> all = {
      {"nc_matmul",
       {P(matmul, dst), P(matmul, stationary), P(matmul, moving), P(matmul, is_stationary_onezero),
        P(matmul, is_moving_onezero), P(matmul, is_transpose), P(matmul, accumulate),
        P(matmul, tile_position), P(matmul, tile_size), P(matmul, perf_mode)}},
      {"nc_transpose", {P(transpose, dst), P(transpose, data), P(transpose, engine)}},
      {"activation",
       {P(activation, dst), P(activation, op), P(activation, data), P(activation, bias),
        P(activation, scale), P(activation, reduce_op), P(activation, reduce_res),
        P(activation, reduce_cmd)}},
      {"activation_reduce",
       {P(sums, dst), P(sums, op), P(sums, data), P(sums, reduce_op), P(sums, reduce_res),
        P(sums, bias), P(sums, scale)}},
      {"tensor_reduce",
       {P(reduce, dst), P(reduce, op), P(reduce, data), P(reduce, axis), P(reduce, negate),
        P(reduce, keepdims)}},
      {"tensor_tensor",
       {P(tensorTensor, dst), P(tensorTensor, data1), P(tensorTensor, data2), P(tensorTensor, op),
        P(tensorTensor, engine)}},
      {"tensor_scalar",
       {P(tensorScalar, dst), P(tensorScalar, data), P(tensorScalar, op0),
        P(tensorScalar, operand0), P(tensorScalar, reverse0), P(tensorScalar, op1),
        P(tensorScalar, operand1), P(tensorScalar, reverse1), P(tensorScalar, engine)}},
      {"tensor_copy", {P(copy, dst), P(copy, src), P(copy, engine)}},
      {"reciprocal", {P(reciprocal, dst), P(reciprocal, data)}},
      {"scalar_tensor_tensor",
       {P(fused, dst), P(fused, data), P(fused, op0), P(fused, operand0), P(fused, op1),
        P(fused, operand1), P(fused, reverse0), P(fused, reverse1)}},
      {"tensor_tensor_scan",
       {P(scan, dst), P(scan, data0), P(scan, data1), P(scan, initial), P(scan, op0), P(scan, op1),
        P(scan, reverse0), P(scan, reverse1)}},
      {"tensor_scalar_reduce",
       {P(folds, dst), P(folds, data), P(folds, op0), P(folds, operand0), P(folds, reduce_op),
        P(folds, reduce_res), P(folds, reverse0), P(folds, reduce_cmd), P(folds, reduce_init),
        P(folds, reduce_res_negate)}},
      {"range_select",
       {P(range, dst), P(range, on_true_tile), P(range, comp_op0), P(range, comp_op1),
        P(range, bound0), P(range, bound1), P(range, reduce_cmd), P(range, reduce_res),
        P(range, reduce_op), P(range, range_start), P(range, on_false_value)}},
      {"select_reduce",
       {P(select, dst), P(select, predicate), P(select, on_true), P(select, on_false),
        P(select, reduce_res), P(select, reduce_cmd), P(select, reduce_op),
        P(select, reverse_pred)}},
      {"memset", {P(memset, dst), P(memset, value), P(memset, engine)}},
      {"iota", {P(iota, dst), P(iota, pattern), P(iota, offset), P(iota, channel_multiplier)}},
      {"dma_copy", {P(dma, dst), P(dma, src), P(dma, dge_mode), P(dma, oob_mode), P(dma, engine)}},
      {"max8", {P(max8, dst), P(max8, src)}},
      {"tensor_copy_predicated",
       {P(predicated, dst), P(predicated, src), P(predicated, predicate),
        P(predicated, reverse_pred)}},
      {"bn_stats", {P(stats, dst), P(stats, data)}},
      {"bn_aggr", {P(aggr, dst), P(aggr, data)}},
      {"nc_stream_shuffle", {P(shuffle, dst), P(shuffle, src), P(shuffle, shuffle_mask)}},
      {"affine_select",
       {P(affine, dst), P(affine, pattern), P(affine, channel_multiplier), P(affine, on_true_tile),
        P(affine, on_false_value), P(affine, cmp_op), P(affine, offset)}},
      {"register_move", {P(registerMove, dst), P(registerMove, src)}},
      {"register_load", {P(registerLoad, dst), P(registerLoad, src)}},
      {"register_store", {P(registerStore, dst), P(registerStore, src)}},
      {"register_alu",
       {P(registerAlu, dst), P(registerAlu, src), P(registerAlu, op), P(registerAlu, src1)}},
      {"dma_transpose",
       {P(dmaTranspose, dst), P(dmaTranspose, src), P(dmaTranspose, axes),
        P(dmaTranspose, dge_mode), P(dmaTranspose, oob_mode)}},
  };
#undef P
  return all;
}

/// Fields of the table that stand behind a parameter of another name; "" for those the compiler
/// fills in. The numbers of scalar operands stand behind the operands.
const std::map<std::string_view, std::string> kBehind = {{"reduced_dims", "axis"}, {"ring", ""}};

/// nl/isa.h as text.
const std::string &header() {
  static const std::string text = [] {
    std::ostringstream out;
    out << std::ifstream(KILN_ISA_HEADER).rdbuf();
    return out.str();
  }();
  return text;
}

/// The members of the parameter struct of `mnemonic` as the header declares them, in order.
std::vector<std::string> declaredParameters(std::string_view mnemonic) {
  const std::string name(mnemonic);
  std::smatch function, body;
  EXPECT_TRUE(std::regex_search(
      header(), function, std::regex("void " + name + R"(\(const (\w+) &args,\s+SrcLoc loc)")))
      << "nl/isa.h has no function nisa::" << name;
  std::vector<std::string> members;
  const std::string opening = "struct " + (function.empty() ? "?" : function[1].str()) + " {";
  const size_t begin = header().find(opening);
  if (begin == std::string::npos)
    return members;
  const std::string text = header().substr(begin, header().find("\n};", begin) - begin);
  static const std::regex member(R"(\n  [\w:<>]+ (\w+)(?: = [^;]*)?;|\n  [\w:<>]+ (\w+) =\n)");
  for (std::sregex_iterator it(text.begin(), text.end(), member), end; it != end; ++it)
    members.push_back((*it)[1].matched ? (*it)[1].str() : (*it)[2].str());
  return members;
}

TEST(TableAgreement, EveryPublicRowHasItsFunction) {
  std::set<std::string_view> rows;
  for (const isa::InstDesc &row : isa::instructions())
    if (!row.isInternal && !row.isObserver) // whose function is in nl::
      rows.insert(row.mnemonic);
  for (const auto &[name, list] : parameters()) {
    EXPECT_TRUE(rows.contains(name)) << name;
    std::vector<std::string> names;
    for (const Parameter &p : list)
      names.push_back(p.name);
    EXPECT_EQ(declaredParameters(name), names) << name;
  }
}

TEST(TableAgreement, ParametersStandInOrder) {
  for (const auto &[row, list] : parameters())
    for (size_t i = 1; i < list.size(); ++i)
      EXPECT_LT(list[i - 1].place, list[i].place)
          << row << ": " << list[i - 1].name << ", " << list[i].name;
}

TEST(TableAgreement, ParametersReachEveryOperandAndField) {
  for (const isa::InstDesc &row : isa::instructions()) {
    if (row.isInternal || row.isObserver)
      continue;
    std::set<std::string> expected, given;
    for (const isa::OperandDesc &operand : row.operands)
      expected.insert(std::string(operand.name));
    std::set<std::string_view> immediates;
    for (const isa::OperandDesc &operand : row.operands)
      if (operand.immediate >= 0)
        immediates.insert(row.fields[size_t(operand.immediate)].name);
    for (const isa::FieldDesc &field : row.fields) {
      if (immediates.contains(field.name))
        continue;
      auto behind = kBehind.find(field.name);
      std::string name = behind == kBehind.end() ? std::string(field.name) : behind->second;
      if (!name.empty())
        expected.insert(name);
    }
    if (row.isSequencer)
      expected.erase("value"); // stands behind the register beside it
    else if (row.engines.size() > 1)
      expected.insert("engine");
    if (row.mnemonic == "tensor_reduce")
      expected.insert("keepdims"); // shapes dst only
    if (row.mnemonic == "dma_transpose")
      expected.insert("axes"); // the rank decides
    for (const std::string &name : declaredParameters(row.mnemonic))
      given.insert(name);
    EXPECT_EQ(given, expected) << row.mnemonic;
  }
}

TEST(TableAgreement, DefaultsAreTheTables) {
  // Optional fields with a default other than "absent" or 0.
  nisa::Activation a{};
  EXPECT_EQ(a.scale.value, 1);
  EXPECT_EQ(isa::makeInstruction(isa::Opcode::Activation).real("imm_scale"), a.scale.value);
  EXPECT_EQ(int(a.reduce_cmd),
            int(isa::makeInstruction(isa::Opcode::Activation).word("reduce_cmd")));
  EXPECT_EQ(nisa::ActivationReduce{}.scale.value,
            isa::makeInstruction(isa::Opcode::ActivationReduce).real("imm_scale"));
  EXPECT_EQ(int(nisa::TensorScalarReduce{}.reduce_cmd),
            int(isa::makeInstruction(isa::Opcode::TensorScalarReduce).word("reduce_cmd")));
  const isa::Instruction range = isa::makeInstruction(isa::Opcode::RangeSelect);
  EXPECT_EQ(int(nisa::RangeSelect{}.reduce_cmd), int(range.word("reduce_cmd")));
  EXPECT_EQ(int(nisa::RangeSelect{}.reduce_op.alu), int(range.word("reduce_op")));
  EXPECT_EQ(double(nisa::RangeSelect{}.on_false_value), range.real("on_false_value"));
  const isa::Instruction select = isa::makeInstruction(isa::Opcode::SelectReduce);
  EXPECT_EQ(int(nisa::SelectReduce{}.reduce_cmd), int(select.word("reduce_cmd")));
  EXPECT_EQ(int(nisa::SelectReduce{}.reduce_op.alu), int(select.word("reduce_op")));
  nisa::DmaCopy d{};
  EXPECT_EQ(int(d.dge_mode), int(isa::makeInstruction(isa::Opcode::DmaCopy).word("dge_mode")));
  EXPECT_EQ(int(d.oob_mode), int(isa::makeInstruction(isa::Opcode::DmaCopy).word("oob_mode")));
}

} // namespace
} // namespace kiln::test
