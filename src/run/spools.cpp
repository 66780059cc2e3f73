#include "run/spools.hpp"

#include <algorithm>

#include "core/mpi/spawned.hpp"
#include "run/contents.hpp"
#include "run/job.hpp"

namespace timeloom::run {
namespace {

os::Directory open_spools(const std::filesystem::path& run) {
  int ignored = 0;
  const os::Directory directory = os::Directory::open(run.string(), &ignored);
  return directory.open_below(name_of(Item::kSpool), &ignored);
}

void add(Unmeasured& sum, const os::Directory& directory, const std::string& way) {
  int error = 0;
  const Unmeasured counts = read_unmeasured(directory.open_file(way, &error));
  sum.processes += counts.processes;
  sum.interpreters += counts.interpreters;
  sum.workers += counts.workers;
}

std::vector<std::string> sorted_names(const os::Directory& directory, int* error) {
  std::vector<std::string> names = directory.names(error);
  std::ranges::sort(names);
  return names;
}

// The ways to the spools of parts.
std::vector<std::string> directories_of_sub_runs(const os::Directory& spools) {
  std::vector<std::string> result;
  int ignored = 0;
  const os::Directory parts = spools.open_below(kSubRunsName, &ignored);
  if (!parts.is_open()) return result;
  for (const std::string& name : sorted_names(parts, &ignored)) {
    result.push_back(std::string(kSubRunsName) + "/" + name + "/" + name_of(Item::kSpool));
  }
  return result;
}

// The ways to directories of spools below this one: of the ranks of the job, of spawned ranks, and
// of parts.
std::vector<std::string> directories_below(const os::Directory& spools, int* error) {
  std::vector<std::string> result = directories_of_sub_runs(spools);
  const auto add_of = [&](const os::Directory& directory, const std::string& way) {
    for (const std::string& name : sorted_names(directory, error)) {
      if (rank_of_directory(name)) result.push_back(way + name);
    }
  };
  add_of(spools, "");
  int ignored = 0;
  const os::Directory spawned = spools.open_below(kSpawnedName, &ignored);
  if (!spawned.is_open()) return result;
  for (const std::string& number : sorted_names(spawned, &ignored)) {
    const os::Directory group = spawned.open_below(number, &ignored);
    if (group.is_open()) add_of(group, std::string(kSpawnedName) + "/" + number + "/");
  }
  return result;
}

}  // namespace

std::vector<std::string> spools_in(const os::Directory& spools, int* error) {
  std::vector<std::string> result;
  for (const std::string& name : sorted_names(spools, error)) {
    int failed = 0;
    const bool of_several = name == kSpawnedName || name == kSubRunsName || rank_of_directory(name);
    if (!of_several || !spools.open_below(name, &failed).is_open()) result.push_back(name);
  }
  for (const std::string& way : directories_below(spools, error)) {
    int failed = 0;
    const os::Directory below = spools.open_below(way, &failed);
    if (!below.is_open()) continue;
    for (const std::string& name : sorted_names(below, &failed)) {
      result.push_back(way + "/" + name);
    }
  }
  return result;
}

std::uint64_t count_spools(const std::filesystem::path& run) {
  const os::Directory spools = open_spools(run);
  if (!spools.is_open()) return 0;
  int error = 0;
  const std::vector<std::string> names = spools_in(spools, &error);
  return static_cast<std::uint64_t>(std::ranges::count_if(names, [&](const std::string& name) {
    return name != kEndedName && spools.kind(name, &error) == os::EntryKind::kDirectory;
  }));
}

Unmeasured unmeasured_in(const std::filesystem::path& run) {
  Unmeasured sum;
  const os::Directory spools = open_spools(run);
  if (!spools.is_open()) return sum;
  const std::string file = name_of(Item::kUnmeasured);
  add(sum, spools, file);
  int error = 0;
  for (const std::string& way : directories_below(spools, &error)) {
    add(sum, spools, way + "/" + file);
  }
  return sum;
}

}  // namespace timeloom::run
