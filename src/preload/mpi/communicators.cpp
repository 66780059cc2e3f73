#include "preload/mpi/communicators.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/checksum.hpp"
#include "preload/mpi/spawn.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::mpi {
namespace {

constexpr std::uint64_t kSelfIdentity = 1;
constexpr std::uint64_t kWorldIdentity = 2;
constexpr std::uint64_t kOfGroup = 3;  // instead of a child's number
constexpr std::uint64_t kBetween = 4;  // between spawning and spawned processes

// Never destroyed: threads may outlive the static objects of the program. Freed communicators stay,
// as their definitions do.
struct CommunicatorTable {
  std::shared_mutex mutex;
  std::unordered_map<Handle, Communicator*> by_handle;
  std::uint32_t next_id = 0;
};
CommunicatorTable& communicator_table() {
  static auto* const kInstance = new CommunicatorTable;
  return *kInstance;
}

// A group of processes, freed with the object.
class Group {
 public:
  explicit Group(Handle comm) noexcept : Group(comm, Function::kComm_group) {}
  static Group remote_of(Handle comm) noexcept { return Group(comm, Function::kComm_remote_group); }
  // Of two groups, the one that is the first for all processes.
  static Group first_of(Handle comm, bool second) noexcept {
    return second ? remote_of(comm) : Group(comm);
  }
  ~Group() { real<int(Handle*)>(Function::kGroup_free)(&handle_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int size() const noexcept {
    int size = 0;
    real<int(Handle, int*)>(Function::kGroup_size)(handle_, &size);
    return size;
  }
  // Translates the given ranks of this group into ranks of `other`.
  void translate(int count, const int* ranks, const Group& other, int* result) const noexcept {
    real<int(Handle, int, const int*, Handle, int*)>(Function::kGroup_translate_ranks)(
        handle_, count, ranks, other.handle_, result);
  }

 private:
  Group(Handle comm, Function function) noexcept {
    real<int(Handle, Handle*)>(function)(comm, &handle_);
  }
  Handle handle_ = 0;
};

// Adds the rank of the group's first process in `among`.
std::uint64_t with_first(std::uint64_t identity, const Group& group, const Group& among) noexcept {
  const int first = 0;
  int rank = 0;
  group.translate(1, &first, among, &rank);
  return timeloom::mix(identity, static_cast<std::uint64_t>(rank) + 1);
}

// Combines all processes in the order of their ranks, by their ranks in `among`. 0: some are
// missing there.
std::uint64_t members_of(const Group& group, const Group& among) {
  const int size = group.size();
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  group.translate(size, ranks.data(), among, there.data());
  std::uint64_t hash = kOfGroup;
  for (const int rank : there) {
    if (rank == abi()->undefined) return 0;
    hash = timeloom::mix(hash, static_cast<std::uint64_t>(rank) + 1);
  }
  return hash;
}

// Spawned processes have their own MPI_COMM_WORLD.
std::uint64_t world_identity() noexcept {
  const Spawn* const spawn = own_spawn();
  return spawn == nullptr ? kWorldIdentity : timeloom::mix(spawn->identity, kWorldIdentity);
}

// False for a process that uses sessions only.
bool has_world() noexcept {
  int begun = 0, ended = 0;
  real<int(int*)>(Function::kInitialized)(&begun);
  real<int(int*)>(Function::kFinalized)(&ended);
  return begun != 0 && ended == 0;
}

// The processes have created communicators with these members in the same order: counts them.
std::uint64_t next_of(std::uint64_t of_members) noexcept {
  static auto* const kMutex = new std::mutex;
  static auto* const kMade = new std::unordered_map<std::uint64_t, std::uint64_t>;
  const std::lock_guard lock(*kMutex);
  try {
    return timeloom::mix(of_members, ++(*kMade)[of_members]);
  } catch (const std::bad_alloc&) {
    return of_members;
  }
}

void ask_about(Communicator& one, Handle handle) noexcept {
  using Ask = int(Handle, int*);
  int value = 0;
  real<Ask>(Function::kComm_rank)(handle, &value);
  one.rank = static_cast<std::uint32_t>(value);
  real<Ask>(Function::kComm_size)(handle, &value);
  one.size = static_cast<std::uint32_t>(value);
  real<Ask>(Function::kComm_test_inter)(handle, &value);
  if (value == 0) return;
  real<Ask>(Function::kComm_remote_size)(handle, &value);
  one.remote_size = static_cast<std::uint32_t>(value);
}

std::string of_spawn(const Spawn* spawn) {
  return spawn == nullptr ? std::string() : " of spawn " + std::to_string(spawn->number);
}

// `identity` 0: computed from the members; unknown between two groups, and without a world.
Communicator* add(Handle raw, std::uint64_t parent, std::uint64_t identity, bool second = false,
                  const std::string& name = {}) noexcept try {
  const Handle handle = abi()->handle(raw);
  auto one = std::make_unique<Communicator>();
  ask_about(*one, handle);
  one->parent = parent;
  one->second = second;
  one->name = name;
  if (handle == abi()->world) one->name = "MPI_COMM_WORLD" + of_spawn(own_spawn());
  if (handle == abi()->self) one->name = "MPI_COMM_SELF";
  if (identity == 0 && !one->inter() && has_world()) {
    identity = timeloom::mix(members_of(Group(handle), Group(abi()->world)), world_identity());
  }
  one->identity = identity;
  CommunicatorTable& all = communicator_table();
  const std::unique_lock lock(all.mutex);
  one->id = all.next_id++;
  return all.by_handle[handle] = one.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

Communicator* known(Handle handle) noexcept {
  CommunicatorTable& all = communicator_table();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_handle.find(handle);
  return found == all.by_handle.end() ? nullptr : found->second;
}

Communicator* any(Handle raw) noexcept {
  if (abi() == nullptr) return nullptr;
  const Handle handle = abi()->handle(raw);
  if (Communicator* one = known(handle)) return one;
  if (handle == abi()->no_comm) return nullptr;
  if (handle == abi()->world) return add(handle, 0, world_identity());
  if (handle == abi()->self) return add(handle, 0, kSelfIdentity);
  return add(handle, 0, 0);  // created by a function that is not wrapped
}

}  // namespace

Communicator* communicator(Handle handle) noexcept {
  Communicator* const one = any(handle);
  return one == nullptr || one->identity == 0 ? nullptr : one;
}

void define(Communicator& one) noexcept {
  const std::uint32_t number = record::measurement_number();
  if (one.defined_in.load(std::memory_order_relaxed) == number) return;
  // The world has its members in the trace, even if it has only one process.
  const bool self = one.size == 1 && one.identity != world_identity();
  LocalCommunicator definition{one.identity, one.parent, self, one.size, one.rank, {}};
  if (one.inter()) {  // see core/mpi/communicator_groups.hpp
    definition.self = true;
    definition.size += one.remote_size;
    definition.parent = one.second ? one.remote_size : one.size;
    if (one.second) definition.rank += one.remote_size;
  }
  try {
    const std::shared_lock lock(communicator_table().mutex);  // another thread may be naming it
    definition.name = one.name;
  } catch (const std::bad_alloc&) {  // then it has no name
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
  if (from == nullptr || from->identity == 0) return add(handle, 0, 0);
  int inter = 0;
  real<int(Handle, int*)>(Function::kComm_test_inter)(handle, &inter);
  if (inter != 0) {
    identity = with_first(identity, Group::first_of(handle, from->second),
                          Group::first_of(parent, from->second));
  } else if (!from->inter()) {  // two groups that are merged both create the same one
    identity = with_first(identity, Group(handle), Group(parent));
  }
  return add(handle, from->identity, identity, inter != 0 && from->second);
}

Communicator* add_child(Handle parent, Handle handle) noexcept {
  return add_promised(parent, handle, next_identity(parent));
}

Communicator* add_of_group(Handle parent, Handle handle) noexcept try {
  if (abi() == nullptr || abi()->handle(handle) == abi()->no_comm) return nullptr;
  const Communicator* const from = any(parent);
  if (from == nullptr || from->identity == 0) return add(handle, 0, 0);
  const std::uint64_t members = members_of(Group(handle), Group(parent));
  return add(handle, from->identity, next_of(timeloom::mix(from->identity, members)));
} catch (const std::bad_alloc&) {
  return nullptr;
}

Communicator* add_between(Handle local, Handle handle) noexcept try {
  if (abi() == nullptr || abi()->handle(handle) == abi()->no_comm) return nullptr;
  const Communicator* const from = any(local);
  if (!has_world()) return add(handle, 0, 0);
  const Group world(abi()->world);
  const std::uint64_t own = members_of(Group(handle), world);
  const std::uint64_t other = members_of(Group::remote_of(handle), world);
  if (from == nullptr || own == 0 || other == 0) return add(handle, 0, 0);
  const std::uint64_t pair = timeloom::mix(std::min(own, other), std::max(own, other));
  return add(handle, 0, next_of(timeloom::mix(pair, world_identity())), own > other);
} catch (const std::bad_alloc&) {
  return nullptr;
}

std::uint64_t spawn_identity(Handle parent) noexcept {
  const Communicator* const from = any(parent);
  std::uint64_t identity = next_identity(parent);
  if (from == nullptr || from->size > 1) return identity;
  // MPI_COMM_SELF has the same identity everywhere.
  const Communicator* const world = has_world() ? any(abi()->world) : nullptr;
  identity = timeloom::mix(identity, world_identity());
  return world == nullptr ? identity : timeloom::mix(identity, std::uint64_t{world->rank} + 1);
}

Communicator* add_spawned(Handle parent, Handle handle, std::uint64_t identity,
                          std::uint32_t number) noexcept try {
  if (abi() == nullptr || abi()->handle(handle) == abi()->no_comm) return nullptr;
  const Communicator* const from = parent == 0 ? nullptr : any(parent);
  return add(handle, from == nullptr ? 0 : from->identity, timeloom::mix(identity, kBetween),
             parent == 0, number == 0 ? std::string() : "spawn " + std::to_string(number));
} catch (const std::bad_alloc&) {
  return nullptr;
}

const Communicator* known_communicator(Handle handle) noexcept {
  return abi() == nullptr ? nullptr : known(abi()->handle(handle));
}

void forget_communicator(Handle raw, const Communicator* freed) noexcept {
  if (freed == nullptr) return;
  CommunicatorTable& all = communicator_table();
  const std::unique_lock lock(all.mutex);
  const auto found = all.by_handle.find(abi()->handle(raw));
  if (found != all.by_handle.end() && found->second == freed) all.by_handle.erase(found);
}

void name_communicator(Handle handle, const char* name) noexcept try {
  Communicator* const one = any(handle);
  if (one == nullptr || name == nullptr) return;
  std::string given(name);
  const std::unique_lock lock(communicator_table().mutex);
  one->name.swap(given);
  one->defined_in = 0;  // the next definition includes the name
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace timeloom::mpi
