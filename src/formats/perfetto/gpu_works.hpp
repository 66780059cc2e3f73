// The work on GPUs in a file of Perfetto: which locations are streams, and the works of each call.
//
// Built by one thread, then constant and readable from any number of threads. Throws what the run
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/event.hpp"

namespace timeloom::perfetto {

// A work, and the launch that started it (see GpuLaunches).
struct LaunchedWork {
  std::uint64_t launch = 0;
  std::uint64_t event = 0;  // GpuWorks::event_id()
  auto operator<=>(const LaunchedWork&) const = default;
};

class GpuWorks {
 public:
  // Reads all events of the run once more if it has streams.
  GpuWorks(RunSource& run, unsigned threads);

  // False: the run has no streams, and no call started work.
  bool any() const noexcept { return any_; }
  // The device of a stream; nullopt: the location is not a stream. `location`: its index.
  std::optional<std::int32_t> device_of(std::size_t location) const noexcept {
    return devices_[location];
  }
  // The works that the call with this number has started.
  std::span<const LaunchedWork> started_by(std::uint64_t launch) const noexcept;
  // Of the work with this number on its stream, from 1 on.
  static std::uint64_t event_id(std::size_t location, std::uint64_t number) noexcept {
    return (std::uint64_t{location} + 1) << 40 | number;
  }

 private:
  class Finder;

  std::vector<std::optional<std::int32_t>> devices_;  // by location
  bool any_ = false;
  std::vector<LaunchedWork> launched_;  // in order
};

}  // namespace timeloom::perfetto
