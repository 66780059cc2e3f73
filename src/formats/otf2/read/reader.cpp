// The archive as a whole: opens it, reads its definitions, replays its locations.

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/teams/team_scan.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/location_reader.hpp"

namespace timeloom::otf2 {

namespace {

[[noreturn]] void missing(const Location& location, const ArchiveFile& file) {
  throw Error("the trace is not complete: location '" + location.name + "' has no file " +
              file.path() + "; copy the trace with its directory [TL321]");
}

// Checks that every file that the events need exists and is sound. A tool may write no local
// definitions at all, but not for some locations only.
void check_files(const Anchor& anchor, const Definitions& definitions) {
  std::vector<const Location*> without;
  for (const Location& location : definitions.locations) {
    const ArchiveFile events = anchor.events(location.id);
    const ArchiveFile local = anchor.local_definitions(location.id);
    const bool has_events = events.exists();
    if (location.event_count > 0 && !has_events) missing(location, events);
    if (local.exists()) {
      count_records(local, FileKind::kLocalDefinitions, anchor.definition_chunk);
    } else if (has_events) {
      without.push_back(&location);
    }
  }
  if (!without.empty() && without.size() < definitions.locations.size()) {
    missing(*without.front(), anchor.local_definitions(without.front()->id));
  }
}

// The order in which locations are read: the longest first, so that the threads end at about the
// same time.
std::vector<std::size_t> reading_order(const std::vector<Location>& locations) {
  std::vector<std::size_t> order(locations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return locations[a].event_count > locations[b].event_count;
  });
  return order;
}

class ArchiveReader : public RunSource {
 public:
  explicit ArchiveReader(const std::filesystem::path& path, bool to_pack = false) {
    source_.anchor = read_anchor(path);
    const ReaderHandle reader = open_reader(source_.anchor);
    read_definitions(reader.get(), source_.anchor, source_.definitions, source_.references);
    check_files(source_.anchor, source_.definitions);
    if (!read_markers(reader.get(), source_.anchor, source_.definitions)) ++damaged_files_;
    open_files(reader.get());
    read_programs(reader.get(), source_.anchor, source_.references, source_.definitions);
    if (to_pack) {
      source_.definitions.original = std::make_shared<const OriginalFiles>(OriginalFiles{
          source_.anchor.self().bytes(), source_.anchor.global_definitions().bytes()});
    }
  }

  const Definitions& definitions() const override { return source_.definitions; }

  void replay(std::span<RunSink* const> sinks, unsigned threads) override {
    if (!source_.definitions.teams && has_teams(source_.definitions) &&
        std::ranges::any_of(sinks, &RunSink::wants_teams)) {
      TeamScan scan;
      const std::array<RunSink*, 1> one = {&scan};
      read_all(one, threads);
      scan.finish();
      source_.definitions.teams = scan.take();
    }
    tell(read_all(sinks, threads));
    for (RunSink* sink : sinks) sink->finish();
  }

 private:
  std::string what() const { return "cannot read the trace " + source_.anchor.path.string(); }

  Repairs read_all(std::span<RunSink* const> sinks, unsigned threads) const {
    const ReaderHandle reader = open_reader(source_.anchor);
    // For tools that sample, the library itself makes Enter and Leave events, if it has read the
    // regions of the calling contexts.
    read_global_definitions(reader.get());
    open_files(reader.get());
    for (RunSink* sink : sinks) sink->begin(source_.definitions);
    Repairs repairs;
    repairs.damaged_files = damaged_files_;
    std::mutex mutex;
    const std::vector<Location>& locations = source_.definitions.locations;
    const std::vector<std::size_t> order = reading_order(locations);
    for_each_in_parallel(order.size(), threads, [&](std::size_t i) {
      const Repairs found = replay_location(reader.get(), locations[order[i]], sinks);
      const std::lock_guard lock(mutex);
      repairs.add(found);
    });
    return repairs;
  }

  void open_files(OTF2_Reader* reader) const {
    for (const Location& location : source_.definitions.locations) {
      check(OTF2_Reader_SelectLocation(reader, location.id.value()), what());
    }
    check(OTF2_Reader_OpenDefFiles(reader), what());
    check(OTF2_Reader_OpenEvtFiles(reader), what());
  }

  void read_global_definitions(OTF2_Reader* reader) const {
    OTF2_GlobalDefReader* definitions = check(OTF2_Reader_GetGlobalDefReader(reader), what());
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadGlobalDefinitions(reader, definitions, OTF2_UNDEFINED_UINT64, &read),
          what());
  }

  Repairs replay_location(OTF2_Reader* reader, const Location& location,
                          std::span<RunSink* const> sinks) const {
    std::vector<std::unique_ptr<LocationSink>> open;
    for (RunSink* sink : sinks) open.push_back(sink->open_location(location));
    apply_local_definitions(reader, source_.anchor, location);
    const Repairs repairs = read_location(reader, source_, location, open);
    for (const auto& sink : open) sink->finish();
    return repairs;
  }

  // Every repair becomes a property of the run.
  void tell(const Repairs& repairs) {
    const auto set = [this](const char* name, std::uint64_t count) {
      source_.definitions.properties.erase(name);  // of an earlier reading
      if (count > 0) source_.definitions.properties[name] = std::to_string(count);
    };
    set("timeloom::otf2_closed_regions", repairs.closed_regions);
    set("timeloom::otf2_dropped_leaves", repairs.dropped_leaves);
    set("timeloom::otf2_moved_events", repairs.moved_events);
    set("timeloom::otf2_undefined_events", repairs.undefined_events);
    set("timeloom::otf2_missing_events", repairs.missing_events);
    set("timeloom::otf2_damaged_files", repairs.damaged_files);
  }

  Source source_;
  std::uint64_t damaged_files_ = 0;  // found when the archive was opened
};

}  // namespace

std::unique_ptr<RunSource> open(const std::filesystem::path& anchor) {
  return std::make_unique<ArchiveReader>(anchor);
}

std::unique_ptr<RunSource> open_to_pack(const std::filesystem::path& anchor) {
  return std::make_unique<ArchiveReader>(anchor, true);
}

}  // namespace timeloom::otf2
