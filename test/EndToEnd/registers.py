"""Kernels whose loops and addresses the run decides: against NumPy, in every order, and at the edges of what an
index may be."""

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
SOURCE = kiln.source / "test/EndToEnd/registers.cpp"
ORDERS = ["program", "round-robin", "adversarial"] + [f"random:{seed}" for seed in range(4)]


def given(*arrays):
    names = []
    for i, array in enumerate(arrays):
        np.save(kiln.scratch / f"x{i}.npy", array)
        names.append(f"x{i}.npy")
    return names


def run(kernel, *arrays, orders=("program",), options=()):
    """The result of a kernel, the same bits in each order."""
    results = []
    for order in orders:
        kiln("run", f"{SOURCE}:{kernel}", *given(*arrays), "-o", "y.npy", "--schedule", order, *options)
        results.append(np.load(kiln.scratch / "y.npy"))
        expect((results[-1] == results[0]).all(), f"{kernel}: {order} gives other bits")
    return results[0]


def number(*values):
    return np.array(values, np.int32)


def equal(found, expected, what):
    expect(np.array_equal(found, expected), f"{what}: found {found}, expected {expected}")


def rows_are_scaled():
    x = np.random.default_rng(5).standard_normal((4000, 6), dtype=np.float32)
    sizes = set()
    for blocks in (0, 1, 5, 1000):
        n = 4 * blocks
        y = x.copy()
        y[:n] *= np.float32(0.5)
        orders = ORDERS if blocks in (1, 5) else ("program",)
        equal(run("scale_rows", x, number(n), orders=orders), y, f"scale_rows {n}")
        kiln("compile", f"{SOURCE}:scale_rows", *given(x, number(n)), "-o", "p.kiln")
        sizes.add((kiln.scratch / "p.kiln").stat().st_size)
        if blocks in (0, 5):
            verdict = kiln("check", "p.kiln", *given(x, number(n)))[0]
            expect("races      proven" in verdict and "p.kiln: ok" in verdict, verdict)
    expect_equal(len(sizes), 1, "sizes of the program for 0, 1, 5 and 1000 iterations")
    # One row beyond the last: the instruction, the index and the line are named.
    _, said = kiln("run", f"{SOURCE}:scale_rows", *given(x[:8], number(9)), code=3)
    line = 1 + SOURCE.read_text().split("nl::load(x.ap(")[0].count("\n")
    expect(f"registers.cpp:{line}: error[V-17]: index 8 of src is outside 'arg0', whose indexed dim has 8 (0 to 7)" in said, said)
    expect("in iteration 2 of a loop whose counter is 8, counted from 0" in said, said)


def loops_count():
    for n in (-3, 0, 1, 2, 5, 40):
        i = np.arange(max(n, 0), dtype=np.int64)
        pairs = sum(int(a) * int(b) for a in i for b in range(a))
        equal(run("sums", number(n)), [[i.sum(), pairs]], f"sums {n}")
    for first, last in ((0, 10), (-7, 8), (5, 5), (6, 5), (2**31 - 5, 2**31 - 1), (-(2**31), -(2**31) + 4)):
        values = np.arange(first, last, 3, dtype=np.int64)
        total = (int(values.sum()) + 2**31) % 2**32 - 2**31
        equal(run("ranges", number(first, last)), [[len(values), total]], f"ranges {first} {last}")
    for n in (1, 2, 3, 27):
        c, steps, most = n, 0, n
        while c != 1:
            c = c // 2 if c % 2 == 0 else 3 * c + 1
            steps, most = steps + 1, max(most, c)
        equal(run("collatz", number(n)), [[steps, most]], f"collatz {n}")


def conditions_come_from_memory():
    for first in (100.0, 99.0, 0.7):
        x = np.arange(8, dtype=np.float32).reshape(1, 8)
        x[0, 0] = first
        y = x.copy()
        while y[0, 0] < 100:
            y *= 2
        equal(run("until_large", x, orders=ORDERS), y, f"until_large {first}")


def indices_choose():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((9, 33), dtype=np.float32)
    index = rng.integers(0, 9, 20).astype(np.int32)
    equal(run("take_rows", x, index, orders=ORDERS), x[index], "take_rows")
    for bad in (-1, 9):
        _, said = kiln("run", f"{SOURCE}:take_rows", *given(x, number(0, bad)), code=3)
        expect(f"error[V-17]: index {bad} of src is outside 'arg0', whose indexed dim has 9 (0 to 8)" in said, said)
    blocks = rng.integers(-100, 100, (7, 5, 3)).astype(np.int32)
    for c in (0, 2):
        equal(run("take_column", blocks, number(c), orders=ORDERS), blocks[:, :, c], f"take_column {c}")
    _, said = kiln("run", f"{SOURCE}:take_column", *given(blocks, number(3)), code=3)
    expect("error[V-17]: index 3 of src is outside" in said, said)
    row = rng.standard_normal((1, 12), dtype=np.float32)
    for r in (-1, 0, 4, 5, 2**31 - 1):
        y = np.zeros((5, 12), np.float32)
        if 0 <= r < 5:
            y[r] = row
        equal(run("put_row", row, number(r), orders=ORDERS), y, f"put_row {r}")
    x = rng.integers(-50, 50, (1, 31)).astype(np.float32)
    for n in (0, 1, 30, 31):
        y = np.cumsum(x, axis=1)
        y[:, n:] = 0
        equal(run("running_sum", x, number(n), orders=ORDERS), y, f"running_sum {n}")


def tensors_are_indices():
    rng = np.random.default_rng(8)
    x = rng.integers(-50, 50, (1, 37)).astype(np.float32)
    for n in (0, 1, 2, 19):
        equal(run("bumped_sum", x, number(n), orders=ORDERS), [[x[0, 0 : 2 * n : 2].sum()]], f"bumped_sum {n}")
    _, said = kiln("run", f"{SOURCE}:bumped_sum", *given(x, number(20)), code=3)
    line = 1 + SOURCE.read_text().split("nisa::tensor_tensor(sum, sum, element")[0].count("\n")
    expect(f"registers.cpp:{line}: error[V-17]: index 38 of data2 is outside 't0', whose indexed dim has 37 (0 to 36)" in said, said)
    x = rng.standard_normal((6, 5, 3), dtype=np.float32)
    for source, target in ((0, 0), (5, 1), (2, 5)):
        y = x.copy()
        y[target] = x[source]
        equal(run("move_plane", x, number(source, target), orders=ORDERS), y, f"move_plane {source} {target}")
    x = rng.standard_normal((5, 5, 3), dtype=np.float32)
    for r in (0, 4):
        kiln("run", f"{SOURCE}:subscripts", *given(x, number(r)), "-o", "y.npy", "-o", "z.npy")
        equal(np.load(kiln.scratch / "y.npy"), x[:, r], f"x(_, {r}, _)")
        equal(np.load(kiln.scratch / "z.npy"), x[r], f"x({r})")


def iterations_hand_on():
    x = np.random.default_rng(7).standard_normal((5, 19), dtype=np.float32)
    for n in (0, 1, 2, 5):
        equal(run("hand_on", x, number(n), orders=ORDERS), x[max(n - 2, 0)][None], f"hand_on {n}")
        verdict = kiln("check", f"{SOURCE}:hand_on", *given(x, number(n)))[0]
        expect("memory     proven" in verdict and "hand_on: ok" in verdict, verdict)


def limits_stop():
    equal(run("spin", number(1000000)), [[1000000]], "spin")
    _, said = kiln("run", f"{SOURCE}:forever", *given(number(0)), "--max-steps", "1000", code=4)
    expect("error[X-02]: the run was stopped after 1000 steps" in said, said)


rows_are_scaled()
loops_count()
conditions_come_from_memory()
indices_choose()
tensors_are_indices()
iterations_hand_on()
limits_stop()
