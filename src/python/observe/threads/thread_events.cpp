#include "python/observe/threads/thread_events.hpp"

#include <new>
#include <set>
#include <unordered_map>

#include "python/observe/regions/watched.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// The number of a Thread object since its start. An object that starts takes
// the place of one that died at the same address, and only one that lives is
// waited for.
std::unordered_map<const PyObject*, std::uint64_t>& numbers() {
  static auto* const kInstance = new std::unordered_map<const PyObject*, std::uint64_t>;
  return *kInstance;
}

void record_thread_number(ExtendedKind kind, std::uint64_t number) noexcept {
  if (record::recording()) record::t_recorder->extended(kind, {&number, 1});
}

void on_thread_start(InterpreterFrame* frame, bool) noexcept {
  const PyObject* thread = local_of(frame, 0);
  const std::uint64_t number = record::next_creation_number();
  try {
    numbers()[thread] = number;
  } catch (const std::bad_alloc&) {
    return;  // nobody will know who started it
  }
  record_thread_number(ExtendedKind::kCreate, number);
}

// The wait ends with the region, so there has to be one.
void on_join(InterpreterFrame* frame, bool recorded) noexcept {
  const auto known = numbers().find(local_of(frame, 0));
  if (recorded && known != numbers().end())
    record_thread_number(ExtendedKind::kWait, known->second);
}

}  // namespace

void watch_threads() {
  watch_function("threading.Thread.start", on_thread_start);
  watch_function("threading.Thread.join", on_join);
}

void note_begin_of(PyObject* thread, std::uint32_t location) noexcept {
  const auto known = numbers().find(thread);
  if (known != numbers().end()) record::note_creation(location, known->second);
}

// The thread's state goes before join() returns, on every version.
void end_threads() noexcept try {
  std::set<std::uintptr_t> running;
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) running.insert(thread->thread_id);
  record::end_interpreted_threads_but(running);
} catch (const std::bad_alloc&) {
  return;  // they end when the system ends them
}

}  // namespace timeloom::python
