//===- LoopTest.cpp - nl::affine_for ----------------------------------------------------------===//

#include "KernelFixture.h"

#include <gtest/gtest.h>

namespace kiln::test {
namespace {

using nl::_, nl::affine_for, nl::Index;

/// The trace of `body` on 'x', a 512x64 float32 nl::InOut.
template <class Lambda>
TraceResult traceOfX(Lambda body) {
  return traceOf(body, {TensorArg{DType::Float32, {512, 64}}}, {"x"});
}

/// Its errors.
template <class Lambda>
std::string errors(Lambda body) {
  return errorsOf(traceOfX(body));
}

//---- what is recorded ---------------------------------------------------===//

TEST(AffineFor, RecordsTheBodyOnce) {
  TraceResult result = traceOfX([](InOut x) {
    affine_for(4, [&](Index i) {
      Tensor t = nl::ndarray({128, 64}, nl::float32);
      nisa::dma_copy(t, x(ds(i * 128, 128), _));
      nisa::dma_copy(x(ds(128 * i, 128), _), t);
    });
  });
  EXPECT_EQ(errorsOf(result), "");
  EXPECT_EQ(loopsOf(result), "[1, 3) x 4\n") << "behind the copy of an nl::InOut";
  EXPECT_NE(instructionsOf(result).find(
                "dma_copy dst=t0[0+128, 0: 1x64] src=x[128 rows of 64, 0: 1x64 loop 8192]\n"
                "dma_copy dst=x[128 rows of 64, 0: 1x64 loop 8192] src=t0[0+128, 0: 1x64]\n"),
            std::string::npos)
      << instructionsOf(result);
}

TEST(AffineFor, NestedLoopsAddUp) {
  TraceResult result = traceOfX([](InOut x) {
    Tensor t = nl::ndarray({32, 64}, nl::float32, nl::sbuf, {.name = "t"});
    affine_for(4, [&](Index i) {
      affine_for(3, [&](Index j) {
        nisa::memset(t(_, ds(j * 4 + i * 2 + 1, 8)), 0);
        nisa::memset(t(_, 40 - j), 0);
        nisa::dma_copy(x(ds(i * 64 - j * 32 + 64, 32)), t);
      });
      nisa::memset(t(_, nl::slice(i * 2, 2 * i + 6, 2)), 0);
    });
    nisa::memset(t, 1);
  });
  EXPECT_EQ(errorsOf(result), "");
  EXPECT_EQ(loopsOf(result), "[1, 5) x 4\n[1, 4) x 3 in 0\n");
  EXPECT_NE(instructionsOf(result).find(
                "memset dst=t[0+32, 1: 1x8 loop 2 4] value=0\n"
                "memset dst=t[0+32, 40: 1x1 loop 0 -1] value=0\n"
                "dma_copy dst=x[32 rows of 64, 4096: 1x64 loop 4096 -2048] src=t[0+32, 0: 1x64]\n"
                "memset dst=t[0+32, 0: 2x3 loop 2] value=0\n"
                "memset dst=t[0+32, 0: 1x64] value=1\n"),
            std::string::npos)
      << instructionsOf(result);
}

TEST(AffineFor, ViewsOfViewsMoveAlong) {
  TraceResult result = traceOfX([](InOut) {
    Tensor t = nl::ndarray({32, 4, 16}, nl::float32, nl::sbuf, {.name = "t"});
    affine_for(4, [&](Index i) {
      nisa::memset(t.select(1, i), 0);
      nisa::memset(t.permute({0, 2, 1})(_, ds(i, 2), _), 0);
      nisa::memset(t(_, i).view(nl::bfloat16), 0);
      nisa::memset(t.slice(1, i, i + 1).reshape({32, 2, 8})(_, 1), 0);
    });
  });
  EXPECT_EQ(errorsOf(result), "");
  EXPECT_NE(instructionsOf(result).find("memset dst=t[0+32, 0: 1x16 loop 16] value=0\n"
                                        "memset dst=t[0+32, 0: 1x2 16x4 loop 1] value=0\n"
                                        "memset dst=t[0+32, 0: 1x32 loop 32]:bfloat16 value=0\n"
                                        "memset dst=t[0+32, 8: 1x8 loop 16] value=0\n"),
            std::string::npos)
      << instructionsOf(result);
}

TEST(AffineFor, TensorsKnowTheirLoop) {
  TraceResult result = traceOfX([](InOut) {
    Tensor outside = nl::ndarray({32, 4}, nl::float32, nl::sbuf, {.name = "outside"});
    affine_for(2, [&](Index) {
      Tensor inside = nl::ndarray({32, 4}, nl::float32, nl::sbuf, {.name = "inside"});
      nisa::memset(inside, 0);
      affine_for(3, [&](Index) {
        Tensor innermost = nl::ndarray({32, 4}, nl::float32, nl::sbuf, {.name = "innermost"});
        nisa::tensor_copy(innermost, inside);
        nisa::tensor_copy(outside, innermost);
      });
    });
  });
  ASSERT_EQ(errorsOf(result), "");
  std::string scopes;
  for (const trace::Tensor &t : result.trace.tensors)
    if (t.memory == isa::Memory::Sbuf)
      scopes += t.name + (t.loop == trace::kNone ? "" : " in " + std::to_string(t.loop)) + "\n";
  EXPECT_EQ(scopes, "inside in 0\ninnermost in 1\noutside\n");
}

TEST(AffineFor, EmptyLoopsLeaveNothing) {
  TraceResult result = traceOfX([](InOut x) {
    affine_for(5, [&](Index i) { affine_for(5, [&](Index) { (void)x(i); }); });
    affine_for(0, [&](Index i) {
      Tensor t = nl::load(x(ds(i, 1), _));
      affine_for(3, [&](Index) { nisa::memset(t, 0); });
    });
    affine_for(1, [&](Index i) { nl::store(x(ds(i, 1)), nl::zeros({1, 64}, nl::float32)); });
  });
  EXPECT_EQ(errorsOf(result), "");
  EXPECT_EQ(loopsOf(result), "[1, 3) x 1\n");
  EXPECT_EQ(result.trace.instructions.size(), 3u);
}

/// The body of a loop that never runs is checked, and writes nothing.
TEST(AffineFor, ALoopOfNoIterationsIsChecked) {
  EXPECT_EQ(errors([](InOut x) { affine_for(0, [&](Index i) { (void)x(i + 512); }); }),
            "[V-01] index 512 is outside dim 0 of 'x' (extent 512) where the index is 0 (run the "
            "loop less often, or start it elsewhere)");
  TraceResult result = traceOf([] {
    Tensor y = nl::ndarray({32, 4}, nl::float32, nl::shared_hbm, {.name = "y"});
    affine_for(0, [&](Index) { nl::store(y, nl::zeros({32, 4}, nl::float32)); });
    return y;
  });
  EXPECT_EQ(errorsOf(result).substr(0, 44), "[C-12] 'y' is returned but never written (st");
}

//---- what is refused ----------------------------------------------------===//

TEST(AffineFor, BoundsHoldInTheFirstAndTheLastIteration) {
  EXPECT_EQ(errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(ds(i * 128, 128)); }); }),
            "");
  EXPECT_EQ(errors([](InOut x) { affine_for(5, [&](Index i) { (void)x(ds(i * 128, 128)); }); }),
            "[V-01] slice [512, 640) is outside dim 0 of 'x' (extent 512) where the index is 4 "
            "(run the loop less often, or start it elsewhere)");
  EXPECT_EQ(errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(ds(i * 128 + 1, 128)); }); }),
            "[P-14] slice [385, 513) exceeds dim 0 of 'x' (extent 512) where the index is 3 (run "
            "the loop less often, and treat what is left behind it)");
  EXPECT_EQ(errors([](InOut x) { affine_for(64, [&](Index i) { (void)x(0, 63 - i); }); }), "");
  EXPECT_EQ(errors([](InOut x) { affine_for(65, [&](Index i) { (void)x(0, 63 - i); }); }),
            "[V-01] index -1 is outside dim 1 of 'x' (extent 64) where the index is 64 (run the "
            "loop less often, or start it elsewhere)");
  EXPECT_EQ(errors([](InOut x) {
              affine_for(8, [&](Index i) {
                affine_for(10, [&](Index j) { (void)x(_, ds(8 * j - 8 * i, 8)); });
              });
            }),
            "[V-01] slice [-56, -48) is outside dim 1 of 'x' (extent 64) where the indices are 7, "
            "0 (run the loop less often, or start it elsewhere)");
  // Not from the end: an index is no negative number.
  EXPECT_EQ(errors([](InOut x) { affine_for(2, [&](Index i) { (void)x(i - 1); }); }),
            "[V-01] index -1 is outside dim 0 of 'x' (extent 512) where the index is 0 (run the "
            "loop less often, or start it elsewhere)");
}

TEST(AffineFor, SlicesKeepTheirSize) {
  const std::string fault = "[V-02] the slice of dim 1 of 'x' has another size in each iteration "
                            "(move both bounds alike, as nl::ds(start, size) does)";
  EXPECT_EQ(errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(_, nl::slice(i, 8)); }); }),
            fault);
  EXPECT_EQ(errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(_, nl::slice(i, _)); }); }),
            fault);
  EXPECT_EQ(
      errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(_, nl::slice(0, i + 1)); }); }),
      fault);
  EXPECT_EQ(errors([](InOut x) { affine_for(4, [&](Index i) { (void)x(_, nl::slice(i, i)); }); }),
            "[V-02] slice [0, 0) of dim 1 of 'x' is empty (slice takes start and end, ds start and "
            "size; skip the statement when nothing is left)");
}

TEST(AffineFor, PartitionsDoNotMove) {
  EXPECT_EQ(errors([](InOut) {
              Tensor t = nl::ndarray({128, 4}, nl::float32, nl::sbuf, {.name = "t"});
              affine_for(4, [&](Index i) { nisa::memset(t(ds(i * 32, 32), _), 0); });
            }),
            "[P-08] the first partition of 't' cannot move with a loop (let the loop move a free "
            "dim, or a dim in HBM; or write the iterations out with a C++ for)");
}

TEST(AffineFor, NothingOfTheBodyIsNamedBehindIt) {
  const std::string tile = errors([](InOut x) {
    Tensor kept;
    affine_for(4, [&](Index) {
      kept = nl::ndarray({128, 64}, nl::float32, nl::sbuf, {.name = "t"});
      nisa::memset(kept, 0);
    });
    affine_for(4, [&](Index) { nisa::dma_copy(x(ds(0, 128)), kept); });
  });
  EXPECT_EQ(tile, "[C-05] 't' (line " + std::to_string(__LINE__ - 5) +
                      ") exists only inside the nl::affine_for of line " +
                      std::to_string(__LINE__ - 8) + " (declare it before the loop)");
  EXPECT_EQ(errors([](InOut x) {
              Tensor view;
              affine_for(4, [&](Index i) { view = x(ds(i * 128, 128)); });
              nisa::dma_copy(view, x(ds(0, 128)));
            }),
            "[C-05] dst of nisa::dma_copy is a view of 'x' that moves with an nl::affine_for which "
            "has ended (take the view inside the body of the loop)");
  EXPECT_EQ(errors([](InOut x) {
              std::optional<Index> kept;
              affine_for(4, [&](Index i) { kept = i; });
              affine_for(4, [&](Index i) { (void)x(*kept + i); });
              (void)x(0, *kept);
            }),
            "[C-05] an index of dim 0 of 'x' belongs to an nl::affine_for that has ended (use it "
            "inside the body of its loop only)\n"
            "[C-05] an index of dim 1 of 'x' belongs to an nl::affine_for that has ended (use it "
            "inside the body of its loop only)");
  TraceResult result = traceOf([] {
    Tensor y;
    affine_for(2, [&](Index) {
      y = nl::ndarray({32, 4}, nl::float32, nl::shared_hbm, {.name = "y"});
      nl::store(y, nl::zeros({32, 4}, nl::float32));
    });
    return y;
  });
  EXPECT_EQ(errorsOf(result), "[C-05] result 0 is 'y', which exists only inside the nl::affine_for "
                              "of line " +
                                  std::to_string(__LINE__ - 8) + " (declare it before the loop)");
}

/// A tensor of a loop that left nothing behind is not one of the next loop.
TEST(AffineFor, ALoopThatIsDroppedKeepsItsTensors) {
  EXPECT_EQ(errors([](InOut) {
              Tensor kept;
              affine_for(0, [&](Index) {
                kept = nl::ndarray({32, 4}, nl::float32, nl::sbuf, {.name = "t"});
              });
              affine_for(2, [&](Index) { nisa::memset(kept, 0); });
            }).substr(0, 10),
            "[C-05] 't'");
}

TEST(AffineFor, CountsAreSmallAndNestsAreShallow) {
  EXPECT_EQ(errors([](InOut) { affine_for(-1, [](Index) {}); }),
            "[C-06] nl::affine_for runs 0 to 4294967295 times, not -1 (skip the loop when there is "
            "nothing to do)");
  EXPECT_EQ(errors([](InOut) { affine_for(int64_t{1} << 32, [](Index) {}); }),
            "[C-06] nl::affine_for runs 0 to 4294967295 times, not 4294967296 (put a loop inside a "
            "loop, or let one iteration do more)");
  EXPECT_EQ(errors([](InOut) {
              affine_for(2, [](Index) {
                affine_for(2, [](Index) {
                  affine_for(2, [](Index) { affine_for(UINT32_MAX, [](Index) {}); });
                });
              });
            }),
            "");
  EXPECT_EQ(errors([](InOut) {
              affine_for(2, [](Index) {
                affine_for(2, [](Index) {
                  affine_for(
                      2, [](Index) { affine_for(2, [](Index) { affine_for(2, [](Index) {}); }); });
                });
              });
            }),
            "[C-06] this nl::affine_for stands inside 4 others, at most 4 stand inside one another "
            "(write the iterations of one of them out with a C++ for)");
}

/// The rules of an instruction hold in every iteration, not only bounds.
TEST(AffineFor, RulesHoldInEveryIteration) {
  EXPECT_EQ(errors([](InOut) {
              Tensor a = nl::ndarray({32, 64}, nl::float32),
                     b = nl::ndarray({32, 256}, nl::float32);
              Tensor acc = nl::ndarray({64, 1024}, nl::float32, nl::psum, {.name = "acc"});
              affine_for(3, [&](Index i) { nisa::nc_matmul(acc(_, ds(i * 384, 256)), a, b); });
            }),
            "[S-03] dst 'acc' covers bytes 1536 to 2559 of each partition, which cross the PSUM "
            "bank boundary at 2048 (start at a multiple of 512 elements, or split the columns at "
            "element 512)");
}

TEST(AffineFor, AnExceptionEndsTheLoop) {
  TraceResult result = traceOfX([](InOut x) {
    affine_for(2, [&](Index) { nl::require(false, "no"); });
    (void)x;
  });
  EXPECT_FALSE(result.ok);
  EXPECT_NE(errorsOf(result).find("no"), std::string::npos);
}

//---- arithmetic ---------------------------------------------------------===//

TEST(Index, IsAffine) {
  nl::detail::Moves outer, inner;
  outer.step[0] = 1;
  outer.loop[0] = 7;
  inner.step[1] = 1;
  inner.loop[1] = 9;
  const Index i(outer), j(inner);
  const Index sum = 2 * (i + 3) - j * 4 + (5 - i);
  EXPECT_EQ(sum.constant(), 11);
  EXPECT_EQ(sum.moves().step[0], 1);
  EXPECT_EQ(sum.moves().step[1], -4);
  EXPECT_EQ(sum.moves().loop[0], 7u);
  EXPECT_EQ(sum.moves().loop[1], 9u);
  EXPECT_FALSE(sum.moves().isMixed);
  nl::detail::Moves sibling = outer;
  sibling.loop[0] = 8;
  EXPECT_TRUE((i + Index(sibling)).moves().isMixed);
  EXPECT_FALSE((i - i).moves().any());
}

} // namespace
} // namespace kiln::test
