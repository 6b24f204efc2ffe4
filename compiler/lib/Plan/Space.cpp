//===- Space.cpp - the iteration space of a group ---------------------------------------------===//

#include "Space.h"

#include "Groups.h"

#include <algorithm>

namespace kiln::plan {

using tile::Node;
using tile::Op;
using tile::Shape;

namespace {

/// Dims along which the elements of a node differ.
uint32_t ownDims(const Node &node, const Shape &extents) {
  if (node.op == Op::Splat)
    return 0;
  const uint32_t dims = dimsOf(node.shape, extents);
  const size_t skip = extents.size() - node.shape.size();
  if (node.op == Op::Iota)
    return dims & (1u << (skip + size_t(node.axis)));
  if (node.op != Op::Load)
    return dims;
  uint32_t moving = 0;
  for (size_t i = 0; i < node.shape.size(); ++i)
    if (node.view.stride[i] != 0)
      moving |= 1u << (skip + i);
  return dims & moving;
}

/// Drops bit `d` of `dims`.
uint32_t without(uint32_t dims, size_t d) {
  const uint32_t low = dims & ((1u << d) - 1);
  return low | (dims >> (d + 1) << d);
}

} // namespace

Space makeSpace(const tile::Graph &graph, Group &group) {
  size_t rank = 1;
  for (NodeId id : group.nodes)
    rank = std::max(rank, graph[id].shape.size());
  Shape &extents = group.extents;
  extents.assign(rank, 1);
  for (NodeId id : group.nodes) {
    const Shape &shape = graph[id].shape;
    if (graph[id].op == Op::Load && group.skeleton == Skeleton::Contraction)
      continue; // operands of matmuls have spaces of their own
    for (size_t i = 0; i < shape.size(); ++i)
      extents[rank - shape.size() + i] = std::max(extents[rank - shape.size() + i], shape[i]);
  }
  Space space;
  space.rank = rank;
  for (unsigned d = 0; d < rank; ++d)
    space.kept.push_back(d);
  group.footprints.clear();
  for (NodeId id : group.nodes) {
    const Node &node = graph[id];
    const bool fits = node.shape.size() <= rank;
    space.dims.push_back(fits ? ownDims(node, extents) : 0);
    uint32_t reduced = 0;
    const size_t skip = rank - node.shape.size();
    if (node.op == Op::Reduce)
      for (int64_t axis : node.axes)
        if (graph[node.operands[0]].shape[size_t(axis)] != 1)
          reduced |= 1u << (skip + size_t(axis));
    space.reduced.push_back(reduced);
    if (node.op == Op::Load || node.op == Op::Store) {
      Footprint footprint{id, std::vector<int64_t>(rank, 0)};
      for (size_t i = 0; i < node.shape.size(); ++i)
        if (node.shape[i] != 1)
          footprint.stride[skip + i] =
              i == 0 && graph.buffers[node.view.buffer].memory != isa::Memory::Hbm
                  ? kPartitionStep
                  : node.view.stride[i];
      group.footprints.push_back(std::move(footprint));
    }
  }
  const auto drop = [&](size_t d) {
    extents.erase(extents.begin() + long(d));
    space.kept.erase(space.kept.begin() + long(d));
    for (uint32_t &dims : space.dims)
      dims = without(dims, d);
    for (uint32_t &dims : space.reduced)
      dims = without(dims, d);
    for (Footprint &footprint : group.footprints)
      footprint.stride.erase(footprint.stride.begin() + long(d));
  };
  // A contraction's dims are those of its matmuls: batches, M, N.
  if (group.skeleton == Skeleton::Contraction)
    return space;
  for (size_t d = extents.size(); d-- > 0;)
    if (extents[d] == 1 && extents.size() > 1)
      drop(d);
  for (NodeId id : group.nodes)
    if (graph[id].hint.partitionDim || !graph[id].hint.tile.empty())
      return space;
  // Merge dim d+1 into d.
  for (size_t d = extents.size(); d-- > 1;) {
    const size_t a = d - 1;
    bool together = true;
    for (size_t i = 0; i < space.dims.size() && together; ++i)
      together = (space.dims[i] >> a & 1) == (space.dims[i] >> d & 1) &&
                 (space.reduced[i] >> a & 1) == (space.reduced[i] >> d & 1);
    for (const Footprint &footprint : group.footprints)
      together &= footprint.stride[a] != kPartitionStep && footprint.stride[d] != kPartitionStep;
    for (const Footprint &footprint : group.footprints)
      together &= together && footprint.stride[a] == footprint.stride[d] * extents[d];
    for (NodeId id : group.nodes)
      together &= graph[id].op != Op::Iota;
    if (!together)
      continue;
    extents[a] *= extents[d];
    for (Footprint &footprint : group.footprints)
      footprint.stride[a] = footprint.stride[d];
    // The merged dim keeps place a; dim d goes.
    drop(d);
  }
  return space;
}

} // namespace kiln::plan
