//===- CoverageTest.cpp - every row has a test ------------------------------------------------===//
//
// A row is tested by a suite with its name in CamelCase: tensor_copy by TEST(TensorCopy, ...). The
// first rows have theirs in the programs of the parts they came with.
//
//===------------------------------------------------------------------------------------------===//

#include "kiln/ISA/Instruction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace kiln::test {
namespace {

/// Rows whose tests are those of the rules, the executor and the kernel language.
constexpr std::string_view kTestedByParts[] = {
    "nc_matmul",      "nc_transpose",  "activation",    "tensor_copy", "memset",
    "tensor_tensor",  "tensor_scalar", "tensor_reduce", "iota",        "dma_copy",
    "semaphore_wait", "loop_begin",    "loop_end"};

std::string suiteOf(std::string_view mnemonic) {
  std::string suite;
  bool isUpper = true;
  for (char c : mnemonic) {
    if (c != '_')
      suite += isUpper ? char(std::toupper(c)) : c;
    isUpper = c == '_';
  }
  return suite;
}

TEST(Coverage, EveryRowHasATest) {
  const testing::UnitTest &program = *testing::UnitTest::GetInstance();
  for (const isa::InstDesc &row : isa::instructions()) {
    bool isTested = std::ranges::find(kTestedByParts, row.mnemonic) != std::end(kTestedByParts);
    for (int i = 0; i < program.total_test_suite_count(); ++i)
      isTested |= program.GetTestSuite(i)->name() == suiteOf(row.mnemonic);
    EXPECT_TRUE(isTested) << "write TEST(" << suiteOf(row.mnemonic)
                          << ", ...) in the file of its family, test/unit/Instructions";
  }
}

} // namespace
} // namespace kiln::test
