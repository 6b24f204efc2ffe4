// The verifier hands every instruction to the table's rules: each kind of message arrives, with its rule's
// id, the buffer it blames and the way out. The rules themselves are tested in test/unit/ISA.
//
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

// An access of 33 to 64 partitions starts at 0 or 64.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @start_partition {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[64+36, 0: 1x512] value=0 : !tile
  // expected-error @below {{[P-06] dst 't' covers partitions 48 to 83; 33 to 64 partitions must start at 0 or 64}}
  // expected-note @below {{help: take partitions 64 to 99, or dma_copy the rows to a legal start first}}
  nisa.memset dst=%t[48+36, 0: 1x512] value=0 : !tile
}

// -----

// An address moves the partitions: row 16 of a tile placed at 64 is physical partition 80.
!tile = !nisa.buf<sbuf, 64x512xf32>
nisa.kernel @start_partition_of_a_placed_tile {
  // expected-note @below {{'low' is declared here}}
  %low = nisa.alloc "low" at (64, 0) : !tile
  nisa.memset dst=%low[32+32, 0: 1x512] value=0 : !tile
  // expected-error @below {{[P-06] dst 'low' covers physical partitions 80 to 112; 33 to 64 partitions must start at 0 or 64}}
  // expected-note @below {{help: take partitions 64 to 96, or dma_copy the rows to a legal start first}}
  nisa.memset dst=%low[16+33, 0: 1x512] value=0 : !tile
}

// -----

// The last element of a row is 511.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @bounds {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[0+128, 1: 1x511] value=0 : !tile
  // expected-error @below {{[V-11] dst 't' reaches element 512, a partition of the tile holds 512 float32 (0 to 511)}}
  // expected-note @below {{help: clip the access to the extent of the tensor}}
  nisa.memset dst=%t[0+128, 1: 1x512] value=0 : !tile
}

// -----

// A rule about two operands blames one and names both.
!half = !nisa.buf<sbuf, 128x512xbf16>
!acc = !nisa.buf<psum, 128x512xf32>
nisa.kernel @contraction {
  %acc = nisa.alloc "acc" : !acc
  // expected-note @below {{'a' is declared here}}
  %a = nisa.alloc "a" : !half
  nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+64, 0: 1x64] moving=%a[0+64, 0: 1x512] : !acc, !half, !half
  // expected-error @below {{[P-11] stationary 'a' spans 64 partitions but moving 'a' spans 128: both must have the contraction dim on partitions}}
  // expected-note @below {{help: pass the operand as [K, M], or transpose it}}
  nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+64, 0: 1x64] moving=%a[0+128, 0: 1x512] : !acc, !half, !half
}

// -----

!half = !nisa.buf<sbuf, 128x512xbf16>
!acc = !nisa.buf<psum, 128x512xf32>
nisa.kernel @memory {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  %a = nisa.alloc "a" : !half
  // expected-error @below {{[B-01] the Tensor Engine writes PSUM only, dst 't' is in SBUF}}
  // expected-note @below {{help: allocate 't' with nl::psum and copy it out afterwards}}
  nisa.nc_matmul dst=%t[0+64, 0: 1x512] stationary=%a[0+128, 0: 1x64] moving=%a[0+128, 0: 1x512] : !nisa.buf<sbuf, 128x512xf32>, !half, !half
}

// -----

// A rule about the whole instruction blames no operand.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @engine {
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=gpsimd : !tile
  // expected-error @below {{[B-07] memset runs on vector or gpsimd, not on scalar}}
  // expected-note @below {{help: leave the engine unset, or name one that has the instruction}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=scalar : !tile
}

// -----

// A field's value: 2 fits an int32 tile, 2.5 does not.
!int = !nisa.buf<sbuf, 128x512xi32>
nisa.kernel @field {
  // expected-note @below {{'i' is declared here}}
  %i = nisa.alloc "i" : !int
  nisa.memset dst=%i[0+128, 0: 1x512] value=2 : !int
  // expected-error @below {{[D-07] fill value 2.5 is no whole number, dst 'i' is int32}}
  // expected-note @below {{help: write 2}}
  nisa.memset dst=%i[0+128, 0: 1x512] value=2.5 : !int
}

// -----

// Every fault of one instruction is reported, each once.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @two_faults {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{[D-08] bitwise_and needs integer tiles, dst 't' is float32}}
  // expected-error @below {{[D-08] bitwise_and needs integer tiles, data 't' is float32}}
  // expected-note @below {{help: view the tile as an integer dtype of the same width to work on its bits}}
  nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] op0=bitwise_and imm0=1 : !tile, !tile
}
