"""Runs Inputs/moving.cpp in several orders and compares with NumPy.

Arguments: kiln, the kernel, a folder for files.
"""

import pathlib
import subprocess
import sys

import numpy as np


def main():
    kiln, kernel, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(11).normal(0, 2, (96, 200)).astype(np.float32)
    np.save(folder / "x.npy", x)
    rows = np.arange(96)
    before = np.maximum(x[rows // 32 * 32 + (rows + 31) % 32], 0)
    expected = np.where(x > 3, np.float32(100), before)
    for schedule in ["program", "round-robin"] + [f"random:{seed}" for seed in range(8)]:
        result = folder / "y.npy"
        subprocess.run([kiln, "run", f"{kernel}:moving", folder / "x.npy", f"--schedule={schedule}",
                        "-o", result], check=True, stdout=subprocess.DEVNULL)
        if not np.array_equal(np.load(result), expected):
            sys.exit(f"other values with --schedule={schedule}")


main()
