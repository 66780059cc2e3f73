#include "core/teams/team_events.hpp"

#include <algorithm>
#include <utility>

namespace timeloom {

void TeamEvents::pass(Event event, std::vector<Event>& to) {
  if (!of_.known) return to.push_back(event);
  if (of_.teams == nullptr) return;
  const bool of_task = event.kind >= EventKind::kTaskCreate;
  if (of_task && open_.empty()) return void(++outside_);
  if (is_older(event)) return;
  if (!of_task && of_.teams->team(event.value) == nullptr) return;
  bool sound = false;
  switch (event.kind) {
    case EventKind::kTeamFork: sound = fork(event); break;
    case EventKind::kTeamBegin: sound = begin(event.value); break;
    case EventKind::kTeamEnd: sound = close(open_, event, to); break;
    case EventKind::kTeamJoin: sound = close(forked_, event, to); break;
    default: sound = is_known_task(event);
  }
  if (sound) {
    to.push_back(event);
  } else {
    ++(of_task && of_.older_missing ? older_ : dropped_);
  }
}

bool TeamEvents::First::meets(std::uint64_t other) noexcept {
  const bool smaller = other < number;
  if (smaller) number = other;
  return smaller;
}

// Counts the end or the join of a team whose start is missing, and the tasks in it: all since the
// start of the stream, or since the end of the team inside of it.
bool TeamEvents::is_older(const Event& event) noexcept {
  if (!of_.older_missing || event.kind >= EventKind::kTaskCreate) return false;
  const bool join = event.kind == EventKind::kTeamJoin;
  if (event.kind == EventKind::kTeamFork || event.kind == EventKind::kTeamBegin) {
    (event.kind == EventKind::kTeamFork ? first_forked_ : first_begun_).meets(event.value);
    return false;
  }
  if (!(join ? forked_ : open_).empty()) return false;
  if (!(join ? first_forked_ : first_begun_).meets(event.value)) return false;
  older_ += 1 + (join ? 0 : std::exchange(outside_, 0));
  return true;
}

// The scan of the run has found where a team was forked, and that it began there.
bool TeamEvents::fork(Event& event) {
  if (!forks_.fork(event.value)) return false;
  forks_next_ = of_.teams->team(event.value)->forked_by == location_;
  if (event.ref == UINT32_MAX) event.ref = 0;  // no number of threads: not known
  return forks_next_;
}

// Inner teams are forked later, so the numbers of open teams grow.
bool TeamEvents::begin(std::uint64_t number) {
  const bool own = forks_.begin(number);
  const bool joins = std::exchange(forks_next_, false) && own;
  if (!open_.empty() && number <= open_.back()) return false;
  if (joins) forked_.push_back(number);
  open_.push_back(number);
  return true;
}

// Where the ends of inner teams are missing, they end with the outer one.
bool TeamEvents::close(std::vector<std::uint64_t>& open, const Event& event,
                       std::vector<Event>& to) {
  if (!std::ranges::binary_search(open, event.value)) return false;
  for (; open.back() != event.value; open.pop_back()) {
    to.push_back({event.time, event.kind, 0, open.back()});
  }
  open.pop_back();
  return true;
}

bool TeamEvents::is_known_task(const Event& event) const noexcept {
  if (event.value == 0) return event.kind == EventKind::kTaskSwitch;
  return of_.teams->task(event.value) != nullptr;
}

}  // namespace timeloom
