//===- Running.td - rules about files, plug-ins and programs ----------------------------------===//

#ifndef KILN_TABLE_RULES_RUNNING_TD
#define KILN_TABLE_RULES_RUNNING_TD

include "Base.td"

def : RuleText<"X-01", "Every wait is reached",
  "streams that wait for each other never move",
  "see the wait-for graph in the message"> {
  let form = "asm";
  let wrong = [{
    .kernel "deadlock"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      wait s1>=16 memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] update s1+=16 #1
  }];
  let right = [{
    .kernel "no_deadlock"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] update s1+=16 #1
  }];
}

def : RuleText<"X-02", "A run ends",
  "the step limit stops endless programs",
  "raise --max-steps if the program is right"> {
  let form = "run";
  let arguments = "rand:128x64:float32";
  let flags = "--max-steps 1";
  let wrong = [{
    Tensor kernel(Tensor x) { // run with --max-steps 1
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) { // run without a limit of one's own
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"X-03", "A kernel file compiles and loads",
  "a kernel is a shared object built from C++",
  "see the host compiler's message"> {
  let form = "alone";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(z)); // there is no z
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"X-04", "A kernel name is in the file",
  "NL_KERNEL registers the names",
  "use a name of `kiln list FILE`"> {
  let form = "unregistered";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) { // no NL_KERNEL(kernel)
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"X-05", "A file is what its name says",
  "inputs are NumPy .npy files and program files",
  "see the message"> {
  let form = "run";
  let arguments = "rand:128x64:float32";
  let wrongArguments = "missing.npy";
  let wrong = [{
    Tensor kernel(Tensor x) { // called with a file that is not there
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) { // called with an array
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, nl::load(x));
      return y;
    }
  }];
}

def : RuleText<"X-06", "An instruction record is well formed",
  "operands, fields and the DMA ring are numbers of the table; only hand-written IR, assembler text or a damaged file has others",
  "use the values in the message"> {
  let form = "asm";
  let wrong = [{
    .kernel "ring_9"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] ring=9 update s1+=16 #1
  }];
  let right = [{
    .kernel "ring_7"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] ring=7 update s1+=16 #1
  }];
}

def : RuleText<"X-07", "A kernel's own C++ runs to its end",
  "a kernel is native code that records instructions; a crash, an exception or exit() leaves nothing to compile",
  "run the kernel's code under a debugger; nl::require stops a kernel with a message"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      std::vector<Tensor> tiles;
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, tiles.at(0)); // an empty vector throws
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      std::vector<Tensor> tiles = {nl::load(x)};
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      nl::store(y, tiles.at(0));
      return y;
    }
  }];
}

def : RuleText<"X-08", "Accesses to the same bytes are ordered",
  "engines and DMA rings run side by side; without a wait either access may come first, and the result depends on it",
  "wait for the semaphore the earlier instruction updates"> {
  let form = "asm";
  let wrong = [{
    .kernel "race"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] update s1+=16 #1
  }];
  let right = [{
    .kernel "no_race"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 t sbuf 1x4xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x4] value=1.0 update s0+=1 #0
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=t[0+1, 0: 1x4] update s1+=16 #1
  }];
}

def : RuleText<"X-09", "A tensor is done with before another takes its place",
  "a tensor that takes the bytes of another ends it as a whole, also the bytes it never writes itself",
  "wait for the last use of the old tensor before the first use of the new one"> {
  let form = "asm";
  let wrong = [{
    .kernel "early"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 a sbuf 1x4xf32 at 0,0
    .tensor %2 b sbuf 1x8xf32 at 0,0
    .stream vector
      memset dst=a[0+1, 0: 1x4] value=1.0 update s0+=1 #0
      memset dst=b[0+1, 4: 1x4] value=2.0 #2
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=a[0+1, 0: 1x4] update s1+=16 #1
  }];
  let right = [{
    .kernel "in_turn"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x4xf32 output 0
    .tensor %1 a sbuf 1x4xf32 at 0,0
    .tensor %2 b sbuf 1x8xf32 at 0,0
    .stream vector
      memset dst=a[0+1, 0: 1x4] value=1.0 update s0+=1 #0
      wait s1>=16 memset dst=b[0+1, 4: 1x4] value=2.0 #2
    .stream sync
      wait s0>=1 dma_copy dst=y[1 rows of 4, 0: 1x4] src=a[0+1, 0: 1x4] update s1+=16 #1
  }];
}

def : RuleText<"V-17", "An index known at run time stays in its tensor",
  "the address is computed from the register while the program runs; beyond the tensor lies another one",
  "keep the index in range, or let a transfer skip what is not (oob_mode::skip)"> {
  let form = "asm";
  let wrong = [{
    .kernel "beyond"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 4x8xf32 output 0
    .tensor %1 t sbuf 1x8xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x8] value=1.0 update s0+=1 #0
    .stream sync
      register_move dst=r0 value=4 #1
      wait s0>=1 dma_copy dst=y[1 rows of 8, 0: 1x8 by r0*8 below 4] src=t[0+1, 0: 1x8] update s1+=16 #2
  }];
  let right = [{
    .kernel "inside"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x8xf32 output 0
    .tensor %1 t sbuf 1x8xf32 at 0,0
    .stream vector
      memset dst=t[0+1, 0: 1x8] value=1.0 update s0+=1 #0
    .stream sync
      register_move dst=r0 value=0 #1
      wait s0>=1 dma_copy dst=y[1 rows of 8, 0: 1x8 by r0*8 below 1] src=t[0+1, 0: 1x8] update s1+=16 #2
  }];
}

def : RuleText<"X-11", "All streams run a loop equally often",
  "each engine has registers of its own and decides by them; at the edges of loops all of them meet",
  "compute the registers of the loop on every engine, from the same values"> {
  let form = "asm";
  let wrong = [{
    .kernel "disagree"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x8xf32 output 0
    .tensor %1 t sbuf 1x8xf32 at 0,0
    .stream vector
      register_move dst=r0 value=1 #0
      loop_begin kind=once reg=r0 #1
      memset dst=t[0+1, 0: 1x8] value=1.0 update s0+=1 #2
      loop_end #5
    .stream sync
      loop_begin kind=once reg=r0 #3
      wait s0>=1 dma_copy dst=y[1 rows of 8, 0: 1x8] src=t[0+1, 0: 1x8] update s1+=16 #4
      loop_end #6
  }];
  let right = [{
    .kernel "agree"
    .target "trn2"
    .flags placed scheduled synchronised
    .tensor %0 y hbm 1x8xf32 output 0
    .tensor %1 t sbuf 1x8xf32 at 0,0
    .stream vector
      register_move dst=r0 value=1 #0
      loop_begin kind=once reg=r0 #2
      memset dst=t[0+1, 0: 1x8] value=1.0 update s0+=1 #4
      loop_end #6
    .stream sync
      register_move dst=r0 value=1 #1
      loop_begin kind=once reg=r0 #3
      wait s0>=1 dma_copy dst=y[1 rows of 8, 0: 1x8] src=t[0+1, 0: 1x8] update s1+=16 #5
      loop_end #7
  }];
}

#endif // KILN_TABLE_RULES_RUNNING_TD
