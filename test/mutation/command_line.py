"""kiln-mutate on the command line: reports, samples, single mutants, exit codes."""

import argparse
import json
import subprocess

from kiln_test import Kiln, expect, expect_equal

parser = argparse.ArgumentParser()
parser.add_argument("--mutate", required=True, help="the built kiln-mutate")
kiln = Kiln(parser)

COPY = """.kernel "copy"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 x hbm 128x64xf32 input 0
.tensor %1 y hbm 128x64xf32 output 0
.tensor %2 t sbuf 128x64xf32 at 0,0
.stream sync
  dma_copy dst=t[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64] update s0+=16 #0
  WAITdma_copy dst=y[128 rows of 64, 0: 1x64] src=t[0+128, 0: 1x64] update s1+=16 #1
"""


def program(name, text):
    (kiln.scratch / f"{name}.s").write_text(text)
    kiln("asm", f"{name}.s", "-o", f"{name}.kiln")
    return f"{name}.kiln"


def mutate(*arguments, code=0):
    """Runs kiln-mutate in the scratch folder; (stdout, stderr)."""
    command = [kiln.options.mutate, *map(str, arguments)]
    result = subprocess.run(command, cwd=kiln.scratch, capture_output=True, text=True)
    expect_equal(result.returncode, code, f"exit code of {command}\n{result.stdout}{result.stderr}")
    return result.stdout, result.stderr


right = program("right", COPY.replace("WAIT", "wait s0>=16 "))
racy = program("racy", COPY.replace("WAIT", ""))

# One line a program, the table, the score.
out, _ = mutate(right, right, "--compare", "--schedules", 2, "--json", "report.json")
lines = out.splitlines()
expect_equal(lines[0], "right.kiln: 12 mutants, 2 equivalent, 0 missed", "line of a program")
expect_equal(lines[-2], "score 100.000 %: 24 of 24 caught or proven equivalent", "score")
expect("0 missed by the proof, 0 false alarms" in lines[-1], f"comparison: {lines[-1]}")
report = json.loads((kiln.scratch / "report.json").read_text())
expect_equal((report["mutants"], report["score"], report["missed"]), (24, 1.0, []), "report")
expect_equal(report["kinds"]["drop-wait"]["race"], 2, "dropped waits that are a race")

# A sample, and a single mutant, judged and written.
out, _ = mutate(right, "--sample", "5:3")
expect(out.startswith("right.kiln: 5 mutants,"), out)
out, _ = mutate(right, "--only", 0)
expect(out.startswith("right.kiln: 1 mutants,"), out)
number = next(i for i in range(12) if "drop-wait" in mutate(right, "--emit", i, "-o", "mutant.kiln")[0])
out, _ = mutate(right, "--emit", number, "-o", "mutant.kiln")
expect_equal(
    out,
    "drop-wait sync[1]: dma_copy #1 [wait s0>=16 update s1+=16] becomes dma_copy #1 [update s1+=16]\n",
    "description of a mutant",
)
expect_equal(kiln("objdump", "mutant.kiln")[0], kiln("objdump", racy)[0], "the mutant")

# What cannot be scored.
_, err = mutate(racy, code=3)
expect(err.startswith("kiln-mutate: racy.kiln: the program is not proven: "), err)
_, err = mutate("none.kiln", code=1)
expect(err.startswith("kiln-mutate: none.kiln: cannot open"), err)
_, err = mutate(right, "--emit", 12, code=2)
expect_equal(err, "kiln-mutate: the program has 12 mutants\n", "a mutant there is not")
_, err = mutate(right, "--sample", "5", code=2)
expect_equal(err, "kiln-mutate: '5' is no sample, write N:SEED\n", "a sample without a seed")
mutate(code=2)
