// The run that the ranks of a job share, around the planned run of a layout. One of them makes the
// run in its layout, the others join it (run/job.hpp). A rank that cannot join has a run of its
// own, and prints the reason. Main thread, with the GIL.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "python/launch/plan/layout_choice.hpp"
#include "run/job.hpp"
#include "settings/launched_rank.hpp"

namespace timeloom::python {

class RankRun : public PlannedRun {
 public:
  RankRun(std::shared_ptr<PlannedRun> own, LaunchedRank launched)
      : own_(std::move(own)), launched_(std::move(launched)) {}

  void check() override;
  void make() override;
  void forget() noexcept override;
  void finish() override;
  std::string path() const override { return own_->path(); }
  os::DirectoryId id() const override { return own_->id(); }
  RunDescription description() const override { return own_->description(); }
  std::optional<RankInRun> rank() const override;
  bool is_last() override;
  std::string missing() const override;
  std::string unwoven_message() const override;
  void join(const KnownDirectory& run) override { own_->join(run); }
  void set_apart(const std::string& suffix) override { own_->set_apart(suffix); }

 private:
  std::string share();  // why the rank cannot share a run; empty: it shares one
  void make_alone(const std::string& reason);
  bool ranks_have_ended();

  std::shared_ptr<PlannedRun> own_;
  LaunchedRank launched_;
  RankRendezvous rendezvous_;
  std::optional<run::JobRank> job_;  // none: the rank has a run of its own
  std::string apart_;                // why it has a run of its own; empty: it shares one, or the
                                     // user has been told
  bool shared_ = false;
  bool made_ = false;                  // by this rank
  std::optional<run::Others> others_;  // none: this rank has not ended
  bool last_ = false;                  // of all ranks, and of those that they have spawned
};

}  // namespace timeloom::python
