#include "formats/perfetto/gpu_works.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <mutex>
#include <string_view>

#include "profile/gpu/gpu_launch.hpp"

namespace timeloom::perfetto {
namespace {

// Of a location with the name CUDA[device:stream].
std::optional<std::int32_t> device_in(const Location& location) {
  constexpr std::string_view kBegin = "CUDA[";
  const std::string_view name = location.name;
  if (location.type != LocationType::kAcceleratorStream || !name.starts_with(kBegin)) return {};
  std::int32_t device = 0;
  const auto read = std::from_chars(name.data() + kBegin.size(), name.data() + name.size(), device);
  const bool whole = read.ec == std::errc() && read.ptr != name.data() + name.size();
  return whole && *read.ptr == ':' && device >= 0 ? std::optional(device) : std::nullopt;
}

// Traces of other tools have other events on their streams.
bool has_gpu_records(const Definitions& definitions) {
  return std::ranges::any_of(definitions.regions, [](const Region& region) {
    return region.group == kGpuKernels || region.group == kGpuCopies;
  });
}

}  // namespace

// Numbers the works of all streams as their writers do.
class GpuWorks::Finder : public RunSink {
 public:
  Finder(const Definitions& definitions, const GpuWorks& works)
      : works_(works), definitions_(definitions), launches_(definitions) {}

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<Stream>(*this, location);
  }
  void finish() override {}
  std::vector<LaunchedWork> take() {
    std::ranges::sort(found_);
    return std::move(found_);
  }

 private:
  class Stream : public LocationSink {
   public:
    Stream(Finder& all, const Location& location)
        : all_(all),
          process_(location.group),
          index_(static_cast<std::size_t>(
              std::ranges::lower_bound(all.definitions_.locations, location.id, {}, &Location::id) -
              all.definitions_.locations.begin())),
          is_stream_(all.works_.device_of(index_).has_value()) {}
    void consume(std::span<const Event> events) override {
      if (!is_stream_) return;
      for (const Event& event : events) {
        if (event.kind == EventKind::kEnter) ++number_;
        const auto end = all_.launches_.end_of(event, ticks(event.time), 0, process_);
        if (end && end->is_work) launched_.push_back({end->number, event_id(index_, number_)});
      }
    }
    void finish() override {
      const std::lock_guard lock(all_.mutex_);
      all_.found_.insert(all_.found_.end(), launched_.begin(), launched_.end());
    }

   private:
    Finder& all_;
    LocationGroupId process_;
    std::size_t index_;
    bool is_stream_;
    std::uint64_t number_ = 0;
    std::vector<LaunchedWork> launched_;
  };

  const GpuWorks& works_;
  const Definitions& definitions_;
  GpuLaunches launches_;
  std::mutex mutex_;
  std::vector<LaunchedWork> found_;
};

GpuWorks::GpuWorks(RunSource& run, unsigned threads) {
  const Definitions& definitions = run.definitions();
  devices_.resize(definitions.locations.size());
  if (!has_gpu_records(definitions)) return;
  std::ranges::transform(definitions.locations, devices_.begin(), device_in);
  any_ = std::ranges::any_of(devices_, [](const auto& device) { return device.has_value(); });
  if (!any_) return;
  Finder finder(definitions, *this);
  const std::array<RunSink*, 1> sinks = {&finder};
  run.replay(sinks, threads);
  launched_ = finder.take();
}

std::span<const LaunchedWork> GpuWorks::started_by(std::uint64_t launch) const noexcept {
  // Clang 14 cannot compile std::ranges::equal_range with GCC 12's library.
  const auto first = std::ranges::lower_bound(launched_, launch, {}, &LaunchedWork::launch);
  const auto last = std::ranges::upper_bound(launched_, launch, {}, &LaunchedWork::launch);
  return {first, last};
}

}  // namespace timeloom::perfetto
