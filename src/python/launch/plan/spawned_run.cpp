#include "python/launch/plan/spawned_run.hpp"

#include <utility>

#include "core/error.hpp"
#include "python/launch/follow.hpp"
#include "run/spawned_group.hpp"

namespace timeloom::python {

SpawnedRun::SpawnedRun(const Settings& settings, KnownDirectory run, std::uint32_t spawn,
                       LaunchedRank launched)
    // By the door with which the run was begun, which knows its own directory rules.
    : own_(layout_of(settings).plan(settings, {}, layout_of(settings).door)),
      run_(std::move(run)),
      spawn_(spawn),
      launched_(std::move(launched)) {}

void SpawnedRun::make() {
  if (!set_for_children(kRankVariable, rank_mark(launched_))) PyErr_Clear();
  if (!run::join_spawn(run_, spawn_, launched_.rank)) {
    throw Error("another process has been rank " + std::to_string(launched_.rank) + " of spawn " +
                std::to_string(spawn_) + " [TL074]");
  }
  own_->join(run_);
}

std::optional<RankInRun> SpawnedRun::rank() const {
  return RankInRun{launched_.rank, launched_.size,
                   run::spools_of_spawned(run_.path(), spawn_, launched_.rank).string()};
}

bool SpawnedRun::is_last() {
  const run::Others others = run::end_spawned(run_, spawn_, launched_.rank, launched_.size);
  return others != run::Others::kGoOn && run::end_group(run_, spawn_);
}

}  // namespace timeloom::python
