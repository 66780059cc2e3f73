#include "view/index/index.hpp"

namespace timeloom::view {

Index::Index(std::unique_ptr<IndexFile> file, std::uint64_t source) : file_(std::move(file)) {
  Words words;
  const std::uint64_t size = file_->size();
  file_->read(0, sizeof(Header), words);
  header_ = records_in<Header>(words, 0, 1).front();
  Header unchecked = header_;
  unchecked.check = 0;
  if (header_.magic != kMagic || header_.version != kVersion) {
    throw Error(file_->path().string() + " is an index of another version [TL501]");
  }
  if (check_of_bytes(record_bytes(&unchecked, 1)) != header_.check) damaged();
  if (header_.source != source) {
    throw Error(file_->path().string() + " is the index of another state of the archive [TL501]");
  }
  if (header_.size != size) damaged();
  const std::uint64_t tracks_at = std::uint64_t{header_.path_count} * sizeof(PathRecord);
  const std::uint64_t properties_at =
      tracks_at + std::uint64_t{header_.track_count} * sizeof(TrackRecord);
  const bool sound = header_.paths_offset <= size && header_.properties_bytes <= size &&
                     header_.tracks_offset == header_.paths_offset + tracks_at &&
                     header_.properties_offset == header_.paths_offset + properties_at;
  if (!sound) damaged();
  file_->read(header_.paths_offset, properties_at + header_.properties_bytes, header_.tables_check,
              words);
  paths_ = records_in<PathRecord>(words, 0, header_.path_count);
  tracks_ = records_in<TrackRecord>(words, tracks_at, header_.track_count);
  read_properties(words, properties_at, header_.properties_bytes);
  check_paths();
}

void Index::check_paths() const {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].parent != kNone && paths_[i].parent >= i) damaged();
  }
  for (const TrackRecord& track : tracks_) {
    if (track.begin > track.end || track.end > kLastTime) damaged();
  }
}

void Index::read_properties(const Words& words, std::uint64_t offset, std::uint64_t bytes) {
  const char* at = reinterpret_cast<const char*>(bytes_of(words)) + offset;
  std::string texts[2];
  unsigned which = 0;
  for (const char* end = at + bytes; at != end; ++at) {
    if (*at != '\0') {
      texts[which] += *at;
      continue;
    }
    if (which == 1) properties_[texts[0]] = texts[1];
    if (which == 1) texts[0].clear(), texts[1].clear();
    which = 1 - which;
  }
}

void Index::check_all(const std::atomic<bool>& cancelled) const {
  for (const TrackRecord& track : tracks_) Track::load(*file_, track, paths_)->check_all(cancelled);
}

std::shared_ptr<const Track> Index::track(std::uint32_t number) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(number); found != places_.end()) {
      kept_.splice(kept_.begin(), kept_, found->second);
      return found->second->track;
    }
  }
  std::shared_ptr<const Track> track = Track::load(*file_, tracks_[number], paths_);
  const std::lock_guard lock(mutex_);
  if (places_.contains(number)) return track;
  kept_.push_front({number, track});
  places_[number] = kept_.begin();
  kept_bytes_ += track->memory();
  while (kept_bytes_ > kKeptBytes && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().track->memory();
    places_.erase(kept_.back().number);
    kept_.pop_back();
  }
  return track;
}

}  // namespace timeloom::view
