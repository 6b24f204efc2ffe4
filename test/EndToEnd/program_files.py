"""objdump and asm are inverse on every example's program, and a program runs without its source."""

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
programs = {
    "01_vector_add.cpp:vector_add_naive": ["rand:700:float32:1", "rand:700:float32:2"],
    "01_vector_add.cpp:vector_add_tiled": ["rand:700:bf16:1", "rand:700:bf16:2"],
    "01_vector_add.cpp:vector_add_stream": ["rand:70000:fp16:1", "rand:70000:fp16:2"],
    "02_transpose.cpp:transpose": ["randn:129x300:float32:3"],
    "03_matmul.cpp:matmul_tiled": ["rand:200x130:float32:1", "rand:200x70:float32:2"],
    "03_matmul.cpp:matmul_hoisted": ["rand:200x130:bf16:1", "rand:200x70:bf16:2"],
    "03_matmul.cpp:matmul_blocked": ["rand:200x130:fp16:1", "rand:200x600:fp16:2"],
}
for kernel, args in programs.items():
    kiln("compile", kiln.example(kernel), *args, "-o", "p.kiln")
    text, _ = kiln("objdump", "p.kiln")
    (kiln.scratch / "p.s").write_text(text)
    kiln("asm", "p.s", "-o", "q.kiln")
    expect(
        (kiln.scratch / "p.kiln").read_bytes() == (kiln.scratch / "q.kiln").read_bytes(),
        f"{kernel}: asm(objdump(p)) is p",
    )
    direct, _ = kiln("run", kiln.example(kernel), *args)
    from_file, _ = kiln("run", "q.kiln", *args)
    expect_equal(from_file, direct, kernel)

# A damaged file is refused with a message and exit code 1.
data = bytearray((kiln.scratch / "p.kiln").read_bytes())
data[len(data) // 2] ^= 0x10
(kiln.scratch / "damaged.kiln").write_bytes(data)
_, message = kiln("run", "damaged.kiln", *programs["03_matmul.cpp:matmul_blocked"], code=1)
expect("error" in message, message)
