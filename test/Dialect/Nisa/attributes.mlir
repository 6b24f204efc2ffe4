// The access attribute on its own, as the generic form and tools that know no ops show it.
//
// RUN: kiln-opt %s -allow-unregistered-dialect | kiln-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: on_chip = #nisa.access<f32, [32+32, 64: 128x4 1x64]>
// CHECK-SAME: one_element = #nisa.access<ui8, [0+1, 9223372036854775807]>
// CHECK-SAME: rows = #nisa.access<bf16, [128 rows of -4096, 0: 1x512 loop 65536 -512]>
// CHECK-SAME: run = #nisa.access<i32, [0+1, -3: 1x512]>
"test.op"() {
  on_chip = #nisa.access<float32, [32+32, 64: 128x4 1x64]>,
  one_element = #nisa.access<uint8, [9223372036854775807]>,
  rows = #nisa.access<bfloat16, [128 rows of -4096, 0: 1x512 loop 65536 -512]>,
  run = #nisa.access<i32, [-3: 1x512]>
} : () -> ()
