"""Every example gives the same bits in 100 random orders the engines may move in."""

import numpy as np

from example_cases import EXAMPLES, expect_complete
from kernel_cases import kernel_path
from kiln_test import Kiln, expect_equal

SEEDS = 100

kiln = Kiln()
expect_complete(kiln)
for kernel, shapes, numbers in EXAMPLES:
    tensors = [f"in{i}.npy" for i in range(len(shapes))]
    for seed, (file, shape) in enumerate(zip(tensors, shapes)):
        extents = [int(n) for n in shape.split("x")]
        values = np.random.default_rng(seed).standard_normal(extents, dtype=np.float32)
        np.save(kiln.scratch / file, values)
    kiln("compile", kernel_path(kiln, kernel), *tensors, *numbers, "-o", "program.kiln")
    results = set()
    for schedule in ["program", *(f"random:{seed}" for seed in range(1, SEEDS + 1))]:
        kiln("run", "program.kiln", *tensors, "--schedule", schedule, "-o", "out.npy")
        results.add((kiln.scratch / "out.npy").read_bytes())
    expect_equal(len(results), 1, f"{kernel}: different results over {SEEDS} orders")
    print(f"{kernel}: the same bits in {SEEDS} orders", flush=True)
