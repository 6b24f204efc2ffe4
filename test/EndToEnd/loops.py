"""Loops of the device from a kernel file to results: values against NumPy, and the size of the program."""

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
kernels = str(kiln.source / "test" / "EndToEnd" / "loops.cpp")
rng = np.random.default_rng(11)

# Rows of one tile: so few that all are written out, so many that some are left over, a prime number.
for rows in (1, 2, 300, 2003, 4099):
    a, b = (rng.standard_normal((rows, 5)).astype(np.float32) for _ in range(2))
    np.save(kiln.scratch / "a.npy", a)
    np.save(kiln.scratch / "b.npy", b)
    kiln("run", f"{kernels}:add_rows", "a.npy", "b.npy", "-o", "y.npy")
    expect(np.array_equal(np.load(kiln.scratch / "y.npy"), a + b), f"add_rows of {rows} rows")

x = rng.standard_normal((4 * 700, 6)).astype(np.float32)
np.save(kiln.scratch / "x.npy", x)
for schedule in ([], ["--schedule", "random:5"]):
    kiln("run", f"{kernels}:block_max", "x.npy", "-o", "y.npy", *schedule)
    expect(np.array_equal(np.load(kiln.scratch / "y.npy"), x.reshape(700, 4, 6).max(1)), "block_max")

# A million iterations are a small file that a listing and the assembler give back.
shapes = ["zeros:1000000x4:float32"] * 2
kiln("compile", f"{kernels}:add_rows", *shapes, "-o", "p.kiln")
size = (kiln.scratch / "p.kiln").stat().st_size
expect(size < 16 * 1024, f"a loop of a million iterations takes {size} bytes")
text, _ = kiln("objdump", "p.kiln")
expect("loop_begin trip_count=125000" in text, text)
(kiln.scratch / "p.s").write_text(text)
kiln("asm", "p.s", "-o", "q.kiln")
expect_equal((kiln.scratch / "q.kiln").read_bytes(), (kiln.scratch / "p.kiln").read_bytes(), "asm of objdump")

_, message = kiln("run", f"{kernels}:one_too_many", "zeros:9x4:float32", code=1)
expect("error[V-01]: slice [9, 10) is outside dim 0 of 'x' (extent 9) where the index is 8" in message, message)
