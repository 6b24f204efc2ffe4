#!/bin/sh
# Installs everything Kiln builds and tests with, from Debian 12 and its security suite.
# Run as root. Safe to run again. third_party/README.md lists each package with its licence and reason.
set -eu
packages="
  g++ cmake ninja-build ccache python3 python3-numpy
  libmlir-22-dev mlir-22-tools llvm-22-dev libzstd-dev zlib1g-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev libhwy-dev
  libflatbuffers-dev flatbuffers-compiler
  libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev libopenblas-dev clang-14 clang-format-22
"
missing=""
for p in $packages; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  # shellcheck disable=SC2086  # a list of words on purpose
  apt-get install -y -q --no-install-recommends $missing
fi
echo "packages: all installed"
