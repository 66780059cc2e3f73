// Finds calls by region, start and duration.
//
// Functions over an index, for any thread. Blocks that the sums exclude are not read. Throws Error
// where the file is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "view/answers/calls.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

enum class FindOrder : std::uint8_t { kEarliest, kLatest, kLongest };

struct FindQuestion {
  FindOrder order = FindOrder::kEarliest;
  std::size_t limit = 1;
  std::uint64_t from = 0;  // calls that start in [from, to)
  std::uint64_t to = kLastTime;
  std::uint64_t shortest = 0;  // bounds of their durations, both inclusive
  std::uint64_t longest = UINT64_MAX;
  std::vector<std::uint32_t> tracks;
  std::vector<std::uint32_t> regions;  // none: any
  // A test that one of the call's values must pass; empty: any call.
  std::function<bool(const Event&)> parameter;
};

struct FoundCall {
  std::uint32_t track = 0;
  Call call;
};

struct FindAnswer {
  std::vector<FoundCall> calls;
  bool complete = true;  // false: there may be more
};

FindAnswer find_calls(const Index& index, const FindQuestion& question);

}  // namespace timeloom::view
