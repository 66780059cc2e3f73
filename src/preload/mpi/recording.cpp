#include "preload/mpi/recording.hpp"

#include <iterator>

namespace timeloom::mpi {
namespace {

constinit record::WrappedFunction g_functions[] = {
#define TIMELOOM_MPI(NAME, ROLE, ...) \
  {"MPI_" #NAME, "MPI", "MPI", Paradigm::kMpi, RegionRole::ROLE},
#define TIMELOOM_MPI_LATE TIMELOOM_MPI
#define TIMELOOM_MPI_ALWAYS TIMELOOM_MPI
#define TIMELOOM_MPI_LATE_ALWAYS TIMELOOM_MPI
#include "preload/mpi/functions.inc"
};
static_assert(std::size(g_functions) == kFunctions);

}  // namespace

// The caller does not matter: Timeloom's own code does not call MPI through the wrappers.
Call::Call(Function function) noexcept {
  if (!record::wrapping()) return;
  record::WrapperScope scope(nullptr);
  if (!scope.wanted()) return;
  function_ = &g_functions[static_cast<std::size_t>(function)];
  scope.enter(*function_);
}

Call::~Call() {
  if (function_ == nullptr) return;
  record::WrapperScope scope(record::kAgain);
  scope.leave(*function_);
}

void put(ExtendedKind kind, std::initializer_list<std::uint64_t> words) noexcept {
  if (!record::wrapping()) return;
  record::WrapperScope scope(record::kAgain);
  if (scope.wanted()) scope.put(kind, words);
}

void put_bytes(record::BytesOf what, std::uint64_t bytes) noexcept {
  if (!record::wrapping()) return;
  record::WrapperScope scope(record::kAgain);
  if (scope.wanted()) scope.put_bytes(what, bytes);
}

}  // namespace timeloom::mpi
