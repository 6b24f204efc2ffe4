"""Does what dialects/docs/AddingAnInstruction.md says, in a copy of the tree.

Every code block of the page has a comment above it that says what it is:

  file: PATH, append              goes to the end of PATH
  file: PATH, before "TEXT"       goes above the first line that begins with TEXT
  manual                          lines of the generated reference page
  commands                        what to type; not run here

The test fails unless the file blocks touch exactly four files, the copy builds, its tests pass, and the
record alone gives the op and the page. Arguments that begin with -D go to CMake as they are.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PAGE = "dialects/docs/AddingAnInstruction.md"
# What the copy needs. Folders are copied whole.
COPIED = [
    "compiler/cmake",
    "compiler/include/kiln/Driver",
    "compiler/include/kiln/Trace",
    "compiler/include/nl",
    "compiler/lib/DSL",
    "dialects/include",
    "dialects/lib/ISA",
    "dialects/lib/TileGraph",
    "dialects/table",
    "runtime",
    "test/unit/DSL/KernelFixture.h",
    "test/unit/DSL/TableAgreementTest.cpp",
    "test/unit/Instructions",
]
# Stands in for folders whose work the build that runs the test has done.
STUBS = {
    "dialects/table/tblgen": "# kiln-tblgen is imported by the root.\n",
    "runtime/lib/Numerics": "# KilnrtNumerics is imported by the root.\n",
}


def blocks(page):
    """(tag, text) of each code block of the page."""
    found = re.findall(r"(?:^<!-- (.*?) -->\n)?^```\w*\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if untagged := [text for tag, text in found if not tag]:
        sys.exit(f"{PAGE}: a code block does not say what it is:\n{untagged[0]}")
    return found


def apply(path, place, block, text):
    """`text` of file `path` with `block` at `place`."""
    if place == "append":
        return text + block
    anchor = re.fullmatch(r'before "(.*)"', place)[1]
    at = text.find("\n" + anchor)
    if at < 0:
        sys.exit(f"{PAGE}: '{path}' has no line that begins with '{anchor}'")
    return text[: at + 1] + block + text[at + 1 :]


def source_files(source):
    for name in COPIED:
        path = source / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            relative = file.relative_to(source)
            if file.is_file() and not any(relative.is_relative_to(stub) for stub in STUBS):
                yield relative


def write(path, text):
    """Leaves a file with the right content alone: what did not change is not built again."""
    data = text.encode()
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_tree(source, tree, edits):
    wanted = {tree / "CMakeLists.txt"}
    for relative in source_files(source):
        text = (source / relative).read_text()
        for place, block in edits.pop(str(relative), []):
            text = apply(relative, place, block, text)
        write(tree / relative, text)
        wanted.add(tree / relative)
    if edits:
        sys.exit(f"{PAGE}: no file {', '.join(edits)}")
    for folder, text in STUBS.items():
        write(tree / folder / "CMakeLists.txt", text)
        wanted.add(tree / folder / "CMakeLists.txt")
    write(tree / "CMakeLists.txt", (pathlib.Path(__file__).parent / "PlainTree.cmake").read_text())
    for file in tree.rglob("*"):
        if file.is_file() and file not in wanted:
            file.unlink()


def run(*command):
    """Output of a command; ends the test if it fails."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def require(condition, message):
    if not condition:
        sys.exit(message)


def main():
    parser = argparse.ArgumentParser()
    for option in ["source", "work", "generated"]:
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    for option in ["cmake", "kiln-tblgen", "mlir-tblgen", "mlir-include"]:
        parser.add_argument("--" + option, required=True)
    args, definitions = parser.parse_known_args()

    edits, manual = {}, []
    for tag, text in blocks((args.source / PAGE).read_text()):
        if tag.startswith("file: "):
            path, place = tag.removeprefix("file: ").split(", ", 1)
            edits.setdefault(path, []).append((place, text))
        elif tag == "manual":
            manual += [line for line in text.splitlines() if line]
        else:
            require(tag == "commands", f"{PAGE}: unknown tag '{tag}'")
    touched = sorted(edits)
    require(len(touched) == 4, f"{PAGE} touches {len(touched)} files, not 4: {', '.join(touched)}")
    record = "".join(text for path in edits for _, text in edits[path] if path.endswith(".td"))
    mnemonic = re.search(r'Inst<\w+, "(\w+)"', record)[1]
    cpp_name = re.search(r'cppName = "(\w+)"', record)[1]

    tree, build = args.work / "tree", args.work / "build"
    copy_tree(args.source, tree, edits)
    run(args.cmake, "-G", "Ninja", "-S", tree, "-B", build, *definitions)
    run(args.cmake, "--build", build, "--target", "InstructionTests", "AgreementTest")

    # Numerics was built without the row: nothing it includes may differ.
    for name in ["Enums.h.inc", "Machine.h.inc"]:
        ours = build / "dialects/table/include/kiln/ISA" / name
        require(ours.read_bytes() == (args.generated / "kiln/ISA" / name).read_bytes(),
                f"a new row changes {name}")

    tests = run(build / "test/unit/InstructionTests", "--gtest_list_tests")
    require(f"{cpp_name}.\n" in tests, f"the page has no test suite {cpp_name}")
    run(build / "test/unit/InstructionTests")
    run(build / "bin/AgreementTest")

    folders = [tree / "dialects/table", tree / "dialects/include", *args.mlir_include.split(";")]
    ops = run(args.mlir_tblgen, "-gen-op-decls", *(f"-I{folder}" for folder in folders),
              tree / "dialects/include/kiln/Dialect/Nisa/IR/NisaOps.td")
    require(f"class {cpp_name}Op " in ops, f"mlir-tblgen makes no {cpp_name}Op")
    require(f'"nisa.{mnemonic}"' in ops, f"mlir-tblgen makes no op nisa.{mnemonic}")

    page = run(args.kiln_tblgen, "-gen-manual", "-I", tree / "dialects/table",
               tree / "dialects/table/Instructions.td")
    for line in manual:
        require(line in page, f"the reference page does not say: {line}")


if __name__ == "__main__":
    main()
