#include "weave/convert.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "profile/call_tree_sink.hpp"
#include "weave/conversion.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr char kEvents[] = "events";  // of event_file()

// Gone at the end, unless it was kept.
class NewDirectory {
 public:
  explicit NewDirectory(fs::path path) : path_(std::move(path)) {
    if (!fs::create_directory(path_)) throw Error(path_.string() + " is there already");
  }
  ~NewDirectory() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;
  const fs::path& path() const noexcept { return path_; }
  void keep() noexcept { kept_ = true; }

 private:
  const fs::path path_;
  bool kept_ = false;
};

// Only the event files are of use: all definitions are those of the run.
void remove_definitions(const fs::path& directory, const Conversion& conversion) {
  for (const char* extension : {".otf2", ".def"})
    fs::remove(directory / (std::string(kEvents) + extension));
  for (const Conversion::OfLocation& one : conversion.locations) {
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

void convert(const fs::path& spool, std::uint32_t ranks, std::uint64_t least) try {
  const spool::SpoolDirectory directory(spool);
  SpoolSource source({directory}, SpoolSource::Conversions::kIgnored);
  if (!source.can_be_converted() || source.bytes() < least) return;
  NewDirectory converted(spool / kConvertedName);
  profile::LocationFolds folds(share_of_rank(ranks));
  std::unique_ptr<otf2::Archive> trace;
  std::vector<RunSink*> sinks;
  if (source.wants_profile()) sinks.push_back(&folds);
  if (source.wants_trace()) {
    trace = otf2::create(converted.path(), kEvents);
    sinks.push_back(trace.get());
  }
  source.feed(sinks, 1);
  if (source.damaged_segments() != 0) return;
  Conversion result = source.conversion();
  result.definitions = size_of_definitions(directory);
  std::vector<profile::FoldedLocation> folded = folds.take_locations();
  for (std::size_t i = 0; i < result.locations.size(); ++i) {
    Conversion::OfLocation& one = result.locations[i];
    if (i < folded.size()) one.folded = std::move(folded[i]);
    if (!trace) continue;
    one.count = trace->written(one.there);
    int error = 0;
    const os::File events = directory.open(event_file(one.there), &error);
    const auto check = check_of(events);
    if (!check) throw Error("cannot read " + directory.path() + "/" + event_file(one.there));
    one.bytes = events.size(&error);
    one.check = *check;
  }
  if (trace) {
    result.references = trace->references();
    remove_definitions(converted.path(), result);
  }
  write_conversion(result, converted.path());
  converted.keep();
} catch (const std::system_error& error) {
  throw Error("cannot convert " + spool.string() + ": " + error.code().message());
}

}  // namespace timeloom::weave
