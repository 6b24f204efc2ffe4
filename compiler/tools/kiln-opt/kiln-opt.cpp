//===- kiln-opt.cpp - run passes on textual IR ------------------------------------------------===//

#include "kiln/InitAllDialects.h"
#include "kiln/InitAllPasses.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerAllDialects(registry);
  kiln::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Kiln's pass driver\n", registry));
}
