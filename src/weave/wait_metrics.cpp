// The part of SpoolSource about the causes of waiting.
#include <algorithm>

#include "core/waiting_metric.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

// All causes, whichever occurred, so that the metrics of a run do not depend on chance.
void SpoolSource::add_causes() {
  auto& metrics = definitions_.metrics;
  std::uint64_t loads = 0, runnable = 0, processors = 0;
  bool any = false;
  for (const Process& process : processes_) {
    if (process.waits.damaged && process.reader->definitions().ended) ++damaged_segments_;
    any = any || process.waits.present;
    if (process.waits.hidden) definitions_.properties[kCausesHidden] = "true";
    for (const spool::WaitLoad& load : process.waits.loads) {
      ++loads;
      runnable += load.runnable;
      processors = std::max<std::uint64_t>(processors, load.processors);
    }
  }
  if (!any || std::ranges::none_of(metrics, &Metric::is_waiting)) return;
  for (std::uint32_t i = 1; i < kWaitingCauses; ++i) {
    metrics.push_back(cause_metric(WaitingCause{i}));
  }
  if (loads == 0) return;
  definitions_.properties[kRunnableThreads] = std::to_string((runnable + loads / 2) / loads);
  definitions_.properties[kProcessors] = std::to_string(processors);
}

}  // namespace timeloom::weave
