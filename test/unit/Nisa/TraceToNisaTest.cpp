//===- TraceToNisaTest.cpp - a trace becomes a kernel -----------------------------------------===//

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"

#include "kiln/Dialect/Nisa/IR/Locations.h"
#include "kiln/Dialect/Nisa/IR/NisaInst.h"

#include "mlir/IR/Verifier.h"

#include <gmock/gmock.h>

using namespace kiln;
using namespace mlir;

namespace {

isa::Access access(uint32_t tensor, uint32_t rows, int64_t rowStep, int64_t elements) {
  isa::Access a;
  a.tensor = tensor;
  a.partitionCount = rows;
  a.rowStep = rowStep;
  a.rank = 1;
  a.step[0] = 1;
  a.num[0] = elements;
  return a;
}

trace::Trace doubling() {
  trace::Trace t;
  t.kernel = "doubling";
  t.files = {"k.cpp", "helper.h"};
  // The statement in the helper, reached from line 40 of the kernel; and a plain statement.
  t.locations = {{0, 40, trace::kNone}, {1, 7, 0}, {0, 41, trace::kNone}};
  t.tensors.resize(3);
  t.tensors[0].name = "x";
  t.tensors[0].memory = isa::Memory::Hbm;
  t.tensors[0].role = trace::TensorRole::Input;
  t.tensors[0].shape = {100, 3, 5};
  t.tensors[0].location = 2;
  t.tensors[1].name = "tile";
  t.tensors[1].shape = {100, 15};
  t.tensors[1].address = {{0, 64}};
  t.tensors[2].name = "y";
  t.tensors[2].memory = isa::Memory::Hbm;
  t.tensors[2].role = trace::TensorRole::Output;
  t.tensors[2].shape = {100, 15};

  trace::Instruction load{isa::makeInstruction(isa::Opcode::DmaCopy), 1};
  load.inst.operands[0] = access(1, 100, 0, 15);
  load.inst.operands[1] = access(0, 100, 15, 15);
  trace::Instruction twice{isa::makeInstruction(isa::Opcode::TensorScalar), 1};
  twice.inst.operands[0] = twice.inst.operands[1] = access(1, 100, 0, 15);
  twice.inst.setWord("op0", int64_t(isa::AluOp::Multiply));
  twice.inst.setReal("imm0", 2.0);
  twice.inst.engine = isa::Engine::Vector;
  trace::Instruction store{isa::makeInstruction(isa::Opcode::DmaCopy)};
  store.inst.operands[0] = access(2, 100, 15, 15);
  store.inst.operands[1] = access(1, 100, 0, 15);
  t.instructions = {load, twice, store};
  return t;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

TEST(TraceToNisa, KeepsTensorsRolesAddressesAndOrder) {
  MLIRContext context(MLIRContext::Threading::DISABLED);

  OwningOpRef<ModuleOp> module = traceToNisa(&context, doubling());

  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(textOf(*module), R"(module {
  nisa.kernel @doubling {
    %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 100x3x5xf32>
    %tile = nisa.alloc "tile" at(0, 64) : !nisa.buf<sbuf, 100x15xf32>
    %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 100x15xf32>
    nisa.dma_copy dst=%tile[0+100, 0: 1x15] src=%x[100 rows of 15, 0: 1x15] : !nisa.buf<sbuf, 100x15xf32>, !nisa.buf<hbm, 100x3x5xf32>
    nisa.tensor_scalar dst=%tile[0+100, 0: 1x15] data=%tile[0+100, 0: 1x15] op0=multiply imm0=2 engine=vector : !nisa.buf<sbuf, 100x15xf32>, !nisa.buf<sbuf, 100x15xf32>
    nisa.dma_copy dst=%y[100 rows of 15, 0: 1x15] src=%tile[0+100, 0: 1x15] : !nisa.buf<hbm, 100x15xf32>, !nisa.buf<sbuf, 100x15xf32>
  }
}
)");
}

TEST(TraceToNisa, GivesEachPlaceItsCallChainOnce) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = traceToNisa(&context, doubling());
  std::vector<Location> places;
  module->walk([&](nisa::InstOpInterface op) { places.push_back(op->getLoc()); });
  nisa::AllocOp first;
  module->walk([&](nisa::AllocOp op) { first = first ? first : op; });

  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(nisa::chainOf(places[0]), (CallChain{{"helper.h", 7}, {"k.cpp", 40}}));
  EXPECT_EQ(places[1], places[0]);
  EXPECT_EQ(nisa::chainOf(places[2]), CallChain{});
  EXPECT_EQ(nisa::chainOf(first.getLoc()), (CallChain{{"k.cpp", 41}}));
}

TEST(TraceToNisa, AnEmptyTraceIsAnEmptyKernel) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  trace::Trace trace;
  trace.kernel = "nothing";

  OwningOpRef<ModuleOp> module = traceToNisa(&context, trace);

  EXPECT_EQ(textOf(*module), "module {\n  nisa.kernel @nothing {\n  }\n}\n");
}

} // namespace
