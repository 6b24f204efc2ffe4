"""Random programs, unmutated: proven, no report of the executor, and the same bits in every schedule tried."""

import argparse

from kiln_test import Kiln
from random_programs import arguments_of, compile_seed

parser = argparse.ArgumentParser()
parser.add_argument("--seeds", type=int, required=True, help="how many programs")
parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
parser.add_argument("--random", type=int, default=2, help="random schedules of each program")
kiln = Kiln(parser)

first, count = kiln.options.first, kiln.options.seeds
for seed in range(first, first + count):
    program = compile_seed(kiln, seed)
    kiln("check", program, *arguments_of(seed), "--random", kiln.options.random, "--seed", seed)
    program.unlink()
print(f"{count} random programs from seed {first} on: proven, no report, equal bits")
