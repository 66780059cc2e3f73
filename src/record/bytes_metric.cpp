#include "record/bytes_metric.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <new>

#include "core/io.hpp"
#include "core/mpi/mpi_event.hpp"
#include "core/mpi/one_sided_metrics.hpp"
#include "record/measurement_state.hpp"

namespace timeloom::record {
namespace {

constexpr std::array<const char*, 6> kNames = {kIoBytesRead,   kIoBytesWritten, kBytesSent,
                                               kBytesReceived, kBytesPut,       kBytesGot};
constexpr unsigned kNumberShift = 32;

// By BytesOf: the number of the measurement that the metric is defined in, and its id there.
constinit std::array<std::atomic<std::uint64_t>, kNames.size()> g_known{};

[[gnu::noinline, gnu::cold]] MetricId define_bytes(std::size_t index) noexcept try {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::uint64_t number = measurement_number();
  const MetricId id =
      s.definitions.metric(kNames[index], "bytes", MetricValueType::kUint64, s.writer.get());
  if (active())
    g_known[index].store(number << kNumberShift | id.value(), std::memory_order_relaxed);
  return id;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

MetricId bytes_metric(BytesOf what) noexcept {
  const auto index = static_cast<std::size_t>(what);
  const std::uint64_t known = g_known[index].load(std::memory_order_relaxed);
  if (known >> kNumberShift != measurement_number()) return define_bytes(index);
  return MetricId{static_cast<std::uint32_t>(known)};
}

}  // namespace timeloom::record
