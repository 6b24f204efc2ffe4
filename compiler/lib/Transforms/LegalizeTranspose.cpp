//===- LegalizeTranspose.cpp - transposes by the systolic array -------------------------------===//
//
// The identity is a constant in HBM that is loaded once. It is as large as the
// largest transpose of its dtype needs; a transpose of partitions p to p+K
// multiplies with rows and columns p to p+K, because each partition feeds the
// array row of its own number.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/Dialect/Nisa/IR/NisaInst.h"
#include "kiln/ISA/Args.h"
#include "kiln/Transforms/Passes.h"
#include "kilnrt/Numerics/Convert.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LEGALIZETRANSPOSEPASS
#include "kiln/Transforms/Passes.h.inc"

namespace {

using isa::Access;
using isa::DType;

/// The n x n identity of a float dtype, as constant data.
DenseElementsAttr identity(MLIRContext *context, DType dtype, int64_t n) {
  unsigned width = isa::bytesOf(dtype);
  SmallVector<char> bytes(size_t(n) * n * width, 0);
  for (int64_t i = 0; i < n; ++i)
    kilnrt::storeElement(dtype, 1.0f, reinterpret_cast<std::byte *>(&bytes[(i * n + i) * width]));
  // The table's short names of float dtypes are MLIR's.
  Type element = parseType(isa::info(dtype).shortName, context);
  return DenseElementsAttr::getFromRawBuffer(RankedTensorType::get({n, n}, element), bytes);
}

/// Rows [start, start + count) and `columns` columns of an n x n tensor.
Access block(DType dtype, uint32_t start, uint32_t count, int64_t offset, int64_t columns) {
  Access a;
  a.tensor = 0;
  a.dtype = dtype;
  a.rank = 1;
  a.partitionStart = start;
  a.partitionCount = count;
  a.offset = offset;
  a.step[0] = 1;
  a.num[0] = columns;
  return a;
}

struct LegalizeTranspose : impl::LegalizeTransposePassBase<LegalizeTranspose> {
  /// Transposes of one dtype, and the identity they share.
  struct Group {
    SmallVector<nisa::NcTransposeOp> ops;
    int64_t size = 0; ///< rows the identity needs
    Value buffer;
  };

  void runOnOperation() override {
    // Tables of dtypes are small and met in program order: reports stay the
    // same from run to run.
    llvm::MapVector<unsigned, Group> groups;
    getOperation().walk([&](nisa::NcTransposeOp op) {
      if (op.getEngine() != isa::Engine::Tensor)
        return;
      Access data = op.getDataAccess().getAccess();
      uint32_t base = nisa::viewOf(op.getData()).partitionBase;
      Group &group = groups[unsigned(data.dtype)];
      group.ops.push_back(op);
      group.size = std::max<int64_t>(group.size, base + data.partitionStart + data.partitionCount);
    });
    // Loads of later dtypes go in front of earlier ones otherwise.
    for (auto &[dtype, group] : llvm::reverse(groups))
      loadIdentity(DType(dtype), group);
    for (auto &[dtype, group] : groups)
      for (nisa::NcTransposeOp op : group.ops)
        rewrite(op, group.buffer);
  }

  /// Declares the constant and its SBUF copy, and loads it before the first
  /// instruction.
  void loadIdentity(DType dtype, Group &group) {
    MLIRContext *context = &getContext();
    Block &body = getOperation().getBody().front();
    Location loc = group.ops.front().getLoc();
    SmallVector<int64_t> shape{group.size, group.size};
    std::string name = uniqueName("identity_" + std::string(isa::name(dtype)));

    OpBuilder builder(context);
    builder.setInsertionPointToStart(&body);
    auto constant = nisa::AllocOp::create(
        builder, loc, nisa::BufType::get(context, isa::Memory::Hbm, shape, dtype), name + "_data");
    constant.setDataAttr(identity(context, dtype, group.size));
    auto tile = nisa::AllocOp::create(
        builder, loc, nisa::BufType::get(context, isa::Memory::Sbuf, shape, dtype), name);
    group.buffer = tile.getBuffer();

    Operation *first = nullptr;
    for (Operation &op : body)
      if (!llvm::isa<nisa::AllocOp>(op)) {
        first = &op;
        break;
      }
    builder.setInsertionPoint(first);
    isa::Instruction load = isa::makeInstruction(isa::Opcode::DmaCopy);
    load.engine = isa::Engine::Sync;
    uint32_t rows = uint32_t(group.size);
    load.operands[isa::DmaCopyArgs::dst] = block(dtype, 0, rows, 0, rows);
    Access source = block(dtype, 0, rows, 0, rows);
    source.tensor = 1;
    source.rowStep = rows;
    load.operands[isa::DmaCopyArgs::src] = source;
    nisa::buildInstruction(builder, loc, load, {tile.getBuffer(), constant.getBuffer()});
  }

  std::string uniqueName(std::string name) {
    llvm::StringSet<> taken;
    getOperation().walk([&](nisa::AllocOp op) { taken.insert(op.getTensorName()); });
    while (taken.contains(name) || taken.contains(name + "_data"))
      name += "_";
    return name;
  }

  void rewrite(nisa::NcTransposeOp op, Value identityTile) {
    isa::Instruction old = nisa::toInstruction(op);
    Access data = old.operands[isa::NcTransposeArgs::data];
    uint32_t row = nisa::viewOf(op.getData()).partitionBase + data.partitionStart;

    isa::Instruction matmul = isa::makeInstruction(isa::Opcode::NcMatmul);
    matmul.engine = isa::Engine::Tensor;
    matmul.setWord("is_transpose", 1);
    matmul.operands[isa::NcMatmulArgs::dst] = old.operands[isa::NcTransposeArgs::dst];
    matmul.operands[isa::NcMatmulArgs::dst].tensor = 0;
    matmul.operands[isa::NcMatmulArgs::stationary] = data;
    matmul.operands[isa::NcMatmulArgs::stationary].tensor = 1;
    matmul.operands[isa::NcMatmulArgs::moving] =
        block(data.dtype, row, data.partitionCount, row, data.partitionCount);
    matmul.operands[isa::NcMatmulArgs::moving].tensor = 2;

    OpBuilder builder(op);
    nisa::buildInstruction(builder, op.getLoc(), matmul, {op.getDst(), op.getData(), identityTile});
    op.erase();
  }
};

} // namespace
} // namespace kiln
