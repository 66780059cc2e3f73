#include "preload/mpi/requests.hpp"

#include <atomic>
#include <list>
#include <mutex>
#include <new>
#include <unordered_map>

#include "record/measurement.hpp"

namespace timeloom::mpi {
namespace {

// The operations of one handle, the oldest first. Libraries use one handle for all requests that
// are complete at once, so there may be many.
struct Queue {
  Pending first;
  std::list<Pending> later;
};
using Queues = std::unordered_map<Handle, Queue>;
struct RequestTable {
  std::mutex mutex;
  Queues requests;
};
// Never destroyed: threads may outlive the static objects of the program.
RequestTable& request_table() {
  static auto* const kInstance = new RequestTable;
  return *kInstance;
}

constinit std::atomic<std::uint64_t> g_requests = 0;

bool is_of_now(const Pending& one) noexcept {
  return one.measurement == record::measurement_number();
}

// Removes the first operation. Returns end() if it was the only one.
Queues::iterator without_first(Queues& all, Queues::iterator one) noexcept {
  Queue& queue = one->second;
  if (queue.later.empty()) {
    all.erase(one);
    return all.end();
  }
  queue.first = queue.later.front();
  queue.later.pop_front();
  return one;
}

// The operations that a handle may stand for. Requests of an earlier measurement have been
// completed since and are removed, except for persistent ones, which can be started again. The end
// of each request of this measurement is seen, but possibly after another thread has been given the
// same handle.
Queues::iterator find_request(Queues& all, Handle handle) noexcept {
  auto found = all.find(handle);
  while (found != all.end() && !found->second.first.persistent && !is_of_now(found->second.first)) {
    found = without_first(all, found);
  }
  return found;
}

// Calls `change` for the operation that was started first, and removes it if the result is true.
template <typename Change>
void with_request(Handle request, Change change) noexcept {
  RequestTable& all = request_table();
  const std::lock_guard lock(all.mutex);
  const auto found = find_request(all.requests, abi()->handle(request));
  if (found != all.requests.end() && change(found->second.first)) {
    without_first(all.requests, found);
  }
}

}  // namespace

std::uint64_t next_request() noexcept { return 1 + g_requests.fetch_add(1); }

void add_request(Handle request, Pending pending) noexcept {
  const Handle handle = abi()->handle(request);
  if (handle == abi()->no_request) return;
  pending.measurement = record::measurement_number();
  RequestTable& all = request_table();
  const std::lock_guard lock(all.mutex);
  const auto found = find_request(all.requests, handle);
  try {
    if (found != all.requests.end()) {
      found->second.later.push_back(pending);
    } else {
      all.requests.emplace(handle, Queue{pending, {}});
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::optional<Pending> complete_request(Handle request) noexcept {
  std::optional<Pending> completed;
  with_request(request, [&](Pending& one) {
    if (one.active && is_of_now(one)) completed = one;
    one.active = false;
    return !one.persistent;
  });
  return completed;
}

std::optional<Pending> start_request(Handle request) noexcept {
  std::optional<Pending> started;
  with_request(request, [&](Pending& one) {
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
  with_request(request, [](Pending& one) {
    one.cancelled = true;
    return false;
  });
}

std::optional<Pending> forget_request(Handle request) noexcept {
  std::optional<Pending> forgotten;
  with_request(request, [&](Pending& one) {
    if (one.active && is_of_now(one)) forgotten = one;
    return true;
  });
  return forgotten;
}

}  // namespace timeloom::mpi
