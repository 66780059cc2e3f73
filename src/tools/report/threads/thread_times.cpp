#include "tools/report/threads/thread_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/regions/collection_region.hpp"
#include "core/run_properties.hpp"
#include "exchange/names.hpp"
#include "tools/report/code_owner.hpp"
#include "tools/report/work_times.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

namespace {

constexpr double kLeastBusy = 0.01, kMostlyElsewhere = 0.95;

// The threads without a share are left out.
void most_first(std::vector<HeldBack::By>& by) {
  std::erase_if(by, [](const HeldBack::By& one) { return one.seconds <= 0; });
  std::ranges::sort(by, [](const HeldBack::By& a, const HeldBack::By& b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
}

}  // namespace

bool had_nothing_to_do(double working, double waiting, double elsewhere, double all) noexcept {
  return waiting > 0 && working <= kLeastBusy * all && elsewhere >= kMostlyElsewhere * waiting;
}

// The work and the waiting between the enters and leaves of one location.
class ThreadTimes::OneLocation final : public LocationSink {
 public:
  OneLocation(ThreadTimes& all, const Location& location)
      : all_(all),
        steps_(all.length_, kSteps),
        few_(all.length_, kFew),
        held_{Timeline(all.length_, kFew), Timeline(all.length_, kFew)},
        nanoseconds_(1e9 / static_cast<double>(all.definitions_->clock.ticks_per_second)) {
    thread_.row.location = location.id;
    thread_.process = location.group.value();
    thread_.row.name = location_name(location) + of_process(*all.definitions_, thread_.process);
  }

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      switch (event.kind) {
        case EventKind::kEnter:
          gap(event);
          open_.push_back(event.ref);
          if (collects(event) && collections_++ == 0) collecting_ = last_;
          if (is_project(event)) ++projects_;
          break;
        case EventKind::kLeave:
          gap(event);
          if (collects(event) && collections_ > 0 && --collections_ == 0) collected();
          if (is_project(event) && projects_ > 0) --projects_;
          if (!open_.empty()) open_.pop_back();
          break;
        case EventKind::kRecordingOff:
          gap(event);
          off_ = true;
          break;
        case EventKind::kRecordingOn:
          gap(event);
          off_ = false;
          break;
        case EventKind::kWaiting:
          waited_[event.ref < kWaitingCauses ? event.ref : 0] += static_cast<double>(event.value);
          break;
        default: break;
      }
    }
  }

  void finish() override {
    ThreadRow& row = thread_.row;
    row.idle = had_nothing_to_do(row.working, row.waiting, elsewhere_, row.working + row.waiting);
    thread_.working = few_.levels();
    for (std::size_t i = 0; i < kHeld.size(); ++i) {
      if (thread_.row.causes[kHeld[i]] > 0) thread_.held[i] = held_[i].levels();
    }
    const std::scoped_lock lock(all_.mutex_);
    all_.all_.add(steps_);
    all_.threads_.push_back(std::move(thread_));
  }

 private:
  void gap(const Event& event) {
    const std::uint64_t begin = all_.definitions_->clock.begin;
    const std::uint64_t now = ticks(event.time) - std::min(ticks(event.time), begin);
    const std::uint64_t from = std::exchange(last_, now);
    const auto waited = std::exchange(waited_, {});
    if (open_.empty() || off_ || now <= from || open_.back() >= all_.known_.size()) return;
    const Known& known = all_.known_[open_.back()];
    if (known.use != Use::kNothing) divide(known, from, std::min(now, all_.length_), waited);
  }

  bool collects(const Event& event) const {
    return event.ref < all_.known_.size() && all_.known_[event.ref].collects;
  }

  bool is_project(const Event& event) const {
    return event.ref < all_.known_.size() && all_.known_[event.ref].project;
  }

  void collected() {
    const double time = static_cast<double>(last_ - collecting_) * nanoseconds_ * 1e-9;
    ++thread_.collections.count;
    thread_.collections.seconds += time;
    thread_.collections.longest = std::max(thread_.collections.longest, time);
  }

  void divide(const Known& known, std::uint64_t from, std::uint64_t to,
              const std::array<double, kWaitingCauses>& waited) {
    if (from >= to) return;
    const double all = static_cast<double>(to - from) * nanoseconds_;
    const double sum = std::accumulate(waited.begin(), waited.end(), 0.0);
    const double waiting = known.use == Use::kWaiting ? all : std::min(sum, all);
    const double working = 1 - waiting / all;
    steps_.add(from, to, working);
    few_.add(from, to, working);
    thread_.row.working += (all - waiting) * 1e-9;
    thread_.row.waiting += waiting * 1e-9;
    if (projects_ == 0) elsewhere_ += waiting * 1e-9;
    for (std::size_t i = 0; i < kWaitingCauses && waiting > 0; ++i) {
      // Without a measurement, all is of no known cause.
      const double part = sum > 0 ? waited[i] / sum * waiting : i == 0 ? waiting : 0;
      if (part > 0) add(known.causes[i], from, to, part, all);
    }
  }

  void add(WaitingCause cause, std::uint64_t from, std::uint64_t to, double part, double all) {
    thread_.row.causes[cause] += part * 1e-9;
    for (std::size_t i = 0; i < kHeld.size(); ++i) {
      if (cause == kHeld[i]) held_[i].add(from, to, part / all);
    }
  }

  ThreadTimes& all_;
  Thread thread_;
  Timeline steps_, few_;
  std::array<Timeline, 2> held_;
  double nanoseconds_;  // in a tick
  std::vector<std::uint32_t> open_;
  std::array<double, kWaitingCauses> waited_{};  // nanoseconds since the last event
  std::uint64_t last_ = 0;                       // ticks since the start of the run
  std::uint64_t collecting_ = 0;                 // the start of the last collection
  // Open regions of collections: with C functions, gc.collect() has one of its own around it.
  std::size_t collections_ = 0;
  std::size_t projects_ = 0;  // open functions of the project
  double elsewhere_ = 0;      // seconds of waiting outside of them
  bool off_ = false;
};

void ThreadTimes::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  length_ = definitions.clock.length;
  if (length_ == 0) throw Error("the trace does not tell how long the run was [TL147]");
  measured_ = std::ranges::any_of(definitions.metrics, &Metric::is_waiting);
  all_ = Timeline(length_, kSteps);
  CodeOwner owner(definitions);
  (void)owner.adopt_program();
  const OpenMpWaits openmp(definitions.regions);
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    const Region& region = definitions.regions[i];
    Known known;
    known.project = owner.is_project(RegionId{i});
    known.use = is_suspension(region) || is_unmeasured(region) || is_task_run(region)
                    ? Use::kNothing
                : is_waiting(region, measured_, openmp) ? Use::kWaiting
                                                        : Use::kWork;
    known.collects = is_collection(region);
    for (std::uint32_t cause = 0; cause < kWaitingCauses; ++cause) {
      known.causes[cause] = cause_in(region, WaitingCause{cause});
    }
    known_.push_back(known);
  }
}

std::unique_ptr<LocationSink> ThreadTimes::open_location(const Location& location) {
  class Nothing final : public LocationSink {
    void consume(std::span<const Event>) override {}
    void finish() override {}
  };
  if (!locations_.contains(location.id)) return std::make_unique<Nothing>();
  return std::make_unique<OneLocation>(*this, location);
}

// At each step, the waiting of a thread is divided among the other threads of the process by their
// work.
void ThreadTimes::add_held(const std::vector<const Thread*>& process, std::size_t cause,
                           std::vector<HeldBack::By>& by) const {
  constexpr double kNothing = 1e-9;
  const std::size_t first = by.size();
  for (const Thread* thread : process) by.push_back({thread->row.name, 0});
  const double width = static_cast<double>(length_) / static_cast<double>(kFew) /
                       static_cast<double>(definitions_->clock.ticks_per_second);
  for (std::size_t step = 0; step < kFew; ++step) {
    double all = 0, weight = 0;
    for (const Thread* thread : process) all += thread->working[step];
    const auto share = [&](const Thread& thread) {
      const double others = all - thread.working[step];
      if (thread.held[cause].empty() || others < kNothing) return 0.0;
      return thread.held[cause][step] / others;
    };
    for (const Thread* thread : process) weight += share(*thread);
    if (weight < kNothing) continue;
    for (std::size_t i = 0; i < process.size(); ++i) {
      by[first + i].seconds += process[i]->working[step] * (weight - share(*process[i])) * width;
    }
  }
}

HeldBack ThreadTimes::held_back(std::size_t cause) const {
  HeldBack held;
  held.cause = kHeld[cause];
  std::map<std::uint32_t, std::vector<const Thread*>> processes;
  for (const Thread& thread : threads_) {
    if (thread.row.idle) continue;
    held.waiting += thread.row.causes[held.cause];
    processes[thread.process].push_back(&thread);
  }
  if (held.waiting <= 0) return held;
  for (const auto& [group, process] : processes) add_held(process, cause, held.by);
  most_first(held.by);
  return held;
}

Collections ThreadTimes::collections() const {
  std::map<std::uint32_t, std::size_t> threads;  // of each process
  for (const Thread& thread : threads_) ++threads[thread.process];
  Collections all;
  for (const Thread& thread : threads_) {
    const Collections& own = thread.collections;
    if (own.count == 0 || threads[thread.process] < 2) continue;
    all.count += own.count;
    all.seconds += own.seconds;
    all.longest = std::max(all.longest, own.longest);
    all.by.push_back({thread.row.name, own.seconds});
  }
  most_first(all.by);
  return all;
}

Parallel ThreadTimes::parallel() const {
  Parallel result;
  result.seconds = seconds(length_, *definitions_);
  result.measured = measured_;
  result.has_causes = has_causes(*definitions_);
  result.has_tasks = has_task_locations(definitions_->properties);
  const std::vector<double> levels = all_.levels();
  constexpr double kRest = 1e-6;  // of sums that should be whole
  const double step = 1 / static_cast<double>(levels.size());
  for (const double level : levels) {
    const auto threads = static_cast<std::size_t>(level + kRest);
    const double more = std::max(level - static_cast<double>(threads), 0.0);
    if (result.shares.size() < threads + 2) result.shares.resize(threads + 2);
    result.shares[threads] += (1 - more) * step;
    result.shares[threads + 1] += more * step;
    result.average += level * step;
  }
  while (!result.shares.empty() && result.shares.back() < kRest) result.shares.pop_back();
  for (const Thread& thread : threads_) {
    if (thread.row.working > 0 || thread.row.waiting > 0) result.threads.push_back(thread.row);
  }
  std::ranges::sort(result.threads, {}, &ThreadRow::location);
  std::ranges::stable_sort(result.threads, std::greater(), &ThreadRow::working);
  std::ranges::stable_sort(result.threads, {}, &ThreadRow::idle);
  for (std::size_t cause = 0; cause < kHeld.size(); ++cause) {
    HeldBack held = held_back(cause);
    if (held.waiting > 0) result.held.push_back(std::move(held));
  }
  HeldBack processor{WaitingCause::kProcessor, 0, {}};
  for (const ThreadRow& row : result.threads) {
    if (row.idle) continue;
    processor.waiting += row.causes[processor.cause];
    result.unknown += row.causes[WaitingCause::kUnknown];
  }
  if (processor.waiting > 0) result.held.push_back(std::move(processor));
  std::ranges::stable_sort(result.held, std::greater(), &HeldBack::waiting);
  result.collections = collections();
  return result;
}

}  // namespace timeloom::tools
