//===- ViewAlgebra.h - the views of nl::Tensor as functions on strides ------------------------===//
//
// Each operation changes a view in place or adds a fault; after a fault the view has the shape the
// author meant, as far as it can be told. No trace, no places: the laws are tested on their own.
//
//===------------------------------------------------------------------------------------------===//

#ifndef KILN_LIB_DSL_VIEWALGEBRA_H
#define KILN_LIB_DSL_VIEWALGEBRA_H

#include "TraceState.h"

namespace kiln::trace {

/// The whole of a tensor. Precondition: a legal shape.
nl::detail::View wholeView(nl::Buffer buffer, nl::DType dtype, const nl::Shape &shape);
/// Whether the elements lie side by side, in row-major order; on chip inside each partition.
bool isContiguous(const nl::detail::View &view);

class ViewAlgebra {
public:
  using View = nl::detail::View;
  /// `name` gives the tensor's name for messages and is called only for a fault. `state` knows the
  /// loops that are open; null: there are none.
  ViewAlgebra(const View &view, std::function<std::string()> name,
              const TraceState *state = nullptr)
      : view(view), name(std::move(name)), state(state) {}

  void subscript(std::span<const nl::detail::Index> indices, unsigned count);
  void slice(int dim, const nl::Slice &range);
  void select(int dim, const nl::detail::Position &index);
  void select(int dim, const nl::detail::RunTimeIndex &index);
  void permute(const nl::Shape &order);
  void broadcast(int dim, int64_t size);
  void expandDim(int dim);
  void squeezeDim(int dim);
  void reshapeDim(int dim, nl::Shape shape);
  void flattenDims(int first, int last);
  void reshape(nl::Shape shape);
  void viewAs(nl::DType dtype);
  /// `storage` is the whole of the tensor `view` was taken of.
  void accessPattern(const View &storage, const nl::Pattern &pattern, const nl::ApOptions &options);

  View view;
  std::vector<Fault> faults;

private:
  std::function<std::string()> name;
  const TraceState *state;
  int subject = -1; ///< of the next fault

  bool onChip() const { return nl::is_on_chip(view.buffer); }
  void fault(std::string_view rule, std::string message, std::string help = {}) {
    faults.push_back({rule, std::move(message), std::move(help), subject, true});
  }
  /// Dim `dim` counted from the front; `end` is one past the last legal one.
  std::optional<unsigned> resolveDim(int dim, unsigned end);
  /// Like resolveDim, and not the partition dim.
  std::optional<unsigned> resolveFreeDim(int dim, unsigned end);
  void sliceDim(unsigned d, const nl::Slice &range);
  void checkRange(unsigned d, const nl::detail::Position &start, int64_t size);
  void selectElement(unsigned d, const nl::detail::Position &index, bool fromEnd);
  /// Lets the view start `start` further on in dim d, in each iteration of the loops that move it.
  void moveStart(unsigned d, const nl::detail::Position &start);
  /// Reports positions no loop can move there. False when something was reported.
  bool checkMoves(unsigned d, const nl::detail::Moves &moves);
  /// The smallest and the largest value of `position` in the loops that are open.
  struct Extremes {
    int64_t low, high;
    std::string atLow, atHigh; ///< "where i is 9", for messages; empty where nothing moves
  };
  Extremes extremesOf(const nl::detail::Position &position) const;
  /// Lets `index` say where the view lies: `step` elements an index, `extent` of them. `what` is
  /// the dim it chooses from. A tensor is not numbered here: its view.index becomes 1.
  void indexBy(const nl::detail::RunTimeIndex &index, int64_t step, int64_t extent,
               std::string_view what);
  void checkIndexTensor(const View &index, std::string_view what);
  /// Dim `d` at `index`; it stays, with extent 1.
  void selectElement(unsigned d, const nl::detail::RunTimeIndex &index);
  void indexStorage(const View &storage, const nl::ApOptions &options, int64_t from, int64_t to);
  void removeDim(unsigned d);
  void insertDim(unsigned d, int64_t extent, int64_t stride);
  bool fillOpenExtent(nl::Shape &shape, int64_t total);
  bool regroup(unsigned first, const nl::Shape &target);
  int64_t extentProduct(unsigned first) const;
};

} // namespace kiln::trace

#endif // KILN_LIB_DSL_VIEWALGEBRA_H
