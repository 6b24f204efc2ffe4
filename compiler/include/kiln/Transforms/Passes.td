//===- Passes.td - passes on nisa kernels ----------------------*- tablegen -*-===//
//
// In the order the pipeline runs them. Each is a thin wrapper: the decisions are
// made in kiln/Analysis on plain data, and a checker closes each phase.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_TRANSFORMS_PASSES_TD
#define KILN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResolveEnginesPass : Pass<"kiln-resolve-engines", "::kiln::nisa::KernelOp"> {
  let summary = "Give every instruction without an engine the first legal one";
  let description = [{
    The rules of the instruction decide, with its buffers: a PSUM operand excludes GpSimd, an all-integer
    tensor_tensor prefers it. An engine the author named stays.

    Before: instructions verify. After: no instruction has the engine `unknown`.

    ```mlir
    nisa.tensor_copy dst=%o[0+128, 0: 1x512] src=%acc[0+128, 0: 1x512] : ...
    // becomes
    nisa.tensor_copy dst=%o[0+128, 0: 1x512] src=%acc[0+128, 0: 1x512] engine=vector : ...
    ```
  }];
}

def RegistersPass : Pass<"kiln-registers", "::kiln::nisa::KernelOp"> {
  let summary = "Give every engine its own copy of the registers it needs";
  let description = [{
    A register of the kernel is a variable; engines have registers of their own, and all of them decide each
    loop. Every engine that needs a register gets a copy of the instructions that compute it, under one number
    for all; a store to memory is done by one engine. More registers live at once than an engine has are
    refused (C-14).

    Before: engines are resolved, but for instructions on registers. After: every instruction has an engine.

    ```mlir
    nisa.register_load src=%n[0+1, 0: 1x1] dst=r7 : ...
    // becomes, in a kernel whose loop bound is r7,
    nisa.register_load src=%n[0+1, 0: 1x1] dst=r0 engine=vector : ...
    nisa.register_load src=%n[0+1, 0: 1x1] dst=r0 engine=sync : ...
    ```
  }];
}

def LegalizeTransposePass : Pass<"kiln-legalize-transpose", "::kiln::nisa::KernelOp"> {
  let summary = "Turn Tensor Engine transposes into transposing matmuls";
  let description = [{
    The array transposes by multiplying with an identity in a mode that moves bits. One identity for each
    dtype is a constant of the kernel, loaded to SBUF once, at the start; it appears in reports under the
    name "identity_<dtype>".

    Before: engines are resolved. After: no `nisa.nc_transpose` runs on the Tensor Engine.

    ```mlir
    nisa.nc_transpose dst=%t[0+64, 0: 1x128] data=%a[0+128, 0: 1x64] engine=tensor : ...
    // becomes
    nisa.nc_matmul dst=%t[0+64, 0: 1x128] stationary=%a[0+128, 0: 1x64] moving=%id[0+128, 0: 1x128]
      is_transpose=true engine=tensor : ...
    ```
  }];
}

def PlacePass : Pass<"kiln-place", "::kiln::nisa::KernelOp"> {
  let summary = "Give every SBUF and PSUM buffer an address";
  let description = [{
    Writes `at (partition, byte)` on every on-chip allocation and marks the kernel `placed`. Addresses of
    the author stay. A kernel that does not fit is refused with the memory report (M-01, M-02, S-04).

    Before: no values, engines resolved. After: buffers that are live together share no byte, which an
    independent check confirms before the pass returns.

    ```mlir
    %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
    // becomes
    %t = nisa.alloc "t" at (0, 0) : !nisa.buf<sbuf, 128x512xf32>
    ```
  }];
  let options = [
    Option<"compact", "compact", "bool", "false", "minimise the peak instead of rotating addresses">,
    Option<"allowManualOverlap", "allow-manual-overlap", "bool", "false",
           "only warn when buffers placed by hand overlap while live (M-04)">,
    Option<"allowShallowRotation", "allow-shallow-rotation", "bool", "false",
           "only warn when an address by hand is used again too soon (M-05)">
  ];
}

def SchedulePass : Pass<"kiln-schedule", "::kiln::nisa::KernelOp"> {
  let summary = "Fix the order of instructions";
  let description = [{
    Keeps the author's order on every engine and marks the kernel `scheduled`.

    Before: placed. After: the order of ops is the program order of the streams.
  }];
}

#endif // KILN_TRANSFORMS_PASSES_TD
