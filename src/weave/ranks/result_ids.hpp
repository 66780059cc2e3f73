// The ids of the run for the ids in the result of a rank (rank_result.hpp). Pure functions, for any
// thread; they throw std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weave/ranks/rank_result.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

using Ids = std::vector<std::uint32_t>;

// The id of the run, by id of the conversion.
inline Ids ids_here(const Ids& of_process, const IdMap& ids) {
  Ids result;
  for (const std::uint32_t id : of_process) result.push_back(ids[id]);
  return result;
}

// The weave itself defines metrics, too; each has a unique name.
inline Ids metrics_here(const RankResult& rank_result, const IdMap& ids,
                        const std::vector<Metric>& all) {
  Ids result = ids_here(rank_result.ids.metrics, ids);
  for (std::size_t i = 0; i < result.size() && i < rank_result.metric_names.size(); ++i) {
    if (rank_result.ids.metrics[i] != IdMap::kNone) continue;
    const auto found = std::ranges::find(all, rank_result.metric_names[i], &Metric::name);
    if (found != all.end()) result[i] = static_cast<std::uint32_t>(found - all.begin());
  }
  return result;
}

}  // namespace timeloom::weave
