// The planned run of a process that MPI_Comm_spawn has started: the run of the process that has
// spawned it, in which it is a rank of a group of its own (run/spawned_group.hpp). The last of all
// groups finishes the run. Main thread, with the GIL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "python/launch/plan/layout_choice.hpp"
#include "settings/launched_rank.hpp"

namespace timeloom::python {

class SpawnedRun : public PlannedRun {
 public:
  // `settings`: of the run; `launched`: the rank among the processes that were spawned together.
  // REQUIRES: its size is known. Throws Error.
  SpawnedRun(const Settings& settings, KnownDirectory run, std::uint32_t spawn,
             LaunchedRank launched);

  void make() override;  // joins the run
  void forget() noexcept override {}
  void finish() override { own_->finish(); }
  std::string path() const override { return own_->path(); }
  os::DirectoryId id() const override { return own_->id(); }
  std::optional<RankInRun> rank() const override;
  bool is_last() override;
  void join(const KnownDirectory& run) override { own_->join(run); }
  void set_apart(const std::string&) override {}

 private:
  std::shared_ptr<PlannedRun> own_;
  KnownDirectory run_;
  std::uint32_t spawn_;
  LaunchedRank launched_;
};

}  // namespace timeloom::python
