"""Runs a command and succeeds only when it ends with the given exit code: expect-exit.py CODE COMMAND..."""

import subprocess
import sys

expected = int(sys.argv[1])
found = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL).returncode
if found != expected:
    sys.stderr.write(f"expected exit code {expected}, found {found}: {' '.join(sys.argv[2:])}\n")
    sys.exit(1)
