"""Programs of random graphs and of the whole-tensor example stay within what their plans claim."""

import argparse
import subprocess

from kiln_test import Kiln, expect

parser = argparse.ArgumentParser()
parser.add_argument("--claims", required=True, help="the built plan-claims")
kiln = Kiln(parser)


def matmuls(m, k, n):
    yield "matmul", [(m, k), (k, n)]
    yield "matmul_bias_gelu", [(m, k), (k, n), (1, n)]
    yield "rmsnorm_matmul", [(m, k), (1, k), (k, n), 0.001]
    yield "mlp_swiglu", [(m, k), (k, n), (k, n), (n, k)]


def rows(m, n):
    yield "softmax", [(m, n)]
    yield "layernorm", [(m, n), (1, n), (1, n), 0.001]
    yield "rope", [(m, 2 * n), (m, n), (m, n)]
    yield "transpose_add", [(m, n), (n, m)]


cases = [*matmuls(1, 1, 1), *matmuls(200, 300, 130), *matmuls(129, 1025, 513)]
cases += [*rows(1, 1), *rows(300, 513), *rows(3, 20000)]
# More than SBUF holds, in float32.
cases += [("matmul", [(640, 8192), (8192, 640)])]

files = []
for kernel, arguments in cases:
    for dtype in ("float32", "bfloat16"):
        spelled = [
            f"zeros:{'x'.join(map(str, a))}:{dtype}" if isinstance(a, tuple) else str(a) for a in arguments
        ]
        shape = "x".join(map(str, arguments[0]))
        files.append(f"{kernel}-{shape}-{dtype}.mlir")
        name = kiln.example(f"10_whole_tensor.cpp:{kernel}")
        kiln("compile", name, *spelled, "--emit=tile", "-o", files[-1])


def claims(*arguments):
    command = [kiln.options.claims, *arguments]
    result = subprocess.run(command, cwd=kiln.scratch, capture_output=True, text=True)
    print(result.stdout, end="")
    expect(result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}")


claims("--random", "1", "100")
claims(*files)
