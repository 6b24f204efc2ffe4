//===- RaceClocksTest.cpp - vector clocks beside a run ----------------------------------------===//
//
// Races that are there are seen in every schedule, whether or not it gives the wrong numbers;
// programs that are right are left alone in all of them.
//
//===------------------------------------------------------------------------------------------===//

#include "kilnrt/Asm.h"
#include "kilnrt/Executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kilnrt;
using testing::HasSubstr;

namespace {

/// Every order the executor knows, as far as they differ for `program`.
std::vector<Schedule> everySchedule(const Program &program) {
  std::vector<Schedule> schedules = {Schedule::Program, Schedule::RoundRobin};
  for (uint64_t seed = 1; seed <= 20; ++seed)
    schedules.push_back({Schedule::Random, seed});
  for (const Schedule &schedule : adversarialSchedules(program))
    schedules.push_back(schedule);
  return schedules;
}

/// The messages of runs with clocks, one for each schedule: the first line of the fault, or "none".
std::vector<std::string> messages(const std::string &streams) {
  const std::string text = ".kernel \"k\"\n.target \"trn2\"\n"
                           ".flags placed scheduled synchronised\n"
                           ".tensor %0 x hbm 32x8xf32 input 0\n"
                           ".tensor %1 y hbm 32x8xf32 output 0\n"
                           ".tensor %2 t sbuf 32x8xf32 at 0,0\n"
                           ".tensor %3 u sbuf 32x8xf32 at 0,32\n" +
                           streams;
  auto program = assemble(text, "k.s");
  EXPECT_TRUE(program) << program.error().message;
  auto status = verify(*program);
  EXPECT_TRUE(status) << status.error().message;
  auto executable = Executable::prepare(*program);
  auto plan = RacePlan::prepare(*program);
  HostArray input{isa::DType::Float32, {32, 8}, std::vector<std::byte>(32 * 8 * 4)};
  std::vector<std::string> out;
  for (const Schedule &schedule : everySchedule(*program)) {
    RunOptions options;
    options.schedule = schedule;
    options.races = &*plan;
    options.checkUninitialised = false; // races only
    auto result = executable->run(std::span(&input, 1), options);
    out.push_back(result ? "none" : result.error().rule + " " + result.error().message);
  }
  return out;
}

void expectClean(const std::string &streams) {
  for (const std::string &message : messages(streams))
    EXPECT_EQ(message, "none");
}

void expectRace(const std::string &streams) {
  for (const std::string &message : messages(streams))
    EXPECT_THAT(message, HasSubstr("X-08 race: "));
}

constexpr const char *kLoad = "dma_copy dst=t[0+32, 0: 1x8] src=x[32 rows of 8, 0: 1x8]";
constexpr const char *kStore = "dma_copy dst=y[32 rows of 8, 0: 1x8] src=u[0+32, 0: 1x8]";
constexpr const char *kCopy = "tensor_copy dst=u[0+32, 0: 1x8] src=t[0+32, 0: 1x8]";

std::string stream(const std::string &name, const std::vector<std::string> &records) {
  std::string out = ".stream " + name + "\n";
  for (const std::string &record : records)
    out += "  " + record + "\n";
  return out;
}

std::string text(const std::string &before, const char *what, const std::string &after) {
  return (before.empty() ? "" : before + " ") + what + " " + after;
}

} // namespace

TEST(RaceClocks, AWaitOrders) {
  expectClean(stream("vector", {text("wait s8>=16", kCopy, "update s0+=1 #1")}) +
              stream("sync", {text("", kLoad, "update s8+=16 #0"),
                              text("wait s0>=1", kStore, "update s9+=16 #2")}));
}

TEST(RaceClocks, NoWaitBeforeTheStore) {
  expectRace(
      stream("vector", {text("wait s8>=16", kCopy, "update s0+=1 #1")}) +
      stream("sync", {text("", kLoad, "update s8+=16 #0"), text("", kStore, "update s9+=16 #2")}));
}

TEST(RaceClocks, NoWaitBeforeTheCopy) {
  expectRace(stream("vector", {text("", kCopy, "update s0+=1 #1")}) +
             stream("sync", {text("", kLoad, "update s8+=16 #0"),
                             text("wait s0>=1", kStore, "update s9+=16 #2")}));
}

TEST(RaceClocks, SixteenOfTwoTransfersProveNeither) {
  const std::string other = "dma_copy dst=u[0+32, 0: 1x8] src=x[32 rows of 8, 0: 1x8]";
  const auto program = [&](const std::string &wait) {
    return stream("vector", {text(wait, "tensor_copy dst=u[0+32, 0: 1x8] src=t[0+32, 0: 1x8]",
                                  "update s0+=1 #2")}) +
           stream("sync",
                  {text("", kLoad, "update s8+=16 #0"), text("", other.c_str(), "update s8+=16 #1"),
                   text("wait s0>=1", kStore, "update s9+=16 #3")});
  };
  expectClean(program("wait s8>=32"));
  // Some schedules complete the first transfer with the first sixteen: those show no race with it,
  // but the second one is open in all of them.
  expectRace(program("wait s8>=16"));
}

TEST(RaceClocks, BytesThatDoNotMeetDoNotRace) {
  const std::string store = stream("sync", {text("wait s0>=1", "semaphore_wait", "#3"),
                                            text("wait s1>=1", kStore, "update s9+=16 #4")});
  expectClean(stream("gpsimd", {"memset dst=u[0+32, 1: 2x4] value=2.0 update s1+=1 #1"}) +
              stream("vector", {"memset dst=u[0+32, 0: 2x4] value=1.0 update s0+=1 #0"}) + store);
  expectRace(stream("gpsimd", {"memset dst=u[0+32, 4: 1x4] value=2.0 update s1+=1 #1"}) +
             stream("vector", {"memset dst=u[0+32, 0: 1x5] value=1.0 update s0+=1 #0"}) + store);
}

TEST(RaceClocks, StreamsMeetAtTheEdgesOfLoops) {
  const auto program = [](const std::string &wait) {
    return stream("gpsimd",
                  {"loop_begin trip_count=3 #5",
                   wait + "memset dst=t[0+32, 0: 1x2 loop 2] value=2.0 #6", "loop_end #7"}) +
           stream("vector", {"loop_begin trip_count=3 #0",
                             "memset dst=t[0+32, 0: 1x2 loop 2] value=1.0 update s0+=1 #1",
                             "loop_end #4", text("", kCopy, "update s0+=1 #8")}) +
           stream("sync", {"loop_begin trip_count=3 #2", "loop_end #3",
                           text("wait s0>=1", kStore, "update s9+=16 #9")});
  };
  expectClean(program("wait s0>=1 "));
  expectRace(program(""));
}
