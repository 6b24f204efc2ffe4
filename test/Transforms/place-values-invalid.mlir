// RUN: kiln-opt %s -kiln-place -verify-diagnostics

// expected-error @+1 {{kiln-place needs a kernel without values; run kiln-plan before it}}
nisa.kernel @values {
  %a = nisa.alloc "a" input 0 : !nisa.buf<hbm, 4x6xf32>
  %b = nisa.alloc "b" output 0 : !nisa.buf<hbm, 4x6xf32>
  %x = tile.load %a : !nisa.buf<hbm, 4x6xf32> -> tensor<4x6xf32>
  tile.store %x, %b : tensor<4x6xf32>, !nisa.buf<hbm, 4x6xf32>
}
