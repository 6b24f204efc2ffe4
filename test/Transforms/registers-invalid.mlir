// RUN: kiln-opt -split-input-file -verify-diagnostics %s

nisa.kernel @no_register {
  // expected-error @+1 {{expected a register, such as r0}}
  nisa.for while x {
  }
}

// -----

nisa.kernel @no_step {
  // expected-error @+1 {{the step of a loop is 1 to 2147483647, not 0}}
  nisa.for r0 = 0 to 4 step 0 {
    nisa.register_move dst=r1 value=1
  }
}

// -----

nisa.kernel @wide_bound {
  // expected-error @+1 {{the number does not fit 32 bits}}
  nisa.for r0 = 0 to 4294967296 {
  }
}

// -----

nisa.kernel @no_extent {
  %t = nisa.alloc "t" : !nisa.buf<sbuf, 4x32xf32>
  // expected-error @+1 {{an index steps by at least 0 and is below at least 1, not by 4 below 0}}
  nisa.memset dst=%t[0+4, 0: 1x4 by r1 * 4 below 0] value=0 : !nisa.buf<sbuf, 4x32xf32>
}
