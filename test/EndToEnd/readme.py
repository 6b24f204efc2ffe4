"""What README.md shows is what happens: its first command, its kernel, its message."""

import re
import subprocess

from kiln_test import Kiln, expect, expect_equal, fail

kiln = Kiln()
readme = (kiln.source / "README.md").read_text()
expect(len(readme.splitlines()) < 200, "README.md stays under 200 lines")
shell = re.findall(r"```sh\n(.*?)```", readme, re.S)
expect_equal(len(shell), 2, "paste-able commands in README.md")

# The first command, from where the build is done.
run = shell[0].split("cmake --build --preset release &&", 1)[1]
run = run.replace("build/bin/kiln", kiln.tool).replace("examples/", f"{kiln.source}/examples/")
result = subprocess.run(["sh", "-euc", run], cwd=kiln.scratch, env=kiln.env, capture_output=True, text=True)
if result.returncode != 0 or "check:" not in result.stdout:
    fail(f"first command: {result.stdout}{result.stderr}")

# The second is what continuous integration runs.
command = (kiln.source / ".ci" / "run").read_text()
expect("README.md" in command and "ctest" in shell[1], ".ci/run takes its command from README.md")

# The kernel, its command and its output.
kernel = re.search(r"```cpp\n(.*?)```", readme, re.S)[1]
(kiln.scratch / "scale.cpp").write_text(kernel)
shown = re.search(r"`kiln (run scale[^`]*)` prints\n\n```\n(.*?)```", readme, re.S)
found, _ = kiln(*shown[1].split())
expect_equal(found, shown[2], "output of the kernel")

# What a check of it says.
checked = re.search(r"`kiln (check scale[^`]*)`.*?```\n(.*?)```", readme, re.S)
found, _ = kiln(*checked[1].split())
expect_equal(found, checked[2], "output of the check")

# The message for a tile in the wrong memory: its first words, as far as README.md shows them.
wrong = kernel.replace("nl::ndarray({m.size, N}, x.dtype());", "nl::ndarray({m.size, N}, x.dtype(), nl::psum);")
expect(wrong != kernel, "the tile of the kernel in README.md")
(kiln.scratch / "scale.cpp").write_text(wrong)
message = re.search(r"With `nl::psum`.*?```\n(.*?)```", readme, re.S)[1]
_, stderr = kiln(*shown[1].split(), code=1)
expect(stderr.startswith(message), f"message:\n{stderr}\nREADME.md shows:\n{message}")

# Links lead somewhere.
for target in re.findall(r"\]\(([^)#]+)\)", readme):
    expect((kiln.source / target).exists(), f"README.md links to {target}")
