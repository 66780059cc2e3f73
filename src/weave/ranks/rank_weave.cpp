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
#include "weave/ranks/rank_result.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr char kEvents[] = "events";  // of event_file()

// The directory of a conversion. No other user can create files in it while it is written, because
// OTF2 follows whatever a path leads to. The destructor removes it unless it was kept.
class NewDirectory {
 public:
  explicit NewDirectory(const os::Directory& spool) : spool_(spool) {
    int error = spool.make_directory(kConvertedName, 0700);
    if (error == EEXIST) throw Error("there is a conversion already [TL219]");
    if (error == 0) own_ = spool.open_below(kConvertedName, &error);
    if (error == 0 && !own_.is_new_and_private()) error = EEXIST;
    if (error != 0) throw std::system_error(error, std::generic_category());
    path_ = own_.path_of_descriptor();
    if (path_.empty()) throw Error("there is no /proc [TL219]");
  }
  ~NewDirectory() {
    if (!kept_) spool_.remove_all(kConvertedName);
  }
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  const fs::path& path() const noexcept { return path_; }
  // Users that may read the spool may read it.
  void keep() noexcept { kept_ = own_.take_mode_of(spool_) == 0; }

 private:
  const os::Directory& spool_;
  os::Directory own_;
  fs::path path_;
  bool kept_ = false;
};

// Only the event files are used: all definitions come from the run.
void remove_definitions(const fs::path& directory, const RankResult& rank_result) {
  for (const char* extension : {".otf2", ".def"})
    fs::remove(directory / (std::string(kEvents) + extension));
  for (const RankResult::OfLocation& one : rank_result.locations) {
    fs::remove(directory / kEvents / (std::to_string(one.there.value()) + ".def"));
  }
}

profile::CallTreeOptions share_of_rank(std::uint32_t ranks) {
  profile::CallTreeOptions options;
  options.max_nodes /= std::max(ranks, 1u);
  options.max_functions /= std::max(ranks, 1u);
  return options;
}

}  // namespace

void weave_rank(const KnownDirectory& spool, std::uint32_t ranks, std::uint64_t least) try {
  int failed = 0;
  const auto open = std::make_shared<const os::Directory>(spool.open_to_list(&failed));
  if (failed != 0)
    throw Error("cannot open " + spool.path() + ": " + reason_of(failed) + " [TL211]");
  const spool::SpoolDirectory directory(open, spool.path());
  SpoolSource source({directory}, SpoolSource::RankResults::kIgnored);
  if (!source.can_be_converted() || source.bytes() < least) return;
  NewDirectory converted(*open);
  profile::LocationAggregators aggregators(share_of_rank(ranks));
  std::unique_ptr<otf2::Archive> trace;
  std::vector<RunSink*> sinks;
  if (source.wants_profile()) sinks.push_back(&aggregators);
  if (source.wants_trace()) {
    trace = otf2::create(converted.path(), kEvents);
    sinks.push_back(trace.get());
  }
  source.replay(sinks, 1);
  if (source.damaged_segments() != 0) return;
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
