#include "profile/score.hpp"

#include <algorithm>
#include <numeric>

#include "core/filter/filter.hpp"
#include "profile/event_sizes.hpp"
#include "profile/score_events.hpp"

namespace timeloom::profile {

namespace {

struct TypeFacts {
  std::string_view name;
  char symbol;
  std::string_view paradigm;  // of regions of this kind; empty: decided otherwise
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
    {"OMP", '-', "openmp", true},
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

// Profiles of old versions do not contain the kind of a region.
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

// From the leaves up: a user region with communication anywhere below is COM, in all of its
// call paths.
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

// The region as the recorder's filter saw it; its module is in the paradigm.
timeloom::Region definition_of(const ScoreProfile::Region& from) {
  timeloom::Region region;
  region.name = from.name;
  region.canonical_name = from.mangled_name.empty() ? from.name : from.mangled_name;
  region.file = from.file;
  const std::size_t colon = from.paradigm.find(':');
  if (colon != std::string::npos) region.group = from.paradigm.substr(colon + 1);
  if (from.paradigm.substr(0, colon) == "user") region.paradigm = Paradigm::kUser;
  return region;
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
      per_visit_.push_back(
          bytes_per_visit(profile.regions[i], sizes_, profile.sampled, counters, profile.ours));
      result_.regions.back().filtered = filter != nullptr && is_filtered(i, *filter);
    }
  }

  Score run() {
    for (std::size_t i = 0; i < profile_.call_paths.size(); ++i) add(i);
    for (const ScoreRecord& region : result_.regions) add_to_types(region);
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
    if (region.paradigm == "sampling" || symbol_of(types_[index]) == '-') return false;
    if (profile_.ours) return excluded_by(filter, definition_of(region));
    return filter.excluded(region.file, region.name, region.mangled_name);
  }

  // A call path counts for its region; an execution of a dynamic region, for the dynamic region.
  void add(std::size_t index) {
    const ScoreProfile::CallPath& path = profile_.call_paths[index];
    const bool execution = is_execution(profile_.regions[path.region]) && path.parent != UINT32_MAX;
    const std::uint32_t region = execution ? profile_.call_paths[path.parent].region : path.region;
    std::uint64_t per_visit = per_visit_[region];
    std::uint64_t per_hit = 0;
    if (!execution) {
      per_visit += path.numbers * (sizes_.of("ParameterInt") + kTimestampSize) +
                   path.texts * (sizes_.of("ParameterString") + kTimestampSize);
      per_hit = sizes_.of("CallingContextSample") + kTimestampSize;
    }
    ScoreRecord& record = result_.regions[region];
    for (std::size_t process = 0; process < profile_.processes; ++process) {
      const ScoreProfile::Values& values = profile_.values[index * profile_.processes + process];
      if (values.visits == 0 && values.hits == 0 && values.drawn == 0) continue;
      record.evaluated = true;
      record.bytes[process] += (values.visits + values.drawn) * per_visit + values.hits * per_hit;
      record.visits += values.visits;
      record.hits += execution ? 0 : values.hits;
      record.time += values.time;
    }
  }

  void add_to_types(const ScoreRecord& region) {
    const auto type = static_cast<std::size_t>(region.type);
    add_to(result_.types[0], region);
    add_to(result_.types[type], region);
    if (region.filtered) {
      add_to(result_.filtered_types[static_cast<std::size_t>(RegionType::kFiltered)], region);
    } else {
      add_to(result_.filtered_types[0], region);
      add_to(result_.filtered_types[type], region);
    }
  }

  static void add_to(ScoreRecord& sum, const ScoreRecord& part) {
    for (std::size_t i = 0; i < sum.bytes.size(); ++i) sum.bytes[i] += part.bytes[i];
    sum.visits += part.visits;
    sum.hits += part.hits;
    sum.time += part.time;
    sum.evaluated = sum.evaluated || part.evaluated;
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
