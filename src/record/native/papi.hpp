// Counters of the processor, by libpapi. The library is loaded when the first measurement asks
// for such counters, so it is needed neither to build nor to run Timeloom.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace timeloom::record {

// Whether there is a libpapi to load.
bool has_papi() noexcept;

// The events of one thread, counted from start() on. Made, read and destroyed by that thread, which
// has at most one at a time.
class PapiCounters {
 public:
  // Throws Error: no libpapi, no such event, no permission.
  static std::unique_ptr<PapiCounters> start(const std::vector<std::string>& events);
  ~PapiCounters();
  PapiCounters(const PapiCounters&) = delete;
  PapiCounters& operator=(const PapiCounters&) = delete;

  // The values, in the order of the events.
  void read(std::span<std::uint64_t> values) noexcept;

 private:
  explicit PapiCounters(int set) noexcept : set_(set) {}
  int set_;
};

}  // namespace timeloom::record
