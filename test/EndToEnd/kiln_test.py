"""What the end-to-end scripts share: the command line, a scratch folder, running kiln, failing."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile


class Kiln:
    """The tool under test and the source tree, from the command line of the script."""

    def __init__(self, parser=None):
        """`parser` may bring options of the script; their values are in `self.options`."""
        parser = parser or argparse.ArgumentParser()
        parser.add_argument("--kiln", required=True, help="the built tool")
        parser.add_argument("--source", required=True, help="root of the source tree")
        self.options = options = parser.parse_args()
        self.tool = options.kiln
        self.source = pathlib.Path(options.source)
        self._scratch = tempfile.TemporaryDirectory(prefix="kiln-test-")
        self.scratch = pathlib.Path(self._scratch.name)
        # The cache of this test only, or of tests that share kernel files: nothing of the user's is
        # read or written.
        cache = os.environ.get("KILN_TEST_CACHE", str(self.scratch / "cache"))
        os.makedirs(cache, mode=0o700, exist_ok=True)
        self.env = dict(os.environ, KILN_CACHE_DIR=cache)

    def __call__(self, *arguments, code=0, cwd=None, env=None):
        """Runs kiln; returns (stdout, stderr). Another exit code than `code` fails the test."""
        command = [self.tool, *map(str, arguments)]
        result = subprocess.run(
            command,
            cwd=cwd or self.scratch,
            env=self.env if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if result.returncode != code:
            fail(
                f"{' '.join(command)}\nexit code {result.returncode}, expected {code}\n"
                f"{result.stdout}{result.stderr}"
            )
        return result.stdout, result.stderr

    def example(self, name):
        """A kernel of the examples: '03_matmul.cpp:matmul_tiled'."""
        return str(self.source / "examples" / name)


def fail(message):
    sys.stderr.write(f"FAILED: {message}\n")
    sys.exit(1)


def expect(condition, message):
    if not condition:
        fail(message)


def expect_equal(found, expected, what):
    if found != expected:
        fail(f"{what}:\nfound    {found!r}\nexpected {expected!r}")
