// What follows a matmul reads its sum where it lies, in PSUM; only a result that nothing works on is copied out.
//
// RUN: kiln-opt %s -tile-simplify -kiln-plan | FileCheck %s

!hb = !nisa.buf<hbm, 128x128xbf16>
!b = tensor<128x128xbf16>
!hf = !nisa.buf<hbm, 128x128xf32>
!f = tensor<128x128xf32>
!one = tensor<1xf32>

// The copy out of PSUM is the rounding to bf16; operands that lie as the array wants them are not transposed.
// CHECK-LABEL: nisa.kernel @result
// CHECK:         nisa.dma_copy
// CHECK-NEXT:    nisa.dma_copy
// CHECK-NEXT:    nisa.nc_matmul dst=%[[P:[a-z0-9]+]][0+128, 0: 1x128] {{.*}} accumulate=overwrite : !nisa.buf<psum, 128x128xf32>, {{.*}}xbf16>, {{.*}}xbf16>
// CHECK-NEXT:    nisa.tensor_copy {{.*}} src=%[[P]][{{.*}} : !nisa.buf<sbuf, 128x128xbf16>, !nisa.buf<psum, 128x128xf32>
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @result {
  %x = nisa.alloc "x" input 0 : !hb
  %w = nisa.alloc "w" input 1 : !hb
  %y = nisa.alloc "y" output 0 : !hb
  %0 = tile.load %x : !hb -> !b
  %1 = tile.load %w : !hb -> !b
  %2 = tile.transpose %0 [1, 0] : !b -> !b
  %3 = tile.matmul %2, %1 : !b, !b -> !f
  tile.store %3, %y : !f, !hb
}

// relu(x . w + b) with a column b.
// CHECK-LABEL: nisa.kernel @activation
// CHECK:         nisa.nc_matmul dst=%[[P:[a-z0-9]+]][0+128, 0: 1x128]
// CHECK-NEXT:    nisa.dma_copy dst=%[[B:[a-z0-9]+]][0+128, 0: 1x1] src=%b[
// CHECK-NEXT:    nisa.activation {{.*}} data=%[[P]][{{.*}} bias=%[[B]][0+128, 0: 1x1] op=relu : !nisa.buf<sbuf, 128x128xbf16>, !nisa.buf<psum, 128x128xf32>
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @activation {
  %x = nisa.alloc "x" input 0 : !hb
  %w = nisa.alloc "w" input 1 : !hb
  %b = nisa.alloc "b" input 2 : !nisa.buf<hbm, 128x1xf32>
  %y = nisa.alloc "y" output 0 : !hb
  %0 = tile.load %x : !hb -> !b
  %1 = tile.load %w : !hb -> !b
  %2 = tile.load %b : !nisa.buf<hbm, 128x1xf32> -> tensor<128x1xf32>
  %3 = tile.matmul %0, %1 transpose_x : !b, !b -> !f
  %4 = tile.binary add %3, %2 : !f, tensor<128x1xf32> -> !f
  %5 = tile.unary relu %4 : !f -> !f
  tile.store %5, %y : !f, !hb
}

// x . w / 8 + r.
// CHECK-LABEL: nisa.kernel @scaled_residual
// CHECK:         nisa.nc_matmul dst=%[[P:[a-z0-9]+]][0+128, 0: 1x128]
// CHECK-NEXT:    nisa.dma_copy dst=%[[R:[a-z0-9]+]][0+128, 0: 1x128] src=%r[
// CHECK-NEXT:    nisa.scalar_tensor_tensor {{.*}} data=%[[P]][{{.*}} operand1=%[[R]][{{.*}} op0=multiply imm0=0.125 op1=add :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @scaled_residual {
  %x = nisa.alloc "x" input 0 : !hb
  %w = nisa.alloc "w" input 1 : !hb
  %r = nisa.alloc "r" input 2 : !hf
  %y = nisa.alloc "y" output 0 : !hf
  %0 = tile.load %x : !hb -> !b
  %1 = tile.load %w : !hb -> !b
  %2 = tile.load %r : !hf -> !f
  %3 = tile.matmul %0, %1 transpose_x : !b, !b -> !f
  %4 = tile.splat 0.125 : !one
  %5 = tile.binary multiply %3, %4 : !f, !one -> !f
  %6 = tile.binary add %5, %2 : !f, !f -> !f
  tile.store %6, %y : !f, !hf
}

// silu(x . u) * (x . v): the operand they share is loaded once, both sums are read in place.
// CHECK-LABEL: nisa.kernel @gate
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x128] src=%x[
// CHECK-NEXT:    nisa.dma_copy
// CHECK-NEXT:    nisa.dma_copy
// CHECK-NEXT:    nisa.nc_matmul dst=%[[P:[a-z0-9]+]][0+128, 0: 1x128] stationary=%[[X]][
// CHECK-NEXT:    nisa.nc_matmul dst=%[[Q:[a-z0-9]+]][0+128, 0: 1x128] stationary=%[[X]][
// CHECK-NEXT:    nisa.activation dst=%[[S:[a-z0-9]+]][0+128, 0: 1x128] data=%[[P]][{{.*}} op=silu
// CHECK-NEXT:    nisa.tensor_tensor {{.*}} data1=%[[S]][{{.*}} data2=%[[Q]][{{.*}} op=multiply
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @gate {
  %x = nisa.alloc "x" input 0 : !hb
  %u = nisa.alloc "u" input 1 : !hb
  %v = nisa.alloc "v" input 2 : !hb
  %y = nisa.alloc "y" output 0 : !hb
  %0 = tile.load %x : !hb -> !b
  %1 = tile.load %u : !hb -> !b
  %2 = tile.load %v : !hb -> !b
  %3 = tile.matmul %0, %1 transpose_x : !b, !b -> !f
  %4 = tile.matmul %0, %2 transpose_x : !b, !b -> !f
  %5 = tile.unary silu %3 : !f -> !f
  %6 = tile.binary multiply %5, %4 : !f, !f -> !f
  tile.store %6, %y : !f, !hb
}

// A contraction of 300 is three instructions that add to one sum, and one copy.
// CHECK-LABEL: nisa.kernel @accumulation
// CHECK:         nisa.nc_matmul dst=%[[P:[a-z0-9]+]][0+128, 0: 1x128] {{.*}} accumulate=overwrite
// CHECK-NOT:     nisa.tensor_copy
// CHECK:         nisa.nc_matmul dst=%[[P]][0+128, 0: 1x128] {{.*}} accumulate=add
// CHECK-NOT:     nisa.tensor_copy
// CHECK:         nisa.nc_matmul dst=%[[P]][0+128, 0: 1x128] stationary=%{{.*}}[0+44, {{.*}} accumulate=add
// CHECK-NEXT:    nisa.tensor_copy {{.*}} src=%[[P]][
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @accumulation {
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 300x128xf32>
  %w = nisa.alloc "w" input 1 : !nisa.buf<hbm, 300x128xf32>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x128xf32>
  %0 = tile.load %x : !nisa.buf<hbm, 300x128xf32> -> tensor<300x128xf32>
  %1 = tile.load %w : !nisa.buf<hbm, 300x128xf32> -> tensor<300x128xf32>
  %2 = tile.matmul %0, %1 transpose_x : tensor<300x128xf32>, tensor<300x128xf32> -> tensor<128x128xf32>
  tile.store %2, %y : tensor<128x128xf32>, !nisa.buf<hbm, 128x128xf32>
}
