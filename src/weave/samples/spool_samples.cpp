// The part of SpoolSource for samples of CPU time.
#include "spool/samples/sample_reader.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

void SpoolSource::add_samples(symbols::CodeNames& names) {
  for (const Process& process : processes_) {
    const spool::SampleData data = spool::read_samples(process.directory);
    if (data.damaged && process.reader->definitions().ended) ++damaged_segments_;
    samples_.add(data, process.reader->definitions(), process.ids, names);
  }
  samples_.describe(definitions_.properties);
}

}  // namespace timeloom::weave
