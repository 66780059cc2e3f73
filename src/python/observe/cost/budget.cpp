#include "python/observe/cost/budget.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/throttled.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/cost/calibration.hpp"
#include "python/observe/cost/instrumenter_pause.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

constinit thread_local int t_enters_to_sample = 0;

namespace {

// The enter of a thread that is its first sample, from 1 to kEntersPerSample: successive threads
// have first samples that are evenly spread, the steps being about the golden section.
int first_sample() noexcept {
  constexpr unsigned kStep = 155;
  static constinit std::atomic<unsigned> steps = 0;
  const unsigned enters_later = steps.fetch_add(kStep, std::memory_order_relaxed);
  return kEntersPerSample - static_cast<int>(enters_later % kEntersPerSample);
}

// Whether the first enter of a thread, whose samples begin with it, is none.
bool begins_later() noexcept {
  if (t_enters_to_sample == 0) return false;
  t_enters_to_sample = first_sample() - 1;
  return t_enters_to_sample > 0;
}

constexpr std::uint64_t kWindowNs = 20'000'000;  // of CPU time, between two decisions
constexpr std::uint64_t kLookNs = 1'000'000;     // between two looks at the CPU clock
constexpr double kLeft = 0.7;  // of the limit: what a decision leaves, so that it lasts
// Of the limit: the rest is for costs that are not counted here (start, drain), and for an estimate
// that is too low.
constexpr double kCounted = 0.8;
// The limit holds for a run that is longer by this CPU time than it is yet, so functions that are
// busy only at its start, such as imports, are not throttled.
constexpr double kGraceSeconds = 0.25;
// The part of the limit that events may take if much was taken by functions that were seen for the
// first time.
constexpr double kLeastForEvents = 0.25;
// The calibrated program leaves more in the caches and branch predictors of the processor than
// most do: until callbacks were timed in the program, an event is taken to cost so much more.
constexpr double kUntimedCost = 2;
constexpr double kLeastEventSeconds = 20e-9;  // where calibrating was disturbed
constexpr double kEventsPerCall = 2;
constexpr std::size_t kMostSmallTables = 256;  // of throttled functions

// Code that is kept alive here, so that no other takes its address meanwhile.
using Samples = std::unordered_map<PyCodeObject*, std::uint64_t>;

// Sorted by code object.
using RegionsOfCode = std::vector<std::pair<PyCodeObject*, std::uint32_t>>;
// Read by handlers of signals; nullptr: nothing was throttled.
constinit std::atomic<const RegionsOfCode*> g_regions_of_code = nullptr;

struct ThrottledCode {
  PyCodeObject* code;  // owned
  Py_ssize_t index;    // where its word is kept
  EventWord word;      // that it had before
};

struct Budget {
  bool on = false;
  double limit = 0;
  EventCost calibrated;
  const Instrumenter* instrumenter = nullptr;
  double metrics_seconds = 0;  // to sample them once
  std::uint64_t begin_cpu_ns = 0;
  double begin_registration_seconds = 0;
  std::uint64_t all_samples = 0;
  std::uint64_t window_cpu_ns = 0;  // when the window began
  std::uint64_t window_samples = 0;
  std::uint64_t next_look_ns = 0;
  std::uint64_t decisions = 0;
  Samples samples;  // of the window
  std::vector<ThrottledCode> throttled;
  std::vector<record::Token> tokens;  // of these, in order
  std::vector<std::unique_ptr<RegionsOfCode>>
      tables;                         // the last is in use, handlers may read others
  std::set<std::uint32_t> truncated;  // regions that ended with a visit of one, as it was noted
};

Budget& budget() {
  static auto* const kInstance = new Budget;
  return *kInstance;
}

bool is_throttled(const record::OpenRegion& open) noexcept {
  const std::vector<record::Token>& tokens = budget().tokens;
  return record::is_function(open.token) &&
         std::ranges::binary_search(tokens, record::bare_token(open.token));
}

using OpenRegions = std::vector<record::OpenRegion>;

// Leaves the open visits of throttled functions and the regions entered inside them, whose ends are
// then not recorded. `truncated`, OpenRegions: gets the regions that still run.
void close_throttled(record::ThreadRecorder& recorder, std::uintptr_t, void* truncated) {
  const auto open = recorder.open_regions();
  const auto first = std::ranges::find_if(open, is_throttled);
  if (first == open.end()) return;
  OpenRegions inside(first, open.end());
  recorder.close_from(static_cast<std::size_t>(first - open.begin()));
  std::erase_if(inside, [](const record::OpenRegion& region) {
    return is_throttled(region) || region.token == record::kEndedUnseen;
  });
  auto& cut = *static_cast<OpenRegions*>(truncated);
  cut.insert(cut.end(), inside.begin(), inside.end());
  for (record::OpenRegion& region : inside) region.token |= record::kUnrecorded;
  recorder.enter_again(inside);
}

// Notes each region once.
void note_truncated(std::span<const record::OpenRegion> regions) noexcept try {
  std::set<std::uint32_t>& known = budget().truncated;
  std::vector<std::uint32_t> ids;
  for (const record::OpenRegion& region : regions) {
    if ((region.token & record::kUnrecorded) != 0) continue;
    const auto id = static_cast<std::uint32_t>(payload_of(region.enter));
    if (known.insert(id).second) ids.push_back(id);
  }
  if (ids.empty()) return;
  record::note_property(kTruncatedIds + std::to_string(known.size()), ids_text(ids));
} catch (const std::bad_alloc&) {
  return;
}

// Without memory they are closed later, by an outer leave.
void close_visits() noexcept {
  OpenRegions truncated;
  with_world_stopped([&] {
    try {
      record::for_each_recorder(close_throttled, &truncated);
    } catch (const std::bad_alloc&) {
      return;
    }
  });
  note_truncated(truncated);
}

// Marks the code objects; ids of their regions.
std::vector<std::uint32_t> mark_throttled(Budget& b, const std::vector<PyCodeObject*>& codes) {
  std::vector<std::uint32_t> ids;
  for (PyCodeObject* code : codes) {
    const EventWord word = known_word(code);
    if (!is_region(word)) continue;
    const RegionId id{payload_of(word)};
    record::define(id);  // all its calls may have been deeper than is recorded
    ids.push_back(id.value());
    b.throttled.push_back({code, code_index(), word});
    Py_INCREF(code);
    store_code_extra(code, code_index(), kThrottledCode);
    b.tokens.push_back(token_of(code));
  }
  std::ranges::sort(b.tokens);
  return ids;
}

// Makes the throttled functions known to the handlers of samples, by a table that stays: one more
// where they are an eighth more than in the last one, or `all` wants the rest. Without memory those
// that are new are not estimated.
void publish_throttled(Budget& b, bool all) noexcept try {
  const std::size_t known = b.tables.empty() ? 0 : b.tables.back()->size();
  const std::size_t now = b.throttled.size();
  if (now == known) return;
  if ((!all || b.tables.size() >= kMostSmallTables) && now - known < (known + 7) / 8) return;
  auto table = std::make_unique<RegionsOfCode>();
  for (const ThrottledCode& one : b.throttled) {
    table->emplace_back(one.code, static_cast<std::uint32_t>(payload_of(one.word)));
  }
  std::ranges::sort(*table);
  b.tables.push_back(std::move(table));
  g_regions_of_code = b.tables.back().get();
} catch (const std::bad_alloc&) {
  return;
}

// Those with the most samples, until the samples of the others are at most `kept`.
std::vector<PyCodeObject*> most_sampled(const Samples& samples, double kept) {
  std::vector<std::pair<std::uint64_t, PyCodeObject*>> order;
  double left = 0;
  for (const auto& [code, count] : samples) {
    order.emplace_back(count, code);
    left += static_cast<double>(count);
  }
  std::ranges::sort(order, std::ranges::greater());
  std::vector<PyCodeObject*> codes;
  for (const auto& [count, code] : order) {
    if (left <= kept) break;
    codes.push_back(code);
    left -= static_cast<double>(count);
  }
  return codes;
}

// The cost of the calls that a sample stands for, as far as it is known by now.
double sample_seconds(const Budget& b) noexcept {
  const EventCost cost = slowed(b.calibrated, callback_times(), *b.instrumenter, b.metrics_seconds);
  const double untimed = cost.timed_callbacks > 0 ? 1 : kUntimedCost;
  const double event = std::max(cost.event_seconds - b.metrics_seconds, kLeastEventSeconds);
  return kEntersPerSample * kEventsPerCall * (untimed * event + b.metrics_seconds);
}

// The cost of seeing functions for the first time, which no function can be throttled for.
double registration_seconds(const Budget& b) noexcept {
  const Registrations registered = registrations();
  return static_cast<double>(registered.cpu_ns) * 1e-9 +
         static_cast<double>(registered.count) * b.calibrated.function_seconds;
}

// The window is over. If measuring has cost too much so far, throttles the functions that are
// called most in this window, or pauses until the CPU time has grown enough.
void decide_on_cost(Budget& b, std::uint64_t cpu_ns) {
  const double window = static_cast<double>(cpu_ns - b.window_cpu_ns) * 1e-9;
  const double all = static_cast<double>(cpu_ns - b.begin_cpu_ns) * 1e-9;
  const double sample = sample_seconds(b);
  const double cost = static_cast<double>(b.window_samples) * sample;
  const double registered = registration_seconds(b) - b.begin_registration_seconds;
  const double all_cost = static_cast<double>(b.all_samples) * sample + registered;
  if (all_cost <= kCounted * b.limit * (all + kGraceSeconds)) return publish_throttled(b, true);
  if (can_pause()) {
    const double longer = std::max(cost / (kLeft * b.limit) - window, all_cost / b.limit - all);
    return pause_until(cpu_ns + static_cast<std::uint64_t>(longer * 1e9));
  }
  const double left =
      std::max(kLeft * b.limit - registered / all, kLeastForEvents * b.limit) * window;
  const std::vector<std::uint32_t> ids = mark_throttled(b, most_sampled(b.samples, left / sample));
  if (ids.empty()) return publish_throttled(b, true);  // the others will be within the limit
  publish_throttled(b, false);
  close_visits();
  record::note_property(kThrottledIds + std::to_string(++b.decisions), ids_text(ids));
}

void begin_window(Budget& b, std::uint64_t cpu_ns) noexcept {
  b.window_cpu_ns = cpu_ns;
  b.window_samples = 0;
}

void release_budget(Samples& samples) noexcept {
  for (const auto& [code, count] : samples) Py_DECREF(code);
  samples.clear();
}

// Returns the samples of a window that is over: code that only they keep alive must not die
// before all is done.
Samples sampled(Budget& b, PyCodeObject* code) {
  if (!b.on || is_paused() || !is_region(known_word(code))) return {};
  if (b.samples[code]++ == 0) Py_INCREF(code);
  ++b.window_samples;
  ++b.all_samples;
  const std::uint64_t now = record::monotonic_ns();
  if (now < b.next_look_ns) return {};
  b.next_look_ns = now + kLookNs;
  const std::uint64_t cpu_ns = record::process_cpu_ns();
  if (cpu_ns - b.window_cpu_ns < kWindowNs) return {};
  decide_on_cost(b, cpu_ns);
  begin_window(b, cpu_ns);
  return std::exchange(b.samples, {});
}

// A pause is not a part of the next window.
void end_of_pause(std::uint64_t cpu_ns) noexcept { begin_window(budget(), cpu_ns); }

}  // namespace

void take_sample(PyCodeObject* code) noexcept {
  if (begins_later()) return;
  t_enters_to_sample = kEntersPerSample;
  const ErrorGuard guard;
  Samples over;
  try {
    const CriticalSection critical;
    over = sampled(budget(), code);
  } catch (const std::bad_alloc&) {
    return;  // one sample less
  }
  release_budget(over);
}

void begin_budget(double limit, const EventCost& calibrated, const Instrumenter& instrumenter,
                  double metrics_seconds) noexcept {
  const CriticalSection critical;
  Budget& b = budget();
  b.limit = limit;
  b.calibrated = calibrated;
  b.instrumenter = &instrumenter;
  b.metrics_seconds = metrics_seconds;
  b.decisions = 0;
  b.on = true;
  if (instrumenter.pause != nullptr) enable_pauses(instrumenter.pause, end_of_pause);
  continue_budget();
}

void continue_budget() noexcept {
  Budget& b = budget();
  b.begin_cpu_ns = record::process_cpu_ns();
  b.begin_registration_seconds = registration_seconds(b);
  b.all_samples = 0;
  restart_pauses();
  // Samples name them also in a child, which enters none of them.
  for (const ThrottledCode& one : b.throttled) {
    record::define(RegionId{static_cast<std::uint32_t>(payload_of(one.word))});
  }
  release_budget(b.samples);
  begin_window(b, b.begin_cpu_ns);
}

void end_budget() noexcept {
  const CriticalSection critical;
  Budget& b = budget();
  b.on = false;
  disable_pauses();
  b.tokens.clear();
  b.truncated.clear();
  g_regions_of_code = nullptr;
  b.tables.clear();
  release_budget(b.samples);
  for (const ThrottledCode& one : b.throttled) {
    store_code_extra(one.code, one.index, one.word);
    Py_DECREF(one.code);
  }
  b.throttled.clear();
}

std::uint32_t throttled_region(PyCodeObject* code) noexcept {
  const RegionsOfCode* const table = g_regions_of_code.load(std::memory_order_acquire);
  if (table == nullptr) return UINT32_MAX;
  const auto found = std::ranges::lower_bound(*table, code, {}, &RegionsOfCode::value_type::first);
  return found != table->end() && found->first == code ? found->second : UINT32_MAX;
}

bool any_throttled() noexcept {
  return g_regions_of_code.load(std::memory_order_relaxed) != nullptr;
}

std::size_t throttled_functions() noexcept {
  const CriticalSection critical;
  return budget().throttled.size();
}

void leave_out_throttled(std::vector<record::OpenRegion>& regions) noexcept {
  const CriticalSection critical;
  const auto first = std::ranges::find_if(regions, is_throttled);
  if (first == regions.end()) return;
  regions.erase(std::remove_if(first, regions.end(), is_throttled), regions.end());
  note_truncated({first, regions.end()});
  for (auto open = first; open != regions.end(); ++open) open->token |= record::kUnrecorded;
}

}  // namespace timeloom::python
