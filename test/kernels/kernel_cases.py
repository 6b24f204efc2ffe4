"""What the tests of whole kernels share: arguments in the dtypes of the device, running a kernel on
them, and judging the result against a float64 reference."""

import zlib

import numpy as np

from kiln_test import expect


def rounded(x, dtype):
    """`x` rounded to a dtype of the device, ties to even, as float64."""
    if dtype == "bf16":
        bits = np.asarray(x, np.float32).view(np.uint32)
        bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    return np.asarray(x).astype({"fp32": np.float32, "fp16": np.float16, "int8": np.int8}[dtype]).astype(np.float64)


def save(path, x, dtype):
    """Writes `x`, already rounded; returns the argument that makes the kernel see that dtype."""
    stored = {"fp32": np.float32, "bf16": np.float32, "fp16": np.float16, "int8": np.int8}[dtype]
    np.save(path, np.asarray(x, stored))
    return f"{path}:bf16" if dtype == "bf16" else str(path)


# How far a result may be from its reference. Each returns the message of a violation, or None.


def within(rtol, atol=0.0):
    """Every element within atol + rtol * |reference|."""

    def check(found, exact, errors):
        excess = np.abs(found - exact) - (atol + rtol * np.abs(exact))
        return f"{(excess > 0).sum()} elements exceed rtol {rtol} atol {atol}" if (excess > 0).any() else None

    return check


def within_rms(fraction):
    """Every element within a fraction of the reference's root mean square."""

    def check(found, exact, errors):
        bound = fraction * np.sqrt(np.mean(exact**2))
        return f"maximal error {errors[0]:.3g} exceeds {bound:.3g}" if errors[0] > bound else None

    return check


def within_l2(bound):
    """Euclidean norm of the error at most `bound` times that of the reference."""

    def check(found, exact, errors):
        return f"L2-relative error {errors[2]:.3g} exceeds {bound:.3g}" if not errors[2] <= bound else None

    return check


def exact_in(dtype):
    """The reference rounded once to `dtype`: what an exact kernel gives."""

    def check(found, exact, errors):
        wrong = (found != rounded(exact, dtype)).sum()
        return f"{wrong} elements differ from the rounded reference" if wrong else None

    return check


def errors_of(found, exact):
    """Maximal absolute, maximal relative, and L2-relative error."""
    difference = np.abs(found - exact)
    relative = difference / np.maximum(np.abs(exact), np.finfo(np.float64).tiny)
    norm = np.linalg.norm(exact)
    return difference.max(), relative[exact != 0].max(initial=0.0), np.linalg.norm(difference) / (norm or 1.0)


class Case:
    """One kernel on one set of arguments.

    make(rng) gives the tensors, unrounded; reference(*tensors in float64, *scalars) the exact result,
    or a tuple of them; `check` judges each. The seed follows from the name, so that a case keeps its
    values when others come. A case is large from 1 GMAC on, or when it says so (`is_large`).
    """

    def __init__(self, name, kernel, dtype, make, reference, check, scalars=(), gmac=0.0, is_large=False):
        self.name, self.kernel, self.dtype, self.make = name, kernel, dtype, make
        self.reference, self.check, self.scalars, self.gmac = reference, check, scalars, gmac
        self.is_large = is_large or gmac >= 1
        self.seed = zlib.crc32(name.encode()) % 100000

    def run(self, kiln):
        """Runs the kernel, prints the errors, fails the test when a bound is exceeded; the bytes of the outputs."""
        tensors = [rounded(x, self.dtype) for x in self.make(np.random.default_rng(self.seed))]
        arguments = [save(kiln.scratch / f"in{i}.npy", x, self.dtype) for i, x in enumerate(tensors)]
        label = f"{self.name} {self.kernel} {self.dtype} seed {self.seed}"
        self.command = [kernel_path(kiln, self.kernel), *arguments, *map(str, self.scalars)]
        scalars = [np.float64(np.float32(s)) if isinstance(s, float) else s for s in self.scalars]
        exact = self.reference(*tensors, *scalars)
        exact = exact if isinstance(exact, tuple) else (exact,)
        outputs = [kiln.scratch / f"out{i}.npy" for i in range(len(exact))]
        kiln("run", *self.command, *(part for path in outputs for part in ("-o", path)))
        for i, path in enumerate(outputs):
            self.judge(f"{label} output {i}" if len(exact) > 1 else label, np.load(path), exact[i])
        return b"".join(path.read_bytes() for path in outputs)

    def judge(self, label, result, exact):
        expect(result.dtype == (np.int8 if self.dtype == "int8" else np.float32), f"{label}: a result of {result.dtype}")
        found = result.astype(np.float64)
        expect(found.shape == exact.shape, f"{label}: shape {found.shape}, expected {exact.shape}")
        expect(np.isfinite(found).all(), f"{label}: values that are not finite")
        errors = errors_of(found, exact)
        print(f"{label}: max-abs {errors[0]:.3g} max-rel {errors[1]:.3g} L2-rel {errors[2]:.3g}", flush=True)
        problem = self.check(found, exact, errors)
        expect(problem is None, f"{label}: {problem}")

    def check_streams(self, kiln):
        """After `run`: proves the streams for all schedules, and runs them in every kind of schedule."""
        kiln("check", *self.command, "--random", "1")


def kernel_path(kiln, kernel):
    """'04_softmax:softmax' is a kernel of the examples, 'rows:row_sum' one of the tests."""
    file, name = kernel.split(":")
    folder = "examples" if file[0].isdigit() else "test/kernels"
    return f"{kiln.source / folder / file}.cpp:{name}"
