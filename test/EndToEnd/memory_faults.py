"""Faults in memory on the command line: kernels and programs written by hand, whole messages, JSON records."""

import json

from kiln_test import Kiln, expect_equal

kiln = Kiln()
KERNELS = str(kiln.source / "test" / "EndToEnd" / "memory_faults.cpp")

HEAD = """
.kernel "k"
.target "trn2"
.flags placed
.file 0 "k.cpp"
.loc @0 0:1
.loc @1 0:2
.loc @2 0:3
.loc @3 0:4
.loc @4 0:5
.loc @5 0:6
"""


def fault(text, code=3, options=()):
    """The messages of a program file; its instructions stand in the lines of their locations, less one."""
    (kiln.scratch / "k.s").write_text(HEAD + text)
    kiln("asm", "k.s", "-o", "k.kiln")
    return kiln("run", "k.kiln", *options, code=code)[1]


def refused(text):
    (kiln.scratch / "k.s").write_text(HEAD + text)
    return kiln("asm", "k.s", "-o", "k.kiln", code=1)[1]


# ---- programs written by hand ---------------------------------------------------------------------------------

PARTLY = """
.tensor %0 y hbm 64x20xf32 output 0 @0
.tensor %1 t sbuf 64x20xf32 at 64,256 @1
.stream vector
  memset dst=t[0+64, 0: 4x5] value=1.0 @2 #0
.stream sync
  dma_copy dst=y[64 rows of 20, 0: 1x20] src=t[0+64, 0: 1x20] @4 #1
"""
expect_equal(
    fault(PARTLY),
    """k.cpp:5: error[M-09]: dma_copy reads 't' where it was not written: 960 elements between (0, 1) and (63, 19), \
3840 of 5120 bytes
note: instruction 0 of the sync stream, dma_copy: operand 'src' reads sbuf partitions 64-127, bytes 256-335 ('t')
note: unwritten: sbuf partitions 64-127, bytes 260-271, 276-287, ..., 324-335
k.cpp:3: note: 't' was last written by instruction 0 of the vector stream, memset
k.cpp:2: note: 't' was declared here
help: read only what was written, or clear 't' with memset first
""",
    "partly written in SBUF",
)
kiln("--diagnostics", "json", "run", "k.kiln", code=3)
record = json.loads(kiln("--diagnostics", "json", "run", "k.kiln", code=3)[1])
operand = {"what": "reads", "memory": "sbuf", "tensor": "t", "partition": 64, "partitions": 64, "byte": 256,
           "bytes": 80, "step": 0, "runs": 1}
expect_equal(record["bytes"], [operand, dict(operand, what="unwritten", byte=260, bytes=12, step=16, runs=5)], "records")
expect_equal((record["rule"], record["place"]), ("M-09", [{"file": "k.cpp", "line": 5}]), "the rest of the record")

expect_equal(
    fault("""
.tensor %0 y hbm 3x4xi32 output 0 @0
.tensor %1 s sbuf 3x4xi32 at 0,0 @1
.tensor %2 p psum 3x4xi32 at 0,2048 @2
.stream vector
  tensor_copy dst=s[0+3, 0: 1x4] src=p[0+3, 0: 1x4] @3 #0
.stream sync
  dma_copy dst=y[3 rows of 4, 0: 1x4] src=s[0+3, 0: 1x4] @4 #1
"""),
    """k.cpp:4: error[M-08]: tensor_copy reads 'p', which was never written: elements (0-2, 0-3), all 48 bytes
note: instruction 0 of the vector stream, tensor_copy: operand 'src' reads psum partitions 0-2, bytes 2048-2063 ('p')
k.cpp:3: note: 'p' was declared here
help: write 'p' first: dma_copy, memset or a matmul
""",
    "never written in PSUM",
)

STALE = """
.tensor %0 y hbm 16x8xf32 output 0 @0
.tensor %1 a sbuf 16x8xf32 at 0,0 @1
.tensor %2 b sbuf 16x8xf32 at 0,16 @2
.stream vector
  memset dst=a[0+16, 0: 1x8] value=1.0 @3 #0
  memset dst=b[0+16, 0: 1x8] value=2.0 @4 #1
.stream sync
  dma_copy dst=y[16 rows of 8, 0: 1x8] src=a[0+16, 0: 1x8] @5 #2
"""
expect_equal(
    fault(STALE),
    """k.cpp:6: error[M-04]: dma_copy reads 'a' after 'b' was written to the same memory: elements (0-15, 4-7), \
256 of 512 bytes, are lost
note: instruction 0 of the sync stream, dma_copy: operand 'src' reads sbuf partitions 0-15, bytes 0-31 ('a')
note: lost: sbuf partitions 0-15, bytes 16-31
k.cpp:5: note: 'b' was written there by instruction 1 of the vector stream, memset
k.cpp:2: note: 'a' was declared here
k.cpp:3: note: 'b' was declared here
help: place 'a' and 'b' at different addresses
""",
    "stale",
)

expect_equal(
    fault("""
.tensor %0 y hbm 2x6xf32 output 0 @0
.tensor %1 t sbuf 2x6xf32 at 0,0 @1
.stream vector
  memset dst=t[0+2, 0: 1x6] value=1.0 @2 #0
.stream sync
  dma_copy dst=y[2 rows of 6, 0: 2x3] src=t[0+2, 0: 1x3] @3 #1
"""),
    """k.cpp:1: error[M-09]: output 'y' was not written as a whole: 6 elements between (0, 1) and (1, 5), 24 of 48 bytes
note: unwritten: hbm bytes 4-7, 12-15, ..., 44-47 of 'y'
k.cpp:4: note: 'y' was last written by instruction 0 of the sync stream, dma_copy
help: store every element of 'y' before the kernel returns
""",
    "an output",
)

SUMS = """
.tensor %0 y hbm 4x6xf32 output 0 @0
.tensor %1 s sbuf 1x6xf32 at 0,0 @1
.tensor %2 acc psum 4x6xf32 at 0,0 @1
.tensor %3 t sbuf 4x6xf32 at 0,64 @1
.stream tensor
  nc_matmul dst=acc[0+4, 0: 1x2] stationary=s[0+1, 0: 1x4] moving=s[0+1, 0: 1x2] accumulate=overwrite @2 #1
  nc_matmul dst=acc[0+4, 0: 1x6] stationary=s[0+1, 0: 1x4] moving=s[0+1, 0: 1x6] accumulate=add @4 #2
.stream vector
  memset dst=s[0+1, 0: 1x6] value=1.0 @2 #0
  tensor_copy dst=t[0+4, 0: 1x6] src=acc[0+4, 0: 1x6] @5 #3
.stream sync
  dma_copy dst=y[4 rows of 6, 0: 1x6] src=t[0+4, 0: 1x6] @5 #4
"""
expect_equal(
    fault(SUMS),
    """k.cpp:5: error[M-10]: nc_matmul adds to 'acc' where it holds no matmul result: elements (0-3, 2-5), 64 of 96 bytes
note: instruction 1 of the tensor stream, nc_matmul: operand 'dst' writes psum partitions 0-3, bytes 0-23 ('acc')
note: without a sum: psum partitions 0-3, bytes 8-23
k.cpp:3: note: 'acc' was last written by instruction 0 of the tensor stream, nc_matmul
k.cpp:2: note: 'acc' was declared here
help: let the first matmul overwrite: leave accumulate out, or set it to false
""",
    "a sum",
)

LOOP = """
.tensor %0 y hbm 4x8xf32 output 0 @0
.tensor %1 t sbuf 4x2xf32 at 0,0 in loop 0 @1
.tensor %2 u sbuf 4x8xf32 at 0,64 @1
.stream vector
  memset dst=u[0+4, 0: 1x8] value=0.0 @1 #0
  loop_begin trip_count=2 @2 #2
  memset dst=t[0+4, 0: 1x1 loop 1] value=1.0 @3 #4
  tensor_copy dst=u[0+4, 0: 1x1] src=t[0+4, 0: 1x1] @4 #5
  loop_end @2 #6
.stream sync
  loop_begin trip_count=2 @2 #3
  loop_end @2 #7
  dma_copy dst=y[4 rows of 8, 0: 1x8] src=u[0+4, 0: 1x8] @5 #8
"""
expect_equal(
    fault(LOOP),
    """k.cpp:5: error[M-09]: tensor_copy reads 't' where this iteration has not written it: elements (0-3, 0), all 16 bytes
note: instruction 3 of the vector stream, tensor_copy: operand 'src' reads sbuf partitions 0-3, bytes 0-3 ('t')
k.cpp:4: note: 't' was last written by instruction 2 of the vector stream, memset
k.cpp:4: note: 't' is new in each iteration of its loop; in an earlier one it was last written by instruction 2 of the \
vector stream, memset
k.cpp:2: note: 't' was declared here
k.cpp:3: note: in iteration 1 of a loop of 2, counted from 0
help: declare 't' before the loop to keep its elements, or write it first in each iteration
""",
    "a tensor of a loop",
)

# ---- programs that are refused --------------------------------------------------------------------------------

for change, message in (
    (("dst=t[0+64, 0: 4x5]", "dst=t[0+64, 4: 4x5]"),
     """k.cpp:3: error[V-11]: dst 't' reaches element 20, a partition of the tile holds 20 float32 (0 to 19)
note: record 0 of the vector stream, 'memset'
note: 'dst' asks for sbuf partitions 64-127, bytes 272 to 339; 't' is partitions 64-127, bytes 256 to 335
k.cpp:2: note: 't' was declared here
help: clip the access to the extent of the tensor
"""),
    (("dst=y[64 rows of 20, 0", "dst=y[64 rows of 20, 7"),
     """k.cpp:5: error[V-11]: dst 'y' reaches element 1286, the tensor holds 1280 float32 (0 to 1279)
note: record 0 of the sync stream, 'dma_copy'
note: 'dst' asks for hbm bytes 28 to 5147; 'y' is bytes 0 to 5119
k.cpp:1: note: 'y' was declared here
help: clip the access to the extent of the tensor
"""),
    (("src=t[0+64,", "src=t[1+64,"),
     """k.cpp:5: error[V-01]: src 't' reaches partition 64, the tile has 64 (0 to 63)
note: record 0 of the sync stream, 'dma_copy'
note: 'src' asks for sbuf partitions 65-128, bytes 256 to 335; 't' is partitions 64-127, bytes 256 to 335
k.cpp:2: note: 't' was declared here
help: clip the slice to the extent of dim 0
"""),
    (("at 64,256", "at 0,212960"),
     """k.cpp:2: error[M-03]: [212960, 213040) of tile 't' exceeds the 212984 usable bytes
note: tensor 1 of the program
help: place it at 212904 or lower
"""),
):
    expect_equal(refused(PARTLY.replace(*change)), message, f"{change[1]}")

# ---- kernels --------------------------------------------------------------------------------------------------

x = "rand:128x40:float32"
expect_equal(
    kiln("run", f"{KERNELS}:after_scope", x, code=1)[1],
    """memory_faults.cpp:20: error[M-04]: 't1' (bytes 0 to 27 of sbuf) overwrites 't0' (bytes 0 to 159), which is used \
again at line 22
memory_faults.cpp:17: note: 't0' is live from line 18 to line 22
memory_faults.cpp:20: note: 't1' is live from line 21 to line 21
help: give 't1' an address outside bytes 0 to 159, or none: the compiler then finds one
""",
    "a tile after its scope",
)
expect_equal(
    kiln("run", f"{KERNELS}:after_rotation", x, code=1)[1],
    """memory_faults.cpp:34: error[M-05]: 't2' (bytes 0 to 159 of sbuf) is written at line 35 before the last use of \
't0' (bytes 0 to 159) at line 38; the declaration rotates over 2 addresses, and 3 of its tiles are live at once
help: rotate over 3 tiles that share no byte, or leave the address out: the compiler then rotates as deep as memory allows
""",
    "a tile after its section",
)
expect_equal(
    kiln("run", f"{KERNELS}:of_the_last_iteration", x, code=3)[1],
    """memory_faults.cpp:49: error[M-08]: tensor_copy reads the 128x8 float32 tile of line 48, which nothing has written
  called from memory_faults.cpp:47
memory_faults.cpp:48: note: the tile is this 128x8 float32 tile in sbuf
help: write it first: dma_copy, memset or a matmul
""",
    "a tile of the iteration before",
)
expect_equal(
    kiln("run", f"{KERNELS}:partly_loaded", "rand:100x48:float32", 13, code=3)[1],
    """memory_faults.cpp:62: error[M-09]: tensor_reduce reads 't' where it was not written: elements (0-99, 13-15), \
1200 of 6400 bytes
  called from memory_faults.cpp:75
note: instruction 0 of the vector stream, tensor_reduce: operand 'data' reads sbuf partitions 0-99, bytes 0-63 ('t')
note: unwritten: sbuf partitions 0-99, bytes 52-63
memory_faults.cpp:74: note: 't' was last written by instruction 0 of the sync stream, dma_copy
memory_faults.cpp:73: note: 't' was declared here
help: read only what was written, or clear 't' with memset first
""",
    "the columns that were not loaded",
)
kiln("run", f"{KERNELS}:partly_loaded", "rand:100x48:float32", 16)
