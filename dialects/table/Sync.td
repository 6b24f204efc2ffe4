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

#endif // KILN_TABLE_SYNC_TD
