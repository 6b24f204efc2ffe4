//===- HandlersDebug.cpp - what a run shows to its caller -------------------------------------===//

#include "Core.h"
#include "kilnrt/Semantics/Copy.h"

using namespace kilnrt;

/// Numbers of the author's iterations; see the row in the table.
static std::vector<int64_t> iterationsOf(const Core &core, const isa::DevicePrintArgs &args) {
  std::vector<int64_t> numbers;
  size_t open = 0; // loops of the program
  for (size_t l = 0; l < args.loops; ++l) {
    numbers.push_back(args.base[l]);
    if (args.step[l] != 0 && open < core.iteration.size())
      numbers.back() += args.step[l] * core.iteration[open++];
  }
  return numbers;
}

Status kilnrt::execDevicePrint(Core &core, const Operation &op, const isa::DevicePrintArgs &args) {
  const ConstTile data = core.input(op, args.data);
  DevicePrint print;
  print.prefix = core.image.info.texts[args.text];
  print.tensor = core.image.info.tensors[op.places[args.data].tensor].name;
  print.place = core.image.info.chain(op.location);
  print.iterations = iterationsOf(core, args);
  print.value.dtype = data.dtype;
  print.value.shape = core.image.printShapes.at(op.order);
  print.value.data.resize(size_t(data.packedBytes()));
  copyTile(data, Tile(data.packed(), print.value.data.data()));
  if (core.options.onPrint)
    core.options.onPrint(print);
  else
    core.prints.push_back(std::move(print));
  return Status::ok();
}
