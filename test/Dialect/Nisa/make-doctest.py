"""Turns the examples of the documentation into IR that stands on its own.

Usage: make-doctest.py table TABLE.json     the table's examples, from llvm-tblgen --dump-json
       make-doctest.py fences FILE...       ```mlir blocks of op descriptions and pages

An example names buffers it does not declare. Each gets a declaration: with the type the example gives,
or, for the table's one-line examples, the smallest buffer of the operand's first memory and dtype that
the access fits in.
"""

import json
import re
import sys

ACCESS = re.compile(r"(\w+)=%(\w+)\[([^\]]*)\]")


def extent(access):
    """(rows, elements of a row) the text of an access reaches, or (None, elements) in HBM."""
    rows, step = None, 0
    if found := re.match(r"(\d+)\+(\d+), (.*)", access):
        rows, access = int(found[1]) + int(found[2]), found[3]
    elif found := re.match(r"(\d+) rows of (\d+), (.*)", access):
        step, access = (int(found[1]) - 1) * int(found[2]), found[3]
    offset, _, dims = access.partition(":")
    last = int(offset) + step + sum(int(s) * (int(n) - 1) for s, n in re.findall(r"(\d+)x(\d+)", dims))
    return rows, last + 1


def smallest_type(inst, operand, access, records):
    """The buffer type of one operand of a table example."""
    memories = [records[m["def"]]["name"] for m in operand["memories"]]
    dtype = records[operand["dtypes"][0]["def"]]["mlirName"]
    rows, elements = extent(access)
    if rows is None:
        return f"!nisa.buf<hbm, {elements}x{dtype}>"
    # The Tensor Engine writes PSUM, also where another engine of the row could write SBUF.
    first_engine = records[inst["engines"][0]["def"]]["name"]
    memory = "psum" if first_engine == "tensor" and operand["isOutput"] else memories[0]
    return f"!nisa.buf<{memory}, {rows}x{elements}x{dtype}>"


def kernel(name, types, body):
    texts = ' texts ["x"]' if "text=" in body else ""
    lines = [f"nisa.kernel @{name}{texts} {{"]
    lines += [f'  %{b} = nisa.alloc "{b}" : {t}' for b, t in types.items()]
    return "\n".join(lines + [body, "}", ""])


def table(path):
    with open(path) as file:
        records = json.load(file)
    insts = {name: records[name] for name in records["!instanceof"]["Inst"]}
    for name, inst in sorted(insts.items(), key=lambda item: item[1]["opcode"]):
        if inst["isInternal"]:
            continue
        operands = {records[o["def"]]["name"]: records[o["def"]] for o in inst["operands"]}
        types = {}
        for role, buffer, access in ACCESS.findall(inst["example"]):
            types[buffer] = smallest_type(inst, operands[role], access, records)
        order = [buffer for _, buffer, _ in ACCESS.findall(inst["example"])]
        colon = " : " if order else ""  # instructions on registers have no buffers
        print(kernel(name, types, f"  {inst['example']}{colon}" + ", ".join(types[b] for b in order)))


def instructions(text):
    """The instructions of a block, each on one line."""
    return re.findall(r"nisa\.\w+ (?:\w+=%[^:]*?)?\w+=%[\s\S]*?(?: : |\n\s*: )(?:!nisa[^>]*>(?:,\s*)?)+", text)


def fences(paths):
    number = 0
    for path in paths:
        with open(path) as file:
            blocks = re.findall(r"```mlir\n(.*?)```", file.read(), re.DOTALL)
        if not blocks:
            sys.exit(f"{path} has no mlir block")
        for block in blocks:
            number += 1
            if "nisa.kernel" in block:
                print(re.sub(r"nisa\.kernel @", f"nisa.kernel @doc{number}_", block))
                continue
            types = {}
            for inst in instructions(block):
                order = [buffer for _, buffer, _ in ACCESS.findall(inst)]
                types.update(zip(order, re.findall(r"!nisa\.buf<[^>]*>", inst)))
            print(kernel(f"doc{number}", types, block))


if __name__ == "__main__":
    table(sys.argv[2]) if sys.argv[1] == "table" else fences(sys.argv[2:])
