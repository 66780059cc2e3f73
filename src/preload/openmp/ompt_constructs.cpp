#include "preload/openmp/ompt_constructs.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <new>

#include "record/native/code_region.hpp"
#include "record/region_state.hpp"

namespace timeloom::ompt {
namespace {

constexpr char kGroup[] = "OMP";

struct Name {
  const char* name;
  RegionRole role;
};

// As Score-P calls them, in the order of Construct.
constexpr std::array kNames = {Name{"!$omp parallel", RegionRole::kParallel},
                               Name{"!$omp for", RegionRole::kLoop},
                               Name{"!$omp sections", RegionRole::kSections},
                               Name{"!$omp single", RegionRole::kSingle},
                               Name{"!$omp workshare", RegionRole::kWorkshare},
                               Name{"!$omp distribute", RegionRole::kLoop},
                               Name{"!$omp taskloop", RegionRole::kTaskCreate},
                               Name{"!$omp scope", RegionRole::kWorkshare},
                               Name{"!$omp masked", RegionRole::kMaster},
                               Name{"!$omp implicit barrier", RegionRole::kImplicitBarrier},
                               Name{"!$omp barrier", RegionRole::kBarrier},
                               Name{"!$omp taskwait", RegionRole::kTaskWait},
                               Name{"!$omp taskgroup", RegionRole::kTaskWait},
                               Name{"!$omp create task", RegionRole::kTaskCreate},
                               Name{"!$omp task", RegionRole::kTask},
                               Name{"!$omp task resumed", RegionRole::kTask},
                               Name{"!$omp critical", RegionRole::kCritical},
                               Name{"!$omp critical sblock", RegionRole::kCriticalBlock},
                               Name{"!$omp atomic", RegionRole::kAtomic},
                               Name{"!$omp ordered", RegionRole::kOrdered},
                               Name{"!$omp ordered sblock", RegionRole::kOrderedBlock},
                               Name{"omp_set_lock", RegionRole::kWrapper},
                               Name{"omp_set_nest_lock", RegionRole::kWrapper},
                               Name{"omp_test_lock", RegionRole::kWrapper},
                               Name{"omp_test_nest_lock", RegionRole::kWrapper}};
static_assert(kNames.size() == static_cast<std::size_t>(Construct::kCount));

struct Site {
  const void* code;
  Construct construct;
  record::WrappedFunction function;
  Site* next;
};

constexpr std::size_t kBuckets = 1024;
constinit std::array<std::atomic<Site*>, kBuckets> g_sites{};

const Name& name_of(Construct construct) noexcept {
  return kNames[static_cast<std::size_t>(construct)];
}

std::atomic<Site*>& bucket_of(Construct construct, const void* code) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  return g_sites[(address * 31 + static_cast<std::size_t>(construct)) % kBuckets];
}

Site* find_site(Site* first, Construct construct, const void* code) noexcept {
  for (Site* one = first; one != nullptr; one = one->next) {
    if (one->code == code && one->construct == construct) return one;
  }
  return nullptr;
}

// Of two threads that make the same, both keep theirs; they are one region in the run.
Site* site_at(Construct construct, const void* code) noexcept {
  std::atomic<Site*>& bucket = bucket_of(construct, code);
  Site* first = bucket.load(std::memory_order_acquire);
  if (Site* const known = find_site(first, construct, code)) return known;
  const Name& name = name_of(construct);
  auto* const made = new (std::nothrow)
      Site{code, construct, {name.name, kGroup, "", Paradigm::kOpenMp, name.role}, first};
  if (made == nullptr) return nullptr;
  while (!bucket.compare_exchange_weak(made->next, made, std::memory_order_release)) {
  }
  return made;
}

// The call lies before the address behind it, which may belong to the next line or function.
void define(const Site& site, std::uint64_t& state) {
  record::define_code_region(state, {.address = static_cast<const char*>(site.code) - 1,
                                     .construct = site.function.name,
                                     .group = kGroup,
                                     .paradigm = Paradigm::kOpenMp,
                                     .role = site.function.role});
}

}  // namespace

// A region without an address is defined when it is entered, under the construct's name.
record::WrappedFunction* region_at(Construct construct, const void* code) noexcept {
  Site* const site = site_at(construct, code);
  if (site == nullptr) return nullptr;
  record::WrappedFunction& function = site->function;
  if (code == nullptr || record::known_word(function.state, record::measurement_number()) != 0)
    return &function;
  try {
    define(*site, function.state);
  } catch (const std::exception&) {
    return nullptr;
  }
  return &function;
}

}  // namespace timeloom::ompt
