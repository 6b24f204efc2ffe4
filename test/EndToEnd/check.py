"""kiln check and the proof before a run: verdicts, messages, graphs, reports, exit codes."""

import json

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()


def assemble(name, text):
    (kiln.scratch / f"{name}.s").write_text(text)
    kiln("asm", f"{name}.s", "-o", f"{name}.kiln")
    return f"{name}.kiln"


def report(name):
    return json.loads((kiln.scratch / name).read_text())


# ---- a program that is right, from its source and as a file ------------------------------------------------

softmax = [kiln.example("04_softmax.cpp:softmax"), "rand:130x300:float32"]
out, err = kiln("check", *softmax, "--random", "2", "--json", "check.json")
expect_equal(err, "", "messages about a kernel that is right")
lines = out.splitlines()
expect_equal(
    [line[:25].rstrip() for line in lines[:5]],
    ["races      proven", "deadlock   proven", "memory     proven", "values     clean", "schedules  equal bits"],
    "the verdicts",
)
expect_equal(lines[5], f"{softmax[0]}: ok", "the last line")
checked = report("check.json")
expect_equal(checked["ok"], True, "ok")
expect_equal([c["verdict"] for c in checked["checks"]], ["proven"] * 3 + ["clean", "equal bits"], "verdicts")
names = [s["name"] for s in checked["schedules"]]
expect_equal(names[:4], ["program", "round-robin", "random:1", "random:2"], "the first schedules")
for name in ("adversarial:starve-scalar", "adversarial:reverse-dma", "adversarial:delay-dma15"):
    expect(name in names, f"{name} was run")
expect(all(s["ok"] for s in checked["schedules"]), "every schedule is right")

kiln("compile", *softmax, "-o", "softmax.kiln")
expect_equal(kiln("check", "softmax.kiln", "--random", "2")[0].splitlines()[:5], lines[:5], "a program, random inputs")
expect_equal(kiln("check", "softmax.kiln", "rand:130x300:float32", "--random", "2")[0].splitlines()[:5], lines[:5],
             "a program, inputs given")

# ---- a race: found before anything runs, shown as text, JSON and a graph ----------------------------------------

RACE = """
.kernel "race"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 x hbm 4x8xf32 input 0
.tensor %1 y hbm 4x8xf32 output 0
.tensor %2 t sbuf 4x8xf32 at 0,0
.tensor %3 u sbuf 4x8xf32 at 0,32
.stream vector
  wait s8>=16 tensor_copy dst=u[0+4, 0: 1x8] src=t[0+4, 0: 1x8] update s0+=1 #1
.stream sync
  dma_copy dst=t[0+4, 0: 1x8] src=x[4 rows of 8, 0: 1x8] update s8+=16 #0
  dma_copy dst=y[4 rows of 8, 0: 1x8] src=u[0+4, 0: 1x8] update s9+=16 #2
"""
race = assemble("race", RACE)
MESSAGE = """kiln: error[X-08]: race: dma_copy reads 'u' and tensor_copy writes 'u', in no order
note: instruction 1 of the sync stream, dma_copy: both touch sbuf partitions 0-3, bytes 32-63
note: the earlier one is instruction 0 of the vector stream, tensor_copy
note: instruction 1 of the sync stream starts without semaphore 0 >= 1, which proves instruction 0 of the vector \
stream complete
"""
HELP = "help: wait for semaphore 0 >= 1 at instruction 1 of the sync stream or before it\n"
GRAPH = """graph:
  vector 0  tensor_copy
  sync 1  dma_copy
  sync 0  dma_copy
  sync 0 -> vector 0  waits: semaphore 8 >= 16
  sync 0 -> sync 1  program order
  vector 0 -> sync 1  missing: semaphore 0 >= 1
"""
out, err = kiln("check", race, "--random", "0", "--json", "race.json", "--graph", "race.dot", code=3)
expect(err.startswith(MESSAGE + HELP + GRAPH), err)
expect_equal(err.count("error["), 2, "messages: the race, and what it does to a run")
expect("error[M-08]: dma_copy reads 'u', which was never written" in err, err)
expect(out.splitlines()[0].startswith("races      refuted"), out)
expect_equal(out.splitlines()[-1], "race.kiln: not ok", "the last line")
finding = report("race.json")["findings"][0]
expect_equal(finding["kind"], "race", "kind of the finding")
expect_equal(finding["graph"]["edges"][-1], {"from": 0, "to": 1, "kind": "missing", "text": "semaphore 0 >= 1"},
             "the missing edge")
dot = (kiln.scratch / "race.dot").read_text()
expect(dot.startswith('digraph "race 1" {\n') and dot.endswith("}\n"), dot)
expect('n0 -> n1 [label="semaphore 0 >= 1", style=dashed, color=red' in dot, dot)

out, err = kiln("run", race, "ones:4x8:float32", "-o", "y.npy", code=3)
expect_equal(err, MESSAGE + "note: nothing was run; --no-proof runs it all the same\n" + HELP, "kiln run on a race")
expect(not (kiln.scratch / "y.npy").exists(), "nothing was written")
kiln("run", race, "ones:4x8:float32", "-o", "y.npy", "--no-proof")
expect((kiln.scratch / "y.npy").exists(), "--no-proof runs it")

# ---- a deadlock -----------------------------------------------------------------------------------------------

stuck = assemble("stuck", RACE.replace("dma_copy dst=y", "wait s9>=16 dma_copy dst=y"))
out, err = kiln("check", stuck, code=3)
expect("error[X-01]: deadlock: one stream waits for a semaphore that does not rise" in err, err)
expect("which is the one that waits" in err, err)
expect_equal([line.split()[1] for line in out.splitlines()[:4]], ["not", "refuted", "not", "not"], "verdicts")

# ---- limits, wrong command lines -----------------------------------------------------------------------------

kiln("check", "absent.kiln", code=1)
kiln("check", code=2)
kiln("check", "softmax.kiln", "--random", "x", code=2)
_, err = kiln("check", "softmax.kiln", "--max-steps", "3", code=4)
expect_equal(err.count("error[X-02]"), 1, "the limit is told once")

# ---- a program of integers gets integers ------------------------------------------------------------------------

INTEGERS = RACE.replace("xf32 input", "xi32 input").replace("xf32 output", "xi32 output").replace("4x8xf32 at", "4x8xi32 at")
integers = assemble("integers", INTEGERS.replace("dma_copy dst=y", "wait s0>=1 dma_copy dst=y"))
expect_equal(kiln("check", integers, "--random", "1")[0].splitlines()[-1], "integers.kiln: ok", "integers")
