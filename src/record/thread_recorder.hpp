// The recorder of a thread: the event path (event_path.hpp), and what happens rarely beside it.
//
// Every thread has one ThreadRecorder, found through a thread-local pointer
// that is never null: a thread that has not recorded yet, or records nothing,
// points to (or is) a recorder without room, so that the comparisons of the event path find every
// rare case.
//
// Thread safety: a recorder is used by its own thread. Others may touch it only
// while that thread is known not to record, e.g. under the GIL; threads that record
// without it do so inside a NativeCall.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "core/event_word.hpp"
#include "os/clock.hpp"
#include "record/bytes_metric.hpp"
#include "record/event_path.hpp"
#include "record/late_end.hpp"
#include "record/metrics.hpp"
#include "record/open_stack.hpp"
#include "record/thread_profile.hpp"
#include "record/waiting_clock.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

class ThreadRecorder : public EventPath {
 public:
  constexpr ThreadRecorder() noexcept : EventPath(&own_.bottom) {}
  ThreadRecorder(const ThreadRecorder&) = delete;
  ThreadRecorder& operator=(const ThreadRecorder&) = delete;

  // From now on enters inside `depth` open regions are not recorded: they take the slow path
  // of a full stack, so that calls above them cost nothing more.
  void limit_recorded_depth(std::size_t depth) noexcept;
  std::size_t depth() const noexcept { return static_cast<std::size_t>(top_ - stack_->base); }
  bool beyond_depth() const noexcept { return depth() > record_depth_; }
  // Whether a user region that is entered now is recorded.
  bool has_depth() const noexcept { return depth() < record_depth_; }

  // Enters a region that is not recorded; until it is left, functions inside it are not, either:
  // they take the slow path, too. User regions are recorded.
  void enter_hiding(Token token) noexcept;
  // Forgets such a region, as forget_unrecorded() does.
  void leave_hiding(Token token) noexcept;
  // The same for all functions of the thread from here on, whatever is open.
  void hide_functions(bool hide) noexcept;
  // Whether an enter of `token` would be recorded now, if there is room.
  bool records(Token token) noexcept;

  // The slow case of leave_last(): closes the open regions inside `token`, then `token`. False
  // when `token` is not open. Also the first event of a thread that was brought in. Functions that
  // are closed because a user region ends go on: they are remembered as entered without being
  // recorded.
  bool leave_outer(Token token) noexcept;
  bool leave(Token token) noexcept { return leave_last(token) || leave_outer(token); }
  // The same for a user region that the innermost function entered. False also when that
  // function has left it: regions open further out belong to other functions.
  bool leave_own(Token token) noexcept;

  // The calling thread goes on in a function whose stack pointer is `frame`, without events for the
  // ends of the functions that it has left: closes functions of compiled code whose frames lie
  // below it, with the regions that they have entered, down to the first one that may still run.
  // Nothing outside of the thread's own stack is compared. `record`: whether recording is on.
  void close_below(const void* frame, bool record) noexcept;
  // False: it would close nothing.
  bool may_close_below(const void* frame) const noexcept {
    return outermost_between(nullptr, frame) != nullptr;
  }
  // set_frame(), if the region is the innermost one.
  void set_frame_of(Token token, const void* frame) noexcept {
    if (bare_token(top_->token) == token) set_frame(frame);
  }

  // Requests a call of the leave callback when the innermost open region is left.
  void request_leave_callback() noexcept;

  // The innermost regions have ended, at a time that another thread knows; settle() leaves them.
  // Called by the thread itself before its next event, and by all who close its regions.
  void end_late(LateEnd end) noexcept { late_ = std::move(end); }
  void settle() noexcept;

  // Records an event with up to six further words.
  void extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                std::uint64_t now = os::now()) noexcept;
  // Records bytes of which no other event tells, as a value of their metric.
  void transferred(BytesOf what, std::uint64_t bytes, std::uint64_t now) noexcept;

  // While recording is off: remembers an enter without recording it, and a
  // leave that must not be recorded.
  void enter_unrecorded(Token token) noexcept;
  void leave_unrecorded(Token token) noexcept;

  // Forgets a region that was entered without being recorded; regions inside it stay open.
  void forget_unrecorded(Token token) noexcept;

  // Enters regions that were open before, in another process or on another stack.
  void enter_again(std::span<const OpenRegion> regions) noexcept;

  // The open regions, outermost first. close_from(i) leaves those from index i on.
  std::span<const OpenRegion> open_regions() const noexcept { return {stack_->base + 1, top_ + 1}; }
  void close_from(std::size_t index) noexcept;

  // Later events belong to the track, or (nullptr) to the thread itself again. REQUIRES: the
  // track lives until the thread has left it.
  void switch_to(Track* track) noexcept;
  Track* track() const noexcept { return track_; }
  // Leaves the open regions of the current track, ends it and goes back to the thread.
  void end_track() noexcept;
  // Leaves the open regions of the current track and of the thread itself. Other tracks stay
  // as they are: they are suspended.
  void close_all() noexcept;
  // The open regions of the thread itself, below all tracks.
  std::span<const OpenRegion> own_regions() const noexcept;

  // Begins and ends the recorder's part in a measurement (src/record/measurement.cpp).
  void attach(spool::Writer* writer, std::uint32_t location) noexcept;
  void detach() noexcept;
  // Records into plain memory; ended by abandon(). The memory must have room for
  // all that is recorded. For one region at a time, in less than 20 seconds.
  void attach_scratch(std::span<std::uint64_t> words) noexcept;
  // Profile mode: from here on events are aggregated instead of kept.
  void aggregate_into(std::unique_ptr<ThreadProfile> profile) noexcept {
    profile_ = std::move(profile);
  }
  // Samples at every enter and leave from here on. All events take the slow path then,
  // as if there were no room, so that recorders without metrics pay nothing.
  void sample_with(std::unique_ptr<Sampler> sampler) noexcept;
  // From here on records how long the thread waits where it records nothing for a while; in
  // profile mode as a value of `metric`. `thread`: its pthread id; it runs.
  void watch_waiting(MetricId metric, std::uintptr_t thread) noexcept;
  // Levels of call paths that profiles keep apart; 0: any number.
  void limit_profile_levels(std::uint32_t levels) noexcept { max_depth_ = levels; }
  // In the child of a fork: forgets segment and writer without touching them.
  void abandon() noexcept;
  bool attached() const noexcept { return writer_ != nullptr; }
  // Whether calls are aggregated into a profile.
  bool aggregates() const noexcept { return profile_ != nullptr; }
  // The stack of its thread for handlers of signals.
  void use_signal_stack(std::span<const std::byte> stack) noexcept { signal_stack_ = stack; }
  bool on_signal_stack(const void* frame) const noexcept {
    const auto* const place = static_cast<const std::byte*>(frame);
    return place >= signal_stack_.data() && place < signal_stack_.data() + signal_stack_.size();
  }
  // Its thread has called vfork(), and its child, which has the same memory, may not have gone yet.
  void set_vforked(bool on) noexcept { vforked_ = on; }
  bool vforked() const noexcept { return vforked_; }
  // While its thread records on its own; see native_call.hpp.
  void begin_native_call(std::memory_order order = std::memory_order_relaxed) noexcept {
    in_native_call_.store(true, order);
  }
  void end_native_call() noexcept { in_native_call_.store(false, std::memory_order_release); }
  bool in_native_call() const noexcept { return in_native_call_.load(); }
  // See ThreadProfile::visited_place(); 0 also where there is no profile.
  std::uint32_t visited_place() const noexcept {
    return profile_ == nullptr ? 0 : profile_->visited_place();
  }
  // The call path in the profile. Empty: there is no profile. Throws std::bad_alloc.
  CallPath call_path() const { return profile_ == nullptr ? CallPath() : profile_->call_path(); }
  // In a profile, regions that are entered next lie below this call path of another thread, until
  // the thread leaves its team.
  void begin_below(const CallPath& path) noexcept {
    if (profile_ != nullptr && !path.empty()) profile_->begin_below(path);
  }
  // The same, of the calling thread's own recorder.
  bool is_recording() const noexcept { return in_native_call_.load(std::memory_order_relaxed); }
  // An event of the thread could not be recorded. REQUIRES: attached(). Also in a handler of a
  // signal.
  void count_lost_event() noexcept { writer_->count_lost(1); }
  std::uint32_t location() const noexcept { return location_; }
  std::uint64_t events() const noexcept;
  // The part of these that are records of samples.
  std::uint64_t samples() const noexcept { return samples_; }
  // Counts of the profile; 0 without one.
  std::uint64_t aggregated_events() const noexcept {
    return profile_ == nullptr ? 0 : profile_->events();
  }
  std::uint64_t profile_bytes() const noexcept {
    return profile_ == nullptr ? 0 : profile_->bytes();
  }
  // The time of the last record; now, where there is none.
  std::uint64_t last_ticks() const noexcept;

 private:
  friend struct RecorderClock;  // tests move the base, since they cannot wait half a minute
  friend class EventPath;
  void enter_slow(Token token, EventWord enter, std::uint64_t now) noexcept;
  // False: there was no room, and the event is lost.
  bool append_slow(EventWord word, std::uint64_t now) noexcept;
  void use(OpenStack& stack) noexcept;
  void use_again() noexcept { stack_->top = top_, use(*stack_); }
  void look_for_hiding() noexcept;
  bool is_hidden() const noexcept;
  void put_extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                    std::uint64_t now) noexcept;
  void put_switch(std::uint64_t now) noexcept;
  void put_track(std::uint64_t now) noexcept;
  void put_track(std::uint64_t index, std::uint64_t now) noexcept;
  void put_samples(std::uint64_t now) noexcept;
  // `last`: the innermost region that is open before the next record.
  void aggregate(EventWord word, std::uint64_t now) noexcept;
  bool make_room(std::uint64_t now, const OpenRegion* last) noexcept;
  void use_room() noexcept;
  bool has_room(std::size_t words) noexcept;
  bool next_segment(std::uint64_t now, const OpenRegion* last) noexcept;
  void aggregate_from_here(std::uint64_t now, const OpenRegion* last) noexcept;
  void aggregate_extended(ExtendedKind kind, std::span<const std::uint64_t> words,
                          std::uint64_t now) noexcept;
  void aggregate_bytes(BytesOf what, std::uint64_t bytes) noexcept;
  void put_open_regions(std::uint64_t now, const OpenRegion* last,
                        const std::uint64_t* end) noexcept;
  std::uint64_t last_time(std::uint64_t now) const noexcept;
  std::uint64_t waited_until(std::uint64_t now) noexcept;
  void move_horizon(std::uint64_t now) noexcept;
  void aggregate_waiting(std::uint64_t now) noexcept;
  void put_waiting(std::uint64_t waited, std::uint64_t now) noexcept;
  void remember_time(std::uint64_t now) noexcept { other_end_ = cursor_, other_time_ = now; }
  OpenRegion* outermost_between(const void* low, const void* high) const noexcept;
  std::span<const std::byte> stack_memory() noexcept;
  void end_unrecorded(OpenRegion* entry) noexcept;
  bool push(OpenRegion region) noexcept;
  void pop_to(OpenRegion* entry) noexcept;
  void close(OpenRegion* entry) noexcept;
  void close_requested(OpenRegion* entry) noexcept;

  std::uint64_t* end_ = nullptr;  // words from here on are for extended records
  OpenStack own_;
  OpenStack* stack_ = &own_;  // the one in use
  Track* track_ = nullptr;    // whose it is; nullptr: our own
  bool has_tracks_ = false;   // every segment begins with the track that it continues
  spool::Writer* writer_ = nullptr;
  spool::Segment* segment_ = nullptr;
  std::unique_ptr<ThreadProfile> profile_;  // then there is no segment
  std::unique_ptr<Sampler> sampler_;        // nullptr: no metrics
  std::unique_ptr<WaitingClock> waiting_;   // nullptr: waiting is not measured
  LateEnd late_;
  std::uint32_t waiting_metric_ = 0;
  std::uint32_t looks_ = 0;  // of a profile, at gaps
  // The end of the last record other than enters and leaves, and its time.
  const std::uint64_t* other_end_ = nullptr;
  std::uint64_t other_time_ = 0;
  std::uint32_t max_depth_ = 0;  // of a profile
  std::uint64_t sequence_ = 0;
  std::uint64_t retired_words_ = 0;
  std::uint64_t extra_words_ = 0;  // words that are not events of their own
  std::uint64_t samples_ = 0;
  std::uint32_t location_ = 0;
  std::size_t record_depth_ = SIZE_MAX;
  std::size_t hidden_depth_ = SIZE_MAX;  // functions inside as many open regions are hidden
  bool may_hide_ = false;                // the stacks may have regions that hide calls
  bool hides_all_ = false;
  bool vforked_ = false;
  std::span<const std::byte> signal_stack_;
  std::span<const std::byte> stack_memory_;  // of its thread; empty: not asked for yet
  std::atomic<bool> in_native_call_ = false;
};

// The calling thread's recorder; never null.
extern constinit thread_local ThreadRecorder* t_recorder;

// Sets the function that is called when a region is left for which request_leave_callback()
// was called: on the thread that left it, after the event. It is not called for a region that
// is closed because its thread or the measurement ends.
void set_leave_callback(void (*function)() noexcept) noexcept;

// The recorder of the calling thread, made and attached if a measurement runs
// and it is not yet; nullptr when nothing is to be recorded on this thread.
ThreadRecorder* attach_this_thread() noexcept;
// The same also while recording is off, to remember the regions that are entered meanwhile.
ThreadRecorder* attach_unrecorded() noexcept;

// The recorder that another thread has made for the calling one (bring_in()), which is its own from
// here on; nullptr: there is none. Cheap where none was ever made.
ThreadRecorder* take_brought() noexcept;

// The value of a metric event as a number; 0 for a metric without a definition.
double metric_value(MetricId metric, std::uint64_t bits) noexcept;

}  // namespace timeloom::record
