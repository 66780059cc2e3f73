#include "python/observe/interpreters/sub_counts.hpp"

#include <algorithm>
#include <atomic>

#include "python/interpreter/interpreter_counts.hpp"
#include "python/observe/interpreters/sub_table.hpp"

namespace timeloom::python {
namespace {

std::int64_t g_begun_before = 0;  // interpreters, when the session began
std::int64_t g_strangers = 0;     // lived then, and were not recorded
constinit std::atomic<std::int64_t> g_asked = 0;

}  // namespace

void begin_sub_interpreter_count() noexcept {
  std::int64_t alive = 0;
  timeloom_count_interpreters(&g_begun_before, &alive);
  const auto joined = static_cast<std::int64_t>(interpreters_in_table());
  g_strangers = std::max<std::int64_t>(0, alive - 1 - joined);
  g_asked = 0;
}

void begin_sub_interpreter_count_of_child() noexcept {
  empty_table_of_child();
  begin_sub_interpreter_count();
}

std::uint64_t unasked_sub_interpreters() noexcept {
  std::int64_t begun = 0, alive = 0;
  timeloom_count_interpreters(&begun, &alive);
  const std::int64_t unasked = g_strangers + begun - g_begun_before - g_asked.load();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, unasked));
}

void count_asked_sub_interpreter() noexcept { g_asked.fetch_add(1); }

}  // namespace timeloom::python
