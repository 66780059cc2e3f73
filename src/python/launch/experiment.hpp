// The experiment directory of the run of this process, for runs with the layout
// of Score-P. Needs the GIL; used by the main thread. Functions throw Error.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/experiment_directory.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

class Experiment {
 public:
  // Reads the SCOREP_ variables, sets in `settings` what they are other names of,
  // and chooses the directory. Null for a run of another layout. `program`: the
  // path of the script, or empty.
  static std::unique_ptr<Experiment> plan(Settings& settings, const std::string& program);

  // Makes the directory. `words`: the command line of the program.
  void begin(const std::vector<std::string>& words);
  // The run is complete: the directory gets its final name.
  void end();
  std::string path() const { return directory_.path().string(); }

 private:
  explicit Experiment(run::ExperimentOptions options) : directory_(std::move(options)) {}

  run::ExperimentDirectory directory_;
  bool wanted_ = true;  // it may be wanted with results only
  bool verbose_ = false;
};

}  // namespace timeloom::python
