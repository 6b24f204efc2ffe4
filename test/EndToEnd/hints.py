"""Hints of whole tensors: kept, as the instructions show, or refused with the reason (T-06)."""

import re

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()

KERNELS = """#include "nl/nl.h"
using nl::Tensor;
Tensor hinted(Tensor x) { return %s; }
NL_KERNEL(hinted, "x")
"""
MATMULS = """#include "nl/nl.h"
using nl::Tensor;
Tensor hinted(Tensor a, Tensor b) { return %s; }
NL_KERNEL(hinted, "a", "b")
"""


def write(expression, kernels=KERNELS):
    (kiln.scratch / "hints.cpp").write_text(kernels % expression)
    return "hints.cpp:hinted"


def tiles(expression, *inputs, kernels=KERNELS):
    """Shapes of the tiles on chip, each once, and the program's values against those of no hint."""
    kernel = write(expression, kernels)
    ir = kiln("compile", kernel, *inputs, "--emit=nisa")[0]
    kiln("run", kernel, *inputs, "-o", "hinted.npy")
    plain = re.sub(r"nl::hint\((.*), \{[^{}]*(\{[^{}]*\})?[^{}]*\}\)", r"\1", expression)
    while "hint" in plain:
        plain = re.sub(r"nl::hint\((.*), \{[^{}]*(\{[^{}]*\})?[^{}]*\}\)", r"\1", plain)
    kiln("run", write(plain, kernels), *inputs, "--check", "hinted.npy", "--rtol", "0", "--atol", "0")
    return ir, set(re.findall(r"!nisa.buf<(sbuf|psum), ([\dx]+)x\w+>", ir))


def refused(expression, message, *inputs, kernels=KERNELS):
    err = kiln("compile", write(expression, kernels), *inputs, "--emit=nisa", code=1)[1]
    expect_equal(err, message, expression)


x, wide, long = "rand:300x200:float32:1", "rand:300x20000:float32:1", "rand:300x70000:float32:1"
matrices = ["rand:600x200:bfloat16:1", "rand:200x400:bfloat16:2"]
batches = ["rand:3x60x200:bfloat16:1", "rand:3x200x40:bfloat16:2"]

# Kept: dims on partitions, extents of tiles, how many are in flight.
ir, shapes = tiles("nl::hint(nl::exp(x), {.partition_dim = 1, .tile = {60, 100}, .buffers = 2})", x)
expect_equal(shapes, {("sbuf", "100x60")}, "a tile is 100 columns on partitions, 60 rows each")
expect_equal(set(re.findall(r"at\(0, (\d+)\)", ir)), {"0", "256"}, "two buffers of 240 bytes, aligned")
ir, shapes = tiles("nl::hint(nl::exp(x), {.tile = {100, 0}, .buffers = 3})", x)
expect_equal(shapes, {("sbuf", "100x200")}, "the free extent is the compiler's")
expect_equal(len(set(re.findall(r"at\(0, (\d+)\)", ir))), 3, "three buffers")
ir, shapes = tiles("nl::hint(nl::softmax(x), {.partition_dim = 0, .tile = {128, 200}, .buffers = 1})", x)
expect("128x200" in {s for _, s in shapes}, "the largest tile")
ir, shapes = tiles("nl::hint(nl::sum(x, 1), {.partition_dim = 0, .tile = {64}})", x)
expect(("sbuf", "64x200") in shapes and ("sbuf", "44x200") in shapes, "dims of a result without the folded one")
ir, shapes = tiles("nl::transpose(nl::hint(nl::exp(x), {.partition_dim = 0, .tile = {50, 40}}))", x)
expect(("sbuf", "50x40") in shapes, "a value that is transposed afterwards keeps its layout")
_, shapes = tiles("nl::hint(nl::matmul(a, b), {.partition_dim = 1, .tile = {300, 100}})", *matrices, kernels=MATMULS)
expect_equal({s for m, s in shapes if m == "psum"}, {"100x300"}, "columns of the result on partitions")
_, shapes = tiles("nl::hint(nl::matmul(a, b), {.partition_dim = 0, .tile = {96, 0}})", *matrices, kernels=MATMULS)
expect_equal({s for m, s in shapes if m == "psum"}, {"96x400", "24x400"}, "rows of the result on partitions")
_, shapes = tiles("nl::hint(nl::matmul(a, b), {.tile = {1, 20, 40}, .buffers = 1})", *batches, kernels=MATMULS)
expect_equal({s for m, s in shapes if m == "psum"}, {"20x40"}, "one matrix of the batch at a time")

# Kept: a value in HBM, which ends its group, so hints of both sides may differ.
ir, _ = tiles(
    "nl::hint(nl::sqrt(nl::hint(nl::exp(x), {.partition_dim = 0, .in = nl::hbm})), {.partition_dim = 1})", x
)
expect("carried0" in ir, "the value is written out")
expect_equal(len(re.findall(r"activation dst=%t\d+\[0\+(128|44), 0: 1x200\]", ir)), 3, "rows on partitions")
expect_equal(len(re.findall(r"activation dst=%t\d+\[0\+(128|72), 0: 1x300\]", ir)), 2, "then columns")
ir, _ = tiles("nl::exp(nl::hint(nl::transpose(x), {.in = nl::hbm}))", x)
expect("scratch0" in ir, "a transpose that is written out")
ir, _ = tiles("x + nl::cast(nl::hint(nl::iota({300, 200}, 1), {.in = nl::hbm}), nl::float32)", x)
expect("scratch0" in ir, "indices that are written out")

# Refused.
refused(
    "nl::hint(nl::softmax(x), {.partition_dim = 1})",
    "hints.cpp:3: error[T-06]: nl::hint asks for dim 1 of the (300, 200) float32 result of multiply on "
    "partitions, but maximum over dim 1, in the same group, folds the 200 elements of that dim, which each "
    "partition holds\nhints.cpp:3: note: it is folded here\nhelp: ask for dim 0, or leave partition_dim out\n",
    x,
)
refused(
    "nl::hint(nl::softmax(x), {.tile = {100, 50}})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of 50 elements of dim 1 of the (300, 200) float32 "
    "result of multiply, but maximum over dim 1, in the same group, folds all 200 of them at a time\n"
    "hints.cpp:3: note: they are folded here\nhelp: ask for 200, or 0, which leaves it to the compiler\n",
    x,
)
refused(
    "nl::hint(nl::exp(x), {.partition_dim = 0, .tile = {129, 0}})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of 129 elements of dim 0 of the (300, 200) float32 "
    "result of exp, each on a partition of its own, a tile has at most 128 partitions\n"
    "help: ask for 128 or less, or for another partition_dim\n",
    x,
)
tiles("nl::hint(nl::exp(x), {.partition_dim = 0, .tile = {128, 0}})", x)
refused(
    "nl::hint(nl::exp(x), {.tile = {100, 53233}})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of (100, 53233) of the (300, 70000) float32 result of "
    "exp: 212992 bytes of an SBUF partition for the tiles of its group, there are 212984\n"
    "help: at most 53232 elements in place of 53233 fit\n",
    long,
)
kiln("compile", write("nl::hint(nl::exp(x), {.tile = {100, 53232}})"), long, "--emit=nisa")
refused(
    "nl::hint(nl::exp(x), {.tile = {100, 20000}, .buffers = 3})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of (100, 20000), 3 buffers of the (300, 20000) float32 "
    "result of exp: 3 times 80000 bytes of an SBUF partition for the tiles of its group, there are 212984\n"
    "help: at most 2 fit; ask for fewer, or for smaller tiles\n",
    wide,
)
kiln("compile", write("nl::hint(nl::exp(x), {.tile = {100, 20000}, .buffers = 2})"), wide, "--emit=nisa")
refused(
    "nl::hint(nl::sqrt(nl::hint(nl::exp(x), {.partition_dim = 0})), {.partition_dim = 1})",
    "hints.cpp:3: error[T-06]: nl::hint asks for dim 1 on partitions of the (300, 200) float32 result of sqrt, "
    "but the hint of a value that is computed with it asks for something else\n"
    "hints.cpp:3: note: the other hint, of the (300, 200) float32 result of exp\n"
    "help: a group has one layout; let the hints agree, or ask for .in = nl::hbm on the value between them, "
    "which makes two groups\n",
    x,
)
refused(
    "nl::exp(nl::hint(nl::transpose(x), {.partition_dim = 0}))",
    "hints.cpp:3: error[T-06]: nl::hint asks how the (200, 300) float32 result of transpose is computed, but "
    "nothing computes it: a transpose is only another way to read or make elements\n"
    "help: hint a value that is computed, such as the one that reads it\n",
    x,
)
refused(
    "nl::hint(nl::matmul(a, b), {.tile = {129, 129}})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of (129, 129) of the (600, 400) float32 result of "
    "matmul, a matmul writes at most 128 elements of the dim on partitions and 512 of the other\n"
    "help: ask for smaller tiles, or 0, which leaves an extent to the compiler\n",
    *matrices,
    kernels=MATMULS,
)
tiles("nl::hint(nl::matmul(a, b), {.tile = {129, 128}})", *matrices, kernels=MATMULS)
refused(
    "nl::hint(nl::matmul(a, b), {.buffers = 1000})",
    "hints.cpp:3: error[T-06]: nl::hint asks for 1000 buffers of the (600, 400) float32 result of matmul: with "
    "the operands of its matmul they take 833056 bytes of an SBUF partition at least, there are 212984\n"
    "help: ask for fewer buffers\n",
    *matrices,
    kernels=MATMULS,
)
refused(
    "nl::hint(nl::matmul(a, b), {.partition_dim = 0})",
    "hints.cpp:3: error[T-06]: nl::hint asks for dim 0 of the (3, 60, 40) float32 result of matmul on "
    "partitions, but the matmul of its group has one of its last two dims there\n"
    "help: ask for dim 1 or 2, or leave partition_dim out\n",
    *batches,
    kernels=MATMULS,
)
refused(
    "nl::hint(nl::matmul(a, b), {.tile = {2, 0, 0}})",
    "hints.cpp:3: error[T-06]: nl::hint asks for tiles of 2 elements of dim 0 of the (3, 60, 40) float32 "
    "result of matmul, but one matmul writes one matrix of the batch\n"
    "help: ask for 1, or 0, which leaves it to the compiler\n",
    *batches,
    kernels=MATMULS,
)
