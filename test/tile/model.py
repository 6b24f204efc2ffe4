"""What whole-tensor operations compute, in NumPy.

Arithmetic is float32, one rounding to the result's dtype. A value is an Array: its dtype by Kiln's
name and its elements, as bits (uint16) for bfloat16 and float16. No code is shared with Kiln.
"""

import math

import numpy as np

NUMPY = {
    "float32": np.float32, "bfloat16": np.uint16, "float16": np.uint16, "int32": np.int32,
    "uint32": np.uint32, "int16": np.int16, "uint16": np.uint16, "int8": np.int8, "uint8": np.uint8,
}
DTYPES = list(NUMPY)
FLOATS = ("float32", "bfloat16", "float16")
WIDE = ("int32", "uint32")
NAN = np.array(0x7FC00000, np.uint32).view(np.float32)


class Array:
    """Elements of one dtype."""

    def __init__(self, dtype, data):
        self.dtype, self.data = dtype, np.ascontiguousarray(data)
        assert data.dtype == NUMPY[dtype], (dtype, data.dtype)

    @property
    def shape(self):
        return self.data.shape

    def floats(self):
        """The elements as float32: exact, but for 32-bit integers, which round to nearest even."""
        if self.dtype == "bfloat16":
            return (self.data.astype(np.uint32) << 16).view(np.float32)
        if self.dtype == "float16":
            return self.data.view(np.float16).astype(np.float32)
        return self.data.astype(np.float32)


def canonical(x):
    """Every NaN becomes 0x7FC00000."""
    return np.where(np.isnan(x), NAN, x).astype(np.float32)


def narrow(dtype, x):
    """float32 values rounded to nearest even, once; integers saturate and a NaN is 0."""
    x = np.asarray(x, np.float32)
    if dtype == "float32":
        return Array(dtype, x)
    if dtype == "bfloat16":
        bits = x.view(np.uint32).astype(np.int64)
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        return Array(dtype, np.where(np.isnan(x), 0x7FC0, bits).astype(np.uint16))
    if dtype == "float16":
        with np.errstate(all="ignore"):
            bits = x.astype(np.float16).view(np.uint16)
        return Array(dtype, np.where(np.isnan(x), np.uint16(0x7E00), bits))
    limits = np.iinfo(NUMPY[dtype])
    whole = np.clip(np.rint(np.where(np.isnan(x), 0, x).astype(np.float64)), limits.min, limits.max)
    return Array(dtype, whole.astype(NUMPY[dtype]))


def cast(dtype, x):
    return x if x.dtype == dtype else narrow(dtype, x.floats())


def number(dtype, value):
    """A Python float in a dtype, in one rounding."""
    if dtype in FLOATS:
        if dtype == "float16":
            with np.errstate(over="ignore"):
                value = np.float16(value)
        if dtype == "bfloat16" and math.isfinite(value):
            # Eight significant bits; not for the range of denormals.
            mantissa, exponent = math.frexp(value)
            value = math.ldexp(round(math.ldexp(mantissa, 8)), exponent - 8)
        return narrow(dtype, canonical(np.float32(value)))
    limits = np.iinfo(NUMPY[dtype])
    value = 0 if math.isnan(value) else max(limits.min, min(limits.max, value))
    return Array(dtype, np.array(round(value), NUMPY[dtype]))


#---- operators of two operands ----------------------------------------------------------------


def larger(x, y, sign):
    """Maximum (sign 1) or minimum (sign -1): NaN if either is NaN, +0 above -0."""
    x, y = np.broadcast_arrays(x, y)
    pick = sign * x > sign * y
    zeros = (x == 0) & (y == 0)
    pick = np.where(zeros, np.signbit(x) == (sign < 0), pick)
    return np.where(np.isnan(x) | np.isnan(y), NAN, np.where(pick, x, y))


COMPARE = {"equal": np.equal, "not_equal": np.not_equal, "greater_equal": np.greater_equal,
           "greater": np.greater, "less_equal": np.less_equal, "less": np.less}
LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply,
              "maximum": lambda x, y: larger(x, y, 1), "minimum": lambda x, y: larger(x, y, -1)}
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
SHIFTS = ("left_shift", "right_shift")


def shift(op, bits, x, y):
    """Zero fill; counts are unsigned, and 0 is left when they reach the width."""
    x, y = x.astype(np.uint64), y.astype(np.uint64)
    count = np.minimum(y, np.uint64(bits))
    out = x << count if op == "left_shift" else x >> count
    return np.where(y >= bits, np.uint64(0), out) & np.uint64((1 << bits) - 1)


def binary(op, x, y, dtype):
    if op in BITS or op in SHIFTS:
        unsigned = np.dtype(f"u{x.data.dtype.itemsize}")
        a, b = np.broadcast_arrays(x.data.view(unsigned), y.data.view(unsigned))
        out = BITS[op](a, b) if op in BITS else shift(op, 8 * unsigned.itemsize, a, b)
        return Array(dtype, out.astype(unsigned).view(NUMPY[dtype]))
    if x.dtype in WIDE and y.dtype in WIDE and dtype in WIDE:
        a, b = x.data.astype(np.int64), y.data.astype(np.int64)
        if op in ("add", "subtract", "multiply"):
            with np.errstate(over="ignore"):
                out = ARITHMETIC[op](a, b) & 0xFFFFFFFF
            return Array(dtype, out.astype(np.uint32).view(NUMPY[dtype]))
        if op in ("maximum", "minimum"):
            limits = np.iinfo(NUMPY[dtype])
            out = np.clip(getattr(np, op)(a, b), limits.min, limits.max)
        else:
            out = {**COMPARE, **LOGIC}[op](a, b)
        return Array(dtype, out.astype(NUMPY[dtype]))
    a, b = x.floats(), y.floats()
    with np.errstate(all="ignore"):
        if op in ARITHMETIC:
            out = ARITHMETIC[op](a, b)
        elif op == "power":
            out = np.power(a.astype(np.float64), b.astype(np.float64))
        else:
            out = {**COMPARE, **LOGIC}[op](a, b)  # a NaN is not 0
        return narrow(dtype, canonical(out.astype(np.float32)))


def select(c, x, y, dtype):
    return Array(dtype, np.where(c.floats() != 0, cast(dtype, x).data, cast(dtype, y).data))


#---- functions, in double: right to a few units of float32 ------------------------------------

erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) /
                    (1 + np.exp(-np.abs(x))))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def normal_cdf(x):
    return erfc(-x / math.sqrt(2)) / 2


def apprx_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def wrapped_sin(x):
    pi = float(np.float32(math.pi))
    d = np.where(x > pi, x - math.pi, x + math.pi)
    return np.where(np.abs(x) <= pi, np.sin(x), -d + d**3 / 6)


FUNCTIONS = {
    "copy": lambda x: x, "square": lambda x: x * x, "sigmoid": sigmoid,
    "relu": lambda x: np.where(np.isnan(x), x, np.where(x > 0, x, 0)),
    "gelu": lambda x: x * normal_cdf(x),
    "gelu_dx": lambda x: normal_cdf(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "gelu_apprx_tanh": apprx_tanh,
    "gelu_apprx_sigmoid": lambda x: x * sigmoid(1.702 * x),
    "gelu_apprx_sigmoid_dx": lambda x: sigmoid(1.702 * x) *
                             (1 + 1.702 * x * sigmoid(-1.702 * x)),
    "silu": lambda x: x * sigmoid(x),
    "silu_dx": lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
    "tanh": np.tanh, "softplus": softplus, "mish": lambda x: x * np.tanh(softplus(x)),
    "erf": erf, "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), "exp": np.exp,
    "log": np.log, "sin": wrapped_sin, "arctan": np.arctan, "sqrt": np.sqrt,
    "rsqrt": lambda x: np.where(x < 0, math.nan, 1 / np.sqrt(x)), "reciprocal": lambda x: 1 / x,
    "sign": np.sign, "abs": np.abs,
}
EXACT = ("copy", "square", "relu", "sqrt", "reciprocal", "sign", "abs")


def unary(fn, x, dtype):
    with np.errstate(all="ignore"):
        out = FUNCTIONS[fn](x.floats().astype(np.float64)).astype(np.float32)
    if fn == "sign":
        out = out + np.float32(0)  # sign(-0) = +0
    return narrow(dtype, canonical(out))


#---- sums -------------------------------------------------------------------------------------


def fma(a, b, c):
    """a * b + c in float32, rounded once: the sum in double is rounded to odd first."""
    with np.errstate(all="ignore"):
        p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
        s = p + c
        v = s - p
        error = (p - (s - v)) + (c - v)
        odd = (s.view(np.int64) & 1).astype(bool)
        fix = np.isfinite(error) & (error != 0) & ~odd
        s = np.where(fix, np.nextafter(s, np.where(error > 0, np.inf, -np.inf)), s)
        return s.astype(np.float32)


def engine_sum(x, y, blocked):
    """Sum over the last axis of x * y as the Tensor Engine adds up one instruction."""
    zero = np.zeros(np.broadcast_shapes(x.shape, y.shape)[:-1], np.float32)
    n = x.shape[-1]
    if not blocked:
        for k in range(n):
            zero = fma(x[..., k], y[..., k], zero)
        return zero
    total = zero
    for first in range(0, n, 32):
        even, odd = zero, zero
        for k in range(first, first + 32, 2):
            if k < n:
                even = fma(x[..., k], y[..., k], even)
            if k + 1 < n:
                odd = fma(x[..., k + 1], y[..., k + 1], odd)
        with np.errstate(all="ignore"):
            total = total + (even + odd)
    return total


def matmul(x, y, transpose_x, transpose_y, chunk, dtype):
    a, b = x.floats(), y.floats()
    if transpose_x:
        a = np.swapaxes(a, -1, -2)
    if not transpose_y:
        b = np.swapaxes(b, -1, -2)  # [..., n, k] like a
    if chunk is None:
        with np.errstate(all="ignore"):
            out = np.matmul(a.astype(np.float64), np.swapaxes(b, -1, -2).astype(np.float64))
            return narrow(dtype, canonical(out.astype(np.float32)))
    a, b = a[..., :, None, :], b[..., None, :, :]
    blocked = x.dtype == "bfloat16" and y.dtype == "bfloat16"
    total = None
    for first in range(0, a.shape[-1], chunk):
        part = engine_sum(a[..., first:first + chunk], b[..., first:first + chunk], blocked)
        with np.errstate(all="ignore"):
            total = part if total is None else total + part
    return narrow(dtype, canonical(total))


IDENTITY = {"add": 0, "multiply": 1, "maximum": -math.inf, "minimum": math.inf}


def fold(op, x, from_identity):
    """Along the last axis, left to right."""
    out = np.full(x.shape[:-1], IDENTITY[op], np.float32) if from_identity else x[..., 0]
    with np.errstate(all="ignore"):
        for k in range(0 if from_identity else 1, x.shape[-1]):
            out = ARITHMETIC[op](out, x[..., k]).astype(np.float32)
    return out


def reduce(op, x, axes, keepdims, order, dtype):
    """order: None, "left" or a chunk, and whether folds start from the identity."""
    kind, from_identity = order
    kept = [i for i in range(len(x.shape)) if i not in axes]
    rows = np.transpose(x.floats(), kept + list(axes))
    rows = rows.reshape([x.shape[i] for i in kept] + [-1])
    if kind is None:
        with np.errstate(all="ignore"):
            function = {"add": np.sum, "multiply": np.prod}.get(op)
            out = fold(op, rows, False) if function is None else function(
                rows.astype(np.float64), axis=-1)
    elif kind == "left":
        out = fold(op, rows, from_identity)
    else:
        parts = [fold(op, rows[..., i:i + kind], from_identity)
                 for i in range(0, rows.shape[-1], kind)]
        out = fold(op, np.stack(parts, -1), False)
    with np.errstate(all="ignore"):
        out = canonical(np.asarray(out).astype(np.float32))
    if keepdims:
        out = out.reshape([1 if i in axes else e for i, e in enumerate(x.shape)])
    return narrow(dtype, out)


#---- composites, in double --------------------------------------------------------------------


def softmax(x, axis):
    x = x.floats().astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def rmsnorm(x, gamma, epsilon):
    x = x.floats().astype(np.float64)
    y = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)
    return y if gamma is None else y * gamma.floats()


def layernorm(x, gamma, beta, epsilon):
    x = x.floats().astype(np.float64)
    c = x - x.mean(axis=-1, keepdims=True)
    y = c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + epsilon)
    y = y if gamma is None else y * gamma.floats()
    return y if beta is None else y + beta.floats()
