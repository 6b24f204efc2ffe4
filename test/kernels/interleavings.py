"""Every example gives the same bits in 100 random orders the engines may move in, at small shapes that are no
multiple of a tile."""

import numpy as np

from kernel_cases import kernel_path
from kiln_test import Kiln, expect_equal

SEEDS = 100

# Kernel, tensors, numbers. Several tiles in every dim, the last one cut.
EXAMPLES = [
    ("01_vector_add:vector_add_naive", ["1700", "1700"], []),
    ("01_vector_add:vector_add_tiled", ["700", "700"], []),
    ("01_vector_add:vector_add_stream", ["128333", "128333"], []),
    ("02_transpose:transpose", ["130x260"], []),
    ("03_matmul:matmul_tiled", ["130x150", "130x530"], []),
    ("03_matmul:matmul_hoisted", ["130x150", "130x530"], []),
    ("03_matmul:matmul_blocked", ["130x550", "130x530"], []),
    ("04_softmax:softmax", ["130x2100"], []),
    ("05_norm:rmsnorm", ["150x2100", "1x2100"], ["1e-5"]),
    ("05_norm:layernorm", ["150x2100", "1x2100", "1x2100"], ["1e-5"]),
    ("06_attention:attention_fwd", ["20x150", "20x700", "700x20"], ["0.3"]),
    ("07_mamba:mamba_scan", ["130x600", "130x600", "130x3", "3x600", "3x600"], []),
    ("08_conv2d:conv2d_maxpool", ["2x130x9x11", "131x130x2x3", "131"], ["2"]),
]

kiln = Kiln()
listed = set()
for file in sorted((kiln.source / "examples").glob("*.cpp")):
    for line in kiln("list", file)[0].splitlines():
        listed.add(f"{file.stem}:{line.split('(')[0]}")
expect_equal(sorted(name for name, _, _ in EXAMPLES), sorted(listed), "examples tried and kernels of the examples")

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
