#include "preload/mpi/one_sided_calls.hpp"

namespace timeloom::mpi::one_sided {

bool moves(int result, int target) noexcept {
  return ok(result) && abi() != nullptr && target != abi()->proc_null;
}

void put_moved(std::uint64_t put, std::uint64_t got) noexcept {
  if (put != 0) put_bytes(record::BytesOf::kPut, put);
  if (got != 0) put_bytes(record::BytesOf::kGot, got);
}

std::uint64_t bytes_for(Handle op, Count count, Handle datatype) noexcept {
  const bool unused = abi() != nullptr && abi()->handle(op) == abi()->no_op;
  return unused ? 0 : bytes_of(count, datatype);
}

}  // namespace timeloom::mpi::one_sided
