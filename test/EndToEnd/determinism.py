"""The same program, byte for byte, over 20 runs, from two folders, and with g++ and clang as the compiler of
the kernel file; and the same result bits in every order the engines may move in."""

import shutil

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
args = ["rand:300x129:bf16:1", "rand:300x513:bf16:2"]


def program(cwd, kernel, *options):
    kiln("compile", kernel, *args, "-o", "out.kiln", *options, cwd=cwd)
    return (cwd / "out.kiln").read_bytes()


kernel = kiln.example("03_matmul.cpp:matmul_blocked")
first = program(kiln.scratch, kernel)
for run in range(20):
    expect_equal(program(kiln.scratch, kernel) == first, True, f"run {run} gives the same bytes")

elsewhere = kiln.scratch / "a folder" / "deeper"
elsewhere.mkdir(parents=True)
shutil.copy(kiln.source / "examples" / "03_matmul.cpp", elsewhere)
expect(program(elsewhere, "03_matmul.cpp:matmul_blocked") == first, "another folder gives the same bytes")

compilers = [c for c in ("g++", "clang++", "clang++-14") if shutil.which(c)]
expect(len(compilers) >= 2, f"two host compilers are needed, found {compilers}")
for compiler in compilers:
    expect(
        program(kiln.scratch, kernel, "--host-compiler", compiler, "--no-cache") == first,
        f"{compiler} gives the same bytes",
    )

results = set()
for schedule in ["program", "round-robin", *(f"random:{seed}" for seed in range(100))]:
    kiln("run", "out.kiln", *args, "-o", "c.npy", "--schedule", schedule, cwd=elsewhere)
    results.add((elsewhere / "c.npy").read_bytes())
expect_equal(len(results), 1, "different results over 102 schedules")
