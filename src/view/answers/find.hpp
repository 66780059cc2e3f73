// Finds calls by region, begin and duration.
//
// Functions over an index, for any thread. What the sums of blocks exclude is not read. Throws
// Error where the file is damaged.
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
  std::uint64_t from = 0;  // calls that begin in [from, to)
  std::uint64_t to = kLastTime;
  std::uint64_t shortest = 0;  // of their durations, both included
  std::uint64_t longest = UINT64_MAX;
  std::vector<std::uint32_t> tracks;
  std::vector<std::uint32_t> regions;  // none: any
  // Of the values that a call was given one has to be like this; empty: any call.
  std::function<bool(const Event&)> parameter;
};

struct FoundCall {
  std::uint32_t track = 0;
  Call call;
};

struct FindAnswer {
  std::vector<FoundCall> calls;
  bool complete = true;  // there are no more; else there may be
};

FindAnswer find_calls(const Index& index, const FindQuestion& question);

}  // namespace timeloom::view
