#include "preload/mpi/collectives.hpp"

namespace timeloom::mpi {

void put_collective_end(const Communicator& communicator, const Operation& operation,
                        Bytes bytes) noexcept {
  put(ExtendedKind::kMpiCollectiveEnd,
      {pair_of(communicator.id, static_cast<std::uint32_t>(operation.kind)),
       operation.rank_of_root(), bytes.sent, bytes.received});
}

void add_collective(Communicator& communicator, const Operation& operation, Bytes bytes,
                    void* request, std::uint64_t number) noexcept {
  add_request(abi()->load(request), {.kind = Pending::Kind::kCollective,
                                     .active = true,
                                     .communicator = &communicator,
                                     .number = number,
                                     .sent = bytes.sent,
                                     .received = bytes.received,
                                     .operation = operation.kind,
                                     .root = operation.rank_of_root()});
}

}  // namespace timeloom::mpi
