"""Results pinned by their hash: every build type, compiler and CPU gives these bits.

The values are right by the other tests; this one says that they do not depend on how Kiln was built.
"""

import hashlib

from kiln_test import Kiln, expect_equal

kiln = Kiln()
golden = {
    ("01_vector_add.cpp:vector_add_stream", "randn:130000:bf16:1", "randn:130000:bf16:2"): "484a685d95fcb0a6",
    ("02_transpose.cpp:transpose", "randn:200x300:fp16:3"): "973d5c54cb0c2a80",
    ("03_matmul.cpp:matmul_blocked", "randn:300x200:float32:1", "randn:300x700:float32:2"): "7637868fe22d10ab",
    ("03_matmul.cpp:matmul_blocked", "randn:300x200:bf16:1", "randn:300x700:bf16:2"): "9777f9f925a2e9a6",
    ("03_matmul.cpp:matmul_blocked", "randn:300x200:fp16:1", "randn:300x700:fp16:2"): "c5e207514adb313c",
    ("04_softmax.cpp:softmax", "randn:130x2100:float32:1"): "15c58db4004f0971",
    (
        "05_norm.cpp:layernorm",
        "randn:130x2100:fp16:1",
        "randn:1x2100:fp16:2",
        "randn:1x2100:fp16:3",
        "1e-5",
    ): "3e88b86a40926c80",
    (
        "06_attention.cpp:attention_fwd_causal",
        "randn:40x130:float32:1",
        "randn:40x700:float32:2",
        "randn:700x40:float32:3",
        "0.2",
    ): "264982aa247d9b0a",
    (
        "06_attention.cpp:attention_fwd",
        "randn:40x130:bf16:1",
        "randn:40x700:bf16:2",
        "randn:700x40:bf16:3",
        "0.2",
    ): "33190e87b01acaa0",
    (
        "07_mamba.cpp:mamba_scan",
        "rand:130x600:float32:1",
        "randn:130x600:float32:2",
        "randn:130x3:float32:3",
        "randn:3x600:float32:4",
        "randn:3x600:float32:5",
    ): "b39f6718bf8273c5",
    (
        "08_conv2d.cpp:conv2d_maxpool",
        "randn:2x130x9x11:float32:1",
        "randn:131x130x2x3:float32:2",
        "randn:131:float32:3",
        "2",
    ): "2ab453f384d172fc",
}
for (kernel, *args), expected in golden.items():
    kiln("run", kiln.example(kernel), *args, "-o", "out.npy", "--raw")
    found = hashlib.sha256((kiln.scratch / "out.npy").read_bytes()).hexdigest()[:16]
    expect_equal(found, expected, f"hash of {kernel} on {' '.join(args)}")
