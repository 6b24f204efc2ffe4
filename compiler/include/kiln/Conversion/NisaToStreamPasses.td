//===- NisaToStreamPasses.td - from one program order to streams -*- tablegen -*-===//

#ifndef KILN_CONVERSION_NISATOSTREAMPASSES_TD
#define KILN_CONVERSION_NISATOSTREAMPASSES_TD

include "mlir/Pass/PassBase.td"

def SynchronisePass : Pass<"kiln-synchronise", "::kiln::nisa::KernelOp"> {
  let summary = "Split a kernel into engine queues and order them with semaphores";
  let description = [{
    Moves every instruction into the `stream.queue` of its engine, in program order, chooses a ring for
    each DMA, and adds the waits and updates that real dependences need: bytes of one memory that two
    streams touch, at least one of them writing.

    Before: placed and scheduled. After: a `stream.program` holds all instructions; an independent checker
    has shown every dependence ordered, for every schedule, before the pass returns.

    ```mlir
    nisa.kernel @f placed scheduled {
      nisa.dma_copy dst=%t[...] src=%x[...] engine=sync : ...
      nisa.reciprocal dst=%t[...] data=%t[...] engine=vector : ...
    }
    // becomes
    nisa.kernel @f placed scheduled {
      stream.program {
        stream.queue vector {
          nisa.reciprocal ... {stream.sync = #stream.sync<order 1, wait 5 reaches 16>}
        }
        stream.queue sync {
          nisa.dma_copy ... {stream.sync = #stream.sync<order 0, update 5 += 1>}
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::kiln::stream::StreamDialect"];
}

#endif // KILN_CONVERSION_NISATOSTREAMPASSES_TD
