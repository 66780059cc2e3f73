#include "profile/message_kinds.hpp"

#include <algorithm>
#include <array>

namespace timeloom::profile {

bool only_neighbours(std::string_view name) noexcept {
  return name.starts_with("MPI_Neighbor_") || name.starts_with("MPI_Ineighbor_");
}

bool is_blocking_probe(std::string_view name) noexcept {
  return name == "MPI_Probe" || name == "MPI_Mprobe";
}

bool reads_status(std::string_view name) noexcept {
  return name.starts_with("MPI_Get_count") || name.starts_with("MPI_Get_elements") ||
         name.starts_with("MPI_Status_");
}

bool waits_unseen(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 13> kBegins = {
      "MPI_Win_",       "MPI_File_",       "MPI_Neighbor_",         "MPI_Ineighbor_",
      "MPI_Comm_spawn", "MPI_Comm_accept", "MPI_Comm_connect",      "MPI_Comm_join",
      "MPI_Comm_idup",  "MPI_Intercomm_",  "MPI_Comm_create_group", "MPI_Psend_",
      "MPI_Precv_"};
  constexpr std::array<std::string_view, 5> kPersistent = {
      "MPI_Send_init", "MPI_Bsend_init", "MPI_Ssend_init", "MPI_Rsend_init", "MPI_Recv_init"};
  const auto begins = [&](std::string_view begin) { return name.starts_with(begin); };
  if (std::ranges::any_of(kBegins, begins)) return true;
  return name.find("_init") != std::string_view::npos && std::ranges::none_of(kPersistent, begins);
}

bool one_to_all(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::kBcast || kind == CollectiveKind::kScatter ||
         kind == CollectiveKind::kScatterv;
}

bool all_to_one(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::kGather || kind == CollectiveKind::kGatherv ||
         kind == CollectiveKind::kReduce;
}

bool all_to_all(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllgatherv:
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kAlltoallv:
    case CollectiveKind::kAlltoallw:
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduceScatterBlock: return true;
    default: return false;
  }
}

const char* name_of(WaitKind kind) noexcept {
  switch (kind) {
    case WaitKind::kLateSender: return "late sender";
    case WaitKind::kLateReceiver: return "late receiver";
    case WaitKind::kBarrier: return "wait at barrier";
    case WaitKind::kAllToAll: return "wait at all-to-all";
    case WaitKind::kLateRoot: return "late root";
    case WaitKind::kEarlyRoot: return "early root";
  }
  return "";
}

const char* name_of(CollectiveKind kind) noexcept {
  constexpr const char* kNames[] = {"Barrier",
                                    "Bcast",
                                    "Gather",
                                    "Gatherv",
                                    "Scatter",
                                    "Scatterv",
                                    "Allgather",
                                    "Allgatherv",
                                    "Alltoall",
                                    "Alltoallv",
                                    "Alltoallw",
                                    "Allreduce",
                                    "Reduce",
                                    "Reduce_scatter",
                                    "Scan",
                                    "Exscan",
                                    "Reduce_scatter_block",
                                    "make a handle",
                                    "free a handle"};
  const auto index = static_cast<std::size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : "other";
}

}  // namespace timeloom::profile
