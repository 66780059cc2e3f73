#include "core/life.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "core/checksum.hpp"
#include "core/heartbeat.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/process.hpp"

namespace timeloom {
namespace {

constexpr std::uint64_t kMagic = 0x314546494c4c5401;  // "\x01TLLIFE1"

struct Life {
  std::uint64_t magic = kMagic;
  os::ProcessIdentity process{};
  std::uint32_t check = 0;
  std::uint32_t unused = 0;
};
constexpr std::size_t kSize = offsetof(Life, unused);
static_assert(kSize == 52);
constexpr char kHeartbeatText[] = {'b', 'e', 'a', 't'};

std::uint32_t check_of(const Life& life) {
  return checksum(reinterpret_cast<const std::byte*>(&life), offsetof(Life, check));
}

bool read_life(const os::File& file, Life& life, int* error) {
  return file.read_at(0, std::as_writable_bytes(std::span(&life, 1)).first(kSize), error) == kSize;
}

bool is_sound(const Life& life) { return life.magic == kMagic && life.check == check_of(life); }

bool locked(const OpenPart& open) {
  int error = 0;
  const os::File defs = open(kDefsName, &error);
  return defs.is_open() && defs.in_use();
}

// Whether the process has mapped the ring of the spool. None: this process may not look.
std::optional<bool> maps_ring(const os::ProcessIdentity& process, const OpenPart& open) {
  int error = 0;
  const os::File ring = open(kRingName, &error);
  return ring.is_open() ? os::maps_file(process, ring) : std::optional(false);
}

// For a process that only its own machine can see.
Alive alive_by_heartbeats(const os::File& life) {
  struct stat status {};
  if (::fstat(life.fd(), &status) != 0) return Alive::kUnknown;
  if (static_cast<std::size_t>(status.st_size) < kSize + sizeof kHeartbeatText)
    return Alive::kUnknown;
  return std::time(nullptr) - status.st_mtime <= kLongestSilence ? Alive::kYes : Alive::kNo;
}

}  // namespace

// Opened for each heartbeat, to save a descriptor.
void begin_heartbeats(os::File& life) noexcept {
  life.write_at(kSize, std::as_bytes(std::span(kHeartbeatText)));
  life.close();
}

void send_heartbeat(os::File& life) noexcept {
  life.touch();
  life.close();
}

int write_life(const KnownDirectory& spool, os::File* made) {
  Life life;
  life.process = os::this_process();
  life.check = check_of(life);
  int error = 0;
  os::File file = spool.create_file(kLifeName, &error);
  if (error != 0) return error;
  error = file.write_at(0, std::as_bytes(std::span(&life, 1)).first(kSize));
  if (made != nullptr) *made = std::move(file);
  return error;
}

Alive alive(const std::string& spool) {
  int error = 0;
  const os::Directory directory = os::Directory::open(spool, &error);
  if (error != 0) return error == ENOENT ? Alive::kNo : Alive::kUnknown;
  return alive(
      [&](const std::string& name, int* failed) { return directory.open_file(name, failed); });
}

Alive alive(const OpenPart& open) {
  if (locked(open)) return Alive::kYes;
  int error = 0;
  const os::File file = open(kLifeName, &error);
  if (error == ENOENT) return Alive::kNo;  // its measurement has ended
  Life life;
  const bool read = error == 0 && read_life(file, life, &error);
  // A process that was killed before it had written this much has recorded nothing.
  if (error == 0 && !read) return Alive::kNo;
  if (!read || !is_sound(life)) return Alive::kUnknown;
  switch (os::look_for(life.process)) {
    case os::Found::kNo: return Alive::kNo;
    case os::Found::kElsewhere: return alive_by_heartbeats(file);
    case os::Found::kYes: break;
  }
  // After exec it is another program in the same process.
  return maps_ring(life.process, open).value_or(true) ? Alive::kYes : Alive::kNo;
}

bool is_gone(const OpenPart& open) {
  int error = 0;
  const os::File file = open(kLifeName, &error);
  Life life;
  return file.is_open() && read_life(file, life, &error) && is_sound(life) &&
         os::look_for(life.process) == os::Found::kNo;
}

}  // namespace timeloom
