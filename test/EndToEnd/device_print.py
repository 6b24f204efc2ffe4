"""nl::device_print from a kernel file to lines on stdout: values against NumPy, one order, no effect on results."""

import re

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
kernels = str(kiln.source / "test" / "EndToEnd" / "debugging.cpp")
rng = np.random.default_rng(7)
HEADER = re.compile(r"(.*?) ?(float32|uint16) \[([\d, ]+)\] at (.*?)(?:, iterations? ([\d, ]+))?")


def line_of(text):
    """The number of the first line of the kernels with `text`."""
    with open(kernels) as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def prints_of(output):
    """(prefix, iterations, place, values) of each print."""
    prints = []
    for line in output.splitlines():
        if header := HEADER.fullmatch(line):
            shape = [int(n) for n in header[3].split(",")]
            iterations = tuple(int(n) for n in header[5].split(",")) if header[5] else ()
            prints.append([header[1], iterations, header[4], shape, []])
        elif line.lstrip(" ").startswith("[") or line.startswith("  "):
            prints[-1][4] += [float(n) for n in line.replace("[", " ").replace("]", " ").split()]
    return [(p[0], p[1], p[2], np.reshape(np.float32(p[4]), p[3])) for p in prints]


def save(name, array):
    np.save(kiln.scratch / name, array)
    return name


def check(found, expected, what):
    """Prints against (prefix, iterations, values), values bit by bit."""
    expect_equal([p[:2] for p in found], [e[:2] for e in expected], what)
    for (prefix, iterations, _, values), (_, _, wanted) in zip(found, expected):
        expect(np.array_equal(values, wanted), f"{what}: {prefix} {iterations}\n{values}\n{wanted}")


SCHEDULES = ["program", "round-robin", "random:1", "random:2", "adversarial:reverse-dma", "adversarial:starve-sync",
             "adversarial:starve-vector", "adversarial:delay-dma3"]

# 3 iterations are written out as a whole, 1100 stay a loop with copies in its body and some left over.
for blocks in (3, 1100):
    x = rng.integers(-9, 9, (4 * blocks, 5)).astype(np.float32)
    save("x.npy", x)
    sums = x.reshape(blocks, 4, 5).cumsum(0, dtype=np.float32)
    expected = []
    for i in range(blocks):
        expected += [("sbuf", (i,), sums[i]), ("helper's", (i,), sums[i][1:3, :3]), ("hbm", (i,), sums[i][3:4])]
    expected.append(("y =", (), sums.reshape(-1, 5)))
    for schedule in SCHEDULES if blocks == 3 else SCHEDULES[:3]:
        output, _ = kiln("run", f"{kernels}:running_sums", "x.npy", "true", "-o", "y.npy", "--schedule", schedule,
                         "--print-limit", x.size)
        check(prints_of(output), expected, f"running_sums of {blocks} blocks, {schedule}")
        expect(np.array_equal(np.load(kiln.scratch / "y.npy"), sums.reshape(-1, 5)), "results with prints")
    output, _ = kiln("run", f"{kernels}:running_sums", "x.npy", "false", "-o", "z.npy")
    expect_equal(prints_of(output), [], "no prints")
    expect_equal((kiln.scratch / "z.npy").read_bytes(), (kiln.scratch / "y.npy").read_bytes(), "results without")

output, _ = kiln("run", f"{kernels}:running_sums", "zeros:4x5:float32", "true")
place = prints_of(output)[1][2]
expect(place.startswith(f"debugging.cpp:{line_of('static void show')} from debugging.cpp:{line_of('show(sum)')}"), place)

# Numbers of two loops, whatever the compiler makes of them.
for rows, columns in ((2, 3), (70, 40)):
    x = rng.integers(-9, 9, (rows, columns)).astype(np.float32)
    expected = [("element", (i, j), 2 * x[i : i + 1, j : j + 1]) for i in range(rows) for j in range(columns)]
    check(prints_of(kiln("run", f"{kernels}:nest", save("x.npy", x), "true")[0]), expected, "nest")

# PSUM; and from a program file.
a, b = (rng.integers(-3, 4, (32, n)).astype(np.float32) for n in (16, 24))
arguments = (save("a.npy", a), save("b.npy", b))
kiln("compile", f"{kernels}:product", *arguments, "true", "-o", "p.kiln")
for command in ([f"{kernels}:product", *arguments, "true"], ["p.kiln", *arguments]):
    output, _ = kiln("run", *command)
    check(prints_of(output), [("acc", (), a.T @ b), ("acc", (), 2 * a.T @ b)], "product")
text, _ = kiln("objdump", "p.kiln")
expect('\n.text 0 "acc"\n' in text, text)
(kiln.scratch / "p.s").write_text(text)
kiln("asm", "p.s", "-o", "q.kiln")
expect_equal((kiln.scratch / "q.kiln").read_bytes(), (kiln.scratch / "p.kiln").read_bytes(), "asm of objdump")

# A print without its wait is a race like any other read's.
unordered = re.sub(r"wait s\d+>=\d+ device_print", "device_print", text)
expect(unordered != text, text)
(kiln.scratch / "p.s").write_text(unordered)
kiln("asm", "p.s", "-o", "race.kiln")
_, message = kiln("run", "race.kiln", *arguments, code=3)
number = line_of('nl::device_print("acc", acc)')
expect(f"debugging.cpp:{number}: error[X-08]: race: device_print reads 'acc' and nc_matmul writes 'acc'" in message, message)
_, message = kiln("run", "race.kiln", *arguments, "--no-proof", "--schedule", "adversarial:starve-tensor", code=3)
expect(f"debugging.cpp:{number}: error[M-08]: device_print reads 'acc', which was never written" in message, message)

# What comes before a fault is shown, and a print is a read that can fault.
output, message = kiln("run", f"{kernels}:fails_after_print", "zeros:2x3:float32", code=3)
number = line_of('device_print("written"')
expect_equal(output, f"written float32 [2, 1] at debugging.cpp:{number}\n[[7]\n [7]]\n", "stdout before a fault")
expect(f"debugging.cpp:{number + 1}: error[M-09]: device_print reads 't' where it was not written" in message, message)

# A large tensor is cut, and the way to see all of it stands below. Results on stdout keep it to themselves.
shape = "iota:40x50:float32"
output, _ = kiln("run", f"{kernels}:running_sums", shape, "true")
expect("\n(--print-limit 2000 shows all elements)\n" in output, output)
expect(" ...\n" in output, output)
raw, error = (kiln(*("run", f"{kernels}:product", *arguments, "true"), *more) for more in ([], ["--json", "-"]))
expect("\nacc float32 [16, 24]" in "\n" + error[1] and error[0].startswith("{"), error[0])
_, message = kiln("run", f"{kernels}:running_sums", shape, "true", "--print-limit", "-1", code=2)

# What the language guide shows.
guide = (kiln.source / "compiler" / "docs" / "LanguageGuide.md").read_text()
block = re.search(r"```cpp\n(/// Row maxima.*?)```", guide, re.S)[1]
head = '#include "nl/nl.h"\n\nusing nl::Chunk, nl::ds, nl::Tensor, nl::_;\n\n'
expect(head in guide, "the first lines of the guide's file")
(kiln.scratch / "maxima.cpp").write_text(head + block)
command, shown = re.search(r"`kiln (run maxima[^`]*)` prints\n\n```\n(.*?)```", guide, re.S).groups()
expect_equal(kiln(*command.split())[0], shown, f"kiln {command}")
