"""--poison: what unwritten memory holds never reaches a right result; with --unchecked a wrong one shows it."""

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
kernels = {
    "06_attention.cpp:attention_fwd": ["randn:20x150:bf16:1", "randn:20x700:bf16:2", "randn:700x20:bf16:3", "0.3"],
    "03_matmul.cpp:matmul_blocked": ["rand:200x130:fp16:1", "rand:200x600:fp16:2"],
    "08_conv2d.cpp:conv2d_maxpool": ["rand:2x130x9x11:float32:1", "rand:131x130x2x3:float32:2", "rand:131:float32:3", "2"],
}
for kernel, args in kernels.items():
    kiln("compile", kiln.example(kernel), *args, "-o", "p.kiln")
    tensors = [a for a in args if ":" in a]
    kiln("run", "p.kiln", *tensors, "-o", "plain.npy")
    plain = (kiln.scratch / "plain.npy").read_bytes()
    for poison in ("--poison", "--poison=00", "--poison=0000803f", "--poison=random:1"):
        for more in ([], ["--unchecked"], ["--unchecked", "--schedule=random:3"]):
            kiln("run", "p.kiln", *tensors, "-o", "y.npy", poison, *more)
            expect_equal((kiln.scratch / "y.npy").read_bytes(), plain, f"{kernel} {poison} {more}")

# The second half of the tile is never written.
HALF = """
.kernel "half"
.target "trn2"
.flags placed scheduled synchronised
.tensor %0 a hbm 2x1xi32 input 0
.tensor %1 y hbm 2x2xi32 output 0
.tensor %2 t sbuf 2x2xi32 at 0,0
.stream sync
  dma_copy dst=t[0+2, 0: 1x1] src=a[2 rows of 1, 0: 1x1] update s0+=16 #0
  wait s0>=16 dma_copy dst=y[2 rows of 2, 0: 1x2] src=t[0+2, 0: 1x2] ring=1 #1
"""
(kiln.scratch / "half.s").write_text(HALF)
kiln("asm", "half.s", "-o", "half.kiln")
run = ["run", "half.kiln", "iota:2x1:int32"]
_, message = kiln(*run, "--poison=00", code=3)
expect("error[M-09]" in message, message)
for flags, value in (([], 0x7FDB7FDB), (["--poison"], 0x7FDB7FDB), (["--poison=00"], 0), (["--poison=05000000"], 5)):
    text, _ = kiln(*run, "--unchecked", *flags)
    expect_equal(text, f"y int32 [2, 2]: 0 {value} 1 {value}\n", str(flags))

for wrong in ("0", "xyz", "random:x"):
    _, message = kiln(*run, f"--poison={wrong}", code=2)
    expect_equal(
        message,
        f"kiln: error: '{wrong}' is no poison\n"
        "help: give 1 to 64 bytes in hex, as in DB7F or 00, or random:SEED, as in random:7\n",
        wrong,
    )
