#include "weave/unify.hpp"

#include <algorithm>

#include "core/mpi/communicator_groups.hpp"
#include "core/regions/forked_region.hpp"
#include "core/waiting_metric.hpp"
#include "core/wakeups.hpp"

namespace timeloom::weave {
namespace {

std::string key_of(const Region& region) {
  std::string key;
  for (const std::string* part :
       {&region.name, &region.canonical_name, &region.file, &region.group}) {
    key.append(*part).push_back('\0');
  }
  key += std::to_string(region.first_line) + ':' + std::to_string(region.last_line) + ':' +
         std::to_string(static_cast<int>(region.paradigm)) + ':' +
         std::to_string(static_cast<int>(region.role));
  return key;
}

std::string key_of(const Parameter& parameter) {
  return parameter.name + '\0' + std::to_string(static_cast<int>(parameter.type));
}

std::string key_of(const Metric& metric) {
  return metric.name + '\0' + metric.unit + '\0' + std::to_string(static_cast<int>(metric.type)) +
         '\0' + metric.set;
}

}  // namespace

void IdMap::set(std::uint32_t from, std::uint32_t to) {
  if (from >= limit_) {
    far_[from] = to;
    return;
  }
  if (from >= to_.size()) to_.resize(from + 1, kNone);
  to_[from] = to;
}

template <typename Definition>
std::uint32_t Unifier::unify(std::map<std::string, std::uint32_t>& known, const std::string& key,
                             std::vector<Definition>& table, const Definition& definition) {
  const auto [entry, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(table.size()));
  if (is_new) table.push_back(definition);
  return entry->second;
}

void Unifier::number_regions_as(const std::vector<Region>& earlier) {
  for (const Region& region : earlier) unify(regions_, key_of(region), run_.regions, region);
}

ProcessIds Unifier::add(const spool::ProcessDefinitions& process,
                        const std::map<std::uint32_t, Region>& regions, bool complete) {
  ProcessIds ids;
  ids.regions.expect(regions.size());
  ids.strings.expect(process.strings.size());
  ids.parameters.expect(process.parameters.size());
  ids.metrics.expect(process.metrics.size());
  for (const auto& [id, region] : regions) {
    const std::uint32_t to = unify(regions_, key_of(region), run_.regions, region);
    ids.regions.set(id, to);
    if (is_forked(region)) ids.forked.insert(to);
  }
  const bool measured = std::ranges::any_of(
      process.metrics, [](const auto& entry) { return entry.second.is_waiting(); });
  if (measured && (!process.ended || !process.cuts.empty())) {
    const Region region = unmeasured_region();
    ids.unmeasured = unify(regions_, key_of(region), run_.regions, region);
  }
  if (!complete) {
    Region unknown;
    unknown.name = unknown.canonical_name = "(definition lost)";
    ids.regions.set_fallback(unify(regions_, key_of(unknown), run_.regions, unknown));
  }
  for (const auto& [id, text] : process.strings) {
    ids.strings.set(id, unify(strings_, text, run_.strings, text));
  }
  for (const auto& [id, parameter] : process.parameters) {
    const std::uint32_t to = unify(parameters_, key_of(parameter), run_.parameters, parameter);
    ids.parameters.set(id, to);
    if (!parameter.splits_call_paths()) ids.task_parameter = to;
    const WakeupEnd end = wakeup_end_of(parameter);
    if (end != WakeupEnd::kNone) ids.wakeup_parameters[end == WakeupEnd::kWakes ? 0 : 1] = to;
  }
  for (const auto& [id, metric] : process.metrics) {
    ids.metrics.set(id, unify(metrics_, key_of(metric), run_.metrics, metric));
  }
  add_communicators(process, ids.communicators);
  add_io_handles(process, ids);
  return ids;
}

// Its members are added when their locations are known: SpoolSource::add_members().
void Unifier::add_communicators(const spool::ProcessDefinitions& process, IdMap& ids) {
  ids.expect(process.communicators.size());
  auto& table = run_.communicators;
  for (const auto& [id, local] : process.communicators) {
    const auto next = static_cast<std::uint32_t>(table.size());
    const auto [entry, is_new] = communicators_.try_emplace(local.identity, next);
    ids.set(id, entry->second);
    if (!is_new) {
      if (table[entry->second].name.empty()) table[entry->second].name = local.name;
      continue;
    }
    const auto parent = communicators_.find(local.parent);
    Communicator& made = table.emplace_back();
    made.identity = local.identity;
    made.name = local.name;
    const bool between = is_between_groups(local);
    made.self = local.self && !between;
    if (!between && local.parent != 0 && parent != communicators_.end()) {
      made.parent = CommunicatorId{parent->second};
    }
  }
}

// Each is a separate definition, even for the same file.
void Unifier::add_io_handles(const spool::ProcessDefinitions& process, ProcessIds& ids) {
  ids.io_handles.expect(process.io_handles.size());
  const std::size_t first = run_.io_handles.size();
  for (const auto& [id, handle] : process.io_handles) {
    ids.io_handles.set(id, static_cast<std::uint32_t>(run_.io_handles.size()));
    run_.io_handles.push_back(handle);
  }
  for (std::size_t i = first; i < run_.io_handles.size(); ++i) {
    IoHandleId& parent = run_.io_handles[i].parent;
    if (parent.defined()) parent = IoHandleId{ids.io_handles[parent.value()]};
  }
}

}  // namespace timeloom::weave
