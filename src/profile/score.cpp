#include "profile/score.hpp"

#include <algorithm>
#include <numeric>

#include "profile/event_sizes.hpp"
#include "profile/score_events.hpp"

namespace timeloom::profile {

namespace {

struct TypeFacts {
  std::string_view name;
  char symbol;
  std::string_view paradigm;  // that makes a region one of these; empty: another reason
  bool with_group = false;    // the paradigm may have a ':' and a group after it
  bool only_group = false;    // ... must have
};

// In the order of the enumeration.
constexpr std::array<TypeFacts, kRegionTypes> kFacts = {{
    {"ALL", '*', ""},
    {"FLT", '+', ""},
    {"USR", '*', ""},
    {"SCOREP", '-', "measurement"},
    {"COM", '*', ""},
    {"MPI", '-', "mpi"},
    {"OMP", '-', "openmp"},
    {"SHMEM", '-', "shmem"},
    {"PTHREAD", '-', "pthread"},
    {"CUDA", '*', "cuda"},
    {"OPENCL", '-', "opencl"},
    {"OPENACC", '-', "openacc"},
    {"MEMORY", '-', "memory"},
    {"IO", '-', "io", true},
    {"KOKKOS", '*', "kokkos", true},
    {"HIP", '*', "hip", true},
    {"LIB", '*', "libwrap", true, true},
    {"UNKNOWN", '-', ""},
}};

bool matches(const TypeFacts& facts, std::string_view paradigm) {
  if (facts.paradigm.empty() || !paradigm.starts_with(facts.paradigm)) return false;
  const std::string_view rest = paradigm.substr(facts.paradigm.size());
  return (rest.empty() && !facts.only_group) || (facts.with_group && rest.starts_with(':'));
}

// Profiles of old versions do not say what a region is.
RegionType type_by_name(std::string_view name) {
  constexpr std::pair<std::string_view, RegionType> kPrefixes[] = {
      {"MPI_", RegionType::kMpi},         {"!$omp", RegionType::kOpenMp},
      {"omp_", RegionType::kOpenMp},      {"shmem_", RegionType::kShmem},
      {"pthread_", RegionType::kPthread},
  };
  for (const auto& [prefix, type] : kPrefixes) {
    if (name.starts_with(prefix)) return type;
  }
  return RegionType::kUser;
}

RegionType type_of(const ScoreProfile::Region& region) {
  if (region.paradigm == "unknown") return type_by_name(region.name);
  for (std::size_t i = 0; i < kRegionTypes; ++i) {
    if (matches(kFacts[i], region.paradigm)) return static_cast<RegionType>(i);
  }
  return RegionType::kUser;
}

// From the leaves up: a user region with communication anywhere below is COM,
// and it is the region that is, whichever of its call paths that was.
std::vector<RegionType> types_of(const ScoreProfile& profile) {
  std::vector<RegionType> types;
  for (const auto& region : profile.regions) types.push_back(type_of(region));
  const std::vector<RegionType> own = types;
  std::vector<bool> communicates(profile.call_paths.size());
  for (std::size_t i = profile.call_paths.size(); i-- > 0;) {
    const ScoreProfile::CallPath& path = profile.call_paths[i];
    if (communicates[i] && own[path.region] == RegionType::kUser) {
      types[path.region] = RegionType::kCom;
    }
    if (path.parent == UINT32_MAX) continue;
    if (communicates[i] || own[path.region] > RegionType::kCom) communicates[path.parent] = true;
  }
  return types;
}

EventSizes sizes_for(const ScoreProfile& profile) {
  std::map<std::string, std::uint64_t> counts = profile.definitions;
  counts.emplace("Region", profile.regions.size());
  counts.emplace("Metric", profile.metrics);
  return EventSizes(std::move(counts));
}

class Scorer {
 public:
  Scorer(const ScoreProfile& profile, std::uint64_t counters, const FilterFile* filter)
      : profile_(profile), sizes_(sizes_for(profile)), types_(types_of(profile)) {
    for (std::size_t i = 0; i < kRegionTypes; ++i) {
      const auto type = static_cast<RegionType>(i);
      set(result_.types[i], std::string(name_of(type)), type);
      const bool sum = type == RegionType::kFiltered;
      set(result_.filtered_types[i], std::string(name_of(type)) + (sum ? "" : "-FLT"), type);
    }
    for (std::size_t i = 0; i < profile.regions.size(); ++i) {
      set(result_.regions.emplace_back(), profile.regions[i].name, types_[i]);
      per_visit_.push_back(bytes_per_visit(profile.regions[i], sizes_, profile.sampled, counters));
      result_.regions.back().filtered = filter != nullptr && is_filtered(i, *filter);
    }
  }

  Score run() {
    for (std::size_t i = 0; i < profile_.call_paths.size(); ++i) {
      for (std::size_t process = 0; process < profile_.processes; ++process) {
        add(i, process, profile_.values[i * profile_.processes + process]);
      }
    }
    return std::move(result_);
  }

 private:
  void set(ScoreRecord& record, std::string name, RegionType type) const {
    record.name = std::move(name);
    record.type = type;
    record.bytes.assign(profile_.processes, 0);
  }

  bool is_filtered(std::size_t index, const FilterFile& filter) const {
    const ScoreProfile::Region& region = profile_.regions[index];
    return region.paradigm != "sampling" && symbol_of(types_[index]) != '-' &&
           filter.excluded(region.file, region.name, region.mangled_name);
  }

  void add(std::size_t index, std::size_t process, const ScoreProfile::Values& values) {
    if (values.visits == 0 && values.hits == 0) return;
    const ScoreProfile::CallPath& path = profile_.call_paths[index];
    ScoreProfile::Values counted = values;
    std::uint32_t region = path.region;
    std::uint64_t bytes = 0;
    if (is_execution(profile_.regions[region]) && path.parent != UINT32_MAX) {
      region = profile_.call_paths[path.parent].region;
      counted.hits = 0;
      bytes = values.visits * per_visit_[region];
    } else {
      const std::uint64_t parameters = path.numbers * (sizes_.of("ParameterInt") + kTimestampSize) +
                                       path.texts * (sizes_.of("ParameterString") + kTimestampSize);
      bytes = values.visits * (per_visit_[region] + parameters) +
              values.hits * (sizes_.of("CallingContextSample") + kTimestampSize);
    }
    count(result_.types[0], process, counted, bytes);
    count(result_.types[static_cast<std::size_t>(types_[region])], process, counted, bytes);
    count(result_.regions[region], process, counted, bytes);
    auto& groups = result_.filtered_types;
    if (result_.regions[region].filtered) {
      count(groups[static_cast<std::size_t>(RegionType::kFiltered)], process, counted, bytes);
    } else {
      count(groups[0], process, counted, bytes);
      count(groups[static_cast<std::size_t>(types_[region])], process, counted, bytes);
    }
  }

  static void count(ScoreRecord& record, std::size_t process, const ScoreProfile::Values& values,
                    std::uint64_t bytes) {
    record.bytes[process] += bytes;
    record.visits += values.visits;
    record.hits += values.hits;
    record.time += values.time;
    record.evaluated = true;
  }

  const ScoreProfile& profile_;
  EventSizes sizes_;
  std::vector<RegionType> types_;         // of regions
  std::vector<std::uint64_t> per_visit_;  // of regions
  Score result_;
};

}  // namespace

std::string_view name_of(RegionType type) { return kFacts[static_cast<std::size_t>(type)].name; }

char symbol_of(RegionType type) { return kFacts[static_cast<std::size_t>(type)].symbol; }

std::uint64_t ScoreRecord::max_bytes() const {
  return bytes.empty() ? 0 : *std::ranges::max_element(bytes);
}

std::uint64_t ScoreRecord::total_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

double ScoreRecord::time_per_visit() const {
  return visits == 0 ? 0 : time / static_cast<double>(visits) * 1e6;
}

Score score(const ScoreProfile& profile, std::uint64_t counters, const FilterFile* filter) {
  return Scorer(profile, counters, filter).run();
}

// Each location has a chunk of 2 MiB, and the profile and definitions as much again.
std::uint64_t memory_requirement(const ScoreProfile& profile, std::uint64_t max_bytes) {
  constexpr std::uint64_t kChunk = std::uint64_t{2} << 20;
  return std::max(max_bytes, kChunk) + kChunk * profile.most_locations;
}

}  // namespace timeloom::profile
