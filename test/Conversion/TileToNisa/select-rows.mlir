// Norms and softmax: no pass over a row more than the arithmetic asks for, and what is one value a row is
// computed on columns.
//
// RUN: kiln-opt %s -tile-simplify -kiln-plan | FileCheck %s

!h = !nisa.buf<hbm, 128x512xf32>
!t = tensor<128x512xf32>
!hr = !nisa.buf<hbm, 1x512xf32>
!r = tensor<1x512xf32>

// Three passes over x: the maximum, exponentials with their sum, the product.
// CHECK-LABEL: nisa.kernel @softmax
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.tensor_reduce dst=%{{.*}}[0+128, 0: 1x1] data=%[[X]][0+128, 0: 1x512] op=maximum
// CHECK-NOT:     0: 1x512]
// CHECK:         nisa.activation dst=%[[E:[a-z0-9]+]][0+128, 0: 1x512] data=%[[X]][{{.*}} bias={{.*}} reduce_res={{.*}} op=exp reduce_op=add reduce_cmd=reset_reduce :
// CHECK-NOT:     0: 1x512]
// CHECK:         nisa.tensor_scalar {{.*}} data=%[[E]][{{.*}} operand0={{.*}} op0=multiply :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @softmax {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.softmax %0 dim 1 : !t -> !t
  tile.store %1, %y : !t, !h
}

// Two passes over x, the second of which is x * r * gamma; 1/n and epsilon are one instruction on columns.
// CHECK-LABEL: nisa.kernel @rmsnorm
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.activation {{.*}} data=%[[X]][{{.*}} reduce_res={{.*}} op=square imm_bias=-0 reduce_op=add reduce_cmd=reset_reduce :
// CHECK-NEXT:    nisa.tensor_scalar dst=%{{.*}}[0+128, 0: 1x1] {{.*}} op0=multiply imm0=0.001953125 op1=add imm1=9.5367431640625e-07 :
// CHECK-NEXT:    nisa.activation dst=%[[R:[a-z0-9]+]][0+128, 0: 1x1] {{.*}} op=rsqrt imm_bias=-0 :
// CHECK-COUNT-2: nisa.dma_copy
// CHECK-NEXT:    nisa.scalar_tensor_tensor {{.*}} data=%[[X]][{{.*}} operand0=%[[R]][0+128, 0: 1x1] {{.*}} op0=multiply op1=multiply :
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @rmsnorm {
  %x = nisa.alloc "x" input 0 : !h
  %g = nisa.alloc "g" input 1 : !hr
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %g : !hr -> !r
  %2 = tile.rmsnorm %0, %1 epsilon 9.5367431640625e-07 : !t, !r -> !t
  tile.store %2, %y : !t, !h
}

// A row is read from HBM once and spread over the partitions on chip.
// CHECK-LABEL: nisa.kernel @row_for_all_partitions
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.dma_copy dst=%[[B:[a-z0-9]+]][0+1, 0: 1x512] src=%b[0: 1x512]
// CHECK-NEXT:    nisa.dma_copy dst=%[[B]][1+127, 0: 1x512] src=%[[B]][0+1, 0: 0x127 1x512]
// CHECK-NEXT:    nisa.tensor_tensor {{.*}} data1=%[[X]][{{.*}} data2=%[[B]][{{.*}} op=add
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @row_for_all_partitions {
  %x = nisa.alloc "x" input 0 : !h
  %b = nisa.alloc "b" input 1 : !nisa.buf<hbm, 512xf32>
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %b : !nisa.buf<hbm, 512xf32> -> tensor<512xf32>
  %2 = tile.binary add %0, %1 : !t, tensor<512xf32> -> !t
  tile.store %2, %y : !t, !h
}

// Three rows of 65536 fill 128 partitions: elementwise work does not care where a row begins.
// CHECK-LABEL: nisa.kernel @short_axis
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x1536] src=%x[128 rows of 1536, 0: 1x1536]
// CHECK-NEXT:    nisa.activation {{.*}}[0+128, 0: 1x1536] data=%[[X]][0+128, 0: 1x1536] op=exp
// CHECK-NEXT:    nisa.dma_copy dst=%y[128 rows of 1536, 0: 1x1536]
// CHECK-NEXT:  }
nisa.kernel @short_axis {
  %x = nisa.alloc "x" input 0 : !nisa.buf<hbm, 3x65536xf32>
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 3x65536xf32>
  %0 = tile.load %x : !nisa.buf<hbm, 3x65536xf32> -> tensor<3x65536xf32>
  %1 = tile.unary exp %0 : tensor<3x65536xf32> -> tensor<3x65536xf32>
  tile.store %1, %y : tensor<3x65536xf32>, !nisa.buf<hbm, 3x65536xf32>
}
