#include "profile/ideal_network.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace timeloom::profile {

bool IdealNetwork::add_process(std::uint32_t number, Process process) {
  return processes_.try_emplace(number, std::move(process)).second;
}

void IdealNetwork::add_meeting(const std::vector<Place>& awaited,
                               const std::vector<Place>& waiting) {
  const auto meeting = static_cast<std::uint32_t>(meetings_.size());
  meetings_.push_back(static_cast<std::uint32_t>(awaited.size()));
  for (const Place& place : awaited) awaited_[place.process].push_back({place.call, meeting});
  for (const Place& place : waiting) waiting_[place.process].push_back({place.call, meeting});
}

// The starts and ends of calls, in the order of the run, so that an awaited time is known before it
// is needed.
class IdealNetwork::Replay {
 public:
  explicit Replay(const IdealNetwork& network) : meetings_(network.meetings_.size()) {
    std::uint64_t begin = UINT64_MAX;
    for (const auto& [number, process] : network.processes_) begin = std::min(begin, process.first);
    for (const auto& [number, process] : network.processes_) {
      runners_.push_back({&process, sorted(network.awaited_, number),
                          sorted(network.waiting_, number), process.first - begin});
    }
    for (std::size_t i = 0; i < meetings_.size(); ++i) meetings_[i].missing = network.meetings_[i];
  }

  std::optional<std::uint64_t> run() {
    for (std::size_t i = 0; i < runners_.size(); ++i) push(i);
    while (!next_.empty()) {
      const std::size_t i = std::get<2>(next_.top());
      next_.pop();
      if (!step(runners_[i])) return std::nullopt;
      push(i);
    }
    std::uint64_t end = 0;
    for (const Runner& one : runners_) end = std::max(end, one.time + one.process->work_after);
    return end;
  }

 private:
  using Linked = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  struct Meeting {
    std::uint32_t missing = 0;
    std::uint64_t time = 0;  // at which the last awaited call has started
  };
  struct Runner {
    const Process* process;
    Linked awaited, waiting;
    std::uint64_t time;  // on the ideal network
    std::size_t call = 0;
    bool inside = false;
    std::size_t next_awaited = 0, next_waiting = 0;
  };

  static Linked sorted(const Links& links, std::uint32_t number) {
    const auto found = links.find(number);
    if (found == links.end()) return {};
    Linked result = found->second;
    std::ranges::sort(result);
    return result;
  }

  void push(std::size_t i) {
    const Runner& one = runners_[i];
    if (one.call == one.process->calls.size()) return;
    const Call& call = one.process->calls[one.call];
    next_.push({one.inside ? call.left : call.entered, one.inside, i});
  }

  bool step(Runner& one) {
    if (!one.inside) {
      one.time += one.process->calls[one.call].work;
      for (; of_call(one, one.awaited, one.next_awaited); ++one.next_awaited) {
        Meeting& meeting = meetings_[one.awaited[one.next_awaited].second];
        --meeting.missing;
        meeting.time = std::max(meeting.time, one.time);
      }
    } else {
      for (; of_call(one, one.waiting, one.next_waiting); ++one.next_waiting) {
        const Meeting& meeting = meetings_[one.waiting[one.next_waiting].second];
        if (meeting.missing != 0) return false;
        one.time = std::max(one.time, meeting.time);
      }
      ++one.call;
    }
    one.inside = !one.inside;
    return true;
  }

  static bool of_call(const Runner& one, const Linked& links, std::size_t next) {
    return next < links.size() && links[next].first == one.call;
  }

  using Moment = std::tuple<std::uint64_t, bool, std::size_t>;  // begins before ends
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> next_;
  std::vector<Runner> runners_;
  std::vector<Meeting> meetings_;
};

std::optional<std::uint64_t> IdealNetwork::runtime() const {
  if (processes_.empty()) return std::nullopt;
  return Replay(*this).run();
}

}  // namespace timeloom::profile
