// Every op, with its optional parts on and off, survives printing and parsing, in the pretty form and in
// the generic one.
//
// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt %s -mlir-print-op-generic | kiln-opt | FileCheck %s

!hbm = !nisa.buf<hbm, 256x512xf32>
!tile = !nisa.buf<sbuf, 128x512xf32>
!half = !nisa.buf<sbuf, 128x512xbf16>
!acc = !nisa.buf<psum, 128x512xf32>
!int = !nisa.buf<sbuf, 128x512xi32>
!byte = !nisa.buf<sbuf, 128x512xui8>
!col = !nisa.buf<sbuf, 128x1xf32>

// CHECK-LABEL: nisa.kernel @empty {
// CHECK-NEXT: }
nisa.kernel @empty {
}

// CHECK-LABEL: nisa.kernel @placed_and_scheduled placed scheduled attributes {note = "x"} {
nisa.kernel @placed_and_scheduled placed scheduled attributes {note = "x"} {
}

// CHECK-LABEL: nisa.kernel @alloc
nisa.kernel @alloc {
  // CHECK-NEXT: %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 7xf16>
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 7xf16>
  // CHECK-NEXT: %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 2x3x4x5x6xui8>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 2x3x4x5x6xui8>
  // CHECK-NEXT: %spill = nisa.alloc "spill" : !nisa.buf<hbm, 1xi32>
  %spill = nisa.alloc "spill" : !nisa.buf<hbm, 1xi32>
  // CHECK-NEXT: %t = nisa.alloc "t" at(64, 4) : !nisa.buf<sbuf, 33x2x3xbf16>
  %t = nisa.alloc "t" at (64, 4) : !nisa.buf<sbuf, 33x2x3xbf16>
  // CHECK-NEXT: %acc = nisa.alloc "acc" at(0, 14336) {note} : !nisa.buf<psum, 1x512xf32>
  %acc = nisa.alloc "acc" at (0, 14336) {note} : !nisa.buf<psum, 1x512xf32>
  // CHECK-NEXT: %id = nisa.alloc "id" = dense<{{\[\[}}1.0{{.*}}, -0.0{{.*}}], [0x7FC0, 1.0{{.*}}]]> : tensor<2x2xbf16> : !nisa.buf<hbm, 2x2xbf16>
  %id = nisa.alloc "id" = dense<[[1.0, -0.0], [0x7FC0, 1.0]]> : tensor<2x2xbf16> : !nisa.buf<hbm, 2x2xbf16>
  // CHECK-NEXT: %zeros = nisa.alloc "zeros" = dense<0> : tensor<128x4xui8> : !nisa.buf<hbm, 128x4xui8>
  %zeros = nisa.alloc "zeros" = dense<0> : tensor<128x4xui8> : !nisa.buf<hbm, 128x4xui8>
}

// CHECK-LABEL: nisa.kernel @accesses
nisa.kernel @accesses {
  %h = nisa.alloc "h" : !hbm
  %t = nisa.alloc "t" : !tile
  %b = nisa.alloc "b" : !half
  // One element of HBM, a run of it, rows, rows that overlap.
  // CHECK: nisa.dma_copy dst=%t[127+1, 511: 1x1] src=%h[131071] : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<hbm, 256x512xf32>
  nisa.dma_copy dst=%t[127+1, 511: 1x1] src=%h[131071] : !tile, !hbm
  // CHECK: nisa.dma_copy dst=%t[0+1, 0: 1x512] src=%h[1024: 1x512] :
  nisa.dma_copy dst=%t[0+1, 0: 1x512] src=%h[1 rows of 0, 1024: 1x512] : !tile, !hbm
  // CHECK: nisa.dma_copy dst=%t[3+100, 0: 1x2 16x4] src=%h[100 rows of -512, 65536: 256x2 -1x4] :
  nisa.dma_copy dst=%t[3+100, 0: 1x2 16x4] src=%h[100 rows of -512, 65536: 256x2 -1x4] : !tile, !hbm
  // CHECK: nisa.dma_copy dst=%t[0+128, 0: 128x2 64x2 2x32 1x2] src=%h[128 rows of 0, 0: 128x2 64x2 2x32 1x2] :
  nisa.dma_copy dst=%t[0+128, 0: 128x2 64x2 2x32 1x2] src=%h[128 rows of 0, 0: 128x2 64x2 2x32 1x2] : !tile, !hbm
  // A step of 0 next to the 'x' is not a hexadecimal number.
  // CHECK: nisa.tensor_copy dst=%t[0+128, 0: 2x8 1x2] src=%t[0+128, 16: 0x8 1x2] :
  nisa.tensor_copy dst=%t[0+128, 0: 2x8 1x2] src=%t[0+128, 16: 0x8 1x2] : !tile, !tile
  // Other element types than the buffer's count in their own elements.
  // CHECK: nisa.tensor_copy dst=%t[0+128, 0: 1x1024]:bf16 src=%b[0+128, 0: 0x2 1x512] :
  nisa.tensor_copy dst=%t[0+128, 0: 1x1024]:bf16 src=%b[0+128, 0: 0x2 1x512] : !tile, !half
  // CHECK: nisa.tensor_copy dst=%t[0+128, 0: 1x256] src=%b[0+128, 0: 1x256]:f32 :
  nisa.tensor_copy dst=%t[0+128, 0: 1x256] src=%b[0+128, 0: 1x256]:f32 : !tile, !half
  // The default type, by its other name, is left out again.
  // CHECK: nisa.tensor_copy dst=%t[0+128, 0: 1x256] src=%t[0+128, 0: 1x256] :
  nisa.tensor_copy dst=%t[0+128, 0: 1x256]:float32 src=%t[0+128, 0: 1x256]:f32 : !tile, !tile
}

// CHECK-LABEL: nisa.kernel @nc_matmul
nisa.kernel @nc_matmul {
  %acc = nisa.alloc "acc" : !acc
  %a = nisa.alloc "a" : !half
  %b = nisa.alloc "b" : !half
  %f = nisa.alloc "f" : !tile
  %tr = nisa.alloc "tr" : !nisa.buf<psum, 128x64xbf16>
  // CHECK: nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+100, 0: 1x64] moving=%b[0+100, 0: 1x512] : !nisa.buf<psum, 128x512xf32>, !nisa.buf<sbuf, 128x512xbf16>, !nisa.buf<sbuf, 128x512xbf16>
  nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+100, 0: 1x64] moving=%b[0+100, 0: 1x512] : !acc, !half, !half
  // CHECK: nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+100, 0: 1x64] moving=%b[0+100, 0: 1x512] accumulate=add engine=tensor {k = 1 : i64} :
  nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%a[0+100, 0: 1x64] moving=%b[0+100, 0: 1x512] accumulate=add engine=tensor {k = 1} : !acc, !half, !half
  // CHECK: nisa.nc_matmul dst=%tr[0+128, 0: 1x64] stationary=%a[0+64, 0: 1x128] moving=%b[0+64, 0: 1x64] is_transpose=true accumulate=overwrite :
  nisa.nc_matmul accumulate=overwrite is_transpose=true moving=%b[0+64, 0: 1x64] dst=%tr[0+128, 0: 1x64] stationary=%a[0+64, 0: 1x128] : !nisa.buf<psum, 128x64xbf16>, !half, !half
  // CHECK: nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%f[0+128, 0: 1x64] moving=%f[0+128, 0: 1x512] is_stationary_onezero=true is_moving_onezero=true :
  nisa.nc_matmul dst=%acc[0+64, 0: 1x512] stationary=%f[0+128, 0: 1x64] moving=%f[0+128, 0: 1x512] is_stationary_onezero=true is_moving_onezero=true is_transpose=false accumulate=automatic engine=unknown : !acc, !tile, !tile
}

// CHECK-LABEL: nisa.kernel @nc_transpose
nisa.kernel @nc_transpose {
  %a = nisa.alloc "a" : !half
  %t = nisa.alloc "t" : !nisa.buf<psum, 64x128xbf16>
  // CHECK: nisa.nc_transpose dst=%t[0+64, 0: 1x128] data=%a[0+128, 0: 1x64] :
  nisa.nc_transpose dst=%t[0+64, 0: 1x128] data=%a[0+128, 0: 1x64] : !nisa.buf<psum, 64x128xbf16>, !half
  // CHECK: nisa.nc_transpose dst=%a[32+31, 0: 1x7] data=%a[0+7, 64: 1x31] engine=vector :
  nisa.nc_transpose dst=%a[32+31, 0: 1x7] data=%a[0+7, 64: 1x31] engine=vector : !half, !half
}

// CHECK-LABEL: nisa.kernel @activation
nisa.kernel @activation {
  %x = nisa.alloc "x" : !tile
  %y = nisa.alloc "y" : !half
  %c = nisa.alloc "c" : !col
  // CHECK: nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] op=exp : !nisa.buf<sbuf, 128x512xbf16>, !nisa.buf<sbuf, 128x512xf32>
  nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] op=exp : !half, !tile
  // CHECK: nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] bias=%c[0+128, 0: 1x1] scale=%c[0+128, 0: 1x1] reduce_res=%c[0+128, 0: 1x1] op=gelu_apprx_tanh reduce_op=add reduce_cmd=reset_reduce engine=scalar :
  nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] bias=%c[0+128, 0: 1x1] scale=%c[0+128, 0: 1x1] reduce_res=%c[0+128, 0: 1x1] op=gelu_apprx_tanh imm_bias=0 imm_scale=1 reduce_op=add reduce_cmd=reset_reduce engine=scalar : !half, !tile, !col, !col, !col
  // CHECK: nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] scale=%c[0+128, 0: 1x1] op=copy imm_bias=0.1 reduce_cmd=reset : !nisa.buf<sbuf, 128x512xbf16>, !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<sbuf, 128x1xf32>
  nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] scale=%c[0+128, 0: 1x1] op=copy imm_bias=0.1 reduce_cmd=reset : !half, !tile, !col
  // CHECK: nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] reduce_res=%c[0+128, 0: 1x1] op=sin imm_bias=-0 imm_scale=-3.4028235e+38 :
  nisa.activation dst=%y[0+128, 0: 1x512] data=%x[0+128, 0: 1x512] reduce_res=%c[0+128, 0: 1x1] op=sin imm_bias=-0 imm_scale=-3.4028235e+38 : !half, !tile, !col
}

// Immediates keep their bits: signs of zero, infinities, NaNs, denormals, whole numbers, short and long
// decimals. An f32 field prints the shortest float32, an f64 field the shortest double.
// CHECK-LABEL: nisa.kernel @memset
nisa.kernel @memset {
  %t = nisa.alloc "t" : !tile
  %i = nisa.alloc "i" : !int
  // CHECK-NEXT: %t = {{.*}}
  // CHECK-NEXT: %i = {{.*}}
  // CHECK-NEXT: nisa.memset dst=%i[0+128, 0: 1x512] value=-2147483648 engine=gpsimd : !nisa.buf<sbuf, 128x512xi32>
  nisa.memset dst=%i[0+128, 0: 1x512] value=-2147483648 engine=gpsimd : !int
  // CHECK-NEXT: value=0 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=0.0 : !tile
  // CHECK-NEXT: value=-0 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=-0.0 : !tile
  // CHECK-NEXT: value=inf :
  nisa.memset dst=%t[0+128, 0: 1x512] value=inf : !tile
  // CHECK-NEXT: value=-inf :
  nisa.memset dst=%t[0+128, 0: 1x512] value=-inf : !tile
  // CHECK-NEXT: value=nan :
  nisa.memset dst=%t[0+128, 0: 1x512] value=nan : !tile
  // CHECK-NEXT: value=nan(0xFFF8000000000000) :
  nisa.memset dst=%t[0+128, 0: 1x512] value=-nan : !tile
  // CHECK-NEXT: value=nan(0x7FF0000000000001) :
  nisa.memset dst=%t[0+128, 0: 1x512] value=nan(0x7ff0000000000001) : !tile
  // CHECK-NEXT: value=5.0e-324 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=4.9406564584124654e-324 : !tile
  // CHECK-NEXT: value=0.1 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=0.1 : !tile
  // CHECK-NEXT: value=0.30000000000000004 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=0.30000000000000004 : !tile
  // CHECK-NEXT: value=9007199254740991 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=9007199254740991 : !tile
  // CHECK-NEXT: value=1.0e+300 :
  nisa.memset dst=%t[0+128, 0: 1x512] value=1.0e+300 : !tile
  // CHECK-NEXT: value=-1.5e-07 engine=vector :
  nisa.memset dst=%t[0+128, 0: 1x512] engine=vector value=-1.5e-7 : !tile
}

// CHECK-LABEL: nisa.kernel @vector
nisa.kernel @vector {
  %t = nisa.alloc "t" : !tile
  %u = nisa.alloc "u" : !tile
  %i = nisa.alloc "i" : !int
  %c = nisa.alloc "c" : !col
  %ic = nisa.alloc "ic" : !nisa.buf<sbuf, 128x1xi32>
  %acc = nisa.alloc "acc" : !acc
  // CHECK: nisa.tensor_copy dst=%t[0+128, 0: 1x512] src=%acc[0+128, 0: 1x512] engine=scalar : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<psum, 128x512xf32>
  nisa.tensor_copy dst=%t[0+128, 0: 1x512] src=%acc[0+128, 0: 1x512] engine=scalar : !tile, !acc
  // CHECK: nisa.tensor_tensor dst=%t[0+128, 0: 1x512] data1=%u[0+128, 0: 1x512] data2=%acc[0+128, 0: 1x512] op=subtract :
  nisa.tensor_tensor dst=%t[0+128, 0: 1x512] data1=%u[0+128, 0: 1x512] data2=%acc[0+128, 0: 1x512] op=subtract : !tile, !tile, !acc
  // CHECK: nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] op0=multiply imm0=2 :
  nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] op0=multiply imm0=2 : !tile, !tile
  // CHECK: nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] operand1=%c[0+128, 0: 1x1] op0=subtract imm0=0.5 reverse0=true op1=maximum reverse1=true engine=vector : !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<sbuf, 128x512xf32>, !nisa.buf<sbuf, 128x1xf32>
  nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] operand1=%c[0+128, 0: 1x1] op0=subtract imm0=0.5 reverse0=true op1=maximum reverse1=true engine=vector : !tile, !tile, !col
  // CHECK: nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] operand0=%c[0+128, 0: 1x1] operand1=%c[0+128, 0: 1x1] op0=add op1=multiply :
  nisa.tensor_scalar dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] operand0=%c[0+128, 0: 1x1] operand1=%c[0+128, 0: 1x1] op0=add op1=multiply : !tile, !tile, !col, !col
  // CHECK: nisa.tensor_scalar dst=%i[0+128, 0: 1x512] data=%i[0+128, 0: 1x512] operand0=%ic[0+128, 0: 1x1] op0=bitwise_and :
  nisa.tensor_scalar dst=%i[0+128, 0: 1x512] data=%i[0+128, 0: 1x512] operand0=%ic[0+128, 0: 1x1] op0=bitwise_and : !int, !int, !nisa.buf<sbuf, 128x1xi32>
  // CHECK: nisa.tensor_reduce dst=%c[0+128, 0: 1x1] data=%t[0+128, 0: 1x512] op=add reduced_dims=1 :
  nisa.tensor_reduce dst=%c[0+128, 0: 1x1] data=%t[0+128, 0: 1x512] op=add reduced_dims=1 : !col, !tile
  // CHECK: nisa.tensor_reduce dst=%u[0+128, 0: 1x8] data=%t[0+128, 0: 64x8 8x8 1x8] op=maximum reduced_dims=2 negate=true engine=vector :
  nisa.tensor_reduce dst=%u[0+128, 0: 1x8] data=%t[0+128, 0: 64x8 8x8 1x8] op=maximum reduced_dims=2 negate=true engine=vector : !tile, !tile
  // CHECK: nisa.reciprocal dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] :
  nisa.reciprocal dst=%t[0+128, 0: 1x512] data=%u[0+128, 0: 1x512] : !tile, !tile
}

// CHECK-LABEL: nisa.kernel @iota
nisa.kernel @iota {
  %i = nisa.alloc "i" : !int
  // CHECK: nisa.iota dst=%i[0+128, 0: 1x512] pattern=[1x512] :
  nisa.iota dst=%i[0+128, 0: 1x512] pattern=[1x512] : !int
  // CHECK: nisa.iota dst=%i[0+128, 0: 1x512] pattern=[-7x2 0x4 100x8 1x8] offset=-5 channel_multiplier=512 engine=gpsimd :
  nisa.iota dst=%i[0+128, 0: 1x512] pattern=[-7x2 0x4 100x8 1x8] offset=-5 channel_multiplier=512 engine=gpsimd : !int
  // Trailing [0, 1] pairs are unused dims; one pair always stays.
  // CHECK: nisa.iota dst=%i[0+128, 5: 1x1] pattern=[0x1] :
  nisa.iota dst=%i[0+128, 5: 1x1] pattern=[0x1 0x1 0x1 0x1] : !int
}

// CHECK-LABEL: nisa.kernel @dma_copy
nisa.kernel @dma_copy {
  %h = nisa.alloc "h" : !hbm
  %t = nisa.alloc "t" : !tile
  // CHECK: nisa.dma_copy dst=%h[128 rows of 512, 65536: 1x512] src=%t[0+128, 0: 1x512] dge_mode=hwdge oob_mode=skip ring=7 engine=scalar :
  nisa.dma_copy dst=%h[128 rows of 512, 65536: 1x512] src=%t[0+128, 0: 1x512] dge_mode=hwdge oob_mode=skip ring=7 engine=scalar : !hbm, !tile
}

// CHECK-LABEL: nisa.kernel @loops
nisa.kernel @loops {
  %h = nisa.alloc "h" : !hbm
  %t = nisa.alloc "t" : !tile
  // CHECK: nisa.for 2 {
  nisa.for 2 {
    // CHECK-NEXT: nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%h[128 rows of 512, 0: 1x512 loop 65536] :
    nisa.dma_copy dst=%t[0+128, 0: 1x512] src=%h[128 rows of 512, 0: 1x512 loop 65536] : !tile, !hbm
    // CHECK-NEXT: nisa.for 4 attributes {hint} {
    nisa.for 4 attributes {hint} {
      // CHECK-NEXT: nisa.memset dst=%t[0+128, 480: 1x32 loop -32 -64] value=0 :
      nisa.memset dst=%t[0+128, 480: 1x32 loop -32 -64] value=0 : !tile
      // A single element moves too.
      // CHECK-NEXT: nisa.dma_copy dst=%t[0+1, 0: 1x1 loop 0 1] src=%h[7 loop 1 512]:i32 :
      nisa.dma_copy dst=%t[0+1, 0: 1x1 loop 0 1] src=%h[7 loop 1 512]:i32 : !tile, !hbm
    }
  }
  // CHECK: nisa.for 1 {
  // CHECK-NEXT: }
  nisa.for 1 {
  }
  // Buffers of a loop, and one that once stood in the second loop.
  // CHECK: nisa.for 3 {
  // CHECK-NEXT: %inner = nisa.alloc "inner" at(0, 64) : !nisa.buf<sbuf, 128x512xf32>
  // CHECK-NEXT: nisa.memset dst=%inner[0+128, 0: 1x512] value=0 :
  // CHECK-NEXT: }
  nisa.for 3 {
    %inner = nisa.alloc "inner" at (0, 64) : !tile
    nisa.memset dst=%inner[0+128, 0: 1x512] value=0 : !tile
  }
  // CHECK: nisa.alloc "hoisted" at(0, 128) loop 1 : !nisa.buf<sbuf, 128x512xf32>
  %hoisted = nisa.alloc "hoisted" at (0, 128) loop 1 : !tile
}
