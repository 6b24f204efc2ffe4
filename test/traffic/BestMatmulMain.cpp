//===- BestMatmulMain.cpp - best-matmul: the least HBM traffic of a matmul as JSON ------------===//

#include "BestMatmul.h"
#include "kiln/ISA/Types.h"

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 5) {
    std::cerr << "usage: best-matmul M K N BYTES_OF_ELEMENT\n";
    return 2;
  }
  std::array<int64_t, 4> n{};
  for (int i = 0; i < 4; ++i)
    n[size_t(i)] = std::strtoll(argv[i + 1], nullptr, 10);
  const kiln::test::BestMatmul best = kiln::test::bestMatmul(
      {{n[0], n[1], n[2]}, n[3]}, {kiln::isa::machine.sbufUsableBytesPerPartition});
  std::cout << "{\"traffic\": " << best.traffic << ", \"tried\": " << best.triedBlockings
            << ", \"how\": \"" << toText(best) << "\"}\n";
  return 0;
}
