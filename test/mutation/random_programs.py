"""The random kernels of test/kernels/random.cpp as programs: seed by seed, with inputs of several shapes and dtypes."""

# Larger and smaller than a tile, and in the dtypes floats have.
INPUTS = [
    "randn:200x310:f32:1",
    "randn:150x400:bf16:2",
    "randn:128x300:f32:3",
    "randn:130x33:f32:4",
    "randn:256x64:f16:5",
]


def arguments_of(seed):
    """The two tensors kernel `seed` is traced for."""
    return [INPUTS[seed % len(INPUTS)], INPUTS[seed // len(INPUTS) % len(INPUTS)]]


def compile_seed(kiln, seed):
    """Compiles kernel `seed` into the scratch folder; the program's path."""
    program = kiln.scratch / f"{seed}.kiln"
    kernel = f"{kiln.source / 'test' / 'kernels' / 'random.cpp'}:random_kernel"
    # Copies inside SBUF are what is wanted here.
    kiln("compile", kernel, *arguments_of(seed), seed, "-Wno-B-11", "-o", program)
    return program
