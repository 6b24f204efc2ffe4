"""The mutation score of the static proof on every example, or on random programs.

Fails when a mutant is missed, when a program is not proven, and when proof and oracle disagree about a program or a
mutant. The counts are printed.
"""

import argparse
import subprocess
import sys

from example_cases import EXAMPLES, expect_complete
from kernel_cases import kernel_path
from kiln_test import Kiln, fail
from random_programs import compile_seed

parser = argparse.ArgumentParser()
parser.add_argument("--mutate", required=True, help="the built kiln-mutate")
parser.add_argument("--seeds", type=int, default=0, help="random programs instead of the examples: how many")
parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
parser.add_argument("--sample", help="N:SEED: so many mutants of each program, not all")
parser.add_argument("--json", help="write the report of kiln-mutate here")
kiln = Kiln(parser)


def compile_example(name, shapes, numbers):
    program = kiln.scratch / f"{name.split(':')[1]}.kiln"
    tensors = [f"randn:{shape}:f32:{seed}" for seed, shape in enumerate(shapes)]
    kiln("compile", kernel_path(kiln, name), *tensors, *numbers, "-o", program)
    return program


if kiln.options.seeds:
    first = kiln.options.first
    programs = [compile_seed(kiln, seed) for seed in range(first, first + kiln.options.seeds)]
else:
    expect_complete(kiln)
    programs = [compile_example(*example) for example in EXAMPLES]

command = [kiln.options.mutate, *(program.name for program in programs), "--compare", "--schedules", "2"]
for option in ("sample", "json"):
    if getattr(kiln.options, option):
        command += [f"--{option}", getattr(kiln.options, option)]
result = subprocess.run(command, cwd=kiln.scratch, stdout=sys.stdout, stderr=sys.stdout)
if result.returncode != 0:
    fail(f"kiln-mutate ended with {result.returncode}")
