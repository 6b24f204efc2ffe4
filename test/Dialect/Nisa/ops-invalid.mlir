// What the parser, the types and the ops refuse. Rules of the instructions are in rules-invalid.mlir.
//
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// expected-error @below {{no memory is called 'dram'}}
nisa.kernel @f attributes {t = !nisa.buf<dram, 128x512xf32>} {
}

// -----

// expected-error @below {{no element type is called 'f64'}}
nisa.kernel @f attributes {t = !nisa.buf<sbuf, 128x512xf64>} {
}

// -----

// On chip there is a partition dim and at least one free dim; two dims are enough (control), so is one in HBM.
nisa.kernel @control {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 128x1xf32>
  %b = nisa.alloc "b" : !nisa.buf<hbm, 128xf32>
  %c = nisa.alloc "c" : !nisa.buf<sbuf, 2x2x2x2x2xf32>
}
// expected-error @below {{a buffer in sbuf has 2 to 5 dims, not 1}}
nisa.kernel @f attributes {t = !nisa.buf<sbuf, 128xf32>} {
}

// -----

// expected-error @below {{a buffer in hbm has 1 to 5 dims, not 6}}
nisa.kernel @f attributes {t = !nisa.buf<hbm, 1x2x3x4x5x6xf32>} {
}

// -----

// expected-error @below {{dim 1 has extent 0, which must be at least 1}}
nisa.kernel @f attributes {t = !nisa.buf<psum, 128x0xf32>} {
}

// -----

// expected-error @below {{a buffer has at most 2^63 - 1 elements}}
nisa.kernel @f attributes {t = !nisa.buf<hbm, 4294967296x4294967296xf32>} {
}

// -----

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// expected-error @below {{an access has at most 4 free dims}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+1, 0: 1x1 1x1 1x1 1x1 1x1]>} {
}

// -----

// expected-error @below {{an access touches at least 1 row}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+0, 0: 1x1]>} {
}

// -----

// expected-error @below {{free dim 1 has count 0, which must be at least 1}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+1, 0: 1x4 1x0]>} {
}

// -----

// expected-error @below {{the number -1 is not between 0 and 4294967295}}
nisa.kernel @f attributes {a = #nisa.access<f32, [-1+4, 0: 1x4]>} {
}

// -----

// expected-error @below {{the number 4294967296 is not between 0 and 4294967295}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+4294967296, 0: 1x4]>} {
}

// -----

// expected-error @below {{the number does not fit 64 bits}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+1, 9223372036854775808]>} {
}

// -----

// expected-error @below {{no element type is called 'bf17'}}
nisa.kernel @f attributes {a = #nisa.access<bf17, [0+1, 0]>} {
}

// -----

// expected-error @below {{expected a whole number}}
nisa.kernel @f attributes {a = #nisa.access<f32, [0+1, 0: 1x4 foo]>} {
}

// -----

//===----------------------------------------------------------------------===//
// Text of instructions
//===----------------------------------------------------------------------===//

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'memset' has no operand or field 'src'}}
  nisa.memset dst=%t[0+128, 0: 1x512] src=%t[0+128, 0: 1x512] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'dst' is given twice}}
  nisa.memset dst=%t[0+128, 0: 1x512] dst=%t[0+128, 0: 1x512] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'value' is given twice}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'engine' is given twice}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector engine=vector : !tile
}

// -----

nisa.kernel @f {
  // expected-error @below {{'memset' needs operand 'dst'}}
  nisa.memset value=0
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'memset' needs field 'value'}}
  nisa.memset dst=%t[0+128, 0: 1x512] : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'engine' has no value 'pe'}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=pe : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'op' has no value 'plus'}}
  nisa.tensor_tensor dst=%t[0+128, 0: 1x512] data1=%t[0+128, 0: 1x512] data2=%t[0+128, 0: 1x512] op=plus : !tile, !tile, !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{expected true or false}}
  nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] op0=add reverse0=yes : !tile, !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{whole numbers end at 2^53; write a number with a point}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=9007199254740992 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{these are not the bits of a NaN}}
  nisa.memset dst=%t[0+128, 0: 1x512] value=nan(0x7FF0000000000000) : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{the number is too large for float32}}
  nisa.activation dst=%t[0+128, 0: 1x512] data=%t[0+128, 0: 1x512] op=exp imm_bias=1.0e+39 : !tile, !tile
}

// -----

!int = !nisa.buf<sbuf, 128x512xi32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !int
  // The largest offset passes (control), the next number does not fit.
  nisa.iota dst=%t[0+128, 0: 1x512] pattern=[1x512] offset=2147483647 : !int
  // expected-error @below {{the number 2147483648 does not fit 32 bits}}
  nisa.iota dst=%t[0+128, 0: 1x512] pattern=[1x512] offset=2147483648 : !int
}

// -----

!int = !nisa.buf<sbuf, 128x512xi32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !int
  // expected-error @below {{a pattern has at most 4 pairs}}
  nisa.iota dst=%t[0+128, 0: 1x512] pattern=[1x1 1x1 1x1 1x1 1x512] : !int
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{no element type is called 'f33'}}
  nisa.memset dst=%t[0+128, 0: 1x512]:f33 value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{free dim 0 has count 0, which must be at least 1}}
  nisa.memset dst=%t[0+128, 0: 1x0] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{'tensor_scalar' has 3 buffers and 2 accesses; each buffer has one}}
  "nisa.tensor_scalar"(%t, %t, %t) <{data_access = #nisa.access<f32, [0+128, 0: 1x512]>, dst_access = #nisa.access<f32, [0+128, 0: 1x512]>, op0 = 3 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!tile, !tile, !tile) -> ()
}

// -----

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

nisa.kernel @f {
  // expected-error @below {{a buffer needs a name}}
  %t = nisa.alloc "" : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'t' is one of input, output and constant, not 2 of them}}
  %t = nisa.alloc "t" input 0 output 0 : !nisa.buf<hbm, 128x512xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'t' is a parameter or result of the kernel, which lies in hbm, not in sbuf}}
  %t = nisa.alloc "t" input 0 : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'t' is a constant of the kernel, which lies in hbm, not in psum}}
  %t = nisa.alloc "t" = dense<0.0> : tensor<2x2xf32> : !nisa.buf<psum, 2x2xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{'t' lies in hbm and has no address}}
  %t = nisa.alloc "t" at (0, 0) : !nisa.buf<hbm, 2x2xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{the address of 't' is a partition and a byte}}
  %t = "nisa.alloc"() <{partition = 0 : i32, tensorName = "t"}> : () -> !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{constant 't' holds '!nisa.buf<hbm, 2x2xui8>', its data is 'tensor<2x2xi8>'}}
  %t = nisa.alloc "t" = dense<0> : tensor<2x2xi8> : !nisa.buf<hbm, 2x2xui8>
}

// -----

nisa.kernel @f {
  // expected-error @below {{constant 't' holds '!nisa.buf<hbm, 4xf32>', its data is 'tensor<2x2xf32>'}}
  %t = nisa.alloc "t" = dense<0.0> : tensor<2x2xf32> : !nisa.buf<hbm, 4xf32>
}

// -----

nisa.kernel @f {
  // expected-error @below {{constant 't' needs its data as dense<...>}}
  %t = nisa.alloc "t" = sparse<[[0, 0]], 1.0> : tensor<2x2xf32> : !nisa.buf<hbm, 2x2xf32>
}

// -----

// 128 partitions pass (control), 129 do not.
nisa.kernel @f {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @below {{[P-01] tile 't' needs 129 partitions, the core has 128}}
  // expected-note @below {{help: split dim 0 into 2 tiles of at most 128}}
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 129x512xf32>
}

// -----

// A PSUM tile starts at a bank.
nisa.kernel @f {
  %a = nisa.alloc "a" at (0, 2048) : !nisa.buf<psum, 128x512xf32>
  // expected-error @below {{[M-06] free offset 1000 of tile 't' is inside bank 0, banks start at multiples of 2048}}
  // expected-note @below {{help: place it at 0}}
  %t = nisa.alloc "t" at (0, 1000) : !nisa.buf<psum, 128x128xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

nisa.kernel @f {
  // expected-note @below {{first used here}}
  %a = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  // expected-error @below {{[M-13] name 't' is already used}}
  %b = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
}

// -----

nisa.kernel @f {
  // expected-note @below {{first declared here}}
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4xf32>
  // expected-error @below {{input 0 is declared twice}}
  %b = nisa.alloc "b" input 0 : !nisa.buf<hbm, 4xf32>
}

// -----

// expected-error @below {{output 1 is missing: the 2 outputs are numbered from 0 without gaps}}
nisa.kernel @f {
  %a = nisa.alloc "a" output 0 : !nisa.buf<hbm, 4xf32>
  %b = nisa.alloc "b" output 2 : !nisa.buf<hbm, 4xf32>
}

// -----

nisa.kernel @f placed {
  %a = nisa.alloc "a" at (0, 0) : !nisa.buf<sbuf, 4x4xf32>
  %h = nisa.alloc "h" : !nisa.buf<hbm, 4xf32>
  // expected-error @below {{'b' has no address in a placed kernel}}
  %b = nisa.alloc "b" : !nisa.buf<sbuf, 4x4xf32>
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f scheduled {
  %t = nisa.alloc "t" : !tile
  nisa.memset dst=%t[0+128, 0: 1x512] value=0 engine=vector : !tile
  nisa.for 2 {
    // expected-error @below {{'memset' has no engine in a scheduled kernel}}
    nisa.memset dst=%t[0+128, 0: 1x512] value=0 : !tile
  }
}

// -----

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

nisa.kernel @f {
  nisa.for 1 {
  }
  // expected-error @below {{a loop runs at least once, not 0 times}}
  nisa.for 0 {
  }
}

// -----

nisa.kernel @f {
  // expected-note @below {{the loop is here}}
  nisa.for 2 {
    // expected-error @below {{a loop holds buffers, instructions and loops, not 'builtin.module'}}
    builtin.module {
    }
  }
}

// -----

nisa.kernel @f {
  nisa.for 2 {
    // expected-error @below {{'x' is a parameter or result of the kernel and belongs to no loop}}
    %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xf32>
  }
}

// -----

nisa.kernel @f {
  nisa.for 2 {
    // expected-error @below {{'c' is a constant of the kernel and belongs to no loop}}
    %c = nisa.alloc "c" = dense<1.0> : tensor<2x2xf32> : !nisa.buf<hbm, 2x2xf32>
  }
}

// -----

nisa.kernel @f {
  nisa.for 2 {
    // expected-error @below {{'t' stands in its loop and needs no number of one}}
    %t = nisa.alloc "t" loop 0 : !nisa.buf<sbuf, 128x512xf32>
  }
}

// -----

// Names are unique over the whole kernel.
nisa.kernel @f {
  nisa.for 2 {
    // expected-note @below {{first used here}}
    %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  }
  nisa.for 2 {
    // expected-error @below {{[M-13] name 't' is already used}}
    %t = nisa.alloc "t" : !nisa.buf<sbuf, 128x512xf32>
  }
}

// -----

nisa.kernel @f {
  nisa.for 2 {
    nisa.for 2 {
      nisa.for 2 {
        nisa.for 2 {
          // expected-error @below {{the loop stands inside 4 others, at most 4 stand inside one another}}
          nisa.for 2 {
          }
        }
      }
    }
  }
}

// -----

// A matmul result crosses a bank in the middle of its way, not at its ends.
!tile = !nisa.buf<sbuf, 32x256xbf16>
nisa.kernel @f {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 32x64xbf16>
  %b = nisa.alloc "b" : !tile
  // expected-note @below {{'acc' is declared here}}
  %acc = nisa.alloc "acc" : !nisa.buf<psum, 64x1024xf32>
  nisa.for 3 {
    // expected-error @below {{[S-03] dst 'acc' covers bytes 1536 to 2559 of each partition, which cross the PSUM bank boundary at 2048}}
    // expected-note @below {{help: start at a multiple of 512 elements, or split the columns at element 512}}
    nisa.nc_matmul dst=%acc[0+64, 0: 1x256 loop 384] stationary=%a[0+32, 0: 1x64] moving=%b[0+32, 0: 1x256]
      : !nisa.buf<psum, 64x1024xf32>, !nisa.buf<sbuf, 32x64xbf16>, !tile
  }
}

// -----

// expected-error @below {{'nisa.for' op expects parent op to be one of 'nisa.kernel, nisa.for'}}
nisa.for 2 {
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  // expected-error @below {{operand 'dst' has 1 loop coefficients, but there are 0 loops around it}}
  nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  nisa.for 2 {
    nisa.for 2 {
      // expected-error @below {{operand 'dst' has 1 loop coefficients, but there are 2 loops around it}}
      nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
    }
  }
}

// -----

// The last iteration ends at the last element (control); one step further does not fit.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !tile
  nisa.for 8 {
    nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
    // expected-error @below {{[V-11] dst 't' reaches element 512, a partition of the tile holds 512 float32 (0 to 511)}}
    // expected-note @below {{help: clip the access to the extent of the tensor}}
    nisa.memset dst=%t[0+128, 1: 1x64 loop 64] value=0 : !tile
  }
}

// -----

// The same downwards.
!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  // expected-note @below {{'t' is declared here}}
  %t = nisa.alloc "t" : !tile
  nisa.for 8 {
    nisa.memset dst=%t[0+128, 448: 1x64 loop -64] value=0 : !tile
    // expected-error @below {{[V-11] dst 't' reaches element -1, a partition of the tile starts at element 0}}
    // expected-note @below {{help: clip the access to the extent of the tensor}}
    nisa.memset dst=%t[0+128, 447: 1x64 loop -64] value=0 : !tile
  }
}

// -----

!tile = !nisa.buf<sbuf, 128x512xf32>
nisa.kernel @f {
  %t = nisa.alloc "t" : !tile
  nisa.for 9223372036854775807 {
    // expected-error @below {{the loops move operand 'dst' by more than 2^63 - 1 elements}}
    nisa.memset dst=%t[0+128, 0: 1x64 loop 64] value=0 : !tile
  }
}
