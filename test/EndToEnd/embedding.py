"""The runtime in another program, from an installed tree; and that it needs no LLVM and no MLIR."""

import argparse
import pathlib
import re
import subprocess

import numpy as np

from kiln_test import Kiln, expect, expect_equal, fail

parser = argparse.ArgumentParser()
parser.add_argument("--cxx", required=True)
kiln = Kiln(parser)
build = pathlib.Path(kiln.tool).parent.parent
prefix = kiln.scratch / "prefix"


def command(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, cwd=kiln.scratch)
    if result.returncode != 0:
        fail(f"{arguments}\n{result.stdout}{result.stderr}")
    return result.stdout


command("cmake", "--install", build, "--prefix", prefix, "--component", "runtime")
command(
    "cmake", "-S", kiln.source / "examples" / "embedding", "-B", "embed", "-G", "Ninja",
    f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={kiln.options.cxx}",
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror",
)  # fmt: skip
command("cmake", "--build", "embed")
embed = kiln.scratch / "embed" / "embed"

# It runs a program and prints what the tool computes.
a = np.arange(6 * 5, dtype=np.float32).reshape(6, 5)
np.save(kiln.scratch / "a.npy", a)
kiln("compile", kiln.example("02_transpose.cpp:transpose"), "a.npy", "-o", "t.kiln")
text = command(embed, "t.kiln", "a.npy")
expect_equal([[float(x) for x in re.findall(r"[\d.]+", row)] for row in text.splitlines()], a.T.tolist(), text)
wrong = subprocess.run([str(embed), "absent.kiln"], capture_output=True, text=True, cwd=kiln.scratch)
expect_equal((wrong.returncode, "absent.kiln" in wrong.stderr), (1, True), wrong.stderr)


def needed(binary):
    """The shared libraries a binary needs, and those that they need."""
    direct = re.findall(r"\(NEEDED\).*\[(.*)\]", command("readelf", "-d", binary))
    return direct + re.findall(r"^\s*(\S+)", command("ldd", binary), re.M)


def foreign(names):
    return [name for name in names if re.search(r"\b(llvm|mlir)::|LLVM|MLIR", name)]


# No symbol of LLVM or MLIR, defined or not, in an archive or the program; no library.
archives = sorted((prefix / "lib").glob("*.a"))
expect(len(archives) >= 7 and prefix / "lib" / "libKilnrtExecutor.a" in archives, f"{archives}")
for binary in [*archives, embed, kiln.tool]:
    expect_equal(foreign(command("nm", "-C", binary).splitlines()), [], f"symbols of {binary}")
for binary in (embed, kiln.tool):
    expect_equal(foreign(needed(binary)), [], f"libraries of {binary}")
# What these questions find where there is something to find: libkiln has the compiler in it.
compiler = build / "lib" / "libkiln.so"
expect(foreign(command("nm", "-C", compiler).splitlines()), f"no symbol of MLIR in {compiler}")
headers = [p for p in (prefix / "include").rglob("*") if p.is_file()]
expect(prefix / "include" / "kilnrt" / "Executor.h" in headers, "the installed headers")
for header in headers:
    expect(not re.search(r'#include ["<](llvm|mlir)', header.read_text()), f"{header} includes LLVM")
