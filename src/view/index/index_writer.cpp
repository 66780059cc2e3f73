#include "view/index/index_writer.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "view/index/track_writer.hpp"

namespace timeloom::view {

class IndexWriter::OfLocation : public LocationSink {
 public:
  OfLocation(IndexWriter& all, const Location& location, std::size_t place)
      : all_(all),
        place_(place),
        writer_(location, *all.definitions_, *all.causes_, all.paths_, all.file_) {}

  void consume(std::span<const Event> events) override {
    if (all_.progress_.cancelled.load(std::memory_order_relaxed)) throw Cancelled();
    writer_.consume(events);
    all_.progress_.events.fetch_add(events.size(), std::memory_order_relaxed);
  }
  void finish() override { all_.put(place_, writer_.finish()); }

 private:
  IndexWriter& all_;
  std::size_t place_;
  TrackWriter writer_;
};

IndexWriter::IndexWriter(IndexFile& file, std::uint64_t source, Progress& progress,
                         std::uint32_t most_paths)
    : file_(file), source_(source), progress_(progress), paths_(most_paths) {}

void IndexWriter::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  causes_ = std::make_unique<const RegionCauses>(definitions);
  tracks_.resize(definitions.locations.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].location = definitions.locations[i].id.value();
    total += definitions.locations[i].event_count;
  }
  progress_.events_total = total;
  // Reserves the space of the header, which is written at the end.
  file_.append(std::string(sizeof(Header), '\0'));
}

std::unique_ptr<LocationSink> IndexWriter::open_location(const Location& location) {
  const auto found =
      std::ranges::lower_bound(definitions_->locations, location.id, {}, &Location::id);
  const auto place = static_cast<std::size_t>(found - definitions_->locations.begin());
  return std::make_unique<OfLocation>(*this, location, place);
}

void IndexWriter::put(std::size_t place, const TrackRecord& record) {
  const std::lock_guard lock(mutex_);
  tracks_[place] = record;
}

bool is_property_of_reading(const std::string& name) {
  return name.starts_with("timeloom::otf2_") || name.starts_with("timeloom::packed_");
}

void IndexWriter::finish() {
  Header header;
  header.source = source_;
  const std::vector<PathRecord>& paths = paths_.records();
  std::string tables(record_bytes(paths.data(), paths.size()));
  header.path_count = static_cast<std::uint32_t>(paths.size());
  header.track_count = static_cast<std::uint32_t>(tracks_.size());
  for (const TrackRecord& track : tracks_) header.events += track.events;
  const std::uint64_t tracks_at = tables.size();
  tables += record_bytes(tracks_.data(), tracks_.size());
  const std::uint64_t properties_at = tables.size();
  for (const auto& [name, value] : definitions_->properties) {
    if (!is_property_of_reading(name)) continue;
    tables += name + '\0' + value + '\0';
  }
  header.properties_bytes = tables.size() - properties_at;
  header.tables_check = check_of_bytes(tables);
  header.paths_offset = file_.append(tables);
  header.tracks_offset = header.paths_offset + tracks_at;
  header.properties_offset = header.paths_offset + properties_at;
  header.size = file_.end();
  header.check = check_of_bytes(record_bytes(&header, 1));
  file_.write_at(0, record_bytes(&header, 1));
}

}  // namespace timeloom::view
