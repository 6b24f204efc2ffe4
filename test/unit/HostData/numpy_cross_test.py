"""Kiln's .npy reader and writer against NumPy's, file by file.

Usage: numpy_cross_test.py CONVERT, where CONVERT is the program npy-convert.
NumPy writes arrays of every dtype, order and format version; Kiln reads them
and writes them back; NumPy reads the result. Files that NumPy could have
written itself must be byte for byte its own.
"""

import io
import os
import subprocess
import sys
import tempfile

import numpy as np

SEED = 20240607
SHAPES = [(1,), (7,), (64,), (1, 1), (3, 5), (128, 3), (2, 3, 5), (1, 4, 1, 2), (2, 1, 3, 2, 2)]
# dtype of the file -> dtype on the device, and the dtype Kiln writes for it.
DTYPES = {
    "f4": ("float32", "<f4"), "f2": ("float16", "<f4"), "f8": ("float32", "<f4"),
    "i1": ("int8", "|i1"), "i2": ("int16", "<i2"), "i4": ("int32", "<i4"),
    "u1": ("uint8", "|u1"), "u2": ("uint16", "<u2"), "u4": ("uint32", "<u4"),
    "?": ("uint8", "|u1"),
}


def values(rng, code, shape):
    """Random bits of a dtype: NaNs, infinities and denormals of floats included."""
    dtype = np.dtype(code)
    count = int(np.prod(shape))
    if code == "?":
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    data = rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)
    return data.reshape(shape)


def same(a, b):
    """Equal in dtype, shape and value; any NaN equals any NaN, and -0 is not 0."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a) | np.isnan(a), np.signbit(b) | np.isnan(b))


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def to_bfloat16(array):
    """float32 values of `array` rounded to bfloat16: NumPy has no such dtype."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    result = rounded.astype(np.uint32).view(np.float32)
    return np.where(np.isnan(array), np.float32(np.nan), result).astype(np.float32)


class Suite:
    def __init__(self, folder):
        self.folder = folder
        self.jobs = []    # what Kiln is asked
        self.checks = []  # how its answer is judged
        self.failures = []

    def add(self, name, content, cast, form, check):
        stem = os.path.join(self.folder, "%05d" % len(self.jobs))
        with open(stem + ".in.npy", "wb") as file:
            file.write(content)
        self.jobs.append("\t".join([stem + ".in.npy", stem + ".out.npy", cast, form]))
        self.checks.append((name, stem + ".out.npy", check))

    def run(self, convert):
        text = "".join(job + "\n" for job in self.jobs)
        done = subprocess.run([convert], input=text, capture_output=True, text=True, check=True)
        answers = done.stdout.splitlines()
        if len(answers) != len(self.jobs):
            self.failures.append("%d answers to %d jobs" % (len(answers), len(self.jobs)))
        for (name, path, check), answer in zip(self.checks, answers):
            problem = check(answer, path)
            if problem:
                self.failures.append("%s: %s (Kiln said: %s)" % (name, problem, answer))


def expect(device, expected):
    """Kiln read `device` values, and its file is NumPy's file of `expected`."""
    def check(answer, path):
        shape = "x".join(map(str, expected.shape))
        if answer != "ok %s %s" % (device, shape):
            return "wrong answer"
        if not same(np.load(path), expected):
            return "other values"
        with open(path, "rb") as file:
            content = file.read()
        header = len(content) - expected.nbytes
        if content[:header] != saved(np.ascontiguousarray(expected))[:header]:
            return "another header than NumPy's"
        return None
    return check


def refuse(answer, path):
    return None if answer.startswith("error ") and not os.path.exists(path) else "not refused"


def with_version(array, version):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def add_reads(suite, rng):
    for code, (device, written) in DTYPES.items():
        for shape in SHAPES:
            array = values(rng, code, shape)
            with np.errstate(over="ignore", invalid="ignore"):
                expected = array.astype(np.dtype(written))
            for order in "CF":
                content = saved(np.array(array, order=order))
                suite.add("%s %s %s" % (code, shape, order), content, "-", "values",
                          expect(device, expected))
            for version in [(1, 0), (2, 0), (3, 0)]:
                suite.add("%s %s version %s" % (code, shape, version),
                          with_version(array, version), "-", "values", expect(device, expected))


def add_casts(suite, rng):
    for code in ["f4", "f2", "i1", "i2", "u1", "u2"]:
        for shape in SHAPES:
            array = values(rng, code, shape)
            content = saved(np.asfortranarray(array))
            with np.errstate(over="ignore", invalid="ignore"):
                wide = array.astype(np.float32)
                half = array.astype(np.float16)
            suite.add("%s %s as fp32" % (code, shape), content, "fp32", "values",
                      expect("float32", wide))
            suite.add("%s %s as fp16" % (code, shape), content, "fp16", "values",
                      expect("float16", half.astype(np.float32)))
            suite.add("%s %s as fp16 bits" % (code, shape), content, "fp16", "raw",
                      lambda answer, path, half=half: None if same(
                          np.load(path).view(np.float16), half) else "other bits")
            suite.add("%s %s as bf16" % (code, shape), content, "bf16", "values",
                      expect("bfloat16", to_bfloat16(wide)))
    # float64 to 16 bits in one rounding, around every kind of tie.
    steps = 1 + rng.integers(0, 1 << 12, 500) * 2.0 ** -12
    doubles = np.concatenate([steps, steps + 2.0 ** -50, steps - 2.0 ** -50, steps * 2.0 ** -20])
    suite.add("f8 ties as fp16", saved(doubles), "fp16", "values",
              expect("float16", doubles.astype(np.float16).astype(np.float32)))


def add_refusals(suite):
    good = np.arange(6, dtype=np.float32).reshape(2, 3)
    wrong = [good.astype(">f4"), good.astype(np.int64), good.astype(np.uint64),
             good.astype(np.complex64), good.astype(np.longdouble), good.astype("S3"),
             good.astype("U3"), good.astype("M8[s]"), np.float32(3), np.zeros((0, 3)),
             np.zeros((1,) * 6), np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]),
             np.zeros(3, dtype="V2")]
    for array in wrong:
        array = np.asarray(array)
        suite.add("refusal of %s %s" % (array.dtype, array.shape), saved(array), "-", "values",
                  refuse)
    pickled = io.BytesIO()
    np.save(pickled, np.array([None, {}], dtype=object), allow_pickle=True)
    archive = io.BytesIO()
    np.savez(archive, good)
    for name, content in [("objects", pickled.getvalue()), ("npz", archive.getvalue()),
                          ("truncated", saved(good)[:-1]), ("trailing", saved(good) + b"\0")]:
        suite.add("refusal of " + name, content, "-", "values", refuse)


def main():
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory(prefix="kiln-test-") as folder:
        suite = Suite(folder)
        add_reads(suite, rng)
        add_casts(suite, rng)
        add_refusals(suite)
        suite.run(sys.argv[1])
        for failure in suite.failures[:20]:
            print(failure)
        print("seed %d: %d files, %d wrong" % (SEED, len(suite.jobs), len(suite.failures)))
    return 1 if suite.failures else 0


if __name__ == "__main__":
    sys.exit(main())
