"""Faults that users of kernel compilers have reported, one test each: cases.py --case B050.

The kernels are in right.cpp (must give the right numbers), wrong.cpp (must be refused with a message that
helps), memory.cpp and neighbours.cpp (both). What a row is about stands above its function. Expected numbers
come from NumPy, never from Kiln.
"""

import json
import re

import numpy as np

from kit import (CODE_OF_UNWRITTEN, HERE, bfloat16, case, close, expect, expect_equal, kiln, line_of, main, normal,
                 random_schedules, refused, run, save, says, transfers)

def right(name):
    return str(HERE / f"right.cpp:{name}")


def wrong(name):
    return str(HERE / f"wrong.cpp:{name}")


def memory(name):
    return str(HERE / f"memory.cpp:{name}")


def neighbours(name):
    return str(HERE / f"neighbours.cpp:{name}")


def lowering(name):
    return str(HERE / f"lowering.cpp:{name}")


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
    a, b = save("a.npy", normal(6, 256_000)), save("b.npy", normal(7, 256_000))
    message = refused(kernel, a, b, 1000)
    says(message, "error[M-04]", " overwrites ", "is live from line", "an address outside")
    _, message = kiln("run", kernel, a, b, 1000, "-Wno-error=M-04", "-o", "c.npy")
    says(message, "warning[M-04]")
    # In program order b has overwritten a when both are read.
    twice = 2 * np.load(kiln.scratch / "b.npy")
    expect((np.load(kiln.scratch / "c.npy") == twice).all(), "tiles that overwrite each other give b + b")


@case
def B051():
    """A base address beyond SBUF."""
    message = refused(right("address_beyond"), "rand:128x1000:float32", 100)
    says(message, "error[M-03]: [396000, 400000) of tile 't' exceeds the 212984 usable bytes", "208984 or lower")
    run(right("address_beyond"), normal(8, 128, 1000), 53)
    # Too much at once: the peak, its line, and the largest tiles that are live there.
    message = refused(memory("all_live"), "rand:128x8800:float32", 6)
    tiles, peak = line_of("memory.cpp", "live.push_back"), line_of("memory.cpp", "memset(sum")
    says(message, f"memory.cpp:{peak}: error[M-01]: SBUF peaks at 246460 of 212984 bytes per partition at line {peak}",
         *(f"memory.cpp:{tiles}: note: 't{i}' holds {35200 + 4 * i} bytes per partition" for i in range(1, 6)))
    x = normal(21, 100, 7)
    expect_equal((run(memory("all_live"), x, 1) == x).all(), True, "one tile")


@case
def B052():
    """The operands of one instruction do not fit, whatever the order; to the byte."""
    message = refused(right("two_wide"), "rand:128x26700:float32")
    says(message, "error[M-01]: the operands of one tensor_tensor take 213600 of 212984 SBUF bytes",
         "no order of instructions fits", "26623 elements of float32")
    x = normal(9, 128, 26623)
    expect_equal((run(right("two_wide"), x) == x + x).all(), True, "exactly full")
    says(refused(right("two_wide"), "rand:128x26624:float32"), "take 212992 of 212984")
    # One tile, so that one element makes the difference: 4 bytes.
    x = normal(22, 3, 53246)
    expect_equal((run(memory("in_place"), x) == x + np.float32(1)).all(), True, "exactly full, one tile")
    says(refused(memory("in_place"), "rand:3x53247:float32"),
         "error[M-02]: tile 't' (3, 53247) float32 needs 212988 bytes per partition, 212984 are usable")


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
    # All subsets of: Vector, Scalar, GpSimd, a tensor inside HBM, Tensor Engine, PSUM.
    x = normal(23, 64, 96)
    for parts in range(64):
        vector, scalar, gpsimd, _, tensor, _ = (bool(parts >> bit & 1) for bit in range(6))
        expected = x * np.float32(2) if vector else x
        expected = expected + np.float32(1) if scalar else expected
        expected = expected * expected if gpsimd else expected
        expected = expected.T if tensor and (vector or scalar) else expected
        found = run(memory("parts_of_the_core"), x, parts, schedules=["random:1"])
        expect_equal(found.shape, expected.shape, f"shape with parts {parts:06b}")
        expect((found == expected).all(), f"parts {parts:06b}")
        streams = set(re.findall(r"^\.stream (\w+)", kiln("objdump", "k.kiln")[0], re.M))
        expect_equal({"vector", "scalar", "gpsimd", "tensor"} & streams,
                     {name for name, used in (("vector", vector), ("scalar", scalar), ("gpsimd", gpsimd),
                                              ("tensor", tensor)) if used}, f"engines with parts {parts:06b}")
        if parts in (0, 1, 4, 8, 16, 33, 63):
            kiln("compile", memory("parts_of_the_core"), "in0.npy", parts, "--memory-report", "--sync-report")


@case
def B057():
    """One partition holds much more than the others: the report says which, and what fills it."""
    N, rows = 1000, 40
    args = ["rand:128x1000:float32", "rand:100x1000:float32", rows]
    x, extra = normal(24, 128, N), normal(25, 100, N)
    expected = x.astype(np.float64)
    expected[0] += extra[:rows].astype(np.float64).sum(0)
    close(run(memory("one_full_partition"), x, extra, rows), expected, "rows in one partition")
    text = kiln("compile", memory("one_full_partition"), *args, "--memory-report")[0]
    wide, narrow = line_of("memory.cpp", '"wide"'), line_of("memory.cpp", "narrow.push_back")
    size = 4 * N
    says(text, f"'wide' 128x{N} float32", "'t39' 1x1000 float32",
         f"  partitions 0-0 hold {(rows + 1) * size} bytes, {100 * (rows + 1) * size / 212984:.1f} %\n",
         f"  partitions 1-127 hold {size} bytes, {100 * size / 212984:.1f} %\n",
         f"the largest saving is {rows * size} bytes: 't0' and {rows - 1} more, line {narrow}")
    sbuf = json.loads(kiln("compile", memory("one_full_partition"), *args, "--memory-report=json")[0])["memories"][0]
    expect_equal(sbuf["partitions"], [{"first": 0, "last": 0, "live_bytes": (rows + 1) * size},
                                      {"first": 1, "last": 127, "live_bytes": size}], "bytes of partitions")
    by_line = {}
    for tile in sbuf["tiles"]:
        by_line.setdefault(tile["line"], []).append((tile["partition"], tile["partitions"], tile["bytes"]))
    expect_equal(by_line, {wide: [(0, 128, size)], narrow: [(0, 1, size)] * rows}, "tiles")


def rotated(x, cos, sin):
    x, cos, sin = (a.astype(np.float64) for a in (x, cos, sin))
    half, times = len(x) // 2, x.shape[1] // cos.shape[1]
    cos, sin = np.tile(cos, (1, times)), np.tile(sin, (1, times))
    low, high = x[:half], x[half:]
    return np.vstack((low * cos - high * sin, high * cos + low * sin))


@case
def B058():
    """RoPE with d 128, batch 64, 8 heads, 128 positions: too large at once, right in pieces of any size."""
    S, heads = 128, 64 * 8
    message = refused(memory("rope"), f"rand:128x{heads * S}:bf16", "rand:64x128:float32", "rand:64x128:float32", heads)
    says(message, f"error[M-02]: this tile (64, {heads}, {S}) float32 needs 262144 bytes per partition, 212984 are usable",
         "help: split the free dims into 2 tiles or more")
    message = refused(memory("rope"), f"rand:128x{heads * S}:bf16", "rand:64x128:float32", "rand:64x128:float32",
                      heads // 2)
    says(message, "error[M-01]: SBUF peaks at 394240 of 212984 bytes per partition",
         "'t4' and 1 more hold 262144 bytes per partition", "'t2' and 1 more hold 131072 bytes per partition",
         "cut them from 262144 to at most 80888 bytes")
    angle = np.random.default_rng(26).uniform(0, 2 * np.pi, (64, S))
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    x = bfloat16(normal(27, 128, heads * S))
    save("x.npy", x)
    save("cos.npy", cos), save("sin.npy", sin)
    for at_once in (8, 7):
        kiln("run", memory("rope"), "x.npy:bf16", "cos.npy", "sin.npy", at_once, "-o", "out.npy")
        close(np.load(kiln.scratch / "out.npy"), rotated(x, cos, sin), f"rope, {at_once} heads at once", 1e-6)
    # As a whole tensor the compiler cuts it.
    kiln("run", lowering("rope"), "x.npy:bf16", "cos.npy", "sin.npy", "-o", "out.npy")
    close(np.load(kiln.scratch / "out.npy"), rotated(x, cos, sin), "rope, whole", 1e-6)


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
    # As a loop of the device: odd and even counts, and one that does not fill a group of iterations.
    for count in (1, 2, 5, 17):
        x = normal(count, 64 * count, 15360)
        close(run(memory("wide_rows_rolled"), x, schedules=["program", "random:1"]),
              x.astype(np.float64).sum(1, keepdims=True), f"device loop of {count}", 1e-4)


@case
def B062():
    """1200 rows in tiles of 88: the last tile is smaller, and nothing is copied or padded for it."""
    K, M, N = 96, 1200, 160
    a, b = normal(28, K, M), normal(29, K, N)
    close(run(memory("matmul_rows"), a, b, 88), a.T.astype(np.float64) @ b, "tiles of 88 rows")
    tiles = -(-M // 88)
    found = transfers("k.kiln")
    expect_equal({name: sum(src == name or dst == name for dst, src in found) for name in ("lhsT", "rhs", "out0")},
                 {"lhsT": tiles, "rhs": 1, "out0": tiles}, "transfers, one for each tile of each operand")
    expect_equal(len(found), 2 * tiles + 1, "transfers")
    text = kiln("objdump", "k.kiln")[0]
    expect_equal(re.findall(r"^\.tensor %\d+ (\w+) hbm", text, re.M), ["lhsT", "rhs", "out0"], "tensors in HBM")
    widths = re.findall(r"^\.tensor %\d+ \w+ sbuf 96x(\d+)xf32", text, re.M)
    expect_equal(sorted(map(int, widths)), sorted([N] + [88] * (tiles - 1) + [M - 88 * (tiles - 1)]), "tiles of lhsT and rhs")
    # As a whole tensor the compiler cuts it, without copies in HBM either; each operand is read once.
    close(run(lowering("multiplied_by_columns"), a, b), a.T.astype(np.float64) @ b, "whole tensors")
    text = kiln("objdump", "k.kiln")[0]
    expect_equal(re.findall(r"^\.tensor %\d+ (\w+) hbm", text, re.M), ["a", "b", "out0"], "tensors in HBM")


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
    says(message, "right.cpp:247: error[M-09]: tensor_tensor reads", "elements (72-127, 0-15), 3584 of 8192 bytes",
         "note: unwritten: sbuf partitions 72-127, bytes ", "was last written by instruction")
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
    says(message, "error[M-09]", "'y' was not written as a whole: elements (0-255, 0-15), 16384 of 19200 bytes",
         "note: unwritten: hbm bytes 0-16383 of 'y'")
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


# ---- neighbouring compilers ---------------------------------------------------------------------------------


@case
def B128():
    """A predicated store to a tensor that nothing else reads, next to a reduction: which gives the same bits."""
    x = normal(30, 200, 33)
    for seed, share in ((31, 0.5), (32, 0.0), (33, 1.0)):
        mask = (np.random.default_rng(seed).uniform(size=x.shape) < share).astype(np.uint8) * 255
        names = [save("x.npy", x), save("mask.npy", mask), save("scratch.npy", np.full_like(x, 7))]
        sums = {}
        for beside in ("false", "true"):
            kiln("compile", neighbours("masked_store"), *names, beside, "-o", "k.kiln")
            for schedule in ("program", "round-robin", *random_schedules):
                kiln("run", "k.kiln", *names, "--schedule", schedule, "-o", "y.npy", "-o", "s.npy")
                sums.setdefault(np.load(kiln.scratch / "y.npy").tobytes(), []).append((beside, schedule))
                stored = np.where(mask, x, np.float32(-1)) if beside == "true" else np.full_like(x, 7)
                expect((np.load(kiln.scratch / "s.npy") == stored).all(), f"scratch, {beside}, {schedule}")
        expect_equal(len(sums), 1, f"different row sums: {list(sums.values())}")
        close(np.load(kiln.scratch / "y.npy"), x.astype(np.float64).sum(1, keepdims=True), "row sums", 1e-6)


def left_to_right(x):
    total = x[:, 0].copy()
    for column in range(1, x.shape[1]):
        total = total + x[:, column]
    return total


TWO_REDUCERS = """
.kernel "two_reducers"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 x hbm 8x4xf32 input 0
.tensor %1 y hbm 8x3xf32 output 0
.tensor %2 t sbuf 8x4xf32 at 0,0
.tensor %3 u sbuf 8x4xf32 at 0,32
.tensor %4 sums sbuf 8x3xf32 at 0,64
.stream scalar
  wait s8>=16 activation_reduce dst=u[0+8, 0: 1x4] data=t[0+8, 0: 1x4] reduce_res=sums[0+8, 1: 1x1] op=copy \
reduce_op=add update s1+=1 #2
  wait s8>=16 activation_reduce dst=u[0+8, 0: 1x4] data=t[0+8, 0: 1x4] reduce_res=sums[0+8, 2: 1x1] op=copy \
reduce_op=add update s1+=1 #3
.stream vector
  wait s8>=16 tensor_reduce dst=sums[0+8, 0: 1x2] data=t[0+8, 0: 2x2 1x2] op=add reduced_dims=1 update s0+=1 #1
.stream sync
  dma_copy dst=t[0+8, 0: 1x4] src=x[8 rows of 4, 0: 1x4] update s8+=16 #0
  wait s1>=2 semaphore_wait #4
  wait s0>=1 dma_copy dst=y[8 rows of 3, 0: 1x3] src=sums[0+8, 0: 1x3] ring=1 update s9+=16 #5
"""


@case
def B131():
    """Two engines reduce into columns that overlap."""
    x = normal(34, 100, 33)
    # In one tile the compiler orders them: the one that the kernel writes last wins, in every schedule.
    expected = np.stack([left_to_right(x), left_to_right(x * np.float32(0.5)), left_to_right(x * np.float32(0.5))], 1)
    found = run(neighbours("two_reducers"), x, schedules=["program", "round-robin", *random_schedules])
    expect_equal((found == expected).all(), True, "one tile")
    # Two tiles at overlapping addresses are an error, with the bytes of both.
    second = line_of("neighbours.cpp", '"second"')
    message = refused(neighbours("two_reducers_placed"), "rand:100x33:float32")
    says(message, f"neighbours.cpp:{second}: error[M-04]: 'second' (bytes 4 to 11 of sbuf) overwrites 'first' (bytes 0 to 7)",
         "note: 'first' is live from line", "note: 'second' is live from line",
         "help: give 'second' an address outside bytes 0 to 7")
    # And in streams written by hand, where nothing orders the two: a race, with the bytes of both.
    (kiln.scratch / "race.s").write_text(TWO_REDUCERS)
    kiln("asm", "race.s", "-o", "race.kiln")
    message = kiln("check", "race.kiln", "rand:8x4:float32", "--random", "0", code=3)[1]
    says(message, "error[X-08]: race: ", "both touch sbuf partitions 0-7, bytes 68-71",
         "instruction 0 of the scalar stream, activation_reduce", "instruction 0 of the vector stream, tensor_reduce")


@case
def B132():
    """A matrix of 130 x 70, which no tile divides, in and out, at odd places of a larger one."""
    for cast, rounded in (("", lambda a: a), (":bf16", bfloat16)):
        x = rounded(normal(35, 130, 70))
        save("x.npy", x)
        for rows, columns in ((128, 128), (128, 64), (65, 70), (1, 70), (33, 7)):
            y = rounded(normal(36, 77, 133))
            save("y.npy", y)
            kiln("run", neighbours("turned"), f"y.npy{cast}", f"x.npy{cast}", rows, columns, "-o", "out.npy")
            y[:70, :130] = x.T
            expect((np.load(kiln.scratch / "out.npy") == y).all(), f"turned in tiles of {rows} x {columns}{cast}")
        for row, column in ((0, 0), (3, 5), (5, 7)):
            y = rounded(normal(37, 135, 77))
            save("y.npy", y)
            kiln("compile", neighbours("moved_rows"), f"y.npy{cast}", f"x.npy{cast}", row, column, "-o", "k.kiln")
            y[row:row + 130, column:column + 70] = x
            for schedule in ("program", "round-robin", "random:3"):
                kiln("run", "k.kiln", f"y.npy{cast}", f"x.npy{cast}", "--schedule", schedule, "-o", "out.npy")
                expect((np.load(kiln.scratch / "out.npy") == y).all(), f"moved to ({row}, {column}){cast}, {schedule}")


@case
def B135():
    """Three-dimensional DMA with a stride of 0, and with others: bf16, float32, int8; the same elements in all."""
    rng = np.random.default_rng(38)
    for shape, times in (((5, 7, 9), 3), ((128, 3, 1), 2), ((1, 2, 33), 16), ((17, 1, 5), 1)):
        whole = rng.integers(-128, 128, shape)
        for spelled, stored in (("x.npy:bf16", np.float32), ("x.npy", np.float32), ("x.npy", np.int8)):
            x = whole.astype(stored)
            save("x.npy", x)
            for way in range(4):
                found = run(neighbours("repeated"), spelled, times, way, schedules=["program", "round-robin", "random:7"])
                expected = np.repeat((x if way < 3 else np.repeat(x[:1], shape[0], 0))[:, None], times, 1)
                expect_equal((found.shape, (found == expected).all()), (expected.shape, True),
                             f"{spelled} {stored.__name__} {shape} x {times}, way {way}")
            if shape[2] > 1:
                found = run(neighbours("strided"), spelled)
                expected = x[:, ::-1, :shape[2] // 2 * 2:2].transpose(0, 2, 1)
                expect_equal((found == expected).all(), True, f"strided {spelled} {stored.__name__} {shape}")


@case
def B137():
    """Twenty compilations, each a process with its own addresses, give the same bytes."""
    example = str(kiln.source / "examples" / "06_attention.cpp:attention_fwd")
    head = ["rand:64x300:bf16:1", "rand:64x700:bf16:2", "rand:700x64:bf16:3", "0.125"]
    for kernel, *arguments in ((right("late_use"), "rand:1088x3:float32", "false", 3),
                               (right("carried_rolled"), "rand:8x5:float32", 5000),
                               (neighbours("repeated"), "rand:5x7x9:float32", 3, 2),
                               (memory("parts_of_the_core"), "rand:64x96:float32", 63),
                               (memory("matmul_rows"), "rand:96x1200:float32", "rand:96x160:float32", 88),
                               (example, *head)):
        programs = set()
        for _ in range(20):
            kiln("compile", kernel, *arguments, "-o", "k.kiln")
            programs.add((kiln.scratch / "k.kiln").read_bytes())
        expect_equal(len(programs), 1, f"different programs of {kernel}")


main()
