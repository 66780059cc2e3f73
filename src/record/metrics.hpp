// Metrics that are sampled at every enter and leave: counters of the operating system
// (getrusage) and of the processor (PAPI). They are chosen before a measurement; a measurement
// without any pays nothing for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "record/native/papi.hpp"

namespace timeloom::record {

struct MetricNames {
  std::vector<std::string> rusage;
  std::vector<std::string> papi;
  bool empty() const noexcept { return rusage.empty() && papi.empty(); }
  std::size_t size() const noexcept { return rusage.size() + papi.size(); }
};

struct MetricPlan {
  MetricNames thread;   // of the thread, on every location
  MetricNames process;  // of the process, on a location of its own, by its first thread
  bool any() const noexcept { return !thread.empty() || !process.empty(); }
};

// As in the settings: names with a separator between them, or `all`.
struct MetricTexts {
  std::string rusage, rusage_per_process, rusage_separator;
  std::string papi, papi_per_process, papi_separator;
  // The names of getrusage as the user wrote them, to open the message of an Error.
  std::string rusage_origin = "metric-rusage";
  std::string rusage_per_process_origin = "metric-rusage-per-process";
};
// Throws Error for a name that is not known, and when PAPI is wanted and cannot count.
MetricPlan plan_metrics(const MetricTexts& texts);

// The cost of one sample on this machine, in seconds.
double sample_seconds(const MetricPlan& plan) noexcept;

// The definitions of the sampled metrics, in the order of the values.
std::vector<Metric> metrics_of(const MetricNames& names, bool of_process);

// Samples on one thread, on which it is made. Where another thread closes the open regions of
// this one, sample() does nothing and the last values still hold.
class Sampler {
 public:
  // `thread`, `process`: the id of the first of each kind, which the others follow;
  // undefined: none. Throws Error.
  Sampler(const MetricPlan& plan, MetricId thread, MetricId process,
          std::uint32_t process_location);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void sample() noexcept;
  // The first id, then the values; empty: none.
  std::span<const std::uint64_t> of_thread() const noexcept { return thread_; }
  std::span<const std::uint64_t> of_process() const noexcept { return process_; }
  // For each value, whether it is a counter; the others are summarised by their maximum.
  const std::vector<bool>& thread_counts() const noexcept { return thread_counts_; }
  const std::vector<bool>& process_counts() const noexcept { return process_counts_; }
  std::uint32_t process_location() const noexcept { return process_location_; }
  // At most, in the records of one sample.
  std::size_t words() const noexcept { return thread_.size() + process_.size() + 8; }

 private:
  void sample_rusage(int who, std::span<const std::uint32_t> fields,
                     std::span<std::uint64_t> values) noexcept;

  std::vector<std::uint32_t> thread_fields_;  // of rusage
  std::vector<std::uint32_t> process_fields_;
  std::vector<bool> thread_counts_;
  std::vector<bool> process_counts_;
  std::vector<std::uint64_t> thread_;
  std::vector<std::uint64_t> process_;
  std::vector<std::uint64_t> papi_values_;
  std::size_t papi_of_thread_ = 0;
  std::uint32_t process_location_;
  std::unique_ptr<PapiCounters> papi_;
  std::uintptr_t owner_;  // pthread id
};

}  // namespace timeloom::record
