// Scale, bias, function and row sum of a tile are one instruction of the Scalar Engine; nothing is copied or
// cast beside it.
//
// RUN: kiln-opt %s -tile-simplify -kiln-plan | FileCheck %s

!h = !nisa.buf<hbm, 128x512xf32>
!t = tensor<128x512xf32>
!hc = !nisa.buf<hbm, 128x1xf32>
!c = tensor<128x1xf32>
!one = tensor<1xf32>

// gelu(x * 0.5 + b), b a column.
// CHECK-LABEL: nisa.kernel @scale_bias_function
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.dma_copy dst=%[[B:[a-z0-9]+]][0+128, 0: 1x1] src=%b[
// CHECK-NEXT:    nisa.activation {{.*}} bias=%[[B]][0+128, 0: 1x1] op=gelu imm_scale=0.5 :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @scale_bias_function {
  %x = nisa.alloc "x" input 0 : !h
  %b = nisa.alloc "b" input 1 : !hc
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %b : !hc -> !c
  %2 = tile.splat 0.5 : !one
  %3 = tile.binary multiply %0, %2 : !t, !one -> !t
  %4 = tile.binary add %3, %1 : !t, !c -> !t
  %5 = tile.unary gelu %4 : !t -> !t
  tile.store %5, %y : !t, !h
}

// tanh(b - x): a scale of -1.
// CHECK-LABEL: nisa.kernel @reversed_bias
// CHECK:         nisa.dma_copy dst=%[[B:[a-z0-9]+]][0+128, 0: 1x1] src=%b[
// CHECK-NEXT:    nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.activation {{.*}} bias=%[[B]][0+128, 0: 1x1] op=tanh imm_scale=-1 :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @reversed_bias {
  %x = nisa.alloc "x" input 0 : !h
  %b = nisa.alloc "b" input 1 : !hc
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %b : !hc -> !c
  %2 = tile.binary subtract %1, %0 : !c, !t -> !t
  %3 = tile.unary tanh %2 : !t -> !t
  tile.store %3, %y : !t, !h
}

// A function alone: a bias of -0 keeps every sign.
// CHECK-LABEL: nisa.kernel @function
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.activation {{.*}} op=erf imm_bias=-0 :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @function {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.unary erf %0 : !t -> !t
  tile.store %1, %y : !t, !h
}

// exp(x - m) and the sum of its rows leave one instruction; -m is one column.
// CHECK-LABEL: nisa.kernel @row_sum
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.dma_copy dst=%[[M:[a-z0-9]+]][0+128, 0: 1x1] src=%m[
// CHECK-NEXT:    nisa.tensor_scalar dst=%[[N:[a-z0-9]+]][0+128, 0: 1x1] data=%[[M]][0+128, 0: 1x1] op0=multiply imm0=-1 :
// CHECK-NEXT:    nisa.activation {{.*}} bias=%[[N]][0+128, 0: 1x1] reduce_res=%[[S:[a-z0-9]+]][0+128, 0: 1x1] op=exp reduce_op=add reduce_cmd=reset_reduce :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:    nisa.dma_copy dst=%s[{{.*}} src=%[[S]][
// CHECK-NEXT:  }
nisa.kernel @row_sum {
  %x = nisa.alloc "x" input 0 : !h
  %m = nisa.alloc "m" input 1 : !hc
  %y = nisa.alloc "y" output 0 : !h
  %s = nisa.alloc "s" output 1 : !hc
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %m : !hc -> !c
  %2 = tile.binary subtract %0, %1 : !t, !c -> !t
  %3 = tile.unary exp %2 : !t -> !t
  %4 = tile.reduce add %3 over [1] keep_dims : !t -> !c
  tile.store %3, %y : !t, !h
  tile.store %4, %s : !c, !hc
}

// A product with itself that is summed is a square that is summed.
// CHECK-LABEL: nisa.kernel @sum_of_squares
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.activation {{.*}} reduce_res=%[[S:[a-z0-9]+]][0+128, 0: 1x1] op=square imm_bias=-0 reduce_op=add reduce_cmd=reset_reduce :
// CHECK-NEXT:    nisa.dma_copy dst=%s[{{.*}} src=%[[S]][
// CHECK-NEXT:  }
nisa.kernel @sum_of_squares {
  %x = nisa.alloc "x" input 0 : !h
  %s = nisa.alloc "s" output 0 : !hc
  %0 = tile.load %x : !h -> !t
  %1 = tile.binary multiply %0, %0 : !t, !t -> !t
  %2 = tile.reduce add %1 over [1] keep_dims : !t -> !c
  tile.store %2, %s : !c, !hc
}

// What comes and goes as bf16 is read and written by the instruction itself.
// CHECK-LABEL: nisa.kernel @bf16_in_and_out
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[{{.*}} : !nisa.buf<sbuf, 128x512xbf16>, !nisa.buf<hbm, 128x512xbf16>
// CHECK-NEXT:    nisa.activation {{.*}} op=exp imm_bias=-0 : !nisa.buf<sbuf, 128x512xbf16>, !nisa.buf<sbuf, 128x512xbf16>
// CHECK-NEXT:    nisa.dma_copy dst=%y[{{.*}} : !nisa.buf<hbm, 128x512xbf16>, !nisa.buf<sbuf, 128x512xbf16>
// CHECK-NEXT:  }
nisa.kernel @bf16_in_and_out {
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xbf16>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x512xbf16>
  %0 = tile.load %x : !nisa.buf<hbm, 128x512xbf16> -> tensor<128x512xbf16>
  %1 = tile.unary exp %0 : tensor<128x512xbf16> -> !t
  tile.store %1, %y : !t, !nisa.buf<hbm, 128x512xbf16>
}
