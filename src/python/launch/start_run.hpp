// Where the run of a program goes, and the start of its measurement. Main thread,
// with the GIL.
#pragma once

#include <memory>
#include <string>

#include "python/launch/experiment.hpp"
#include "python/launch/main_module.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The directory of a run: chosen before the program begins, made when it does.
class RunPlace {
 public:
  // Throws Error when it is none to write to. For an experiment directory of
  // Score-P, `settings` gets what the SCOREP_ variables say.
  RunPlace(Settings& settings, const Program& program);

  void make(const Settings& settings, const Program& program);  // throws Error
  void forget() noexcept;                                       // nothing was recorded

  const std::string& directory() const noexcept { return directory_; }
  std::unique_ptr<Experiment> take_experiment() noexcept { return std::move(experiment_); }

 private:
  std::unique_ptr<Experiment> experiment_;
  bool ours_;  // the layout of the directory
  std::string directory_;
  bool existed_ = false;
};

// Starts to measure this process. What goes wrong is said: the program runs all the same.
void start_measuring(PyObject* core, const Settings& settings, RunPlace& place,
                     const Program& program);

}  // namespace timeloom::python
