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
}
for (kernel, *args), expected in golden.items():
    kiln("run", kiln.example(kernel), *args, "-o", "out.npy", "--raw")
    found = hashlib.sha256((kiln.scratch / "out.npy").read_bytes()).hexdigest()[:16]
    expect_equal(found, expected, f"hash of {kernel} on {' '.join(args)}")
