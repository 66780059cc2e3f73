// Writes the run, processes and threads of a CallTree into a CUBE profile.
#include "formats/cube/profile_system.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/mpi/mpi_rank.hpp"
#include "formats/cube/profile_names.hpp"

namespace timeloom::cube {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

class SystemWriter {
 public:
  SystemWriter(const profile::CallTree& tree, Cube& cube)
      : tree_(tree), all_(tree.definitions), cube_(cube) {}

  std::vector<bool> add(const ProfileFacts& facts) {
    describe_run(facts);
    add_machine();
    return std::move(first_);
  }

 private:
  void describe_run(const ProfileFacts& facts) {
    Attributes& attributes = cube_.attributes;
    attributes.push_back({"Cube anchor.xml syntax version", "4.4"});
    if (!all_.creator.empty()) attributes.push_back({"Creator", all_.creator});
    attributes.push_back({"CUBE_CT_AGGR", "SUM"});
    attributes.push_back({kParameterCount, std::to_string(facts.parameters)});
    attributes.push_back({"CLUSTERING", "OFF"});
    attributes.push_back({kTicksPerSecond, std::to_string(all_.clock.ticks_per_second)});
    attributes.push_back({kBegin, std::to_string(all_.clock.begin)});
    attributes.push_back({kLength, std::to_string(all_.clock.length)});
    if (all_.clock.realtime) {
      attributes.push_back({kRealtime, std::to_string(*all_.clock.realtime)});
    }
    if (facts.trace_id != 0) attributes.push_back({kTraceId, std::to_string(facts.trace_id)});
    for (const auto& [key, value] : all_.properties) {
      attributes.push_back({kProperty + key, value});
    }
  }

  void add_machine() {
    const std::string& machine = all_.machine_name;
    cube_.system_nodes.push_back(
        {{}, "machine " + (machine.empty() ? "Linux" : machine), "machine", "", {}});
    std::map<std::string, SystemNodeId> nodes;
    std::vector<bool> used(all_.groups.size());
    for (const timeloom::Location& location : all_.locations) {
      if (location.group.value() < used.size()) used[location.group.value()] = true;
    }
    groups_.assign(all_.groups.size(), kNone);
    number_processes();
    for (std::uint32_t i = 0; i < all_.groups.size(); ++i) {
      if (used[i]) add_process(i, nodes);
    }
    for (const AcceleratorContext& context : all_.contexts) add_context(context, nodes);
    // Rare: threads whose process is not known.
    for (const timeloom::Location& location : all_.locations) {
      if (location.group.value() < used.size() || strays_ != kNone) continue;
      strays_ = static_cast<std::uint32_t>(cube_.groups.size());
      cube_.groups.push_back(
          {host("", nodes), name_of_rank(next_rank_), next_rank_, "process", {}});
    }
    add_locations();
  }

  // MPI ranks keep their numbers; other processes get the numbers after them.
  void number_processes() {
    for (const LocationGroup& process : all_.groups) {
      if (const auto rank = job_rank_of(process)) next_rank_ = std::max(next_rank_, *rank + 1);
    }
    for (const LocationGroup& process : all_.groups) {
      const auto rank = job_rank_of(process);
      ranks_.push_back(rank ? *rank : next_rank_++);
    }
  }

  SystemNodeId host(const std::string& name, std::map<std::string, SystemNodeId>& nodes) {
    const auto [found, fresh] =
        nodes.emplace(name, static_cast<std::uint32_t>(cube_.system_nodes.size()));
    if (fresh) {
      cube_.system_nodes.push_back(
          {SystemNodeId{0}, name.empty() ? "node" : "node " + name, "node", "", {}});
    }
    return found->second;
  }

  void add_process(std::uint32_t index, std::map<std::string, SystemNodeId>& nodes) {
    const LocationGroup& process = all_.groups[index];
    groups_[index] = static_cast<std::uint32_t>(cube_.groups.size());
    // CUBE's tools join or subtract profiles only if the processes of a rank have the same name.
    const std::uint32_t rank = ranks_[index];
    const std::string name = !job_rank_of(process)   ? name_of_rank(rank)
                             : process.alias.empty() ? process.name
                                                     : process.alias;
    Group group{host(process.hostname, nodes), name, rank, "process", {}};
    group.attributes.push_back({kName, process.name});
    group.attributes.push_back({kProcessId, std::to_string(process.process_id)});
    group.attributes.push_back({kExecutable, process.executable});
    for (std::size_t i = 0; i < process.arguments.size(); ++i) {
      group.attributes.push_back({kArgument + std::to_string(i), process.arguments[i]});
    }
    if (process.creator.defined() && process.creator.value() < ranks_.size()) {
      group.attributes.push_back({kCreator, std::to_string(ranks_[process.creator.value()])});
    }
    if (!process.ending.empty()) group.attributes.push_back({kEnding, process.ending});
    cube_.groups.push_back(std::move(group));
  }

  // A group of its own below the device, as Score-P's.
  void add_context(const AcceleratorContext& context, std::map<std::string, SystemNodeId>& nodes) {
    const std::uint32_t process = groups_.at(context.process.value());
    if (process == kNone) return contexts_.push_back(kNone);  // no location of it is left
    contexts_.push_back(static_cast<std::uint32_t>(cube_.groups.size()));
    const SystemNodeId node =
        device(context.device, host(all_.groups[context.process.value()].hostname, nodes));
    Group group{node, context.name, next_rank_++, std::string(kAccelerator), {}};
    group.attributes.push_back({kCreatingGroup, cube_.groups[process].name});
    cube_.groups.push_back(std::move(group));
  }

  SystemNodeId device(const std::string& number, SystemNodeId host) {
    const auto next = SystemNodeId{static_cast<std::uint32_t>(cube_.system_nodes.size())};
    const auto [found, fresh] = devices_.try_emplace({host, number}, next);
    if (fresh) {
      const std::string name = std::string(kDeviceClass) + ' ' + number;
      cube_.system_nodes.push_back({host, name, kDeviceClass, "", {}});
    }
    return found->second;
  }

  std::uint32_t group_of(const timeloom::Location& location) const {
    if (location.context.defined()) return contexts_.at(location.context.value());
    const std::uint32_t process = location.group.value();
    return process < groups_.size() ? groups_[process] : strays_;
  }

  void add_locations() {
    std::vector<std::uint64_t> threads(cube_.groups.size());
    std::set<std::uint32_t> begun;
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      const timeloom::Location& from = all_.locations[i];
      const std::uint32_t group = group_of(from);
      first_.push_back(begun.insert(from.group.value()).second);
      Location location{CubeGroupId{group},
                        from.alias.empty() ? from.name : from.alias,
                        threads[group]++,
                        std::string(name_in(kLocationTypes, from.type)),
                        {}};
      if (location.type == "unknown") location.type = "thread";
      location.attributes = {{kLocation, std::to_string(from.id.value())},
                             {kThreadId, std::to_string(from.thread_id)},
                             {kEvents, std::to_string(from.event_count)},
                             {kFirst, std::to_string(ticks(tree_.locations[i].first))},
                             {kLast, std::to_string(ticks(tree_.locations[i].last))}};
      if (!from.alias.empty()) location.attributes.push_back({kName, from.name});
      if (from.feeder.defined()) {
        location.attributes.push_back({kFeeder, std::to_string(from.feeder.value())});
      }
      cube_.locations.push_back(std::move(location));
    }
  }

  const profile::CallTree& tree_;
  const Definitions& all_;
  Cube& cube_;
  std::vector<std::uint32_t> groups_;    // group of each process; kNone: left out
  std::vector<std::uint32_t> ranks_;     // rank of each process
  std::vector<std::uint32_t> contexts_;  // group of each context
  std::map<std::pair<SystemNodeId, std::string>, SystemNodeId> devices_;
  std::uint32_t next_rank_ = 0;   // not yet in use
  std::uint32_t strays_ = kNone;  // the group of threads without a process
  std::vector<bool> first_;       // for each location: it is the first of its process
};

}  // namespace

std::vector<bool> add_system(const profile::CallTree& tree, const ProfileFacts& facts, Cube& cube) {
  return SystemWriter(tree, cube).add(facts);
}

}  // namespace timeloom::cube
