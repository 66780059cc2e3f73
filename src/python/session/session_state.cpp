#include "python/session/session_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "core/text/message_id.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/set_profile.hpp"
#include "python/observe/hooks/closed_generators.hpp"
#include "python/observe/hooks/collections.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/hooks/open_calls.hpp"
#include "python/observe/hooks/reconcile.hpp"
#include "python/observe/hooks/sampled_code.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "record/measurement.hpp"
#include "sample/sampler.hpp"

namespace timeloom::python {

Session g_session;

namespace {

constinit std::atomic<bool> g_watching_session = false;  // the instrumenter is installed
constinit std::atomic<bool> g_instrumenting = false;     // and it observes calls

void open_window() {
  watch(false);
  set_rules(g_session.plan, false);
  switch_recording(true);
  if (!g_session.paused) watch_again();
}

void close_window(bool awaits) {
  watch(false);
  switch_recording(false);
  if (!awaits) return;
  set_rules(g_session.plan, true);
  if (!watch(true)) PyErr_Clear();
}

}  // namespace

const WindowActions kSessionWindows = {open_window, close_window};

std::uint64_t this_process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }
bool session_runs() noexcept { return g_session.started && g_session.process == this_process_id(); }

bool session_running() noexcept {
  const CriticalSection critical;
  return session_runs();
}

bool session_followed() noexcept {
  const CriticalSection critical;
  return session_runs() && !g_session.context.parent.empty();
}

std::string session_spool() {
  const CriticalSection critical;
  return session_runs() ? g_session.spool : std::string();
}

KnownDirectory spools_of_session() {
  const KnownDirectory run(g_session.context.run, g_session.context.id);
  const std::string spools = g_session.spool.substr(0, g_session.spool.rfind('/'));
  int error = 0;
  return run.below(spools.substr(std::min(spools.size(), run.path().size() + 1)), &error);
}

KnownDirectory session_spools() {
  const CriticalSection critical;
  return session_runs() ? spools_of_session() : KnownDirectory();
}

KnownDirectory session_run() {
  const CriticalSection critical;
  return {g_session.context.run, g_session.context.id};
}

Inheritance session_inheritance() {
  const CriticalSection critical;
  return {g_session.settings, g_session.context.program};
}

bool watching_session() noexcept { return g_watching_session; }

void set_watching(bool on) noexcept {
  g_watching_session = on;
  sample::pause_sampling(!on);
  g_instrumenting = on && observes_calls(*g_session.plan.instrumenter);
  watch_closing(g_instrumenting);
  observe_sub_interpreters(g_instrumenting);
  const bool sampled = g_session.plan.instrumenter == &kSampling;
  if (on && g_session.settings.flag(kSettings.gc) && !sampled) {
    watch_collections();
  } else {
    unwatch_collections();
  }
}

bool watch(bool on) {
  Session& s = g_session;
  if (watching_session() == on) return true;
  if (on && s.plan.what.c_functions) hide_return_of_set_profile(nullptr);
  if (on && !s.plan.instrumenter->install(s.plan.what)) return false;
  s.plan.what.innermost = nullptr;
  if (!on) s.plan.instrumenter->uninstall();
  if (on) sample::sample_brought_threads();
  set_watching(on);
  return true;
}

void watch_again() {
  close_ended_regions();
  if (g_session.plan.instrumenter->reports_every_leave) reconcile_all_threads();
  if (watch(true)) return;
  print_line("calls are not recorded from here on: " +
             std::string(without_id(take_exception_text())) + " [TL017]");
}

bool switch_recording(bool on) noexcept {
  bool changed = false;
  with_world_stopped([&] { changed = record::set_recording(on); });
  return changed;
}

bool pause_instrumentation() {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs() || g_session.finishing || g_session.paused) return true;
  g_session.paused = true;
  return watch(false);
}

bool resume_instrumentation() {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs() || g_session.finishing || !g_session.paused) return true;
  g_session.paused = false;
  if (record::recording()) watch_again();
  return true;
}

bool instrumentation_on() noexcept { return g_instrumenting; }
bool instrumentation_paused() noexcept {
  const CriticalSection critical;
  return session_runs() && g_session.paused;
}

bool set_recording(bool on) {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs() || g_session.finishing) return true;
  if (!on) {
    if (!record::recording()) return true;
    if (!watch(false)) return false;
    return switch_recording(false), true;
  }
  if (awaits_region()) watch(false);  // the program's request takes precedence over a window
  set_rules(g_session.plan, false);
  if (!switch_recording(true)) return true;
  if (g_session.paused) {
    close_ended_regions();
  } else {
    watch_again();
  }
  return true;
}

}  // namespace timeloom::python
