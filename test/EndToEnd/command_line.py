"""Exit codes, JSON, reproducers and messages of the command line."""

import json
import os
import re
import threading

import numpy as np

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
matmul = kiln.example("03_matmul.cpp:matmul_tiled")
inputs = ["rand:64x32:float32:1", "rand:64x48:float32:2"]

# Help and version.
expect("KERNEL" in kiln("--help")[0], "--help explains KERNEL")
expect(re.fullmatch(r"kiln \d+\.\d+\.\d+ \(trn2\)\n", kiln("--version")[0]), "--version names the target")
for command in ("run", "compile", "objdump", "asm", "list", "explain"):
    expect("--help" in kiln(command, "--help")[0], f"{command} --help")

# 2: wrong command lines, each with a sentence.
for wrong in (
    [],
    ["fly"],
    ["run"],
    ["run", matmul, *inputs, "--schedule", "backwards"],
    ["compile", matmul, *inputs],
    ["compile", matmul, *inputs, "-o", "p.kiln", "--emit", "wishes"],
    ["compile", matmul, *inputs, "--stop-after", "kiln-dream"],
    ["run", matmul, "rnad:64x32:float32", inputs[1]],
    ["run", matmul, *inputs, "-o", "a.npy", "-o", "b.npy"],
):
    stdout, stderr = kiln(*wrong, code=2)
    expect(stderr.strip() or stdout.strip(), f"{wrong} says what is wrong")

# 0 and 3: a check that holds, and one that does not.
kiln("run", matmul, *inputs, "-o", "c.npy")
kiln("run", matmul, *inputs, "--check", "c.npy")
c = np.load(kiln.scratch / "c.npy")
c[3, 5] += 1
np.save(kiln.scratch / "wrong.npy", c)
_, stderr = kiln("run", matmul, *inputs, "--check", "wrong.npy", "--json", "r.json", code=3)
expect("[3, 5]" in stderr, stderr)
report = json.loads((kiln.scratch / "r.json").read_text())
expect_equal((report["version"], report["ok"], report["check"]["mismatches"]), (1, False, 1), "report")
expect_equal(report["outputs"][0]["shape"], [32, 48], "shape in the report")
expect_equal(report["diagnostics"][0]["fault"], "check", "fault in the report")

# 4: a limit.
_, stderr = kiln("run", matmul, *inputs, "--max-steps", 3, code=4)
expect("3" in stderr, stderr)

# 1, as records: one JSON object a line.
_, stderr = kiln("--diagnostics=json", "run", kiln.example("03_matmul.cpp:matmul"), *inputs, code=1)
record = json.loads(stderr.splitlines()[0])
expect_equal((record["severity"], record["rule"]), ("error", "X-04"), "record of an unknown kernel")
expect("matmul_tiled" in record["help"], "the record offers the names there are")

# 70: a fault of Kiln's own leaves a reproducer that kiln-opt can read.
_, stderr = kiln("compile", matmul, *inputs, "-o", "p.kiln", "--test-fault", "kiln-place", code=70)
name = re.search(r"'(kiln-reproducer-[0-9a-f]+\.mlir)'", stderr)
expect(name, stderr)
text = (kiln.scratch / name[1]).read_text()
expect("nisa.kernel @matmul_tiled" in text and "MLIR 22" in text and "kiln-place" in text, "reproducer")
expect(not (kiln.scratch / "p.kiln").exists(), "nothing is written on a fault")

# A crash in the author's own C++ is the author's: exit 1, with the line that was reached last.
(kiln.scratch / "crash.cpp").write_text(
    '#include "nl/nl.h"\n'
    "nl::Tensor crash(nl::Tensor a) {\n"
    "  nl::Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm);\n"
    "  *static_cast<volatile int *>(nullptr) = 1;\n"
    "  return out;\n"
    "}\n"
    "NL_KERNEL(crash)\n"
)
_, stderr = kiln("run", "crash.cpp:crash", "zeros:8x8:float32", code=1)
expect(stderr.startswith("crash.cpp:3: error[X-07]: the kernel's own C++ crashed"), stderr)

# So is ending the process: it must not look like success.
(kiln.scratch / "quit.cpp").write_text(
    '#include <cstdlib>\n#include "nl/nl.h"\n'
    "nl::Tensor quit(nl::Tensor a) { std::exit(0); return a; }\nNL_KERNEL(quit)\n"
)
_, stderr = kiln("run", "quit.cpp:quit", "zeros:8x8:float32", "-o", "never.npy", code=1)
expect("the kernel's own C++ ended the process" in stderr, stderr)
_, stderr = kiln("--diagnostics=json", "run", "crash.cpp:crash", "zeros:8x8:float32", code=1)
expect_equal(json.loads(stderr)["place"], [{"file": "crash.cpp", "line": 3}], "record of a crash")

# What a kernel prints does not get into results, and a report on stdout is nothing but the report.
(kiln.scratch / "loud.cpp").write_text(
    '#include <cstdio>\n#include "nl/nl.h"\n'
    "nl::Tensor loud(nl::Tensor a) {\n"
    '  std::puts("tracing");\n'
    "  nl::Tensor out = nl::ndarray(a.shape(), a.dtype(), nl::shared_hbm), t = nl::load(a);\n"
    "  nisa::dma_copy(out, t);\n  return out;\n}\nNL_KERNEL(loud)\n"
)
stdout, stderr = kiln("run", "loud.cpp:loud", "iota:8x8:float32", "--json", "-")
expect_equal(json.loads(stdout)["ok"], True, "report on stdout")
expect("tracing" in stderr, stderr)

# A reference that is also the output is read first.
kiln("run", "loud.cpp:loud", "iota:8x8:float32", "-o", "ref.npy")
kiln("run", "loud.cpp:loud", "zeros:8x8:float32", "-o", "ref.npy", "--check", "ref.npy", code=3)

# Pipes are written to, not replaced.
os.mkfifo(kiln.scratch / "pipe")
received = []
reader = threading.Thread(target=lambda: received.append((kiln.scratch / "pipe").read_text()))
reader.start()
kiln("run", "loud.cpp:loud", "iota:8x8:float32", "--json", "pipe")
reader.join()
expect(json.loads(received[0])["ok"] and (kiln.scratch / "pipe").is_fifo(), "--json to a pipe")

# Files that are no kernels, programs of another kernel, damaged files in the cache.
_, stderr = kiln("run", "pipe:f", code=1)
expect("is no kernel file" in stderr, stderr)
kiln("compile", "loud.cpp:loud", "iota:8x8:float32", "-o", "loud.kiln")
_, stderr = kiln("run", "loud.kiln:other", "iota:8x8:float32", code=1)
expect("holds kernel 'loud', not 'other'" in stderr, stderr)
for plugin in (kiln.scratch / "cache").glob("*.so"):
    plugin.write_bytes(plugin.read_bytes()[:1000])
kiln("run", "loud.cpp:loud", "iota:8x8:float32")

# A tensor that takes the address of another is ordered after all of it, also where their bytes differ.
(kiln.scratch / "reuse.cpp").write_text(
    '#include "nl/nl.h"\nusing nl::Tensor;\n'
    "Tensor reuse(Tensor x) {\n"
    "  Tensor y = nl::ndarray({128, 50}, nl::float32, nl::shared_hbm);\n"
    "  Tensor a = nl::ndarray({128, 100}, nl::float32, nl::sbuf, {.address = nl::Address{0, 0}});\n"
    "  nisa::memset(a(nl::_, nl::ds(50, 50)), 1.0f);\n"
    "  Tensor b = nl::ndarray({128, 50}, nl::float32, nl::sbuf, {.address = nl::Address{0, 0}});\n"
    "  nisa::dma_copy(b, x);\n  nisa::dma_copy(y, b);\n  return y;\n}\nNL_KERNEL(reuse)\n"
)
for schedule in ("program", "round-robin", *(f"random:{seed}" for seed in range(10))):
    kiln("run", "reuse.cpp:reuse", "iota:128x50:float32", "--schedule", schedule)

# A file that is no C++ gets the host compiler's words.
(kiln.scratch / "broken.cpp").write_text("int main( {\n")
_, stderr = kiln("run", "broken.cpp:f", code=1)
expect("broken.cpp" in stderr and "error[X-03]" in stderr, stderr)

# Levels: text on stdout.
for level, word in (("tile", "nisa.nc_matmul"), ("nisa", "nisa.nc_matmul"), ("placed", " at("), ("scheduled", "scheduled"), ("streams", "stream.queue")):
    expect(word in kiln("compile", matmul, *inputs, f"--emit={level}")[0], f"--emit={level}")
expect(" at(" not in kiln("compile", matmul, *inputs, "--stop-after", "kiln-resolve-engines")[0], "--stop-after")

# list and explain.
expect("matmul_blocked(lhsT: tensor, rhs: tensor)" in kiln("list", kiln.example("03_matmul.cpp"))[0], "list")
expect(kiln("explain", "p-06")[0].startswith("P-06: "), "explain")
expect("\nP-06  " in kiln("explain")[0], "explain lists the rules")
_, stderr = kiln("explain", "P-99", code=1)
expect_equal(stderr, "kiln: error: there is no rule 'P-99'\nhelp: the nearest: P-09\n", "explain P-99")
_, stderr = kiln("explain", "placement", code=1)
expect("`kiln explain` lists all rules" in stderr, stderr)
rules = json.loads(kiln("explain", "--json")[0])["rules"]
expect_equal([r["id"] for r in rules], [line.split()[0] for line in kiln("explain")[0].splitlines()], "rules as JSON")
(only,) = json.loads(kiln("explain", "w-01", "--json")[0])["rules"]
expect_equal((only["id"], only["severity"], only["performance"]), ("W-01", "warning", True), "one rule as JSON")
# What it prints is a file that does what it says.
(kiln.scratch / "wrong.cpp").write_text(only["wrong"]["text"])
_, stderr = kiln(*only["wrong"]["command"].split()[1:])
expect(stderr.startswith("wrong.cpp:8: warning[W-01]: "), stderr)

# An installed tool may run where nothing is in PATH.
env = {"KILN_CACHE_DIR": str(kiln.scratch / "cache2")}
kiln("run", matmul, *inputs, env=env)
