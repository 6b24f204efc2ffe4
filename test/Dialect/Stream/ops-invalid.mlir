// What must hold of a synchronised kernel before its waits can be judged.
//
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// Semaphore 255 is the last one (control).
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 0, update 255 += 1>} : !tile
      // expected-error @below {{there is no semaphore 256: a core has 256, counted from 0}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, update 256 += 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{there is no semaphore 300: a core has 256, counted from 0}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, wait 300 reaches 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{waiting for semaphore 3 by 0 does nothing}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, wait 3 reaches 0>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{raising semaphore 3 by 0 does nothing}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, update 3 += 0>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{one wait and one update at most}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, update 3 += 1, update 4 += 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{expected 'update' or 'wait'}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1, raise 3 += 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{the stream dialect has no attribute 'stream.synch'}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.synch = #stream.sync<order 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{'stream.sync' is a #stream.sync, not 7 : i64}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = 7} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'stream.sync' has a meaning in a stream.queue only}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 1>} : !tile
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  // expected-error @below {{'stream.sync' belongs to an instruction, not to 'nisa.alloc'}}
  %t = nisa.alloc "t" {stream.sync = #stream.sync<order 1>} : !tile
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    // expected-error @below {{a queue needs a real engine}}
    stream.queue unknown {
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    // expected-error @below {{no engine is called 'dve'}}
    stream.queue dve {
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{'memset' in a queue needs 'stream.sync'}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{'memset' runs on gpsimd but stands in the queue of vector}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{'memset' runs on unknown but stands in the queue of vector}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 {stream.sync = #stream.sync<order 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{a queue holds instructions, stream.loop and stream.wait, not 'builtin.module'}}
      builtin.module {
      }
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// A queue keeps the program's order: 4 then 5 (control), then 5 again.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 4>} : !tile
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 5>} : !tile
      // expected-error @below {{order 5 follows order 5 in the same queue; a queue keeps the program's order}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 5>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 4, update 0 += 1>} : !tile
      // expected-error @below {{order 3 follows order 4 in the same queue; a queue keeps the program's order}}
      stream.wait order 3, 0 reaches 1
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{there is no semaphore 256: a core has 256, counted from 0}}
      stream.wait order 3, 256 reaches 1
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{waiting for semaphore 0 by 0 does nothing}}
      stream.wait order 3, 0 reaches 0
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  // expected-error @below {{'stream.wait' op expects parent op to be one of 'stream.queue, stream.loop'}}
  stream.wait order 3, 0 reaches 1
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  // expected-error @below {{'stream.queue' op expects parent op 'stream.program'}}
  stream.queue vector {
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// expected-error @below {{'stream.program' op expects parent op 'nisa.kernel'}}
stream.program {
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    // expected-error @below {{a program holds queues, not 'builtin.module'}}
    builtin.module {
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
    }
    // expected-error @below {{the queue of vector follows the queue of vector; there is one an engine, in the order of engines}}
    stream.queue vector {
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue sync {
    }
    // expected-error @below {{the queue of tensor follows the queue of sync; there is one an engine, in the order of engines}}
    stream.queue tensor {
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      // expected-note @below {{first taken here}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 7>} : !tile
    }
    stream.queue vector {
      // expected-error @below {{order 7 is taken twice}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 7>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// One producer a semaphore: two instructions of one queue are one (control), another queue is a second.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      // expected-note @below {{first raised here}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 1, update 0 += 1>} : !tile
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 2, update 0 += 1>} : !tile
    }
    stream.queue vector {
      // expected-error @below {{semaphore 0 is raised by vector and by gpsimd; a semaphore has one producer}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 3, update 0 += 1>} : !tile
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// Two rings complete in any order, so they are two producers.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue sync {
      // expected-note @below {{first raised here}}
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] ring=2 engine=sync {stream.sync = #stream.sync<order 1, update 0 += 1>} : !tile, !hbm
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] ring=2 engine=sync {stream.sync = #stream.sync<order 2, update 0 += 1>} : !tile, !hbm
      // expected-error @below {{semaphore 0 is raised by sync DMA ring 3 and by sync DMA ring 2; a semaphore has one producer}}
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] ring=3 engine=sync {stream.sync = #stream.sync<order 3, update 0 += 1>} : !tile, !hbm
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// So are an engine and a ring it triggers.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      // expected-note @below {{first raised here}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 1, update 9 += 1>} : !tile
      // expected-error @below {{semaphore 9 is raised by gpsimd DMA ring 0 and by gpsimd; a semaphore has one producer}}
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] dge_mode=swdge engine=gpsimd {stream.sync = #stream.sync<order 2, update 9 += 1>} : !tile, !hbm
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// Two transfers raise a semaphore by 16 each: 32 is reached (control), 33 is not.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 2, wait 0 reaches 32>} : !tile
      // expected-error @below {{this wait never ends: semaphore 0 must reach 33, all updates add up to 32}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 3, wait 0 reaches 33>} : !tile
    }
    stream.queue sync {
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 0, update 0 += 1>} : !tile, !hbm
      nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%x[128 rows of 512, 0: 1x512] engine=sync {stream.sync = #stream.sync<order 1, update 0 += 1>} : !tile, !hbm
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
// An instruction raises it by what it says.
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 0, update 4 += 3>} : !tile
    }
    stream.queue vector {
      stream.wait order 1, 4 reaches 3
      // expected-error @below {{this wait never ends: semaphore 4 must reach 4, all updates add up to 3}}
      stream.wait order 2, 4 reaches 4
    }
  }
}

// -----

!hbm = !nisa.buf<hbm, 128x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %x = nisa.alloc "x" input 0 : !hbm
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue vector {
      // expected-error @below {{this wait never ends: semaphore 8 must reach 1, all updates add up to 0}}
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 2, wait 8 reaches 1>} : !tile
    }
  }
}

// -----

// An engine the enum does not have.
nisa.kernel @f {
  stream.program {
    // expected-error @below {{a queue needs a real engine}}
    "stream.queue"() <{engine = 77 : i32}> ({
    ^bb0:
    }) : () -> ()
  }
}

// -----

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

nisa.kernel @f {
  stream.program {
    stream.queue vector {
      // expected-error @below {{a loop of a stream runs 1 to 4294967295 times, not 4294967296}}
      stream.loop 4294967296 from 0 to 1 {
      }
    }
  }
}

// -----

nisa.kernel @f {
  stream.program {
    stream.queue vector {
      // expected-error @below {{a loop of a stream runs 1 to 4294967295 times, not 0}}
      stream.loop 0 from 0 to 1 {
      }
    }
  }
}

// -----

nisa.kernel @f {
  stream.program {
    stream.queue vector {
      stream.loop 2 from 0 to 9 {
        stream.loop 2 from 1 to 8 {
          stream.loop 2 from 2 to 7 {
            stream.loop 2 from 3 to 6 {
              // expected-error @below {{the loop stands inside 4 others, at most 4 stand inside one another}}
              stream.loop 2 from 4 to 5 {
              }
            }
          }
        }
      }
    }
  }
}

// -----

nisa.kernel @f {
  stream.program {
    stream.queue vector {
      // expected-error @below {{order 3 follows order 3 in the same queue; a queue keeps the program's order}}
      stream.loop 2 from 3 to 3 {
      }
    }
  }
}

// -----

nisa.kernel @f {
  stream.program {
    stream.queue gpsimd {
      stream.loop 2 from 0 to 2 {
      }
    }
    stream.queue vector {
      // expected-error @below {{the queues have different loops: one has a loop of 3 iterations where the first has a loop of 2 iterations}}
      stream.loop 3 from 1 to 3 {
      }
    }
  }
}

// -----

nisa.kernel @f {
  stream.program {
    stream.queue gpsimd {
      // expected-error @below {{the queues have different loops: one has nothing where the first has a loop of 2 iterations}}
      stream.loop 2 from 0 to 2 {
      }
    }
    stream.queue vector {
    }
  }
}

// -----

// A wait does not reach over the edge of a loop.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 0, update 3 += 1>} : !tile
      stream.loop 2 from 1 to 4 {
      }
    }
    stream.queue vector {
      stream.loop 2 from 2 to 5 {
        // expected-error @below {{this wait never ends: semaphore 3 must reach 1, all updates add up to 0}}
        stream.wait order 3, 3 reaches 1
      }
    }
  }
}

// -----

// A semaphore has one producer between two edges, and another one behind them.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  stream.program {
    stream.queue gpsimd {
      nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 0, update 3 += 1>} : !tile
      stream.loop 2 from 1 to 4 {
        // expected-note @below {{first raised here}}
        nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd {stream.sync = #stream.sync<order 3, update 4 += 1>} : !tile
      }
    }
    stream.queue vector {
      stream.loop 2 from 2 to 9 {
        nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 6, update 3 += 1>} : !tile
        // expected-error @below {{semaphore 4 is raised by vector and by gpsimd; a semaphore has one producer}}
        nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector {stream.sync = #stream.sync<order 7, update 4 += 1>} : !tile
      }
    }
  }
}
