"""Every kernel of the examples with arguments of several tiles in every dim, the last one cut; those that are math on
whole tensors in a list of their own."""

from kiln_test import expect_equal

# Kernel, shapes of its tensors, numbers.
EXAMPLES = [
    ("01_vector_add:vector_add_naive", ["1700", "1700"], []),
    ("01_vector_add:vector_add_tiled", ["700", "700"], []),
    ("01_vector_add:vector_add_stream", ["128333", "128333"], []),
    ("02_transpose:transpose", ["130x260"], []),
    ("03_matmul:matmul_tiled", ["130x150", "130x530"], []),
    ("03_matmul:matmul_hoisted", ["130x150", "130x530"], []),
    ("03_matmul:matmul_blocked", ["130x550", "130x530"], []),
    ("04_softmax:softmax", ["130x2100"], []),
    ("05_norm:rmsnorm", ["150x2100", "1x2100"], ["1e-5"]),
    ("05_norm:layernorm", ["150x2100", "1x2100", "1x2100"], ["1e-5"]),
    ("06_attention:attention_fwd", ["20x150", "20x700", "700x20"], ["0.3"]),
    ("06_attention:attention_fwd_causal", ["20x190", "20x150", "150x20"], ["0.3"]),
    ("07_mamba:mamba_scan", ["130x600", "130x600", "130x3", "3x600", "3x600"], []),
    ("08_conv2d:conv2d_maxpool", ["2x130x9x11", "131x130x2x3", "131"], ["2"]),
    ("09_max_pool:max_pool", ["150x7000"], ["3"]),
]
WHOLE_TENSORS = [
    ("10_whole_tensor:matmul", ["130x300", "300x530"], []),
    ("10_whole_tensor:matmul_bias_gelu", ["130x300", "300x530", "1x530"], []),
    ("10_whole_tensor:softmax", ["130x2100"], []),
    ("10_whole_tensor:layernorm", ["150x2100", "1x2100", "1x2100"], ["1e-5"]),
    ("10_whole_tensor:rmsnorm_matmul", ["130x300", "1x300", "300x530"], ["1e-5"]),
    ("10_whole_tensor:mlp_swiglu", ["130x150", "150x530", "150x530", "530x150"], []),
    ("10_whole_tensor:rope", ["260x130", "260x65", "260x65"], []),
    ("10_whole_tensor:transpose_add", ["130x260", "260x130"], []),
]


def expect_complete(kiln):
    """Fails unless `kiln list` names the kernels tried here, no others, with the tensors and numbers they take."""
    listed = []
    for file in sorted((kiln.source / "examples").glob("*.cpp")):
        for line in kiln("list", file)[0].splitlines():
            name, rest = line.split("(", 1)
            kinds = [parameter.split(": ")[1] for parameter in rest.split(")")[0].split(", ")]
            listed.append((f"{file.stem}:{name}", kinds.count("tensor"), len(kinds) - kinds.count("tensor")))
    tried = [(name, len(shapes), len(numbers)) for name, shapes, numbers in EXAMPLES + WHOLE_TENSORS]
    expect_equal(sorted(tried), sorted(listed), "kernels tried and kernels of the examples")
