#include "spool/profile_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
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
      return nullptr;
    }
    ProfileHeader& header = writer->header();
    header.version = kProfileVersion;
    header.location = location;
    header.first = now;
    header.last = now;
    header.nodes = 1;
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

std::uint32_t ProfileWriter::add(std::uint32_t parent, std::uint32_t region) noexcept {
  if (count_ / kBlock == blocks_.size() && !grow()) return 0;
  const std::uint32_t index = count_++;
  ProfileNode& fresh = node(index);
  fresh.parent = parent;
  fresh.region = region;
  fresh.shortest = UINT64_MAX;
  header().nodes.store(count_, std::memory_order_release);
  return index;
}

namespace {

// A node whose parent comes after it, or whose numbers cannot be, ends what can be read.
bool is_sound(const ProfileNode& node, std::uint32_t index) noexcept {
  const bool visited = node.visits > (node.entered != 0 ? 1 : 0);
  return node.parent < index && (!visited || node.shortest <= node.longest);
}

}  // namespace

std::optional<ProfileData> read_profile(const std::string& path) {
  int error = 0;
  const os::File file = os::File::open_read(path, &error);
  if (error != 0) return std::nullopt;
  struct {
    std::uint64_t magic;
    std::uint32_t version, location, nodes, reserved;
    std::uint64_t last, first, unused[3];
  } header{};
  static_assert(sizeof header == sizeof(ProfileHeader));
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  if (file.read_at(0, bytes, &error) != bytes.size() || header.magic != kProfileMagic ||
      header.version != kProfileVersion || header.nodes == 0) {
    return std::nullopt;
  }
  ProfileData data{header.location, header.first, header.last, {}, false};
  const std::uint64_t room = file.size(&error) / sizeof(ProfileNode);
  data.damaged = header.nodes > room || header.last < header.first;
  data.nodes.resize(std::min<std::uint64_t>(header.nodes, room) - 1);
  file.read_at(sizeof(ProfileNode), std::as_writable_bytes(std::span(data.nodes)), &error);
  for (std::uint32_t i = 0; i < data.nodes.size(); ++i) {
    if (is_sound(data.nodes[i], i + 1)) continue;
    data.nodes.resize(i);
    data.damaged = true;
  }
  return data;
}

std::vector<ProfileData> read_profiles(const std::string& directory) {
  std::vector<ProfileData> result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (!entry.path().filename().string().starts_with(kProfilePrefix)) continue;
    if (auto data = read_profile(entry.path())) result.push_back(std::move(*data));
  }
  std::ranges::sort(result, {}, &ProfileData::location);
  return result;
}

}  // namespace timeloom::spool
