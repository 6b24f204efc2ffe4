//===- TileGraph.cpp - from tile ops to a graph -----------------------------------------------===//

#include "kiln/Conversion/TileGraph.h"

#include "kiln/Dialect/Tile/IR/TileNode.h"

using namespace mlir;

namespace kiln {
namespace {

class GraphReader {
public:
  KernelGraph run(nisa::KernelOp kernel) {
    for (Operation &op : kernel.getBody().front()) {
      if (auto alloc = dyn_cast<nisa::AllocOp>(op))
        addBuffer(alloc);
      else if (auto node = dyn_cast<tile::NodeOpInterface>(op))
        addNode(node);
      else
        op.walk([&](nisa::InstOpInterface) { ++instructions; });
    }
    return std::move(result);
  }

private:
  uint32_t number(Location loc) {
    if (llvm::isa<UnknownLoc>(loc))
      return tile::kNone;
    auto [it, isNew] = locations.try_emplace(loc, uint32_t(result.locations.size()));
    if (isNew)
      result.locations.push_back(loc);
    return it->second;
  }

  void addBuffer(nisa::AllocOp alloc) {
    buffers[alloc.getBuffer()] = uint32_t(result.allocs.size());
    result.allocs.push_back(alloc);
    result.graph.buffers.push_back(tile::toBuffer(alloc));
    result.graph.buffers.back().location = number(alloc.getLoc());
  }

  void addNode(tile::NodeOpInterface op) {
    tile::Node node = tile::toNode(op, [&](Value value) { return nodes.lookup(value); });
    node.location = number(op->getLoc());
    if (tile::HintAttr hint = op.getHintAttr(); hint && hint.getPlace())
      node.hint.location = number(hint.getPlace());
    if (Value buffer = tile::bufferOf(op)) {
      node.view.buffer = buffers.lookup(buffer);
      node.position = instructions;
    }
    const tile::NodeId id = result.graph.add(std::move(node));
    result.ops.push_back(op);
    for (Value value : op->getResults())
      nodes[value] = id;
  }

  KernelGraph result;
  DenseMap<Value, uint32_t> buffers;
  DenseMap<Value, tile::NodeId> nodes;
  DenseMap<Location, uint32_t> locations;
  uint32_t instructions = 0;
};

} // namespace

KernelGraph graphOf(nisa::KernelOp kernel) { return GraphReader().run(kernel); }

} // namespace kiln
