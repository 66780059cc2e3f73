#include "python/observe/locks/lock_recording.hpp"

#include <unistd.h>

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/observe/locks/lock_methods.hpp"
#include "python/observe/locks/lock_places.hpp"
#include "python/observe/wakeup_events.hpp"
#include "python/session/diverted_method.hpp"
#include "record/locks/lock_account.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

using record::LockAccount;
using record::LockKind;

struct LockRecording {
  std::unique_ptr<LockAccount> account;
  std::unique_ptr<LockPlaces> places;
  record::PointerMap<LockPlaces::Making> unused_semlocks;  // made, and not taken yet
  std::uint32_t number = 0;                                // of the account in this process
};
// Never destroyed: exit() of C runs destructors while threads still take locks.
LockRecording& g_locks = *new LockRecording;

bool is_current(std::uint32_t number) noexcept {
  return g_locks.account != nullptr && g_locks.number == number;
}

// The calling thread in the account of this number.
struct ThreadInAccount {
  std::uint32_t number = 0;
  LockAccount::ThreadId id = LockAccount::kNone;
};
constinit thread_local ThreadInAccount t_known;

// Marks the end of its thread, whatever has become of the measurement. The child of a fork has a
// copy, which is the parent's.
struct ThreadEntry {
  std::shared_ptr<record::LockFile> file;
  LockAccount::ThreadId id = LockAccount::kNone;
  pid_t process = 0;
  ~ThreadEntry() {
    if (file != nullptr && id != LockAccount::kNone && process == ::getpid()) {
      file->thread(id).ended = 1;
    }
  }
};
thread_local ThreadEntry t_entry;

std::uint32_t location_of_thread() noexcept {
  const record::ThreadRecorder* const recorder =
      record::t_recorder->attached() ? record::t_recorder : record::attach_this_thread();
  return recorder != nullptr && recorder->attached() ? recorder->location() : record::kNoLocation;
}

void enter_thread(LockAccount::ThreadId id) {
  t_known.id = id;
  t_entry.file = g_locks.account->file();
  t_entry.id = id;
  t_entry.process = ::getpid();
}

// Naming a thread may run code of the program, which takes locks; the measurement may end
// meanwhile.
LockAccount::ThreadId new_thread() {
  const std::uint32_t number = g_locks.number;
  t_known = {number, LockAccount::kNone};
  const std::uint32_t location = location_of_thread();
  if (!is_current(number)) return LockAccount::kNone;
  enter_thread(g_locks.account->add_thread(location));
  return t_known.id;
}

LockAccount::ThreadId this_thread() {
  return t_known.number == g_locks.number ? t_known.id : new_thread();
}

// The same of a thread that is about to wait, which has a name in the run if it is recorded by now.
LockAccount::ThreadId named_thread() {
  const std::uint32_t number = g_locks.number;
  const LockAccount::ThreadId id = this_thread();
  if (id == LockAccount::kNone || !is_current(number)) return LockAccount::kNone;
  if (g_locks.account->file()->thread(id).location != record::kNoLocation) return id;
  const std::uint32_t location = location_of_thread();
  if (!is_current(number)) return LockAccount::kNone;
  g_locks.account->file()->thread(id).location = location;
  return id;
}

long attribute_of(PyObject* object, const char* name) noexcept {
  const Ref value(PyObject_GetAttrString(object, name));
  const long number = value ? PyLong_AsLong(value.get()) : -1;
  PyErr_Clear();
  return number;
}

struct LockNature {
  LockKind kind;
  bool recursive;
};

LockNature nature_of(LockType type, PyObject* lock, bool waits) noexcept {
  switch (type) {
    case LockType::kLock: return {waits ? LockKind::kCondition : LockKind::kLock, false};
    case LockType::kRLock: return {LockKind::kRLock, true};
    case LockType::kSemLock: {
      if (attribute_of(lock, "kind") == 0) return {LockKind::kSemLock, true};
      const bool single = attribute_of(lock, "maxvalue") == 1;
      return {single ? LockKind::kSemLock : LockKind::kSemaphore, false};
    }
  }
  return {LockKind::kLock, false};
}

// The lock may be known by another one at its address whose end was not seen.
void add_made(LockType type, PyObject* lock, const LockPlaces::Making& making, bool unmade) {
  LockAccount& account = *g_locks.account;
  if (making.place == LockAccount::kNone || making.hidden) return;
  const LockNature nature = nature_of(type, lock, making.waits);
  const LockAccount::SiteId site = account.site(making.place, making.maker, nature.kind, unmade);
  account.add(lock, site, nature.kind, nature.recursive);
}

// nullptr: it is none of the program's.
LockAccount::Lock* lock_of(LockType type, PyObject* lock) {
  if (LockAccount::Lock* const known = g_locks.account->find(lock)) return known;
  if (const LockPlaces::Making* const made = g_locks.unused_semlocks.find(lock)) {
    add_made(type, lock, *made, false);
    g_locks.unused_semlocks.erase(lock);
  } else {
    LockPlaces::Making making = g_locks.places->making();
    making.maker = 0;
    making.waits = false;
    add_made(type, lock, making, true);
  }
  return g_locks.account->find(lock);
}

// Counts a record that finds no memory. Not noexcept: see LockListener.
template <typename Function>
void without_exceptions(Function function) {
  try {
    function();
  } catch (const std::exception&) {
    if (g_locks.account != nullptr) g_locks.account->file()->header().lost.fetch_add(1);
  }
}

void note_made(LockType type, PyObject* lock) noexcept {
  without_exceptions([&] {
    g_locks.account->forget(lock);
    g_locks.unused_semlocks.erase(lock);
    const LockPlaces::Making making = g_locks.places->making();
    if (type == LockType::kSemLock) {
      g_locks.unused_semlocks.insert(lock, 0, making);  // it has no values yet
    } else {
      add_made(type, lock, making, false);
    }
  });
}

void note_destroyed(PyObject* lock) noexcept {
  g_locks.account->forget(lock);
  g_locks.unused_semlocks.erase(lock);
}

void note_taken(LockType type, PyObject* lock, std::uint32_t times) {
  without_exceptions([&] {
    const std::uint32_t number = g_locks.number;
    const LockAccount::ThreadId thread = this_thread();
    if (!is_current(number)) return;
    LockAccount::Lock* const known = lock_of(type, lock);
    if (known == nullptr) return;
    if (known->recursive && known->depth > 0 && known->owner == thread) {
      known->depth += times;
      return;
    }
    g_locks.account->taken(*known, thread, g_locks.places->here(), os::now(), times);
  });
}

void note_released(PyObject* lock, bool entirely) noexcept {
  LockAccount::Lock* const known = g_locks.account->find(lock);
  if (known == nullptr) return;
  const LockAccount::ThreadId thread =
      t_known.number == g_locks.number ? t_known.id : LockAccount::kNone;
  if (g_locks.account->released(*known, thread, os::now(), entirely)) {
    known->wakeup = record_wakeup();
  }
}

void note_refused(LockType type, PyObject* lock) noexcept {
  without_exceptions([&] {
    if (LockAccount::Lock* const known = lock_of(type, lock)) g_locks.account->refused(*known);
  });
}

void note_reset(PyObject* lock) noexcept {
  if (LockAccount::Lock* const known = g_locks.account->find(lock))
    g_locks.account->reset(*known, os::now());
}

bool is_taken_by_other(PyObject* lock) noexcept {
  const LockAccount::Lock* const known = g_locks.account->find(lock);
  return known != nullptr && known->depth > 0 &&
         (t_known.number != g_locks.number || known->owner != t_known.id);
}

struct LockWaiting {
  std::uint32_t number = 0;  // of the account; 0: none
  LockAccount::Waiting waiting{};
};
static_assert(sizeof(LockWaiting) <= kWaitingSize);

void note_wait_begins(LockType type, PyObject* lock, void* place) {
  auto* const wait = new (place) LockWaiting;
  without_exceptions([&] {
    const std::uint32_t number = g_locks.number;
    const LockAccount::ThreadId thread = named_thread();
    if (!is_current(number)) return;
    LockAccount::Lock* const known = lock_of(type, lock);
    if (known == nullptr) return;
    wait->waiting = g_locks.account->wait_begins(*known, thread, g_locks.places->here(), os::now());
    wait->number = g_locks.number;
  });
}

void note_wait_ends(PyObject* lock, void* place, bool acquired) noexcept {
  const auto& wait = *static_cast<LockWaiting*>(place);
  if (wait.number == 0 || wait.number != g_locks.number || g_locks.account == nullptr) return;
  without_exceptions([&] {
    LockAccount::Lock* const known = g_locks.account->find(lock);
    if (known == nullptr) return;
    g_locks.account->wait_ends(*known, wait.waiting, os::now());
    if (acquired) record_woken(std::exchange(known->wakeup, 0));
  });
}

constexpr LockListener kLockListener = {note_made,         note_destroyed,   note_taken,
                                        note_released,     note_refused,     note_reset,
                                        is_taken_by_other, note_wait_begins, note_wait_ends};

void divert_type_of(LockType type, PyObject* module, const char* name) noexcept {
  const Ref found(PyObject_GetAttrString(module, name));
  PyErr_Clear();
  if (!found || !PyType_Check(found.get())) return;
  divert_lock_methods(type, reinterpret_cast<PyTypeObject*>(found.get()), kLockListener);
}

// A module that the interpreter has loaded (borrowed); nullptr: it has not.
PyObject* loaded_module(const char* name) noexcept {
  PyObject* const modules = PyImport_GetModuleDict();
  return modules == nullptr ? nullptr : PyDict_GetItemString(modules, name);
}

using ExecModule = PyObject* (*)(PyObject*, PyObject*);
Diverted<ExecModule> g_exec_dynamic, g_exec_builtin;

// _imp.exec_dynamic() and exec_builtin() fill a module of C that is imported.
PyObject* exec_c_module(ExecModule original, PyObject* self, PyObject* module) {
  PyObject* const result = original(self, module);
  if (result == nullptr || g_locks.account == nullptr || !in_main_interpreter()) return result;
  if (module == loaded_module("_multiprocessing"))
    divert_type_of(LockType::kSemLock, module, "SemLock");
  return result;
}
PyObject* exec_dynamic(PyObject* self, PyObject* module) {
  return exec_c_module(g_exec_dynamic.original, self, module);
}
PyObject* exec_builtin(PyObject* self, PyObject* module) {
  return exec_c_module(g_exec_builtin.original, self, module);
}

void divert_all() noexcept {
  if (PyObject* const threads = loaded_module("_thread")) {
    divert_type_of(LockType::kLock, threads, "LockType");
    divert_type_of(LockType::kRLock, threads, "RLock");
  }
  if (PyObject* const processes = loaded_module("_multiprocessing")) {
    divert_type_of(LockType::kSemLock, processes, "SemLock");
  } else if (PyObject* const imports = loaded_module("_imp")) {
    divert(imports, "exec_dynamic", METH_O, &exec_dynamic, g_exec_dynamic);
    divert(imports, "exec_builtin", METH_O, &exec_builtin, g_exec_builtin);
  }
}

void restore_all() noexcept {
  restore_lock_methods();
  put_back(g_exec_dynamic, &exec_dynamic);
  put_back(g_exec_builtin, &exec_builtin);
}

}  // namespace

void watch_locks() noexcept try {
  const ErrorGuard guard;
  if (!kHasGil) return print_line("locks are not recorded: this Python has no GIL [TL150]");
  if (g_locks.account != nullptr) return;
  std::unique_ptr<LockAccount> account = LockAccount::begin();
  if (account == nullptr) {
    return print_line("locks are not recorded: the run has no space for their file [TL151]");
  }
  g_locks.places = std::make_unique<LockPlaces>(*account);
  g_locks.account = std::move(account);
  ++g_locks.number;
  divert_all();
} catch (const std::exception&) {
  forget_locks();
}

void unwatch_locks() noexcept {
  if (g_locks.account == nullptr) return;
  g_locks.account->end();
  forget_locks();
}

void watch_locks_in_child() noexcept try {
  if (g_locks.account == nullptr) return;
  const ErrorGuard guard;
  const LockAccount::ThreadId thread =
      t_known.number == g_locks.number ? t_known.id : LockAccount::kNone;
  std::unique_ptr<LockAccount> account = LockAccount::continue_in_child(*g_locks.account, thread);
  if (account == nullptr) return forget_locks();
  g_locks.account = std::move(account);
  g_locks.places->use(*g_locks.account);
  t_known.number = ++g_locks.number;
  enter_thread(0);
  g_locks.account->file()->thread(0).location = location_of_thread();
} catch (const std::exception&) {
  forget_locks();
}

void forget_locks() noexcept {
  restore_all();
  t_entry.file.reset();
  ++g_locks.number;
  g_locks.account.reset();
  g_locks.places.reset();
  g_locks.unused_semlocks = {};
}

}  // namespace timeloom::python
