#include "spool/profile_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>

#include "core/checksum.hpp"

namespace timeloom::spool {

std::unique_ptr<ProfileWriter> ProfileWriter::create(const KnownDirectory& spool,
                                                     std::uint32_t location, std::uint64_t now,
                                                     int* error) noexcept {
  try {
    auto writer = std::make_unique<ProfileWriter>();
    const std::string name = kProfilePrefix + std::to_string(location);
    writer->file_ = spool.create_file(name, error);
    if (*error != 0) return nullptr;
    if (!writer->grow()) {
      *error = writer->error_;
      spool.remove_file(name);
      return nullptr;
    }
    ProfileHeader& header = writer->header();
    header.version = kProfileVersion;
    header.location = location;
    header.first = now;
    header.last = now;
    header.places = 1;
    header.last_region = kBeyondLimit;
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
    depths_.resize((blocks_.size() + 1) * kBlock);
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

std::uint32_t place_check(std::uint32_t index, const ProfileNode& place) noexcept {
  std::array<std::uint64_t, sizeof place / sizeof(std::uint64_t)> words;
  ProfileNode copy = place;
  copy.last_child = 0;
  std::memcpy(words.data(), &copy, sizeof copy);
  const std::uint64_t check = mix(words_check(words), index);
  return static_cast<std::uint32_t>(check ^ (check >> 32));
}

void ProfileWriter::seal() noexcept {
  const std::uint32_t places = header().places.load(std::memory_order_relaxed);
  for (std::uint32_t i = 1; i < places; ++i) node(i).last_child = place_check(i, node(i));
  header().sealed = places;
  header().check = place_check(0, node(0));
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
  fresh.last_region = kBeyondLimit;
  depths_[index] = depths_[parent] + 1;
  fresh.shortest = UINT64_MAX;
  publish();
  return index;
}

namespace {

// The values of a head, which are not trusted.
struct RawProfileHeader {
  std::uint64_t magic;
  std::uint32_t version, location, places, continues;
  std::uint64_t last, first;
  std::uint32_t deepest, sealed, check, unused[3];
};
static_assert(sizeof(RawProfileHeader) == sizeof(ProfileHeader));

// Three years of the fastest counter: larger than any time or number of visits.
constexpr std::uint64_t kLongestRun = std::uint64_t{1} << 58;

// Leaves out (by its kind) every place that was changed since the file was sealed, that refers to a
// later place or one of the wrong kind, or that has impossible numbers, and all places below it.
class Checker {
 public:
  explicit Checker(ProfileData& data) : data_(data) {}

  void check() {
    for (std::uint32_t i = 1; i <= data_.places.size(); ++i) {
      if (unchanged(i) && sound(i)) continue;
      data_.places[i - 1].kind = PlaceKind::kLeftOut;
      data_.damaged = true;
    }
  }

 private:
  const ProfileNode& at(std::uint32_t index) const { return data_.places[index - 1]; }
  bool unchanged(std::uint32_t index) const {
    return !data_.sealed || at(index).last_child == place_check(index, at(index));
  }
  bool sound(std::uint32_t index) const {
    const ProfileNode& place = at(index);
    switch (place.kind) {
      case PlaceKind::kCallPath: return sound_node(place, index);
      case PlaceKind::kContinued: return place.visits == 0 && sound_node(place, index);
      case PlaceKind::kParameter:
      case PlaceKind::kMetric: return place.parent != 0 && is_node(place.parent, index);
      case PlaceKind::kSamples:  // its count lies where a call path has its parameter
        return is_node(place.parent, index) && place.parameter <= ProfileSamples::kMost;
      case PlaceKind::kLeftOut: break;
    }
    return false;
  }
  bool is_node(std::uint32_t index, std::uint32_t before) const {
    return index < before && (index == 0 || at(index).kind <= PlaceKind::kContinued);
  }
  bool sound_node(const ProfileNode& node, std::uint32_t index) const {
    const bool parameter =
        node.parameter == 0 ||
        (node.parameter < index && at(node.parameter).kind == PlaceKind::kParameter);
    return parameter && is_node(node.parent, index) && possible(node);
  }
  bool is_beyond(const ProfileNode& node) const {
    return node.region == kBeyondLimit ||
           (node.parent != 0 && at(node.parent).region == kBeyondLimit);
  }
  // Beyond a limit several visits may be open. The numbers of the last visit to end may have been
  // half written.
  bool possible(const ProfileNode& node) const {
    const bool known = node.visits < kLongestRun && node.ticks < kLongestRun &&
                       (node.entered == 0 || node.entered < data_.first + kLongestRun);
    if (!known || is_beyond(node)) return known;
    const std::uint64_t open = node.entered != 0 ? 1 : 0;
    const bool none = node.shortest == UINT64_MAX && node.longest == 0;
    if (none || node.visits <= open) return true;
    return node.shortest <= node.longest && node.longest <= node.ticks &&
           (node.visits - open == 1 || node.shortest <= node.ticks / (node.visits - open - 1));
  }

  ProfileData& data_;
};

// Reads up to `count` places, some at a time: a wrong count in a head must not take memory. No
// place consists of zeros; at one that does, the file ends.
void read_places(const os::File& file, std::uint64_t count, ProfileData& data) {
  constexpr std::uint64_t kPiece = 64 << 10;
  constexpr ProfileNode kNothing{};
  std::vector<ProfileNode>& places = data.places;
  bool at_end = false;
  while (places.size() < count && !at_end) {
    const std::size_t before = places.size();
    places.resize(std::min(count, before + kPiece));
    int error = 0;
    file.read_at((before + 1) * sizeof(ProfileNode),
                 std::as_writable_bytes(std::span(places).subspan(before)), &error);
    for (std::size_t i = before; i < places.size() && !at_end; ++i) {
      if (std::memcmp(&places[i], &kNothing, sizeof kNothing) != 0) continue;
      places.resize(i);
      data.damaged = at_end = true;
    }
  }
  Checker(data).check();
}

bool is_sealed(const RawProfileHeader& header) {
  ProfileNode place;
  static_assert(sizeof place == sizeof header);
  std::memcpy(&place, &header, sizeof place);
  return header.sealed == header.places && header.check == place_check(0, place);
}

// A file without a head: its thread was killed before it had written one.
bool is_empty(const RawProfileHeader& header, std::size_t size) {
  const RawProfileHeader nothing{};
  return size == 0 || (size == sizeof header && std::memcmp(&header, &nothing, size) == 0);
}

void read_profile(const SpoolDirectory& directory, const std::string& name, Profiles& result) {
  int error = 0;
  const os::File file = directory.open(name, &error);
  RawProfileHeader header{};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  const std::size_t size = error == 0 ? file.read_at(0, bytes, &error) : 0;
  if (error == 0 && is_empty(header, size)) {
    ++result.empty;
    return;
  }
  if (size != bytes.size() || header.magic != kProfileMagic || header.version != kProfileVersion ||
      header.places == 0 || (header.sealed != 0 && !is_sealed(header))) {
    ++result.unreadable;
    return;
  }
  ProfileData data;
  data.location = header.location;
  data.continues = header.continues != 0;
  data.first = header.first;
  data.last = header.last;
  data.deepest = header.deepest;
  data.sealed = header.sealed != 0;
  const std::uint64_t room = file.size(&error) / sizeof(ProfileNode);
  data.damaged = header.places > room;
  if (header.last < header.first || header.last - header.first >= kLongestRun) {
    data.damaged = true;
    data.last = data.first;
  }
  read_places(file, std::min<std::uint64_t>(header.places, room) - 1, data);
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
