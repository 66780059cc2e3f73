// Passes the blocks of one location to its sinks. Regions whose leaves or enters are in a lost
// block are left at the last time before it, or entered at the first time after it.
//
// Used by one thread. Throws what the sinks throw, and std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "formats/packed/block_unpacker.hpp"
#include "formats/packed/packed_file.hpp"
#include "formats/packed/part.hpp"

namespace timeloom::packed {

class LocationReplay {
 public:
  using Sinks = std::span<const std::unique_ptr<LocationSink>>;
  // `part`: the meaning of its blocks; null: they have ids and times of the run. All outlive this.
  LocationReplay(const FileReader& file, const Definitions& definitions, const PartMeaning* part,
                 Sinks sinks)
      : file_(file),
        part_(part),
        unpacker_(part == nullptr ? counts_of(definitions) : part->counts()),
        sinks_(sinks) {}

  // Passes the events of the next block; false: the block is lost.
  bool pass(const Section& section) {
    if (!file_.read(section, body_)) return false;
    if (!unpacker_.unpack({section.head.events, section.head.first}, body_)) return false;
    if (part_ != nullptr && !unpacker_.translate(*part_)) return false;
    const std::vector<Event>& events = unpacker_.events();
    if (events.front().time < last_) return false;
    if (open_ != unpacker_.open()) bridge(unpacker_.open(), events.front().time);
    feed(events);
    open_ = unpacker_.open_at_end();
    last_ = events.back().time;
    passed_ += events.size();
    return true;
  }
  // Leaves the regions that are still open.
  void close_all() { bridge(std::vector<std::uint32_t>(), last_); }
  // The number of events.
  std::uint64_t passed() const noexcept { return passed_; }

 private:
  void bridge(std::span<const std::uint32_t> open, Timestamp time) {
    const auto common = std::ranges::mismatch(open_, open).in1 - open_.begin();
    const auto kept = static_cast<std::size_t>(common);
    std::vector<Event> events;
    for (std::size_t i = open_.size(); i > kept; --i) {
      events.push_back({last_, EventKind::kLeave, open_[i - 1], 0});
    }
    for (const std::uint32_t region : open.subspan(kept)) {
      events.push_back({time, EventKind::kEnter, region, 0});
    }
    feed(events);
  }
  void feed(std::span<const Event> events) {
    if (events.empty()) return;
    for (const auto& sink : sinks_) sink->consume(events);
  }

  const FileReader& file_;
  const PartMeaning* const part_;
  BlockUnpacker unpacker_;
  Sinks sinks_;
  Bytes body_;
  std::vector<std::uint32_t> open_;
  Timestamp last_{};
  std::uint64_t passed_ = 0;
};

}  // namespace timeloom::packed
