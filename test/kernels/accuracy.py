"""How exact the examples are where it is hard: long sums, large scores, rows with nothing to see, means far
from the deviation, rows longer than a chunk or than SBUF."""

import numpy as np

import references
from kernel_cases import Case, within, within_l2
from kiln_test import Kiln

kiln = Kiln()


def run(name, kernel, dtype, make, reference, check, *scalars):
    Case(name, kernel, dtype, make, reference, check, scalars).run(kiln)


# Attention against float64 on the rounded inputs.
BOUNDS = {"fp32": within_l2(2e-5), "bf16": within_l2(5e-3), "fp16": within_l2(1e-3)}


def attention(name, dtype, S, T, d, scale, change=lambda q, k, v: None, causal=False):
    def make(rng):
        q, k, v = (rng.standard_normal(shape) for shape in ((d, S), (d, T), (T, d)))
        change(q, k, v)
        return [q, k, v]

    kernel = "attention_fwd_causal" if causal else "attention_fwd"
    reference = references.causal_attention if causal else references.attention
    run(f"{name} S {S} T {T} d {d}", f"06_attention:{kernel}", dtype, make, reference, BOUNDS[dtype], scale)


def equal_scores(q, k, v):
    q[:, q.shape[1] // 2] = 0


def large_scores(q, k, v):  # up to 1e4 after scaling; what float32 leaves of their differences is small
    q *= 2500


def exact_large_scores(q, k, v):  # up to 1e4, whole numbers below 2^24: float32 keeps every difference
    q[:] = np.round(800 * q)
    k[:] = np.round(3 * k)


def tied_large_scores(q, k, v):  # d = 1: every score is 1e4 or -1e4, half of the keys tie
    q[:] = 100
    k[:] = np.where(np.arange(k.shape[1]) % 2, 100, -100)


for dtype in BOUNDS:
    attention("attention", dtype, 4096, 4096, 128, 0.0883883)
    attention("remainders", dtype, 300, 517, 80, 0.1118034)
    attention("one element", dtype, 130, 700, 1, 1.0)
    attention("one query", dtype, 1, 300, 64, 0.125)
    attention("one key", dtype, 129, 1, 5, 0.5)
    attention("equal scores", dtype, 140, 517, 80, 0.1118034, equal_scores)
    attention("scores to 1e4", dtype, 300, 517, 80, 0.1118034, large_scores)
    attention("exact scores to 1e4", dtype, 300, 517, 80, 0.125, exact_large_scores)
    attention("ties at 1e4", dtype, 10, 1100, 1, 1.0, tied_large_scores)
    attention("causal", dtype, 300, 300, 64, 0.125, causal=True)
    attention("causal, more keys", dtype, 130, 700, 40, 0.2, causal=True)
    attention("causal, more queries", dtype, 700, 300, 33, 0.2, causal=True)
    attention("causal, scores to 1e4", dtype, 257, 641, 80, 0.125, exact_large_scores, causal=True)
attention("causal, one query", "fp32", 1, 515, 3, 1.0, causal=True)
attention("causal, one key", "fp32", 200, 1, 3, 1.0, causal=True)
attention("keys beyond SBUF", "fp32", 3, 20011, 128, 0.0883883)
attention("causal, keys beyond SBUF", "fp32", 130, 20011, 128, 0.0883883, causal=True)


# Softmax: every value within a part of the largest one of its row.
def special_rows(rng):
    x = rng.standard_normal((6, 9001))
    largest = np.finfo(np.float32).max
    x[0] = -3
    x[1] = -largest
    x[2] *= 1e4
    x[3] = np.where(np.arange(9001) % 2, 1e4, -1e4)
    x[4, 8999] = -largest
    x[5, :4096] = -largest
    return [x]


def softmax_check(bound):
    def check(found, exact, errors):
        worst = (np.abs(found - exact) / exact.max(axis=1, keepdims=True)).max()
        return f"error {worst:.3g} of the largest value exceeds {bound:.3g}" if worst > bound else None

    return check


run("special rows", "04_softmax:softmax", "fp32", special_rows, references.softmax, softmax_check(4e-6))
for dtype, bound in (("fp32", 4e-6), ("bf16", 4e-3), ("fp16", 5e-4)):
    for M, N in ((131, 1), (1, 1), (257, 2049), (2, 70000)):
        run(f"softmax {M}x{N}", "04_softmax:softmax", dtype, lambda rng: [3 * rng.standard_normal((M, N))],
            references.softmax, softmax_check(bound))


# Norms.
def norm_inputs(M, N, mean=0.0, deviation=1.0):
    return lambda rng: [mean + deviation * rng.standard_normal((M, N)), rng.standard_normal((1, N)),
                        rng.standard_normal((1, N))]


def far_mean(rng):
    return [1e4 + 1e-2 * rng.standard_normal((200, 4096)), np.ones((1, 4096)), np.zeros((1, 4096))]


def outlier(rng):
    x = rng.standard_normal((130, 3000))
    x[:, 0] = 1e6
    return [x, np.ones((1, 3000)), np.zeros((1, 3000))]


run("layernorm mean 1e4, deviation 1e-2", "05_norm:layernorm", "fp32", far_mean, references.layernorm,
    within(0, 1e-1), 0.0)
run("layernorm first value 1e6", "05_norm:layernorm", "fp32", outlier, references.layernorm, within_l2(1e-4), 1e-5)


# One channel far from the rest, as activations of language models have it: the others must not suffer.
def one_channel(column, value):
    def make(rng):
        x = rng.standard_normal((70, 768))
        x[:, column] = value
        return [x, np.ones((1, 768)), np.zeros((1, 768))]

    return make


def others_within(column, bound):
    def check(found, exact, errors):
        error = np.linalg.norm(np.delete(found - exact, column, 1)) / np.linalg.norm(np.delete(exact, column, 1))
        return f"the other channels are off by {error:.3g} of their norm" if not error <= bound else None

    return check


for column, value in ((0, 50.0), (0, -1e3), (5, 1e3), (767, 1e3)):
    run(f"layernorm channel {column} is {value:g}", "05_norm:layernorm", "fp32", one_channel(column, value),
        references.layernorm, others_within(column, 2e-6), 1e-5)
for dtype, bound in (("fp32", 1e-5), ("bf16", 4e-3), ("fp16", 5e-4)):
    for M, N in ((1, 1), (300, 1), (130, 513), (257, 2051), (3, 60001)):
        run(f"rmsnorm {M}x{N}", "05_norm:rmsnorm", dtype, lambda rng: norm_inputs(M, N)(rng)[:2],
            references.rmsnorm, within_l2(bound), 1e-5)
        run(f"layernorm {M}x{N}", "05_norm:layernorm", dtype, norm_inputs(M, N, 3.0, 2.0), references.layernorm,
            within_l2(bound), 1e-5)
