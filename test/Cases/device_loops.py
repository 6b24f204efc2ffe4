"""Reported faults about loops and addresses that the run decides, one test each: device_loops.py --case B018.

The kernels are in device_loops.cpp. What a row is about stands above its function. Expected numbers come from
Python or NumPy, never from Kiln.
"""

import numpy as np

from kit import CASES, HERE, case, expect, expect_equal, kiln, line_of, main, normal, run, save

FILE = "device_loops.cpp"
ORDERS = ("program", "round-robin", "random:3", "adversarial")


def kernel(name):
    return str(HERE / f"{FILE}:{name}")


def number(n):
    return np.array([n], np.int32)


@case
def B018():
    """A loop whose count a tensor holds: it runs 0, 1 and 5 times, and its counter moves."""
    for n, expected in ((0, 0), (1, 0), (5, 10)):
        found = run(kernel("sum_of_counter"), number(n), schedules=ORDERS)
        expect_equal(int(found.item()), expected, f"sum over {n} iterations")


@case
def B046():
    """A condition that is false the first time, and after three iterations; one that never is ends at the limit."""
    for n in (0, 3):
        found = run(kernel("count_down"), number(n), schedules=ORDERS)
        expect_equal(int(found.item()), n, f"iterations from {n}")
    name = save("n.npy", number(-1))
    _, said = kiln("run", kernel("count_down"), name, "--max-steps", "5000", code=4)
    expect("the run was stopped after 5000 steps" in said, said)


@case
def B079():
    """Writing the counter of a loop is an error at its line, not a write without effect."""
    _, said = kiln("run", kernel("skips_by_hand"), save("n.npy", number(4)), code=1)
    line = line_of(FILE, "has no effect on the loop")
    expect(f"{FILE}:{line}: error[C-03]: dst of nisa::register_move is the counter" in said, said)


@case
def stale():
    """What a loop made is not there behind it: it may have run not at all."""
    n, x = save("n.npy", number(0)), save("x.npy", normal(3, 4, 5))
    for name, arguments, text in (
        ("stale_register", [n], "src of nisa::register_store is a register that exists only inside the nl::if_"),
        ("stale_counter", [n], "src of nisa::register_store is a register that exists only inside the nl::fori_loop"),
        ("stale_view", [x, n], "is a view of 'arg0' whose register exists only inside the nl::fori_loop"),
    ):
        _, said = kiln("run", kernel(name), *arguments, code=1)
        expect("error[C-05]: " in said and text in said, said)


@case
def B089():
    """DMA with a dynamic access pattern on an SBUF tile: right in range, refused by the run out of it."""
    x = normal(7, 4, 4)
    for n in (0, 1, 2):
        found = run(kernel("corner_of_tile"), x, number(n), schedules=ORDERS)
        expect((found == x[:2, n : n + 2]).all(), f"column {n}: {found}")
    for n, message in ((3, "index 3 takes src beyond the end of"), (4, "index 4 of src is outside"), (-1, "index -1 of src is outside")):
        names = [save("x.npy", x), save("n.npy", number(n))]
        _, said = kiln("run", kernel("corner_of_tile"), *names, code=3)
        expect(message in said and "error[V-17]" in said, said)


@case
def B091():
    """Nested loops whose counts tensors hold, with a value carried through both."""
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    for n, m in ((0, 5), (4, 0), (1, 1), (4, 5), (3, 2)):
        found = run(kernel("nested_sums"), x, number(n), number(m), schedules=ORDERS)
        expect_equal(float(found.item()), float(x[:n, :m].sum()), f"{n} x {m}")


CASES["B091.runtime"] = CASES.pop("B091")  # with counts known while tracing it is in lowering.py
main()
