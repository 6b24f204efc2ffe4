"""8-bit floats and tfloat32: all codes and roundings against tables made of fractions, matmuls against float64."""

from fractions import Fraction

import numpy as np

from kiln_test import Kiln, expect

kiln = Kiln()
SOURCE = kiln.source / "test/kernels/fp8.cpp"
SEED = 20


def run(kernel, *arguments):
    """The result of a kernel of fp8.cpp on arrays ('array', 'array:dtype' as pairs) and numbers."""
    spelled = []
    for i, argument in enumerate(arguments):
        array, cast = argument if isinstance(argument, tuple) else (argument, "")
        if isinstance(array, np.ndarray):
            np.save(kiln.scratch / f"a{i}.npy", array)
            array = f"a{i}.npy"
        spelled.append(f"{array}:{cast}" if cast else str(array))
    kiln("run", f"{SOURCE}:{kernel}", *spelled, "-o", "y.npy")
    return np.load(kiln.scratch / "y.npy")


# ---- the formats, from their definition


class Format:
    def __init__(self, exponent_bits, mantissa_bits):
        self.mantissa_bits = mantissa_bits
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.infinity = (2**exponent_bits - 1) << mantissa_bits  # the code; NaNs are above it

    def value(self, code):
        """The number of a code below the infinity, exactly."""
        exponent, mantissa = code >> self.mantissa_bits, code & (2**self.mantissa_bits - 1)
        whole = mantissa + (2**self.mantissa_bits if exponent else 0)
        return Fraction(whole) * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa_bits)

    def table(self):
        """The value of each of the 256 codes, NaNs as None."""
        half = [self.value(code) for code in range(self.infinity)] + [float("inf")]
        half += [None] * (128 - len(half))
        return half

    def nearest(self, x):
        """The code a float rounds to; ties to the even code."""
        if np.isnan(x):
            return self.infinity | 1 << (self.mantissa_bits - 1)
        sign = 128 if np.signbit(x) else 0
        if np.isinf(x):
            return sign | self.infinity
        exact = abs(Fraction(float(x)))
        numbers = [self.value(code) for code in range(self.infinity)]
        # What the code of the infinity would be as a number: from half way to it on, it is one.
        numbers.append(numbers[-1] + (numbers[-1] - numbers[-2]))
        above = next((c for c, n in enumerate(numbers) if n >= exact), self.infinity)
        below = max(above - 1, 0) if numbers[min(above, self.infinity)] != exact else above
        lower, upper = exact - numbers[below], numbers[above] - exact
        if exact >= numbers[-1]:
            return sign | self.infinity
        if lower == upper:
            return sign | (below if below % 2 == 0 else above)
        return sign | (below if lower < upper else above)


FORMATS = {"e4m3": Format(4, 3), "e5m2": Format(5, 2)}


def codes_widen(name, fmt):
    codes = np.arange(256, dtype=np.uint8).reshape(2, 128)
    found = run(f"widen_{name}", codes).reshape(-1)
    for code, value in enumerate(found):
        number = fmt.table()[code & 127]
        if number is None:
            expect(np.isnan(value), f"{name} code {code:#x} is {value}, not a NaN")
            continue
        expected = -float(number) if code & 128 else float(number)
        same = np.float32(expected).view(np.uint32) == np.float32(value).view(np.uint32)
        expect(same, f"{name} code {code:#x} is {value}, not {expected}")


def floats_narrow(name, fmt):
    numbers = [float(fmt.value(code)) for code in range(fmt.infinity)]
    edges = []
    for low, high in zip(numbers, numbers[1:] + [2 * numbers[-1] - numbers[-2]]):
        middle = np.float32((low + high) / 2)
        edges += [np.float32(low), middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf))]
    edges += [np.float32(x) for x in (np.inf, np.nan, 0, 1e-45, 3e38, 240, 247.99, 248, 249, 57344, 61439, 61440)]
    values = np.array(edges + [-x for x in edges], np.float32)
    values = np.concatenate([values, np.random.default_rng(SEED).standard_normal(512).astype(np.float32)])
    values = np.resize(values, (16, -(-len(values) // 16)))
    found = run(f"narrow_{name}", values)
    for x, code in zip(values.reshape(-1), found.reshape(-1)):
        expected = fmt.nearest(x)
        expect(code == expected, f"{name}: {x!r} gives code {code:#x}, not {expected:#x}")


def nearest_of(fmt, values):
    """`Format.nearest` of many float32 at once: all ends of the intervals of rounding are exact in float64."""
    numbers = np.array([float(fmt.value(code)) for code in range(fmt.infinity)])
    numbers = np.append(numbers, 2 * numbers[-1] - numbers[-2])
    middles = (numbers[:-1] + numbers[1:]) / 2
    wide = np.abs(values.astype(np.float64))
    code = np.searchsorted(middles, wide, "left")  # a tie goes down
    tie = (code < len(middles)) & (middles[np.minimum(code, len(middles) - 1)] == wide)
    code = np.where(tie & (code % 2 == 1), code + 1, code) | np.where(np.signbit(values), 128, 0)
    return np.where(np.isnan(values), fmt.infinity | 1 << (fmt.mantissa_bits - 1), code)


def all_halves_narrow(name, fmt):
    """Every float16 and every bfloat16."""
    bits = np.arange(65536, dtype=np.uint32)
    halves, brains = bits.astype(np.uint16).view(np.float16).astype(np.float32), (bits << 16).view(np.float32)
    for cast, values in (("f16", halves), ("bf16", brains)):
        found = run(f"narrow_{name}", (values.reshape(128, 512), cast)).reshape(-1)
        wrong = np.nonzero(found != nearest_of(fmt, values))[0]
        expect(len(wrong) == 0, f"{name}: {len(wrong)} wrong of {cast}, the first with bits {wrong[:1]}")


def tf32(x):
    """Float32 numbers rounded to 10 mantissa bits, by arithmetic in float64."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.round(np.ldexp(mantissa, 11)), exponent - 11)


def tf32_rounds():
    x = np.random.default_rng(SEED).standard_normal((64, 96)).astype(np.float32)
    x.reshape(-1)[:4] = np.array([1 + 2**-11, 1 + 3 * 2**-11, -(1 + 2**-11), 65504 + 31.5], np.float32)
    expect((run("narrow_tf32", x) == tf32(x)).all(), "tfloat32 does not round to 10 mantissa bits")
    a = np.random.default_rng(SEED + 1).standard_normal((100, 33)).astype(np.float32)
    b = np.random.default_rng(SEED + 2).standard_normal((100, 70)).astype(np.float32)
    close(run("matmul_tf32", a, b), tf32(a).T @ tf32(b), 1e-6, "tfloat32 matmul")


# ---- casts by DMA, bits through the array, whole tensors


def numbers_of(dtype):
    """The numbers of an 8-bit dtype that are not negative, in the order of their codes, and what follows the last."""
    if dtype != "e4m3fn":
        return [float(FORMATS[dtype].value(code)) for code in range(FORMATS[dtype].infinity)], np.inf
    return numbers_of("e4m3")[0] + [32.0 * m for m in range(8, 15)], np.nan


def widened(dtype, codes):
    numbers, beyond = numbers_of(dtype)
    half = np.array(numbers + [beyond] + [np.nan] * (127 - len(numbers)))
    return np.where(codes & 128, -half[codes & 127], half[codes & 127])


def rounded(dtype, values):
    """The number of an 8-bit dtype nearest to each float64, ties to the even code."""
    numbers, beyond = numbers_of(dtype)
    numbers = np.array(numbers + [2 * numbers[-1] - numbers[-2]])
    middles, wide = (numbers[:-1] + numbers[1:]) / 2, np.abs(values)
    code = np.searchsorted(middles, wide, "left")
    code += (middles[np.minimum(code, len(middles) - 1)] == wide) & (code % 2 == 1)
    found = np.where(code == len(numbers) - 1, beyond, numbers[code * (code < len(numbers))])
    return np.where(np.isnan(values), np.nan, np.copysign(found, values))


def dma_pairs():
    codes = np.arange(256, dtype=np.uint8).reshape(4, 64)
    for source, start in enumerate(("e4m3", "e5m2", "e4m3fn")):
        for target, end in enumerate(("e4m3", "e5m2", "e4m3fn", "tf32", "f16", "f32")):
            found = run("dma_codes", codes, source, target)
            exact = widened(start, codes)  # which the wider dtypes have
            expected = rounded(end, exact) if target < 3 else exact
            expect(np.array_equal(found, expected, equal_nan=True), f"DMA from {start} to {end}")
            zeros = expected == 0
            expect((np.signbit(found) == np.signbit(expected))[zeros].all(), f"signs of zeros from {start} to {end}")


def array_transposes():
    codes = np.random.default_rng(SEED).integers(0, 256, (100, 64), np.uint8)
    for cast in ("fp8e4m3", "bf16"):
        found = run("transposed_codes", codes, (np.eye(100, dtype=np.float32), cast))
        expect(found.dtype == np.uint16 and (found == codes.T).all(), f"bits through the array, identity {cast}")


def whole_tensors():
    rng = np.random.default_rng(SEED)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((300, 70), (300, 610)))
    exact = a.astype(np.float64).T @ b.astype(np.float64)
    for left, right in (("fp8e4m3", "fp8e4m3"), ("fp8e5m2", "fp8e4m3"), ("fp8e5m2", "bf16"), ("f32", "fp8e4m3"),
                        ("f16", "fp8e5m2"), ("tf32", "f32"), ("tf32", "tf32")):
        found = run("whole_matmul", (a, left), (b, right))
        expect((found == exact).all(), f"whole matmul of {left} and {right}")
    found = run("whole_exp", (a, "fp8e4m3"))
    expect((found == rounded("e5m2", np.exp(a.astype(np.float64)))).all(), "exp of e4m3 as e5m2")


# ---- matmuls


def close(found, exact, bound, what):
    error = np.linalg.norm(found.astype(np.float64) - exact) / np.linalg.norm(exact)
    expect(error <= bound, f"{what}: L2-relative error {error:.3g} exceeds {bound:.3g}")


def drawn(rng, shape, fmt, scale=1.0):
    """Random numbers the format has, and the float32 array that holds them."""
    codes = np.arange(fmt.infinity)
    values = np.array([float(fmt.value(c)) for c in codes])
    x = np.clip(rng.standard_normal(shape) * scale, -values[-1], values[-1])
    at = np.clip(np.searchsorted(values, np.abs(x)), 0, len(values) - 1)
    return np.copysign(values[at], x).astype(np.float32)


def double_row(K, M, N, left, right, blocks, scale=1.0, edges=False):
    rng = np.random.default_rng(SEED + K + M + N)
    a, b = drawn(rng, (K, M), FORMATS[left], scale), drawn(rng, (K, N), FORMATS[right], scale)
    if edges:  # the largest numbers of e4m3, of both signs
        a[::7], b[::5] = 240, -240
    found = run("matmul_double_row", (a, f"fp8{left}"), (b, f"fp8{right}"), blocks)
    close(found, a.astype(np.float64).T @ b.astype(np.float64), 1e-6, f"double_row {K}x{M}x{N} {left} {right}")


def tiles():
    rng = np.random.default_rng(SEED)
    a, b = drawn(rng, (4, 32, 32), FORMATS["e4m3"]), drawn(rng, (4, 32, 200), FORMATS["e5m2"])
    found = run("matmul_tiles", (a, "fp8e4m3"), (b, "fp8e5m2"))
    close(found, np.einsum("pkm,pkn->pmn", a.astype(np.float64), b.astype(np.float64)), 1e-6, "tiles of the array")


print("seed", SEED)
for name, fmt in FORMATS.items():
    codes_widen(name, fmt)
    floats_narrow(name, fmt)
    all_halves_narrow(name, fmt)
tf32_rounds()
dma_pairs()
array_transposes()
whole_tensors()
tiles()
double_row(1024, 128, 512, "e4m3", "e4m3", 1)
double_row(1024, 128, 512, "e4m3", "e5m2", 1)
double_row(2 * 37, 65, 77, "e5m2", "e4m3", 1)
double_row(512 + 2, 128, 700, "e4m3", "e4m3", 2, edges=True)
for blocks in (1, 2):
    double_row(16384, 512, 1024, "e4m3", "e4m3", blocks)
