#include "weave/ranks/rank_weave.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "profile/call_tree_sink.hpp"
#include "weave/ranks/new_conversion.hpp"
#include "weave/ranks/rank_packing.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr char kEvents[] = "events";  // of event_file()

// Only the event files are used: all definitions come from the run.
void remove_definitions(const fs::path& directory, const RankResult& rank_result) {
  for (const char* extension : {".otf2", ".def"})
    fs::remove(directory / (std::string(kEvents) + extension));
  for (const RankResult::OfLocation& one : rank_result.locations) {
    fs::remove(directory / kEvents / (std::to_string(one.there.value()) + ".def"));
  }
}

}  // namespace

void weave_rank(const KnownDirectory& spool, std::uint32_t ranks, std::uint64_t least,
                const RankPacking& packing) try {
  int failed = 0;
  const auto open = std::make_shared<const os::Directory>(spool.open_to_list(&failed));
  if (failed != 0)
    throw Error("cannot open " + spool.path() + ": " + reason_of(failed) + " [TL211]");
  const spool::SpoolDirectory directory(open, spool.path());
  SpoolSource source({directory}, SpoolSource::RankResults::kIgnored);
  if (!source.can_be_converted() || source.bytes() < least) return;
  if (source.wants_packed() && source.wants_trace()) {
    return pack_rank(source, directory, *open, ranks, packing);
  }
  NewConversion converted(*open);
  profile::LocationAggregators aggregators(share_of_rank(ranks));
  std::unique_ptr<otf2::Archive> trace;
  std::vector<RunSink*> sinks;
  SampledTimeSink sampled(aggregators, source.sampled_times(), source.sampled_time_metric());
  if (source.wants_profile()) sinks.push_back(&sampled);
  if (source.wants_trace()) {
    trace = otf2::create(converted.path(), kEvents);
    sinks.push_back(trace.get());
  }
  source.replay(sinks, 1);
  if (source.damaged_segments() + source.foreign_segments() != 0) return;
  RankResult result = source.rank_result();
  result.definitions = size_of_definitions(directory);
  std::vector<profile::AggregatedLocation> aggregated = aggregators.take_locations();
  for (std::size_t i = 0; i < result.locations.size(); ++i) {
    RankResult::OfLocation& one = result.locations[i];
    if (i < aggregated.size()) one.aggregated = std::move(aggregated[i]);
    if (!trace) continue;
    one.count = trace->written(one.there);
    int error = 0;
    const os::File events = directory.open(event_file(one.there), &error);
    const auto check = check_of(events);
    if (!check)
      throw Error("cannot read " + directory.path() + "/" + event_file(one.there) + " [TL210]");
    one.bytes = events.size(&error);
    one.check = *check;
  }
  if (trace) {
    result.references = trace->references();
    remove_definitions(converted.path(), result);
  }
  write_rank_result(result, converted.path());
  converted.keep();
} catch (const std::system_error& error) {
  throw Error("cannot convert " + spool.path() + ": " + error.code().message() + " [TL219]");
}

}  // namespace timeloom::weave
