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
#include "formats/packed/part.hpp"
#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  std::uint64_t number = 0;
  while (number == 0) number = std::uint64_t{device()} << 32 | device();
  return number;
}

using Written = PackedLocationFacts;

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

// The blocks of the locations, and their counts.
class BlockFile {
 public:
  BlockFile(const std::filesystem::path& path, std::uint64_t run)
      : file(path, run != 0 ? run : random_number()) {}

  void begin(const Definitions& definitions) {
    definitions_ = &definitions;
    counter_.emplace(definitions);
  }
  void append(const Location& location, std::uint64_t number, const PackedBlock& block) {
    SectionHead head;
    head.kind = SectionKind::kBlock;
    head.location = location.id.value();
    head.number = static_cast<std::uint32_t>(number);
    head.events = block.events;
    head.first = block.first;
    file.append(head, block.body);
  }
  void add(LocationId location, const Written& written) {
    const std::lock_guard lock(mutex_);
    written_[location] = written;
  }
  const Definitions& definitions() const noexcept { return *definitions_; }
  bool counts(const Event& event) const { return counter_->counts(event); }
  Written written(LocationId location) const {
    const auto found = written_.find(location);
    return found == written_.end() ? Written() : found->second;
  }
  const std::map<LocationId, Written>& written() const noexcept { return written_; }
  std::unique_ptr<LocationSink> open(const Location& location);

  FileWriter file;

 private:
  const Definitions* definitions_ = nullptr;
  std::optional<EventCounter> counter_;
  std::mutex mutex_;
  std::map<LocationId, Written> written_;
};

class BlocksWriter : public BlocksSink {
 public:
  explicit BlocksWriter(const std::filesystem::path& file) : blocks_(file, 0) {}

  void begin(const Definitions& definitions) override { blocks_.begin(definitions); }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return blocks_.open(location);
  }
  void finish() override {}
  std::uint64_t number() const override { return blocks_.file.run(); }
  PackedLocationFacts facts(LocationId location) const override {
    return blocks_.written(location);
  }

 private:
  BlockFile blocks_;
};

Bytes compressed(const Bytes& bytes) {
  StreamWriter streams;
  streams.add(thread_compressor(), 0, bytes);
  return streams.take();
}

class PackedWriter : public TraceSink {
 public:
  PackedWriter(const std::filesystem::path& file, std::uint64_t run) : blocks_(file, run) {}

  void take(TakenPart&& part) override { parts_.push_back(std::move(part)); }

  void begin(const Definitions& definitions) override {
    definitions_ = &definitions;
    blocks_.begin(definitions);
    blocks_.file.has_version(version_of(definitions));
    append(SectionKind::kDefinitions, bytes_of(definitions));
    if (definitions.original) append(SectionKind::kOriginal, bytes_of(*definitions.original));
    for (const TakenPart& part : parts_) append(part);
    parts_.clear();
  }

  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return blocks_.open(location);
  }

  void finish() override {
    RunEnd end;
    end.properties = definitions_->properties;
    for (const Location& location : definitions_->locations) {
      end.locations.push_back(blocks_.written(location.id).counts);
    }
    end.clock = clock_of_run();
    append(SectionKind::kEnd, bytes_of(end));
    blocks_.file.check();
    (void)open(blocks_.file.path());  // its definitions and its end can be read
  }

 private:
  std::uint16_t version_of(const Definitions& definitions) const noexcept {
    const bool later =
        !definitions.contexts.empty() ||
        std::ranges::any_of(definitions.regions, [](const Region& region) {
          return region.paradigm > Paradigm::kKokkos || region.role > RegionRole::kDeallocate;
        });
    if (definitions.original) return later ? kVersion : kVersionOfOriginal;
    if (later) return kVersionOfLaterKinds;
    return parts_.empty() ? 1 : kVersionOfParts;
  }

  void append(SectionKind kind, const Bytes& bytes, std::uint64_t part = 0) {
    SectionHead head;
    head.kind = kind;
    head.location = part;
    head.first = bytes.size();
    blocks_.file.append(head, compressed(bytes));
  }

  void append(const TakenPart& part) {
    append(SectionKind::kPart, bytes_of(part.meaning()), part.number);
    std::uint64_t sections = 0;
    for (const TakenPart::OfLocation& one : part.locations) {
      sections += one.facts.counts.blocks;
      blocks_.add(one.here, one.facts);
    }
    blocks_.file.copy(part.open(), part.at, part.size, part.number, sections);
  }

  // From the first to the last time of everything that the run contains.
  ClockProperties clock_of_run() const {
    ClockProperties clock = definitions_->clock;
    std::uint64_t first = clock.begin, last = clock.begin + clock.length;
    for (const auto& [id, one] : blocks_.written()) {
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

  BlockFile blocks_;
  const Definitions* definitions_ = nullptr;
  std::vector<TakenPart> parts_;
};

class PackedLocation : public LocationSink {
 public:
  PackedLocation(BlockFile& writer, const Location& location)
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

  BlockFile& writer_;
  const Location location_;
  BlockPacker packer_;
  Written written_;
};

std::unique_ptr<LocationSink> BlockFile::open(const Location& location) {
  return std::make_unique<PackedLocation>(*this, location);
}

}  // namespace

std::unique_ptr<TraceSink> create(const std::filesystem::path& file, std::uint64_t run) {
  return std::make_unique<PackedWriter>(file, run);
}

std::uint64_t size_of_definitions(const Definitions& definitions) {
  RunEnd end;
  end.properties = definitions.properties;
  end.locations.resize(definitions.locations.size());
  const std::uint64_t heads = 2 * sizeof(SectionHead);
  return heads + compressed(bytes_of(definitions)).size() + compressed(bytes_of(end)).size();
}

std::unique_ptr<BlocksSink> create_blocks(const std::filesystem::path& file) {
  return std::make_unique<BlocksWriter>(file);
}

}  // namespace timeloom::packed
