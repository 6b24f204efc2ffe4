"""Reported faults about 8-bit floats and mixed dtypes, one test each: dtypes.py --case B047.

The kernels are in dtypes.cpp. What a row is about stands above its function. Expected numbers come from
NumPy in float64, never from Kiln.
"""

import numpy as np

from kit import HERE, case, close, expect, expect_equal, kiln, line_of, main, normal, refused, run, save, says


def kernel(name):
    return str(HERE / f"dtypes.cpp:{name}")


def e4m3(*shape, seed):
    """Random numbers e4m3 has, up to its largest, as float32."""
    rng = np.random.default_rng(seed)
    fraction = (8 + rng.integers(0, 8, shape)) * rng.choice([-1.0, 1.0], shape)
    return np.clip(fraction * 2.0 ** rng.integers(-6, 5, shape), -240, 240).astype(np.float32)


def whole(*shape, seed):
    """Small whole numbers, which every dtype of the matmul has."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@case
def B047():
    """Two rows a partition: the contraction is twice the partitions, and the result no larger for it."""
    for k, m, n in ((128, 128, 512), (128, 1, 1), (37, 65, 77), (1, 3, 5)):
        a, b = e4m3(k, 2, m, seed=k), e4m3(k, 2, n, seed=k + 1)
        save("a.npy", a)
        save("b.npy", b)
        found = run(kernel("double_rows"), "a.npy:fp8e4m3", "b.npy:fp8e4m3")
        expect_equal(found.shape, (m, n), "shape of the result")
        close(found, np.einsum("kim,kin->mn", a.astype(np.float64), b.astype(np.float64)), f"{k} x {m} x {n}", 1e-6)


@case
def B068():
    """bfloat16 times float32: refused, with the cast that helps; two narrow dtypes and two wide ones work."""
    message = refused(kernel("plain"), "rand:64x96:bf16:1", "rand:64x160:float32:2")
    line = line_of("dtypes.cpp", "nisa::nc_matmul(acc, left, right);")
    says(message, f"dtypes.cpp:{line}:", "error[D-01]: matmul cannot mix 32-bit and narrower operands: stationary is "
         "bfloat16, moving is float32", "help: cast one while copying to SBUF")
    a, b = whole(64, 96, seed=1), whole(64, 160, seed=2)
    save("a.npy", a)
    save("b.npy", b)
    narrow, wide = ("bf16", "f16", "fp8e4m3", "fp8e5m2"), ("f32", "tf32")
    exact = a.astype(np.float64).T @ b.astype(np.float64)
    for kind, others in ((narrow, wide), (wide, narrow)):
        for left in kind:
            for right in kind:
                found = run(kernel("plain"), f"a.npy:{left}", f"b.npy:{right}")
                expect_equal((found == exact).all(), True, f"{left} x {right}")
            for right in others:
                says(refused(kernel("plain"), f"a.npy:{left}", f"b.npy:{right}"), "error[D-01]")


@case
def B075():
    """What only trn3 has: e4m3fn in a matmul; and double rows of which one operand has one."""
    message = refused(kernel("plain"), "rand:64x96:float8_e4m3fn:1", "rand:64x160:float8_e4m3fn:2")
    line = line_of("dtypes.cpp", "nisa::nc_matmul(acc, left, right);")
    says(message, f"dtypes.cpp:{line}:", "error[D-05]: stationary is float8_e4m3fn, which no engine of trn2 computes "
         "with", "help: convert the data to float8_e4m3 on the host, or view the bits as it "
         "(magnitudes from 256 on become infinities and NaNs)")
    # The way out: the same bits as e4m3, which has the same numbers up to 240.
    a, b = whole(64, 96, seed=1), whole(64, 160, seed=2)
    save("a.npy", a)
    save("b.npy", b)
    found = run(kernel("viewed"), "a.npy:float8_e4m3fn", "b.npy:float8_e4m3fn")
    expect_equal((found == a.astype(np.float64).T @ b.astype(np.float64)).all(), True, "e4m3fn viewed as e4m3")
    a[5, 7] = 256
    save("a.npy", a)
    found = run(kernel("viewed"), "a.npy:float8_e4m3fn", "b.npy:float8_e4m3fn")
    expect_equal(np.isfinite(found).all(1).tolist(), [m != 7 for m in range(96)], "rows without the 256")
    message = refused(kernel("whole"), "rand:64x96:float8_e4m3fn:1")
    line = line_of("dtypes.cpp", "nl::exp(x)")
    says(message, f"dtypes.cpp:{line}: error[D-05]: 'x' is float8_e4m3fn, which no engine of trn2 computes with")
    message = refused(kernel("single_moving_row"), "rand:64x2x96:float8_e4m3:1", "rand:64x160:float8_e4m3:2")
    says(message, "error[S-11]: perf_mode double_row takes two rows a partition as dim 1, moving is (64, 160)",
         "help: shape it (K, 2, columns)")


@case
def B103():
    """Random bytes as e4m3: NaNs come out as NaNs of one kind, never as numbers; drawn values have none."""
    codes = np.arange(256, dtype=np.uint8).reshape(2, 128)
    found = run(kernel("numbers_of"), codes)
    expect_equal(np.isnan(found).tolist(), ((codes & 127) > 0x78).tolist(), "NaNs")
    expect_equal(np.isinf(found).tolist(), ((codes & 127) == 0x78).tolist(), "infinities")
    expect_equal(set(found[np.isnan(found)].view(np.uint32).tolist()), {0x7FC00000}, "kinds of NaN")
    for spelled in ("rand:64x96:float8_e4m3:3", "randn:64x96:float8_e5m2:4", "rand:64x96:tf32:5"):
        kiln("run", kernel("plain"), spelled, spelled, "-o", "out.npy")
        expect(np.isfinite(np.load(kiln.scratch / "out.npy")).all(), f"{spelled} has values that are not finite")


@case
def views():
    """Bytes seen as dtypes of 1, 2 and 4 bytes and copied, in SBUF and in HBM: every byte arrives."""
    codes = np.random.default_rng(47).integers(0, 256, (96, 40), np.uint8)
    for which in range(8):
        for in_hbm in ("false", "true"):
            found = run(kernel("bytes_as"), codes, which, in_hbm)
            expect_equal((found == codes).all(), True, f"dtype {which}, in HBM: {in_hbm}")


main()
