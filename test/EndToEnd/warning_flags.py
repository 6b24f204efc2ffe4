"""Warnings: they are shown, leave the exit code alone, and can be errors; the examples have none."""

import json

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()

# Every kernel of the examples, at shapes with remainders; -Werror would stop it at a warning. Arguments are found by
# their number, or by the kernel's name.
EXAMPLES = {
    "01_vector_add.cpp": [["rand:1000:float32:1", "rand:1000:float32:2"]],
    "02_transpose.cpp": [["rand:200x300:float32:1"]],
    "03_matmul.cpp": [["rand:300x129:bf16:1", "rand:300x513:bf16:2"]],
    "04_softmax.cpp": [["randn:300x1000:float32:1"]],
    "05_norm.cpp": [
        ["randn:300x700:float32:1", "rand:1x700:float32:2", "0.00001"],
        ["randn:300x700:float32:1", "rand:1x700:float32:2", "rand:1x700:float32:3", "0.00001"],
    ],
    "06_attention.cpp": [["randn:80x300:float32:1", "randn:80x517:float32:2", "randn:517x80:float32:3", "0.1"]],
    "07_mamba.cpp": [["rand:200x300:float32:1", "rand:200x300:float32:2", "rand:200x16:float32:3",
                      "rand:16x300:float32:4", "rand:16x300:float32:5"]],
    "08_conv2d.cpp": [["randn:2x3x20x20:float32:1", "randn:8x3x3x3:float32:2", "rand:8:float32:3", "2"]],
    "09_max_pool.cpp": [["randn:200x300:float32:1", "3"]],
    "10_whole_tensor.cpp": {
        "matmul": ["rand:300x129:bf16:1", "rand:129x513:bf16:2"],
        "matmul_bias_gelu": ["rand:300x129:bf16:1", "rand:129x513:bf16:2", "rand:1x513:bf16:3"],
        "softmax": ["randn:300x1000:float32:1"],
        "layernorm": ["randn:300x700:float32:1", "rand:1x700:float32:2", "rand:1x700:float32:3", "0.00001"],
        "rmsnorm_matmul": ["randn:300x129:float32:1", "rand:1x129:float32:2", "rand:129x513:float32:3", "0.00001"],
        "mlp_swiglu": ["randn:300x129:bf16:1", "rand:129x513:bf16:2", "rand:129x513:bf16:3", "rand:513x129:bf16:4"],
        "rope": ["randn:300x128:float32:1", "rand:300x64:float32:2", "rand:300x64:float32:3"],
        "transpose_add": ["rand:300x129:float32:1", "rand:129x300:float32:2"],
    },
}
found = sorted(p.name for p in (kiln.source / "examples").glob("*.cpp"))
expect_equal(sorted(EXAMPLES), found, "examples")
for file, argument_lists in EXAMPLES.items():
    listed, _ = kiln("list", kiln.example(file))
    for line in listed.splitlines():
        name, parameters = line.split("(", 1)
        count = len(parameters.split(")")[0].split(", "))
        by_name = isinstance(argument_lists, dict)
        arguments = argument_lists.get(name) if by_name else next((a for a in argument_lists if len(a) == count), None)
        expect(arguments, f"no arguments for {line}")
        _, stderr = kiln("compile", "-Werror", kiln.example(f"{file}:{name}"), *arguments, "-o", "program.kiln")
        expect_equal(stderr, "", f"what compiling {name} says")

# A warning is shown, in the text and in the report; the exit code stays 0.
(kiln.scratch / "copy.cpp").write_text(
    """#include "nl/nl.h"
using nl::Tensor;
Tensor copy(Tensor x) {
  Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
  Tensor t = nl::load(x), u = nl::ndarray({128, 8}, x.dtype());
  nisa::dma_copy(u, t);
  nl::store(y, u);
  return y;
}
NL_KERNEL(copy, "x")
"""
)
command = ["run", "copy.cpp:copy", "iota:128x8:float32"]
TEXT = "src and dst are both in SBUF: a DMA takes about two microseconds for what an engine copies at once"
_, stderr = kiln(*command, "--json", "report.json")
expect(stderr.startswith("copy.cpp:6: warning[B-11]: ") and TEXT in stderr, stderr)
report = json.loads((kiln.scratch / "report.json").read_text())
expect_equal(report["ok"], True, "ok")
expect_equal([(d["severity"], d["rule"], d["place"][0]["line"]) for d in report["diagnostics"]],
             [("warning", "B-11", 6)], "diagnostics of the report")
_, stderr = kiln("--diagnostics=json", *command)
expect_equal([json.loads(line)["severity"] for line in stderr.splitlines()], ["warning"], "records")

# Flags: silence, errors, and performance warnings beside it.
expect_equal(kiln(*command, "-Wno-B-11")[1], "", "-Wno-B-11")
for flags in (["-Werror"], ["-Werror=B-11"], ["-Wno-B-11", "-Werror=B-11"]):
    _, stderr = kiln(*command, *flags, code=1)
    expect(stderr.startswith("copy.cpp:6: error[B-11]: "), stderr)
kiln(*command, "-Werror", "-Wno-error=B-11")
kiln(*command, "-Werror=W-01", code=1)
rules = lambda stderr: [line.split("[")[1][:4] for line in stderr.splitlines() if ": warning[" in line]
expect_equal(rules(kiln(*command, "-Wperf")[1]), ["W-01", "B-11", "W-01", "W-01"], "by line")
expect_equal(rules(kiln(*command, "-Wperf", "-Wno-W-01")[1]), ["B-11"], "all but one")
# Wrong flags are wrong command lines.
for flag, answer in (
    ("-Wno-B-12x", "did you mean B-12"),
    ("-Wno-P-06", "which is an error"),
    ("-Wno-P-13", "which is a note"),
    ("-Weverything", "`kiln explain` lists all rules"),
):
    _, stderr = kiln(*command, flag, code=2)
    expect(answer in stderr, stderr)
kiln("compile", "copy.cpp:copy", "zeros:128x8:float32", "-o", "p.kiln", "-Wno-nothing", code=2)
kiln("compile", "copy.cpp:copy", "zeros:128x8:float32", "-o", "p.kiln", "-Werror=B-11", code=1)
kiln("compile", "copy.cpp:copy", "zeros:128x8:float32", "-o", "p.kiln")
kiln("run", "p.kiln", "iota:128x8:float32", "-Wno-nothing", code=2)

# K-05 and K-09 are about the launch.
_, stderr = kiln(*command, "--cores", 4, code=1)
expect(stderr.startswith("kiln: error[K-05]: kernel 'copy' is launched on 4 cores; trn2 joins 1 or 2"), stderr)
kiln(*command, "--cores", 1, "--trace-twice")

# What the executor's checks would find is found before anything runs, with their exit code.
(kiln.scratch / "unwritten.cpp").write_text(
    """#include "nl/nl.h"
using nl::Tensor;
Tensor unwritten(Tensor x) {
  Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
  nl::store(y, nl::ndarray({128, 8}, x.dtype()));
  return y;
}
NL_KERNEL(unwritten, "x")
"""
)
_, stderr = kiln("run", "unwritten.cpp:unwritten", "iota:128x8:float32", code=3)
expect(stderr.startswith("unwritten.cpp:5: error[M-08]: "), stderr)
