"""Faults that users of kernel compilers have reported, one test each: cases.py --case B050.

The kernels are in right.cpp (must give the right numbers) and wrong.cpp (must be refused with a message that
helps). What a row is about stands above its function. Expected numbers come from NumPy, never from Kiln.
"""

import argparse
import json
import pathlib
import re

import numpy as np

from kiln_test import Kiln, expect, expect_equal

CASES = {}
HERE = pathlib.Path(__file__).parent


def case(function):
    CASES[function.__name__] = function
    return function


# ---- helpers ----------------------------------------------------------------------------------------------


def right(name):
    return str(HERE / f"right.cpp:{name}")


def wrong(name):
    return str(HERE / f"wrong.cpp:{name}")


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def save(name, array):
    np.save(kiln.scratch / name, array)
    return name


def run(kernel, *arguments, schedules=("program",), **options):
    """Runs `kernel` on arrays and numbers under each schedule; the results must be the same bits."""
    spelled = [save(f"in{i}.npy", a) if isinstance(a, np.ndarray) else a for i, a in enumerate(arguments)]
    kiln("compile", kernel, *spelled, "-o", "k.kiln", **options)
    arrays = [a for a in spelled if isinstance(a, str) and a.endswith(".npy")]
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

# ---- wrong numbers in other compilers ---------------------------------------------------------------------


@case
def B003():
    """Bias put into PSUM by a copy, then accumulated onto."""
    message = refused(wrong("bias_in_psum"), "rand:64x96:float32:1", "rand:64x160:float32:2", "rand:96x160:float32:3",
                      code=3)
    says(message, "wrong.cpp:27: error[M-10]: accumulate=true adds to 'acc', which no matmul has written: a fill or copy "
         "opens no accumulation on trn2", "help: let the first matmul overwrite")


@case
def B004():
    """A load in the innermost of three loops, into one tile or a fresh one each time."""
    for fresh in ("true", "false"):
        for trips in (1, 2, 3):
            x = normal(trips, trips, 4 - trips, 128, 100 * trips + 7)
            y = run(right("reload"), x, fresh, schedules=["program", "round-robin", *random_schedules[:4]])
            expect_equal((y == 2 * x + np.float32(1)).all(), True, f"{trips} trips, fresh tiles {fresh}")


@case
def B011():
    """Matmuls into overlapping column ranges of one bank: a first write overwrites, a later one adds."""
    a, b = normal(1, 64, 96), normal(2, 64, 512)
    product = a.T.astype(np.float64) @ b
    expected = product.copy()
    expected[:, :256] += product[:, :256]
    expected[:, 128:384] += product[:, :256]
    close(run(right("overlapping_groups"), a, b), expected, "overlapping groups")


@case
def B019():
    """Memory written before a loop, read and written in it, stored after it."""
    x = normal(3, 96, 130)
    for trips in (0, 1, 5):
        expected = x.copy()
        for _ in range(trips):
            expected = expected + (expected * np.float32(0.5) + np.float32(1))
        found = run(right("carried"), x, trips, schedules=[f"random:{seed}" for seed in range(1, 101 if trips == 5 else 5)])
        expect_equal((found == expected).all(), True, f"{trips} trips")
    # The same as a loop of the device, so long that it stays one.
    x = normal(3, 8, 5)
    for trips in (0, 1, 5, 5000):
        expected = x.copy()
        for _ in range(trips):
            expected = expected + (expected * np.float32(0.5) + np.float32(1))
        schedules = [f"random:{seed}" for seed in range(1, 101 if trips == 5 else 3)]
        with np.errstate(over="ignore"):
            found = run(right("carried_rolled"), x, trips, schedules=schedules)
        expect_equal((found == expected).all(), True, f"{trips} trips of the device's loop")


@case
def B021():
    """A scan in pieces, each of which starts from the last column of the one before: device loop, C++ loop, one piece."""
    for width, pieces in ((64, 2), (64, 4), (3, 17), (2, 1500)):
        rng = np.random.default_rng(pieces)
        a = rng.uniform(0.5, 0.999, (16, width * pieces)).astype(np.float32)
        b = rng.standard_normal((16, width * pieces), dtype=np.float32)
        state, expected = np.zeros(16, np.float32), np.empty_like(b)
        for t in range(width * pieces):
            state = a[:, t] * state + b[:, t]
            expected[:, t] = state
        for how in (0, 1, 2):
            found = run(right("scan_pieces"), a, b, width, how, schedules=["program", "random:5"])
            expect_equal((found == expected).all(), True, f"{pieces} pieces of {width}, way {how}")


@case
def B028():
    """acc = acc + product under loops that do not index acc."""
    a, b = normal(4, 200, 16), normal(5, 200, 24)
    found = run(right("accumulate_in_sbuf"), a, b, schedules=["program", *random_schedules])
    close(found, a.T.astype(np.float64) @ b, "accumulation in SBUF")


# ---- memory -----------------------------------------------------------------------------------------------


@case
def B050():
    """Three tensors at one address: an error, and on request the wrong sum the chip would give."""
    kernel = str(HERE.parent / "kernels" / "vector_add.cpp:vector_add_overlapping")
    a, b = save("a.npy", normal(6, 25600)), save("b.npy", normal(7, 25600))
    message = refused(kernel, a, b, 100)
    says(message, "error[M-04]", " overwrites ", "is live from line", "an address outside")
    _, message = kiln("run", kernel, a, b, 100, "-Wno-error=M-04", "-o", "c.npy")
    says(message, "warning[M-04]")
    sums = np.load(kiln.scratch / "a.npy") + np.load(kiln.scratch / "b.npy")
    expect((np.load(kiln.scratch / "c.npy") != sums).any(), "tiles that overwrite each other give a wrong sum")


@case
def B051():
    """A base address beyond SBUF."""
    message = refused(right("address_beyond"), "rand:128x1000:float32", 100)
    says(message, "error[M-03]: [396000, 400000) of tile 't' exceeds the 212984 usable bytes", "208984 or lower")
    run(right("address_beyond"), normal(8, 128, 1000), 53)


@case
def B052():
    """The operands of one instruction do not fit, whatever the order; to the byte."""
    message = refused(right("two_wide"), "rand:128x26700:float32")
    says(message, "error[M-01]: the operands of one tensor_tensor take 213600 of 212984 SBUF bytes",
         "no order of instructions fits", "26623 elements of float32")
    x = normal(9, 128, 26623)
    expect_equal((run(right("two_wide"), x) == x + x).all(), True, "exactly full")
    says(refused(right("two_wide"), "rand:128x26624:float32"), "take 212992 of 212984")


@case
def B053():
    """A tile with 756,257 partitions is refused where it is declared."""
    message = refused(wrong("big_tile"), "zeros:128x16:float32", 756257, 10376)
    says(message, "wrong.cpp:39: error[P-01]: tile 't' needs 756257 partitions, the core has 128")


@case
def B055():
    """Pressure inside a loop body only."""
    message = refused(right("pressure_in_loop"), "rand:300x20480:float32")
    says(message, "error[M-01]: SBUF peaks at 245760 of 212984 bytes per partition", "81920 bytes each")
    x = normal(10, 300, 17000)
    close(run(right("pressure_in_loop"), x), np.tanh(x.astype(np.float64)) + np.exp(x), "three tiles of 66 KiB")


@case
def B056():
    """Any engine and any memory may be unused."""
    x = normal(11, 128, 512)
    close(run(right("exp_only"), x), np.exp(x.astype(np.float64)), "exp")
    expect_equal((run(right("hbm_only"), x) == x).all(), True, "copy inside HBM")
    x = normal(12, 1, 128, 8192).astype(np.float16)
    wide = x.astype(np.float64)
    close(run(right("rms"), x), wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6), "rmsnorm", 1e-3)
    for kernel in ("exp_only", "hbm_only"):
        kiln("compile", right(kernel), "rand:128x512:float32", "--memory-report", "--sync-report")


@case
def B061():
    """Tiles so wide that fewer buffers fit than the loop could use."""
    for rows in (1, 128, 600):
        x = normal(rows, rows, 15360)
        close(run(right("wide_rows"), x), x.astype(np.float64).sum(1, keepdims=True), f"{rows} rows", 1e-4)
    report = json.loads(kiln("compile", right("wide_rows"), "rand:600x15360:float32", "--memory-report=json")[0])
    line = next(i for i, text in enumerate((HERE / "right.cpp").read_text().splitlines(), 1) if "Tensor wide_rows" in text) + 4
    wide = [r for r in report["memories"][0]["rotations"] if r["line"] == line]
    expect_equal([(r["tiles"], r["addresses"]) for r in wide], [(5, 3)], "tiles of 60 KiB rotate over what fits")


# ---- refusals ---------------------------------------------------------------------------------------------


@case
def B063():
    """A tile with 256 partitions."""
    message = refused(wrong("big_tile"), "zeros:128x16:float32", 256, 16)
    expect_equal(message, "wrong.cpp:39: error[P-01]: tile 't' needs 256 partitions, the core has 128\n"
                 "help: split dim 0 into 2 tiles of at most 128 or move 2 into a free dim: (128, 2, 16)\n", "message")


@case
def B064():
    """Matmuls larger than the array, each limit with its neighbour."""
    run_sizes = lambda k, m, n, code=1: kiln("run", wrong("matmul_sizes"), "zeros:4x4:float32", k, m, n, code=code)[1]
    says(run_sizes(128, 128, 1024), "error[S-02]: moving has 1024 columns, one matmul on trn2 moves at most 512")
    says(run_sizes(128, 256, 512), "error[S-01]: stationary has 256 columns, the array holds 128")
    says(run_sizes(129, 128, 512), "error[P-01]: this tile needs 129 partitions, the core has 128")
    run_sizes(128, 128, 512, code=0)


@case
def B065():
    """Rows that start where no engine can."""
    rows = lambda start, count, code=1: kiln("run", wrong("rows_from"), "zeros:4x4:float32", start, count, code=code)[1]
    says(rows(1, 2), "error[P-06]: src covers partitions 1 to 2; 1 to 32 partitions must start at 0, 32, 64 or 96")
    says(rows(32, 48), "error[P-07]: src covers partitions 32 to 79, which cross the half boundary at 64",
         "split into 32 + 16")
    says(rows(64, 65), "error[P-14]: slice [64, 129) exceeds dim 0", "(extent 128)")
    says(rows(32, 65), "must start at 0")
    for start, count in ((0, 128), (64, 64), (96, 32), (32, 32)):
        rows(start, count, code=0)


@case
def B066():
    """Every other partition."""
    message = refused(wrong("every_other"), "zeros:4x4:float32")
    says(message, "error[P-08]: partitions cannot be strided", "nisa::dma_copy, or a matmul with a selection matrix")


@case
def B067():
    """PSUM where it cannot go: two inputs, DMA from it, DMA to it, GpSimd."""
    for which, message in enumerate((
        "error[B-03]: only one of the two inputs may be in PSUM, data1 and data2 both are",
        "error[B-04]: DMA has no path from PSUM, src is in PSUM",
        "error[B-04]: DMA has no path to PSUM, dst is in PSUM",
        "error[B-05]: iota runs on GpSimd, which cannot access PSUM; dst is there",
    )):
        says(refused(wrong("psum_misuse"), "zeros:128x128:float32", which), message, "help: ")


@case
def B111():
    """A stationary buffer declared with the moving tile's size."""
    message = refused(wrong("wrong_tile_size"), "zeros:128x512:float32", "zeros:128x512:float32")
    says(message, "wrong.cpp:97: error[S-01]: stationary 'a' has 512 columns, the array holds 128",
         "wrong.cpp:94: note: 'a' is this 128x512 float32 tile in sbuf")


@case
def B114():
    """The last tile is loaded in part and computed on as a whole."""
    message = kiln("run", right("tail"), "rand:200x16:float32", "false", code=CODE_OF_UNWRITTEN)[1]
    says(message, "error[M-09]", "right.cpp:247")
    x = normal(13, 200, 16)
    close(run(right("tail"), x, "true"), (x.astype(np.float64) ** 2).sum(1, keepdims=True), "200 rows")


@case
def B116():
    """Stationary and moving swapped; square operands would hide it."""
    message = refused(wrong("swapped"), "zeros:64x96:float32", "zeros:64x160:float32")
    says(message, "error[P-12]: dst 'acc' must be (stationary free, moving free) = (160, 96), got (96, 160)", "swap the two")
    a, b = normal(14, 64, 96), normal(15, 64, 160)
    close(run(right("one_matmul"), a, b), a.T.astype(np.float64) @ b, "96 x 64 x 160")


@case
def B123():
    """Results that never reach HBM, or only in part."""
    says(refused(right("forgotten"), "rand:300x16:float32", 0), "error[C-12]: 'y' is returned but never written")
    message = kiln("run", right("forgotten"), "rand:300x16:float32", 1, code=CODE_OF_UNWRITTEN)[1]
    says(message, "error[M-09]", "'y' was not written as a whole", "(0, 0)")
    run(right("forgotten"), normal(16, 300, 16), 2)
    # Zeros the host brought in: the comparison says what they are.
    x = save("x.npy", normal(17, 300, 16))
    message = kiln("run", right("last_rows"), "zeros:300x16:float32", x, 44, "--check", x, code=3)[1]
    says(message, "4096 of 4800 elements out of tolerance", "85.3 % of the result is zero and should not be, in rows 0 to 255")


@case
def B124():
    """Which of 64 x 512 and 512 x 64 is it? The message shows both operands and the result."""
    message = refused(wrong("matmul_sizes"), "zeros:4x4:float32", 128, 64, 512)
    says(message, "dst must be (stationary free, moving free) = (64, 512), got (128, 512)",
         "stationary is (128, 64) and moving is (128, 512)")
    a, b = normal(18, 128, 64), normal(19, 128, 512)
    close(run(right("one_matmul"), a, b), a.T.astype(np.float64) @ b, "64 x 512")


@case
def B125():
    """Naming another tile and writing into a tile do not look alike."""
    x = normal(20, 5, 7)
    expect_equal((run(right("rebind"), x, "true") == x).all(), True, "a copy writes")
    expect_equal((run(right("rebind"), x, "false") == 7).all(), True, "a handle that is assigned moves no data")
    message = kiln("run", HERE / "assigned.cpp:assigned", "zeros:4x4:float32", code=1)[1]
    says(message, "assigned.cpp:9: error[H-04]: assigning to a view moves no data", "help: write nisa::tensor_copy(view, tile)")


@case
def B126():
    """A small tile that a later stage still needs when the next iterations have begun."""
    for tiles in (1, 2, 3, 17):
        x = normal(tiles, 64 * tiles - 3, 5)
        expected = x + (np.arange(len(x)) // 64).astype(np.float32)[:, None]
        for by_hand in ("false", "true"):
            found = run(right("late_use"), x, by_hand, 3, schedules=["program", *random_schedules])
            expect_equal((found == expected).all(), True, f"{tiles} tiles, by hand {by_hand}")
    message = refused(right("late_use"), "rand:1088x3:float32", "true", 2)
    says(message, "error[M-05]", "rotates over 2 addresses, and 3 of its tiles are live at once", "rotate over 3 tiles")


parser = argparse.ArgumentParser()
parser.add_argument("--case", required=True)
kiln = Kiln(parser)
CODE_OF_UNWRITTEN = 3
CASES[kiln.options.case]()
