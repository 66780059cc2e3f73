// The events of a run that are converted: chosen ones, with samples or without.
//
// Used by the main thread. Throws Error.
#pragma once

#include <filesystem>
#include <memory>

#include "core/event.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "exchange/selection.hpp"
#include "tools/samples/samples_of_run.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

class ChosenEvents {
 public:
  // REQUIRES: the run has a trace.
  ChosenEvents(const std::filesystem::path& run, const exchange::Selection& selection, bool samples,
               unsigned threads)
      : trace_(weave::open_trace(weave::trace_of(run))), chosen_(trace_.get()) {
    if (samples) {
      sampled_ = exchange::with_samples(*trace_, samples_of_run(run, trace_->definitions()));
      chosen_ = sampled_.get();
    }
    if (selection.everything()) return;
    selected_ = exchange::select(*chosen_, selection, threads);
    chosen_ = selected_.get();
  }

  // Of the whole trace.
  const Definitions& definitions() const { return trace_->definitions(); }
  RunSource& source() noexcept { return *chosen_; }

 private:
  const std::unique_ptr<RunSource> trace_;
  std::unique_ptr<RunSource> sampled_, selected_;
  RunSource* chosen_;
};

}  // namespace timeloom::tools
