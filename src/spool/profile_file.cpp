#include "spool/profile_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>

namespace timeloom::spool {

std::unique_ptr<ProfileWriter> ProfileWriter::create(const std::string& directory,
                                                     std::uint32_t location, std::uint64_t now,
                                                     int* error) noexcept {
  try {
    auto writer = std::make_unique<ProfileWriter>();
    const std::string path = directory + "/" + kProfilePrefix + std::to_string(location);
    writer->file_ = os::File::create_exclusive(path, error);
    if (*error != 0) return nullptr;
    if (!writer->grow()) {
      *error = writer->error_;
      ::unlink(path.c_str());
      return nullptr;
    }
    ProfileHeader& header = writer->header();
    header.version = kProfileVersion;
    header.location = location;
    header.first = now;
    header.last = now;
    header.places = 1;
    header.magic = kProfileMagic;
    return writer;
  } catch (const std::bad_alloc&) {
    *error = ENOMEM;
    return nullptr;
  }
}

bool ProfileWriter::grow() noexcept {
  constexpr std::uint64_t kBytes = kBlock * sizeof(ProfileNode);
  const std::uint64_t offset = blocks_.size() * kBytes;
  try {
    blocks_.reserve(blocks_.size() + 1);
    mappings_.reserve(mappings_.size() + 1);
  } catch (const std::bad_alloc&) {
    error_ = ENOMEM;
    return false;
  }
  error_ = file_.allocate(offset, kBytes);
  if (error_ != 0) return false;
  os::Mapping mapping = os::Mapping::map(file_, offset, kBytes, &error_);
  if (error_ != 0) return false;
  blocks_.push_back(reinterpret_cast<ProfileNode*>(mapping.data()));
  mappings_.push_back(std::move(mapping));
  return true;
}

std::uint32_t ProfileWriter::take() noexcept {
  if (count_ / kBlock == blocks_.size() && !grow()) return 0;
  return count_++;
}

std::uint32_t ProfileWriter::add(std::uint32_t parent, std::uint32_t region) noexcept {
  const std::uint32_t index = take();
  if (index == 0) return 0;
  ProfileNode& fresh = node(index);
  fresh.parent = parent;
  fresh.region = region;
  fresh.depth = node(parent).depth + 1;
  fresh.shortest = UINT64_MAX;
  publish();
  return index;
}

namespace {

// The values of a head, read without trusting it.
struct RawHeader {
  std::uint64_t magic;
  std::uint32_t version, location, places, continues;
  std::uint64_t last, first;
  std::uint32_t deepest, reserved;
  std::uint64_t unused[2];
};
static_assert(sizeof(RawHeader) == sizeof(ProfileHeader));

// A place that refers to one after it or of the wrong kind, or whose numbers cannot
// be, ends what can be read.
class Checker {
 public:
  explicit Checker(const std::vector<ProfileNode>& places) : places_(places) {}

  bool sound(std::uint32_t index) const {
    const ProfileNode& place = at(index);
    if (std::memcmp(&place, &kNothing, sizeof place) == 0) return false;  // no place is
    switch (place.kind) {
      case PlaceKind::kCallPath: return sound_node(place, index);
      case PlaceKind::kContinued: return place.visits == 0 && sound_node(place, index);
      case PlaceKind::kParameter:
      case PlaceKind::kMetric: return place.parent != 0 && is_node(place.parent, index);
      case PlaceKind::kSamples:  // its count lies where a call path has its parameter
        return is_node(place.parent, index) && place.parameter <= ProfileSamples::kMost;
    }
    return false;
  }

 private:
  const ProfileNode& at(std::uint32_t index) const { return places_[index - 1]; }
  bool is_node(std::uint32_t index, std::uint32_t before) const {
    return index < before && (index == 0 || at(index).kind <= PlaceKind::kContinued);
  }
  bool sound_node(const ProfileNode& node, std::uint32_t index) const {
    const bool ended = node.visits > (node.entered != 0 ? 1 : 0);
    const bool parameter =
        node.parameter == 0 ||
        (node.parameter < index && at(node.parameter).kind == PlaceKind::kParameter);
    return parameter && is_node(node.parent, index) &&
           (!ended || node.region == kBeyondLimit || node.shortest <= node.longest);
  }

  static constexpr ProfileNode kNothing{};
  const std::vector<ProfileNode>& places_;
};

// Reads up to `count` places, some at a time: what a head claims takes no memory.
void read_places(const os::File& file, std::uint64_t count, ProfileData& data) {
  constexpr std::uint64_t kPiece = 64 << 10;
  std::vector<ProfileNode>& places = data.places;
  const Checker checker(places);
  while (places.size() < count && !data.damaged) {
    const std::size_t before = places.size();
    places.resize(std::min(count, before + kPiece));
    int error = 0;
    file.read_at((before + 1) * sizeof(ProfileNode),
                 std::as_writable_bytes(std::span(places).subspan(before)), &error);
    for (std::size_t i = before; i < places.size() && !data.damaged; ++i) {
      if (checker.sound(static_cast<std::uint32_t>(i + 1))) continue;
      places.resize(i);
      data.damaged = true;
    }
  }
}

// Not even a head: its thread was killed before it had written one.
bool is_empty(const RawHeader& header, std::size_t size) {
  const RawHeader nothing{};
  return size == 0 || (size == sizeof header && std::memcmp(&header, &nothing, size) == 0);
}

void read_profile(const SpoolDirectory& directory, const std::string& name, Profiles& result) {
  int error = 0;
  const os::File file = directory.open(name, &error);
  RawHeader header{};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  const std::size_t size = error == 0 ? file.read_at(0, bytes, &error) : 0;
  if (error == 0 && is_empty(header, size)) {
    ++result.empty;
    return;
  }
  if (size != bytes.size() || header.magic != kProfileMagic || header.version != kProfileVersion ||
      header.places == 0) {
    ++result.unreadable;
    return;
  }
  ProfileData data{
      header.location, header.continues != 0, header.first, header.last, header.deepest, {}, false};
  const std::uint64_t room = file.size(&error) / sizeof(ProfileNode);
  read_places(file, std::min<std::uint64_t>(header.places, room) - 1, data);
  data.damaged = data.damaged || header.places > room || header.last < header.first;
  result.profiles.push_back(std::move(data));
}

}  // namespace

Profiles read_profiles(const SpoolDirectory& directory) {
  Profiles result;
  int error = 0;
  for (const std::string& name : directory.names(&error)) {
    if (name.starts_with(kProfilePrefix)) read_profile(directory, name, result);
  }
  std::ranges::sort(result.profiles, {}, &ProfileData::location);
  return result;
}

}  // namespace timeloom::spool
