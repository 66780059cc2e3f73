// Functions of compiled code that report their enters and leaves by their addresses. The addresses
// of these tests lie in no object, so their regions are named after them.
#include "record/native/compiled_code.hpp"

#include <cerrno>
#include <thread>

#include "record/measurement_state.hpp"
#include "record/native/code_filter.hpp"
#include "record/native/code_table.hpp"
#include "record/native/native_call.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

const void* const kF = at(0x1010);
const void* const kG = at(0x1020);
const void* const kH = at(0x1031);  // not aligned, as code that is optimised for size

void enter_and_leave(const void* function) {
  enter_function(function, nullptr);
  leave_function(function);
}

TEST(CodeTable, FindsEachFunctionWhateverItsPlace) {
  static CodeTable table;  // never destroyed, as the one of the recorder
  // Libraries whose functions lie at the same places, and places that are all taken.
  std::vector<std::uintptr_t> functions;
  for (std::uintptr_t library = 1; library <= 50; ++library) {
    for (std::uintptr_t i = 0; i < 400; ++i) functions.push_back((library << 32) + 16 * i);
  }
  for (const std::uintptr_t function : functions) ASSERT_TRUE(table.put(at(function), function));
  for (const std::uintptr_t function : functions) {
    ASSERT_EQ(table.word(at(function)), function);
    const auto* const found = table.word_at_once(at(function));
    ASSERT_TRUE(found == nullptr || *found == function);
  }
  EXPECT_EQ(table.word(at(0x10)), kUnknownCode);
  EXPECT_FALSE(table.has(at(0x10)));
  table.forget();
  EXPECT_TRUE(table.has(at(functions[0])));
  EXPECT_EQ(table.word(at(functions[0])), kUnknownCode);
  EXPECT_TRUE(table.put(at(functions[0]), kLeftOutCode));
  EXPECT_EQ(table.word(at(functions[0])), kLeftOutCode);
}

class CompiledCodeTest : public RecordTest {
 protected:
  ~CompiledCodeTest() override { leave_out_functions(nullptr); }
  Lines lines() { return end().threads[0]; }
};

TEST_F(CompiledCodeTest, FunctionsAreRegionsInEveryMeasurement) {
  enter_and_leave(kF);  // nothing is measured
  for (int i = 0; i < 2; ++i, next_spool()) {
    begin();
    errno = EDOM;
    for (int call = 0; call < 2; ++call) {
      enter_function(kF, nullptr);
      enter_and_leave(kG);
      leave_function(kF);
    }
    EXPECT_EQ(errno, EDOM);
    const Lines once = {"enter 0x1010", "enter 0x1020", "leave 0x1020", "leave 0x1010"};
    Lines twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    const Recorded recorded = end();
    EXPECT_EQ(recorded.threads.at(0), twice);
    EXPECT_EQ(recorded.definitions.regions.begin()->second.paradigm, Paradigm::kCompiler);
  }
  enter_and_leave(kF);
}

TEST_F(CompiledCodeTest, ALeaveFurtherOutClosesWhatIsOpenInside) {
  begin();
  enter_function(kF, nullptr);
  enter_function(kG, nullptr);
  enter_function(kH, nullptr);  // longjmp() to the first
  leave_function(kF);
  leave_function(kG);  // is not open
  leave_function(at(0x1040));
  enter_and_leave(kH);
  EXPECT_EQ(lines(), (Lines{"enter 0x1010", "enter 0x1020", "enter 0x1031", "leave 0x1031",
                            "leave 0x1020", "leave 0x1010", "enter 0x1031", "leave 0x1031"}));
}

TEST_F(CompiledCodeTest, WhatIsLeftOutIsAskedForOnce) {
  static int asked;
  asked = 0;
  leave_out_functions([](const void* function) noexcept { return ++asked, function == kG; });
  begin();
  for (int i = 0; i < 3; ++i) {
    enter_function(kG, nullptr);
    enter_and_leave(kF);
    leave_function(kG);
  }
  EXPECT_EQ(asked, 2);
  forget_code();
  enter_and_leave(kF);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(lines().size(), 8u);
}

TEST_F(CompiledCodeTest, FiltersSeeTheFileOfTheObject) {
  const auto* const here = reinterpret_cast<const void*>(&enter_and_leave);
  begin();
  filter_code(Filter(std::vector<FilterRule>{{false, "*/record_test"}}), false);
  enter_and_leave(here);
  filter_code(Filter(std::vector<FilterRule>{{false, "record_test"}}), false);
  enter_and_leave(here);
  filter_code(Filter(std::vector<FilterRule>{{true, "libother.so"}}), false);
  enter_and_leave(here);
  EXPECT_EQ(totals().events, 0u);
  filter_code(Filter(std::vector<FilterRule>{{false, "libother.so"}}), false);
  enter_and_leave(here);
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(CompiledCodeTest, CodeThatTheRecorderCallsIsNotRecorded) {
  begin();
  enter_and_leave(kF);
  {
    const NativeCall call;
    enter_and_leave(kF);
    enter_and_leave(kG);
  }
  {
    const KeepOff guard;
    enter_and_leave(kF);
    enter_and_leave(kG);
  }
  {
    const std::lock_guard lock(state().mutex);
    enter_and_leave(kG);  // would be defined
  }
  EXPECT_EQ(lines(), (Lines{"enter 0x1010", "leave 0x1010"}));
}

TEST_F(CompiledCodeTest, AFullSegmentUnderTheMutexLosesTheCallsThere) {
  begin(small());
  enter_function(kF, nullptr);
  const auto fill = [] {
    for (int i = 0; i < 2000; ++i) enter_and_leave(kF);
  };
  {
    const std::lock_guard lock(state().mutex);
    fill();
  }
  leave_function(kF);
  EXPECT_LT(end().events, 4000u);  // ends, since nobody waits for the own mutex
}

TEST_F(CompiledCodeTest, RecordingIsSwitchedAndThreadsHaveStreamsOfTheirOwn) {
  begin();
  enter_function(kF, nullptr);
  set_recording(false);
  enter_and_leave(kG);
  enter_function(kH, nullptr);
  set_recording(true);
  leave_function(kH);
  enter_and_leave(kG);
  std::thread([] { enter_and_leave(kG); }).join();
  leave_function(kF);
  const Recorded recorded = end();
  EXPECT_EQ(recorded.threads.at(0),
            (Lines{"enter 0x1010", "off", "on", "enter 0x1020", "leave 0x1020", "leave 0x1010"}));
  EXPECT_EQ(recorded.threads.at(1), (Lines{"enter 0x1020", "leave 0x1020"}));
}

TEST_F(CompiledCodeTest, FunctionsThatHideCallsHideCompiledCode) {
  begin();
  t_recorder->enter_hiding(64);
  enter_and_leave(kF);
  t_recorder->leave_hiding(64);
  enter_and_leave(kG);
  EXPECT_EQ(lines(), (Lines{"enter 0x1020", "leave 0x1020"}));
}

TEST_F(CompiledCodeTest, ThreadsThatRecordWhileOthersVisitThem) {
  begin();
  std::atomic<bool> end = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!end) enter_and_leave(kF);
    });
  }
  for (int i = 0; i < 200; ++i) set_recording(i % 2 != 0);
  end = true;
  for (std::thread& thread : threads) thread.join();
  const Recorded recorded = this->end();
  EXPECT_EQ(recorded.damage, 0u);
}

}  // namespace
}  // namespace timeloom::record
