//===- Registers.td - instructions on the registers of the sequencers -------------------------------===//
//
// Each engine has registers of its own. The nisa dialect numbers the kernel's registers and holds each of
// these instructions once; before scheduling the compiler gives every engine that needs a register its own
// copy of what computes it.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef KILN_TABLE_REGISTERS_TD
#define KILN_TABLE_REGISTERS_TD

include "Trn2.td"

defvar AnyEngine = [EngineSync, EngineTensor, EngineScalar, EngineVector, EngineGpsimd];
defvar IntegerDtypes = [Int32, UInt8, Int8, Int16, UInt16, UInt32];

class RegisterInst<int op, string m> : Inst<op, m, AnyEngine> {
  let isSequencer = 1;
  let spec = m;
  let costs = [
    Cost<"sync", 0, 1, 81, 25, 0, "as an event semaphore", "choice">,
    Cost<"tensor", 0, 1, 187, 125, 0, "as an event semaphore", "choice">,
    Cost<"scalar", 0, 1, 62, 48, 0, "as an event semaphore", "choice">,
    Cost<"vector", 0, 1, 99, 22, 0, "as an event semaphore", "choice">,
    Cost<"gpsimd", 0, 1, 83, 23, 0, "as an event semaphore", "choice">];
}

def RegisterMoveInst : RegisterInst<0x64, "register_move"> {
  let cppName = "RegisterMove";
  let summary = "Set a register to a number or to another register";
  let description = [{
    `dst` becomes the value of `src`, or `value` where there is no `src`. Registers hold 32 bits.
  }];
  let example = "nisa.register_move dst=r0 value=5";
  let fields = [FRegister<"dst", "the register that is set">,
                FOptRegister<"src", "the register that is copied">,
                FI32<"value", "0", "the number without a src">];
}

def RegisterLoadInst : RegisterInst<0x65, "register_load"> {
  let cppName = "RegisterLoad";
  let summary = "Read one element of a tensor into a register";
  let description = [{
    `dst` becomes the element; integers of fewer than 32 bits are extended with their sign, or with zeros if
    they have none.
  }];
  let example = "nisa.register_load src=%n[0+1, 0: 1x1] dst=r0";
  let operands = [In<"src", [Sbuf, Hbm], IntegerDtypes, "one element", 1, 1>];
  let fields = [FRegister<"dst", "the register that is set">];
  let rules = [Rule<"S-08", "oneElement", "a register holds one element">];
}

def RegisterStoreInst : RegisterInst<0x66, "register_store"> {
  let cppName = "RegisterStore";
  let summary = "Write a register into one element of a tensor";
  let description = [{
    The element becomes the lowest bits of `src`, as many as its dtype has.
  }];
  let example = "nisa.register_store dst=%n[0+1, 0: 1x1] src=r0";
  let operands = [Out<"dst", [Sbuf, Hbm], IntegerDtypes, "one element", 1, 1>];
  let fields = [FRegister<"src", "the register that is written">];
  let rules = [Rule<"S-08", "oneElement", "a register fills one element">];
}

def RegisterAluInst : RegisterInst<0x67, "register_alu"> {
  let cppName = "RegisterAlu";
  let summary = "Compute with registers";
  let description = [{
    `dst = src op operand`, where `operand` is the register `src1` or, without one, `value`. Integers of 32 bits:
    sums and products wrap, comparisons are signed and give 1 or 0, shifts fill with zeros and give 0 from 32 on.
  }];
  let example = "nisa.register_alu dst=r1 src=r0 op=add value=1";
  let fields = [
    FRegister<"dst", "the register that is set">,
    FRegister<"src", "the left argument">,
    FEnumOf<"op", AluOpEnum,
      [AluAdd, AluSubtract, AluMultiply, AluMaximum, AluMinimum, AluEqual, AluNotEqual, AluGreaterEqual,
       AluGreater, AluLessEqual, AluLess, AluBitwiseAnd, AluBitwiseOr, AluBitwiseXor, AluLeftShift,
       AluRightShift], "D-08", "", "what is computed">,
    FOptRegister<"src1", "the right argument">,
    FI32<"value", "0", "the right argument without a src1">];
}

#endif // KILN_TABLE_REGISTERS_TD
