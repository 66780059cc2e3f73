// The call-path profile of one thread, folded while the program runs: a file
// `profile-N` in the spool (N: index of the location), mapped by the thread that
// writes it, so that it survives a kill at any instruction.
//
//     offset   0  ProfileHeader       64 bytes, in the place of node 0
//             64  ProfileNode 1       64 bytes each: a call path, its parent before it
//            128  ProfileNode 2  …
//
// A node is complete before `nodes` in the header counts it. A visit that was
// cut off by a kill is open (`entered` is not 0) and ends with the process.
// docs/formats/spool.md describes the same for readers in other languages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/file.hpp"

namespace timeloom::spool {

inline constexpr std::uint64_t kProfileMagic = 0x31464f5250544c01;  // "\x01LTPROF1"
inline constexpr std::uint32_t kProfileVersion = 1;
inline constexpr char kProfilePrefix[] = "profile-";
// Of a node that stands for all call paths beyond the limit below its parent.
inline constexpr std::uint32_t kBeyondLimit = UINT32_MAX;

struct ProfileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t location;
  std::atomic<std::uint32_t> nodes;  // in use, with node 0
  std::uint32_t reserved;
  std::atomic<std::uint64_t> last;  // ticks of the last leave
  std::uint64_t first;              // ticks at the begin
  std::uint64_t unused[3];
};
static_assert(sizeof(ProfileHeader) == 64);

struct ProfileNode {
  std::uint32_t parent;  // 0: a root
  std::uint32_t region;
  std::uint64_t visits;  // counted when they begin
  std::uint64_t ticks;   // of the visits that have ended
  std::uint64_t shortest;
  std::uint64_t longest;
  std::uint64_t entered;     // ticks at which the visit began that is open; 0: none
  std::uint32_t last_child;  // of the writer
  std::uint32_t reserved[3];
};
static_assert(sizeof(ProfileNode) == 64);

// What the writer keeps in node 0 lies where the header is not used.
static_assert(offsetof(ProfileNode, last_child) >= offsetof(ProfileHeader, unused));

// Owned and used by the thread that records. Nothing here throws.
class ProfileWriter {
 public:
  // Creates the file in the spool `directory`; nullptr, with an errno value, on failure.
  static std::unique_ptr<ProfileWriter> create(const std::string& directory, std::uint32_t location,
                                               std::uint64_t now, int* error) noexcept;

  ProfileNode& node(std::uint32_t index) noexcept {
    return blocks_[index / kBlock][index % kBlock];
  }
  std::uint32_t nodes() const noexcept { return count_; }
  ProfileHeader& header() noexcept { return *reinterpret_cast<ProfileHeader*>(blocks_[0]); }
  // A new node below `parent`; 0 when there is no space for it.
  std::uint32_t add(std::uint32_t parent, std::uint32_t region) noexcept;

  // In the child of a fork: the file belongs to the parent.
  void abandon() noexcept { file_.close(); }

 private:
  static constexpr std::uint32_t kBlock = 1024;  // nodes: 64 KiB, a page of the largest kind

  bool grow() noexcept;

  os::File file_;
  std::vector<os::Mapping> mappings_;
  std::vector<ProfileNode*> blocks_;
  std::uint32_t count_ = 1;
  int error_ = 0;
};

// What a reader finds.
struct ProfileData {
  std::uint32_t location = 0;
  std::uint64_t first = 0;  // ticks
  std::uint64_t last = 0;
  std::vector<ProfileNode> nodes;  // without node 0: nodes[i] is node i + 1
  bool damaged = false;            // something did not check and was left out
};

// Reads one file. Nothing when it is no profile or of another version.
std::optional<ProfileData> read_profile(const std::string& path);
// All that lie in the spool `directory`, in order of their locations.
std::vector<ProfileData> read_profiles(const std::string& directory);

}  // namespace timeloom::spool
