// How the directory of a run is chosen, made and named: the choices of the setting layout.
//
// Layouts are constant values, one for each folder src/doors/NAME/launch: kNameLaunch. A PlannedRun
// belongs to the launcher; main thread, with the GIL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/known_directory.hpp"
#include "python/launch/door.hpp"
#include "python/launch/main_module.hpp"
#include "run/run_layout.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// A rank whose run others share.
struct RankInRun {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;  // 0: not known
  std::string spools;      // the directory of its spools
  bool of_mpi = true;      // its launcher is one of MPI's
};

struct RankRendezvous {
  std::filesystem::path directory;
  std::string requested_name;  // empty: any name
  bool refuses = false;        // an existing file or directory of that name is an error
};

// The directory of a run: chosen before the program begins, made when it does.
class PlannedRun {
 public:
  PlannedRun() = default;
  virtual ~PlannedRun() = default;
  PlannedRun(const PlannedRun&) = delete;
  PlannedRun& operator=(const PlannedRun&) = delete;

  // Throws Error if the directory cannot be written to. Changes nothing.
  virtual void check() {}
  virtual void make() = 0;             // throws Error
  virtual void forget() noexcept = 0;  // nothing was recorded
  // Nothing writes to it any more: it gets its final name. Throws Error.
  virtual void finish() = 0;
  virtual std::string path() const = 0;
  // The identity of its directory, once it is made or joined.
  virtual os::DirectoryId id() const = 0;
  KnownDirectory directory() const { return {path(), id()}; }
  virtual RunDescription description() const { return {}; }
  // The place of the process among the ranks of its job; see rank_run.hpp.
  virtual std::optional<RankInRun> rank() const { return std::nullopt; }
  // Asked once, when the measurement of this process has ended: whether nobody else records into
  // the run, so that this process is to weave it.
  virtual bool is_last() { return true; }
  // For the last process: the reason why others may still join the run; empty: no other will.
  virtual std::string missing() const { return {}; }
  // For any other process: a message for the user if no process is going to weave the run; else
  // empty.
  virtual std::string unwoven_message() const { return {}; }

  // ---- For ranks of a job; REQUIRES: before make()

  // Their rendezvous directory, and the name that the user wants; none: this layout has a run
  // for each rank.
  virtual std::optional<RankRendezvous> rendezvous() const { return std::nullopt; }
  // In place of make(): another rank has made it. Throws Error.
  virtual void join(const KnownDirectory& run) = 0;
  // This rank has a run of its own, whose name ends so.
  virtual void set_apart(const std::string& suffix) = 0;
};

// A layout as the launcher needs it; run/run_layout.hpp has it as the weave does.
struct LaunchLayout {
  const run::Layout& layout;
  const Door& door;  // whose layout it is
  // Sets the settings that variables of the layout are other names of. Throws Error.
  void (*apply_variables)(Settings& settings);
  // Throws Error where the machine or the settings are in the way. Changes nothing.
  std::shared_ptr<PlannedRun> (*plan)(const Settings& settings, const Program& program,
                                      const Door& door);
  // Losses are printed also with --quiet.
  bool always_prints_losses;
};

// The layout that the setting names. Throws Error if this build has no door with that layout.
const LaunchLayout& layout_of(const Settings& settings);

// The planned run of this process, which may be a rank of a job: planned by the layout, and
// checked. Throws Error if the directory cannot be written to. Changes nothing.
std::shared_ptr<PlannedRun> plan_and_check_run(const Settings& settings, const Program& program,
                                               const Door& door);  // rank_run.cpp

}  // namespace timeloom::python
