// Decodes the records of one segment into events.
//
// Decodes in batches, so that events are still in the cache when they are passed on. Used by
// one thread; does not own the words. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "core/event_word.hpp"

namespace timeloom::spool {

class SegmentDecoder {
 public:
  // The locations that have appeared in a stream whose first segments are missing.
  using Appeared = std::set<std::uint32_t>;

  SegmentDecoder() = default;
  // `base`: the ticks from which the records count their times. `thread`: the location that
  // owns the stream. `appeared`: nullptr if no segment is missing; otherwise, when a location
  // appears for the first time, the regions open on it are entered there.
  SegmentDecoder(std::span<const EventWord> words, std::uint64_t base, std::uint32_t thread = 0,
                 Appeared* appeared = nullptr);

  // Appends the next events, `most` or a few more; false: these were the last, up to a zero
  // word, a malformed record or the end. `last_ticks` is the time of the event before; it is
  // set to the time of the last event.
  bool decode(std::size_t most, std::uint64_t& last_ticks, std::vector<Event>& events);
  // Words that were decoded.
  std::size_t used() const noexcept { return at_; }

 private:
  void decode_calls(std::size_t most, std::uint64_t& last_ticks, std::vector<Event>& events);
  bool decode_extended(EventWord head, std::uint64_t& last_ticks, std::vector<Event>& events);

  std::span<const EventWord> words_;
  std::size_t at_ = 0;
  std::uint64_t base_ = 0;
  Appeared* appeared_ = nullptr;
  bool enter_open_ = false;  // enter the open regions of the current location
};

}  // namespace timeloom::spool
