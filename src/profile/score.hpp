// Estimates the size of a trace of a profiled program: bytes by kind of region and by region,
// with and without a filter. The method is the same as in Score-P's own tool.
//
// Plain values and functions without state; any thread may call them. They throw only
// std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/filter_file.hpp"

namespace timeloom::profile {

// Kinds of regions. The first two are sums. The order matters: a region that calls a region
// of a kind after kCom becomes kCom.
enum class RegionType : std::uint8_t {
  kAll,
  kFiltered,
  kUser,
  kMeasurement,
  kCom,
  kMpi,
  kOpenMp,
  kShmem,
  kPthread,
  kCuda,
  kOpenCl,
  kOpenAcc,
  kMemory,
  kIo,
  kKokkos,
  kHip,
  kLibrary,
  kUnknown,
};
inline constexpr std::size_t kRegionTypes = static_cast<std::size_t>(RegionType::kUnknown) + 1;

// "USR", "MPI", ...
std::string_view name_of(RegionType type);
// '*': regions of this kind may be filtered, '-': they may not, '+': they are.
char symbol_of(RegionType type);

// The parts of a profile that the estimate uses.
struct ScoreProfile {
  struct Region {
    std::string name;
    std::string mangled_name;
    std::string file;
    std::string paradigm;
    bool root = false;                       // of a call tree
    std::optional<std::uint64_t> arguments;  // number of arguments, for a root that is a program
  };
  struct CallPath {
    std::uint32_t region = 0;
    std::uint32_t parent = UINT32_MAX;  // before it; UINT32_MAX: none
    std::uint32_t numbers = 0;          // number of numeric parameters
    std::uint32_t texts = 0;            // number of string parameters
  };
  // Exclusive values of one process.
  struct Values {
    std::uint64_t visits = 0;
    std::uint64_t hits = 0;
    double time = 0;          // seconds
    std::uint64_t drawn = 0;  // enters that do not count as visits
  };

  std::vector<Region> regions;
  std::vector<CallPath> call_paths;
  std::size_t processes = 0;
  std::vector<Values> values;      // of each call path for each process
  bool sampled = false;            // a sampling profile, which counts hits
  bool sampled_calls = false;      // calls are made of samples: the visits are their number
  bool ours = false;               // from Timeloom: filters match more names, MPI has more events
  std::size_t most_locations = 0;  // of a location group
  std::size_t metrics = 0;
  std::map<std::string, std::uint64_t> definitions;  // number of definitions of each kind
};

// The sums of a region or of a kind of regions.
struct ScoreRecord {
  std::string name;
  RegionType type = RegionType::kUnknown;
  std::vector<std::uint64_t> bytes;  // by process
  std::uint64_t visits = 0;
  std::uint64_t hits = 0;
  double time = 0;
  bool evaluated = false;
  bool filtered = false;

  std::uint64_t max_bytes() const;
  std::uint64_t total_bytes() const;
  double time_per_visit() const;  // microseconds
};

struct Score {
  std::array<ScoreRecord, kRegionTypes> types;           // without the filter
  std::array<ScoreRecord, kRegionTypes> filtered_types;  // with it; kFiltered: the regions left out
  std::vector<ScoreRecord> regions;                      // as in the profile
};

// `counters`: values that are recorded with every enter and leave.
Score score(const ScoreProfile& profile, std::uint64_t counters, const FilterFile* filter);

// The bytes of memory that a process needs so that it never has to flush.
std::uint64_t memory_requirement(const ScoreProfile& profile, std::uint64_t max_bytes);

}  // namespace timeloom::profile
