"""Kernels in NumPy, in float64, straight from their formulas."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rmsnorm(x, gamma, eps):
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * gamma


def layernorm(x, gamma, beta, eps):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps) * gamma + beta


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))


def silu(x):
    return x / (1 + np.exp(-x))


def rope(x, cos, sin):
    left, right = np.split(x, 2, axis=1)
    return np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=1)


def attention(qT, kT, v, scale, causal=False):
    """Key j is visible to query i when j <= i + T - S; a query that sees no key gets zeros."""
    S, T = qT.shape[1], kT.shape[1]
    out = np.zeros((S, v.shape[1]))
    for start in range(0, S, 512):
        rows = np.arange(start, min(start + 512, S))
        scores = scale * (qT[:, rows].T @ kT)
        if causal:
            scores[np.arange(T)[None, :] > rows[:, None] + T - S] = -np.inf
        top = scores.max(axis=1, keepdims=True)
        seen = np.isfinite(top[:, 0])
        e = np.exp(scores[seen] - top[seen])
        out[rows[seen]] = e @ v / e.sum(axis=1, keepdims=True)
    return out


def causal_attention(qT, kT, v, scale):
    return attention(qT, kT, v, scale, causal=True)


def mamba_scan(delta, u, A, B, C):
    h = np.zeros(A.shape)
    y = np.empty(delta.shape)
    for t in range(delta.shape[1]):
        h = np.exp(delta[:, t, None] * A) * h + (delta[:, t] * u[:, t])[:, None] * B[None, :, t]
        y[:, t] = h @ C[:, t]
    return y


def conv2d_maxpool(x, w, bias, pool):
    Co, Ci, kh, kw = w.shape
    out = []
    for image in x:  # one by one: the windows of an image are kh * kw times as large as it is
        windows = sliding_window_view(image, (kh, kw), axis=(1, 2))  # Ci, Ho, Wo, kh, kw
        Ho, Wo = windows.shape[1:3]
        columns = windows.transpose(0, 3, 4, 1, 2).reshape(Ci * kh * kw, Ho * Wo)
        out.append((w.reshape(Co, -1) @ columns).reshape(Co, Ho, Wo))
    conv = np.stack(out)
    h, v = conv.shape[2] // pool, conv.shape[3] // pool
    conv = conv[:, :, : h * pool, : v * pool].reshape(len(x), Co, h, pool, v, pool)
    return conv.max(axis=(3, 5)) + bias[None, :, None, None]


def average_pool(x, pool):
    C, H, W = x.shape
    h, w = H // pool, W // pool
    return x[:, : h * pool, : w * pool].reshape(C, h, pool, w, pool).mean(axis=(2, 4))


def transpose_free(x, f1, f2):
    return x.reshape(len(x), f1, f2).transpose(0, 2, 1).reshape(len(x), f1 * f2)


def max_pool(x, k):
    return sliding_window_view(x, (k, k)).max(axis=(2, 3))


def adaptive_average_pool(x, rows, columns):
    """Every output the mean of its own window, as PyTorch defines the windows."""
    N, C, H, W = x.shape
    out = np.empty((N, C, rows, columns))
    for i in range(rows):
        for j in range(columns):
            top, bottom = math.floor(i * H / rows), math.ceil((i + 1) * H / rows)
            left, right = math.floor(j * W / columns), math.ceil((j + 1) * W / columns)
            out[:, :, i, j] = x[:, :, top:bottom, left:right].mean(axis=(2, 3))
    return out


def nearest_resize(x, rows, columns):
    H, W = x.shape[1:3]
    return x[:, np.arange(rows) * H // rows][:, :, np.arange(columns) * W // columns]


def adamw(p, g, m, v, rate, beta1, beta2, eps, decay, step):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    step_size = rate / (1 - beta1**step)
    return p * (1 - rate * decay) - step_size * m / (np.sqrt(v / (1 - beta2**step)) + eps), m, v


def rope_halves(x, cos, sin):
    half = len(x) // 2
    cos, sin = cos[:, :, None], sin[:, :, None]
    return np.concatenate([x[:half] * cos - x[half:] * sin, x[half:] * cos + x[:half] * sin])
