// Two operators in one instruction of the Vector Engine, wherever one operand of each is a number or a column.
//
// RUN: kiln-opt %s -tile-simplify -kiln-plan | FileCheck %s
// RUN: kiln-opt %s -tile-simplify -kiln-plan -kiln-resolve-engines | FileCheck %s --check-prefix=ENGINE

!h = !nisa.buf<hbm, 128x512xf32>
!t = tensor<128x512xf32>
!hc = !nisa.buf<hbm, 128x1xf32>
!c = tensor<128x1xf32>
!one = tensor<1xf32>

// 1 - x * 2.
// CHECK-LABEL: nisa.kernel @two_numbers
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.tensor_scalar {{.*}} op0=multiply imm0=2 op1=subtract imm1=1 reverse1=true :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @two_numbers {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.splat 2 : !one
  %2 = tile.splat 1 : !one
  %3 = tile.binary multiply %0, %1 : !t, !one -> !t
  %4 = tile.binary subtract %2, %3 : !one, !t -> !t
  tile.store %4, %y : !t, !h
}

// min(max(x, -1), 6).
// CHECK-LABEL: nisa.kernel @clamp
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.tensor_scalar {{.*}} op0=maximum imm0=-1 op1=minimum imm1=6 :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @clamp {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.splat -1 : !one
  %2 = tile.splat 6 : !one
  %3 = tile.binary maximum %0, %1 : !t, !one -> !t
  %4 = tile.binary minimum %3, %2 : !t, !one -> !t
  tile.store %4, %y : !t, !h
}

// (x - a) * b, columns a and b.
// CHECK-LABEL: nisa.kernel @two_columns
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.dma_copy dst=%[[A:[a-z0-9]+]][0+128, 0: 1x1] src=%a[
// CHECK-NEXT:    nisa.dma_copy dst=%[[B:[a-z0-9]+]][0+128, 0: 1x1] src=%b[
// CHECK-NEXT:    nisa.tensor_scalar {{.*}} operand0=%[[A]][0+128, 0: 1x1] operand1=%[[B]][0+128, 0: 1x1] op0=subtract op1=multiply :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @two_columns {
  %x = nisa.alloc "x" input 0 : !h
  %a = nisa.alloc "a" input 1 : !hc
  %b = nisa.alloc "b" input 2 : !hc
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %a : !hc -> !c
  %2 = tile.load %b : !hc -> !c
  %3 = tile.binary subtract %0, %1 : !t, !c -> !t
  %4 = tile.binary multiply %3, %2 : !t, !c -> !t
  tile.store %4, %y : !t, !h
}

// z + x * 0.25, and z - x * 0.25 whose order of arguments counts.
// CHECK-LABEL: nisa.kernel @scalar_tensor_tensor
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.dma_copy dst=%[[Z:[a-z0-9]+]][0+128, 0: 1x512] src=%z[
// CHECK-NEXT:    nisa.scalar_tensor_tensor {{.*}} data=%[[X]][{{.*}} operand1=%[[Z]][{{.*}}] op0=multiply imm0=0.25 op1=subtract reverse1=true :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @scalar_tensor_tensor {
  %x = nisa.alloc "x" input 0 : !h
  %z = nisa.alloc "z" input 1 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %z : !h -> !t
  %2 = tile.splat 0.25 : !one
  %3 = tile.binary multiply %0, %2 : !t, !one -> !t
  %4 = tile.binary subtract %1, %3 : !t, !t -> !t
  tile.store %4, %y : !t, !h
}

// A value with two readers is computed once, and is inside neither.
// CHECK-LABEL: nisa.kernel @read_twice
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.tensor_scalar dst=%[[P:[a-z0-9]+]][0+128, 0: 1x512] {{.*}} op0=multiply imm0=2 :
// CHECK-NEXT:    nisa.tensor_tensor {{.*}} data1=%[[P]][{{.*}} data2=%[[P]][{{.*}} op=multiply :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @read_twice {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.splat 2 : !one
  %2 = tile.binary multiply %0, %1 : !t, !one -> !t
  %3 = tile.binary multiply %2, %2 : !t, !t -> !t
  tile.store %3, %y : !t, !h
}

// A comparison writes the bytes of a mask.
// CHECK-LABEL: nisa.kernel @mask
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.tensor_scalar {{.*}} op0=greater_equal imm0=0.5 : !nisa.buf<sbuf, 128x512xui8>, !nisa.buf<sbuf, 128x512xf32>
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @mask {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x512xui8>
  %0 = tile.load %x : !h -> !t
  %1 = tile.splat 0.5 : !one
  %2 = tile.binary greater_equal %0, %1 : !t, !one -> tensor<128x512xui8>
  tile.store %2, %y : tensor<128x512xui8>, !nisa.buf<hbm, 128x512xui8>
}

// x > 0 ? x : -inf: the condition is made as bytes, the number is what is there before.
// CHECK-LABEL: nisa.kernel @select
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.tensor_scalar dst=%[[P:[a-z0-9]+]][0+128, 0: 1x512] data=%[[X]][{{.*}} op0=greater : !nisa.buf<sbuf, 128x512xui8>, !nisa.buf<sbuf, 128x512xf32>
// CHECK-NEXT:    nisa.memset dst=%[[R:[a-z0-9]+]][0+128, 0: 1x512] value=-inf :
// CHECK-NEXT:    nisa.tensor_copy_predicated dst=%[[R]][{{.*}} src=%[[X]][{{.*}} predicate=%[[P]][
// CHECK-NEXT:    nisa.dma_copy dst=%y[{{.*}} src=%[[R]][
// CHECK-NEXT:  }
nisa.kernel @select {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.splat 0 : !one
  %2 = tile.splat -inf : !one
  %3 = tile.binary greater %0, %1 : !t, !one -> !t
  %4 = tile.select %3, %0, %2 : !t, !t, !one -> !t
  tile.store %4, %y : !t, !h
}

// 32-bit integers multiply on GpSimd, which is exact.
// ENGINE-LABEL: nisa.kernel @integers
// ENGINE:        nisa.tensor_tensor {{.*}} op=multiply engine=gpsimd
// CHECK-LABEL: nisa.kernel @integers
// CHECK:         nisa.dma_copy
// CHECK-NEXT:    nisa.dma_copy
// CHECK-NEXT:    nisa.tensor_tensor {{.*}} op=multiply : !nisa.buf<sbuf, 128x512xi32>, !nisa.buf<sbuf, 128x512xi32>, !nisa.buf<sbuf, 128x512xi32>
// CHECK-NEXT:    nisa.dma_copy
// CHECK-NEXT:  }
nisa.kernel @integers {
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 128x512xi32>
  %z = nisa.alloc "z" input 1 : !nisa.buf<hbm, 128x512xi32>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 128x512xi32>
  %0 = tile.load %x : !nisa.buf<hbm, 128x512xi32> -> tensor<128x512xi32>
  %1 = tile.load %z : !nisa.buf<hbm, 128x512xi32> -> tensor<128x512xi32>
  %2 = tile.binary multiply %0, %1 : tensor<128x512xi32>, tensor<128x512xi32> -> tensor<128x512xi32>
  tile.store %2, %y : tensor<128x512xi32>, !nisa.buf<hbm, 128x512xi32>
}
