//===- RunTimeIndexTest.cpp - views that registers and tensors place --------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_, nl::Reg;

/// A mnemonic a line, with the register each operand lies by.
std::string stepsOf(const TraceResult &result) {
  EXPECT_EQ(errorsOf(result), "");
  std::ostringstream out;
  for (const trace::Instruction &instruction : result.trace.instructions) {
    const isa::InstDesc &desc = instruction.inst.desc();
    out << desc.mnemonic;
    for (unsigned i = 0; i < desc.operands.size(); ++i)
      if (const isa::Access &a = instruction.inst.operands[i]; a.present() && a.isIndexed())
        out << " " << desc.operands[i].name << " by r" << a.indexRegister << " * " << a.indexStep
            << " below " << a.indexExtent;
    out << "\n";
  }
  return out.str();
}

TEST(RunTimeIndex, ATensorIsReadByEveryUseOfTheView) {
  const auto kernel = [](nl::InOut y) {
    Tensor at = nl::ndarray({1, 1}, nl::int32), t = nl::ndarray({4, 8}, nl::float32);
    nisa::memset(at, 3);
    nisa::memset(t, 0);
    Tensor line = nl::load(y(nl::ds(0, 1)));
    Tensor row = y.select(0, at).reshape({1, 512});
    nl::fori_loop(0, 2, [&](Reg) {
      nisa::tensor_copy(t.select(1, at), t.select(1, at));
      nisa::memset(at, 1);
    });
    nisa::dma_copy(row, line);
  };
  EXPECT_EQ(stepsOf(traceBody(kernel)),
            "dma_copy\nmemset\nmemset\ndma_copy\nregister_load\nregister_load\n"
            "tensor_copy dst by r1 * 1 below 8 src by r2 * 1 below 8\nmemset\nregister_load\n"
            "dma_copy dst by r3 * 512 below 128\n");
}

TEST(RunTimeIndex, ARegisterIsASubscript) {
  const auto kernel = [](nl::InOut y) {
    Reg r = nisa::register_alloc(2);
    Tensor t = nl::ndarray({4, 8, 3}, nl::float32), u = nl::ndarray({4, 3}, nl::float32);
    nisa::memset(t, 0);
    EXPECT_EQ(t(_, r, _).shape(), nl::Shape({4, 3}));
    EXPECT_EQ(t(_, r).shape(), nl::Shape({4, 3}));
    EXPECT_EQ((t(nl::dots, r).shape()), nl::Shape({4, 8}));
    EXPECT_EQ((t[{_, 1, r}].shape()), nl::Shape({4, 1})); // two dims stay on chip
    EXPECT_EQ(y(r).shape(), nl::Shape({512}));
    EXPECT_EQ(y(r, 5).shape(), nl::Shape({1})); // and one in HBM
    nisa::tensor_copy(u, t(_, r, _));
    nisa::tensor_copy(u(_, nl::ds(0, 1)), t[{_, 1, r}]);
  };
  EXPECT_EQ(stepsOf(traceBody(kernel)), "dma_copy\nregister_move\nmemset\n"
                                        "tensor_copy src by r0 * 3 below 8\n"
                                        "tensor_copy src by r0 * 1 below 3\n");
}

TEST(RunTimeIndex, MistakesNameTheDimAndTheWayOut) {
  const auto kernel = [](nl::InOut y) {
    Reg r = nisa::register_alloc(2);
    Tensor t = nl::ndarray({4, 8}, nl::float32, nl::sbuf, {.name = "t"});
    Tensor i = nl::ndarray({1, 1}, nl::float32), two = nl::ndarray({1, 2}, nl::int32),
           one = nl::ndarray({1, 1}, nl::int32), none;
    t.select(1, i);
    t.select(1, two);
    y.select(0, none);
    t(r, _);
    t.select(0, one);
    t(_, r).select(1, r);
    y.select(0, two.select(1, r));
    y.ap({{1, 4}}, {.scalar_offset = two});
  };
  EXPECT_EQ(
      errorsOf(traceBody(kernel)),
      "[D-14] the index of dim 1 of 't' must be one whole number, got float32 (1, 1) (copy it to "
      "an int32 tile with nisa::tensor_copy first)\n"
      "[D-14] the index of dim 1 of 't' must be one whole number, got int32 (1, 2) (take a view of "
      "one element of it)\n"
      "[K-08] the index of dim 0 of 'y' is an empty handle: it names no tensor (assign it the "
      "result of nl::ndarray first)\n"
      "[B-14] an index known at run time cannot choose a partition of 't' (index a free dim, or "
      "keep the data in HBM)\n"
      "[B-14] an index known at run time cannot choose a partition of 't' (index a free dim, or "
      "keep the data in HBM)\n"
      "[V-12] 't' already lies where a register says (a view has one index known at run time; add "
      "the registers up, or copy first)\n"
      "[V-12] the index of dim 0 of 'y' lies where an index says (load it with "
      "nisa::register_alloc, and index by that register)\n"
      "[D-14] the index of dim 0 of 'y' must be one whole number, got int32 (1, 2) (take a view of "
      "one element of it)");
}

TEST(RunTimeIndex, ATensorOfALoopIsGoneBehindIt) {
  const auto kernel = [](nl::InOut y) {
    Tensor row;
    nl::fori_loop(0, 2, [&](Reg) {
      Tensor at = nl::ndarray({1, 1}, nl::int32, nl::sbuf, {.name = "at"});
      nisa::memset(at, 0);
      row = y.select(0, at).reshape({1, 512});
    });
    nisa::dma_copy(row, y(nl::ds(3, 1)));
  };
  constexpr int loop = __LINE__ - 7;
  EXPECT_EQ(errorsOf(traceBody(kernel)),
            "[C-05] 'at' (line " + std::to_string(loop + 1) +
                ") exists only inside the nl::fori_loop of line " + std::to_string(loop) +
                " (declare it before the loop)");
}

} // namespace
} // namespace kiln::test
