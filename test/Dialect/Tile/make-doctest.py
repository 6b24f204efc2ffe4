"""Turns the examples of the tile dialect's documentation into IR that stands on its own.

Usage: make-doctest.py FILE...     ```mlir blocks of op descriptions and pages

A block without a kernel gets one, and a declaration for each value and buffer it uses and does not make,
with the type the block gives it.
"""

import re
import sys

OP = re.compile(r"(?:(%\w+) = )?tile\.\w+ (.*) : (.*)")
TYPE = re.compile(r"tensor<[^>]*>|!nisa\.buf<[^>]*>")


def kernel(number, block):
    known, declarations = set(), []
    for result, middle, types in OP.findall(re.sub(r"\n\s*:", " :", block)):
        operands = re.findall(r"%\w+", middle)
        for name, type in zip(operands, TYPE.findall(types.split("->")[0])):
            if name in known:
                continue
            known.add(name)
            declarations.append(f'  {name} = nisa.alloc "{name[1:]}" : {type}' if type.startswith("!nisa")
                                else f"  {name} = tile.splat 0 : {type}")
        known.add(result)
    return "\n".join([f"nisa.kernel @doc{number} {{", *declarations, block, "}", ""])


number = 0
for path in sys.argv[1:]:
    with open(path) as file:
        blocks = re.findall(r"```mlir\n(.*?)```", file.read(), re.DOTALL)
    if not blocks:
        sys.exit(f"{path} has no mlir block")
    for block in blocks:
        number += 1
        print(block if "nisa.kernel" in block else kernel(number, block))
