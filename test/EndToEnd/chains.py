"""Folds over column tiles through the reduction registers: NumPy's bits, in every order the engines may
move in, each chain on one engine."""

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
kernel = f"{kiln.source}/test/EndToEnd/chains.cpp:row_statistics"
outputs = ["sums.npy", "largest.npy", "inside.npy", "doubled.npy"]
M, N, first, end = 150, 517, 140, 303

x = np.random.default_rng(11).normal(size=(M, N)).astype(np.float32)
x[3] = -np.abs(x[3])
np.save(kiln.scratch / "x.npy", x)
kiln("compile", kernel, "x.npy", first, end, "-o", "chains.kiln")


def run(schedule):
    names = [argument for name in outputs for argument in ("-o", name)]
    kiln("run", "chains.kiln", "x.npy", *names, "--schedule", schedule)
    return [(kiln.scratch / name).read_bytes() for name in outputs]


expected = run("program")
sums, largest, inside, _ = (np.load(kiln.scratch / name) for name in outputs)
exps = np.exp(x.astype(np.float64)).astype(np.float32)
expect(
    (sums[:, 0] == np.add.accumulate(exps, axis=1, dtype=np.float32)[:, -1]).all(),
    "sums of exponentials, left to right",
)
expect((largest[:, 0] == 2 * x.max(axis=1)).all(), "maxima before narrowing")
expect((inside[:, 0] == x[:, first:end].max(axis=1)).all(), "maxima inside the range")

for schedule in ["round-robin", *(f"random:{seed}" for seed in range(30))]:
    expect_equal(run(schedule) == expected, True, f"schedule {schedule} gives the same bits")

text, _ = kiln("objdump", "chains.kiln")
engines = {"activation": "scalar", "tensor_scalar_reduce": "vector", "range_select": "vector"}
seen = dict.fromkeys(engines, 0)
stream = ""
for line in text.splitlines():
    words = line.split()
    if words[:1] == [".stream"]:
        stream = words[1]
    for word in words:
        if word in engines:
            expect_equal(stream, engines[word], f"stream of {word}")
            seen[word] += 1
expect_equal(seen, dict.fromkeys(engines, 2 * 4), "links of the chains")
