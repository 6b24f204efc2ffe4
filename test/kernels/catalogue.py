"""The kernel catalogue: cases of published kernels and of ours, each within the tolerance its card states.

--card NAME runs one card, --nightly its large cases (1 to 30 GMAC, or many elements) instead of the smaller ones.
"""

import argparse

import numpy as np

import references
from kernel_cases import Case, exact_in, kernel_path, within, within_l2, within_rms
from kiln_test import Kiln, expect

# Cases below this are also run in some thirty schedules; above it `kiln run` proves them at least.
SMALL_GMAC = 0.05

CASES = []


def case(*args, **kwargs):
    CASES.append(Case(*args, **kwargs))


def normal(*shapes, times=1.0):
    """Standard normal tensors of these shapes."""
    return lambda rng: [times * rng.standard_normal(shape) for shape in shapes]


def uniform(*shapes, times=1.0):
    return lambda rng: [times * rng.random(shape) for shape in shapes]


def integers(*shapes):
    return lambda rng: [rng.integers(-64, 64, shape).astype(np.float64) for shape in shapes]


# C1, C2, T1: additions. One rounding each, so the card's tolerance would be too kind.
def add(name, kernel, dtype, shape, *scalars):
    case(name, kernel, dtype, normal(shape, shape), lambda a, b, *_: a + b, exact_in(dtype), scalars)


add("C1.1", "vector_add:vector_add_chunks", "fp32", (128,), 128)
add("C1.2", "vector_add:vector_add_chunks", "fp32", (25600,), 128)
add("C1.3", "vector_add:vector_add_chunks", "fp32", (25600,), 1)
add("C1.5 free 2", "vector_add:vector_add_rows", "fp32", (25600,), 2)
add("C1.5 free 200", "vector_add:vector_add_rows", "fp32", (25600,), 200)
add("C1.6 free 1000", "vector_add:vector_add_rows", "fp32", (256000,), 1000)
add("C1.6 free 2000", "vector_add:vector_add_rows", "fp32", (256000,), 2000)
for variant in ("naive", "tiled", "stream"):
    add(f"C1.7 {variant}", f"01_vector_add:vector_add_{variant}", "fp32", (1,))
add("C2.1", "vector_add:vector_add_placed", "fp32", (256000,), 1000, 4)
add("C2.1 ten tiles", "vector_add:vector_add_placed", "fp32", (1280000,), 1000, 4)
for dtype in ("bf16", "fp16"):
    add(f"T1.1 {dtype}", "vector_add:tensor_add", dtype, (256, 1024))
add("T1.2", "vector_add:tensor_add", "fp16", (512, 2048))


# C3, T2: transpositions keep the bits.
def transpose(name, dtype, shape):
    case(name, "02_transpose:transpose", dtype, normal(shape), lambda a: a.T, exact_in(dtype))


transpose("C3.1", "fp32", (1024, 1024))
transpose("C3.2", "fp32", (4096, 4096))
transpose("C3.3", "bf16", (384, 1280))


def transpose_free(name, dtype, partitions, f1, f2):
    case(f"{name} {partitions}x({f1}.{f2})", "images:transpose_free", dtype, integers((partitions, f1 * f2)),
         references.transpose_free, exact_in(dtype), (f1, f2))


transpose_free("T2.1", "int8", 5, 3, 4)
for sizes in ((32, 3, 4), (128, 8, 8), (64, 4, 32), (8, 5, 7)):
    transpose_free("T2.2", "fp32", *sizes)
transpose_free("T2.4", "int8", 128, 1, 64)
transpose_free("T2.4", "int8", 1, 64, 1)


# C4, C5: convolutions.
def conv(name, dtype, B, Ci, Co, K, H, W, pool, check, gmac=0.0, bias_scale=1.0):
    def make(rng):
        return [rng.random((B, Ci, H, W)), rng.random((Co, Ci, K, K)), bias_scale * rng.random(Co)]

    case(f"{name} {dtype} pool {pool}", "08_conv2d:conv2d_maxpool", dtype, make, references.conv2d_maxpool, check,
         (pool,), gmac)


NUMPY_DEFAULT = within(1e-5, 1e-8)
for i, (Ci, Co) in enumerate(((128, 128), (128, 256), (256, 128), (256, 256)), 1):
    conv(f"C4.{i}", "fp32", 4, Ci, Co, 3, 32, 16, 1, NUMPY_DEFAULT)
for dtype, check in (("fp32", NUMPY_DEFAULT), ("fp16", within(1e-2, 1e-4))):
    for pool in (1, 2):
        conv("C4.6", dtype, 1, 256, 256, 3, 224, 224, pool, check, gmac=29.1)
        conv("C4.7", dtype, 1, 256, 256, 3, 32, 16, pool, check)
conv("C4.9", "fp32", 1, 384, 128, 1, 9, 129, 1, NUMPY_DEFAULT)
conv("C5.1", "fp32", 4, 128, 256, 3, 32, 32, 1, NUMPY_DEFAULT, gmac=1.06, bias_scale=50)
conv("C5.2", "fp32", 4, 256, 256, 5, 32, 32, 1, NUMPY_DEFAULT, gmac=5.1, bias_scale=50)
conv("C5.5", "fp16", 3, 256, 256, 3, 17, 33, 1, within(1e-2, 1e-4), bias_scale=50)


# C7: sums of rows, left to right. `special` checks the bits.
def row_sums(name, columns):
    case(name, "rows:row_sum", "fp32", uniform((4096, columns)), lambda x: x.sum(axis=1, keepdims=True),
         within(432 * 2.0**-24))


row_sums("C7.1 seed 3", 128)
row_sums("C7.1 seed 7", 128)
row_sums("C7.2", 127)


# L: the first eight rungs of a ladder, fp32, within 1e-4 of the root mean square.
def rungs(name, M, N, make=None, only=None):
    make = make or normal((M, N))
    rung = within_rms(1e-4)

    def with_rows(*more):  # x, then tensors of one row each
        return lambda rng: make(rng) + [rng.standard_normal((1, N)) for _ in more]

    ladder = [
        ("1", "rows:relu_axb", make, lambda x, a, b: np.maximum(a * x + b, 0), (1.5, -0.25)),
        ("2", "rows:row_sum", make, lambda x: x.sum(axis=1, keepdims=True), ()),
        ("3", "rows:row_max", make, lambda x: x.max(axis=1, keepdims=True), ()),
        ("4", "05_norm:rmsnorm", with_rows("gamma"), references.rmsnorm, (1e-5,)),
        ("5", "04_softmax:softmax", make, references.softmax, ()),
        ("6", "02_transpose:transpose", make, lambda x: x.T, ()),
        ("7", "03_matmul:matmul_tiled", normal((M, N), (M, N)), lambda a, b: a.T @ b, ()),
        ("8", "05_norm:layernorm", with_rows("gamma", "beta"), references.layernorm, (1e-5,)),
    ]
    for number, kernel, inputs, reference, scalars in ladder:
        if only is None or number in only:
            check = exact_in("fp32") if number in "36" else rung
            case(f"{name} rung {number}", kernel, "fp32", inputs, reference, check, scalars)


def negative_rows(rng):
    """All values negative; one row is the most negative number throughout."""
    x = -1 - rng.random((64, 512))
    x[17] = np.finfo(np.float32).min
    return [x]


rungs("L.1", 128, 512)
rungs("L.2", 200, 300)
rungs("L.3", 64, 512, negative_rows, only=("3",))
case("L.3 rung 5", "04_softmax:softmax", "fp32", negative_rows, references.softmax, within_rms(1e-4))


# T3: average pooling. Sums of small integers are exact, their mean is rounded.
def pool(name, dtype, C, side, window):
    shape = (C, side, side)
    label = f"{name} {C}x{side}x{side} pool {window}"
    exact = window in (1, 2, 4)  # a division by a power of two
    half_unit = {"fp32": 1e-6, "bf16": 2.0**-8}[dtype]
    case(f"{label} integers", "images:average_pool", dtype, integers(shape), references.average_pool,
         exact_in(dtype) if exact else within(half_unit), (window,))
    case(label, "images:average_pool", dtype, uniform(shape), references.average_pool, within(half_unit), (window,))


pool("T3.1", "bf16", 2, 6, 2)
pool("T3.2", "fp32", 32, 32, 2)
pool("T3.2", "fp32", 128, 16, 4)
pool("T3.2", "fp32", 8, 24, 3)
pool("T3.2", "fp32", 64, 8, 2)
pool("T3.4", "bf16", 130, 12, 3)


# T4: the matmul ladder. Cases with several kernels must agree bit for bit.
LADDER = ["03_matmul:matmul_tiled", "03_matmul:matmul_hoisted", "03_matmul:matmul_blocked",
          "matmul:matmul_block_free", "matmul:matmul_optimised"]


def matmul(name, dtype, M, K, N, kernels=LADDER, check=within(1e-2, 1e-4), times=1.0):
    gmac = M * K * N / 1e9
    for kernel in kernels:
        case(name, kernel, dtype, uniform((K, M), (K, N), times=times), lambda a, b: a.T @ b, check, gmac=gmac)


matmul("T4.1", "bf16", 64, 128, 512, ["matmul:matmul_basic"] + LADDER)
matmul("T4.2", "bf16", 4096, 1024, 2048)
matmul("T4.3", "fp16", 4096, 1024, 2048)
matmul("T4.4", "bf16", 128, 1024, 1024)
matmul("T4.5", "bf16", 512, 512, 512)
matmul("T4.6", "fp32", 96, 64, 160, ["matmul:matmul_basic"] + LADDER)
matmul("T4.8 K 2048", "bf16", 1, 2048, 1)
matmul("T4.8 K 1", "bf16", 128, 1, 512, ["matmul:matmul_basic"] + LADDER)
for name, sizes, check in (("T4.4", (128, 1024, 1024), within_l2(3e-3)), ("T4.5", (512, 512, 512), within_l2(3e-3))):
    M, K, N = sizes
    case(f"{name} normal", "03_matmul:matmul_blocked", "bf16", normal((K, M), (K, N), times=0.1),
         lambda a, b: a.T @ b, check)


# T6: selective scans.
def mamba(name, C, S, L, check):
    def make(rng):
        shapes = ((C, L), (C, L), (C, S), (S, L), (S, L))
        return [0.05 * rng.standard_normal(shape) for shape in shapes]

    case(name, "07_mamba:mamba_scan", "fp32", make, references.mamba_scan, check)


for name, C, S, L in (("T6.1", 256, 16, 512), ("T6.2", 256, 16, 2048), ("T6.3", 256, 16, 7168), ("T6.5", 128, 1, 1)):
    mamba(name, C, S, L, within_l2(2e-5))


# T7: attention without a causal mask.
def attention(name, dtype, d, L, check, scale=1.0):
    case(f"{name} {dtype}", "06_attention:attention_fwd", dtype, normal((d, L), (d, L), (L, d)), references.attention,
         check, (scale,), gmac=2 * L * L * d / 1e9)


# Values reach 4, where half a unit of bfloat16 exceeds 1e-2 already: rounding the result comes on top.
for dtype, rounding in (("fp32", 0), ("bf16", 2.0**-9)):
    attention("T7.1", dtype, 128, 128, within(rounding, 1e-2))
    attention("T7.2", dtype, 128, 4096, within(rounding, 1e-2))
attention("T7.3", "fp32", 64, 4096, within(1e-3, 1e-4), scale=0.125)
attention("T7.4", "fp32", 128, 1024, within(0, 1e-2))
attention("T7.7", "fp32", 8, 640, within(0, 1e-2))


# T8: windows that overlap. A maximum is exact.
def max_pool(name, dtype, H, W, k, **options):
    case(f"{name} {H}x{W} window {k} {dtype}", "09_max_pool:max_pool", dtype, normal((H, W)), references.max_pool,
         exact_in(dtype), (k,), **options)


max_pool("T8.1", "fp32", 448, 448, 3)
max_pool("T8.2", "fp32", 4096, 4096, 3, is_large=True)
for rows in (127, 128, 129, 130, 131):  # 130 rows give 128: one tile
    max_pool("T8.4", "bf16", rows, 9, 3)
max_pool("T8.5", "fp16", 150, 8, 8)
max_pool("T8.5", "fp32", 33, 7000, 2)


# T11: windows of different sizes. Two roundings of float32 and one to the dtype.
def adaptive_pool(name, dtype, shape, rows, columns):
    half_unit = {"fp32": 0, "fp16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    case(f"{name} {shape} to {rows}x{columns} {dtype}", "images:adaptive_average_pool", dtype, uniform(shape),
         references.adaptive_average_pool, within(half_unit + 1.5e-6), (rows, columns))


adaptive_pool("T11.1", "fp32", (1, 64, 56, 56), 7, 7)
adaptive_pool("T11.2", "fp32", (2, 128, 28, 28), 7, 7)
for dtype in ("fp16", "bf16"):
    adaptive_pool("T11.3", dtype, (1, 256, 14, 14), 7, 7)
adaptive_pool("T11.4", "fp32", (1, 512, 7, 7), 1, 1)
adaptive_pool("T11.5", "fp32", (4, 64, 56, 56), 7, 7)
adaptive_pool("T11.6", "fp32", (2, 128, 28, 28), 14, 14)
adaptive_pool("T11.7", "fp32", (3, 43, 10, 13), 7, 5)  # windows that overlap, 129 images
adaptive_pool("T11.7", "bf16", (1, 5, 3, 2), 5, 7)  # more outputs than inputs


# T12: an image in another size, by DMA alone. Integers would hide a wrong pixel: all values differ.
def resize(name, dtype, shape, rows, columns, **options):
    case(f"{name} {shape} to {rows}x{columns} {dtype}", "images:nearest_resize", dtype, normal(shape),
         references.nearest_resize, exact_in(dtype), (rows, columns), **options)


resize("T12.1", "fp32", (10, 30, 20, 1280), 59, 38, is_large=True)
for dtype in ("fp16", "bf16"):
    resize("T12.2", dtype, (1, 30, 20, 1280), 59, 38)
resize("T12.3", "fp32", (3, 5, 7, 33), 11, 20)
resize("T12.3", "fp32", (2, 11, 20, 33), 5, 7)  # fewer pixels
resize("T12.3", "int8", (2, 4, 4, 1), 4, 9)
resize("T12.3", "bf16", (1, 1, 1, 3), 2, 1)


# N12, N13: published seeds, one float32 function or step; the cards' 2e-5 would hide a wrong formula.
for i, seed in enumerate((0, 21, 42, 63, 84)):
    case(f"N12.2 seed {seed}", "pointwise:silu", "fp32", normal((512, 896)), references.silu, within_l2(2e-7))
    case(f"N13.2 seed {seed}", "pointwise:adamw", "fp32",
         lambda rng: [rng.standard_normal((1000, 512)) for _ in range(3)] + [rng.standard_normal((1000, 512))**2],
         references.adamw, within_l2(3e-7), (1e-3, 0.9, 0.999, 1e-8, 0.01, 1 + 5 * i))
case("N12.1", "pointwise:silu", "fp32", normal((4096, 7168)), references.silu, within_l2(2e-7), is_large=True)
case("N12.3", "pointwise:silu", "fp32", normal((129, 4097)), references.silu, within_l2(2e-7))
case("N13.1", "pointwise:adamw", "fp32",
     lambda rng: [rng.standard_normal((10944, 2048)) for _ in range(3)] + [rng.standard_normal((10944, 2048))**2],
     references.adamw, within_l2(3e-7), (1e-3, 0.9, 0.999, 1e-8, 0.01, 10), is_large=True)


# A5: rotary embeddings of halves.
def rope_halves(name, dtype, d, B, heads, S):
    def make(rng):
        angles = rng.uniform(0, 2 * np.pi, (d // 2, B, S))
        return [rng.standard_normal((d, B, heads, S)), np.cos(angles), np.sin(angles)]

    check = within(2.0**-8, 1e-3) if dtype == "bf16" else within_l2(1e-7)
    case(f"{name} d {d} B {B} heads {heads} S {S} {dtype}", "pointwise:rope_halves", dtype, make, references.rope_halves,
         check)


rope_halves("A5.1", "fp32", 128, 1, 1, 4096)
for sizes in ((64, 1, 1, 16), (128, 1, 8, 128), (128, 8, 8, 16), (64, 64, 1, 128)):
    rope_halves("A5.2", "bf16", *sizes)
rope_halves("A5.3", "fp32", 10, 2, 5, 1027)


# W: whole tensors, cut by the compiler. Two roundings to the dtype at most, and float32 sums.
def whole(name, kernel, make, reference, scalars=(), gmac=0.0):
    for dtype, bound in (("fp32", 2e-6), ("bf16", 3e-3), ("fp16", 4e-4)):
        case(f"{name} {kernel} {dtype}", f"10_whole_tensor:{kernel}", dtype, make, reference, within_l2(bound), scalars, gmac)


def whole_matmuls(name, M, K, N):
    def scaled(*shapes):  # weights that keep the products near 1
        return lambda rng: [rng.standard_normal((M, K))] + [rng.standard_normal(s) / np.sqrt(s[0]) for s in shapes]

    gmac = M * K * N / 1e9
    whole(name, "matmul", scaled((K, N)), np.matmul, gmac=gmac)
    whole(name, "matmul_bias_gelu", scaled((K, N), (1, N)), lambda x, w, b: references.gelu(x @ w + b), gmac=gmac)
    whole(name, "rmsnorm_matmul", scaled((1, K), (K, N)), lambda x, g, w, eps: references.rmsnorm(x, g, eps) @ w, (1e-5,),
          gmac=gmac)
    whole(name, "mlp_swiglu", scaled((K, N), (K, N), (N, K)),
          lambda x, g, u, d: (references.silu(x @ g) * (x @ u)) @ d, gmac=3 * gmac)


def whole_rows(name, M, N):
    whole(name, "softmax", normal((M, N)), references.softmax)
    whole(name, "layernorm", normal((M, N), (1, N), (1, N)), references.layernorm, (1e-5,))
    whole(name, "rope", normal((M, 2 * N), (M, N), (M, N)), references.rope)
    whole(name, "transpose_add", normal((M, N), (N, M)), lambda a, b: a + b.T)


whole_matmuls("W.1", 2, 63, 129)
whole_matmuls("W.2", 256, 512, 640)
whole_matmuls("W.3", 1000, 300, 1152)
whole_rows("W.4", 200, 1000)
whole_rows("W.5", 1, 4097)
whole_rows("W.6", 1025, 63)
for name, sizes in (("W.7", (1024, 1024, 1024)), ("W.8", (4096, 1024, 2048))):
    whole(name, "matmul", normal(sizes[:2], sizes[1:], times=0.1), np.matmul, gmac=np.prod(sizes) / 1e9)


def special_cases(kiln, card):
    """What is not a comparison with a reference; returns how many there were."""
    vectors = ["rand:25600:float32:1", "rand:25600:float32:2"]
    if card == "C1":
        _, stderr = kiln("run", kernel_path(kiln, "vector_add:vector_add_chunks"), *vectors, 256, code=1)
        expect("error[P-01]: this tile needs 256 partitions, the core has 128" in stderr, f"C1.4: {stderr}")
        expect("called from vector_add.cpp:" in stderr, f"C1.4 names the kernel's line: {stderr}")
        return 1
    if card == "C2":
        return overlapping_tiles(kiln)
    if card == "C7":
        return left_to_right(kiln)
    return 0


def left_to_right(kiln):
    """C7: the bits of a sequential float32 sum; and the bound of C7.1 notices a weight that was dropped."""
    for seed in (3, 7):
        weights = np.random.default_rng(seed).random((4096, 128), dtype=np.float32)
        np.save(kiln.scratch / "weights.npy", weights)
        kiln("run", kernel_path(kiln, "rows:row_sum"), "weights.npy", "-o", "sums.npy")
        sums = np.zeros(4096, np.float32)
        for column in weights.T:
            sums += column
        expect(np.array_equal(np.load(kiln.scratch / "sums.npy")[:, 0], sums), f"C7.1 seed {seed}: other bits")
        np.save(kiln.scratch / "weights.npy", weights[:, :127])
        kiln("run", kernel_path(kiln, "rows:row_sum"), "weights.npy", "-o", "sums.npy")
        dropped = np.load(kiln.scratch / "sums.npy").astype(np.float64)
        exact = weights.sum(axis=1, keepdims=True, dtype=np.float64)
        expect(within(432 * 2.0**-24)(dropped, exact, None), "C7.2: the bound does not notice a dropped weight")
    return 4


def overlapping_tiles(kiln):
    """C2.2: tiles placed over each other are an error; demoted, the kernel runs and the sum is wrong."""
    kernel = kernel_path(kiln, "vector_add:vector_add_overlapping")
    vectors = ["rand:256000:float32:1", "rand:256000:float32:2"]
    _, stderr = kiln("run", kernel, *vectors, 1000, code=1)
    expect("error[M-04]: 't1' (bytes 0 to 3999 of sbuf) overwrites 't0' (bytes 0 to 3999)" in stderr, f"C2.2: {stderr}")
    _, stderr = kiln("run", "-Wno-error=M-04", kernel, *vectors, 1000, "-o", "wrong.npy")
    expect("warning[M-04]" in stderr, f"C2.2 warns: {stderr}")
    kiln("run", kernel_path(kiln, "vector_add:vector_add_rows"), *vectors, 1000, "-o", "right.npy")
    wrong, right = (np.load(kiln.scratch / f"{name}.npy") for name in ("wrong", "right"))
    expect((wrong != right).any(), "C2.2: overlapping tiles give the right sum")
    return 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--card", required=True)
    parser.add_argument("--nightly", action="store_true")
    kiln = Kiln(parser)
    card, nightly = kiln.options.card, kiln.options.nightly
    chosen = [c for c in CASES if c.name.startswith(card + ".") and c.is_large == nightly and c.gmac <= 30]
    bits = {}
    for c in chosen:
        result = c.run(kiln)
        # Several kernels of one case give one result.
        expect(bits.setdefault(c.name, result) == result, f"{c.name}: {c.kernel} gives other bits")
        if nightly or c.gmac < SMALL_GMAC:
            c.check_streams(kiln)
    done = len(chosen) + (0 if nightly else special_cases(kiln, card))
    expect(done > 0, f"no case of card {card}")
    print(f"{card}: {done} cases")


main()
