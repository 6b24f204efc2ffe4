"""An installed tree compiles and runs from any folder with nothing in the environment but a home."""

import subprocess
import sys

import numpy as np

from kiln_test import Kiln, expect, fail

kiln = Kiln()
build = kiln.tool.rsplit("/bin/", 1)[0]
prefix = kiln.scratch / "prefix"
installed = subprocess.run(
    ["cmake", "--install", build, "--prefix", str(prefix)], capture_output=True, text=True
)
if installed.returncode != 0:
    fail(installed.stderr)

kiln.tool = str(prefix / "bin" / "kiln")
kernel = prefix / "share/kiln/examples/02_transpose.cpp"
elsewhere = kiln.scratch / "elsewhere"
elsewhere.mkdir()
a = np.arange(130 * 7, dtype=np.int32).reshape(130, 7).astype(np.float32)
np.save(elsewhere / "a.npy", a)
empty = {"HOME": str(kiln.scratch)}
kiln("run", f"{kernel}:transpose", "a.npy", "-o", "t.npy", cwd=elsewhere, env=empty)
expect(np.array_equal(np.load(elsewhere / "t.npy"), a.T), "the installed tool transposes")

text, _ = kiln("compile", f"{kernel}:transpose", "a.npy", "--emit=nisa", cwd=elsewhere, env=empty)
opt = subprocess.run([str(prefix / "bin/kiln-opt"), "-kiln-to-streams"], input=text, capture_output=True, text=True, env=empty)
expect(opt.returncode == 0 and "stream.queue tensor" in opt.stdout, opt.stderr)
sys.exit(0)
