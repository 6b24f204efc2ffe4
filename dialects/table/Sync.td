//===- Sync.td - instructions the compiler adds to order the streams --------------------------------===//

#ifndef KILN_TABLE_SYNC_TD
#define KILN_TABLE_SYNC_TD

include "Trn2.td"

def SemaphoreWaitInst : Inst<0x60, "semaphore_wait",
    [EngineSync, EngineTensor, EngineScalar, EngineVector, EngineGpsimd]> {
  let cppName = "SemaphoreWait";
  let summary = "Wait for a semaphore and do nothing else";
  let description = [{
    Carries only the wait of its record: an instruction that needs two waits is preceded by one of these.
  }];
  let example = "semaphore_wait";
  let isInternal = 1;
  let costs = [
    Cost<"sync", 0, 1, 81, 25, 0, "event semaphore, public trn2 profiles", "measured">,
    Cost<"tensor", 0, 1, 187, 125, 0, "event semaphore, public trn2 profiles", "measured">,
    Cost<"scalar", 0, 1, 62, 48, 0, "event semaphore, public trn2 profiles", "measured">,
    Cost<"vector", 0, 1, 99, 22, 0, "event semaphore, public trn2 profiles", "measured">,
    Cost<"gpsimd", 0, 1, 83, 23, 0, "event semaphore, public trn2 profiles", "measured">];
  let spec = "event semaphore";
}

/// The edges of a loop, in every stream of the program at the same place. All streams meet there: none
/// goes on before the others have arrived and every DMA ring is idle, and semaphores restart at 0.
class LoopEdge<int op, string m> : Inst<op, m, [EngineSync, EngineTensor, EngineScalar, EngineVector, EngineGpsimd]> {
  let example = m;
  let isInternal = 1;
  let costs = [
    Cost<"sync", 0, 1, 81, 25, 0, "as an event semaphore", "choice">,
    Cost<"tensor", 0, 1, 187, 125, 0, "as an event semaphore", "choice">,
    Cost<"scalar", 0, 1, 62, 48, 0, "as an event semaphore", "choice">,
    Cost<"vector", 0, 1, 99, 22, 0, "as an event semaphore", "choice">,
    Cost<"gpsimd", 0, 1, 83, 23, 0, "as an event semaphore", "choice">];
}

def LoopBeginInst : LoopEdge<0x61, "loop_begin"> {
  let cppName = "LoopBegin";
  let summary = "Start a counted loop";
  let description = [{
    What follows, up to the `loop_end` of the same depth, is the body.

    * `count`: it runs `trip_count` times. An access inside moves by its loop steps from one iteration to the next.
    * `range`: it runs with `reg` = first, first + `step`, ... as long as that is below last; perhaps never. The
      bounds, signed, are read once: from a register, or the number where there is none.
    * `while`: it runs as long as `reg` is not 0, asked before each iteration.
    * `once`: it runs once if `reg` is not 0, else not at all.

    Every engine has registers of its own and decides by them; all must come to the same.
  }];
  let fields = [
    FEnum<"kind", LoopKindEnum, "count", "what decides how often the body runs">,
    FU32<"trip_count", "1", "count: iterations, at least 1">,
    FI32<"first", "0", "range: value in the first iteration">,
    FOptRegister<"first_register", "range: holds it instead">,
    FI32<"last", "0", "range: the body runs below this value">,
    FOptRegister<"last_register", "range: holds it instead">,
    FU32<"step", "1", "range: added after each iteration, at least 1">,
    FOptRegister<"reg", "range: the number of the iteration; while, once: the condition">];
}

def LoopEndInst : LoopEdge<0x62, "loop_end"> {
  let cppName = "LoopEnd";
  let summary = "Go back to the start of the loop, or leave it";
  let description = [{
    The back edge of the innermost loop that is open, and its end once all iterations have run.
  }];
}

#endif // KILN_TABLE_SYNC_TD
