"""--schedule: every order gives the same bits, wrong names are told, orders that disagree are named."""

import json

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()

# All adversarial schedules of an example, in one run and one at a time.
attention = [kiln.example("06_attention.cpp:attention_fwd_causal")]
attention += ["randn:20x190:bf16:1", "randn:20x150:bf16:2", "randn:150x20:bf16:3", "0.3", "-o", "y.npy"]
kiln("run", *attention)
plain = (kiln.scratch / "y.npy").read_bytes()
kiln("run", *attention, "--schedule=adversarial", "--json", "run.json")
expect_equal((kiln.scratch / "y.npy").read_bytes(), plain, "--schedule=adversarial")
schedules = json.loads((kiln.scratch / "run.json").read_text())["schedules"]
expect_equal(schedules[0], "program", "the first schedule")
for name in ("starve-tensor", "starve-vector", "starve-ring0", "reverse-dma", "delay-dma0", "delay-dma15"):
    expect(f"adversarial:{name}" in schedules, f"{name} in {schedules}")
    kiln("run", *attention, f"--schedule=adversarial:{name}")
    expect_equal((kiln.scratch / "y.npy").read_bytes(), plain, name)
expect_equal(len(set(schedules)), len(schedules), "schedules are run once")

# Wrong names, before anything is compiled.
for wrong in ("backwards", "adversarial:", "adversarial:starve-ring99", "random:x"):
    _, message = kiln("run", "absent.cpp:f", f"--schedule={wrong}", code=2)
    expect(f"kiln: error: there is no schedule '{wrong}'\nhelp: " in message, message)

# Two transfers on one ring write one tile: nothing says which is last.
RACE = """
.kernel "race"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 a hbm 32x2xf32 input 0
.tensor %1 b hbm 32x2xf32 input 1
.tensor %2 y hbm 32x2xf32 output 0
.tensor %3 t sbuf 32x2xf32 at 0,0
.stream sync
  dma_copy dst=t[0+32, 0: 1x2] src=a[32 rows of 2, 0: 1x2] update s0+=16 #0
  dma_copy dst=t[0+32, 0: 1x2] src=b[32 rows of 2, 0: 1x2] update s0+=16 #1
  wait s0>=32 dma_copy dst=y[32 rows of 2, 0: 1x2] src=t[0+32, 0: 1x2] ring=1 #2
"""
(kiln.scratch / "race.s").write_text(RACE)
kiln("asm", "race.s", "-o", "race.kiln")
inputs = ["zeros:32x2:float32", "iota:32x2:float32"]
inputs.append("--no-proof")
kiln("run", "race.kiln", *inputs)
for schedule in ("adversarial:reverse-dma", "round-robin"):
    kiln("run", "race.kiln", *inputs, f"--schedule={schedule}")
_, message = kiln("run", "race.kiln", *inputs, "--schedule=adversarial", code=3)
expect_equal(
    message,
    "kiln: error: schedules program and adversarial:reverse-dma disagree on result 'y': "
    "element (0, 1) is 1 and 0\n"
    "help: a wait is missing: run with --no-proof --schedule=adversarial:reverse-dma to see this order alone\n",
    "the message about orders that disagree",
)
