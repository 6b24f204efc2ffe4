// Every op with all of its optional parts on and off survives a round trip, in both forms.
//
// RUN: kiln-opt %s | FileCheck %s
// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt %s -mlir-print-op-generic | kiln-opt | FileCheck %s

// CHECK-LABEL: nisa.kernel @border
nisa.kernel @border {
  %h = nisa.alloc "h" input 0 : !nisa.buf<hbm, 300x512xbf16>
  %o = nisa.alloc "o" output 0 : !nisa.buf<hbm, 16x32xbf16>
  %p = nisa.alloc "p" output 1 : !nisa.buf<hbm, 300x1024xbf16>
  %s = nisa.alloc "s" : !nisa.buf<sbuf, 128x64xf32>
  %q = nisa.alloc "q" : !nisa.buf<psum, 16x32xf32>
  nisa.memset dst=%s[0+128, 0: 1x64] value=0 : !nisa.buf<sbuf, 128x64xf32>
  // CHECK: %[[W:.*]] = tile.load %h : !nisa.buf<hbm, 300x512xbf16> -> tensor<300x512xbf16>
  %w = tile.load %h : !nisa.buf<hbm, 300x512xbf16> -> tensor<300x512xbf16>
  // CHECK: tile.load %h[at 512, stride 512 1] : !nisa.buf<hbm, 300x512xbf16> -> tensor<1x512xbf16>
  %r = tile.load %h[at 512, stride 512 1] : !nisa.buf<hbm, 300x512xbf16> -> tensor<1x512xbf16>
  // A broadcast and a reversal are views too.
  // CHECK: tile.load %h[at 511, stride 0 -1] : !nisa.buf<hbm, 300x512xbf16> -> tensor<7x512xbf16>
  %b = tile.load %h[at 511, stride 0 -1] : !nisa.buf<hbm, 300x512xbf16> -> tensor<7x512xbf16>
  // CHECK: %[[T:.*]] = tile.load %s[partition 32, at 3, stride 1 2] hint<in hbm> : !nisa.buf<sbuf, 128x64xf32> -> tensor<16x30xf32>
  %t = tile.load %s[partition 32, at 3, stride 1 2] hint<in hbm> : !nisa.buf<sbuf, 128x64xf32> -> tensor<16x30xf32>
  // CHECK: %[[U:.*]] = tile.load %s[partition 32, at 0, stride 1 2]
  %u = tile.load %s[partition 32, at 0, stride 1 2] : !nisa.buf<sbuf, 128x64xf32> -> tensor<16x32xf32>
  // CHECK: tile.store %[[U]], %o : tensor<16x32xf32>, !nisa.buf<hbm, 16x32xbf16>
  tile.store %u, %o : tensor<16x32xf32>, !nisa.buf<hbm, 16x32xbf16>
  // CHECK: tile.store %[[W]], %p[at 512, stride 1024 1] : tensor<300x512xbf16>, !nisa.buf<hbm, 300x1024xbf16>
  tile.store %w, %p[at 512, stride 1024 1] : tensor<300x512xbf16>, !nisa.buf<hbm, 300x1024xbf16>
  // CHECK: tile.materialize %[[U]], %q : tensor<16x32xf32>, !nisa.buf<psum, 16x32xf32>
  tile.materialize %u, %q : tensor<16x32xf32>, !nisa.buf<psum, 16x32xf32>
}

// CHECK-LABEL: nisa.kernel @values
nisa.kernel @values {
  // CHECK: tile.splat 0.5 : tensor<64x512xf32>
  %x = tile.splat 0.5 : tensor<64x512xf32>
  // CHECK: tile.splat -0 : tensor<1xbf16>
  %nz = tile.splat -0 : tensor<1xbf16>
  // CHECK: tile.splat -inf : tensor<1x1xf32>
  %inf = tile.splat -inf : tensor<1x1xf32>
  // CHECK: tile.splat nan(0xFFF8000000000001) : tensor<1xf16>
  %nan = tile.splat nan(0xFFF8000000000001) : tensor<1xf16>
  // CHECK: tile.splat 4294967295 : tensor<3xui32>
  %big = tile.splat 4294967295 : tensor<3xui32>
  // CHECK: tile.splat 1 hint<partition_dim 1, tile [0, 128], buffers 3, in sbuf> : tensor<64x512xui8>
  %m = tile.splat 1 hint<partition_dim 1, tile [0, 128], buffers 3, in sbuf> : tensor<64x512xui8>
  // CHECK: tile.iota dim 1 : tensor<4x512xi32>
  %i = tile.iota dim 1 : tensor<4x512xi32>
  // CHECK: tile.unary gelu_apprx_tanh %{{.*}} : tensor<64x512xf32> -> tensor<64x512xbf16>
  %e = tile.unary gelu_apprx_tanh %x : tensor<64x512xf32> -> tensor<64x512xbf16>
  // CHECK: tile.binary greater_equal %{{.*}}, %{{.*}} : tensor<64x512xf32>, tensor<1xbf16> -> tensor<64x512xui8>
  %c = tile.binary greater_equal %x, %nz : tensor<64x512xf32>, tensor<1xbf16> -> tensor<64x512xui8>
  // CHECK: tile.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x512xui8>, tensor<64x512xf32>, tensor<1x1xf32> -> tensor<64x512xf32>
  %s = tile.select %c, %x, %inf : tensor<64x512xui8>, tensor<64x512xf32>, tensor<1x1xf32> -> tensor<64x512xf32>
  // CHECK: tile.cast %{{.*}} : tensor<64x512xf32> -> tensor<64x512xi16>
  %k = tile.cast %s : tensor<64x512xf32> -> tensor<64x512xi16>
  // CHECK: tile.matmul %{{.*}}, %{{.*}} transpose_y : tensor<64x512xf32>, tensor<64x512xf32> -> tensor<64x64xf32>
  %mm = tile.matmul %x, %s transpose_y : tensor<64x512xf32>, tensor<64x512xf32> -> tensor<64x64xf32>
  // CHECK: tile.matmul %{{.*}}, %{{.*}} transpose_x order chunks 128 hint<buffers 2> : tensor<64x512xf32>, tensor<64x512xf32> -> tensor<512x512xbf16>
  %mt = tile.matmul %x, %s transpose_x order chunks 128 hint<buffers 2> : tensor<64x512xf32>, tensor<64x512xf32> -> tensor<512x512xbf16>
  // CHECK: tile.reduce add %{{.*}} over [1] keep_dims order left_to_right from_identity : tensor<64x512xf32> -> tensor<64x1xf32>
  %r = tile.reduce add %x over [1] keep_dims order left_to_right from_identity : tensor<64x512xf32> -> tensor<64x1xf32>
  // CHECK: tile.reduce maximum %{{.*}} over [0] order chunks 128 : tensor<64x512xf32> -> tensor<512xf32>
  %q = tile.reduce maximum %x over [0] order chunks 128 : tensor<64x512xf32> -> tensor<512xf32>
  // CHECK: tile.reduce minimum %{{.*}} over [0] order any from_identity : tensor<64x512xf32> -> tensor<512xf32>
  %qi = tile.reduce minimum %x over [0] order any from_identity : tensor<64x512xf32> -> tensor<512xf32>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<64x512xf32> -> tensor<512x64xf32>
  %t = tile.transpose %x [1, 0] : tensor<64x512xf32> -> tensor<512x64xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<64x512xf32> -> tensor<2x2x2x8x512xf32>
  %h = tile.reshape %x : tensor<64x512xf32> -> tensor<2x2x2x8x512xf32>
  // CHECK: tile.slice %{{.*}} from [0, 1] step [1, 2] : tensor<64x512xf32> -> tensor<64x256xf32>
  %l = tile.slice %x from [0, 1] step [1, 2] : tensor<64x512xf32> -> tensor<64x256xf32>
  // CHECK: tile.concat %{{.*}}, %{{.*}}, %{{.*}} dim 1 : tensor<64x512xf32>, tensor<64x256xf32>, tensor<64x1xf32> -> tensor<64x769xf32>
  %a = tile.concat %x, %l, %r dim 1 : tensor<64x512xf32>, tensor<64x256xf32>, tensor<64x1xf32> -> tensor<64x769xf32>
  // CHECK: tile.pad %{{.*}} low [0, 1] high [2, 3] with 1.5 : tensor<64x1xf32> -> tensor<66x5xf32>
  %p = tile.pad %r low [0, 1] high [2, 3] with 1.5 : tensor<64x1xf32> -> tensor<66x5xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<64x1xf32> -> tensor<3x64x7xf32>
  %b = tile.broadcast %r : tensor<64x1xf32> -> tensor<3x64x7xf32>
  // CHECK: tile.softmax %{{.*}} dim 0 : tensor<64x512xf32> -> tensor<64x512xf16>
  %f = tile.softmax %x dim 0 : tensor<64x512xf32> -> tensor<64x512xf16>
  // CHECK: tile.rmsnorm %{{.*}} epsilon 0 : tensor<64x512xf32> -> tensor<64x512xf32>
  %n0 = tile.rmsnorm %x epsilon 0 : tensor<64x512xf32> -> tensor<64x512xf32>
  // CHECK: tile.rmsnorm %{{.*}}, %{{.*}} epsilon 1.0e-06 : tensor<64x512xf32>, tensor<512xf32> -> tensor<64x512xbf16>
  %n1 = tile.rmsnorm %x, %q epsilon 1.0e-06 : tensor<64x512xf32>, tensor<512xf32> -> tensor<64x512xbf16>
  // CHECK: tile.layernorm %{{.*}}, %{{.*}}, %{{.*}} epsilon 1.0e-05 hint<partition_dim 0, place #loc>
  %n2 = tile.layernorm %x, %q, %qi epsilon 1.0e-05 hint<partition_dim 0, place loc("k.cpp":7:0)>
    : tensor<64x512xf32>, tensor<512xf32>, tensor<512xf32> -> tensor<64x512xf32>
}

// All dtypes of the table are element types of values.
// CHECK-LABEL: nisa.kernel @dtypes
// CHECK-SAME: attributes {o = #tile.order<chunks 128>, v = #tile.view<at 0, stride 1>}
nisa.kernel @dtypes attributes {o = #tile.order<chunks 128>, v = #tile.view<at 0, stride 1>} {
  %a = tile.splat 1 : tensor<1x2x3x4x5xf32>
  %b = tile.splat 1 : tensor<3xbf16>
  %c = tile.splat 1 : tensor<3xf16>
  %d = tile.splat 1 : tensor<3xi32>
  %e = tile.splat 1 : tensor<3xui8>
  %f = tile.splat 1 : tensor<3xi8>
  %g = tile.splat 1 : tensor<3xi16>
  %h = tile.splat 1 : tensor<3xui16>
  // CHECK: tensor<3xui32>
  %i = tile.splat 1 : tensor<3xui32>
}
