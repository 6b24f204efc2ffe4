// RUN: not kiln-opt %s -split-input-file -kiln-place 2>&1 | FileCheck %s

// 212,984 bytes of a partition are usable: a tensor of all of them fits (control), two of half and a bit do not.
nisa.kernel @exactly_full {
  %0 = nisa.alloc "all" : !nisa.buf<sbuf, 4x53246xf32>
  nisa.memset dst=%0[0+4, 0: 1x53246] value=0 engine=vector : !nisa.buf<sbuf, 4x53246xf32>
}

// -----

// CHECK-NOT: error
// CHECK: error: [M-01] the operands of one tensor_copy take 212992 of 212984 SBUF bytes per partition, so no order of instructions fits: 'b' (line [[#]], 106496 bytes), 'a' (line [[#]], 106496 bytes)
// CHECK: note: 'a' holds 106496 bytes per partition, live from line [[#]] to line [[#]]
// CHECK: note: 'b' holds 106496 bytes per partition, live from line [[#]] to line [[#]]
// CHECK: note: help: cut the free dims into tiles: 2 tiles fit with at most 106492 bytes each, which is 26623 elements of float32
// CHECK-NOT: error
nisa.kernel @one_too_many {
  %0 = nisa.alloc "a" : !nisa.buf<sbuf, 4x26624xf32>
  %1 = nisa.alloc "b" : !nisa.buf<sbuf, 4x26624xf32>
  nisa.memset dst=%0[0+4, 0: 1x26624] value=0 engine=vector : !nisa.buf<sbuf, 4x26624xf32>
  nisa.tensor_copy dst=%1[0+4, 0: 1x26624] src=%0[0+4, 0: 1x26624] engine=vector : !nisa.buf<sbuf, 4x26624xf32>, !nisa.buf<sbuf, 4x26624xf32>
}
