#include "python/launch/plan/rank_run.hpp"

#include <unistd.h>

#include <exception>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/text/message_id.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/launch/follow.hpp"
#include "run/job.hpp"
#include "run/open_directory.hpp"
#include "run/run_directory.hpp"
#include "run/spawned_group.hpp"
#include "run/spools.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// A child of this process inherits the variables of its launcher and is not the rank.
void mark_for_children(const LaunchedRank& launched) {
  if (!set_for_children(kRankVariable, rank_mark(launched))) PyErr_Clear();
}

}  // namespace

// The rank that makes the run has made the pointer before, so if there is a pointer now, the
// existing directory is the run itself.
void RankRun::check() {
  std::optional<RankRendezvous> rendezvous = own_->rendezvous();
  if (!rendezvous) return own_->check();
  if (rendezvous->refuses && !launched_.restart_suffix.empty()) {
    own_->set_apart(launched_.restart_suffix);
    rendezvous = own_->rendezvous();
  }
  rendezvous_ = *rendezvous;
  if (launched_.job.empty()) {
    if (launched_.size != 1) own_->set_apart(".rank-" + std::to_string(launched_.rank));
    apart_ = "nothing tells the job of the ranks that " + std::string(launched_.launcher) +
             " has started, so each has a run of its own; name the job in " + kJobVariable +
             " [TL039]";
    return own_->check();
  }
  job_ = {launched_.job, rendezvous_.requested_name, launched_.rank, launched_.size};
  if (run::has_run(rendezvous_.directory, *job_)) return;
  try {
    own_->check();
  } catch (const Error&) {
    if (!run::has_run(rendezvous_.directory, *job_)) throw;
  }
}

void RankRun::make() {
  mark_for_children(launched_);
  if (!job_) {
    if (!apart_.empty() && launched_.rank == 0) print_line(apart_);
    return own_->make();
  }
  std::string refused;
  try {
    refused = share();
  } catch (const EnvironmentError& error) {
    refused = error.what();
  } catch (const std::system_error& error) {
    refused = error.what();
  }
  if (!refused.empty()) make_alone(refused);
}

std::string RankRun::share() {
  run::make_rendezvous(rendezvous_.directory);
  const auto make = [this](unsigned program) {
    if (program > 1) own_->set_apart(".program-" + std::to_string(program));
    own_->check();
    own_->make();
    return directory();
  };
  const run::SharedRun run =
      run::share_run(rendezvous_.directory, *job_, make, [this] { own_->forget(); });
  if (!run.refused.empty()) return run.refused;
  if (!run.made) own_->join(run.run);
  shared_ = true;
  made_ = run.made;
  return {};
}

void RankRun::make_alone(const std::string& reason) {
  const std::string rank = std::to_string(launched_.rank);
  own_->set_apart(".rank-" + rank);
  own_->check();
  own_->make();
  print_line("rank " + rank + " has a run of its own, " + own_->path() + ": " +
             std::string(without_id(reason)) + " [TL038]");
}

// The others go on in it.
void RankRun::forget() noexcept try {
  if (!shared_) return own_->forget();
  if (!is_last()) return;
  if (!made_ || run::count_spools(path()) > 0) return finish();
  run::forget_job(run::Directory::open(directory()));
  own_->forget();
} catch (const std::exception&) {  // then it keeps the name that it has
}

// Ranks that record know the run by its name; those that are still to come, by the pointer.
void RankRun::finish() {
  const fs::path before = path();
  const bool others = others_ == run::Others::kNotHere;
  if (others && run::others_record(directory(), launched_.rank)) return;
  own_->finish();
  if (others && path() != before) run::move_job(run::Directory::open(directory()), before);
}

std::optional<RankInRun> RankRun::rank() const {
  const std::string run = own_->path();
  const std::string spools =
      shared_ ? run::spools_of_rank(run, launched_.rank).string() : std::string();
  return RankInRun{launched_.rank, launched_.size, spools, launched_.of_mpi()};
}

bool RankRun::is_last() {
  last_ = last_ || (ranks_have_ended() && run::end_group(directory(), 0));
  return last_;
}

bool RankRun::ranks_have_ended() {
  if (!shared_) return true;
  if (launched_.size == 0) return false;
  if (!others_) {
    others_ = run::end_rank(directory(), launched_.rank, launched_.size, run::kTimeoutForLateRanks);
  }
  return *others_ != run::Others::kGoOn;
}

std::string RankRun::missing() const {
  if (others_ != run::Others::kNotHere) return {};
  return run::text_of_missing(path(), launched_.size);
}

std::string RankRun::unwoven_message() const {
  if (launched_.size != 0 || launched_.rank != 0) return {};
  return run::text_of_unknown_size(launched_.launcher);
}

std::shared_ptr<PlannedRun> plan_and_check_run(const Settings& settings, const Program& program,
                                               const Door& door) {
  std::shared_ptr<PlannedRun> planned = layout_of(settings).plan(settings, program, door);
  if (auto launched = launched_rank_of_this_process(environ)) {
    planned = std::make_shared<RankRun>(std::move(planned), std::move(*launched));
  }
  planned->check();
  return planned;
}

}  // namespace timeloom::python
