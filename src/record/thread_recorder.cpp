#include "record/thread_recorder.hpp"

#include <algorithm>

#include "core/io.hpp"
#include "record/measurement.hpp"

namespace timeloom::record {
namespace {

// Words kept free behind limit_: a time base (2), a waiting (2) and the longest extended record
// (7).
constexpr std::size_t kReserve = 12;

static_assert(alignof(ThreadRecorder) == 64 && sizeof(EventPath) == 64,
              "an event touches one cache line of the recorder");

}  // namespace

void ThreadRecorder::attach(spool::Writer* writer, std::uint32_t location) noexcept {
  writer_ = writer;
  location_ = location;
  sequence_ = 0;
  retired_words_ = 0;
  extra_words_ = samples_ = 0;
  has_tracks_ = false;
  record_depth_ = SIZE_MAX;
  may_hide_ = hides_all_ = false;
  own_.top = own_.base;
  own_.said_in = 0;
  *own_.top = {};
  use(own_);
}

void ThreadRecorder::attach_scratch(std::span<std::uint64_t> words) noexcept {
  attach(nullptr, 0);
  if (push({})) --top_;  // makes the stack: without a writer there is no slow path
  cursor_ = words.data();
  limit_ = end_ = words.data() + words.size() - kReserve;
  base_ = os::now();
}

void ThreadRecorder::detach() noexcept {
  if (profile_ != nullptr) profile_->seal();
  profile_ = nullptr;
  sampler_ = nullptr;
  if (waiting_ != nullptr) writer_->clock_watch().remove(waiting_->place());
  waiting_ = nullptr;
  if (segment_ != nullptr) {
    const auto words = static_cast<std::size_t>(cursor_ - segment_->words());
    retired_words_ += words;
    writer_->retire(segment_, words);
  }
  abandon();
}

void ThreadRecorder::abandon() noexcept {
  if (profile_ != nullptr) profile_->abandon();
  profile_ = nullptr;
  (void)sampler_.release();  // counts for the parent
  waiting_ = nullptr;
  late_ = {};
  horizon_ = kMaxDelta;
  segment_ = nullptr;
  cursor_ = limit_ = end_ = nullptr;
  writer_ = nullptr;
  track_ = nullptr;
  own_.top = own_.base;
  use(own_);
}

void ThreadRecorder::use(OpenStack& stack) noexcept {
  stack_ = &stack;
  top_ = stack.top;
  look_for_hiding();
  const std::size_t deepest = std::min(record_depth_, hidden_depth_);
  stack_end_ = stack.size == 0 ? nullptr : stack.base + std::min(stack.size - 1, deepest);
}

void ThreadRecorder::limit_recorded_depth(std::size_t depth) noexcept {
  record_depth_ = depth;
  use_again();
}

void ThreadRecorder::switch_to(Track* track) noexcept {
  if (track == track_ || !attached()) return;
  const std::uint64_t now = os::now();
  if (profile_ == nullptr && cursor_ != nullptr && now - base_ > horizon_) {
    const std::uint64_t waited = waited_until(now);
    if (waited != 0 && make_room(now, top_)) put_waiting(waited, now);
  }
  stack_->top = top_;
  track_ = track;
  has_tracks_ = true;
  use(track == nullptr ? own_ : track->open_);
  // Without room, the next segment contains it.
  if (has_room(1)) put_switch(now);
}

// The segments before this one may be dropped, with the regions that were open there. They are
// written again in the segment of the switch, since readers take it only where a track appears
// first.
void ThreadRecorder::put_switch(std::uint64_t now) noexcept {
  const bool says_open = writer_->keeps_newest() && stack_->said_in != sequence_;
  constexpr std::size_t kSwitchWords = 4;  // a time base and the track
  if (says_open && !has_room(kSwitchWords + depth() + 1)) {
    (void)next_segment(now, top_);
    return;
  }
  if (!make_room(now, top_)) return;
  put_track(now);
  if (says_open) put_open_regions(now, top_, end_);
}

void ThreadRecorder::put_track(std::uint64_t now) noexcept {
  put_track(track_ == nullptr ? location_ : track_->location_, now);
}

void ThreadRecorder::put_track(std::uint64_t index, std::uint64_t now) noexcept {
  put_extended(ExtendedKind::kTrack, {&index, 1}, now);
  ++extra_words_;  // no event
}

// With the time of the enter or leave that comes next, for which there is room, too.
void ThreadRecorder::put_samples(std::uint64_t now) noexcept {
  sampler_->sample();
  if (const auto values = sampler_->of_thread(); !values.empty()) {
    put_extended(ExtendedKind::kSamples, values, now);
    ++samples_;
  }
  if (const auto values = sampler_->of_process(); !values.empty()) {
    put_track(sampler_->process_location(), now);
    put_extended(ExtendedKind::kSamples, values, now);
    put_track(now);
    ++samples_;
  }
}

void ThreadRecorder::sample_with(std::unique_ptr<Sampler> sampler) noexcept {
  sampler_ = std::move(sampler);
  if (profile_ != nullptr) profile_->sample_with(*sampler_, os::now(), false);
}

void ThreadRecorder::end_track() noexcept {
  if (track_ == nullptr) return;
  close_from(0);
  const std::uint64_t now = os::now();
  if (make_room(now, top_)) {
    put_extended(ExtendedKind::kTrackEnd, {}, now);
    if (!track_->numbered_) ++extra_words_;  // then the trace has nothing about its end
  }
  track_->open_.top = track_->open_.base;
  switch_to(nullptr);
}

void ThreadRecorder::close_all() noexcept {
  settle();
  close_from(0);
  if (track_ == nullptr) return;
  switch_to(nullptr);
  close_from(0);
}

std::span<const OpenRegion> ThreadRecorder::own_regions() const noexcept {
  return {own_.base + 1, (stack_ == &own_ ? top_ : own_.top) + 1};
}

std::uint64_t ThreadRecorder::events() const noexcept {
  std::uint64_t words = retired_words_;
  if (segment_ != nullptr) words += static_cast<std::uint64_t>(cursor_ - segment_->words());
  return words - extra_words_ + aggregated_events();
}

std::uint64_t ThreadRecorder::last_ticks() const noexcept {
  const std::uint64_t now = os::now();
  return std::min(last_time(now), now);
}

bool ThreadRecorder::next_segment(std::uint64_t now, const OpenRegion* last) noexcept {
  const bool had_segment = segment_ != nullptr;
  if (had_segment) {
    const auto words = static_cast<std::size_t>(cursor_ - segment_->words());
    retired_words_ += words;
    writer_->retire(segment_, words);
    segment_ = nullptr;
  }
  cursor_ = limit_ = end_ = nullptr;
  {
    const KeepOff of_wrappers;  // libraries that the writer calls may call wrapped functions
    segment_ = writer_->acquire(location_, sequence_, now);
  }
  if (segment_ == nullptr) {
    if (had_segment) writer_->define_cut(location_, now);
    if (writer_->aggregates_at_limit()) aggregate_from_here(now, last);
    return false;
  }
  note_new_space();
  ++sequence_;
  cursor_ = segment_->words();
  use_room();
  base_ = now;
  (void)has_room(writer_->keeps_newest() ? 2 * depth() + 1 : 1);
  remember_time(now);
  move_horizon(now);
  if (has_tracks_) put_track(now);
  if (writer_->keeps_newest()) {
    put_open_regions(now, last, segment_->words() + segment_->room() / 2);
  }
  return true;
}

void ThreadRecorder::use_room() noexcept {
  const std::size_t reserve = kReserve + (sampler_ == nullptr ? 0 : sampler_->words());
  end_ = segment_->words() + std::max(segment_->room(), reserve) - reserve;
  limit_ = sampler_ == nullptr ? end_ : nullptr;
}

// Whether there is room for as many words in the segment, which gets more space for them where
// it began with little.
bool ThreadRecorder::has_room(std::size_t words) noexcept {
  while (static_cast<std::size_t>(std::max<std::ptrdiff_t>(end_ - cursor_, 0)) < words) {
    const KeepOff of_wrappers;  // see next_segment()
    if (segment_ == nullptr || !writer_->extend(segment_)) return false;
    use_room();
  }
  return true;
}

// The events of this thread end. Where there is no file for its profile, they are lost.
void ThreadRecorder::aggregate_from_here(std::uint64_t now, const OpenRegion* last) noexcept {
  int error = 0;
  profile_ = ThreadProfile::create(*writer_, location_, max_depth_, now, &error);
  if (profile_ == nullptr) return;
  profile_->begin_continued();
  if (sampler_ != nullptr) profile_->sample_with(*sampler_, now, sequence_ != 0);
  for (const OpenRegion* open = stack_->base + 1; open <= last; ++open) {
    if ((open->token & kUnrecorded) == 0) profile_->resume(payload_of(open->enter), now);
  }
}

// Writes the open regions: the records before this segment may be dropped. Two ids a word, up to
// `end`; of a deeper stack the innermost are left out.
void ThreadRecorder::put_open_regions(std::uint64_t now, const OpenRegion* last,
                                      const std::uint64_t* end) noexcept {
  constexpr std::size_t kMostWords = 128;
  stack_->said_in = sequence_;
  for (const OpenRegion* next = stack_->base + 1; next <= last && cursor_ + 1 < end;) {
    const std::size_t most = 2 * std::min(kMostWords, static_cast<std::size_t>(end - cursor_) - 1);
    std::size_t ids = 0;
    for (; next <= last && ids < most; ++next) {
      if ((next->token & kUnrecorded) != 0) continue;
      const std::uint64_t id = payload_of(next->enter);
      std::uint64_t& word = cursor_[1 + ids / 2];
      word = ids % 2 == 0 ? id | (std::uint64_t{UINT32_MAX} << 32) : (word & UINT32_MAX) | id << 32;
      ++ids;
    }
    const std::size_t words = (ids + 1) / 2;
    if (words == 0) break;
    std::uint64_t* const head = cursor_;
    cursor_ += 1 + words;
    extra_words_ += 1 + words;
    __atomic_store_n(head, make_extended(ExtendedKind::kOpenRegions, static_cast<unsigned>(words)),
                     __ATOMIC_RELEASE);
  }
  remember_time(now);
}

// Makes sure that a record at time `now` can be put; false: it is lost.
bool ThreadRecorder::make_room(std::uint64_t now, const OpenRegion* last) noexcept {
  if (!has_room(1)) return next_segment(now, last);
  if (now - base_ > kMaxDelta) {
    // Also when `now` lies before the base, seen from another core.
    base_ = std::max(now, base_);
    cursor_[1] = base_;
    extra_words_ += 2;
    std::uint64_t* const head = cursor_;
    cursor_ += 2;
    __atomic_store_n(head, make_extended(ExtendedKind::kTimeBase, 1), __ATOMIC_RELEASE);
  }
  return true;
}

bool ThreadRecorder::append_slow(EventWord word, std::uint64_t now) noexcept {
  if (profile_ != nullptr) return aggregate(word, now), true;
  if (writer_ == nullptr) return false;  // scratch memory is full
  // A region is on the stack before its enter is put, and off it before its leave,
  // but its entry is still as it was.
  const OpenRegion* last = kind_of(word) == WordKind::kEnter ? top_ - 1 : top_ + 1;
  const std::uint64_t waited = waited_until(now);
  if (!make_room(now, last)) {
    if (profile_ != nullptr) return aggregate(word, now), true;  // from now on
    return writer_->count_lost(1), false;
  }
  move_horizon(now);
  put_waiting(waited, now);
  if (sampler_ != nullptr) put_samples(now);
  put(at(word, std::max(now, base_) - base_));
  return true;
}

void ThreadRecorder::aggregate(EventWord word, std::uint64_t now) noexcept {
  if (now - base_ > horizon_) [[unlikely]]
    aggregate_waiting(now);
  if (kind_of(word) == WordKind::kEnter) {
    profile_->enter(payload_of(word), now);
  } else {
    profile_->leave(now);
  }
}

void EventPath::enter_slow(Token token, EventWord enter, std::uint64_t delta) noexcept {
  static_cast<ThreadRecorder*>(this)->enter_slow(token, enter, base_ + delta);
}

void EventPath::leave_slow(std::uint64_t delta) noexcept {
  const EventWord leave = top_->enter ^ kEnterLeaveFlip;
  --top_;
  static_cast<ThreadRecorder*>(this)->append_slow(leave, base_ + delta);
}

void ThreadRecorder::enter_slow(Token token, EventWord enter, std::uint64_t now) noexcept {
  if (profile_ != nullptr && top_ < stack_end_) {  // every call in profile mode
    if (now - base_ > horizon_) [[unlikely]]
      aggregate_waiting(now);
    ++top_;
    top_->token = token, top_->enter = enter;
    return profile_->enter(payload_of(enter), now);
  }
  if (!attached()) {
    // The shared recorder of threads that have none, or one of a past measurement.
    ThreadRecorder* recorder = attach_this_thread();
    if (recorder != nullptr) recorder->enter(token, enter);
    return;
  }
  const bool too_deep = !records(token);
  if (too_deep) token |= kUnrecorded;
  if (!push({token, enter})) return writer_->count_lost(too_deep ? 0 : 2);
  if (too_deep) return;
  if (append_slow(enter, now)) return;
  // Its leave, for which there may be room again, would end something else.
  top_->token |= kUnrecorded;
  writer_->count_lost(1);
}

void ThreadRecorder::extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                              std::uint64_t now) noexcept {
  if (!attached()) {
    ThreadRecorder* recorder = attach_this_thread();
    if (recorder != nullptr) recorder->extended(kind, words);
    return;
  }
  if (profile_ != nullptr) return aggregate_extended(kind, words, now);
  const std::uint64_t waited = now - base_ > horizon_ ? waited_until(now) : 0;
  if (make_room(now, top_)) {
    put_waiting(waited, now);
    if (kind == ExtendedKind::kAttribute) ++extra_words_;  // no event
    return put_extended(kind, words, now);
  }
  if (profile_ != nullptr) return aggregate_extended(kind, words, now);
  if (kind != ExtendedKind::kAttribute) writer_->count_lost(1);
}

// When recording was off, who waited for whom and which file was used has no place in a profile.
void ThreadRecorder::aggregate_extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                                        std::uint64_t now) noexcept {
  switch (kind) {
    case ExtendedKind::kParameterInt:
    case ExtendedKind::kParameterUint:
    case ExtendedKind::kParameterFloat:
    case ExtendedKind::kParameterString:
      // Of a visit that goes on in another call path, the wait until now stays where it was.
      if (now - base_ > horizon_ && !profile_->just_begun()) aggregate_waiting(now);
      return profile_->parameter(static_cast<std::uint32_t>(words[0]), words[1], now);
    case ExtendedKind::kMetric: {
      const MetricId metric{static_cast<std::uint32_t>(words[0])};
      return profile_->metric(metric.value(), metric_value(metric, words[1]));
    }
    case ExtendedKind::kIoComplete: {
      const auto operation = static_cast<IoOperation>(io_number_of(words[0]));
      if (operation == IoOperation::kFlush) return;
      return aggregate_bytes(
          operation == IoOperation::kWrite ? BytesOf::kIoWritten : BytesOf::kIoRead, words[1]);
    }
    case ExtendedKind::kMpiSend:
    case ExtendedKind::kMpiIsend: return aggregate_bytes(BytesOf::kSent, words[2]);
    case ExtendedKind::kMpiRecv:
    case ExtendedKind::kMpiIrecv: return aggregate_bytes(BytesOf::kReceived, words[2]);
    case ExtendedKind::kMpiCollectiveEnd:
    case ExtendedKind::kMpiCollectiveComplete:
      aggregate_bytes(BytesOf::kSent, words[2]);
      return aggregate_bytes(BytesOf::kReceived, words[3]);
    case ExtendedKind::kTeamEnd: return profile_->end_below();
    default: return;
  }
}

void ThreadRecorder::aggregate_bytes(BytesOf what, std::uint64_t bytes) noexcept {
  if (bytes == 0) return;
  const MetricId metric = bytes_metric(what);
  if (metric.defined()) profile_->metric(metric.value(), static_cast<double>(bytes));
}

void ThreadRecorder::transferred(BytesOf what, std::uint64_t bytes, std::uint64_t now) noexcept {
  if (profile_ != nullptr) return aggregate_bytes(what, bytes);
  const MetricId metric = bytes_metric(what);
  const std::uint64_t words[] = {metric.value(), bytes};
  if (bytes != 0 && metric.defined()) extended(ExtendedKind::kMetric, words, now);
}

// There is room for it.
void ThreadRecorder::put_extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                                  std::uint64_t now) noexcept {
  std::copy(words.begin(), words.end(), cursor_ + 1);
  const EventWord head =
      at(make_extended(kind, static_cast<unsigned>(words.size())), std::max(now, base_) - base_);
  extra_words_ += words.size();
  std::uint64_t* const position = cursor_;
  cursor_ += 1 + words.size();
  remember_time(now);
  __atomic_store_n(position, head, __ATOMIC_RELEASE);
}

}  // namespace timeloom::record
