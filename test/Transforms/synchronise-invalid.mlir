// RUN: kiln-opt %s -kiln-synchronise -verify-diagnostics

// expected-error @+1 {{internal fault: kiln-synchronise needs a placed and scheduled kernel; run kiln-place and kiln-schedule}}
nisa.kernel @unplaced {
}
