// How the directory of a run is chosen, made and named: the choices of the setting layout.
//
// Layouts are constant values. A RunPlace belongs to the launcher; main thread, with the GIL.
#pragma once

#include <memory>
#include <string>

#include "python/launch/door.hpp"
#include "python/launch/main_module.hpp"
#include "run/layout.hpp"
#include "settings/inheritance.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The directory of a run: chosen before the program begins, made when it does.
class RunPlace {
 public:
  RunPlace() = default;
  virtual ~RunPlace() = default;
  RunPlace(const RunPlace&) = delete;
  RunPlace& operator=(const RunPlace&) = delete;

  virtual void make() = 0;             // throws Error
  virtual void forget() noexcept = 0;  // nothing was recorded
  // Nothing writes to it any more: it gets its final name. Throws Error.
  virtual void finish() = 0;
  virtual std::string path() const = 0;
  virtual RunDescription description() const { return {}; }
};

// A layout as the launcher needs it; run/layout.hpp has it as the weave does.
struct LaunchLayout {
  const run::Layout& layout;
  // Sets the settings that variables of the layout are other names of. Throws Error.
  void (*apply_variables)(Settings& settings);
  // Throws Error when the directory is none to write to. Changes nothing.
  std::shared_ptr<RunPlace> (*plan)(const Settings& settings, const Program& program,
                                    const Door& door);
  // Losses are printed also with --quiet.
  bool losses_are_said;
};

extern const LaunchLayout kTimeloomLaunch;   // timeloom_layout.cpp
extern const LaunchLayout kScorepLaunch;     // scorep_layout.cpp
extern const LaunchLayout kOmnitraceLaunch;  // omnitrace_layout.cpp

const LaunchLayout& layout_of(const Settings& settings);

}  // namespace timeloom::python
