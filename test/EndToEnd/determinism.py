"""The same program, byte for byte, over 20 runs, from two folders, and with g++ and clang as the compiler of
the kernel file; and the same result bits in every order the engines may move in."""

import shutil

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
elsewhere = kiln.scratch / "a folder" / "deeper"
elsewhere.mkdir(parents=True)
compilers = [c for c in ("g++", "clang++", "clang++-14") if shutil.which(c)]
expect(len(compilers) >= 2, f"two host compilers are needed, found {compilers}")

matmul_args = ["rand:300x129:bf16:1", "rand:300x513:bf16:2"]
norm_args = [f"rand:{shape}:float32" for shape in ("300x513", "1x513", "1x513")] + ["0.001"]
swiglu_args = [f"rand:{shape}:bf16" for shape in ("129x300", "300x513", "300x513", "513x200")]
kernels = [
    ("03_matmul.cpp:matmul_blocked", matmul_args),
    ("10_whole_tensor.cpp:layernorm", norm_args),
    ("10_whole_tensor.cpp:mlp_swiglu", swiglu_args),
    ("10_whole_tensor.cpp:rope", ["rand:300x130:float32", "rand:300x65:float32", "rand:300x65:float32"]),
]


def check(name, args):
    def program(cwd, kernel, *options):
        kiln("compile", kernel, *args, "-o", "out.kiln", *options, cwd=cwd)
        return (cwd / "out.kiln").read_bytes()

    kernel = kiln.example(name)
    first = program(kiln.scratch, kernel)
    for run in range(20):
        expect_equal(program(kiln.scratch, kernel) == first, True, f"{name}: run {run} gives the same bytes")
    shutil.copy(kiln.source / "examples" / name.split(":")[0], elsewhere)
    expect(program(elsewhere, name) == first, f"{name}: another folder gives the same bytes")
    for compiler in compilers:
        expect(
            program(kiln.scratch, kernel, "--host-compiler", compiler, "--no-cache") == first,
            f"{name}: {compiler} gives the same bytes",
        )


for name, args in reversed(kernels):  # out.kiln of the first is run below
    check(name, args)

results = set()
for schedule in ["program", "round-robin", *(f"random:{seed}" for seed in range(100))]:
    kiln("run", "out.kiln", *matmul_args, "-o", "c.npy", "--schedule", schedule, cwd=kiln.scratch)
    results.add((kiln.scratch / "c.npy").read_bytes())
expect_equal(len(results), 1, "different results over 102 schedules")
