"""Reported faults of lowering and of compilers themselves, one test each: lowering.py --case B001.

Wrong numbers that a compiler made of right kernels, and kernels it could not compile, or not in time. The
kernels are in lowering.cpp; most are math on whole tensors, and what the fault was about stands above each
function. Expected numbers come from NumPy, never from Kiln.
"""

import re
import subprocess
import time

import numpy as np

from kit import (HERE, bfloat16, case, close, expect, expect_equal, kiln, line_of, main, normal, random_schedules,
                 refused, run, save, says)


def lowering(name):
    return str(HERE / f"lowering.cpp:{name}")


def same(found, expected, what):
    expect_equal(found.shape, expected.shape, what)
    expect(found.tobytes() == np.ascontiguousarray(expected, found.dtype).tobytes(), f"{what}: {(found != expected).sum()} differ")


def compiles_within(seconds, gigabytes, *arguments):
    """Compiles in a process of its own; returns the number of instructions."""
    began = time.monotonic()
    command = ["/usr/bin/env", "python3", "-c",
               "import resource,subprocess,sys;r=subprocess.run(sys.argv[1:]);"
               "print('peak',resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);sys.exit(r.returncode)",
               kiln.tool, "compile", *map(str, arguments), "-o", "k.kiln"]
    result = subprocess.run(command, cwd=kiln.scratch, env=kiln.env, capture_output=True, text=True)
    expect_equal(result.returncode, 0, f"exit code\n{result.stderr}")
    took, peak = time.monotonic() - began, int(re.search(r"peak (\d+)", result.stdout)[1]) / 2**20
    count = sum(1 for line in kiln("objdump", "k.kiln")[0].splitlines() if re.search(r" #\d+", line))
    print(f"{count} instructions in {took:.1f} s, {peak:.2f} GiB")
    expect(took < seconds and peak < gigabytes, f"{count} instructions took {took:.1f} s and {peak:.2f} GiB")
    return count


# ---- wrong numbers ------------------------------------------------------------------------------------------


@case
def B001():
    """A product that broadcasts along the innermost dim and writes one of its operands."""
    for shape in ((8, 16, 64), (128, 4, 128), (3, 5, 1)):
        o, s = normal(1, *shape), normal(2, *shape[:2])
        same(run(lowering("scale_innermost"), o, s), o * s[..., None], f"whole {shape}")
        same(run(lowering("scale_tile"), o, s, schedules=["program", "random:1"]), o * s[..., None], f"tile {shape}")


@case
def B005():
    """Attention with small heads and 400 positions, which no tile divides."""
    q, k, v = normal(3, 400, 32), normal(4, 400, 32), normal(5, 400, 64)
    scale = 32**-0.5
    for rounded, spelled, tolerance in ((lambda a: a, "", 2e-6), (bfloat16, ":bf16", 6e-3)):
        names = [save(f"{name}.npy", rounded(a)) + spelled for name, a in (("q", q), ("k", k), ("v", v))]
        kiln("run", lowering("attention"), *names, scale, "-o", "out.npy")
        wide = [rounded(a).astype(np.float64) for a in (q, k, v)]
        scores = wide[0] @ wide[1].T * np.float64(np.float32(scale))
        weights = np.exp(scores - scores.max(1, keepdims=True))
        close(np.load(kiln.scratch / "out.npy"), weights / weights.sum(1, keepdims=True) @ wide[2], f"attention{spelled}",
              tolerance)


@case
def B006():
    """A transposition of batches, none of which is the partition dim, then a matmul; without hints."""
    x, w = np.round(normal(6, 4, 128, 128) * 4), np.round(normal(7, 256, 256) * 4)
    rows = x.reshape(2, 2, 128, 128).transpose(0, 2, 1, 3).reshape(256, 256)
    same(run(lowering("deconcat_heads"), x, w, schedules=["program", "round-robin"]), rows @ w, "heads side by side")


@case
def B009():
    """Two tensors on a new leading dim, a new trailing one, and between."""
    x, y = normal(8, 128, 64), normal(9, 128, 64)
    for axis in (0, 1, 2, -1):
        same(run(lowering("stacked"), x, y, axis), np.stack([x, y], axis), f"stack on axis {axis}")


@case
def B013():
    """What a mask takes out never wins a maximum, though all scores are negative."""
    x = -1 - np.abs(normal(10, 100, 130))
    x[5] = np.finfo(np.float32).min
    expected = np.where(np.arange(130) <= np.arange(100)[:, None], x, -np.inf).max(1, keepdims=True)
    same(run(lowering("selected_maxima"), x, 0.0, "false"), expected, "range_select, its default")
    whole = np.maximum(expected, np.float32(-3e38)) if expected.min() < -3e38 else expected
    same(run(lowering("masked_maxima"), x), whole, "nl::where")


@case
def B014():
    """A parameter is honoured or refused: trn2 has one value for what a range_select leaves out."""
    message = refused(lowering("selected_maxima"), "rand:100x130:float32", 0.5, "true")
    says(message, "on_false_value", "lowering.cpp:")
    run(lowering("register_kept"), normal(11, 64, 9))
    text = kiln("objdump", "k.kiln")[0]
    for command in ("reset_reduce", "reduce"):
        expect(re.search(rf"activation .*reduce_cmd={command}\b", text), f"the stream lacks reduce_cmd={command}\n{text}")


@case
def B015():
    """An activation that does not reduce leaves the registers alone."""
    x = np.round(normal(12, 64, 200) * 4)
    same(run(lowering("register_kept"), x, schedules=["program", *random_schedules]), 2 * x.sum(1, keepdims=True), "register")


@case
def B017():
    """A reduction over a dim that is not the last."""
    for shape in ((128, 4, 512), (64, 2, 3, 5), (7, 130, 33)):
        x = np.round(normal(13, *shape) * 4)
        for axis in range(len(shape)):
            same(run(lowering("sum_axis"), x, axis), x.sum(axis), f"{shape} over {axis}")
        for axes in ((1, 2), (0, 2)):
            same(run(lowering("sum_axes"), x, *axes), x.sum(axis=axes), f"{shape} over {axes}")
    # An instruction reduces trailing dims only, and says so.
    line = line_of("lowering.cpp", ".data = t, .axis = 1});")
    says(refused(lowering("sum_middle_of_tile"), "rand:128x4x512:float32"), f"lowering.cpp:{line}: error[P-10]: axes {{1}} are "
         "not the trailing dims of data, a rank-3 tile", "permute the view")


@case
def B022():
    """Shapes A, B and A again in one process: the programs are those of fresh processes."""
    for kernel in ("doubled", "root_mean", "transposed"):
        shapes = ["300x200", "64x513", "300x200", "1x1", "300x200"]
        result = subprocess.run([kiln.options.in_turn, kiln.options.include, str(HERE / "lowering.cpp"), kernel, "turn", *shapes],
                                cwd=kiln.scratch, env=kiln.env, capture_output=True, text=True)
        expect_equal((result.returncode, result.stderr), (0, ""), "compilations in turn")
        for i, shape in enumerate(shapes):
            kiln("compile", lowering(kernel), f"zeros:{shape}:float32", "-o", "fresh.kiln")
            expect((kiln.scratch / f"turn{i}").read_bytes() == (kiln.scratch / "fresh.kiln").read_bytes(),
                   f"{kernel}: the program of {shape} as number {i} is another")


@case
def B023():
    """A constant of the kernel file changes, nothing else: so does the result."""
    text = '#include "nl/nl.h"\nconstexpr float kShift = {};\n' \
           "nl::Tensor shifted(nl::Tensor x) {{ return x + kShift; }}\nNL_KERNEL(shifted, \"x\")\n"
    x = save("x.npy", normal(14, 20, 30))
    for shift in (1.0, 2.0, 1.0):
        (kiln.scratch / "shifted.cpp").write_text(text.format(shift))
        kiln("run", "shifted.cpp:shifted", x, "-o", "out.npy")
        same(np.load(kiln.scratch / "out.npy"), np.load(kiln.scratch / "x.npy") + np.float32(shift), f"shift {shift}")
    for low in (-0.5, 0.25):  # a parameter
        same(run(lowering("clipped"), normal(15, 20, 30), low, 1.0), np.clip(normal(15, 20, 30), low, 1), f"clip at {low}")


@case
def B024():
    """No access leaves its tensor: shapes that tiles do not divide, proven and run with checks."""
    for shape in ((27, 460), (128, 1), (1, 1), (129, 2049)):
        x = normal(16, *shape)
        same(run(lowering("doubled"), x), x + x, f"{shape}")
        kiln("check", lowering("doubled"), "in0.npy", "--random", "1")
    x = np.round(normal(17, 100, 8193) * 4) + np.float32(0)  # no -0: 0 + -0 is 0
    same(run(lowering("running_sums"), x, 2048), x.cumsum(1, dtype=np.float32), "running sums of 8193 columns")
    x = normal(18, 27, 8193)
    kiln("check", lowering("running_sums"), save("x.npy", x), 2048, "--random", "1")


@case
def B025():
    """Parts that start at partition 48, or cross a half: cut where engines can start, or moved by DMA."""
    for first, second in ((48, 48), (36, 48), (24, 24), (1, 127), (100, 60)):
        x, y = normal(19, first, 40), normal(20, second, 40)
        same(run(lowering("along_partitions"), x, y, schedules=["program", "random:2"]), np.concatenate([x, y, x]) * 2,
             f"{first}, {second} and {first} rows")
    x = normal(21, 8, 33)
    found = run(lowering("rows_from_48"), x)
    close(found[48:56], np.exp(x.astype(np.float64)), "8 rows from partition 48", 1e-7)
    expect((np.delete(found, range(48, 56), 0) == 0).all(), "the other rows stay")


@case
def B027():
    """A matmul result declared in SBUF."""
    line = line_of("lowering.cpp", "nisa::nc_matmul(acc, nl::load(a), nl::load(b));")
    says(refused(lowering("matmul_into_sbuf"), "rand:64x128:float32", "rand:64x420:float32"),
         f"lowering.cpp:{line}: error[B-01]: the Tensor Engine writes PSUM only, dst 'acc' is in SBUF",
         "help: allocate 'acc' with nl::psum and copy it out afterwards")


@case
def B029():
    """A matmul written as a broadcast product: right on whole tensors, on tiles a message about partitions."""
    x, w = np.round(normal(22, 70, 60) * 2), np.round(normal(23, 60, 40) * 2)
    same(run(lowering("product_by_broadcast"), x, w), x @ w, "sum of a broadcast product")
    line = line_of("lowering.cpp", "// 1 partition and many")
    says(refused(lowering("product_of_tiles"), "rand:1x64:float32", "rand:128x64:float32"), f"lowering.cpp:{line}: error[P-04]",
         "partitions")


# ---- compiling ----------------------------------------------------------------------------------------------


@case
def B088():
    """There is no switch that some kernels need: both kinds of placement compile all, to the same bits."""
    example = str(kiln.source / "examples" / "10_whole_tensor.cpp")
    whole = {"matmul": ("200x300", "300x130"), "matmul_bias_gelu": ("64x129", "129x513", "1x513"), "softmax": ("300x513",),
             "rope": ("129x64", "129x32", "129x32"), "transpose_add": ("130x70", "70x130")}
    by_hand = {"03_matmul.cpp:matmul_blocked": ("200x300", "200x130"), "04_softmax.cpp:softmax": ("130x700",),
               "02_transpose.cpp:transpose": ("130x70",)}
    kernels = {f"{example}:{name}": shapes for name, shapes in whole.items()}
    kernels |= {kiln.example(name): shapes for name, shapes in by_hand.items()}
    for kernel, shapes in kernels.items():
        arguments = [f"randn:{shape}:float32:{i}" for i, shape in enumerate(shapes)]
        kiln("run", kernel, *arguments, "-o", "plain.npy")
        kiln("run", kernel, *arguments, "--placement", "compact", "-o", "compact.npy")
        expect((kiln.scratch / "plain.npy").read_bytes() == (kiln.scratch / "compact.npy").read_bytes(), f"{kernel}: other bits")


@case
def B091():
    """Loops of the device inside one another, with a sum carried through both."""
    x = normal(24, 60, 17)
    for outer, inner in ((1, 1), (3, 4), (300, 7), (2, 3000)):
        expected = np.zeros_like(x)
        for _ in range(outer):
            expected = expected * np.float32(0.5)
            for _ in range(inner):
                expected = expected + x
        same(run(lowering("carried_through_two"), x, outer, inner, schedules=["program", "random:1"]), expected,
             f"{outer} times {inner}")


@case
def B092():
    """A matmul of 100,000 instructions, by hand and as a whole: less than a minute and two gigabytes."""
    by_hand = compiles_within(60, 2, kiln.example("03_matmul.cpp:matmul_tiled"), "zeros:4096x8192:bf16", "zeros:4096x8192:bf16")
    expect(by_hand > 50_000, f"only {by_hand} instructions")
    whole = compiles_within(60, 2, lowering("multiplied"), "zeros:8192x4096:bf16", "zeros:4096x16384:bf16")
    expect(whole > 65_536, f"only {whole} instructions")
    # An edge that no tile divides.
    compiles_within(60, 2, lowering("multiplied"), "zeros:1311x4096:bf16", "zeros:4096x1311:bf16")


@case
def B093():
    """An element loop that makes millions of instructions ends with the count and the line; a run has a limit, too."""
    line = line_of("lowering.cpp", "nisa::tensor_tensor(sum(_, ds(column, 1))")
    says(refused(lowering("naive_conv"), "zeros:1x16:float32", 224), "error[K-12]: the kernel has made 2000000 instructions and "
         "tensors, its limit", f"lowering.cpp:{line}: note: 99 % of the instructions come from here", "help: end the loop")
    message = kiln("run", lowering("naive_conv"), "zeros:1x16:float32", 8, "--max-steps", 1000, code=4)[1]
    says(message, "1000")
    run(lowering("naive_conv"), np.ones((1, 16), np.float32), 8)


def windows(x, K, stride, pad):
    """[Ci, K, K, OH, OW] of x[Ci, H, W]."""
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (K, K), axis=(1, 2))[:, ::stride, ::stride]
    return view.transpose(0, 3, 4, 1, 2)


@case
def B094():
    """A 7 x 7 convolution of 3 channels with stride 2 and padding 3, and the gradient of its weights."""
    x, w = np.round(normal(25, 3, 32, 64) * 2), np.round(normal(26, 8, 3, 7, 7) * 2)
    columns = windows(x, 7, 2, 3)
    same(run(lowering("conv2d"), x, w, 2, 3), np.einsum("oikl,iklhw->ohw", w, columns), "convolution")
    dy = np.round(normal(27, 8, 16, 32) * 2)
    same(run(lowering("conv2d_weights"), x, dy, 7, 2, 3), np.einsum("ohw,iklhw->oikl", dy, columns), "gradient of the weights")


@case
def B096():
    """Plain functions that a compiler did not lower."""
    x, row = normal(28, 128, 128), normal(29, 128)
    wide = x.astype(np.float64)
    same(run(lowering("transposed"), x), x.T, "transpose")
    close(run(lowering("averages"), x), wide.mean(1, keepdims=True), "mean", 2e-6)
    same(run(lowering("bias_add"), x, row), x + row, "bias of rank 1")
    roots = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) + np.sqrt((wide**2).mean(0, keepdims=True))
    close(run(lowering("root_mean"), x), roots, "mean, root and broadcast", 1e-6)
    same(run(lowering("clipped"), x, -0.5, 0.75), np.clip(x, np.float32(-0.5), np.float32(0.75)), "clip")


@case
def B097():
    """Matmuls smaller than a tile."""
    for M, K, N in ((128, 128, 128), (64, 128, 32), (1, 128, 1), (1, 1, 1), (2, 1, 3)):
        a, b = np.round(normal(30, M, K) * 4), np.round(normal(31, K, N) * 4)
        same(run(lowering("multiplied"), a, b), a @ b, f"{M} x {K} x {N}")
        rounded = run(lowering("multiplied"), save("a.npy", a) + ":bf16", save("b.npy", b) + ":bf16")
        close(rounded, a @ b, f"{M} x {K} x {N} in bfloat16", 4e-3)


@case
def B100():
    """Messages are on stderr, all of them, also for whoever looks at stdout only."""
    stdout, stderr = kiln("run", lowering("matmul_into_sbuf"), "rand:64x128:float32", "rand:64x420:float32", code=1)
    expect_equal(stdout, "", "stdout")
    says(stderr, "lowering.cpp:", "error[B-01]", "help: ")
    (kiln.scratch / "broken.cpp").write_text('#include "nl/nl.h"\nnl::Tensor k(nl::Tensor x) { return x + nothing; }\nNL_KERNEL(k)\n')
    stdout, stderr = kiln("run", "broken.cpp:k", "rand:2x2:float32", code=1)
    expect_equal(stdout, "", "stdout")
    says(stderr, "broken.cpp: error[X-03]: the host compiler rejects the kernel file", "broken.cpp:2:", "nothing")


@case
def B101():
    """An error in a helper of a header: its line, and the line it was called from; all errors of a run."""
    (kiln.scratch / "helper.h").write_text('#include "nl/nl.h"\n\ninline nl::Tensor joined(nl::Tensor x, nl::Tensor y) {\n'
                                           "  nl::Tensor sum = x + y;\n  return nl::softmax(sum, 2);\n}\n")
    (kiln.scratch / "user.cpp").write_text('#include "helper.h"\n\nnl::Tensor k(nl::Tensor x, nl::Tensor y) {\n'
                                           "  nl::Tensor first = joined(x, y);\n  return nl::matmul(x, joined(x, x));\n}\n"
                                           'NL_KERNEL(k, "x", "y")\n')
    message = refused("user.cpp:k", "rand:6x4:float32", "rand:3x4:float32")
    says(message, "helper.h:4: error[T-01]: 'add' of (6, 4) and (3, 4): these shapes do not broadcast, dim 0 is 6 and 3\n"
         "  called from user.cpp:4\n", "helper.h:5: error[T-03]: axis 2 of nl::softmax is outside the 2 dims of its operand\n"
         "  called from user.cpp:5\n")
    expect_equal(message.count("error["), 2, f"errors\n{message}")


main()
