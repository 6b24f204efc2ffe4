"""Every example is proven for all schedules, and 100 random and all adversarial ones give the same bits."""

import json

import numpy as np

from example_cases import EXAMPLES, WHOLE_TENSORS, expect_complete
from kernel_cases import kernel_path
from kiln_test import Kiln, expect, expect_equal

SEEDS = 100
VERDICTS = {"races": "proven", "deadlock": "proven", "memory": "proven", "clocks": "none seen", "values": "clean",
            "schedules": "equal bits"}

kiln = Kiln()
expect_complete(kiln)
for kernel, shapes, numbers in EXAMPLES + WHOLE_TENSORS:
    tensors = [f"in{i}.npy" for i in range(len(shapes))]
    for seed, (file, shape) in enumerate(zip(tensors, shapes)):
        extents = [int(n) for n in shape.split("x")]
        values = np.random.default_rng(seed).standard_normal(extents, dtype=np.float32)
        np.save(kiln.scratch / file, values)
    kiln("check", kernel_path(kiln, kernel), *tensors, *numbers, "--random", SEEDS, "--clocks", "--json", "check.json")
    report = json.loads((kiln.scratch / "check.json").read_text())
    expect_equal({c["name"]: c["verdict"] for c in report["checks"]}, VERDICTS, f"{kernel}: verdicts")
    names = [s["name"] for s in report["schedules"]]
    expect_equal(sum(n.startswith("random:") for n in names), SEEDS, f"{kernel}: random schedules")
    adversarial = sum(n.startswith("adversarial:") for n in names)
    expect(adversarial > 16, f"{kernel}: only {adversarial} adversarial schedules")
    print(f"{kernel}: proven; the same bits in {len(names)} orders, {adversarial} of them adversarial", flush=True)
