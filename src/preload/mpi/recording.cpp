#include "recording.hpp"

#include <atomic>
#include <cerrno>
#include <exception>
#include <span>

#include "record/native_call.hpp"

namespace timeloom::mpi {
namespace {

constexpr RegionRole kRoles[] = {
#define TIMELOOM_MPI(NAME, ROLE, ...) RegionRole::ROLE,
#define TIMELOOM_MPI_LATE TIMELOOM_MPI
#define TIMELOOM_MPI_ALWAYS TIMELOOM_MPI
#define TIMELOOM_MPI_LATE_ALWAYS TIMELOOM_MPI
#include "functions.inc"
};

// The id of each function's region, with the number of the measurement that has it defined.
constexpr unsigned kNumberShift = 32;
constinit std::atomic<std::uint64_t> g_regions[kFunctions] = {};

EventWord known_word(Function function) noexcept {
  const std::uint64_t known =
      g_regions[static_cast<std::size_t>(function)].load(std::memory_order_relaxed);
  if (known >> kNumberShift != record::measurement_number()) return 0;
  return record::enter_word(RegionId{static_cast<std::uint32_t>(known)});
}

bool define(Function function) noexcept try {
  const std::uint64_t number = record::measurement_number();
  Region region;
  region.name = region.canonical_name = name_of(function);
  region.group = region.file = "MPI";
  region.paradigm = Paradigm::kMpi;
  region.role = kRoles[static_cast<std::size_t>(function)];
  const RegionId id = record::define_region(region);
  g_regions[static_cast<std::size_t>(function)].store(number << kNumberShift | id.value(),
                                                      std::memory_order_relaxed);
  return true;
} catch (const std::exception&) {
  return false;  // no memory
}

}  // namespace

Call::Call(Function function) noexcept {
  const int error = errno;
  do {
    const record::NativeCall call;
    if (call.recorder() == nullptr) break;
    word_ = known_word(function);
    if (word_ == 0) continue;
    if (record::recording()) {
      call.recorder()->enter(record::user_token(word_), word_);
    } else {
      call.recorder()->enter_unrecorded(record::user_token(word_));
    }
  } while (word_ == 0 && define(function));
  errno = error;
}

Call::~Call() {
  if (word_ == 0) return;
  const int error = errno;
  if (const record::NativeCall call; call.recorder() != nullptr) {
    if (record::recording()) {
      call.recorder()->leave_own(record::user_token(word_));
    } else {
      call.recorder()->leave_unrecorded(record::user_token(word_));
    }
  }
  errno = error;
}

void put(ExtendedKind kind, std::initializer_list<std::uint64_t> words) noexcept {
  if (!record::recording()) return;
  const int error = errno;
  if (const record::NativeCall call; call.recorder() != nullptr && record::recording()) {
    call.recorder()->extended(kind, std::span(words.begin(), words.size()));
  }
  errno = error;
}

}  // namespace timeloom::mpi
