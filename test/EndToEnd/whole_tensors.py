"""Each function of whole tensors, and values that meet memory, against NumPy.

What NumPy computes in float32 with one rounding is compared bit for bit; functions are compared with
float64 rounded once, within one unit; sums within what float32 sums may lose. Shapes are odd, and
special values are among the elements. The kernels are in whole_tensors.cpp.
"""

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
source = kiln.source / "test" / "EndToEnd" / "whole_tensors.cpp"
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3.4e38, 1.0, -1.0, 0.5, 2.0**24 + 2], np.float32)
count = 0


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def spiced(seed, *shape):
    """Normal numbers, with the special ones among them."""
    x = normal(seed, *shape).reshape(-1)
    where = np.random.default_rng(seed + 1).permutation(x.size)[: len(SPECIAL) * 3]
    x[where] = np.resize(SPECIAL, len(where))
    return x.reshape(shape)


def run(kernel, *arguments, outputs=1):
    """Results of a kernel; proves its streams, too."""
    global count
    count += 1
    spelled = []
    for i, a in enumerate(arguments):
        if isinstance(a, tuple):  # an array as another dtype
            np.save(kiln.scratch / f"in{i}.npy", a[0])
            spelled.append(f"in{i}.npy:{a[1]}")
        elif isinstance(a, np.ndarray):
            np.save(kiln.scratch / f"in{i}.npy", a)
            spelled.append(f"in{i}.npy")
        else:
            spelled.append(str(a).lower() if isinstance(a, bool) else a)
    files = [f"out{i}.npy" for i in range(outputs)]
    kiln("run", f"{source}:{kernel}", *spelled, *(word for f in files for word in ("-o", f)))
    results = [np.load(kiln.scratch / f) for f in files]
    return results[0] if outputs == 1 else results


def same(found, expected, what):
    """Equal shape, dtype and bits; NaN is NaN."""
    expected = np.asarray(expected)
    expect_equal((found.shape, found.dtype), (expected.shape, expected.dtype), what)
    if found.dtype.kind == "f":
        equal = (found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}")) | (np.isnan(found) & np.isnan(expected))
    else:
        equal = found == expected
    places = np.argwhere(~equal)
    expect(not len(places), f"{what}: {len(places)} differ, the first at {places[:1]}: {found[~equal][:1]} for {expected[~equal][:1]}")


def near(found, exact, what, units=1.0, scale=None):
    """Within `units` of float32 of the float64 reference, or of `scale`."""
    expect_equal(found.shape, exact.shape, what)
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.abs(rounded if scale is None else np.float32(scale)))
        wrong = (np.abs(found.astype(np.float64) - exact) > units * unit) & np.isfinite(rounded)
        wrong |= ~np.isfinite(rounded) & ~((found == rounded) | (np.isnan(found) & np.isnan(rounded)))
    expect(not wrong.any(), f"{what}: {wrong.sum()} differ, {found[wrong][:3]} for {exact[wrong][:3]}")


def bfloat16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


# ---- element by element ---------------------------------------------------

np.seterr(all="ignore")
erf = np.vectorize(__import__("math").erf, otypes=[float])
FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "abs": np.abs,
    "square": np.square, "sign": np.sign, "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": erf, "sin": np.sin, "arctan": np.arctan,
    "softplus": lambda x: np.logaddexp(0, x), "reciprocal": lambda x: 1 / x, "negative": np.negative,
    "not": lambda x: (x == 0) * 1.0,
}
DOMAINS = {"log": (0.01, 50), "sqrt": (0, 50), "rsqrt": (0.01, 50), "sin": (-3, 3), "arctan": (-1.5, 1.5)}
for i, (name, function) in enumerate(FUNCTIONS.items()):
    shape = (3, 67, 11) if i % 2 else (131, 5)
    x = np.random.default_rng(i).uniform(*DOMAINS.get(name, (-4, 4)), shape).astype(np.float32)
    near(run("unary", x, name), function(x.astype(np.float64)), name, units=0.501)
wide = normal(1, 150, 7).astype(np.float64)
near(run("unary", wide.astype(np.float32), "silu"), wide / (1 + np.exp(-wide)), "silu", units=0.501)
near(run("unary", wide.astype(np.float32), "gelu"), 0.5 * wide * (1 + erf(wide / np.sqrt(2))), "gelu", units=1, scale=1)
same(run("unary", spiced(2, 7, 300), "copy"), spiced(2, 7, 300), "copy keeps bits")

OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}
SHAPES = [((5, 130), (5, 130)), ((129, 3), (1, 3)), ((2, 3, 64), (64,)), ((4, 1, 9), (1, 140, 1)), ((1,), (6, 7))]
for i, (name, function) in enumerate(OPERATORS.items()):
    first, second = SHAPES[i % len(SHAPES)]
    x, y = spiced(10 + i, *first), spiced(40 + i, *second)
    same(run("binary", x, y, name), function(x, y).astype(np.float32), f"{name} of {first} and {second}")
x, y = spiced(3, 60, 33), spiced(4, 60, 33)
nan = np.isnan(x) | np.isnan(y)
larger = np.where(nan, np.float32(np.nan), np.where((x > y) | ((x == y) & ~np.signbit(x)), x, y))
smaller = np.where(nan, np.float32(np.nan), np.where((x < y) | ((x == y) & np.signbit(x)), x, y))
same(run("binary", x, y, "maximum"), larger, "maximum")
same(run("binary", x, y, "minimum"), smaller, "minimum")
for name, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
    same(run("binary", x, y, name), function(x, y).astype(np.float32), name)
same(run("binary", x, y, "/"), x * (1 / y), "quotient")  # the reciprocal is rounded first
seven = np.float32(7)
for which, expected in enumerate((np.float32(3) - x * np.float32(0.5), x * (1 / seven), seven * (1 / x),
                                  np.where(x > 0, x, np.float32(0.1) * x),
                                  np.where(np.isnan(x), x, np.clip(x, -1, 1)))):
    same(run("numbers", x, which), expected, f"numbers {which}")
condition = (normal(5, 60, 1) > 0).astype(np.float32)
same(run("choose", condition, x, y), np.where(condition, x, y), "where keeps bits")

# ---- reductions and products ----------------------------------------------

for shape in ((7, 130, 9), (150, 1, 3)):
    # Few digits, so that sums are exact in any order; no -0, which NumPy does not tell from 0.
    x = np.round(normal(6, *shape) * 8) / 8 + np.float32(0)
    for axis in (0, 1, -1):
        for name, function in (("sum", np.sum), ("max", np.max), ("min", np.min)):
            keep = axis == 1
            same(run("reduce", x, name, axis, keep), function(x, axis=axis, keepdims=keep), f"{name} of {shape} over {axis}")
        wide = x.astype(np.float64)
        near(run("reduce", x, "mean", axis, False), wide.mean(axis), f"mean over {axis}", units=2)
        near(run("reduce", x, "var", axis, True), wide.var(axis, keepdims=True), f"var over {axis}", units=32, scale=1)
        e = np.exp(wide - wide.max(axis, keepdims=True))
        near(run("reduce", x, "softmax", axis, False), e / e.sum(axis, keepdims=True), f"softmax over {axis}", units=16, scale=1)
        same(run("reduce", x, "all", axis, False), (x != 0).all(axis).astype(np.float32), f"all over {axis}")
    signs = np.where(x < 0, np.float32(-1), np.float32(1)) * np.where(np.arange(shape[1])[:, None] < 20, 2, 1).astype(np.float32)
    same(run("reduce", signs, "prod", 1, False), np.prod(signs, axis=1), f"prod of {shape}")
    for axes in ((0, 1), (1, 2), (0, 2)):
        same(run("reduce_two", x, *axes), x.sum(axis=axes), f"sum of {shape} over {axes}")
    near(run("reduce_all", x), x.astype(np.float64).mean(keepdims=True).reshape(1), f"mean of {shape}", units=2)
poisoned = normal(7, 140, 33)
poisoned[3, 5], poisoned[77, 0] = np.nan, -np.inf
same(run("reduce", poisoned, "max", 1, False), np.where(np.arange(140) == 3, np.float32(np.nan), poisoned.max(1)), "max of NaN")

for turn_x in (False, True):
    for turn_y in (False, True):
        for batch_x, batch_y in (((), ()), ((3,), (1,)), ((), (2, 1))):
            a = np.round(normal(8, *batch_x, 129, 70) * 4) / 4
            b = np.round(normal(9, *batch_y, 70, 65) * 4) / 4
            found = run("product", a.swapaxes(-1, -2).copy() if turn_x else a, b.swapaxes(-1, -2).copy() if turn_y else b,
                        turn_x, turn_y)
            same(found, np.matmul(a, b), f"matmul {turn_x} {turn_y} {batch_x} {batch_y}")

for terms in (2, 8, 9, 50):
    a, b = np.round(normal(21, terms, 8, 3) * 4) / 4, np.round(normal(22, terms, 3, 600) * 4) / 4
    same(run("sum_of_products", a, b), np.einsum("imk,ikn->mn", a, b), f"sum of {terms} products")

# ---- movement ---------------------------------------------------------------

x = spiced(11, 4, 37, 5)
e = np.exp(x.astype(np.float64)).astype(np.float32)
split = x.reshape(2, 2, 37, 5).transpose(0, 2, 1, 3).reshape(74, 10)
for name, expected in {
    "transpose": x.T, "permute": x.transpose(1, 2, 0), "reshape": x.reshape(37, -1), "view": x.transpose(2, 0, 1)[1:3] + 0,
    "concatenate": np.concatenate([x, x[:1], x]), "concatenate last": np.concatenate([x, x[:, :, 1:3]], -1),
    "stack first": np.stack([x[0], x[1]]), "stack last": np.stack([x[0], x[1]], -1),
    "pad": np.pad(x, ((1, 0), (0, 2), (3, 1)), constant_values=-2.5),
    "broadcast": np.broadcast_to(x[0][:, None], (37, 3, 5)), "split": split,
}.items():
    same(run("move", x, name), expected, name)
near(run("move", x, "slice"), e[1::2, :, :-1].astype(np.float64), "slice", units=0.501)
near(run("move", x, "element"), e[-1, :, 2].astype(np.float64), "element", units=0.501)
x = normal(12, 133, 150)
same(run("causal", x), np.where(np.arange(150) <= np.arange(133)[:, None], x, np.float32(-1e30)), "causal mask")

# ---- dtypes -------------------------------------------------------------------

i, j = (np.random.default_rng(s).integers(-(2**31), 2**31, (9, 140), dtype=np.int64).astype(np.int32) for s in (13, 14))
same(run("integers", i, j, "add"), i + j, "int32 sum, modulo 2^32")
small = i // 4
same(run("integers", small, j, "one more"), small + np.int32(1), "int32 + 1")
same(run("integers", i, j, "and"), i & j, "int32 and")
same(run("integers", i, j, "invert"), ~i, "int32 invert")
same(run("integers", i, j, "shift"), i << 3, "int32 shift")
values = np.array([[0.5, 1.5, 2.5, -0.5, 127.5, 300, -300, np.nan, np.inf, -np.inf]], np.float32)
same(run("to_int8", values), np.array([[0, 2, 2, 0, 127, 127, -128, 0, 127, -128]], np.int8), "float32 to int8")
x = bfloat16(normal(15, 30, 200))
same(run("unary", (x, "bf16"), "square"), bfloat16(x * x), "bfloat16 in, bfloat16 out")
same(run("binary", (x, "bf16"), x, "*"), x * x, "bfloat16 beside float32")
near(run("said", x), bfloat16(np.exp(x.astype(np.float64))).astype(np.float64), ".dtype rounds once", units=0.501)

# ---- values and memory --------------------------------------------------------

x = normal(16, 200, 70)
same(run("twice_in_place", x), x * np.float32(3) + x, "stores to what was loaded")
x = normal(17, 128, 33)
same(run("snapshots", x), (x * np.float32(10) + (x + np.float32(1))) + np.float32(0), "snapshots of a tile")
x = normal(18, 300, 50)
sums = np.zeros(300, np.float32)
for column in np.abs(x).T:
    sums += column
same(run("soft_sign_rows", x), x * (1 / (np.float32(1) + sums[:, None])), "by hand and by the compiler")
x = normal(19, 140, 60)
same(run("parts", x), bfloat16(np.stack([x.T, x.T * np.float32(2), x.T * np.float32(3)])), "parts of a result")
x = normal(20, 100, 33)
found = run("shared", x, outputs=4)
near(found[0], np.exp(x.astype(np.float64)), "a shared value", units=0.501)
same(found[1], found[0] * found[0], "its square")
same(found[2], found[0], "its tile")
near(found[3], found[0].astype(np.float64).sum(1, keepdims=True), "its sums", units=16)
x = np.round(normal(23, 128, 4, 32) * 4) / 4
found = run("from_tiles", x, outputs=5)
same(found[0], x[32:64, :, 1::3] * 2, "a strided part of a tile")
same(found[1], x[64:, 2].T + np.float32(0), "a part of a tile, transposed")
same(found[2], x.max(0), "the maximum over partitions")
same(found[3], x[:, 0].T @ x[:, 3] * np.float32(0.5), "a product in PSUM")
near(found[4], np.exp(x[96:97, 1, 5:6].astype(np.float64)), "one element of a tile", units=0.501)
x = np.round(normal(24, 128, 32) * 4) / 4
expected = np.full((128, 3, 32), -1, np.float32)
expected[32:64, 0], expected[64:, 1, ::4], expected[:, 2, 5] = x[:32] + 1, x[:64, :8] * 2, x.sum(1)
expected[:32, 2] = x[:32].T
same(run("to_tiles", x), expected, "stores to parts of a tile")
x = normal(25, 4, 30, 10)
expected = np.zeros((30, 2, 40), np.float32)
expected[:, :, 3::4] = 7
expected[:, 0, ::4] = x[0] + x[1]
expected[:, 0, 1::4] = x[2]
expected[:, :, 2::4] = (x[3:] + x[::2]).transpose(1, 0, 2)
same(run("hbm_views", x), expected, "views of HBM")
x = normal(26, 100, 2, 7)
near(run("narrow_tile", x), bfloat16(np.exp(x.astype(np.float64))).astype(np.float64).reshape(100, 14) * 4, "a 16-bit tile",
     units=0.501)
print(f"{count} runs")
