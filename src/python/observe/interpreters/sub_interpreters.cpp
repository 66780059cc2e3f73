#include "python/observe/interpreters/sub_interpreters.hpp"

#include <atomic>

namespace timeloom::python {
namespace {

constinit std::atomic<SubInterpreters> g_sub_admitted = SubInterpreters::kNone;
constinit std::atomic<bool> g_sub_c_functions = false;
constinit std::atomic<bool> g_sub_observed = false;
constinit std::atomic<std::uint64_t> g_sub_epoch = 0;

}  // namespace

void admit_sub_interpreters(SubInterpreterPlan plan) noexcept {
  g_sub_c_functions = plan.c_functions;
  g_sub_admitted = plan.how;
}

void observe_sub_interpreters(bool on) noexcept {
  if (on) g_sub_epoch.fetch_add(1);
  g_sub_observed = on;
}

SubInterpreters sub_interpreters_admitted() noexcept {
  return g_sub_admitted.load(std::memory_order_relaxed);
}
bool c_functions_admitted() noexcept { return g_sub_c_functions.load(std::memory_order_relaxed); }
bool sub_interpreters_observed() noexcept { return g_sub_observed.load(std::memory_order_acquire); }
std::uint64_t sub_interpreters_epoch() noexcept {
  return g_sub_epoch.load(std::memory_order_acquire);
}

}  // namespace timeloom::python
