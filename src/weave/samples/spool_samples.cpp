// The part of SpoolSource for samples of CPU time.
#include <algorithm>
#include <iterator>

#include "core/samples/sampled_time.hpp"
#include "weave/samples/estimated_paths.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

void SpoolSource::add_samples(symbols::CodeNames& names) {
  for (Process& process : processes_) {
    if (process.samples.damaged && process.reader->definitions().ended) ++damaged_segments_;
    const bool become_calls = has_sampled_calls(definitions_);
    const SampleTable::Places places{
        [&process](std::uint32_t index) { return location_id(process, index); },
        [this, &process](std::uint64_t ticks) { return since_begin(process, ticks); },
        !become_calls};
    samples_.add(process.samples, process.reader->definitions(), process.ids, names, places);
    if (become_calls) continue;
    auto paths = estimated_paths(process.samples, process.ids, places.location_of);
    std::ranges::move(paths, std::back_inserter(estimates_));
    process.samples = {};
  }
  samples_.describe(definitions_.properties);
}

}  // namespace timeloom::weave
