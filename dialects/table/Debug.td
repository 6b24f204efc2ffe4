//===- Debug.td - what shows a kernel's author what it computes ------------------------------------===//

#ifndef KILN_TABLE_DEBUG_TD
#define KILN_TABLE_DEBUG_TD

include "Trn2.td"

def DevicePrintInst : Inst<0x80, "device_print", [EngineSync]> {
  let cppName = "DevicePrint";
  let summary = "Show a tensor to the author";
  let description = [{
    Reads `data`, in any memory, and hands the elements to whoever runs the program, with the text of number
    `text` in front. It writes nothing, so the other bits of a program are the same with it and without.

    It has a place in the order of its stream like any other read: what it shows is what an instruction
    would read there, and an unwritten element stops the run. All of them stand in the Sync Engine's stream,
    which is one order, so they come out in program order under every schedule.

    `loops` counts the loops the author wrote around it. The number of the iteration of loop l is `base[l]`;
    where `step[l]` is not 0, the loop is the next of those that are left in the program, and `step[l]` times
    its iteration is added. What the compiler writes out of a loop keeps the author's numbers that way.
  }];
  let example = "nisa.device_print data=%x[0+128, 0: 1x512] text=0";
  let operands = [In<"data", [Sbuf, Psum, Hbm], StoredDtypes, "the tensor or view, dim by dim">];
  let fields = [
    FU32<"text", "", "which of the program's texts stands in front">,
    FBool<"flat", "data has one dim: its single row is no dim of its own">,
    FU32<"loops", "0", "loops around it, as the author wrote them">,
    Field<"base", "u32", 4, "0", "of each loop, outermost first: the number of the first iteration">,
    Field<"step", "u32", 4, "0", "of each loop: added with each iteration of the loop that is left of it">];
  let rules = [
    Rule<"S-07", "printedElements", "it shows at most 2^26 elements">,
    Rule<"X-06", "printedLoops", "one dim is one row, and loops beyond the last have no numbers">];
  let costs = [Cost<"sync", 0, 1, 81, 25, 0, "as an event semaphore: the chip has no such instruction", "choice">];
  let spec = "device_print";
  let isObserver = 1;
}

#endif // KILN_TABLE_DEBUG_TD
