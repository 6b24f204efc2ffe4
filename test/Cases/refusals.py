"""What compilers refused without a reason, accepted without a word, or got wrong at a limit: refusals.py --case B069.

The kernels are in refusals.cpp. A message names the operation, the operand, what was found, what is allowed, the
line, and a way out. Expected numbers come from NumPy, never from Kiln.
"""

import numpy as np

from kit import HERE, bfloat16, case, expect, expect_equal, kiln, line_of, main, normal, refused, run, save, says


def refusals(name):
    return str(HERE / f"refusals.cpp:{name}")


def illegal(which, text, message, way_out):
    """The message of one instruction, at the line of `text`, or below it if that is its condition."""
    found = refused(refusals("illegal"), "zeros:4x4:float32", which)
    line = line_of("refusals.cpp", text) + text.startswith("if (")
    says(found, f"refusals.cpp:{line}: error[{message}\n", f"help: {way_out}\n")


@case
def B069():
    """Bits of floats, bits and arithmetic in one instruction, a shifted bfloat16."""
    way_out = "view the tile as an integer dtype of the same width to work on its bits"
    illegal(1, "// bits of floats", "D-08]: bitwise_and needs integer tiles, dst is float32", way_out)
    illegal(2, "if (which == 2)", "D-08]: op0 bitwise_and (bit) and op1 add (arithmetic) must be of one kind",
            "use two tensor_scalar instructions")
    illegal(3, "// a shifted bfloat16", "D-08]: left_shift needs integer tiles, dst is bfloat16", way_out)


@case
def B070():
    """An arithmetic operator with a bfloat16 column."""
    illegal(4, "// a bfloat16 column", "D-09]: a scalar tile of an arithmetic operator must be float32, operand0 is bfloat16",
            "cast it to float32 with tensor_copy")


@case
def B072():
    """A floating fill value for an integer tile."""
    illegal(5, "// a floating fill", "D-07]: fill value 2.0 is floating, dst is int32", "write 2")


@case
def B073():
    """An operator that the engine asked for does not have."""
    illegal(6, "if (which == 6)", "B-07]: on trn2 the Scalar Engine runs tensor_scalar only as multiply, add, or multiply "
            "then add, not as subtract", "use engine::vector, or activation with scale and bias")


@case
def B074():
    """A reduction the API takes and the instruction does not: the verifier knows."""
    illegal(7, "nisa::activation_reduce(", "D-17]: reduce_op of activation_reduce cannot be maximum", "allowed: add")


@case
def B076():
    """A transposition on an engine that has none."""
    illegal(8, "nisa::nc_transpose(", "B-07]: nc_transpose runs on tensor or vector, not on gpsimd",
            "leave the engine unset, or name one that has the instruction")


STREAM = """.kernel "k"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 x hbm 8x4xf32 input 0
.tensor %1 y hbm 8x4xf32 output 0
.stream sync
  dma_copy dst=y[8 rows of 4, 0: 1x4] src=x[8 rows of 4, 0: 1x4] {}update s8+=16 #0
"""


@case
def B080():
    """A misspelt field in assembler text is an error, not dropped."""
    for fields, known in (("dge_mod=none ", "dge_mode"), ("oob_mod=skip ", "oob_mode")):
        (kiln.scratch / "k.s").write_text(STREAM.format(fields))
        message = kiln("asm", "k.s", "-o", "k.kiln", code=1)[1]
        says(message, f"k.s:7: error: unknown operand or field '{fields.split('=')[0]}' of 'dma_copy'\n",
             f"help: did you mean '{known}'?\n")
    (kiln.scratch / "k.s").write_text(STREAM.format(""))
    kiln("asm", "k.s", "-o", "k.kiln")


@case
def B081():
    """A kernel returns a tile, or a tensor the host cannot see."""
    line = line_of("refusals.cpp", "NL_KERNEL(wrong_result")
    for is_tile, place in (("true", "sbuf"), ("false", "private_hbm")):
        message = refused(refusals("wrong_result"), "rand:4x4:float32", is_tile)
        says(message, f"refusals.cpp:{line}: error[K-01]: returned tensors must be in shared_hbm, 't' is in {place}\n",
             "help: declare ")


@case
def B082():
    """A reshape in HBM may have any number of rows."""
    x = normal(1, 300, 7)
    for rows in (1, 127, 128, 129, 700, 2100):
        if x.size % rows == 0:
            expect((run(refusals("reshaped"), x, rows) == x).all(), f"{rows} rows")
    line = line_of("refusals.cpp", "nisa::dma_copy(y.reshape")
    says(refused(refusals("reshaped"), "zeros:300x7:float32", 128), f"refusals.cpp:{line}: error[V-04]")


@case
def B083():
    """tensor_copy, tensor_tensor and DMA cast; the result is rounded once, ties to even."""
    x = normal(2, 30, 7)
    x[0, :2] = 1 + 2.0**-8, 1 + 3 * 2.0**-8
    for which in range(3):
        expect((run(refusals("narrowed"), x, which) == bfloat16(x)).all(), f"way {which}")


@case
def B109():
    """A relative output path below another folder than the sources."""
    folder = kiln.scratch / "below" / "build"
    folder.mkdir(parents=True)
    np.save(folder.parent / "x.npy", normal(3, 300, 7))
    kiln("compile", refusals("reshaped"), "x.npy", 7, "-o", "build/k.kiln", cwd=folder.parent)
    kiln("run", "build/k.kiln", "x.npy", "-o", "build/y.npy", cwd=folder.parent)
    expect_equal(sorted(path.name for path in folder.iterdir()), ["k.kiln", "y.npy"], "files")
    expect((np.load(folder / "y.npy") == normal(3, 300, 7)).all(), "result")


@case
def B113():
    """Scores + 1 for scores * 1: without a mask softmax hides it, with one the numbers show it."""
    q, k = normal(4, 32, 20), normal(5, 32, 40)
    whole = np.ones((20, 40), np.float32)
    masked = (np.arange(40) <= np.arange(20)[:, None] + 20).astype(np.float32)
    for mask, is_hidden in ((whole, True), (masked, False)):
        scores = q.T.astype(np.float64) @ k * mask
        expected = np.exp(scores - scores.max(1, keepdims=True))
        expected /= expected.sum(1, keepdims=True)
        expect(np.abs(run(refusals("masked_softmax"), q, k, mask, "false") - expected).max() < 1e-5, "times 1")
        # The tool's own comparison is what an author has.
        names = [save(f"{name}.npy", a) for name, a in (("q", q), ("k", k), ("mask", mask), ("y", expected.astype(np.float32)))]
        _, message = kiln("run", refusals("masked_softmax"), *names[:3], "true", "--check", names[3], "--rtol", "1e-3",
                          "--atol", "1e-4", code=0 if is_hidden else 3)
        expect(is_hidden or "out of tolerance" in message, message)


@case
def B115():
    """A division by zero in the author's own code: an error with the last line that reached Kiln."""
    line = line_of("refusals.cpp", "int count = static_cast<int>(x.dim(1)) / (chunk - 1)") - 1
    message = refused(refusals("pieces"), "rand:30x6:float32", 1)
    says(message, f"refusals.cpp:{line}", "error[X-07]: the kernel's own C++ crashed with an arithmetic fault such as a "
         "division by zero (SIGFPE)\n", "help: the line is the last one that reached Kiln")
    x = normal(6, 30, 6)
    for chunk in (2, 3, 4, 7):
        expect((run(refusals("pieces"), x, chunk) == x).all(), f"chunk {chunk}")


@case
def B120():
    """Each limit of a tile with both of its neighbours; one row or column more; rows that see nothing."""
    matmul = kiln.example("03_matmul.cpp:matmul_blocked")
    for K, M, N in ((127, 127, 511), (128, 128, 512), (129, 129, 513), (1, 255, 1), (257, 1, 1025), (256, 256, 1024)):
        a, b = np.round(normal(7, K, M) * 4), np.round(normal(8, K, N) * 4)
        expect((run(matmul, a, b) == a.T @ b).all(), f"matmul {M} x {K} x {N}")
    for columns in (511, 512, 513, 2047, 2048, 2049):
        for rows in (1, 127, 128, 129):
            x = normal(9, rows, columns).astype(np.float64)
            expected = np.exp(x) / np.exp(x).sum(1, keepdims=True)
            found = run(kiln.example("04_softmax.cpp:softmax"), x.astype(np.float32))
            # Sums of so many float32 terms, left to right: worst case 1.2e-4; one term is more.
            expect(np.abs(found / expected - 1).max() < 5e-6, f"softmax {rows} x {columns}")
    # Key j is visible to query i when j <= i + T - S: the first S - T queries see none and give zeros.
    for S, T in ((127, 511), (128, 512), (129, 513), (200, 129), (513, 512), (130, 1)):
        q, k, v = normal(10, 16, S), normal(11, 16, T), normal(12, T, 16)
        scores = 0.25 * (q.T.astype(np.float64) @ k)
        weights = np.exp(scores) * (np.arange(T) <= np.arange(S)[:, None] + T - S)
        total = weights.sum(1, keepdims=True)
        expected = weights @ v / np.where(total == 0, 1, total)
        found = run(kiln.example("06_attention.cpp:attention_fwd_causal"), q, k, v, 0.25)
        # Probabilities pass through bfloat16.
        expect(np.abs(found - expected).max() < 2e-2, f"attention {S} queries, {T} keys: {np.abs(found - expected).max()}")
        expect((found[:max(S - T, 0)] == 0).all(), f"queries that see nothing, {S} and {T}")


main()
