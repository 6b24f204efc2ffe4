"""What the scripts of reported faults share: kernels of this folder, running them, judging numbers and messages.

A script imports everything, marks its functions with @case, and calls main(): --case B050 runs one.
"""

import argparse
import pathlib
import re

import numpy as np

from kiln_test import Kiln, expect, expect_equal

parser = argparse.ArgumentParser()
parser.add_argument("--case", required=True)
parser.add_argument("--in-turn", help="the program that compiles several times")
parser.add_argument("--include", help="the folder of nl/nl.h")
kiln = Kiln(parser)
CODE_OF_UNWRITTEN = 3
CASES = {}
HERE = pathlib.Path(__file__).parent


def case(function):
    CASES[function.__name__] = function
    return function


def line_of(file, text):
    """Number of the only line of a kernel file that holds `text`."""
    found = [i for i, line in enumerate((HERE / file).read_text().splitlines(), 1) if text in line]
    expect_equal(len(found), 1, f"lines of {file} with {text!r}")
    return found[0]


def bfloat16(array):
    """The nearest bfloat16 of each element, as float32; ties to even, no NaN."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


def transfers(program):
    """[dst, src] of each dma_copy of a program, as text."""
    text = kiln("objdump", program)[0]
    return re.findall(r"dma_copy dst=(\w+)\[.*? src=(\w+)\[", text)


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def save(name, array):
    np.save(kiln.scratch / name, array)
    return name


def run(kernel, *arguments, schedules=("program",), **options):
    """Runs `kernel` on arrays and numbers under each schedule; the results must be the same bits."""
    spelled = [save(f"in{i}.npy", a) if isinstance(a, np.ndarray) else a for i, a in enumerate(arguments)]
    kiln("compile", kernel, *spelled, "-o", "k.kiln", **options)
    arrays = [a for a in spelled if isinstance(a, str) and ".npy" in a]
    bits = None
    for schedule in schedules:
        kiln("run", "k.kiln", *arrays, "--schedule", schedule, "-o", "out.npy")
        found = np.load(kiln.scratch / "out.npy")
        expect(bits is None or found.tobytes() == bits, f"schedule {schedule} gives other bits")
        bits = found.tobytes()
    return found


def close(found, expected, what, tolerance=1e-5):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    expect_equal(found.shape, expected.shape, what)
    error = np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30)
    print(f"{what}: L2-relative error {error:.2e}, max-abs {np.abs(found - expected).max():.2e}")
    expect(error <= tolerance, f"{what}: L2-relative error {error:.2e} above {tolerance:.0e}")


def refused(kernel, *arguments, code=1):
    """The messages of a kernel that must not run."""
    return kiln("run", kernel, *arguments, code=code)[1]


def says(message, *parts):
    for part in parts:
        expect(part in message, f"the message lacks: {part}\n{message}")


random_schedules = [f"random:{seed}" for seed in range(1, 13)]


def main():
    CASES[kiln.options.case]()
