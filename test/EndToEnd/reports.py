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
