// How enumerations are spelled in callpaths.json, in the order of their values.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom::profile {

inline constexpr char kCallpathsFormat[] = "timeloom-callpaths";

inline constexpr std::array<std::string_view, 5> kParadigmNames = {"unknown", "user", "compiler",
                                                                   "measurement", "other"};
static_assert(static_cast<std::size_t>(Paradigm::kOther) == kParadigmNames.size() - 1);

inline constexpr std::array<std::string_view, 7> kRegionRoleNames = {
    "unknown", "function", "code", "loop", "wrapper", "artificial", "other"};
static_assert(static_cast<std::size_t>(RegionRole::kOther) == kRegionRoleNames.size() - 1);

inline constexpr std::array<std::string_view, 4> kLocationTypeNames = {
    "cpu thread", "accelerator stream", "metric", "unknown"};
static_assert(static_cast<std::size_t>(LocationType::kUnknown) == kLocationTypeNames.size() - 1);

inline constexpr std::array<std::string_view, 3> kMetricTypeNames = {"int64", "uint64", "double"};
static_assert(static_cast<std::size_t>(MetricValueType::kDouble) == kMetricTypeNames.size() - 1);

inline constexpr std::array<std::string_view, 3> kMetricModeNames = {"now", "from now on",
                                                                     "counted"};
static_assert(static_cast<std::size_t>(MetricMode::kAccumulatedStart) ==
              kMetricModeNames.size() - 1);

}  // namespace timeloom::profile
