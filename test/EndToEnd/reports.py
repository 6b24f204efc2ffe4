"""What --memory-report and --sync-report say, as text and as JSON, and what --placement changes."""

import json
import re

from kiln_test import Kiln, expect, expect_equal

kiln = Kiln()
matmul = kiln.example("03_matmul.cpp:matmul_blocked")
inputs = ["rand:300x200:bfloat16:1", "rand:300x700:bfloat16:2"]


def report(flag, *options):
    return json.loads(kiln("compile", matmul, *inputs, f"--{flag}=json", *options)[0])


# Memory: both placements hold the same tiles; compact takes no more bytes and rotates less.
rotation, compact = report("memory-report"), report("memory-report", "--placement", "compact")
for name, memory in (("sbuf", 0), ("psum", 1)):
    r, c = rotation["memories"][memory], compact["memories"][memory]
    expect_equal((r["memory"], c["memory"]), (name, name), "memories")
    expect_equal(r["live_bytes"], c["live_bytes"], "the bound does not depend on the placement")
    for load in r["partitions"]:
        for p in (load["first"], load["last"]):
            held = sum(t["bytes"] for t in r["tiles"] if t["partition"] <= p < t["partition"] + t["partitions"])
            expect_equal(held, load["live_bytes"], f"tiles of partition {p} add up to its load")
    expect_equal(sum(p["last"] - p["first"] + 1 for p in r["partitions"]), 128, "all partitions are used")
    expect(c["live_bytes"] <= c["used_bytes"] <= r["used_bytes"] <= r["limit_bytes"], "order of sizes")
expect(any(x["addresses"] > 1 for x in rotation["memories"][0]["rotations"]), "rotation rotates")
depth = lambda maps: sum(x["addresses"] for m in maps["memories"] for x in m["rotations"])
expect(depth(compact) < depth(rotation), "compact rotates less")

text = kiln("compile", matmul, *inputs, "--memory-report")[0]
sbuf = rotation["memories"][0]
expect(f"sbuf: placed in {sbuf['used_bytes']} of {sbuf['limit_bytes']}; live at once {sbuf['live_bytes']}" in text, text)
expect(re.search(r"line \d+, called at line \d+: \d+ tiles rotate over \d+ addresses", text), text)

# Into a file, beside a program; JSON by its name.
kiln("compile", matmul, *inputs, "-o", "p.kiln", "--memory-report=m.json", "--sync-report=s.txt")
expect_equal(json.loads((kiln.scratch / "m.json").read_text()), rotation, "the file holds the same")
expect((kiln.scratch / "p.kiln").exists(), "the program is written too")
expect((kiln.scratch / "s.txt").read_text().startswith("synchronisation of 'matmul_blocked': "), "text by default")

# A kernel that does not fit has a report all the same.
(kiln.scratch / "over.cpp").write_text(
    """#include "nl/nl.h"
nl::Tensor over(nl::Tensor x) {
  nl::Tensor y = nl::ndarray(x.shape(), x.dtype(), nl::shared_hbm);
  nl::Tensor a = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "a"});
  nl::Tensor b = nl::ndarray(x.shape(), x.dtype(), nl::sbuf, {.name = "b"});
  nisa::dma_copy(a, x);
  nisa::tensor_copy(b, a);
  nisa::dma_copy(y, b);
  return y;
}
NL_KERNEL(over, "x")
"""
)
out, err = kiln("compile", "over.cpp:over", "rand:128x26624:float32", "--memory-report=json", code=1)
sbuf = json.loads(out)["memories"][0]
expect_equal((sbuf["used_bytes"], sbuf["live_bytes"]), (None, 2 * 26624 * 4), "not placed")
expect_equal([t["name"] for t in sbuf["tiles"]], ["a", "b"], "live tiles")
expect("error[M-01]: the operands of one tensor_copy take 212992 of 212984 SBUF bytes" in err, err)
kiln("compile", "over.cpp:over", "rand:128x26623:float32", "--memory-report=json")

# Synchronisation: what was decided adds up, and text and JSON agree.
sync = report("sync-report")
means = [need["means"] for need in sync["needs"]]
expect_equal(means.count("wait"), sync["waits"], "every wait has its need")
expect(means.count("known") > 0 and means.count("program-order") > 0, "some needs cost nothing")
for need in sync["needs"]:
    expect(need["source"] < need["instruction"], "needs point back")
    if need["means"] == "known":
        expect(need["source"] <= need["through"] < need["learned_at"] <= need["instruction"], "lessons precede")
expect(0 < sync["longest_chain_unlimited_memory"] <= sync["longest_chain"] < sync["instructions"], "chains")
text = kiln("compile", matmul, *inputs, "--sync-report")[0]
expect_equal(len(text.splitlines()) - 5, len(sync["needs"]), "a line for each need")

# Remarks: what is computed together, what goes through HBM and why; sums agree with the parts.
whole = kiln.example("10_whole_tensor.cpp:mlp_swiglu")
values = ["rand:300x512:bf16:1", "rand:512x1000:bf16:2", "rand:512x1000:bf16:3", "rand:1000x512:bf16:4"]
remarks = json.loads(kiln("compile", whole, *values, "--remarks=json", "-o", "mlp.kiln")[0])
for group in remarks["groups"]:
    for direction, total in (("read", "hbm_read_bytes"), ("write", "hbm_written_bytes")):
        moved = [t for t in group["transfers"] if t["direction"] == direction]
        expect_equal(sum(t["bytes"] for t in moved), group[total], f"transfers of a group add up ({direction})")
        expect(all(t["bytes"] >= t["compulsory_bytes"] > 0 for t in moved), "nothing moves less than it has")
for key in ("hbm_read_bytes", "hbm_written_bytes"):
    expect_equal(sum(g[key] for g in remarks["groups"]), remarks[key], f"groups add up ({key})")
expect(max(g["sbuf_bytes"] for g in remarks["groups"]) == remarks["sbuf_bytes"] <= remarks["sbuf_limit_bytes"], "SBUF")
crossings = [c for g in remarks["groups"] for c in g["through_hbm"]]
expect_equal([(c["bytes"], c["why"]) for c in crossings],
             [(300 * 1000 * 2, "a matmul reads its operands with the contraction dim on partitions, in tiles of their own")],
             "the hidden layer is written out")
kiln("compile", whole, *values, "--json=c.json", "-o", "mlp.kiln")
expect_equal(json.loads((kiln.scratch / "c.json").read_text())["instructions"],
             sum(g["instructions"] for g in remarks["groups"]), "instructions of a kernel of values only")
text = kiln("run", whole, *values, "-o", "y.npy", "--remarks=r.txt")[0]
text = (kiln.scratch / "r.txt").read_text()
expect(text.startswith("whole tensors of 'mlp_swiglu': "), text)
expect_equal(len(re.findall(r"^group \d+, \d+ instructions, ", text, re.M)), len(remarks["groups"]), "a paragraph a group")
text = kiln("compile", kiln.example("10_whole_tensor.cpp:softmax"), "rand:300x200:float32", "--remarks")[0]
expect_equal(text, """whole tensors of 'softmax': 1 group; HBM: 240000 bytes read, 240000 written; reading inputs and writing results once is 480000; SBUF: 2880 of 212984 bytes of a partition
group 0, 18 instructions, rows: maximum over dim 1, subtract, exp, sum over dim 1, reciprocal, multiply, line 24
  layout: dim 0 of (300, 200) on partitions, 128 at a time
  tiles: (128, 200), loops outermost first: dim 0 3 times
  instructions of a tile: load of 'x', tensor_reduce maximum, activation exp plus a column with row sum, reciprocal, tensor_scalar multiply, store to 'out0'
  SBUF: 2880 of 212984 bytes of a partition; 3 tiles of 960 bytes in flight
  reads 'x' (300, 200): 240000 bytes, once, line 24
  writes 'out0' (300, 200): 240000 bytes, once, line 24
  HBM: 240000 bytes read, 240000 written, 480000 compulsory
""", "softmax in words")
(kiln.scratch / "rows.cpp").write_text(
    """#include "nl/nl.h"
nl::Tensor rows(nl::Tensor x) {
  nl::Tensor y = nl::softmax(x, 1);
  return nl::softmax(y, 0);
}
NL_KERNEL(rows, "x")
"""
)
text = kiln("compile", "rows.cpp:rows", "rand:300x200:float32", "--remarks")[0]
expect("through HBM: 'carried0', the result of multiply, because no dim of (300, 200) is left for the partitions" in text, text)
(kiln.scratch / "moved.cpp").write_text(
    """#include "nl/nl.h"
nl::Tensor moved(nl::Tensor x) { return nl::exp(nl::concatenate({nl::exp(x), x}, 1)); }
NL_KERNEL(moved, "x")
"""
)
text = kiln("compile", "moved.cpp:moved", "rand:300x200:float32", "--remarks")[0]
expect("through HBM: 'scratch0', the result of exp, because parts of it are computed apart and put together there" in text, text)
expect_equal(kiln("compile", matmul, *inputs, "--remarks")[0], "whole tensors of 'matmul_blocked': none\n", "no values")
