// Movement of elements is transfers: no engine touches what only changes its place, and what arithmetic reads
// transposed is transposed on its way in.
//
// RUN: kiln-opt %s -tile-simplify -kiln-plan | FileCheck %s

!h = !nisa.buf<hbm, 128x512xf32>
!t = tensor<128x512xf32>

// CHECK-LABEL: nisa.kernel @copy
// CHECK:         nisa.dma_copy dst=%y[128 rows of 512, 0: 1x512] src=%x[128 rows of 512, 0: 1x512]
// CHECK-NEXT:  }
nisa.kernel @copy {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  tile.store %0, %y : !t, !h
}

// Two halves of each row, one under the other: two transfers.
// CHECK-LABEL: nisa.kernel @slices_and_concat
// CHECK:         nisa.dma_copy dst=%y[128 rows of 256, 0: 1x256] src=%x[128 rows of 512, 256: 1x256]
// CHECK-NEXT:    nisa.dma_copy dst=%y[128 rows of 256, 32768: 1x256] src=%x[128 rows of 512, 0: 1x256]
// CHECK-NEXT:  }
nisa.kernel @slices_and_concat {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 256x256xf32>
  %0 = tile.load %x : !h -> !t
  %1 = tile.slice %0 from [0, 0] step [1, 1] : !t -> tensor<128x256xf32>
  %2 = tile.slice %0 from [0, 256] step [1, 1] : !t -> tensor<128x256xf32>
  %3 = tile.concat %2, %1 dim 0 : tensor<128x256xf32>, tensor<128x256xf32> -> tensor<256x256xf32>
  tile.store %3, %y : tensor<256x256xf32>, !nisa.buf<hbm, 256x256xf32>
}

// x + z^T.
// CHECK-LABEL: nisa.kernel @transposed_operand
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+128, 0: 1x512] src=%x[
// CHECK-NEXT:    nisa.dma_transpose dst=%[[Z:[a-z0-9]+]][0+128, 0: 1x512] src=%z[512 rows of 128, 0: 1x128]
// CHECK-NEXT:    nisa.tensor_tensor {{.*}} data1=%[[X]][{{.*}} data2=%[[Z]][{{.*}} op=add
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @transposed_operand {
  %x = nisa.alloc "x" input 0 : !h
  %z = nisa.alloc "z" input 1 : !nisa.buf<hbm, 512x128xf32>
  %y = nisa.alloc "y" output 0 : !h
  %0 = tile.load %x : !h -> !t
  %1 = tile.load %z : !nisa.buf<hbm, 512x128xf32> -> tensor<512x128xf32>
  %2 = tile.transpose %1 [1, 0] : tensor<512x128xf32> -> !t
  %3 = tile.binary add %0, %2 : !t, !t -> !t
  tile.store %3, %y : !t, !h
}

// A reshape around arithmetic is nothing at all.
// CHECK-LABEL: nisa.kernel @reshape
// CHECK:         nisa.dma_copy {{.*}} src=%x[
// CHECK-NEXT:    nisa.activation {{.*}} op=exp
// CHECK-NEXT:    nisa.dma_copy dst=%y[
// CHECK-NEXT:  }
nisa.kernel @reshape {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 4x64x256xf32>
  %0 = tile.load %x : !h -> !t
  %1 = tile.reshape %0 : !t -> tensor<256x256xf32>
  %2 = tile.unary exp %1 : tensor<256x256xf32> -> tensor<256x256xf32>
  %3 = tile.reshape %2 : tensor<256x256xf32> -> tensor<4x64x256xf32>
  tile.store %3, %y : tensor<4x64x256xf32>, !nisa.buf<hbm, 4x64x256xf32>
}

// Every other row and a cast: the transfer in skips, the instruction rounds.
// CHECK-LABEL: nisa.kernel @strided_rows
// CHECK:         nisa.dma_copy dst=%[[X:[a-z0-9]+]][0+64, 0: 1x512] src=%x[64 rows of 1024, 512: 1x512]
// CHECK-NEXT:    nisa.activation {{.*}} data=%[[X]][{{.*}} op=exp imm_bias=-0 : !nisa.buf<sbuf, 64x512xbf16>, !nisa.buf<sbuf, 64x512xf32>
// CHECK-NEXT:    nisa.dma_copy dst=%y[64 rows of 512, 0: 1x512]
// CHECK-NEXT:  }
nisa.kernel @strided_rows {
  %x = nisa.alloc "x" input 0 : !h
  %y = nisa.alloc "y" output 0 : !nisa.buf<hbm, 64x512xbf16>
  %0 = tile.load %x : !h -> !t
  %1 = tile.slice %0 from [1, 0] step [2, 1] : !t -> tensor<64x512xf32>
  %2 = tile.unary exp %1 : tensor<64x512xf32> -> tensor<64x512xf32>
  %3 = tile.cast %2 : tensor<64x512xf32> -> tensor<64x512xbf16>
  tile.store %3, %y : tensor<64x512xbf16>, !nisa.buf<hbm, 64x512xbf16>
}
