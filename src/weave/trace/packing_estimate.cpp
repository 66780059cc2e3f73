#include "weave/trace/packing_estimate.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/packed/block_packer.hpp"
#include "formats/packed/packed.hpp"
#include "run/contents.hpp"
#include "weave/run.hpp"
#include "weave/trace/pack_trace.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::weave {
namespace {

namespace fs = std::filesystem;

// Ends the reading of a trace.
struct Enough {};

// Packs events into memory, and throws Enough when it has enough of them.
class TryPacking : public RunSink {
 public:
  explicit TryPacking(std::uint64_t most) : most_(most) {}

  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<OfLocation>(*this);
  }
  void finish() override {}

  bool has_enough() const noexcept { return events_ >= most_; }
  std::uint64_t events() const noexcept { return events_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  class OfLocation : public LocationSink {
   public:
    explicit OfLocation(TryPacking& all) : all_(all), packer_(*all.definitions_) {}
    void consume(std::span<const Event> events) override {
      while (!events.empty()) {
        events = events.subspan(packer_.add(events));
        if (packer_.full()) take();
      }
    }
    void finish() override {
      if (!packer_.empty()) take();
    }

   private:
    void take() {
      const packed::PackedBlock block = packer_.take();
      all_.events_ += block.events;
      all_.bytes_ += packed::size_of_block(block);
      if (all_.has_enough()) throw Enough();
    }
    TryPacking& all_;
    packed::BlockPacker packer_;
  };

  const std::uint64_t most_;
  const Definitions* definitions_ = nullptr;
  std::uint64_t events_ = 0, bytes_ = 0;
};

// All events of the trace, as it counts them itself.
std::uint64_t events_of(const Definitions& definitions) {
  std::uint64_t events = 0;
  for (const Location& location : definitions.locations) events += location.event_count;
  return events;
}

}  // namespace

std::optional<PackingEstimate> packing_estimate(const fs::path& run, std::uint64_t most_events) {
  TryPacking sink(most_events);
  try {
    std::error_code none;
    const bool traced = fs::is_directory(run, none) && has_trace(run) && can_be_packed(run);
    if (!traced) return std::nullopt;
    const std::unique_ptr<RunSource> trace = otf2::open(trace_of(run));
    const std::array<RunSink*, 1> sinks = {&sink};
    const std::uint64_t all = events_of(trace->definitions());
    try {
      trace->replay(sinks, 1);
    } catch (const Enough&) {  // NOLINT(bugprone-empty-catch): the rest is like it
    }
    if (sink.events() == 0) return std::nullopt;
    const double share =
        std::max(1.0, static_cast<double>(all) / static_cast<double>(sink.events()));
    const auto blocks = static_cast<std::uint64_t>(static_cast<double>(sink.bytes()) * share);
    const std::uint64_t packed = blocks + packed::size_of_definitions(trace->definitions());
    const bool is_sure = !is_of_another_tool(trace->definitions());
    return PackingEstimate{bytes_of_trace(run), packed, sink.events(), is_sure};
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace timeloom::weave
