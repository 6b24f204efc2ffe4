//===- StreamOps.td - program, queue, loop, wait -----------------------------------------*- tablegen -*-===//
//
// Instructions stay nisa ops; these ops only say where they stand. Decisions:
// dialects/docs/StreamRationale.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_DIALECT_STREAM_IR_STREAMOPS_TD
#define KILN_DIALECT_STREAM_IR_STREAMOPS_TD

include "kiln/Dialect/Nisa/IR/NisaBase.td"
include "kiln/Dialect/Nisa/IR/NisaInterfaces.td"
include "kiln/Dialect/Stream/IR/StreamBase.td"
include "mlir/IR/RegionKindInterface.td"

/// No op of the dialect declares memory effects: unknown ones keep clean-up passes away, also from a
/// program without instructions.
class Stream_Op<string mnemonic, list<Trait> traits = []> : Op<Stream_Dialect, mnemonic, traits>;

def Stream_ProgramOp : Stream_Op<"program",
    [HasParent<"::kiln::nisa::KernelOp">, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Hold the queues of a synchronised kernel";
  let description = [{
    At most one `stream.queue` an engine, in the order of the engine enum. They run concurrently; only
    semaphores order instructions of different queues, and only a wait orders a DMA's completion.

    All queues have the same loops at the same places. Their edges cut the queues into epochs: at an edge
    all engines meet, nothing is in flight, and semaphores restart at 0. In each epoch a semaphore has one
    producer: the instructions of one queue, or the DMAs of one ring of one queue; and a wait never asks for
    more than all updates of its semaphore add up to. Every position in the program order is taken by one
    instruction or edge, and each queue keeps that order.

    ```mlir
    nisa.kernel @f {
      %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xf32>
      %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x512xf32>
      %t = nisa.alloc "t" at (0, 0) : !nisa.buf<sbuf, 128x512xf32>
      stream.program {
        stream.queue vector {
          nisa.reciprocal dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] engine=vector
            {stream.sync = #stream.sync<order 1, wait 1 reaches 16, update 0 += 1>}
            : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<sbuf, 128x512xf32>
        }
        stream.queue sync {
          nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] engine=sync
            {stream.sync = #stream.sync<order 0, update 1 += 1>}
            : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<hbm, 128x512xf32>
          nisa.dma_copy dst=%y[128 rows of 512, 0: 1x512] src=%t[0+128, 0: 1x512] engine=sync
            {stream.sync = #stream.sync<order 2, wait 0 reaches 1, update 1 += 1>}
            : !nisa.buf<hbm, 128x512xf32>, !nisa.buf<sbuf, 128x512xf32>
        }
      }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins)>];
}

def Stream_QueueOp : Stream_Op<"queue",
    [HasParent<"::kiln::stream::ProgramOp">, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Hold the instructions of one engine, in the order it runs them";
  let description = [{
    nisa instructions whose engine is the queue's, each with `stream.sync`, `stream.wait` ops, and
    `stream.loop` ops that hold more of them.

    ```mlir
    nisa.kernel @g {
      %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
      stream.program {
        stream.queue vector {
          nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 0>}
            : !nisa.buf<sbuf, 128x512xf32>
        }
      }
    }
    ```
  }];
  let arguments = (ins Nisa_EnumField<"Engine", "the engine that runs the queue">:$engine);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Engine>($engine) attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::kiln::isa::Engine":$engine)>];
}

def Stream_LoopOp : Stream_Op<"loop",
    [ParentOneOf<["::kiln::stream::QueueOp", "::kiln::stream::LoopOp"]>, SingleBlock, NoTerminator,
     NoRegionArguments, DeclareOpInterfaceMethods<Nisa_LoopOpInterface>]> {
  let summary = "Hold what one engine does in each iteration of a loop";
  let description = [{
    One engine's part of a loop that runs `tripCount` times; the other queues have theirs at the same place.
    `first` and `last` are the positions of its beginning and its end in the program order. Instructions
    inside move with it as with `nisa.for`, whose `control` it has where registers decide how often it runs.

    Encoded as the table's internal instructions `loop_begin` and `loop_end`.

    ```mlir
    nisa.kernel @l {
      %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
      stream.program {
        stream.queue vector {
          stream.loop 8 from 0 to 2 {
            nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 engine=vector
              {stream.sync = #stream.sync<order 1>} : !nisa.buf<sbuf, 128x512xf32>
          }
        }
      }
    }
    ```
  }];
  let arguments = (ins I64Attr:$tripCount, Nisa_WordField<"uint32_t", "position of the beginning">:$first,
                       Nisa_WordField<"uint32_t", "position of the end">:$last,
                       OptionalAttr<DenseI64ArrayAttr>:$control);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $tripCount `from` custom<Word>($first) `to` custom<Word>($last) attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "int64_t":$tripCount, "uint32_t":$first, "uint32_t":$last)>];
}

def Stream_WaitOp : Stream_Op<"wait",
    [ParentOneOf<["::kiln::stream::QueueOp", "::kiln::stream::LoopOp"]>]> {
  let summary = "Wait for a semaphore and do nothing else";
  let description = [{
    Holds the queue until semaphore `semaphore` has reached `value`. An instruction that needs two waits
    carries one itself and is preceded by one of these; `order` is a position of its own.

    Encoded as the table's internal instruction `semaphore_wait`.

    ```mlir
    nisa.kernel @h {
      %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
      stream.program {
        stream.queue gpsimd {
          nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd
            {stream.sync = #stream.sync<order 0, update 7 += 1>} : !nisa.buf<sbuf, 128x512xf32>
        }
        stream.queue vector {
          stream.wait order 1, 7 reaches 1
        }
      }
    }
    ```
  }];
  let arguments = (ins Nisa_WordField<"uint32_t", "position in the program">:$order,
                       Nisa_WordField<"uint32_t", "semaphore waited for">:$semaphore,
                       Nisa_WordField<"uint32_t", "least value it must have">:$value);
  let assemblyFormat = [{
    `order` custom<Word>($order) `,` custom<Word>($semaphore) `reaches` custom<Word>($value) attr-dict
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "uint32_t":$order, "uint32_t":$semaphore, "uint32_t":$value)>];
}

#endif // KILN_DIALECT_STREAM_IR_STREAMOPS_TD
