// RUN: kiln-opt %s -kiln-synchronise -verify-diagnostics

// expected-error @+1 {{kiln-synchronise needs a placed and scheduled kernel; run kiln-place and kiln-schedule before it}}
nisa.kernel @unplaced {
}
