"""matmul_blocked at 1024 x 1024 x 1024 on files NumPy wrote, in all dtypes, against a float64 product of
the rounded inputs."""

import numpy as np

from kiln_test import Kiln, expect

kiln = Kiln()
n = 1024
rng = np.random.default_rng(20)
a = rng.standard_normal((n, n), dtype=np.float32)
b = rng.standard_normal((n, n), dtype=np.float32)


def round_to_bf16(x):
    """Nearest bfloat16, ties to even, as float32."""
    bits = x.view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


# dtype of the kernel, array in the file, suffix of the argument, rounded values, bound
cases = [
    ("float32", lambda x: x, "", lambda x: x, 1e-6),
    ("bfloat16", lambda x: x, ":bf16", round_to_bf16, 3e-3),
    ("float16", lambda x: x.astype(np.float16), "", lambda x: x.astype(np.float16), 4e-4),
]
for dtype, stored, suffix, rounded, bound in cases:
    np.save(kiln.scratch / "a.npy", stored(a))
    np.save(kiln.scratch / "b.npy", stored(b))
    kiln("run", kiln.example("03_matmul.cpp:matmul_blocked"), f"a.npy{suffix}", f"b.npy{suffix}", "-o", "c.npy")
    c = np.load(kiln.scratch / "c.npy")
    exact = rounded(a).astype(np.float64).T @ rounded(b).astype(np.float64)
    error = np.linalg.norm(c.astype(np.float64) - exact) / np.linalg.norm(exact)
    print(f"{dtype}: error {error:.3g}, bound {bound:.3g}")
    expect(c.shape == (n, n) and c.dtype == np.float32, f"{dtype}: {c.dtype} {c.shape}")
    expect(error <= bound, f"{dtype}: error {error} exceeds {bound}")
