#include "preload/memory/account.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"
#include "preload/memory/block_owners.hpp"
#include "preload/memory/fixed_table.hpp"
#include "preload/memory/logged_blocks.hpp"
#include "preload/memory/mappings.hpp"
#include "preload/memory/paths_of_threads.hpp"
#include "preload/memory/pending_frees.hpp"
#include "preload/memory/sampled_distance.hpp"
#include "preload/memory/spin_lock.hpp"
#include "record/measurement.hpp"
#include "record/native/memory_file.hpp"
#include "record/native/native_call.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

using record::MemoryFile;

constexpr std::uint64_t kInterval = std::uint64_t{512} << 10;  // bytes between two sampled ones

constinit SpinLock g_lock;            // guards the tables, and additions to the file
constinit FixedTable<18> g_children;  // from a path and a region to the path inside
constinit LoggedBlocks<20, MemoryFile> g_logged;
constinit BlockOwners g_owners;  // of all blocks, where they are asked for
constinit PendingFrees g_pending_frees;
constinit Mappings g_mappings;

constinit std::atomic<std::uint64_t> g_live = 0;
constinit std::atomic<MemoryFile*> g_file = nullptr;  // nullptr: nothing is measured
constinit std::atomic<std::uint32_t> g_files = 0;     // so far
constinit std::uint64_t g_process = 0;                // that has opened it
constinit bool g_foreign = false;
// A thread may still use the file of the measurement before.
constinit MemoryFile* g_ended = nullptr;

struct Thread {
  bool inside = false;       // the account is at work on this thread
  bool lost_path = false;    // the table had no place for the path that was found last
  std::uint32_t forks = 0;   // `inside` before the forks that go on, the innermost in the last bit
  std::uint32_t file = 0;    // for which the rest was made
  std::int64_t left = 0;     // bytes until the next sampled one
  std::uint64_t random = 0;  // 0: it has drawn none
  ThreadPaths* paths = nullptr;
};
constinit thread_local Thread t_thread [[gnu::tls_model("initial-exec")]];

// The thread is inside the account, and errno is kept.
class Inside {
 public:
  explicit Inside(Thread& thread) noexcept : thread_(thread) { thread_.inside = true; }
  ~Inside() {
    thread_.inside = false;
    errno = error_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Thread& thread_;
  int error_ = errno;
};

constinit PathsOfThreads g_paths(g_lock);

// Called when the thread ends, with its object.
constinit pthread_key_t g_key{};
constinit bool g_has_key = false;
void end_thread(void* paths) noexcept {
  t_thread.paths = nullptr;
  t_thread.file = 0;
  g_paths.give_back(static_cast<ThreadPaths*>(paths));
}

// The paths of the calling thread in this file. nullptr: there is no memory.
ThreadPaths* paths_in(MemoryFile& file, Thread& thread, std::uint32_t location) noexcept {
  const std::uint32_t number = g_files.load(std::memory_order_relaxed);
  if (thread.file == number) [[likely]]
    return thread.paths;
  if (thread.paths == nullptr) {
    thread.paths = g_paths.take();
    if (thread.paths == nullptr) return nullptr;
    if (g_has_key) (void)::pthread_setspecific(g_key, thread.paths);
  }
  thread.file = number;
  const std::lock_guard lock(g_lock);
  thread.paths->begin(file.add_thread(location));
  return thread.paths;
}

std::uint32_t child_of(MemoryFile& file, std::uint32_t path, std::uint32_t region) noexcept {
  if (path == MemoryFile::kElsewhere) return path;
  const std::uint64_t key = std::uint64_t{path} << 32 | region;
  const std::lock_guard lock(g_lock);
  if (const std::uint64_t* const known = g_children.find(key)) {
    return static_cast<std::uint32_t>(*known);
  }
  const std::uint32_t added = file.add_path(path, region);
  if (added != MemoryFile::kElsewhere) (void)g_children.insert(key, added);
  return added;
}

// Of the calling thread. The open regions are read as in a native call, since others may close
// them; a thread whose recorder is at work does not.
std::uint32_t current_path(MemoryFile& file, Thread& thread, const void* caller) noexcept {
  record::ThreadRecorder& recorder = *record::t_recorder;
  if (!record::wrapping() || recorder.is_recording() || record::is_own_code(caller)) {
    return MemoryFile::kOwn;
  }
  thread.lost_path = false;
  if (!recorder.attached()) return MemoryFile::kElsewhere;
  std::uint32_t path = MemoryFile::kElsewhere;
  if (record::begin_native_call(recorder)) {
    if (ThreadPaths* const paths = paths_in(file, thread, recorder.location())) {
      path = paths->find(recorder.open_regions(), [&](std::uint32_t outer, std::uint32_t region) {
        return child_of(file, outer, region);
      });
    }
  }
  recorder.end_native_call();
  thread.lost_path = path == MemoryFile::kElsewhere;
  return path;
}

// Of a path of the calling thread, found just now.
void count_allocation(MemoryFile& file, Thread& thread, std::uint32_t path,
                      std::uint64_t bytes) noexcept {
  file.count_allocation(path, bytes);
  if (path == MemoryFile::kElsewhere && thread.lost_path) [[unlikely]]
    file.count_lost_path();
}

// The path of Python's blocks inside a path; kElsewhere: they are not counted, as no thread owns
// that path alone.
std::uint32_t python_path(MemoryFile& file, Thread& thread) noexcept {
  const std::uint32_t path = current_path(file, thread, nullptr);
  if (path == MemoryFile::kOwn || path == MemoryFile::kElsewhere) return MemoryFile::kElsewhere;
  return thread.paths->python_child(path,
                                    [&] { return child_of(file, path, MemoryFile::kPython); });
}

std::uint64_t number_of(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block);
}

bool is_sampled(Thread& thread, std::uint64_t bytes) noexcept {
  if (thread.random == 0) [[unlikely]] {
    thread.random = (os::now() ^ number_of(&thread)) | 1;
    thread.left = sampled_distance(thread.random, kInterval);
  }
  thread.left -= static_cast<std::int64_t>(bytes);
  if (thread.left >= 0) [[likely]]
    return false;
  thread.left = sampled_distance(thread.random, kInterval);
  return true;
}

// With the lock, before anything else is booked: the frees by threads that were inside.
void book_pending_frees(MemoryFile& file) noexcept {
  g_pending_frees.take([&](std::uint64_t block, std::uint64_t bytes) {
    const std::uint64_t live = g_live.load(std::memory_order_relaxed);
    const std::uint32_t owner = g_owners.take(block);
    if (owner != BlockOwners::kNone) file.release(owner, bytes);
    g_logged.remove(file, block, bytes, live);
  });
}

[[gnu::noinline]] void add_sampled(std::uint32_t path, const void* block, std::uint64_t bytes,
                                   std::uint64_t live) noexcept {
  const std::lock_guard lock(g_lock);
  MemoryFile* const file = g_file.load(std::memory_order_relaxed);
  if (file == nullptr) return;
  book_pending_frees(*file);
  g_logged.add(*file, path, number_of(block), bytes, live);
}

[[gnu::noinline]] void remove_sampled(const void* block, std::uint64_t bytes,
                                      std::uint64_t live) noexcept {
  const std::lock_guard lock(g_lock);
  MemoryFile* const file = g_file.load(std::memory_order_relaxed);
  if (file == nullptr) return;
  book_pending_frees(*file);
  g_logged.remove(*file, number_of(block), bytes, live);
}

// Of a thread that is inside: the block is released by the next thread that takes the lock. Where
// nobody may ask for its owner, nothing is left to do.
void free_inside(MemoryFile& file, const void* block, std::uint64_t bytes) noexcept {
  file.count_free(MemoryFile::kOwn, bytes);
  if (!file.holds_all() && !g_logged.may_have(number_of(block))) return;
  if (!g_pending_frees.add(number_of(block), bytes)) file.count_lost_block();
}

// Where the owner of each block is known, the bytes of the process and of its call paths change
// together, with the lock: what a path held at the peak is then exact. `change`: bytes more, modulo
// 2^64. `count` gets the path; `book` gets it with the bytes that the process holds, and has the
// lock. REQUIRES: the thread is not inside.
template <typename Count, typename Book>
void note_owned(MemoryFile& file, std::uint64_t change, const void* caller, Count count,
                Book book) noexcept {
  const Inside inside(t_thread);
  const std::uint32_t path = current_path(file, t_thread, caller);
  count(path);
  const std::lock_guard lock(g_lock);
  const std::uint64_t live = g_live.fetch_add(change, std::memory_order_relaxed) + change;
  if (g_file.load(std::memory_order_relaxed) != &file) return;  // another measurement has begun
  book_pending_frees(file);
  book(path, live);
  file.note_live(live);
}

// A handler of a signal may have interrupted a holder of the lock; its blocks belong to nobody.
void note_owned_allocation(MemoryFile& file, const void* block, std::size_t bytes,
                           const void* caller) noexcept {
  if (t_thread.inside) {
    g_live.fetch_add(bytes, std::memory_order_relaxed);
    return file.count_allocation(MemoryFile::kOwn, bytes);
  }
  bool sampled = false;
  note_owned(
      file, bytes, caller,
      [&](std::uint32_t path) {
        count_allocation(file, t_thread, path, bytes);
        sampled = file.logs_each() || is_sampled(t_thread, bytes);
      },
      [&](std::uint32_t path, std::uint64_t live) {
        if (g_owners.insert(number_of(block), path)) {
          file.hold(path, bytes);
        } else {
          file.count_lost_block();
        }
        if (sampled) [[unlikely]]
          g_logged.add(file, path, number_of(block), bytes, live);
        file.count_live(path, live);
      });
}

void note_owned_free(MemoryFile& file, const void* block, std::size_t bytes,
                     const void* caller) noexcept {
  if (t_thread.inside) {
    g_live.fetch_sub(bytes, std::memory_order_relaxed);
    return free_inside(file, block, bytes);
  }
  note_owned(
      file, 0 - bytes, caller, [&](std::uint32_t path) { file.count_free(path, bytes); },
      [&](std::uint32_t, std::uint64_t live) {
        const std::uint32_t owner = g_owners.take(number_of(block));
        if (owner != BlockOwners::kNone) file.release(owner, bytes);
        if (g_logged.may_have(number_of(block))) [[unlikely]]
          g_logged.remove(file, number_of(block), bytes, live);
      });
}

void forget_blocks() noexcept {
  g_children.clear();
  g_owners.clear();
  g_logged.clear();
  g_pending_frees.clear();
  g_mappings.forget_births(MemoryFile::kNone, MemoryFile::kElsewhere);
}

void print_no_file(int error) noexcept {
  if (error == 0) return;  // nothing is measured
  std::fprintf(stderr, "timeloom: memory is not recorded: no place for its file: %s [TL063]\n",
               std::strerror(error));
}

// A measurement has begun in this process, perhaps in the child of a fork.
void begin() noexcept {
  if (g_process == os::process_id() && g_file != nullptr) return;
  const bool forked = g_process != 0 && g_process != os::process_id();
  if (g_process != os::process_id()) new (&g_lock) SpinLock;  // a thread of the parent may have it
  delete std::exchange(g_ended, nullptr);
  delete g_file.exchange(nullptr);
  g_process = os::process_id();
  int error = 0;
  std::unique_ptr<MemoryFile> file = MemoryFile::open(kInterval, forked, error);
  if (file == nullptr) return print_no_file(error);
  if (g_foreign) file->note_foreign_allocator();
  if (record::knows_all_blocks() && !file->hold_all(record::records_allocations())) {
    file->count_lost_block();
  }
  const std::lock_guard lock(g_lock);
  forget_blocks();
  g_files.fetch_add(1);
  file->start(g_live);
  g_file = file.release();
}

void end() noexcept {
  if (g_process != os::process_id()) return;
  const std::lock_guard lock(g_lock);
  g_ended = g_file.exchange(nullptr);
  if (g_ended == nullptr) return;
  book_pending_frees(*g_ended);
  g_ended->end(g_live);
}

void switch_account(bool on) noexcept {
  Thread& thread = t_thread;
  const bool inside = thread.inside;
  {
    const Inside here(thread);
    on ? begin() : end();
  }
  thread.inside = inside;
}

// A handler of a signal that has interrupted the account may fork, too.
void enter_fork() {
  t_thread.forks = t_thread.forks << 1 | static_cast<std::uint32_t>(t_thread.inside);
  t_thread.inside = true;
}
void leave_fork() {
  t_thread.inside = (t_thread.forks & 1) != 0;
  t_thread.forks >>= 1;
}

// The child must not write to the file of its parent. It has its own by then, where its measurement
// has begun already.
void forget_in_child() {
  if (g_process != os::process_id()) {
    new (&g_lock) SpinLock;
    g_file = nullptr;  // its mapping is left as it is
  }
  leave_fork();
}

[[gnu::constructor]] void begin_account() noexcept {
  g_has_key = ::pthread_key_create(&g_key, end_thread) == 0;
  os::at_fork(enter_fork, leave_fork, forget_in_child);
  record::on_switch_of_wrapping(switch_account);
}

}  // namespace

void note_foreign_allocator() noexcept { g_foreign = true; }

void note_allocation(const void* block, std::size_t bytes, const void* caller) noexcept {
  MemoryFile* const file = g_file.load(std::memory_order_acquire);
  if (file != nullptr && file->holds_all()) {
    return note_owned_allocation(*file, block, bytes, caller);
  }
  const std::uint64_t live = g_live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (file == nullptr) return;
  Thread& thread = t_thread;
  if (thread.inside) return file->count_allocation(MemoryFile::kOwn, bytes);
  const Inside inside(thread);
  const std::uint32_t path = current_path(*file, thread, caller);
  count_allocation(*file, thread, path, bytes);
  if (is_sampled(thread, bytes)) [[unlikely]]
    add_sampled(path, block, bytes, live);
  file->count_live(path, live);
}

void note_free(const void* block, std::size_t bytes, const void* caller) noexcept {
  MemoryFile* const file = g_file.load(std::memory_order_acquire);
  if (file != nullptr && file->holds_all()) return note_owned_free(*file, block, bytes, caller);
  const std::uint64_t live = g_live.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
  if (file == nullptr) return;
  Thread& thread = t_thread;
  if (thread.inside) return free_inside(*file, block, bytes);
  const Inside inside(thread);
  file->count_free(current_path(*file, thread, caller), bytes);
  if (g_logged.may_have(number_of(block))) [[unlikely]]
    remove_sampled(block, bytes, live);
}

void note_python_allocation(std::size_t bytes) noexcept {
  MemoryFile* const file = g_file.load(std::memory_order_acquire);
  Thread& thread = t_thread;
  if (file == nullptr || thread.inside) return;
  const Inside inside(thread);
  const std::uint32_t path = python_path(*file, thread);
  if (path != MemoryFile::kElsewhere) file->count_allocation(path, bytes);
}

void note_python_free() noexcept {
  MemoryFile* const file = g_file.load(std::memory_order_acquire);
  Thread& thread = t_thread;
  if (file == nullptr || thread.inside) return;
  const Inside inside(thread);
  const std::uint32_t path = python_path(*file, thread);
  if (path != MemoryFile::kElsewhere) file->count_free(path, 0);
}

void note_mapped(const void* begin, std::size_t bytes, const void* caller) noexcept {
  Thread& thread = t_thread;
  if (thread.inside) return;
  const Inside inside(thread);
  MemoryFile* file = g_file.load(std::memory_order_acquire);
  const std::uint32_t path =
      file == nullptr ? MemoryFile::kElsewhere : current_path(*file, thread, caller);
  const std::lock_guard lock(g_lock);
  file = g_file.load(std::memory_order_relaxed);
  if (g_mappings.is_full()) {
    if (file != nullptr) file->count_lost_block();
    return;
  }
  const std::uint64_t live = g_live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const std::uint64_t birth =
      file == nullptr ? MemoryFile::kNone : file->add_birth(path, bytes, live, true);
  const bool held = file != nullptr && file->holds_all();
  g_mappings.add({number_of(begin), number_of(begin) + bytes, birth, path, held});
  if (file == nullptr) return;
  if (held) file->hold(path, bytes);
  count_allocation(*file, thread, path, bytes);
  file->count_live(path, live);
}

namespace {

// A part of a range that stays.
void keep(MemoryFile* file, MappedRange range, std::uint64_t live) noexcept {
  if (range.begin >= range.end) return;
  range.held = range.held && file != nullptr && !g_mappings.is_full();
  if (range.held) file->hold(range.path, range.end - range.begin);
  if (file != nullptr && range.birth != MemoryFile::kNone) {
    range.birth = file->add_birth(range.path, range.end - range.begin, live, true);
  }
  if (!g_mappings.is_full()) g_mappings.add(range);
}

}  // namespace

bool note_unmapped(const void* begin, std::size_t bytes, const void* caller) noexcept {
  Thread& thread = t_thread;
  if (thread.inside) return false;
  const Inside inside(thread);
  const std::uintptr_t first = number_of(begin), last = first + bytes;
  std::uint64_t gone = 0;
  MemoryFile* file = nullptr;
  {
    const std::lock_guard lock(g_lock);
    file = g_file.load(std::memory_order_acquire);
    for (MappedRange range{}; g_mappings.take(first, last, range);) {
      const std::uint64_t part = std::min(range.end, last) - std::max(range.begin, first);
      const std::uint64_t live = g_live.fetch_sub(part, std::memory_order_relaxed) - part;
      gone += part;
      if (file != nullptr) file->add_death(range.birth, range.end - range.begin, live);
      if (file != nullptr && range.held) file->release(range.path, range.end - range.begin);
      keep(file, {range.begin, first, range.birth, range.path, range.held}, live);
      keep(file, {last, range.end, range.birth, range.path, range.held}, live);
    }
  }
  if (gone != 0 && file != nullptr) file->count_free(current_path(*file, thread, caller), gone);
  return gone != 0;
}

}  // namespace timeloom::preload
