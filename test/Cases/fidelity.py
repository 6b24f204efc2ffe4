"""Places where simulators and the chip were found to differ, one test each: fidelity.py --case B031.

The kernels are in fidelity.cpp. Expected values are computed in NumPy one operation at a time, in the
precision of the chip, or written down; never taken from Kiln.
"""

import numpy as np

from kit import (CODE_OF_UNWRITTEN, HERE, bfloat16, case, expect, expect_equal, kiln, line_of, main, normal, run, save,
                 says)


def fidelity(name):
    return str(HERE / f"fidelity.cpp:{name}")


def same_bits(found, expected, what):
    expected = np.ascontiguousarray(expected, found.dtype)
    expect_equal(found.shape, expected.shape, what)
    expect(found.tobytes() == expected.tobytes(), f"{what}:\nfound    {found}\nexpected {expected}")


def row_of(*values):
    return np.array([values], np.float32)


@case
def B031():
    """float32 to integers: nearest, ties to even, saturating; NaN is 0."""
    x = row_of(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 127.5, 126.5, 300, -300, 256, 255.5, 254.5, -1, 3e9, -3e9, 2147483520,
               65535.5, 32767.5, -32768.5, np.nan, np.inf, -np.inf, -0.0, 1e-40)
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        limits = np.iinfo(dtype)
        expected = np.clip(np.rint(np.nan_to_num(x.astype(np.float64), nan=0, posinf=1e300, neginf=-1e300)), limits.min,
                           limits.max)
        for engine in ("false", "true"):
            found = run(fidelity("cast"), x, dtype, engine)
            expect_equal(found.dtype, np.dtype(dtype), "dtype")
            same_bits(found, expected.astype(np.int64).astype(dtype), f"{dtype}, scalar engine {engine}")


@case
def B032():
    """Every destination rounds, ties to even; between the operators of one instruction nothing does."""
    x, y = row_of(256, 257, 258, -256, 1, 3.0e38), row_of(1, 1, 1, -1, 2.0**-9, 3.0e38)
    x, y = bfloat16(x), bfloat16(y)
    expected = x
    with np.errstate(over="ignore"):
        for _ in range(3):
            expected = bfloat16(expected + y)
    kiln("run", fidelity("three_sums"), save("x.npy", x) + ":bf16", save("y.npy", y) + ":bf16", "-o", "out.npy")
    same_bits(np.load(kiln.scratch / "out.npy"), expected, "three sums in bfloat16")
    expect_equal(expected[0, 0], 256, "256 + 1 in bfloat16")
    kiln("run", fidelity("two_stages"), save("x.npy", row_of(256, 1)) + ":bf16", "-o", "out.npy")
    same_bits(np.load(kiln.scratch / "out.npy"), row_of(1, -254), "two operators, one rounding")
    # 256 + 127 ones: exact in float32, and rounded once, when it leaves PSUM.
    a, b = np.ones((128, 2), np.float32), np.ones((128, 3), np.float32)
    a[0, 0] = 256
    kiln("run", fidelity("narrow_product"), save("a.npy", a) + ":bf16", save("b.npy", b) + ":bf16", "-o", "out.npy")
    same_bits(np.load(kiln.scratch / "out.npy"), bfloat16(np.repeat(row_of(383, 128).T, 3, 1)), "bfloat16 product")


@case
def B033():
    """Sums of rows run left to right in float32, bit for bit."""
    for seed in range(4):
        for columns in (128, 127, 1, 1000):
            x = normal(seed, 128, columns)
            sums = x[:, 0].copy()
            for column in x.T[1:]:
                sums = sums + column
            same_bits(run(fidelity("row_sums"), x), sums[:, None], f"seed {seed}, {columns} columns")


@case
def B034():
    """A transposition moves bits: NaN and infinities do not spread, denormals and -0 stay."""
    x = normal(5, 128, 96)
    x[3, 5], x[7], x[:, 11] = np.nan, np.inf, -np.inf
    x[20, 30:40], x[21, 30:40] = -0.0, 1e-41
    same_bits(run(fidelity("turned"), x), x.T, "float32")
    x = bfloat16(np.nan_to_num(x, nan=1, posinf=np.inf, neginf=-np.inf))
    kiln("run", fidelity("turned"), save("x.npy", x) + ":bf16", "-o", "out.npy")
    same_bits(np.load(kiln.scratch / "out.npy"), x.T, "bfloat16")


@case
def B035():
    """A copy of equal dtypes keeps int32 on both engines; an activation goes through float32."""
    x = np.array([[16777217, -16777217, 2147483647, -2147483648, 0, 1]], np.int32)
    for engine in ("false", "true"):
        same_bits(run(fidelity("cast"), x, "int32", engine), x, f"scalar engine {engine}")
    rounded = np.clip(x.astype(np.float32).astype(np.float64), -2.0**31, 2.0**31 - 1).astype(np.int32)
    same_bits(run(fidelity("activated"), x), rounded, "activation(op=copy)")


@case
def B038():
    """The first read of memory that nothing wrote stops the run, with the place and the tensor."""
    line = line_of("fidelity.cpp", "tensor_scalar(u, t(ds(0, read), _)")
    x = save("x.npy", normal(6, 128, 5))
    message = kiln("run", fidelity("unwritten"), x, 127, 128, code=CODE_OF_UNWRITTEN)[1]
    says(message, f"fidelity.cpp:{line}: error[M-09]: tensor_scalar reads", "'t'", "(127, 0-4), 20 of 2560 bytes")
    message = kiln("run", fidelity("unwritten"), x, 1, 2, code=CODE_OF_UNWRITTEN)[1]
    says(message, f"fidelity.cpp:{line}: error[M-09]", "'t'", "(1, 0-4)")
    same_bits(run(fidelity("unwritten"), normal(6, 128, 5), 127, 127), normal(6, 128, 5)[:127] + np.float32(1), "127 rows")


@case
def B043():
    """Mask entries of 255 keep the rows of dst."""
    for rows in (32, 64, 128):
        x, y = normal(7, rows, 9), normal(8, rows, 9)
        for first_kept in (0, 1, 31, 32):
            expected = y.copy().reshape(-1, 32, 9)
            expected[:, :first_kept] = x.reshape(-1, 32, 9)[:, ::-1][:, :first_kept]
            same_bits(run(fidelity("shuffled"), x, y, first_kept), expected.reshape(rows, 9), f"{rows} rows, {first_kept} moved")


@case
def B044():
    """Logical operators take any number but 0 and -0 for true, NaN too, and give 1 or 0."""
    values = np.array([0, -0.0, 0.5, 2, -3, np.nan, np.inf, 1e-30], np.float32)
    x, y = np.meshgrid(values, values)
    for which, truth in enumerate((np.logical_and, np.logical_or, np.logical_xor)):
        for dtype in ("uint8", "int32", "bfloat16"):
            found = run(fidelity("logical"), x, y, which, dtype)
            same_bits(found, truth(x != 0, y != 0).astype(found.dtype), f"{truth.__name__} to {dtype}")


@case
def B048():
    """What float32 loses is lost: exp overflows, and a variance by E[x^2] - E[x]^2 cancels."""
    x = normal(9, 4, 64)
    x[1, 3] = 1e4
    found = run(fidelity("naive_softmax"), x)
    wide = np.exp(x[[0, 2, 3]].astype(np.float64))
    expect(np.abs(found[[0, 2, 3]] - wide / wide.sum(1, keepdims=True)).max() < 1e-6, "rows without overflow")
    expect(np.isnan(found[1, 3]) and (np.delete(found[1], 3) == 0).all(), f"inf * 0 is NaN, the others are 0: {found[1]}")
    noisy = (1e4 + 1e-2 * normal(10, 8, 4096).astype(np.float64)).astype(np.float32)
    share = np.float32(1 / 4096)
    total, squares = noisy[:, 0].copy(), noisy[:, 0] * noisy[:, 0]
    for column in noisy.T[1:]:
        total, squares = total + column, squares + column * column
    expected = squares * share - total * share * (total * share)
    same_bits(run(fidelity("naive_variance"), noisy), expected[:, None], "variance in float32, step by step")
    expect(np.abs(expected - noisy.astype(np.float64).var(1)).max() > 1, "the case does not cancel")


main()
