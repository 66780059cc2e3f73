#include "requests.hpp"

#include <atomic>
#include <iterator>
#include <mutex>
#include <new>
#include <unordered_map>

#include "record/measurement.hpp"

namespace timeloom::mpi {
namespace {

// Several may have the same handle: libraries have one for all that is complete at once.
struct Table {
  std::mutex mutex;
  std::unordered_multimap<Handle, Pending> requests;
};
// Never destroyed: threads may outlive the static objects of the program.
Table& table() {
  static auto* const kInstance = new Table;
  return *kInstance;
}

constinit std::atomic<std::uint64_t> g_requests = 0;

bool is_of_now(const Pending& one) noexcept {
  return one.measurement == record::measurement_number();
}

// Requests of an earlier measurement have been completed since; persistent ones can be started
// again. The end of each request of this measurement is seen, maybe after another thread has been
// given the handle.
void erase_ended(Table& all, Handle handle) noexcept {
  auto [next, end] = all.requests.equal_range(handle);
  while (next != end) {
    const bool ended = !next->second.persistent && !is_of_now(next->second);
    next = ended ? all.requests.erase(next) : std::next(next);
  }
}

// Calls `change` for the operation that was begun first; it is removed if that returns true.
template <typename Change>
void with(Handle request, Change change) noexcept {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const Handle handle = abi()->handle(request);
  erase_ended(all, handle);
  auto [next, end] = all.requests.equal_range(handle);
  auto first = next;
  for (; next != end; ++next) {
    if (next->second.number < first->second.number) first = next;
  }
  if (first != end && change(first->second)) all.requests.erase(first);
}

}  // namespace

std::uint64_t next_request() noexcept { return 1 + g_requests.fetch_add(1); }

void add_request(Handle request, const Pending& pending) noexcept {
  if (abi()->handle(request) == abi()->no_request) return;
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const Handle handle = abi()->handle(request);
  erase_ended(all, handle);
  try {
    all.requests.emplace(handle, pending)->second.measurement = record::measurement_number();
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::optional<Pending> complete_request(Handle request) noexcept {
  std::optional<Pending> completed;
  with(request, [&](Pending& one) {
    if (one.active && is_of_now(one)) completed = one;
    one.active = false;
    return !one.persistent;
  });
  return completed;
}

std::optional<Pending> start_request(Handle request) noexcept {
  std::optional<Pending> started;
  with(request, [&](Pending& one) {
    one.active = true;
    one.cancelled = false;
    one.number = next_request();
    one.measurement = record::measurement_number();
    started = one;
    return false;
  });
  return started;
}

void mark_cancelled(Handle request) noexcept {
  with(request, [](Pending& one) {
    one.cancelled = true;
    return false;
  });
}

std::optional<Pending> forget_request(Handle request) noexcept {
  std::optional<Pending> forgotten;
  with(request, [&](Pending& one) {
    if (one.active && is_of_now(one)) forgotten = one;
    return true;
  });
  return forgotten;
}

}  // namespace timeloom::mpi
