#include "record/thread_profile.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "record/measurement.hpp"

namespace timeloom::record {

using spool::PlaceKind;
using spool::ProfileMetric;
using spool::ProfileNode;
using spool::ProfileParameter;

std::unique_ptr<ThreadProfile> ThreadProfile::create(spool::Writer& writer, std::uint32_t location,
                                                     std::uint32_t max_depth, std::uint64_t now,
                                                     int* error) noexcept {
  try {
    auto profile = std::make_unique<ThreadProfile>(writer);
    if (max_depth != 0) profile->max_depth_ = max_depth;
    profile->file_ = spool::ProfileWriter::create(writer.directory(), location, now, error);
    return profile->file_ == nullptr ? nullptr : std::move(profile);
  } catch (const std::bad_alloc&) {
    *error = ENOMEM;
    return nullptr;
  }
}

// 0: the visit has no call path of its own.
std::uint32_t ThreadProfile::find_child(std::uint32_t region, std::uint64_t now) noexcept {
  if (sampling_ != nullptr) sample(now);
  if (beyond() == 0) {
    std::uint32_t child = children_.find(current_, region);
    if (child == ChildTable::kNone) child = add_child(region);
    if (child != 0 && file_->node(child).region != spool::kBeyondLimit) return child;
    if (child != 0) {
      file_->node(child).entered = now;
      current_ = child;
    }
  }
  const std::uint32_t function = inside_rest() ? function_beyond(region) : 0;
  enter_beyond(function, now);
  count_beyond(function);
  return 0;
}

bool ThreadProfile::leave_rarely(std::uint64_t now) noexcept {
  if (sampling_ != nullptr) sample(now);
  if (beyond() == 0) return false;
  leave_beyond(now);
  return true;
}

void ThreadProfile::enter_beyond(std::uint32_t function, std::uint64_t now) noexcept {
  try {
    if (beyond() == beyond_.size()) {
      const KeepOff of_allocation;
      beyond_.push_back({function, now, 0});
    }
  } catch (const std::bad_alloc&) {  // its time belongs to the visit around it
  }
  ++rare_;
  file_->header().last.store(now, std::memory_order_relaxed);
}

void ThreadProfile::leave_beyond(std::uint64_t now) noexcept {
  --rare_;
  file_->header().last.store(now, std::memory_order_relaxed);
  if (beyond() < beyond_.size()) {
    const Beyond visit = beyond_.back();
    beyond_.pop_back();
    const std::uint64_t ticks = now > visit.entered ? now - visit.entered : 0;
    if (!beyond_.empty()) beyond_.back().inside += ticks;
    const std::uint64_t own = ticks - std::min(ticks, visit.inside);
    if (visit.function != 0) {
      file_->node(visit.function).ticks += own;
      count_length(visit.function, own);
    } else if (beyond_.empty() && inside_rest()) {
      count_length(current_, ticks);
    }
  }
  if (beyond() != 0 || !inside_rest()) return;
  ProfileNode& rest = file_->node(current_);
  rest.ticks += now > rest.entered ? now - rest.entered : 0;
  rest.entered = 0;
  current_ = rest.parent;
}

void ThreadProfile::count_length(std::uint32_t index, std::uint64_t ticks) noexcept {
  ProfileNode& node = file_->node(index);
  node.shortest = std::min<std::uint64_t>(node.shortest, ticks);
  node.longest = std::max<std::uint64_t>(node.longest, ticks);
}

// The node of a function in the node without a region that is visited. 0: the visit is too deep to
// be told apart, or there is no space.
std::uint32_t ThreadProfile::function_beyond(std::uint32_t region) noexcept {
  const std::uint32_t depth = file_->depth(current_) + beyond();
  if (depth > max_depth_) return reach(depth), 0;
  const std::uint32_t known = children_.find(current_, region);
  if (known != ChildTable::kNone) return known;
  return file_->places() < kAllPlaces ? add_node(region) : 0;
}

void ThreadProfile::count_beyond(std::uint32_t function) noexcept {
  if (function == 0 && !inside_rest()) return writer_.count_lost(2);
  ++file_->node(function != 0 ? function : current_).visits;
}

void ThreadProfile::reach(std::uint32_t depth) noexcept {
  std::atomic<std::uint32_t>& deepest = file_->header().deepest;
  if (depth > deepest.load(std::memory_order_relaxed)) {
    deepest.store(depth, std::memory_order_relaxed);
  }
}

std::uint32_t ThreadProfile::add_child(std::uint32_t region) noexcept {
  if (too_deep() || file_->places() >= kMaxPlaces) {
    region = spool::kBeyondLimit;
    const std::uint32_t rest = children_.find(current_, region);
    if (rest != ChildTable::kNone) return rest;
  }
  return add_node(region);
}

std::uint32_t ThreadProfile::add_node(std::uint32_t region) noexcept {
  try {
    const KeepOff of_allocation;
    const std::uint32_t child = file_->add(current_, region);
    if (child != 0) children_.insert(current_, region, child);
    return child;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void ThreadProfile::parameter(std::uint32_t parameter, std::uint64_t value,
                              std::uint64_t now) noexcept {
  if (beyond() != 0) return;  // these visits are not told apart
  std::uint32_t to = 0;
  try {
    if (current_ != 0) to = with_parameter(parameter, value);
  } catch (const std::bad_alloc&) {
  }
  if (to == 0) return writer_.count_lost(1);
  if (to != current_) move_visit(to, now);
}

// The call path of visits that have in addition this value. A value that the
// parameter had before is replaced.
std::uint32_t ThreadProfile::with_parameter(std::uint32_t parameter, std::uint64_t value) {
  std::uint32_t node = current_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> later;
  while (const std::uint32_t place = file_->node(node).parameter) {
    const ProfileParameter& one = file_->parameter(place);
    if (one.parameter == parameter && one.value == value) return current_;
    if (one.parameter == parameter) {
      node = with_value(one.node, parameter, value);
      for (; node != 0 && !later.empty(); later.pop_back()) {
        node = with_value(node, later.back().first, later.back().second);
      }
      return node;
    }
    later.emplace_back(one.parameter, one.value);
    node = one.node;
  }
  return with_value(current_, parameter, value);
}

std::uint32_t ThreadProfile::with_value(std::uint32_t node, std::uint32_t parameter,
                                        std::uint64_t value) {
  const auto [found, fresh] = variants_.try_emplace({node, parameter, value}, 0);
  if (!fresh && found->second != 0) return found->second;
  if (file_->places() >= kMaxPlaces) return 0;
  const std::uint32_t place = file_->take();
  if (place == 0) return 0;
  ProfileParameter& one = file_->parameter(place);
  one.node = node;
  one.parameter = parameter;
  one.value = value;
  one.kind = PlaceKind::kParameter;
  const ProfileNode& from = file_->node(node);
  const std::uint32_t to = file_->add(from.parent, from.region);
  if (to == 0) return 0;
  file_->node(to).kind = from.kind;
  file_->node(to).parameter = place;
  return found->second = to;
}

bool ThreadProfile::just_begun() const noexcept {
  return current_ == 0 ||
         file_->header().last.load(std::memory_order_relaxed) <= file_->node(current_).entered;
}

// As if it had begun there, unless something was visited inside it before: then
// the time until now stays where that is counted.
void ThreadProfile::move_visit(std::uint32_t to, std::uint64_t now) noexcept {
  ProfileNode& from = file_->node(current_);
  ProfileNode& next = file_->node(to);
  const std::uint64_t begin = from.entered;
  const bool begun = just_begun();
  next.entered = begun ? begin : std::max(now, begin);
  from.entered = 0;
  from.ticks += next.entered - begin;
  if (from.kind == PlaceKind::kCallPath) {
    ++next.visits;
    --from.visits;
  }
  current_ = to;
}

// Visits beyond the limits are where their limit was reached.
CallPath ThreadProfile::call_path() {
  CallPath path;
  for (std::uint32_t node = current_; node != 0; node = file_->node(node).parent) {
    const ProfileNode& one = file_->node(node);
    if (one.region == spool::kBeyondLimit) continue;
    std::uint32_t place = one.parameter;
    for (; place != 0; place = file_->node(file_->parameter(place).node).parameter) {
      path.push_back({file_->parameter(place).parameter, true, file_->parameter(place).value});
    }
    path.push_back({one.region});
  }
  std::ranges::reverse(path);
  return path;
}

void ThreadProfile::begin_below(const CallPath& path) noexcept {
  end_below();
  if (current_ != 0 || beyond() != 0) return;
  try {
    const KeepOff of_allocation;
    std::uint32_t node = 0;
    for (const CallPathStep& step : path) {
      if (!step.is_parameter && file_->depth(node) >= max_depth_) break;
      node = twin_of(node, step);
      if (node == 0) return;
    }
    current_ = below_ = node;
  } catch (const std::bad_alloc&) {
    return;  // the regions are roots
  }
}

// 0: there is no space.
std::uint32_t ThreadProfile::twin_of(std::uint32_t node, const CallPathStep& step) {
  if (step.is_parameter) return with_value(node, step.id, step.value);
  const std::uint32_t known = twins_.find(node, step.id);
  if (known != ChildTable::kNone) return known;
  if (file_->places() >= kMaxPlaces) return 0;
  const std::uint32_t twin = file_->add(node, step.id);
  if (twin != 0) twins_.insert(node, step.id, twin);
  return twin;
}

std::uint32_t ThreadProfile::metric_place(std::uint32_t node, std::uint32_t metric) noexcept {
  const std::uint32_t known = metrics_.find(node, metric);
  if (known != ChildTable::kNone) return known;
  const std::uint32_t place = file_->places() < 2 * kMaxPlaces ? file_->take() : 0;
  if (place == 0) return 0;
  ProfileMetric& one = file_->metric(place);
  one.node = node;
  one.metric = metric;
  one.kind = PlaceKind::kMetric;
  file_->publish();
  try {
    metrics_.insert(node, metric, place);
  } catch (const std::bad_alloc&) {  // the next value has a place of its own
  }
  return place;
}

void ThreadProfile::wait(std::uint32_t metric, std::uint64_t nanoseconds) noexcept {
  const std::uint32_t node = counting_node();
  std::uint32_t place = waits_.find(node, 0);
  if (place == ChildTable::kNone) {
    place = file_->places() < kAllPlaces ? file_->take() : 0;
    if (place == 0) return;
    spool::ProfileSamples& fresh = file_->samples(place);
    fresh.node = node;
    fresh.metric = metric;
    fresh.count = 1;
    fresh.kind = PlaceKind::kSamples;
    file_->publish();
    try {
      waits_.insert(node, 0, place);
    } catch (const std::bad_alloc&) {  // what comes next has a place of its own
    }
  }
  file_->samples(place).values[0] += nanoseconds;
}

void ThreadProfile::metric(std::uint32_t metric, double value) noexcept {
  const std::uint32_t place = current_ != 0 ? metric_place(counting_node(), metric) : 0;
  if (place == 0) return writer_.count_lost(1);
  ProfileMetric& one = file_->metric(place);
  one.least = one.count == 0 ? value : std::min(one.least, value);
  one.most = one.count == 0 ? value : std::max(one.most, value);
  one.sum += value;
  one.squares += value * value;
  ++one.count;
}

void ThreadProfile::resume(std::uint32_t region, std::uint64_t now) noexcept {
  if (beyond() != 0) return enter_beyond(0, now);
  if (too_deep()) region = spool::kBeyondLimit;
  const std::uint32_t child = file_->add(current_, region);
  if (child == 0) return enter_beyond(0, now);
  ProfileNode& node = file_->node(child);
  node.kind = PlaceKind::kContinued;
  node.entered = now;
  current_ = child;
  if (inside_rest()) enter_beyond(0, now);
}

std::uint64_t ThreadProfile::events() noexcept {
  std::uint64_t events = 0;
  for (std::uint32_t i = 1; i < file_->places(); ++i) {
    const ProfileNode& node = file_->node(i);
    const bool open = node.entered != 0;
    const bool rest = node.region == spool::kBeyondLimit;  // beyond() counts its visits
    if (node.kind == PlaceKind::kCallPath) events += 2 * node.visits - (open && !rest ? 1 : 0);
    // Entered before.
    if (node.kind == PlaceKind::kContinued) events += 2 * node.visits + (open ? 0 : 1);
  }
  if (!inside_rest()) return events;
  const bool continued = file_->node(current_).kind == PlaceKind::kContinued;
  return events - std::min<std::uint64_t>(events, beyond() - (continued ? 1 : 0));
}

std::uint64_t ThreadProfile::bytes() const noexcept {
  std::uint64_t places = file_->places();
  if (sampling_ != nullptr && sampling_->process_file != nullptr) {
    places += sampling_->process_file->places();
  }
  return places * sizeof(ProfileNode);
}

void ThreadProfile::sample_with(Sampler& sampler, std::uint64_t now, bool sampled) noexcept {
  try {
    auto sampling = std::make_unique<Sampling>(Sampling{sampler, {}, nullptr, {}});
    const auto known = [&](std::span<const std::uint64_t> values) {
      return sampled ? values : std::span<const std::uint64_t>{};
    };
    if (!sampler.of_thread().empty()) {
      sampling->of_thread.emplace(*file_, sampler.thread_counts(), known(sampler.of_thread()));
    }
    if (!sampler.of_process().empty()) {
      sampling->process_file = process_file(sampler.process_location(), now, sampled);
    }
    if (sampling->process_file != nullptr) {
      sampling->of_process.emplace(*sampling->process_file, sampler.process_counts(),
                                   known(sampler.of_process()));
    }
    sampling_ = std::move(sampling);
    rare_ |= kSampling;
  } catch (const std::bad_alloc&) {
    writer_.count_lost(1);
  }
}

std::unique_ptr<spool::ProfileWriter> ThreadProfile::process_file(std::uint32_t location,
                                                                  std::uint64_t now,
                                                                  bool continues) noexcept {
  int error = 0;
  auto file = spool::ProfileWriter::create(writer_.directory(), location, now, &error);
  if (file == nullptr) {
    writer_.count_lost(1);
  } else if (continues) {
    file->header().continues = 1;
  }
  return file;
}

// Before what ends or begins now is known to have.
void ThreadProfile::sample(std::uint64_t now) noexcept {
  Sampling& all = *sampling_;
  all.sampler.sample();
  if (all.of_thread && !all.of_thread->take(counting_node(), all.sampler.of_thread())) {
    writer_.count_lost(1);
  }
  if (!all.of_process) return;
  if (!all.of_process->take(0, all.sampler.of_process())) writer_.count_lost(1);
  all.process_file->header().last.store(now, std::memory_order_relaxed);
}

void ThreadProfile::seal() noexcept {
  file_->seal();
  if (sampling_ != nullptr && sampling_->process_file != nullptr) sampling_->process_file->seal();
}

void ThreadProfile::abandon() noexcept {
  file_->abandon();
  if (sampling_ != nullptr && sampling_->process_file != nullptr) {
    sampling_->process_file->abandon();
  }
}

}  // namespace timeloom::record
