//===- NisaInterfaces.td - what all instruction ops answer -------------------------------*- tablegen -*-===//
//
// Generic code (conversion, printer, passes) sees instructions through this interface only; NisaInst.h
// builds the useful functions on top of it.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_NISA_IR_NISAINTERFACES_TD
#define KILN_DIALECT_NISA_IR_NISAINTERFACES_TD

include "mlir/IR/Interfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nisa_InstOpInterface : OpInterface<"InstOpInterface"> {
  let cppNamespace = "::kiln::nisa";
  let description = [{An op that is one row of the instruction table.}];
  let methods = [
    StaticInterfaceMethod<"The row's opcode.", "::kiln::isa::Opcode", "getOpcode">,
    InterfaceMethod<[{
      Writes the op's attributes to `out`: accesses in operand order (null where the operand is absent),
      fields in table order, the engine. `out` has room for all of them.
    }], "void", "copyAttrs", (ins "::mlir::Attribute *":$out)>,
  ];
}

def Nisa_LoopOpInterface : OpInterface<"LoopOpInterface"> {
  let cppNamespace = "::kiln::nisa";
  let description = [{An op whose body runs a fixed number of times: the loops that move accesses.}];
  let methods = [
    InterfaceMethod<"Iterations, at least 1.", "int64_t", "getIterations">,
  ];
}

#endif // KILN_DIALECT_NISA_IR_NISAINTERFACES_TD
