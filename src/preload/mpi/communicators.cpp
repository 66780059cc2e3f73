#include "communicators.hpp"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/checksum.hpp"
#include "record/measurement.hpp"
#include "record/wrapper_interface.hpp"

namespace timeloom::mpi {
namespace {

constexpr std::uint64_t kSelfIdentity = 1;
constexpr std::uint64_t kWorldIdentity = 2;
constexpr std::uint64_t kOfGroup = 3;  // in place of a number of the child

// Never destroyed: threads may outlive the static objects of the program. Freed communicators
// stay, as their definitions do.
struct Table {
  std::shared_mutex mutex;
  std::unordered_map<Handle, Communicator*> by_handle;
  std::uint32_t next_id = 0;
};
Table& table() {
  static auto* const kInstance = new Table;
  return *kInstance;
}

// A group of processes, for as long as the object lives.
class Group {
 public:
  explicit Group(Handle comm) noexcept {
    real<int(Handle, Handle*)>(Function::kComm_group)(comm, &handle_);
  }
  ~Group() { real<int(Handle*)>(Function::kGroup_free)(&handle_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // The ranks in `other` of those of this group that are given.
  void translate(int count, const int* ranks, const Group& other, int* result) const noexcept {
    real<int(Handle, int, const int*, Handle, int*)>(Function::kGroup_translate_ranks)(
        handle_, count, ranks, other.handle_, result);
  }

 private:
  Handle handle_ = 0;
};

int world_rank_of_first(Handle comm) noexcept {
  const int first = 0;
  int rank = 0;
  const Group own(comm), world(abi()->world);
  own.translate(1, &first, world, &rank);
  return rank;
}

// Of all processes in the order of their ranks.
std::uint64_t members_of(Handle comm, std::uint32_t size) {
  std::vector<int> ranks(size), in_world(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = static_cast<int>(i);
  const Group own(comm), world(abi()->world);
  own.translate(static_cast<int>(size), ranks.data(), world, in_world.data());
  std::uint64_t hash = kOfGroup;
  for (const int rank : in_world) hash = timeloom::mix(hash, static_cast<std::uint64_t>(rank) + 1);
  return hash;
}

void ask_about(Communicator& one, Handle handle) noexcept {
  using Ask = int(Handle, int*);
  int value = 0;
  real<Ask>(Function::kComm_rank)(handle, &value);
  one.rank = static_cast<std::uint32_t>(value);
  real<Ask>(Function::kComm_size)(handle, &value);
  one.size = static_cast<std::uint32_t>(value);
  real<Ask>(Function::kComm_test_inter)(handle, &value);
  one.inter = value != 0;
}

// `identity` 0: that of its members.
Communicator* add(Handle raw, std::uint64_t parent, std::uint64_t identity) noexcept try {
  const Handle handle = abi()->handle(raw);
  auto one = std::make_unique<Communicator>();
  ask_about(*one, handle);
  one->parent = parent;
  if (handle == abi()->world) one->name = "MPI_COMM_WORLD";
  if (handle == abi()->self) one->name = "MPI_COMM_SELF";
  if (identity == 0 && !one->inter) identity = members_of(handle, one->size);
  one->identity = identity;
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  one->id = all.next_id++;
  return all.by_handle[handle] = one.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

Communicator* known(Handle handle) noexcept {
  Table& all = table();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(handle);
  return found == all.by_handle.end() ? nullptr : found->second;
}

Communicator* any(Handle raw) noexcept {
  if (abi() == nullptr) return nullptr;
  const Handle handle = abi()->handle(raw);
  if (Communicator* one = known(handle)) return one;
  if (handle == abi()->no_comm) return nullptr;
  if (handle == abi()->world) return add(handle, 0, kWorldIdentity);
  if (handle == abi()->self) return add(handle, 0, kSelfIdentity);
  return add(handle, 0, 0);  // made by a function that is not wrapped
}

}  // namespace

Communicator* communicator(Handle handle) noexcept {
  Communicator* const one = any(handle);
  return one == nullptr || one->inter ? nullptr : one;
}

void define(Communicator& one) noexcept {
  const std::uint32_t number = record::measurement_number();
  if (one.defined_in.load(std::memory_order_relaxed) == number) return;
  // The world has its members in the trace, also where it is one process.
  const bool self = one.size == 1 && one.identity != kWorldIdentity;
  LocalCommunicator definition{one.identity, one.parent, self, one.size, one.rank, {}};
  try {
    definition.name = one.name;
  } catch (const std::bad_alloc&) {  // it goes without its name
  }
  record::define_communicator(one.id, definition);
  one.defined_in.store(number, std::memory_order_relaxed);
}

Communicator* defined_communicator(Handle handle) noexcept {
  if (!record::wrapping() || !record::recording()) return nullptr;
  Communicator* const one = communicator(handle);
  if (one != nullptr) define(*one);
  return one;
}

std::uint64_t next_identity(Handle parent) noexcept {
  Communicator* const from = any(parent);
  if (from == nullptr) return 0;
  return timeloom::mix(from->identity, kOfGroup + 1 + from->children.fetch_add(1));
}

Communicator* add_promised(Handle parent, Handle handle, std::uint64_t identity) noexcept {
  if (abi() == nullptr || abi()->handle(handle) == abi()->no_comm) return nullptr;
  const Communicator* const from = any(parent);
  int inter = 0;
  real<int(Handle, int*)>(Function::kComm_test_inter)(handle, &inter);
  if (inter == 0 && identity != 0) {
    identity = timeloom::mix(identity, static_cast<std::uint64_t>(world_rank_of_first(handle)) + 1);
  }
  return add(handle, from == nullptr ? 0 : from->identity, identity);
}

Communicator* add_child(Handle parent, Handle handle) noexcept {
  return add_promised(parent, handle, next_identity(parent));
}

Communicator* add_of_group(Handle parent, Handle handle) noexcept {
  if (abi() == nullptr || abi()->handle(handle) == abi()->no_comm) return nullptr;
  const Communicator* const from = any(parent);
  Communicator* const one = add(handle, from == nullptr ? 0 : from->identity, 0);
  if (one == nullptr || from == nullptr) return one;
  // Its processes have made the same ones of the same members, in the same order.
  static auto* const kMutex = new std::mutex;
  static auto* const kMade = new std::unordered_map<std::uint64_t, std::uint64_t>;
  const std::lock_guard lock(*kMutex);
  const std::uint64_t of_members = timeloom::mix(from->identity, one->identity);
  try {
    one->identity = timeloom::mix(of_members, ++(*kMade)[of_members]);
  } catch (const std::bad_alloc&) {
    one->identity = of_members;
  }
  return one;
}

void forget_communicator(Handle raw) noexcept {
  if (abi() == nullptr) return;
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  all.by_handle.erase(abi()->handle(raw));
}

void name_communicator(Handle handle, const char* name) noexcept {
  Communicator* const one = any(handle);
  if (one == nullptr || name == nullptr) return;
  try {
    one->name = name;
  } catch (const std::bad_alloc&) {
    return;
  }
  one->defined_in = 0;  // the next definition has the name
}

}  // namespace timeloom::mpi
