"""Cost of compiling, as ratios to tools measured in the same run.

    python3 test/benchmark/compile.py --build build

Every figure is CPU time (user + system) of whole processes, the median of several runs, or peak resident
memory; a busy machine changes them little. Prints one row a goal with both medians and the ratio, and ends
with exit code 1 when a ratio misses its bound.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--build", required=True, help="build folder")
parser.add_argument("--runs", type=int, default=5, help="runs of each command")
options = parser.parse_args()

source = pathlib.Path(__file__).resolve().parents[2]
kiln = pathlib.Path(options.build).resolve() / "bin" / "kiln"
program_facts = kiln.parents[1] / "test" / "traffic" / "program-facts"
mlir_opt = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"
scratch = pathlib.Path(tempfile.mkdtemp(prefix="kiln-benchmark-"))
env = dict(os.environ, KILN_CACHE_DIR=str(scratch / "cache"))
missed = []


def once(*command):
    """CPU seconds and peak KiB of one run."""
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=env, cwd=scratch
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def median(*command, runs=None):
    samples = [once(*command) for _ in range(runs or options.runs)]
    return statistics.median(s[0] for s in samples), statistics.median(s[1] for s in samples)


def row(goal, figures, ratio, bound, higher_is_better=False):
    ok = ratio >= bound if higher_is_better else ratio <= bound
    sign = ">=" if higher_is_better else "<="
    print(f"{goal:<58} {figures:<44} {ratio:10.3g}   must {sign} {bound:g}{'' if ok else '   MISSED'}")
    if not ok:
        missed.append(goal)


def compile_kernel(m, k, n):
    """CPU seconds, peak KiB and instructions of one compilation of matmul_tiled."""
    command = [kiln, "compile", source / "examples/03_matmul.cpp:matmul_tiled"]
    command += [f"zeros:{k}x{m}:bf16", f"zeros:{k}x{n}:bf16", "-o", "p.kiln", "--json", "r.json"]
    seconds, memory = median(*command, runs=3)
    return seconds, memory, json.loads((scratch / "r.json").read_text())["instructions"]


def compile_whole(m, k, n):
    """CPU seconds, peak KiB and instructions of the program, of one compilation of matmul(a, b)."""
    command = [kiln, "compile", source / "examples/10_whole_tensor.cpp:matmul"]
    command += [f"zeros:{m}x{k}:bf16", f"zeros:{k}x{n}:bf16", "-o", "p.kiln"]
    seconds, memory = median(*command, runs=3)
    counts = subprocess.run([program_facts, "p.kiln"], cwd=scratch, capture_output=True, check=True)
    return seconds, memory, json.loads(counts.stdout)["instructions"]


def arith_module(ops):
    """A module of `ops` arith ops that neither fold nor repeat, for mlir-opt."""
    lines = ["func.func @f(%a: i32, %b: i32) -> i32 {", "  %v0 = arith.addi %a, %b : i32"]
    lines += [f"  %v{i} = arith.xori %v{i - 1}, %{'ab'[i % 2]} : i32" for i in range(1, ops)]
    lines += [f"  return %v{ops - 1} : i32", "}"]
    path = scratch / f"arith{ops}.mlir"
    path.write_text("\n".join(lines) + "\n")
    return path


# Start-up.
own, _ = median(kiln, "--version", runs=4 * options.runs)
theirs, _ = median(mlir_opt, "--version", runs=4 * options.runs)
row("kiln --version / mlir-opt --version", f"{own * 1e3:.1f} ms / {theirs * 1e3:.1f} ms", own / theirs, 1)

# A kernel file through the host compiler.
include = kiln.parent.parent / "include"
flags = ["-std=c++20", "-O0", "-g1", "-fno-omit-frame-pointer", "-fPIC", "-shared", f"-I{include}"]
own, _ = median("/usr/bin/g++", *flags, source / "examples/03_matmul.cpp", "-o", "k.so")
row("seconds to build the kernel file 03_matmul.cpp", f"{own:.2f} s of CPU time", own, 2)

# The pipeline. One tiny compilation is the start-up that is taken off.
base, base_memory, _ = compile_kernel(1, 1, 1)
seconds, memory, count = compile_kernel(4096, 4096, 4096)
empty, _ = median(mlir_opt, arith_module(1))
theirs, _ = median(mlir_opt, arith_module(count), "-canonicalize", "-cse")
per_op, per_op_theirs = (seconds - base) / count, (theirs - empty) / count
figures = f"{count} instructions, {seconds - base:.2f} s"
row("instructions per second, matmul_tiled 4096^3", figures, count / (seconds - base), 25000, True)
figures = f"{per_op * 1e6:.2f} us / {per_op_theirs * 1e6:.2f} us"
row("us per op / mlir-opt parse+canonicalize+cse+print", figures, per_op / per_op_theirs, 8)
row("KiB of peak memory per instruction", f"{memory - base_memory} KiB more", (memory - base_memory) / count, 4)

small_seconds, _, small = compile_kernel(2048, 4096, 4096 // 4)
large_seconds, _, large = compile_kernel(4096, 8192, 4096 * 2)
small_cost, large_cost = (small_seconds - base) / small, (large_seconds - base) / large
figures = f"{large_cost * 1e6:.2f} us at {large} / {small_cost * 1e6:.2f} us at {small}"
row("scaling: us per op, large / small", figures, large_cost / small_cost, 2)

# Whole tensors: planning, and the pipeline behind it. Shapes are M x K x N.
base, base_memory, _ = compile_whole(1, 1, 1)
seconds, memory, count = compile_whole(16384, 1024, 16384)
figures = f"{count} instructions"
row("seconds of matmul(a, b) 16384x1024x16384", figures, seconds, 10)
row("MiB of peak memory of it", figures, memory / 1024, 1024)
small_cost = (seconds - base) / count
row("instructions per second of it", f"{seconds - base:.2f} s", 1 / small_cost, 25000, True)
large_seconds, large_memory, large = compile_whole(32768, 7168, 32768)
large_cost = (large_seconds - base) / large
row("instructions per second, 32768x7168x32768", f"{large} instructions", 1 / large_cost, 25000, True)
figures = f"{large_cost * 1e6:.2f} us at {large} / {small_cost * 1e6:.2f} us at {count}"
row("scaling: us per op of whole tensors, large / small", figures, large_cost / small_cost, 2)
figures = f"{large_memory - base_memory} KiB more"
row("KiB of peak memory per instruction of the large one", figures, (large_memory - base_memory) / large, 4)

shutil.rmtree(scratch)
sys.exit(1 if missed else 0)
