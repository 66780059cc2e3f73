// Divides the waiting of a gap between two events of a thread by its causes, from what the process
// has seen of the thread meanwhile.
//
// One object for each reading of a thread's stream, used by one thread; `data` must outlive it.
// Throws nothing but std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "core/tick_line.hpp"
#include "core/waiting_metric.hpp"
#include "spool/waits/wait_reader.hpp"

namespace timeloom::weave {

class WaitCauses {
 public:
  WaitCauses() = default;
  // `thread`: the index of its location. `line`: of the process, for the lengths of ticks.
  WaitCauses(const spool::WaitData& data, std::uint32_t thread, const TickLine& line);

  // Puts the causes into the waiting among events of the thread's stream, whose times are ticks.
  // A gap without any look keeps the cause kUnknown.
  void divide(std::vector<Event>& batch);
  // The same for the gap from the last event up to `until`, of which `events` have the waiting;
  // their times do not matter.
  void divide_last(std::vector<Event>& events, std::uint64_t until);

  // The waits of a thread in profile mode, by their causes.
  struct OfPlace {
    std::uint32_t place;  // of a call path in the profile of the thread
    WaitingCause cause;
    std::uint64_t nanoseconds;
  };
  std::vector<OfPlace> gaps();

 private:
  using Parts = std::array<std::uint64_t, kWaitingCauses>;  // nanoseconds
  struct Delay {
    std::uint64_t first, last;  // ticks
    std::uint64_t left;         // nanoseconds that no gap has got
    bool looked;                // the thread waited for something else at the start
  };

  void note_looks_at_starts() noexcept;
  Parts parts_of(std::uint64_t from, std::uint64_t to, std::uint64_t waited);
  std::uint64_t delay_in(std::uint64_t from, std::uint64_t to, std::uint64_t most);
  WaitingCause cause_of(const spool::WaitSpan& span) const noexcept;
  static void append(const Event& waiting, const Parts& parts, std::vector<Event>& to);

  TickLine line_;
  std::uint64_t gil_from_ = 0, gil_to_ = 0;
  std::span<const spool::WaitSpan> spans_;  // of the thread, by their start
  std::size_t next_ = 0;                    // the first that can lie in a later gap
  std::vector<Delay> delays_;
  std::size_t next_delay_ = 0;
  std::uint64_t last_ = 0;  // ticks of the last event
  std::vector<Event> output_;
};

}  // namespace timeloom::weave
