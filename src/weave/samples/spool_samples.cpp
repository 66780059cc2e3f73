// The part of SpoolSource for samples of CPU time.
#include "weave/spool_source.hpp"

namespace timeloom::weave {

void SpoolSource::add_samples(symbols::CodeNames& names) {
  for (Process& process : processes_) {
    if (process.samples.damaged && process.reader->definitions().ended) ++damaged_segments_;
    samples_.add(process.samples, process.reader->definitions(), process.ids, names);
    if (process.samples.frames.empty()) process.samples = {};  // no calls are made of them
  }
  samples_.describe(definitions_.properties);
}

}  // namespace timeloom::weave
