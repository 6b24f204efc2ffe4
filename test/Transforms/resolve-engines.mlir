// RUN: kiln-opt %s -kiln-resolve-engines | FileCheck %s

// CHECK-LABEL: nisa.kernel @first_legal_engine
nisa.kernel @first_legal_engine {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 64x48xf32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 64x48xf32>
  // CHECK: nisa.tensor_copy {{.*}} engine=vector :
  nisa.tensor_copy dst=%p[0+64, 0: 1x48] src=%a[0+64, 0: 1x48] : !nisa.buf<psum, 64x48xf32>, !nisa.buf<sbuf, 64x48xf32>
}

// CHECK-LABEL: nisa.kernel @author_decides
nisa.kernel @author_decides {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 64x48xf32>
  %b = nisa.alloc "b" : !nisa.buf<sbuf, 64x48xf32>
  // CHECK: nisa.tensor_copy {{.*}} engine=scalar :
  nisa.tensor_copy dst=%b[0+64, 0: 1x48] src=%a[0+64, 0: 1x48] engine=scalar : !nisa.buf<sbuf, 64x48xf32>, !nisa.buf<sbuf, 64x48xf32>
}

// All-integer arithmetic is exact on GpSimd; with an operand in PSUM, which GpSimd cannot reach, it is not.
// CHECK-LABEL: nisa.kernel @integers
nisa.kernel @integers {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 64x48xi32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 64x48xi32>
  // CHECK: nisa.tensor_tensor {{.*}} op=add engine=gpsimd :
  nisa.tensor_tensor dst=%a[0+64, 0: 1x48] data1=%a[0+64, 0: 1x48] data2=%a[0+64, 0: 1x48] op=add : !nisa.buf<sbuf, 64x48xi32>, !nisa.buf<sbuf, 64x48xi32>, !nisa.buf<sbuf, 64x48xi32>
  // CHECK: nisa.tensor_tensor {{.*}} op=add engine=vector :
  nisa.tensor_tensor dst=%a[0+64, 0: 1x48] data1=%p[0+64, 0: 1x48] data2=%a[0+64, 0: 1x48] op=add : !nisa.buf<sbuf, 64x48xi32>, !nisa.buf<psum, 64x48xi32>, !nisa.buf<sbuf, 64x48xi32>
}

// CHECK-LABEL: nisa.kernel @transposes
nisa.kernel @transposes {
  %a = nisa.alloc "a" : !nisa.buf<sbuf, 32x16xf32>
  %p = nisa.alloc "p" : !nisa.buf<psum, 16x32xf32>
  %s = nisa.alloc "s" : !nisa.buf<sbuf, 16x32xf32>
  // CHECK: nisa.nc_transpose {{.*}} engine=tensor :
  nisa.nc_transpose dst=%p[0+16, 0: 1x32] data=%a[0+32, 0: 1x16] : !nisa.buf<psum, 16x32xf32>, !nisa.buf<sbuf, 32x16xf32>
  // CHECK: nisa.nc_transpose {{.*}} engine=vector :
  nisa.nc_transpose dst=%s[0+16, 0: 1x32] data=%a[0+32, 0: 1x16] : !nisa.buf<sbuf, 16x32xf32>, !nisa.buf<sbuf, 32x16xf32>
}
