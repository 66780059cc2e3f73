#include "record/metrics.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.hpp"
#include "os/clock.hpp"

namespace timeloom::record {
namespace {

struct Field {
  std::string_view name;
  std::string_view unit;
  bool binary;
  std::int32_t exponent;
  MetricMode mode;
  std::uint64_t (*value)(const rusage& usage);
};

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

template <auto kMember>
std::uint64_t number(const rusage& usage) {
  return static_cast<std::uint64_t>(usage.*kMember);
}

constexpr MetricMode kAccumulated = MetricMode::kAccumulatedStart;

// In the order of struct rusage.
constexpr std::array kFields = {
    Field{"ru_utime", "s", false, -6, kAccumulated,
          [](const rusage& usage) { return microseconds(usage.ru_utime); }},
    Field{"ru_stime", "s", false, -6, kAccumulated,
          [](const rusage& usage) { return microseconds(usage.ru_stime); }},
    Field{"ru_maxrss", "Bytes", true, 10, MetricMode::kAbsoluteNext, number<&rusage::ru_maxrss>},
    Field{"ru_ixrss", "Bytes", true, 10, kAccumulated, number<&rusage::ru_ixrss>},
    Field{"ru_idrss", "Bytes", true, 10, kAccumulated, number<&rusage::ru_idrss>},
    Field{"ru_isrss", "Bytes", true, 10, kAccumulated, number<&rusage::ru_isrss>},
    Field{"ru_minflt", "#", false, 0, kAccumulated, number<&rusage::ru_minflt>},
    Field{"ru_majflt", "#", false, 0, kAccumulated, number<&rusage::ru_majflt>},
    Field{"ru_nswap", "#", false, 0, kAccumulated, number<&rusage::ru_nswap>},
    Field{"ru_inblock", "#", false, 0, kAccumulated, number<&rusage::ru_inblock>},
    Field{"ru_oublock", "#", false, 0, kAccumulated, number<&rusage::ru_oublock>},
    Field{"ru_msgsnd", "#", false, 0, kAccumulated, number<&rusage::ru_msgsnd>},
    Field{"ru_msgrcv", "#", false, 0, kAccumulated, number<&rusage::ru_msgrcv>},
    Field{"ru_nsignals", "#", false, 0, kAccumulated, number<&rusage::ru_nsignals>},
    Field{"ru_nvcsw", "#", false, 0, kAccumulated, number<&rusage::ru_nvcsw>},
    Field{"ru_nivcsw", "#", false, 0, kAccumulated, number<&rusage::ru_nivcsw>},
};

const Field* field_of(std::string_view name) {
  const auto found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : &*found;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  if (separator.empty()) separator = ",";
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const bool known = std::ranges::find(names, name) != names.end();
    if (!name.empty() && !known) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> rusage_names(const std::string& text, const std::string& separator,
                                      const std::string& origin) {
  std::vector<std::string> names = split(text, separator);
  if (std::ranges::find(names, "all") != names.end()) {
    names.clear();
    for (const Field& field : kFields) names.emplace_back(field.name);
  }
  const auto wrong = std::ranges::find_if(
      names, [](const std::string& name) { return field_of(name) == nullptr; });
  if (wrong == names.end()) return names;
  std::string known;
  for (const Field& field : kFields) known.append(field.name).append(", ");
  throw Error(origin + ": '" + *wrong + "' is not accepted; write all, or some of " +
              known.substr(0, known.size() - 2) + " [TL101]");
}

std::vector<std::uint32_t> fields_of(const MetricNames& names) {
  std::vector<std::uint32_t> fields;
  for (const std::string& name : names.rusage) {
    fields.push_back(static_cast<std::uint32_t>(field_of(name) - kFields.data()));
  }
  return fields;
}

std::vector<bool> counts_of(const MetricNames& names) {
  std::vector<bool> counts;
  for (const Metric& metric : metrics_of(names, false)) counts.push_back(metric.counts());
  return counts;
}

std::vector<std::uint64_t> words_for(const MetricNames& names, MetricId first) {
  std::vector<std::uint64_t> words;
  if (!first.defined() || names.empty()) return words;
  words.resize(1 + names.size());
  words[0] = first.value();
  return words;
}

}  // namespace

MetricPlan plan_metrics(const MetricTexts& texts) {
  MetricPlan plan;
  plan.thread.rusage = rusage_names(texts.rusage, texts.rusage_separator, texts.rusage_origin);
  plan.process.rusage = rusage_names(texts.rusage_per_process, texts.rusage_separator,
                                     texts.rusage_per_process_origin);
  plan.thread.papi = split(texts.papi, texts.papi_separator);
  plan.process.papi = split(texts.papi_per_process, texts.papi_separator);
  constexpr std::size_t kMost = 100;  // what one record has room for
  if (plan.thread.size() + plan.process.size() > kMost) {
    throw Error("more than 100 metrics are asked for; leave some out [TL053]");
  }
  // By counting a little: so it is known that it goes.
  if (!plan.thread.papi.empty() || !plan.process.papi.empty()) {
    (void)Sampler(plan, MetricId{0}, MetricId{0}, 0);
  }
  return plan;
}

double sample_seconds(const MetricPlan& plan) noexcept {
  if (!plan.any()) return 0;
  try {
    Sampler sampler(plan, MetricId{0}, MetricId{0}, 0);
    constexpr int kTurns = 10, kSamples = 100;
    std::uint64_t shortest = UINT64_MAX;  // what interrupts a turn lengthens it
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::uint64_t before = os::sync_clocks().monotonic_ns;
      for (int i = 0; i < kSamples; ++i) sampler.sample();
      shortest = std::min(shortest, os::sync_clocks().monotonic_ns - before);
    }
    return static_cast<double>(shortest) * 1e-9 / kSamples;
  } catch (const std::exception&) {
    return 0;
  }
}

std::vector<Metric> metrics_of(const MetricNames& names, bool of_process) {
  std::string set = of_process ? "process:" : "thread:";
  for (const auto* list : {&names.rusage, &names.papi}) {
    for (const std::string& name : *list) set += name + ",";
  }
  std::vector<Metric> metrics;
  for (const std::string& name : names.rusage) {
    const Field& field = *field_of(name);
    metrics.push_back({name, std::string(field.unit), "", MetricValueType::kUint64,
                       MetricSource::kRusage, field.mode, field.binary, field.exponent, set});
  }
  for (const std::string& name : names.papi) {
    metrics.push_back({name, "#", "", MetricValueType::kUint64, MetricSource::kPapi, kAccumulated,
                       false, 0, set});
  }
  return metrics;
}

Sampler::Sampler(const MetricPlan& plan, MetricId thread, MetricId process,
                 std::uint32_t process_location)
    : thread_fields_(fields_of(plan.thread)),
      process_fields_(fields_of(plan.process)),
      thread_counts_(counts_of(plan.thread)),
      process_counts_(counts_of(plan.process)),
      thread_(words_for(plan.thread, thread)),
      process_(words_for(plan.process, process)),
      process_location_(process_location),
      owner_(static_cast<std::uintptr_t>(pthread_self())) {
  std::vector<std::string> events;
  if (!thread_.empty()) events = plan.thread.papi;
  papi_of_thread_ = events.size();
  if (!process_.empty()) {
    events.insert(events.end(), plan.process.papi.begin(), plan.process.papi.end());
  }
  papi_values_.resize(events.size());
  if (!events.empty()) papi_ = PapiCounters::start(events);
}

// PAPI lets no other thread stop its counters; they end with their thread.
Sampler::~Sampler() {
  if (owner_ != static_cast<std::uintptr_t>(pthread_self())) (void)papi_.release();
}

void Sampler::sample_rusage(int who, std::span<const std::uint32_t> fields,
                            std::span<std::uint64_t> values) noexcept {
  if (fields.empty()) return;
  rusage usage{};
  ::getrusage(static_cast<__rusage_who_t>(who), &usage);
  for (std::size_t i = 0; i < fields.size(); ++i) values[i] = kFields[fields[i]].value(usage);
}

void Sampler::sample() noexcept {
  if (owner_ != static_cast<std::uintptr_t>(pthread_self())) return;
  if (papi_ != nullptr) papi_->read(papi_values_);
  const auto papi = papi_values_.begin();
  const auto papi_of_thread = static_cast<std::ptrdiff_t>(papi_of_thread_);
  if (!thread_.empty()) {
    const std::span values = std::span(thread_).subspan(1);
    sample_rusage(RUSAGE_THREAD, thread_fields_, values);
    std::copy(papi, papi + papi_of_thread,
              values.begin() + static_cast<std::ptrdiff_t>(thread_fields_.size()));
  }
  if (!process_.empty()) {
    const std::span values = std::span(process_).subspan(1);
    sample_rusage(RUSAGE_SELF, process_fields_, values);
    std::copy(papi + papi_of_thread, papi_values_.end(),
              values.begin() + static_cast<std::ptrdiff_t>(process_fields_.size()));
  }
}

}  // namespace timeloom::record
