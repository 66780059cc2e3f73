#include "run/spools.hpp"

#include <algorithm>

#include "run/contents.hpp"
#include "run/job.hpp"

namespace timeloom::run {
namespace {

os::Directory open_spools(const std::filesystem::path& run) {
  int ignored = 0;
  const os::Directory directory = os::Directory::open(run.string(), &ignored);
  return directory.open_below(name_of(Item::kSpool), &ignored);
}

std::uint64_t size_of(const os::Directory& directory, const std::string& way) {
  int error = 0;
  const os::File file = directory.open_file(way, &error);
  return file.is_open() ? file.size(&error) : 0;
}

}  // namespace

std::vector<std::string> spools_in(const os::Directory& spools, int* error) {
  std::vector<std::string> result;
  std::vector<std::string> names = spools.names(error);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    int failed = 0;
    const os::Directory below =
        rank_of_directory(name) ? spools.open_below(name, &failed) : os::Directory();
    if (!below.is_open()) {
      result.push_back(name);
      continue;
    }
    std::vector<std::string> of_rank = below.names(&failed);
    std::ranges::sort(of_rank);
    for (const std::string& one : of_rank) result.push_back(name + "/" + one);
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

std::uint64_t count_unmeasured(const std::filesystem::path& run) {
  const os::Directory spools = open_spools(run);
  if (!spools.is_open()) return 0;
  const std::string file = name_of(Item::kUnmeasured);
  std::uint64_t count = size_of(spools, file);
  int error = 0;
  for (const std::string& name : spools.names(&error)) {
    if (rank_of_directory(name)) count += size_of(spools, name + "/" + file);
  }
  return count;
}

}  // namespace timeloom::run
