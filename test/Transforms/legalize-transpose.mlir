// RUN: kiln-opt %s -kiln-legalize-transpose | FileCheck %s

// One identity for all transposes of a dtype, as large as the largest needs, loaded before anything else.
// CHECK-LABEL: nisa.kernel @shares_one_identity
// CHECK: %[[DATA:.*]] = nisa.alloc "identity_bfloat16_data" = dense<{{.*}}> : tensor<48x48xbf16> : !nisa.buf<hbm, 48x48xbf16>
// CHECK: %[[ID:.*]] = nisa.alloc "identity_bfloat16" : !nisa.buf<sbuf, 48x48xbf16>
// CHECK-NOT: identity
// CHECK: nisa.dma_copy dst=%[[ID]][0+48, 0: 1x48] src=%[[DATA]][48 rows of 48, 0: 1x48] engine=sync
// CHECK-NEXT: nisa.nc_matmul dst=%{{.*}}[0+20, 0: 1x32] stationary=%{{.*}}[0+32, 0: 1x20] moving=%[[ID]][0+32, 0: 1x32] is_transpose=true engine=tensor
// CHECK-NEXT: nisa.nc_matmul dst=%{{.*}}[0+20, 0: 1x48] stationary=%{{.*}}[0+48, 0: 1x20] moving=%[[ID]][0+48, 0: 1x48] is_transpose=true engine=tensor
// CHECK-NOT: nc_transpose
nisa.kernel @shares_one_identity {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 48x20xbf16>
  %p = nisa.alloc "p" : !nisa.buf<psum, 20x48xbf16>
  nisa.nc_transpose dst=%p[0+20, 0: 1x32] data=%a[0+32, 0: 1x20] engine=tensor : !nisa.buf<psum, 20x48xbf16>, !nisa.buf<sbuf, 48x20xbf16>
  nisa.nc_transpose dst=%p[0+20, 0: 1x48] data=%a[0+48, 0: 1x20] engine=tensor : !nisa.buf<psum, 20x48xbf16>, !nisa.buf<sbuf, 48x20xbf16>
}

// Each partition feeds the array row of its own number: data at partition 64 meets rows 64 and on.
// CHECK-LABEL: nisa.kernel @follows_the_start_partition
// CHECK: nisa.alloc "identity_float32" : !nisa.buf<sbuf, 96x96xf32>
// CHECK: nisa.nc_matmul dst=%{{.*}}[0+8, 0: 1x32] stationary=%{{.*}}[64+32, 0: 1x8] moving=%{{.*}}[64+32, 64: 1x32] is_transpose=true
nisa.kernel @follows_the_start_partition {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 128x8xf32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 8x32xf32>
  nisa.nc_transpose dst=%p[0+8, 0: 1x32] data=%a[64+32, 0: 1x8] engine=tensor : !nisa.buf<psum, 8x32xf32>, !nisa.buf<sbuf, 128x8xf32>
}

// The author's own tensor of that name stays.
// CHECK-LABEL: nisa.kernel @keeps_names_apart
// CHECK: nisa.alloc "identity_float32__data"
// CHECK: nisa.alloc "identity_float32_" : !nisa.buf<sbuf, 4x4xf32>
nisa.kernel @keeps_names_apart {
  %a = nisa.alloc "identity_float32" : !nisa.buf<sbuf, 4x8xf32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 8x4xf32>
  nisa.nc_transpose dst=%p[0+8, 0: 1x4] data=%a[0+4, 0: 1x8] engine=tensor : !nisa.buf<psum, 8x4xf32>, !nisa.buf<sbuf, 4x8xf32>
}

// CHECK-LABEL: nisa.kernel @leaves_the_vector_engine_alone
// CHECK: nisa.nc_transpose {{.*}} engine=vector
// CHECK-NOT: nc_matmul
nisa.kernel @leaves_the_vector_engine_alone {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 4x8xf32>
  %s = nisa.alloc "s" : !nisa.buf<sbuf, 8x4xf32>
  nisa.nc_transpose dst=%s[0+8, 0: 1x4] data=%a[0+4, 0: 1x8] engine=vector : !nisa.buf<sbuf, 8x4xf32>, !nisa.buf<sbuf, 4x8xf32>
}
