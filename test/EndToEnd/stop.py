"""SIGINT and SIGTERM end kiln soon in every phase, with a message, and leave nothing behind.

Times are printed and never judged; only a kiln that does not end at all fails.
"""

import json
import re
import signal
import stat
import subprocess
import time

from kiln_test import Kiln, expect, expect_equal, fail

PATIENCE = 60  # seconds until a process counts as hanging

kiln = Kiln()
marker = kiln.scratch / "marker"
temporary = kiln.scratch / "tmp"
temporary.mkdir()
kiln.env["TMPDIR"] = str(temporary)


def wait_for(condition, what):
    for _ in range(PATIENCE * 100):
        if condition():
            return
        time.sleep(0.01)
    fail(f"nothing seen of: {what}")


def leftovers():
    """Build folders in the cache and in the temporary folder."""
    return sorted(str(p) for place in (kiln.scratch / "cache", temporary) for p in place.glob("kiln-build-*"))


def stop(*arguments, ready, signals=(signal.SIGINT,), settle=0.0):
    """Starts kiln, sends `signals` once it is `ready`; returns its exit code and stderr."""
    marker.unlink(missing_ok=True)
    process = subprocess.Popen(
        [kiln.tool, *map(str, arguments)],
        cwd=kiln.scratch,
        env=kiln.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: ready() or process.poll() is not None, " ".join(map(str, arguments)))
    time.sleep(settle)
    start = time.monotonic()
    for i, number in enumerate(signals):
        time.sleep(0.05 if i else 0)
        process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        fail(f"{arguments} does not stop")
    print(f"{time.monotonic() - start:.3f} s  {process.returncode}  {errors.splitlines()[-1] if errors else ''}")
    return process.returncode, errors


KERNELS = r"""
#include "nl/nl.h"
#include <fstream>
using nl::Tensor;

static void mark() { std::ofstream("marker") << "here"; }

Tensor copy(Tensor x) {
  Tensor y = nl::ndarray({128, 4}, nl::float32, nl::shared_hbm);
  nl::store(y, nl::load(x));
  mark();
  return y;
}
NL_KERNEL(copy)

Tensor endless(Tensor x) {
  Tensor t = nl::load(x); // line 17
  mark();
  for (volatile bool on = true; on;)
    ;
  return t;
}
NL_KERNEL(endless)

Tensor spin(Tensor x) {
  Tensor y = nl::ndarray({128, 4}, nl::float32, nl::shared_hbm);
  Tensor t = nl::load(x);
  nl::affine_for(1 << 30, [&](nl::Index) {
    nisa::tensor_tensor({.dst = t, .data1 = t, .data2 = t, .op = nl::add}); // line 29
  });
  nl::store(y, t);
  return y;
}
NL_KERNEL(spin)
"""
(kiln.scratch / "kernels.cpp").write_text(KERNELS)
x = "zeros:128x4:float32"

# A host compiler that hangs while it builds, with a child that hangs too.
compiler = kiln.scratch / "slow-c++"
compiler.write_text(
    "#!/bin/sh\n"
    'case "$*" in\n'
    '--version|*" -E "*) exec c++ "$@" ;;\n'
    "esac\n"
    "sleep 1000 &\n"
    'echo $! > marker.new; mv marker.new marker\n'
    "wait\n"
)
compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)


def is_running(pid):
    try:
        return open(f"/proc/{pid}/stat").read().split()[2] != "Z"
    except FileNotFoundError:
        return False


for cache in ([], ["--no-cache"]):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        found, errors = stop(
            "run", "kernels.cpp:copy", x, "--host-compiler", compiler, *cache, ready=marker.exists, signals=(number,)
        )
        expect_equal(found, code, f"exit code after {number} in the host compiler")
        name = "SIGINT" if number == signal.SIGINT else "SIGTERM"
        expect(f"the build of the kernel file by slow-c++ was stopped by {name}" in errors, errors)
        child = int(marker.read_text())
        wait_for(lambda: not is_running(child), "the end of the host compiler's child")
        expect_equal(leftovers(), [], "build folders")

# One that does not listen is made to end.
compiler.write_text(compiler.read_text().replace("#!/bin/sh\n", "#!/bin/sh\ntrap '' TERM\n"))
found, errors = stop("list", "kernels.cpp", "--host-compiler", compiler, ready=marker.exists)
expect_equal(found, 130, "exit code with a deaf host compiler")
expect_equal(leftovers(), [], "build folders")
# A second signal ends at once.
found, errors = stop(
    "list", "kernels.cpp", "--host-compiler", compiler, ready=marker.exists, signals=(signal.SIGINT, signal.SIGTERM)
)
expect_equal(found, 143, "exit code of the second signal")
expect("stopped by SIGTERM while the host compiler was building the kernel file" in errors, errors)
expect_equal(leftovers(), [], "build folders")

# A real one, long at work on one constant; its own temporary files go too.
(kiln.scratch / "long.cpp").write_text(
    '#include "nl/nl.h"\n'
    "constexpr int count() {\n"
    "  int sum = 0;\n"
    "  for (int i = 0; i < 40; ++i)\n"
    "    for (int j = 0; j < 200000; ++j)\n"
    "      sum += j & 1;\n"
    "  return sum;\n"
    "}\n"
    "static_assert(count() == 4000000);\n"
    "nl::Tensor same(nl::Tensor x) { return x; }\nNL_KERNEL(same)\n"
)
found, errors = stop("list", "long.cpp", ready=leftovers, settle=0.3)
expect_equal(found, 130, "exit code with a real host compiler")
expect("was stopped by SIGINT" in errors, errors)
expect_equal(leftovers(), [], "build folders")
expect_equal(list(temporary.iterdir()), [], "temporary files of the host compiler")

# Tracing: the author's own C++ runs. The build of --no-cache is removed too.
for cache in ([], ["--no-cache"]):
    found, errors = stop("run", "kernels.cpp:endless", x, *cache, ready=marker.exists)
    expect_equal(found, 130, "exit code while tracing")
    expect_equal(
        errors,
        "kernels.cpp:17: error: stopped by SIGINT while tracing the kernel\n"
        "help: the line is the last one that reached Kiln\n",
        "message while tracing",
    )
    expect_equal(leftovers(), [], "build folders")

# A pass; `settle` lets the tracing come to its end after the marker.
found, errors = stop(
    "compile", "kernels.cpp:copy", x, "-o", "p.kiln", "--test-fault=hang:kiln-place", ready=marker.exists, settle=1.0
)
expect_equal((found, errors), (130, "kiln: error: stopped by SIGINT in pass kiln-test-hang\n"), "in a pass")
found, errors = stop(
    "--diagnostics=json", "compile", "kernels.cpp:copy", x, "-o", "p.kiln", "--test-fault=hang:kiln-place",
    ready=marker.exists, signals=(signal.SIGTERM,), settle=1.0,
)
expect_equal(found, 143, "exit code of SIGTERM in a pass")
expect_equal(
    json.loads(errors),
    {"severity": "error", "rule": "", "message": "stopped by SIGTERM in pass kiln-test-hang", "help": "",
     "fault": "limit", "place": [], "notes": []},
    "message as JSON",
)

# Running: the place of each stream and the iteration.
kiln("compile", "kernels.cpp:spin", x, "-o", "spin.kiln")
for number, code, name in ((signal.SIGINT, 130, "SIGINT"), (signal.SIGTERM, 143, "SIGTERM")):
    for schedule in ("program", "random:1"):
        found, errors = stop(
            "run", "spin.kiln", x, "-o", "y.npy", "--json", "run.json", "--max-steps", 1 << 62, "--schedule", schedule,
            ready=lambda: True, signals=(number,), settle=1.0,
        )
        expect_equal(found, code, "exit code while running")
        expect("error: the run was stopped after " in errors and f"by {name}" in errors, errors)
        expect(re.search(r"kernels.cpp:(28|29): note: the vector stream stood at instruction \d+ of \d+, ", errors), errors)
        expect(re.search(r"kernels.cpp:28: note: in iteration \d+ of a loop of \d+, counted from 0\n", errors), errors)
        expect(not (kiln.scratch / "y.npy").exists(), "a stopped run writes no result")
        expect_equal(json.loads((kiln.scratch / "run.json").read_text())["ok"], False, "ok in run.json")

found, errors = stop("check", "spin.kiln", x, "--max-steps", 1 << 62, ready=lambda: True, settle=2.0)
expect_equal(found, 130, "exit code of kiln check")
expect("the run was stopped after " in errors and "by SIGINT" in errors, errors)

# A process that was started with SIGINT ignored, as in the background of a script, goes on.
ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", kiln.tool, "run", "kernels.cpp:copy", x]
marker.unlink(missing_ok=True)
process = subprocess.Popen(ignoring, cwd=kiln.scratch, env=kiln.env, stdout=subprocess.DEVNULL)
wait_for(marker.exists, "tracing")
process.send_signal(signal.SIGINT)
expect_equal(process.wait(timeout=PATIENCE), 0, "a process that ignores SIGINT")
