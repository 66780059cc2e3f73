// What a comparison of two runs shows: which rows, in what order, and whether
// anything became too slow.
//
// Plain values and functions. Nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/diff.hpp"

namespace timeloom::tools {

enum class Change : std::uint8_t { kSame, kSlower, kFaster, kNew, kGone };

std::string_view name_of(Change change);

struct DiffRow {
  std::string name;               // of the region
  std::vector<std::string> path;  // of a call path: the regions from the root on
  std::string file;
  std::uint32_t line = 0;
  profile::DiffSide before;
  profile::DiffSide after;

  Change change() const;
  // Of the exclusive time: that of the inclusive would be found again in every caller.
  double difference() const { return after.exclusive - before.exclusive; }
};

struct DiffRowOptions {
  double min_percent = 0;  // of the longer run: hide what changed by less
};

struct DiffRows {
  std::vector<DiffRow> rows;  // what changed most comes first
  std::uint64_t hidden = 0;
};

DiffRows region_rows(const profile::Diff& diff, const DiffRowOptions& options);
DiffRows call_path_rows(const profile::Diff& diff, const DiffRowOptions& options);

// What takes more than `percent` longer than before: the whole run, or a region
// with at least a hundredth of it, by its inclusive time. Empty: nothing.
std::vector<std::string> too_slow(const profile::Diff& diff, double percent);

}  // namespace timeloom::tools
