// The rows of a comparison of two runs, their order, and the test for a slow-down.
//
// Plain values and functions. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "profile/diff.hpp"

namespace timeloom::tools {

// The ranks, processes or threads over which times are sums, where two runs differ in their number.
struct DiffParts {
  std::string_view noun;  // "rank", "process" or "thread"
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

// None: both runs have the same numbers of ranks, processes and threads. Ranks come before
// processes, and these before threads.
std::optional<DiffParts> differing_parts(const Definitions& before, const Definitions& after);

enum class Change : std::uint8_t { kSame, kSlower, kFaster, kNew, kGone };

std::string_view change_name(Change change);

struct DiffRow {
  std::string name;      // of the region
  profile::NodeId node;  // of a call path, in Diff::nodes; undefined: a region
  std::string file;
  std::uint32_t line = 0;
  profile::DiffSide before;
  profile::DiffSide after;
  // Work or exclusive times; a difference of inclusive times would appear in every caller, too.
  double own_before = 0;
  double own_after = 0;

  Change change() const;
  double difference() const { return own_after - own_before; }
};

struct DiffRowOptions {
  double min_percent = 0;  // of the longer run: hide rows that changed by less
  bool by_work = false;    // compare work; else exclusive times
  bool complete = false;   // with differences within the error of samples
};

struct DiffRows {
  std::vector<DiffRow> rows;  // the largest change first
  std::uint64_t hidden = 0;
  std::uint64_t within_spread = 0;  // hidden as well: runs of one side differ as much
  std::uint64_t within_error = 0;   // hidden as well: of one run a side, see sampling_error()
};

// Whether a change of work is not within the spread of the runs: the highest of one side is below
// the lowest of the other. True where a side has one run only.
bool beyond_spread(const profile::Diff& diff, const profile::DiffRange& before,
                   const profile::DiffRange& after);

// Whether a change is larger than the error of the samples of which both times are made. True where
// the sides have several runs, whose spread tells more.
bool beyond_error(const profile::Diff& diff, double before, double after);

DiffRows region_rows(const profile::Diff& diff, const DiffRowOptions& options);
DiffRows call_path_rows(const profile::Diff& diff, const DiffRowOptions& options);

// The name of a call path's region, with the values of its parameters.
std::string name_of_node(const profile::Diff& diff, profile::NodeId node);
// The names of the innermost `most` regions of a call path, the outermost of them first.
std::vector<std::string> path_of(const profile::Diff& diff, profile::NodeId node, std::size_t most);

// The time of the longer run, to which --min-percent refers.
double longer(const profile::Diff& diff, bool by_work);

// A region, or the whole run, that --fail-above has compared.
struct Compared {
  std::string name;  // empty: the whole
  std::string file;
  std::uint32_t line = 0;
  double before = 0;  // seconds, with the regions inside
  double after = 0;
  bool of_work = false;
  bool too_slow =
      false;  // grew by more than the limit, beyond the spread of the runs and the error
  std::string text() const;  // "the whole takes 2 s instead of 1 s"
};

// The whole run and the regions with at least a hundredth of it, by their inclusive time, or work
// with the regions inside: those that grew by more than `percent` first, each part in the order of
// the largest time. Functions that --overhead has not timed to the end in one of the runs are left
// out.
std::vector<Compared> compare_with_limit(const profile::Diff& diff, double percent, bool by_work);
// A sentence that names the functions that are left out, the longest ones first; empty: there are
// none.
std::string not_timed(const profile::Diff& diff);

}  // namespace timeloom::tools
