"""What runtime/docs/Debugging.md shows is what happens: its kernel, its commands, their output."""

import re
import shlex
import subprocess

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
page = (kiln.source / "runtime" / "docs" / "Debugging.md").read_text()
kernel = re.search(r"```cpp\n(#include.*?)```", page, re.S)[1]
fixed = kernel.replace(".dst = mean, .op = nl::maximum", ".dst = peak, .op = nl::maximum")
expect(fixed != kernel, "the mistake of the kernel")
(kiln.scratch / "centred.cpp").write_text(kernel)
(kiln.scratch / "fixed.cpp").write_text(fixed)
shown = re.findall(r"```console\n\$ kiln ([^\n]*)\n(.*?)```", page, re.S)
expect_equal(len(shown), 3, "commands of the page")
for command, expected in shown:
    result = subprocess.run([kiln.tool, *shlex.split(command)], cwd=kiln.scratch, env=kiln.env,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    expect_equal(result.stdout, expected, f"kiln {command}")
