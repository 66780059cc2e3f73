// Intercommunicators of MPI, which connect two groups of processes: the ranks in the events of a
// process are ranks of the other group. Pure functions, for any thread.
//
// Both definitions list the groups one after the other, the first group first:
//
//   Communicator       members: the first group, kSecondGroup, the second group
//   LocalCommunicator  self, though there are several processes; size: of both groups; rank: the
//                      place in both; parent: the size of the first group
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr LocationId kSecondGroup{UINT64_MAX - 1};

// Stand for the rank of a root in an event, with the numbers of OTF2: kOwnRoot in the root itself,
// kRootInGroup in the other processes of its group.
inline constexpr std::uint32_t kOwnRoot = UINT32_MAX - 1;
inline constexpr std::uint32_t kRootInGroup = UINT32_MAX - 2;

struct CommunicatorGroups {
  std::span<const LocationId> first, second;
  bool between = false;  // two groups; else there is no second
};

inline CommunicatorGroups groups_of(const Communicator& one) noexcept {
  const std::span<const LocationId> all = one.members;
  const auto gap = std::ranges::find(all, kSecondGroup);
  if (gap == all.end()) return {all, {}, false};
  const auto first = static_cast<std::size_t>(gap - all.begin());
  return {all.first(first), all.subspan(first + 1), true};
}

// The index in the list of members that rank 0 in the events of a process stands for: the start of
// the other group. `in_second`: whether the process is in the second group.
inline std::uint32_t members_before_peers(const CommunicatorGroups& groups,
                                          bool in_second) noexcept {
  if (!groups.between || in_second) return 0;
  return static_cast<std::uint32_t>(groups.first.size() + 1);
}

inline bool is_between_groups(const LocalCommunicator& one) noexcept {
  return one.self && one.size > 1;
}

// Adds the process of `location`, whose own definition of `one` is `local`.
inline void add_member(Communicator& one, const LocalCommunicator& local, LocationId location) {
  const bool between = is_between_groups(local);
  if ((local.self && !between) || local.rank >= local.size) return;
  const std::uint64_t first =
      between ? std::min<std::uint64_t>(local.parent, local.size) : local.size;
  if (one.members.size() < local.size + between) one.members.resize(local.size + between);
  if (between) one.members[first] = kSecondGroup;
  one.members[local.rank < first ? local.rank : local.rank + 1] = location;
}

// Whether a collective operation is complete with this number of processes. `rooted`: it has a
// root; between two groups, the other processes in the root's group take no part in it then.
inline bool are_all(const Communicator& one, bool rooted, std::size_t processes) noexcept {
  const CommunicatorGroups groups = groups_of(one);
  const std::size_t first = groups.first.size(), second = groups.second.size();
  if (!groups.between || !rooted) return processes == first + second;
  return processes == first + 1 || processes == second + 1;
}

}  // namespace timeloom
