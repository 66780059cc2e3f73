// The call-path profile of one thread, folded while the program runs: a file
// `profile-N` in the spool (N: index of the location), mapped by the thread that
// writes it, so that it survives a kill at any instruction.
//
//     offset   0  ProfileHeader       64 bytes, in the place of node 0
//             64  place 1             64 bytes each: a call path, its parent before it,
//            128  place 2  …          or values of one, with the same `kind` at its end
//
// A place is complete before `places` in the header counts it. A visit that was
// cut off by a kill is open (`entered` is not 0) and ends with the process. When the thread
// has finished, the file is sealed: every place gets a checksum. A file that a kill leaves has
// none; there only values that cannot be are noticed. docs/formats/spool.md describes the same for
// readers in other languages.
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
  std::atomic<std::uint32_t> places;   // in use, with this one
  std::uint32_t continues;             // 1: from where the events of the location end
  std::atomic<std::uint64_t> last;     // ticks of the last leave; beyond a limit, enter, too
  std::uint64_t first;                 // ticks at the begin
  std::atomic<std::uint32_t> deepest;  // level that was reached beyond the depth limit; else 0
  std::uint32_t sealed;                // `places` when nothing changes any more; else 0
  std::uint32_t check;                 // in a sealed file: place_check()
  std::uint32_t last_region;           // of the writer, as in a node
  std::uint32_t unused[2];
};
static_assert(sizeof(ProfileHeader) == 64);

enum class PlaceKind : std::uint32_t {
  kCallPath = 0,
  kContinued = 1,  // a call path that was open when the file began: its first visit is no visit
  kParameter = 2,
  kMetric = 3,
  kSamples = 4,
  kLeftOut = UINT32_MAX,  // of a reader: it was damaged, or lies below one that was
};

struct ProfileNode {     // a call path
  std::uint32_t parent;  // 0: a root
  std::uint32_t region;
  std::uint64_t visits;  // counted when they begin
  std::uint64_t ticks;   // of the visits that have ended
  std::uint64_t shortest;
  std::uint64_t longest;
  std::uint64_t entered;     // ticks at which the visit began that is open; 0: none
  std::uint32_t last_child;  // of the writer; in a sealed file place_check()
  // Of the writer: the region of last_child, so that another child is not looked at;
  // kBeyondLimit: there is none yet.
  std::uint32_t last_region;
  std::uint32_t parameter;  // place of the last parameter that visits of it have; 0: none
  PlaceKind kind;
};
static_assert(sizeof(ProfileNode) == 64);

// The writer's own fields of node 0 lie in fields of the header that it does not use until then.
static_assert(offsetof(ProfileNode, last_child) == offsetof(ProfileHeader, check) &&
              offsetof(ProfileNode, last_region) == offsetof(ProfileHeader, last_region));

// A value of a parameter that visits of the call path `node` were given. These visits belong from
// then on to the call path at the next place.
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

// The values that a counter had in one call path.
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

// The results in one call path of `count` metrics that are sampled with events; their ids
// begin with `metric`.
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

// The check of a place, whatever stands in its field for it; the header is place 0.
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
  // A new place, of zeros; 0 when there is no space for it.
  std::uint32_t take() noexcept;
  // Makes the places taken so far a part of the profile.
  void publish() noexcept { header().places.store(count_, std::memory_order_release); }
  // A new node below `parent`, published; 0 when there is no space for it.
  std::uint32_t add(std::uint32_t parent, std::uint32_t region) noexcept;

  // Gives every place its checksum. Nothing is changed afterwards.
  void seal() noexcept;

  // In the child of a fork: the file belongs to the parent.
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
  bool sealed = false;              // as files of a process that has ended are
  std::vector<ProfileNode> places;  // without place 0: places[i] is place i + 1
  bool damaged = false;             // something did not check and was left out
};

struct Profiles {
  std::vector<ProfileData> profiles;  // in order of their locations
  std::uint64_t unreadable = 0;       // files that are no profile, or of another version
  std::uint64_t empty = 0;            // files of threads that were killed before they began
};

// Reads all profiles in the spool `directory`.
Profiles read_profiles(const SpoolDirectory& directory);

}  // namespace timeloom::spool
