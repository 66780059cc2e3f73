#include "preload/openmp/constructs.hpp"

#include <new>

#include "record/native/code_region.hpp"
#include "record/region_state.hpp"

namespace timeloom::openmp {
namespace {

struct ConstructName {
  const char* name;
  RegionRole role;
};

// As Score-P calls them.
constexpr ConstructName kConstructNames[] = {
    {"!$omp parallel", RegionRole::kParallel},
    {"!$omp for", RegionRole::kLoop},
    {"!$omp sections", RegionRole::kSections},
    {"!$omp single", RegionRole::kSingle},
    {"!$omp implicit barrier", RegionRole::kImplicitBarrier},
    {"!$omp barrier", RegionRole::kBarrier},
    {"!$omp critical", RegionRole::kCritical},
    {"!$omp critical sblock", RegionRole::kCriticalBlock},
    {"!$omp atomic", RegionRole::kAtomic},
    {"!$omp ordered", RegionRole::kOrdered},
    {"!$omp ordered sblock", RegionRole::kOrderedBlock},
    {"!$omp task", RegionRole::kTask},
    {"!$omp create task", RegionRole::kTaskCreate},
    {"!$omp taskwait", RegionRole::kTaskWait},
    {"!$omp taskgroup", RegionRole::kTaskWait},
    {"!$omp taskloop", RegionRole::kTaskCreate},
};
static_assert(sizeof kConstructNames / sizeof kConstructNames[0] == kConstructs);

}  // namespace

constinit thread_local ThreadState t_state;

EventWord region_of(Place& place, Construct construct) noexcept try {
  std::uint64_t& state = place.regions[static_cast<std::size_t>(construct)];
  if (const EventWord known = record::known_word(state, record::measurement_number())) return known;
  const ConstructName& what = kConstructNames[static_cast<std::size_t>(construct)];
  record::define_code_region(state, {.address = place.address,
                                     .construct = what.name,
                                     .group = "OMP",
                                     .paradigm = Paradigm::kOpenMp,
                                     .role = what.role});
  return record::known_word(state, record::measurement_number());
} catch (const std::bad_alloc&) {
  return 0;
}

void close_open(std::size_t depth) noexcept {
  ThreadState& state = t_state;
  while (state.depth > depth) {
    --state.depth;
    if (state.depth < state.open.size()) leave_region(state.open[state.depth].region);
  }
}

// An address in code that calls no runtime belongs to the caller's caller: the construct is the
// last one of the outlined function, or of a function that is not known.
const void* GompCall::code() const noexcept {
  if (place_.runtime == nullptr && t_state.function != nullptr) return t_state.function;
  return static_cast<const char*>(caller_) - 1;
}

EventWord GompCall::enter_recorded(Construct construct) noexcept {
  record::WrapperScope scope(code());
  if (!scope.wanted()) return 0;
  const EventWord word = region(construct);
  if (word != 0) scope.enter(word);
  return word;
}

void GompCall::enter_and_leave(Construct construct, std::uint64_t began) noexcept {
  if (!wanted()) return;
  record::WrapperScope scope(code(), began);
  const EventWord word = scope.wanted() ? region(construct) : 0;
  if (word == 0) return;
  scope.enter(word);
  scope.go_on();
  scope.leave(word);
}

}  // namespace timeloom::openmp
