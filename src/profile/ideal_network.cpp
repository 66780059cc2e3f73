#include "profile/ideal_network.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace timeloom::profile {

bool IdealNetwork::add_process(std::uint32_t number, Process process) {
  return processes_.try_emplace(number, std::move(process)).second;
}

void IdealNetwork::add_dependency(const std::vector<ProcessCall>& awaited,
                                  const std::vector<ProcessCall>& waiting) {
  const auto dependency = static_cast<std::uint32_t>(dependencies_.size());
  dependencies_.push_back(static_cast<std::uint32_t>(awaited.size()));
  for (const ProcessCall& one : awaited) awaited_[one.process].push_back({one.call, dependency});
  for (const ProcessCall& one : waiting) waiting_[one.process].push_back({one.call, dependency});
}

// The starts and ends of calls, in the order of the run, so that an awaited time is known before it
// is needed.
class IdealNetwork::Replay {
 public:
  explicit Replay(const IdealNetwork& network) : dependencies_(network.dependencies_.size()) {
    std::uint64_t begin = UINT64_MAX;
    for (const auto& [number, process] : network.processes_) begin = std::min(begin, process.first);
    for (const auto& [number, process] : network.processes_) {
      runners_.push_back({&process, sorted(network.awaited_, number),
                          sorted(network.waiting_, number), process.first - begin});
    }
    for (std::size_t i = 0; i < dependencies_.size(); ++i)
      dependencies_[i].missing = network.dependencies_[i];
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
  struct Dependency {
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
        Dependency& dependency = dependencies_[one.awaited[one.next_awaited].second];
        --dependency.missing;
        dependency.time = std::max(dependency.time, one.time);
      }
    } else {
      for (; of_call(one, one.waiting, one.next_waiting); ++one.next_waiting) {
        const Dependency& dependency = dependencies_[one.waiting[one.next_waiting].second];
        if (dependency.missing != 0) return false;
        one.time = std::max(one.time, dependency.time);
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
  std::vector<Dependency> dependencies_;
};

std::optional<std::uint64_t> IdealNetwork::runtime() const {
  if (processes_.empty()) return std::nullopt;
  return Replay(*this).run();
}

}  // namespace timeloom::profile
