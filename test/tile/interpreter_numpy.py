"""The reference interpreter against NumPy, operation by operation.

Usage: interpreter_numpy.py KILN_TILE

Graphs of many independent nodes: every operation, dtype and order, ranks 1 to 5 with broadcasting,
NaN, infinities, zeros of both signs and denormals. Results are bits; transcendental functions and
sums in no order are compared to a tolerance.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

import model
from model import Array

SEED = 20240905
RNG = np.random.default_rng(SEED)
SPECIAL = np.array([0x7FC00000, 0xFFC12345, 0x7F800000, 0xFF800000, 0, 0x80000000, 1, 0x80000001,
                    0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800000, 0x4B800001], np.uint32)


def values(dtype, shape, special=True):
    """Random elements; floats of many sizes, a tenth of them special."""
    count = int(np.prod(shape))
    if dtype in model.FLOATS:
        x = (RNG.standard_normal(count) * 2.0 ** RNG.integers(-6, 7, count)).astype(np.float32)
        if special:
            pick = RNG.random(count) < 0.1
            x = np.where(pick, RNG.choice(SPECIAL.view(np.float32), count), x)
        out = model.narrow(dtype, x).data
    else:
        numpy = model.NUMPY[dtype]
        limits = np.iinfo(numpy)
        out = RNG.integers(limits.min, limits.max, count, dtype=numpy, endpoint=True)
        small = RNG.integers(0, 8, count).astype(numpy)
        out = np.where(RNG.random(count) < 0.5, out, small)
    return Array(dtype, out.reshape(shape))


class Cases:
    """A graph of loads and nodes, and what each node should be."""

    def __init__(self):
        self.buffers, self.lines, self.inputs, self.expected = [], [], {}, []

    def load(self, array):
        name = f"x{len(self.inputs)}"
        type_ = shape_text(array.shape) + " " + array.dtype
        self.buffers.append(f"@{name} = hbm input {len(self.inputs)} : {type_}")
        self.inputs[name] = array.data
        return self.add(f"load @{name}", array)

    def add(self, text, expected, tolerance=None):
        """tolerance: None for equal bits, or (relative, absolute) of the values."""
        self.lines.append(f"%{len(self.lines)} = {text} : {shape_text(expected.shape)} "
                          f"{expected.dtype}")
        self.expected.append((expected, tolerance))
        return f"%{len(self.lines) - 1}"

    def run(self, tool, title):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.txt")
            with open(path, "w") as file:
                file.write("\n".join(self.buffers + self.lines) + "\n")
            for name, data in self.inputs.items():
                np.save(os.path.join(folder, name + ".npy"), data)
            done = subprocess.run([tool, path, folder, "--nodes"], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{title}: exit code {done.returncode}: {done.stderr}")
            failures = 0
            for i, (expected, tolerance) in enumerate(self.expected):
                got = Array(expected.dtype, np.load(os.path.join(folder, f"{i}.npy")))
                failures += not self.compare(title, i, got, expected, tolerance)
        return failures

    def compare(self, title, i, got, expected, tolerance):
        if got.shape != expected.shape:
            print(f"{title}: {self.lines[i]}\n  has shape {got.shape}")
            return False
        if tolerance is None:
            bits = np.dtype(f"u{got.data.dtype.itemsize}")
            wrong = got.data.view(bits) != expected.data.view(bits)
        else:
            a, b = (x.floats().astype(np.float64) for x in (got, expected))
            with np.errstate(all="ignore"):
                near = np.abs(a - b) <= tolerance[0] * np.abs(b) + tolerance[1]
            wrong = ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
        if wrong.any():
            at = tuple(int(k[0]) for k in np.nonzero(wrong))
            print(f"{title} (seed {SEED}): {self.lines[i]}\n  {wrong.sum()} of {wrong.size} elements "
                  f"differ, the first at {at}: {got.floats()[at]!r} for {expected.floats()[at]!r} "
                  f"({got.data[at]!r} for {expected.data[at]!r})")
        return not wrong.any()


def shape_text(shape):
    return "x".join(str(extent) for extent in shape)


def tuple_text(values_):
    return "(" + ", ".join(str(v) for v in values_) + ")"


def random_shape(rank, most=6):
    return tuple(int(e) for e in RNG.integers(1, most + 1, rank))


def broadcast_pair():
    """Two shapes of rank 1 to 5 that go together."""
    whole = random_shape(int(RNG.integers(1, 6)))
    pair = [tuple(1 if RNG.random() < 0.3 else e for e in whole) for _ in range(2)]
    cut = int(RNG.integers(0, len(whole)))
    pair[int(RNG.integers(0, 2))] = pair[0][cut:] if RNG.random() < 0.5 else pair[1][cut:]
    return pair


#---- the cases --------------------------------------------------------------------------------


def sources():
    cases = Cases()
    for dtype in model.DTYPES:
        for value in (0.1, 1, -2.5, 3.5, 1e30, -70000.7, 255.5, 16777217, float("inf"), float("nan"),
                      1.00390625, 1.0039062500001):
            expected = model.number(dtype, value)
            cases.add(f"splat number {value}", Array(dtype, np.full((2, 3), expected.data)))
    for _ in range(10):
        shape = random_shape(int(RNG.integers(1, 6)))
        for axis in range(len(shape)):
            index = np.arange(shape[axis], dtype=np.int32)
            index = index.reshape([-1 if i == axis else 1 for i in range(len(shape))])
            cases.add(f"iota axis {axis}", Array("int32", np.broadcast_to(index, shape)))
    return cases


def functions():
    cases = Cases()
    for dtype in ("float32", "bfloat16", "float16", "int32", "uint8"):
        x = values(dtype, (7, 181))
        # Infinities of functions that are a product of one and 0 in the formula: Numerics tests them.
        plain = Array(dtype, np.where(np.isinf(x.floats()), np.zeros((), x.data.dtype), x.data))
        load_x, load_plain = cases.load(x), cases.load(plain)
        for fn in model.FUNCTIONS:
            exact = fn in model.EXACT
            for out in ("float32", "bfloat16"):
                tolerance = None if exact else (2e-6 if out == "float32" else 8e-3, 1e-9)
                operand, load = (x, load_x) if exact else (plain, load_plain)
                cases.add(f"unary {fn} {load}", model.unary(fn, operand, out), tolerance)
    return cases


def operators(dtypes):
    cases = Cases()
    for x_type, y_type, out in dtypes:
        for op in (*model.ARITHMETIC, *model.COMPARE, *model.LOGIC, "power"):
            if op == "power" and x_type in model.WIDE and y_type in model.WIDE and out in model.WIDE:
                continue  # through fp32, as every other dtype
            x_shape, y_shape = broadcast_pair()
            x, y = values(x_type, x_shape), values(y_type, y_shape)
            expected = model.binary(op, x, y, out)
            tolerance = (1e-6 if out == "float32" else 8e-3, 1e-30) if op == "power" else None
            cases.add(f"binary {op} {cases.load(x)}, {cases.load(y)}", expected, tolerance)
    return cases


def bit_operators():
    cases = Cases()
    for dtype in model.DTYPES:
        if dtype in model.FLOATS:
            continue
        for op in (*model.BITS, *model.SHIFTS):
            x_shape, y_shape = broadcast_pair()
            x, y = values(dtype, x_shape), values(dtype, y_shape)
            cases.add(f"binary {op} {cases.load(x)}, {cases.load(y)}",
                      model.binary(op, x, y, dtype))
    return cases


def choices():
    cases = Cases()
    for x_type in model.DTYPES:
        for y_type in ("float32", "bfloat16", "int32", x_type):
            for out in sorted({x_type, y_type, "float32"}):
                shapes = broadcast_pair()
                c = values(str(RNG.choice(["float32", "uint8", "bfloat16", "int32"])), shapes[1])
                x, y = values(x_type, shapes[0]), values(y_type, shapes[1])
                cases.add(f"select {cases.load(c)}, {cases.load(x)}, {cases.load(y)}",
                          model.select(c, x, y, out))
        for out in model.DTYPES:
            x = values(x_type, random_shape(3, 9))
            cases.add(f"cast {cases.load(x)}", model.cast(out, x))
    return cases


def movement():
    cases = Cases()
    for round_ in range(60):
        dtype = model.DTYPES[round_ % len(model.DTYPES)]
        rank = 1 + round_ % 5
        x = values(dtype, random_shape(rank))
        load = cases.load(x)
        add = lambda text, data: cases.add(text, Array(dtype, data))
        axes = [int(a) for a in RNG.permutation(rank)]
        add(f"transpose {load} axes {tuple_text(axes)}", np.transpose(x.data, axes))
        add(f"reshape {load}", x.data.reshape(-1))
        add(f"reshape {load}", x.data.reshape((1, x.shape[0], -1)))
        starts = [int(RNG.integers(0, e)) for e in x.shape]
        steps = [int(RNG.integers(1, 4)) for _ in x.shape]
        counts = [int(RNG.integers(1, (e - 1 - s) // t + 2)) for e, s, t in zip(x.shape, starts, steps)]
        part = x.data[tuple(slice(s, s + (n - 1) * t + 1, t) for s, n, t in zip(starts, counts, steps))]
        add(f"slice {load} starts {tuple_text(starts)} steps {tuple_text(steps)}", part)
        axis = int(RNG.integers(0, rank))
        others = [values(dtype, x.shape[:axis] + (int(RNG.integers(1, 5)),) + x.shape[axis + 1:])
                  for _ in range(round_ % 3)]
        names = ", ".join([load] + [cases.load(other) for other in others])
        add(f"concat {names} axis {axis}", np.concatenate([x.data] + [o.data for o in others], axis))
        front = [int(RNG.integers(0, 3)) for _ in x.shape]
        behind = [int(RNG.integers(0, 3)) for _ in x.shape]
        fill = model.number(dtype, 1.7).data
        add(f"pad {load} starts {tuple_text(front)} ends {tuple_text(behind)} number 1.7",
            np.pad(x.data, list(zip(front, behind)), constant_values=fill))
        one = Array(dtype, x.data[tuple(slice(0, 1) if RNG.random() < 0.5 else slice(None)
                                        for _ in x.shape)])
        whole = random_shape(5 - rank) + x.shape
        add(f"broadcast {cases.load(one)}", np.broadcast_to(one.data, whole))
    return cases


def reductions():
    cases = Cases()
    for round_ in range(40):
        rank = 1 + round_ % 5
        dtype = ("float32", "bfloat16", "float16", "int32", "uint8")[round_ // 5 % 5]
        x = values(dtype, random_shape(rank, 9 if rank < 4 else 5), special=round_ % 2 == 0)
        load = cases.load(x)
        axes = sorted({int(RNG.integers(0, rank)) for _ in range(1 + round_ % rank)})
        keepdims = len(axes) == rank or bool(RNG.integers(0, 2))
        for op in model.IDENTITY:
            for kind, order in ((None, ""), ("left", " left_to_right"), (1, " chunks 1"),
                                (3, " chunks 3"), (128, " chunks 128")):
                for identity in (False, True) if kind else (False,):
                    out = str(RNG.choice(["float32", "float32", "bfloat16", "int32"]))
                    expected = model.reduce(op, x, axes, keepdims, (kind, identity), out)
                    # In no order, a sum may round either way; "1" is one unit of an integer.
                    tolerance = None
                    if kind is None and op in ("add", "multiply"):
                        tolerance = (1e-6 if out == "float32" else 8e-3, 1e-30 if out != "int32" else 1)
                    cases.add(f"reduce {op} {load} axes {tuple_text(axes)}"
                              f"{' keepdims' if keepdims else ''}{order}"
                              f"{' from_identity' if identity else ''}", expected, tolerance)
    return cases


def long_reductions():
    """Rows longer than a chunk of 128, where the order of a sum shows."""
    cases = Cases()
    x = values("float32", (3, 1000), special=False)
    load = cases.load(x)
    for kind, order in (("left", "left_to_right"), (128, "chunks 128"), (512, "chunks 512")):
        cases.add(f"reduce add {load} axes (1,) {order}",
                  model.reduce("add", x, [1], False, (kind, False), "float32"))
        cases.add(f"reduce add {load} axes (0, 1) keepdims {order} from_identity",
                  model.reduce("add", x, [0, 1], True, (kind, True), "float32"))
    return cases


def products():
    cases = Cases()
    pairs = [("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16"),
             ("bfloat16", "float16")]
    sizes = [(1, 1, 1), (3, 129, 5), (2, 31, 33), (7, 300, 4), (5, 64, 37), (130, 3, 2)]
    batches = [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((), (2,)), ((2, 1, 2), (1, 3, 1))]
    round_ = 0
    for m, k, n in sizes:
        for x_type, y_type in pairs:
            for transpose in range(4):
                tx, ty = bool(transpose & 1), bool(transpose & 2)
                batch = batches[round_ % len(batches)]
                round_ += 1
                special = round_ % 3 == 0
                x = values(x_type, batch[0] + ((k, m) if tx else (m, k)), special)
                y = values(y_type, batch[1] + ((n, k) if ty else (k, n)), special)
                names = f"matmul {cases.load(x)}, {cases.load(y)}" + " transpose_x" * tx + \
                    " transpose_y" * ty
                out = ("float32", "float32", "bfloat16")[round_ % 3]
                for chunk in (128, 7):
                    cases.add(f"{names} chunks {chunk}", model.matmul(x, y, tx, ty, chunk, out))
                # In no order: near the sum in double, measured by the size of the products.
                exact = model.matmul(x, y, tx, ty, None, out)
                scale = np.nanmax(np.abs(np.where(np.isfinite(exact.floats()), exact.floats(), 0)))
                cases.add(names, exact, (1e-6 if out == "float32" else 8e-3, 1e-6 * float(scale) + 1e-6))
    return cases


def composites():
    cases = Cases()
    for shape in ((1, 1), (5,), (3, 7), (2, 3, 200), (2, 1, 3, 4, 5)):
        x = values("float32", shape, special=False)
        load = cases.load(x)
        as_array = lambda y: Array("float32", y.astype(np.float32))
        for axis in range(len(shape)):
            cases.add(f"softmax {load} axis {axis}", as_array(model.softmax(x, axis)), (2e-6, 1e-12))
        gamma = values("float32", shape[-1:], special=False)
        beta = values("float32", (1,) * (len(shape) - 1) + shape[-1:], special=False)
        if len(shape) == 1:
            beta = gamma
        names = [cases.load(gamma), cases.load(beta)]
        for given in range(3):
            factors = [gamma, beta][:given] + [None] * (2 - given)
            operands = ", ".join([load] + names[:given])
            if given < 2:
                cases.add(f"rmsnorm {operands} number 1e-06",
                          as_array(model.rmsnorm(x, factors[0], 1e-6)), (2e-6, 1e-6))
            cases.add(f"layernorm {operands} number 1e-05",
                      as_array(model.layernorm(x, *factors, 1e-5)), (1e-5, 2e-5))
    # A mean of 10^4 deviations.
    x = Array("float32", (values("float32", (4, 300), False).data * 0.1 + 1e4).astype(np.float32))
    cases.add(f"layernorm {cases.load(x)} number 1e-05",
              Array("float32", model.layernorm(x, None, None, 1e-5).astype(np.float32)), (1e-5, 1e-5))
    return cases


def main():
    tool = sys.argv[1]
    kinds = [("float32", "float32", "float32"), ("float32", "float32", "bfloat16"),
             ("bfloat16", "float32", "float16"), ("float16", "bfloat16", "float32"),
             ("int32", "int32", "int32"), ("uint32", "int32", "uint32"), ("int32", "uint32", "int32"),
             ("int32", "int32", "float32"), ("int32", "float32", "int32"), ("uint8", "int8", "int16"),
             ("float32", "uint8", "uint8"), ("uint16", "int16", "int8"), ("uint32", "uint8", "uint16")]
    # Twice: other shapes, other values.
    groups = [("sources", sources()), ("functions", functions()), ("bits", bit_operators()),
              ("operators", operators(kinds)), ("operators again", operators(kinds)),
              ("choices", choices()), ("movement", movement()), ("reductions", reductions()),
              ("long reductions", long_reductions()), ("products", products()),
              ("composites", composites())]
    failures = sum(cases.run(tool, title) for title, cases in groups)
    total = sum(len(cases.lines) for _, cases in groups)
    print(f"{total - failures} of {total} values agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
