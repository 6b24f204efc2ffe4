"""--dump, --watch, --who-wrote and --stop-at from the command line: values against NumPy, exit codes, ways out."""

import re

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
kernels = str(kiln.source / "test" / "EndToEnd" / "debugging.cpp")
rng = np.random.default_rng(3)


def line_of(text):
    """The number of the first line of the kernels with `text`."""
    with open(kernels) as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def load(name):
    return np.load(kiln.scratch / name)


ADD = line_of("nisa::tensor_tensor(sum, sum, t, nl::add)")
STORE = line_of("nl::store(y(ds(i * 4, 4), _), sum)")

# 3 iterations are written out as a whole; 1100 stay a loop with copies in its body and some left over.
for blocks in (3, 1100):
    x = rng.integers(-9, 9, (4 * blocks, 5)).astype(np.float32)
    np.save(kiln.scratch / "x.npy", x)
    sums = x.reshape(blocks, 4, 5).cumsum(0, dtype=np.float32)
    kernel = [f"{kernels}:running_sums", "x.npy", "false"]
    kiln("compile", *kernel, "-o", "p.kiln")
    for command in (kernel, ["p.kiln", "x.npy"]):
        for number in (1, 2, blocks - 1, blocks):
            for schedule in ("program", "random:4"):
                output, _ = kiln("run", *command, "--dump", f"sum@debugging.cpp:{ADD}#{number}=s.npy",
                                 "--schedule", schedule)
                expect(np.array_equal(load("s.npy"), sums[number - 1]), f"sum after {number} of {blocks}")
        expect(f"({number} of {blocks} of that line) -> s.npy\n" in output, output)
        # Without a number it is the last one, without a line the end.
        kiln("run", *command, "--dump", f"sum@debugging.cpp:{ADD}=s.npy", "--dump", "y=y.npy", "-o", "out.npy")
        expect(np.array_equal(load("s.npy"), sums[-1]), "sum after the last")
        expect(np.array_equal(load("y.npy"), load("out.npy")), "y at the end")

        # A stop leaves the state before the instruction and no result.
        (kiln.scratch / "out.npy").unlink()
        output, message = kiln("run", *command, "--stop-at", f"debugging.cpp:{STORE}#2", "--dump", "sum=s.npy",
                               "--dump", "y=y.npy", "--who-wrote", "y[3:9]", "-o", "out.npy", code=0)
        expect(np.array_equal(load("s.npy"), sums[1]), "sum at the stop")
        expect(np.array_equal(load("y.npy")[:4], sums[0]), "y at the stop")
        expect(not (kiln.scratch / "out.npy").exists(), "no result after a stop")
        expect(f"debugging.cpp:{STORE}: note: the run stopped before instruction " in message, message)
        expect("; no result is written\n" in message, message)
        expect(f"\n  {20 * (blocks - 1)} of {20 * blocks} elements are not written, the first is (4, 0)\n" in output, output)
        expect(re.search(r"who wrote y\[3:9\]\n"
                         rf"  hbm bytes 60-79 of 'y': dst of 'y', instruction \d+ of the sync stream, dma_copy, at "
                         rf"debugging.cpp:{STORE}.*\n  hbm bytes 80-179 of 'y': never written\n", output), output)

    # Every write of one element, in order, with what it was and what it is.
    output, _ = kiln("run", *kernel, "--watch", "sum[1, 2]")
    changes = re.findall(r"\n  \(1, 2\): (\S+) -> (\S+)\n", output)
    column = [0, *sums[:, 1, 2]]
    expected = [(f"{a:g}", f"{b:g}") for a, b in zip(column, column[1:]) if a != b]
    expect_equal(changes, [("unwritten", "0"), *expected], "changes of an element")
    expect_equal(output.count("watch sum[1, 2]: "), 1 + blocks, "writes of an element")
    expect_equal(output.count("\n  nothing changes\n"), blocks - len(expected), "writes that change nothing")

# Reads too; a view of a rotating tile and its copies.
output, _ = kiln("run", f"{kernels}:running_sums", "iota:12x5:float32", "false", "--watch", "sum", "--watch-reads")
expect_equal(output.count("\n  reads data1 'sum': "), 3, output)
expect_equal(output.count("\n  reads src 'sum': "), 3, output)

# At a fault the questions are answered as well.
output, message = kiln("run", f"{kernels}:fails_after_print", "zeros:2x3:float32", "--dump", "t=t.npy", "--who-wrote",
                       "t[0]", "--json", "r.json", code=3)
expect("error[M-09]" in message, message)
expect("dump t float32 [2, 3] at the end of the run -> t.npy\n  4 of 6 elements are not written, the first is (0, 1)\n"
       in output, output)
expect(re.search(r"who wrote t\[0\]\n  sbuf partition 0, bytes (\d+)-\d+: dst of 't', .*\n"
                 r"  sbuf partition 0, bytes \d+-\d+: never written\n", output), output)
expect_equal(load("t.npy")[:, 0].tolist(), [7, 7], "what was written")
expect('"unwritten": 4' in (kiln.scratch / "r.json").read_text(), "report")

# A dump the run does not come to.
output, _ = kiln("run", f"{kernels}:running_sums", "iota:12x5:float32", "false", "--stop-at", f"debugging.cpp:{ADD}",
                 "--dump", f"sum@debugging.cpp:{ADD}=s.npy")
expect(re.search(r"dump sum@.*: the run ended before it was after instruction .* \(3 of 3 of that line\)\n", output), output)

# Results on standard output stay alone on it.
output, error = kiln("run", f"{kernels}:running_sums", "iota:12x5:float32", "false", "--who-wrote", "sum", "--json", "-")
expect(output.startswith("{") and "who wrote sum\n" in error, output)

# Wrong command lines, before anything runs.
WRONG = [
    (["--dump", "sun=s.npy"], "there is no tensor 'sun'", "did you mean 'sum'?"),
    (["--dump", "sum"], "'sum' names no tensor and file", "write --dump TENSOR@FILE:LINE=OUT.npy, "),
    (["--dump", "sum@debugging.cpp:1=s.npy"], "no instruction comes from line 1 of 'debugging.cpp'", "lines "),
    (["--dump", f"sum@debugging.cpp:{ADD}#4=s.npy"],
     f"line {ADD} of 'debugging.cpp' executes 3 instructions, there is no number 4", "give a number from 1 to 3"),
    (["--stop-at", "other.cpp:5"], "no instruction comes from a file 'other.cpp'",
     "files of the program: debugging.cpp"),
    (["--stop-at", "17"], "'17' names no line", "write FILE:LINE, as in softmax.cpp:17"),
    (["--watch", "sbuf:0:212984"], "byte 212984 is outside the memory, whose last one is 212983",
     "bytes are 0 to 212983"),
    (["--who-wrote", "sum[4]"], "index 4 is outside dim 0 of 'sum', which has extent 4", "indices are 0 to 3"),
    (["--watch-reads"], "--watch-reads has nothing to watch", "say what with --watch"),
]
for options, message, help_text in WRONG:
    output, error = kiln("run", f"{kernels}:running_sums", "iota:12x5:float32", "false", *options, code=2)
    expect_equal(output, "", "stdout of a wrong command line")
    expect(f"kiln: error: {message}\nhelp: {help_text}" in error, error)
