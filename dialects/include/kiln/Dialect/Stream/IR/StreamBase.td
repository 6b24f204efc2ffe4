//===- StreamBase.td - the stream dialect and its attribute ---------------------------*- tablegen -*-===//

#ifndef KILN_DIALECT_STREAM_IR_STREAMBASE_TD
#define KILN_DIALECT_STREAM_IR_STREAMBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Stream_Dialect : Dialect {
  let name = "stream";
  let cppNamespace = "::kiln::stream";
  let summary = "Engine queues and semaphores";
  let description = [{
    The form of a synchronised kernel: the nisa instructions, one queue an engine, each with the semaphore
    it waits for and the one it raises. The encoder walks it without deciding anything.
  }];
  let dependentDialects = ["::kiln::nisa::NisaDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def Stream_SyncAttr : AttrDef<Stream_Dialect, "Sync"> {
  let mnemonic = "sync";
  let summary = "Place in the program and synchronisation of one instruction";
  let description = [{
    `order` is the instruction's position in the program order of the whole kernel. The instruction starts
    when semaphore `waitSemaphore` has reached `waitValue`, and adds `updateValue` to `updateSemaphore` at
    its completion; a DMA adds it once for each of its engines. Semaphores start at 0 and only
    grow, until the edge of a loop resets them. -1 stands for no semaphore.

    It is the discardable attribute `stream.sync` of every instruction in a `stream.queue`.

    Example: `#stream.sync<order 12, wait 3 reaches 17, update 0 += 1>`
  }];
  let parameters = (ins
    AttrOrTypeParameter<"uint32_t", "position in the program">:$order,
    AttrOrTypeParameter<"int32_t", "semaphore waited for, or -1">:$waitSemaphore,
    AttrOrTypeParameter<"uint32_t", "least value it must have">:$waitValue,
    AttrOrTypeParameter<"int32_t", "semaphore raised, or -1">:$updateSemaphore,
    AttrOrTypeParameter<"uint32_t", "what is added">:$updateValue
  );
  let builders = [AttrBuilder<(ins "uint32_t":$order), [{
    return $_get($_ctxt, order, /*waitSemaphore=*/-1, 0u, /*updateSemaphore=*/-1, 0u);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasWait() const { return getWaitSemaphore() >= 0; }
    bool hasUpdate() const { return getUpdateSemaphore() >= 0; }
    SyncAttr withWait(int32_t semaphore, uint32_t value) const {
      return get(getContext(), getOrder(), semaphore, value, getUpdateSemaphore(), getUpdateValue());
    }
    SyncAttr withUpdate(int32_t semaphore, uint32_t value) const {
      return get(getContext(), getOrder(), getWaitSemaphore(), getWaitValue(), semaphore, value);
    }
  }];
}

#endif // KILN_DIALECT_STREAM_IR_STREAMBASE_TD
