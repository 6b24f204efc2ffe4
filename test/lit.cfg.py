# How lit finds and runs the textual tests. Every build directory has its own site file, which loads
# this one; `lit <build>/test` and `ctest -R lit` run them all, `lit <build>/test/Dialect` a folder.
import os

import lit.formats
from lit.llvm import llvm_config

config.name = "Kiln"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".td", ".test"]
# gtest, fuzzers and benchmarks are ctest's; inputs belong to the tests beside them.
config.excludes = ["unit", "fuzz", "benchmark", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kiln_build_root, "test")

llvm_config.use_default_substitutions()  # FileCheck, not, count, %python
config.substitutions += [
    ("%kiln_table", os.path.join(config.kiln_source_root, "dialects", "table")),
    ("%kiln_src", config.kiln_source_root),
    ("%kiln_build", config.kiln_build_root),
    # %expect_exit CODE COMMAND...: succeeds when the command ends with just that exit code.
    ("%expect_exit", "%s %s" % (config.python_executable, os.path.join(os.path.dirname(__file__), "expect-exit.py"))),
]

tools = ["kiln-opt", "kiln-tblgen", "llvm-tblgen"]
llvm_config.add_tool_substitutions(tools, [config.kiln_tools_dir, config.llvm_tools_dir])
llvm_config.with_environment("PATH", config.kiln_tools_dir, append_path=True)  # kiln itself
# Nothing a test does may depend on the machine's habits.
llvm_config.with_environment("LC_ALL", "C")
# Kernel files are built once for all tests, away from the user's own cache.
config.environment["KILN_CACHE_DIR"] = os.path.join(config.test_exec_root, "kernel-cache")
