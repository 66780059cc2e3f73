#include "core/measuring_cost.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "core/text/number_text.hpp"

namespace timeloom {
namespace {

template <typename Cost>
using Fields = std::span<const std::pair<std::string_view, double Cost::*>>;

constexpr std::pair<std::string_view, double ProcessCost::*> kProcessFields[] = {
    {"events", &ProcessCost::events},
    {"event", &ProcessCost::event},
    {"inside", &ProcessCost::inside},
    {"ignored", &ProcessCost::ignored},
    {"functions", &ProcessCost::functions},
    {"start", &ProcessCost::start},
    {"recorder", &ProcessCost::recorder},
    {"cpu", &ProcessCost::cpu},
    {"wall", &ProcessCost::wall},
    {"running", &ProcessCost::running},
    {"peak", &ProcessCost::peak},
    {"resident", &ProcessCost::resident},
    {"timed", &ProcessCost::timed},
    {"callback", &ProcessCost::callback},
    {"sights", &ProcessCost::registrations},
    {"callbacks", &ProcessCost::callbacks},
    {"sight", &ProcessCost::registration},
    {"ignored_callback", &ProcessCost::ignored_callback},
    {"quick_event", &ProcessCost::quick_event},
    {"quick_callback", &ProcessCost::quick_callback},
    {"per_tick", &ProcessCost::per_tick},
};
constexpr std::pair<std::string_view, double MeasuringCost::*> kRunFields[] = {
    {"events", &MeasuringCost::events},   {"functions", &MeasuringCost::functions},
    {"start", &MeasuringCost::start},     {"recorder", &MeasuringCost::recorder},
    {"weave", &MeasuringCost::weave},     {"cpu", &MeasuringCost::cpu},
    {"wall", &MeasuringCost::wall},       {"event", &MeasuringCost::event},
    {"inside", &MeasuringCost::inside},   {"timed", &MeasuringCost::timed},
    {"unknown", &MeasuringCost::unknown},
};

// "name=number name=number"
template <typename Cost>
std::string share_text(const Cost& cost, Fields<Cost> fields) {
  std::string text;
  for (const auto& [name, field] : fields) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(general_text(cost.*field));
  }
  return text;
}

template <typename Cost>
Cost cost_of(std::string_view text, Fields<Cost> fields) {
  Cost cost;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    for (const auto& [name, field] : fields) {
      if (!word.starts_with(name) || !word.substr(name.size()).starts_with('=')) continue;
      double value = 0;
      const std::string_view digits = word.substr(name.size() + 1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (read.ec == std::errc() && std::isfinite(value) && value > 0) cost.*field = value;
    }
  }
  return cost;
}

double share(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

// `event` and `inside` become sums over all events.
void add_events(const ProcessCost& process, MeasuringCost& sum, double& events) noexcept {
  events += process.events;
  sum.event += process.events * process.event;
  sum.inside += process.events * process.inside;
  sum.events += process.events * process.event + process.ignored;
  sum.functions += process.functions;
}

// The cost of a process, computed with the calibration of another one.
ProcessCost as_calibrated(ProcessCost process, const ProcessCost& other) noexcept {
  process.event = other.event;
  if (process.callback > 0 && other.quick_callback > 0) {
    const double more = std::max(process.callback - other.quick_callback, 0.0);
    process.event = other.quick_event + more * other.per_tick;
  }
  process.inside = std::max(other.inside + process.event - other.event, 0.0);
  process.functions += process.registrations * other.registration;
  process.ignored += process.callbacks * other.ignored_callback;
  return process;
}

}  // namespace

std::string process_cost_property(std::size_t group) {
  return std::string(kProcessCost) + "_" + std::to_string(group);  // OTF2 makes a dot that
}

std::string to_text(const ProcessCost& cost) {
  return share_text<ProcessCost>(cost, kProcessFields);
}
std::string to_text(const MeasuringCost& cost) {
  return share_text<MeasuringCost>(cost, kRunFields);
}
ProcessCost process_cost_of(std::string_view text) {
  return cost_of<ProcessCost>(text, kProcessFields);
}

std::optional<MeasuringCost> measuring_cost_of(
    const std::map<std::string, std::string>& properties) {
  const auto found = properties.find(kRunCost);
  if (found == properties.end()) return std::nullopt;
  const auto cost = cost_of<MeasuringCost>(found->second, kRunFields);
  if (cost.cpu > 0 && cost.total() >= cost.cpu) return std::nullopt;
  return cost;
}

CallCost MeasuringCost::call() const noexcept {
  const double within = std::min(inside, 2 * event);
  return {within, 2 * event - within, most_of_stated()};
}

// The number may come from a file.
std::uint64_t MeasuringCost::unknown_processes() const noexcept {
  constexpr double kMost = 1e9;
  return static_cast<std::uint64_t>(std::min(unknown, kMost));
}

double MeasuringCost::most_of_stated() const noexcept {
  constexpr double kEnough = 1000;  // callbacks, for a mean
  return timed >= kEnough ? 2 : 3;
}

void CostSum::add(const ProcessCost& process) {
  sum_.timed += process.timed;
  sum_.start += process.start;
  sum_.recorder += process.recorder;
  sum_.cpu += process.cpu;
  sum_.wall = std::max(sum_.wall, process.wall);
  if (process.event > 0) {
    last_ = process;
    add_events(process, sum_, events_);
  } else {
    uncalibrated_.push_back(process);
  }
}

std::optional<MeasuringCost> CostSum::sum() const {
  if (last_.event == 0) return std::nullopt;
  MeasuringCost sum = sum_;
  double events = events_;
  for (const ProcessCost& process : uncalibrated_) {
    add_events(as_calibrated(process, last_), sum, events);
  }
  sum.event = share(sum.event, events);
  sum.inside = share(sum.inside, events);
  return sum;
}

Shares shares_of(const MeasuringCost& cost) noexcept {
  // For a short program the estimate may exceed the measured CPU time.
  const double cpu = std::min(share(cost.total(), cost.cpu), 1.0);
  return {cpu, std::min(share(cost.total() - cost.recorder, std::max(cost.wall, cost.cpu)), 1.0),
          error_range_of(cpu, cost.most_of_stated())};
}

ErrorRange error_range_of(double share, double most_of_stated) noexcept {
  constexpr double kPoints = 0.02;
  return {std::max(std::min(kLeastOfStated * share, share - kPoints), 0.0),
          std::min(std::max(most_of_stated * share, share + kPoints), 1.0)};
}

}  // namespace timeloom
