//===- DecidedLoopTest.cpp - memory around loops that registers decide ------------------------===//
//
// How often such a loop runs is known to the run alone: the proof answers for every number. The
// executor runs the same text and shows which numbers it is about.
//
//===------------------------------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "ProofFixture.h"

using namespace kilnrt;
using namespace kilnrt::test;

namespace {

/// `t` lies where `a` lies. The streams' text is that of one engine; register 0 holds `r0`.
Program program(std::string_view body, int r0 = 0) {
  std::string text = ".tensor t sbuf 32x16xf32 at 0,0 @5\n.stream gpsimd\n"
                     "  dma_copy dge_mode=swdge dst=y[32 rows of 64, 0: 1x64] "
                     "src=x[32 rows of 64, 0: 1x64]\n"
                     "  register_move dst=r0" +
                     (r0 == 0 ? std::string() : " value=" + std::to_string(r0)) + "\n";
  return programOf(text + std::string(body));
}

Proof proofOfBody(std::string_view body) { return *prove(program(body)); }

/// The rule the run breaks; empty: none.
std::string faultWith(int r0, std::string_view body) {
  const Program text = program(body, r0);
  HostArray x{DType::Float32, {32, 64}, std::vector<std::byte>(32 * 64 * 4)};
  Expected<RunResult> result = Executable::prepare(text)->run({&x, 1});
  return result ? "" : result.error().rule;
}

/// The rule that is broken when the loop runs 0, 1, 2 and 3 times, or as often as it can.
std::vector<std::string> faults(std::string_view body) {
  return {faultWith(0, body), faultWith(1, body), faultWith(2, body), faultWith(3, body)};
}

using Faults = std::vector<std::string>;

/// Loops that run r0 times: `once` at most once.
const std::string kOnce = "  loop_begin kind=once reg=r0 @9\n";
const std::string kRange = "  loop_begin kind=range reg=r1 last_register=r0 @9\n";
const std::string kWhile = "  loop_begin kind=while reg=r0 @9\n";
const std::string kCountDown = "  register_alu dst=r0 src=r0 op=subtract value=1\n";

std::string loop(const std::string &begin, const std::string &body) {
  return begin + body + (begin == kWhile ? kCountDown : "") + "  loop_end\n";
}
/// A range whose bounds are numbers.
std::string countTo(int last) {
  return "  loop_begin kind=range reg=r1" + (last == 0 ? "" : " last=" + std::to_string(last)) +
         "\n";
}

const std::string kWriteA = "  memset dst=a[0+32, 0: 1x16] value=1 @10\n";
const std::string kWriteT = "  memset dst=t[0+32, 0: 1x16] value=2 @11\n";
const std::string kReadA = "  tensor_copy dst=d[0+32, 0: 1x16] src=a[0+32, 0: 1x16] @12\n";

constexpr const char *kRefuted = "races proven, deadlock proven, memory refuted\n";

} // namespace

/// Without an iteration the bytes are those of `t`.
TEST(DecidedLoop, ThatRunsNoIterationWritesNothing) {
  for (const std::string &begin : {kOnce, kRange, kWhile}) {
    const std::string body = kWriteA + kWriteT + loop(begin, kWriteA) + kReadA;
    EXPECT_EQ(reportText(proofOfBody(body)), R"(races proven, deadlock proven, memory refuted

overlap M-04: tensor_copy uses 'a' after 't' was written to the same memory @ kernel.cpp:12
help: place 'a' and 't' at different addresses
note: 't' takes the bytes at instruction 3 of the gpsimd stream, memset @ kernel.cpp:11
note: it depends on how often loops run that registers decide @ 
note: 't' was declared here @ kernel.cpp:5
)") << begin;
    EXPECT_EQ(faults(body), (Faults{"M-04", "", "", ""})) << begin;
  }
}

/// A range between numbers is no open question.
TEST(DecidedLoop, BetweenNumbersRunsThatOften) {
  const auto body = [](int last) {
    return kWriteA + kWriteT + loop(countTo(last), kWriteA) + kReadA;
  };
  EXPECT_EQ(reportText(proofOfBody(body(1))), kAllProven);
  EXPECT_EQ(faultWith(0, body(1)), "");
  const Proof none = proofOfBody(body(0));
  EXPECT_EQ(answersText(none), kRefuted);
  ASSERT_EQ(none.findings.size(), 1u);
  EXPECT_EQ(none.findings[0].diagnostic.notes.size(), 2u); // for certain
  EXPECT_EQ(faultWith(0, body(0)), "M-04");

  const auto twice = [](int last) { return kWriteA + loop(countTo(last), kReadA + kWriteT); };
  EXPECT_EQ(reportText(proofOfBody(twice(1))), kAllProven);
  EXPECT_EQ(faultWith(0, twice(1)), "");
  EXPECT_EQ(answersText(proofOfBody(twice(2))), kRefuted);
  EXPECT_EQ(faultWith(0, twice(2)), "M-04");
}

TEST(DecidedLoop, ThatRunsAnIterationTakesWhatLiesThere) {
  for (const std::string &begin : {kOnce, kRange, kWhile}) {
    const std::string body = kWriteA + loop(begin, kWriteT) + kReadA;
    const Proof proof = proofOfBody(body);
    EXPECT_EQ(answersText(proof), kRefuted) << begin;
    ASSERT_EQ(proof.findings.size(), 1u);
    EXPECT_EQ(proof.findings[0].diagnostic.notes[1].message,
              "it depends on how often loops run that registers decide");
    EXPECT_EQ(faults(body), (Faults{"", "M-04", "M-04", "M-04"})) << begin;
  }
}

/// One iteration finds `a`, a second one does not; `once` has no second.
TEST(DecidedLoop, ThatRunsTwiceFindsWhatTheFirstIterationLeft) {
  for (const std::string &begin : {kRange, kWhile}) {
    const std::string body = kWriteA + loop(begin, kReadA + kWriteT);
    EXPECT_EQ(answersText(proofOfBody(body)), kRefuted) << begin;
    EXPECT_EQ(faults(body), (Faults{"", "", "M-04", "M-04"})) << begin;
  }
  const std::string once = kWriteA + loop(kOnce, kReadA + kWriteT);
  EXPECT_EQ(reportText(proofOfBody(once)), kAllProven);
  EXPECT_EQ(faults(once), (Faults{"", "", "", ""}));
}

/// What a third iteration finds, a second one may not: `a` is written at the end of the first one,
/// taken in the second, and read in the third.
TEST(DecidedLoop, MayShowInTheThirdIterationAlone) {
  const std::string at[] = {"  register_alu dst=r2 src=r1 op=equal value=2\n",
                            "  register_alu dst=r2 src=r1 op=equal\n"};
  const auto if2 = [](const std::string &body) {
    return "  loop_begin kind=once reg=r2\n" + body + "  loop_end\n";
  };
  const std::string inner = at[0] + if2(kReadA) + kWriteT + at[1] + if2(kWriteA);
  const std::string body = loop(kRange, inner);
  EXPECT_EQ(answersText(proofOfBody(body)), kRefuted);
  EXPECT_EQ(faults(body), (Faults{"", "", "", "M-04"}));

  // The same around a loop of a fixed count: register 1 counts what it has done.
  const auto counted = [&](int trips) {
    return "  register_move dst=r1\n  loop_begin trip_count=" + std::to_string(trips) + "\n" +
           inner + "  register_alu dst=r1 src=r1 op=add value=1\n  loop_end\n";
  };
  EXPECT_EQ(reportText(proofOfBody(counted(2))), kAllProven);
  EXPECT_EQ(faultWith(0, counted(2)), "");
  EXPECT_EQ(answersText(proofOfBody(counted(3))), kRefuted);
  EXPECT_EQ(faultWith(0, counted(3)), "M-04");
}

/// Written on every way: `a` is there, `t` is not.
TEST(DecidedLoop, LeavesWhatEveryWayWrites) {
  for (const std::string &begin : {kOnce, kRange, kWhile}) {
    const std::string body =
        kWriteT + loop(begin, kWriteT) + kWriteA + kReadA + loop(begin, kReadA + kWriteA) + kReadA;
    EXPECT_EQ(reportText(proofOfBody(body)), kAllProven) << begin;
    EXPECT_EQ(faults(body), (Faults{"", "", "", ""})) << begin;
  }
}

/// `a` may be live already when it is written behind the loop; where it is not, it ends `t`.
TEST(DecidedLoop, WhoMayBeLiveMayStillTake) {
  for (const std::string &begin : {kOnce, kRange, kWhile}) {
    const std::string body = kWriteT + loop(begin, kWriteA) + kWriteA +
                             "  tensor_copy dst=d[0+32, 0: 1x16] src=t[0+32, 0: 1x16] @13\n";
    EXPECT_EQ(answersText(proofOfBody(body)), kRefuted) << begin;
    EXPECT_EQ(faults(body), (Faults{"M-04", "M-04", "M-04", "M-04"})) << begin;
  }
}

/// The edge of a loop orders everything, also one that runs no iteration.
TEST(DecidedLoop, IsAnEdgeWithoutIterationsToo) {
  for (const std::string &begin : {kOnce, kRange, kWhile}) {
    const std::string loopText = begin + "  loop_end\n";
    EXPECT_EQ(
        reportText(proofOf(".stream gpsimd\n" + loopText + kReadA +
                           ".stream vector\n  memset dst=a[0+32, 0: 1x16] value=1\n" + loopText)),
        kAllProven)
        << begin;
  }
}
