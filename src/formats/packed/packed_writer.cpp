// The file as a whole: its definitions, the blocks of all locations, its end.

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "formats/packed/block_packer.hpp"
#include "formats/packed/packed.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "formats/packed/packed_file.hpp"
#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  std::uint64_t number = 0;
  while (number == 0) number = std::uint64_t{device()} << 32 | device();
  return number;
}

// The counts and times of one location.
struct Written {
  RunEnd::OfLocation counts;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
};

// The events as an OTF2 trace counts them: the values of counters that are sampled together are
// one.
class EventCounter {
 public:
  explicit EventCounter(const Definitions& definitions)
      : counts_(definitions.metrics.size(), true) {
    std::map<std::string, std::size_t> last;
    for (std::size_t i = 0; i < definitions.metrics.size(); ++i) {
      const Metric& metric = definitions.metrics[i];
      if (!metric.sampled()) continue;
      const auto [before, fresh] = last.try_emplace(metric.set, i);
      if (!fresh) counts_[std::exchange(before->second, i)] = false;
    }
  }
  bool counts(const Event& event) const {
    if (event.kind <= EventKind::kLeave) return true;
    if (event.kind == EventKind::kMetric) return event.ref >= counts_.size() || counts_[event.ref];
    return !is_no_event(event.kind);
  }

 private:
  std::vector<bool> counts_;  // by metric
};

class PackedWriter : public RunSink {
 public:
  PackedWriter(const std::filesystem::path& file, std::uint64_t run)
      : file_(file, run != 0 ? run : random_number()) {}

  void begin(const Definitions& definitions) override {
    definitions_ = &definitions;
    counter_.emplace(definitions);
    append(SectionKind::kDefinitions, bytes_of(definitions));
  }

  std::unique_ptr<LocationSink> open_location(const Location& location) override;

  void finish() override {
    RunEnd end;
    end.properties = definitions_->properties;
    for (const Location& location : definitions_->locations) {
      end.locations.push_back(written_[location.id].counts);
    }
    end.clock = clock_of_run();
    append(SectionKind::kEnd, bytes_of(end));
    file_.check();
    (void)open(file_.path());  // its definitions and its end can be read
  }

  void append(const Location& location, std::uint64_t number, const PackedBlock& block) {
    SectionHead head;
    head.kind = SectionKind::kBlock;
    head.location = location.id.value();
    head.number = static_cast<std::uint32_t>(number);
    head.events = block.events;
    head.first = block.first;
    file_.append(head, block.body);
  }
  void add(LocationId location, const Written& written) {
    const std::lock_guard lock(mutex_);
    written_[location] = written;
  }
  const Definitions& definitions() const noexcept { return *definitions_; }
  bool counts(const Event& event) const { return counter_->counts(event); }

 private:
  void append(SectionKind kind, const Bytes& bytes) {
    StreamWriter streams;
    streams.add(thread_compressor(), 0, bytes);
    SectionHead head;
    head.kind = kind;
    head.first = bytes.size();
    file_.append(head, streams.take());
  }

  // From the first to the last time of everything that the run contains.
  ClockProperties clock_of_run() const {
    ClockProperties clock = definitions_->clock;
    std::uint64_t first = clock.begin, last = clock.begin + clock.length;
    for (const auto& [id, one] : written_) {
      first = std::min(first, one.first);
      last = std::max(last, one.last);
    }
    for (const Marker& marker : definitions_->markers) {
      first = std::min(first, ticks(marker.time));
      last = std::max(last, ticks(marker.time));
    }
    if (clock.realtime) {
      const double earlier = static_cast<double>(clock.begin - first) * 1e9 /
                             static_cast<double>(clock.ticks_per_second);
      const auto shift = static_cast<std::uint64_t>(std::llround(earlier));
      clock.realtime = *clock.realtime - std::min(shift, *clock.realtime);
    }
    clock.begin = first;
    clock.length = last - first;
    return clock;
  }

  FileWriter file_;
  const Definitions* definitions_ = nullptr;
  std::optional<EventCounter> counter_;
  std::mutex mutex_;
  std::map<LocationId, Written> written_;
};

class PackedLocation : public LocationSink {
 public:
  PackedLocation(PackedWriter& writer, const Location& location)
      : writer_(writer), location_(location), packer_(writer.definitions()) {}

  void consume(std::span<const Event> events) override {
    if (events.empty()) return;
    written_.first = std::min(written_.first, ticks(events.front().time));
    written_.last = std::max(written_.last, ticks(events.back().time));
    written_.counts.packed += events.size();
    for (const Event& event : events) written_.counts.events += writer_.counts(event) ? 1 : 0;
    while (!events.empty()) {
      events = events.subspan(packer_.add(events));
      if (packer_.full()) flush();
    }
  }

  void finish() override {
    if (!packer_.empty()) flush();
    writer_.add(location_.id, written_);
  }

 private:
  void flush() { writer_.append(location_, written_.counts.blocks++, packer_.take()); }

  PackedWriter& writer_;
  const Location location_;
  BlockPacker packer_;
  Written written_;
};

std::unique_ptr<LocationSink> PackedWriter::open_location(const Location& location) {
  return std::make_unique<PackedLocation>(*this, location);
}

}  // namespace

std::unique_ptr<RunSink> create(const std::filesystem::path& file, std::uint64_t run) {
  return std::make_unique<PackedWriter>(file, run);
}

}  // namespace timeloom::packed
