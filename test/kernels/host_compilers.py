"""Every example becomes the same program, byte for byte, whichever host compiler builds the kernel file:
compilers evaluate the arguments of a call in different orders."""

import shutil

from example_cases import EXAMPLES, WHOLE_TENSORS, expect_complete
from kernel_cases import kernel_path
from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
expect_complete(kiln)
compilers = [c for c in ("g++", "clang++", "clang++-14") if shutil.which(c)][:2]
expect(len(compilers) == 2, f"two host compilers are needed, found {compilers}")
for kernel, shapes, numbers in EXAMPLES + WHOLE_TENSORS:
    tensors = [f"zeros:{shape}:float32" for shape in shapes]
    programs = set()
    for compiler in compilers:
        kiln("compile", kernel_path(kiln, kernel), *tensors, *numbers, "-o", "out.kiln", "--host-compiler", compiler)
        programs.add((kiln.scratch / "out.kiln").read_bytes())
    expect_equal(len(programs), 1, f"{kernel}: different programs by {compilers}")
