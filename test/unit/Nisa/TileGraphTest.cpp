//===- TileGraphTest.cpp - graphs become tile ops and come back -------------------------------===//

#include "kiln/Conversion/TileGraph.h"

#include "kiln/Conversion/TraceToNisa/TraceToNisa.h"
#include "kiln/Dialect/Nisa/IR/Locations.h"

#include "mlir/IR/Verifier.h"

#include <gmock/gmock.h>

using namespace kiln;
using namespace mlir;

namespace {

trace::Tensor hbm(std::string name, trace::TensorRole role, uint32_t index,
                  std::vector<int64_t> shape, isa::DType dtype = isa::DType::Float32) {
  trace::Tensor tensor;
  tensor.name = std::move(name);
  tensor.memory = isa::Memory::Hbm;
  tensor.role = role;
  tensor.index = index;
  tensor.shape = std::move(shape);
  tensor.dtype = dtype;
  return tensor;
}

trace::Tensor tileOf(std::string name, std::vector<int64_t> shape) {
  trace::Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  return tensor;
}

trace::Instruction memset(uint32_t tensor, uint32_t partitions, int64_t elements) {
  trace::Instruction instruction{isa::makeInstruction(isa::Opcode::Memset)};
  isa::Access &dst = instruction.inst.operands[0];
  dst.tensor = tensor;
  dst.partitionCount = partitions;
  dst.rank = 1;
  dst.step[0] = 1;
  dst.num[0] = elements;
  return instruction;
}

/// Adds the buffers of the tensors, as the tracer does.
void addBuffers(trace::Trace &trace) {
  for (const trace::Tensor &tensor : trace.tensors) {
    tile::Buffer buffer;
    buffer.name = tensor.name;
    buffer.memory = tensor.memory;
    buffer.dtype = tensor.dtype;
    buffer.role = tile::Buffer::Role(tensor.role);
    buffer.index = tensor.index;
    buffer.shape = tensor.shape;
    buffer.location = tensor.location;
    trace.graph.buffers.push_back(std::move(buffer));
  }
}

tile::NodeId border(trace::Trace &trace, tile::Op op, std::vector<tile::NodeId> operands,
                    uint32_t buffer, tile::Shape shape, std::vector<int64_t> stride,
                    uint32_t position, int64_t offset = 0, uint32_t partition = 0) {
  tile::Node node;
  node.op = op;
  node.operands = std::move(operands);
  node.shape = std::move(shape);
  node.dtype = trace.tensors[buffer].dtype;
  node.view = {buffer, partition, offset, std::move(stride)};
  node.position = position;
  return trace.graph.add(std::move(node));
}

tile::NodeId value(trace::Trace &trace, tile::Op op, std::vector<tile::NodeId> operands,
                   tile::Shape shape, isa::DType dtype = isa::DType::Float32) {
  tile::Node node;
  node.op = op;
  node.operands = std::move(operands);
  node.shape = std::move(shape);
  node.dtype = dtype;
  return trace.graph.add(std::move(node));
}

/// A kernel whose values and instructions alternate: a load from HBM in front of everything, a
/// memset, a load of the tile it wrote, a memset in a loop, a value for the tile 'm', a store.
trace::Trace mixed() {
  trace::Trace t;
  t.kernel = "mixed";
  t.files = {"k.cpp"};
  t.locations = {{0, 10, trace::kNone}, {0, 11, trace::kNone}, {0, 12, trace::kNone}};
  t.tensors = {hbm("x", trace::TensorRole::Input, 0, {8, 12}), tileOf("t", {8, 12}),
               hbm("y", trace::TensorRole::Output, 0, {3, 8, 12}), tileOf("m", {8, 4})};
  t.tensors[0].location = 2;
  addBuffers(t);
  t.instructions = {memset(1, 8, 12), memset(1, 4, 6), memset(1, 8, 12)};
  t.loops = {{1, 2, {.tripCount = 3}, trace::kNone, trace::kNone}};

  const auto x = border(t, tile::Op::Load, {}, 0, {8, 12}, {12, 1}, 0);
  const auto half = value(t, tile::Op::Splat, {}, {1});
  t.graph[half].number = 0.5;
  const auto u = border(t, tile::Op::Load, {}, 1, {4, 6}, {1, 2}, 1, 0, 2);
  const auto s = border(t, tile::Op::Load, {}, 1, {8, 12}, {1, 1}, 2);
  const auto p = value(t, tile::Op::Binary, {x, s}, {8, 12});
  t.graph[p].alu = isa::AluOp::Subtract;
  t.graph[p].location = 1;
  t.graph[p].hint.partitionDim = 1;
  t.graph[p].hint.in = isa::Memory::Hbm;
  t.graph[p].hint.location = 0;
  const auto m = value(t, tile::Op::Slice, {p}, {8, 4});
  t.graph[m].starts = {0, 1};
  t.graph[m].steps = {1, 3};
  border(t, tile::Op::Materialize, {m}, 3, {8, 4}, {1, 1}, 2);
  border(t, tile::Op::Store, {p}, 2, {8, 12}, {12, 1}, 3, 96);
  border(t, tile::Op::Store, {u}, 2, {4, 6}, {12, 1}, 3);
  return t;
}

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

nisa::KernelOp kernelOf(ModuleOp module) { return *module.getOps<nisa::KernelOp>().begin(); }

TEST(TileGraph, NodesStandBetweenInstructionsInProgramOrder) {
  MLIRContext context(MLIRContext::Threading::DISABLED);

  OwningOpRef<ModuleOp> module = traceToNisa(&context, mixed());

  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(textOf(*module), R"(#loc = loc("k.cpp":10:0)
module {
  nisa.kernel @mixed {
    %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 8x12xf32>
    %t = nisa.alloc "t" : !nisa.buf<sbuf, 8x12xf32>
    %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 3x8x12xf32>
    %m = nisa.alloc "m" : !nisa.buf<sbuf, 8x4xf32>
    %0 = tile.load %x : !nisa.buf<hbm, 8x12xf32> -> tensor<8x12xf32>
    %1 = tile.splat 0.5 : tensor<1xf32>
    nisa.memset dst=%t[0+8, 0: 1x12] value=0 : !nisa.buf<sbuf, 8x12xf32>
    %2 = tile.load %t[partition 2, at 0, stride 1 2] : !nisa.buf<sbuf, 8x12xf32> -> tensor<4x6xf32>
    nisa.for 3 {
      nisa.memset dst=%t[0+4, 0: 1x6] value=0 : !nisa.buf<sbuf, 8x12xf32>
    }
    %3 = tile.load %t : !nisa.buf<sbuf, 8x12xf32> -> tensor<8x12xf32>
    %4 = tile.binary subtract %0, %3 hint<partition_dim 1, in hbm, place #loc> : tensor<8x12xf32>, tensor<8x12xf32> -> tensor<8x12xf32>
    %5 = tile.slice %4 from [0, 1] step [1, 3] : tensor<8x12xf32> -> tensor<8x4xf32>
    tile.materialize %5, %m : tensor<8x4xf32>, !nisa.buf<sbuf, 8x4xf32>
    nisa.memset dst=%t[0+8, 0: 1x12] value=0 : !nisa.buf<sbuf, 8x12xf32>
    tile.store %4, %y[at 96, stride 12 1] : tensor<8x12xf32>, !nisa.buf<hbm, 3x8x12xf32>
    tile.store %2, %y[at 0, stride 12 1] : tensor<4x6xf32>, !nisa.buf<hbm, 3x8x12xf32>
  }
}
)");
}

TEST(TileGraph, ComesBackAsItWas) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const trace::Trace trace = mixed();
  OwningOpRef<ModuleOp> module = traceToNisa(&context, trace);

  const KernelGraph kernel = graphOf(kernelOf(*module));

  EXPECT_EQ(tile::print(kernel.graph), tile::print(trace.graph));
}

TEST(TileGraph, KnowsOpsBuffersAndPlaces) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = traceToNisa(&context, mixed());

  const KernelGraph kernel = graphOf(kernelOf(*module));

  ASSERT_EQ(kernel.ops.size(), kernel.graph.nodes.size());
  EXPECT_TRUE(llvm::isa<tile::BinaryOp>(kernel.ops[4]));
  ASSERT_EQ(kernel.allocs.size(), 4u);
  for (size_t i = 0; i < kernel.allocs.size(); ++i)
    EXPECT_EQ(nisa::AllocOp(kernel.allocs[i]).getTensorName().str(), kernel.graph.buffers[i].name);
  const tile::Node &node = kernel.graph[4];
  ASSERT_NE(node.location, tile::kNone);
  EXPECT_EQ(nisa::chainOf(kernel.locations[node.location]), (CallChain{{"k.cpp", 11}}));
  ASSERT_NE(node.hint.location, tile::kNone);
  EXPECT_EQ(nisa::chainOf(kernel.locations[node.hint.location]), (CallChain{{"k.cpp", 10}}));
  EXPECT_EQ(kernel.graph[0].location, tile::kNone);
  ASSERT_NE(kernel.graph.buffers[0].location, tile::kNone);
  EXPECT_EQ(nisa::chainOf(kernel.locations[kernel.graph.buffers[0].location]),
            (CallChain{{"k.cpp", 12}}));
}

/// Every operation with fields that differ from their defaults, so that a field left behind shows.
trace::Trace everyOperation() {
  using tile::Op;
  trace::Trace t;
  t.kernel = "all";
  t.tensors = {hbm("x", trace::TensorRole::Input, 0, {6, 10}),
               hbm("b", trace::TensorRole::Input, 1, {10, 6}, isa::DType::BFloat16),
               hbm("y", trace::TensorRole::Output, 0, {6, 10}), tileOf("m", {6, 10})};
  addBuffers(t);
  const auto x = border(t, Op::Load, {}, 0, {6, 10}, {10, 1}, 0);
  const auto b = border(t, Op::Load, {}, 1, {10, 6}, {6, 1}, 0);
  const auto splat = value(t, Op::Splat, {}, {6, 1}, isa::DType::BFloat16);
  t.graph[splat].number = -0x1p-126;
  const auto iota = value(t, Op::Iota, {}, {6, 10}, isa::DType::Int32);
  t.graph[iota].axis = 1;
  const auto unary = value(t, Op::Unary, {x}, {6, 10}, isa::DType::BFloat16);
  t.graph[unary].fn = isa::ActFn::GeluApprxSigmoidDx;
  const auto binary = value(t, Op::Binary, {x, splat}, {6, 10}, isa::DType::UInt8);
  t.graph[binary].alu = isa::AluOp::GreaterEqual;
  const auto select = value(t, Op::Select, {binary, x, iota}, {6, 10}, isa::DType::Float16);
  const auto cast = value(t, Op::Cast, {select}, {6, 10}, isa::DType::UInt16);
  const auto matmul = value(t, Op::Matmul, {unary, b}, {10, 10});
  t.graph[matmul].transposeX = t.graph[matmul].transposeY = true;
  t.graph[matmul].order = {tile::Order::Kind::Chunks, 128, false};
  t.graph[matmul].hint.tile = {0, 10};
  t.graph[matmul].hint.buffers = 3;
  const auto reduce = value(t, Op::Reduce, {x}, {6, 1});
  t.graph[reduce].alu = isa::AluOp::Multiply;
  t.graph[reduce].axes = {1};
  t.graph[reduce].keepDims = true;
  t.graph[reduce].order = {tile::Order::Kind::LeftToRight, 0, true};
  const auto transpose = value(t, Op::Transpose, {x}, {10, 6});
  t.graph[transpose].axes = {1, 0};
  value(t, Op::Reshape, {cast}, {3, 2, 10}, isa::DType::UInt16);
  const auto slice = value(t, Op::Slice, {transpose}, {3, 6});
  t.graph[slice].starts = {2, 0};
  t.graph[slice].steps = {3, 1};
  const auto concat = value(t, Op::Concat, {reduce, reduce, x}, {6, 12});
  t.graph[concat].axis = 1;
  const auto pad = value(t, Op::Pad, {slice}, {6, 10});
  t.graph[pad].starts = {1, 4};
  t.graph[pad].ends = {2, 0};
  t.graph[pad].number = 1e-5;
  const auto broadcast = value(t, Op::Broadcast, {pad}, {2, 6, 10});
  const auto softmax = value(t, Op::Softmax, {broadcast}, {2, 6, 10}, isa::DType::BFloat16);
  t.graph[softmax].axis = 2;
  const auto row = value(t, Op::Splat, {}, {10});
  const auto rms = value(t, Op::RmsNorm, {x, row}, {6, 10});
  t.graph[rms].number = 1e-6;
  const auto layer = value(t, Op::LayerNorm, {rms, row, row}, {6, 10});
  t.graph[layer].number = 0x1p-20;
  border(t, Op::Materialize, {layer}, 3, {6, 10}, {1, 1}, 0);
  border(t, Op::Store, {layer}, 2, {6, 10}, {10, 1}, 0);
  return t;
}

TEST(TileGraph, EveryOperationComesBackAsItWas) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const trace::Trace trace = everyOperation();
  OwningOpRef<ModuleOp> module = traceToNisa(&context, trace);
  ASSERT_TRUE(succeeded(verify(*module)));

  const KernelGraph kernel = graphOf(kernelOf(*module));

  EXPECT_EQ(tile::print(kernel.graph), tile::print(trace.graph));
}

TEST(TileGraph, AKernelWithoutValuesHasAnEmptyGraph) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  trace::Trace trace = mixed();
  trace.graph.nodes.clear();
  OwningOpRef<ModuleOp> module = traceToNisa(&context, trace);

  const KernelGraph kernel = graphOf(kernelOf(*module));

  EXPECT_TRUE(kernel.graph.nodes.empty());
  EXPECT_EQ(kernel.graph.buffers.size(), 4u);
}

} // namespace
