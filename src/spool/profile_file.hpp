// The call-path profile of one thread, built while the program runs: a file `profile-N` in
// the spool (N: index of the location), mapped by the thread that writes it, so that it
// survives a kill at any instruction.
//
//     offset   0  ProfileHeader       64 bytes, in place of node 0
//             64  place 1             64 bytes each: a call path, after its parent,
//            128  place 2  …          or values of a call path; all end with `kind`
//
// A place is complete before `places` in the header counts it. A visit that was cut off by
// a kill is open (`entered` is not 0) and ends with the process. When the thread has
// finished, the file is sealed: every place gets a checksum. The file of a killed process
// has no checksums; in it only impossible values are detected. docs/formats/spool.md
// describes the same for readers in other languages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/known_directory.hpp"
#include "os/file.hpp"
#include "spool/spool_directory.hpp"

namespace timeloom::spool {

inline constexpr std::uint64_t kProfileMagic = 0x31464f5250544c01;  // "\x01LTPROF1"
inline constexpr std::uint32_t kProfileVersion = 4;
inline constexpr char kProfilePrefix[] = "profile-";
// The region of a node that stands for all call paths beyond a limit below its parent.
inline constexpr std::uint32_t kBeyondLimit = UINT32_MAX;

struct ProfileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t location;
  std::atomic<std::uint32_t> places;   // in use, the header included
  std::uint32_t continues;             // 1: the profile continues where the location's events end
  std::atomic<std::uint64_t> last;     // ticks of the last leave, or enter beyond a limit
  std::uint64_t first;                 // ticks at the start
  std::atomic<std::uint32_t> deepest;  // level that was reached beyond the depth limit; else 0
  std::uint32_t sealed;                // `places` when nothing changes any more; else 0
  std::uint32_t check;                 // in a sealed file: place_check()
  std::uint32_t last_region;           // for the writer, as in a node
  std::uint32_t unused[2];
};
static_assert(sizeof(ProfileHeader) == 64);

enum class PlaceKind : std::uint32_t {
  kCallPath = 0,
  kContinued = 1,  // a call path open when the file was started; its first visit is not counted
  kParameter = 2,
  kMetric = 3,
  kSamples = 4,
  kLeftOut = UINT32_MAX,  // set by a reader: the place, or one above it, was damaged
};

struct ProfileNode {     // a call path
  std::uint32_t parent;  // 0: a root
  std::uint32_t region;
  std::uint64_t visits;  // counted when they start
  std::uint64_t ticks;   // of the visits that have ended
  std::uint64_t shortest;
  std::uint64_t longest;
  std::uint64_t entered;     // ticks at the start of the open visit; 0: none is open
  std::uint32_t last_child;  // for the writer; in a sealed file place_check()
  // For the writer: the region of last_child, so that it need not look at the child;
  // kBeyondLimit: there is none yet.
  std::uint32_t last_region;
  std::uint32_t parameter;  // place of the last parameter of its visits; 0: none
  PlaceKind kind;
};
static_assert(sizeof(ProfileNode) == 64);

// The writer's own fields of node 0 lie in fields of the header that are not used before sealing.
static_assert(offsetof(ProfileNode, last_child) == offsetof(ProfileHeader, check) &&
              offsetof(ProfileNode, last_region) == offsetof(ProfileHeader, last_region));

// The value of a parameter that was attached to visits of the call path `node`. From then on these
// visits belong to the call path at the next place.
struct ProfileParameter {
  std::uint32_t node;
  std::uint32_t parameter;
  std::uint64_t value;
  std::uint64_t reserved[4];
  std::uint32_t check;
  std::uint32_t unused[2];
  PlaceKind kind;
};
static_assert(sizeof(ProfileParameter) == 64);

// The values of a counter in one call path.
struct ProfileMetric {
  std::uint32_t node;
  std::uint32_t metric;
  std::uint64_t count;
  double sum, least, most, squares;
  std::uint32_t check;
  std::uint32_t unused[2];
  PlaceKind kind;
};
static_assert(sizeof(ProfileMetric) == 64);

// The results of `count` metrics, sampled with events, in one call path; `metric` is the id of the
// first.
struct ProfileSamples {
  static constexpr std::uint32_t kMost = 5;
  std::uint32_t node;  // 0: while no region was open
  std::uint32_t metric;
  std::uint64_t values[kMost];
  std::uint32_t check;
  std::uint32_t unused;
  std::uint32_t count;
  PlaceKind kind;
};
static_assert(sizeof(ProfileSamples) == 64);
static_assert(offsetof(ProfileNode, kind) == offsetof(ProfileParameter, kind) &&
              offsetof(ProfileNode, kind) == offsetof(ProfileMetric, kind) &&
              offsetof(ProfileNode, kind) == offsetof(ProfileSamples, kind) &&
              offsetof(ProfileNode, parameter) == offsetof(ProfileSamples, count));
static_assert(offsetof(ProfileNode, last_child) == offsetof(ProfileParameter, check) &&
              offsetof(ProfileNode, last_child) == offsetof(ProfileMetric, check) &&
              offsetof(ProfileNode, last_child) == offsetof(ProfileSamples, check));

// The checksum of a place, without the field that holds it; the header is place 0.
std::uint32_t place_check(std::uint32_t index, const ProfileNode& place) noexcept;

// Owned and used by the thread that records. Nothing here throws.
class ProfileWriter {
 public:
  // Creates the file in a spool; nullptr, with an errno value, on failure.
  static std::unique_ptr<ProfileWriter> create(const KnownDirectory& spool, std::uint32_t location,
                                               std::uint64_t now, int* error) noexcept;

  ProfileNode& node(std::uint32_t index) noexcept {
    return blocks_[index / kBlock][index % kBlock];
  }
  ProfileParameter& parameter(std::uint32_t index) noexcept {
    return reinterpret_cast<ProfileParameter&>(node(index));
  }
  ProfileMetric& metric(std::uint32_t index) noexcept {
    return reinterpret_cast<ProfileMetric&>(node(index));
  }
  ProfileSamples& samples(std::uint32_t index) noexcept {
    return reinterpret_cast<ProfileSamples&>(node(index));
  }
  std::uint32_t places() const noexcept { return count_; }
  // Levels from the root to this call path; 1: a root.
  std::uint32_t depth(std::uint32_t index) const noexcept { return depths_[index]; }
  ProfileHeader& header() noexcept { return *reinterpret_cast<ProfileHeader*>(blocks_[0]); }
  // A new place of zeros; 0: there is no space for it.
  std::uint32_t take() noexcept;
  // Makes the places taken so far a part of the profile.
  void publish() noexcept { header().places.store(count_, std::memory_order_release); }
  // A new node below `parent`, published; 0: there is no space for it.
  std::uint32_t add(std::uint32_t parent, std::uint32_t region) noexcept;

  // Gives every place its checksum. Nothing is changed afterwards.
  void seal() noexcept;

  // To be called in the child of a fork, since the file belongs to the parent.
  void abandon() noexcept { file_.close(); }

 private:
  static constexpr std::uint32_t kBlock = 1024;  // places: 64 KiB, a page of the largest kind

  bool grow() noexcept;

  os::File file_;
  std::vector<os::Mapping> mappings_;
  std::vector<ProfileNode*> blocks_;
  std::vector<std::uint32_t> depths_;  // of call paths, by their places
  std::uint32_t count_ = 1;
  int error_ = 0;
};

// A profile as it was read.
struct ProfileData {
  std::uint32_t location = 0;
  bool continues = false;
  std::uint64_t first = 0;  // ticks
  std::uint64_t last = 0;
  std::uint32_t deepest = 0;
  bool sealed = false;              // true for a process that ended normally
  std::vector<ProfileNode> places;  // without place 0: places[i] is place i + 1
  bool damaged = false;             // a place had a wrong checksum and was left out
};

struct Profiles {
  std::vector<ProfileData> profiles;  // in order of their locations
  std::uint64_t unreadable = 0;       // files that are not profiles, or of another version
  std::uint64_t empty = 0;            // files of threads that were killed before they wrote
};

// Reads all profiles in the spool `directory`.
Profiles read_profiles(const SpoolDirectory& directory);

}  // namespace timeloom::spool
