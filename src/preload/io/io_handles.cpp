#include "preload/io/io_handles.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "preload/common/next_function.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

// The number of a measurement, followed by the handle.
constexpr unsigned kNumberShift = 32;
using Slot = std::atomic<std::uint64_t>;

struct Entry {
  Slot descriptor;
  Slot stream;
};

// Pages are mapped at the first use of a descriptor in them, and kept.
constexpr unsigned kPageEntries = 1024;
constexpr unsigned kPages = 4096;
struct Page {
  std::array<Entry, kPageEntries> entries;
};
constinit std::array<std::atomic<Page*>, kPages> g_pages{};

Page* make_page(std::atomic<Page*>& slot) noexcept {
  void* const memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Page* expected = nullptr;
  if (slot.compare_exchange_strong(expected, static_cast<Page*>(memory))) {
    return static_cast<Page*>(memory);
  }
  ::munmap(memory, sizeof(Page));  // another thread was faster
  return expected;
}

// nullptr: there is none yet, or no memory for it.
Entry* entry_of(int descriptor, bool make) noexcept {
  const auto index = static_cast<unsigned>(descriptor);
  if (descriptor < 0 || index >= kPages * kPageEntries) return nullptr;
  std::atomic<Page*>& slot = g_pages[index / kPageEntries];
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr && make) page = make_page(slot);
  return page == nullptr ? nullptr : &page->entries[index % kPageEntries];
}

IoHandleId id_of(std::uint64_t value) noexcept {
  if (value >> kNumberShift != record::measurement_number()) return {};
  return IoHandleId{static_cast<std::uint32_t>(value)};
}

std::uint64_t value_of(IoHandleId handle) noexcept {
  return std::uint64_t{record::measurement_number()} << kNumberShift | handle.value();
}

// The kernel's name of the descriptor's target: an absolute path, or "pipe:[123]".
std::string target_of(int descriptor) {
  std::array<char, 32> link{"/proc/thread-self/fd/"};  // the main thread may have ended
  const std::size_t length = std::string_view(link.data()).size();
  *std::to_chars(link.data() + length, link.data() + link.size() - 1, descriptor).ptr = '\0';
  std::array<char, 4096> target;
  const ssize_t size = ::readlink(link.data(), target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

constinit Next<int(int, int, ...)> next_fcntl{"fcntl"};

// A handle that existed before has the state of its descriptor.
IoHandle describe(int descriptor, IoParadigm paradigm, IoHandleId parent, bool pre_created) {
  IoHandle handle;
  std::string target = target_of(descriptor);
  (target.starts_with('/') ? handle.file : handle.name) = std::move(target);
  handle.paradigm = paradigm;
  handle.parent = parent;
  handle.pre_created = pre_created;
  if (!pre_created) return handle;
  constexpr std::array kStandard = {"STDIN_FILENO", "STDOUT_FILENO", "STDERR_FILENO"};
  constexpr std::array kStreams = {"stdin", "stdout", "stderr"};
  if (static_cast<unsigned>(descriptor) < kStandard.size()) {
    const auto index = static_cast<std::size_t>(descriptor);
    handle.name = paradigm == IoParadigm::kPosix ? kStandard[index] : kStreams[index];
  }
  const int flags = next_fcntl(descriptor, F_GETFL);
  if (flags >= 0) handle.access = static_cast<std::uint8_t>(access_of(flags));
  if (flags >= 0) handle.status = status_of(flags);
  return handle;
}

IoHandleId define(Slot& slot, int descriptor, IoParadigm paradigm, IoHandleId parent,
                  bool pre_created) noexcept try {
  const IoHandleId id =
      record::define_io_handle(describe(descriptor, paradigm, parent, pre_created));
  if (id.defined()) slot.store(value_of(id), std::memory_order_relaxed);
  return id;
} catch (const std::bad_alloc&) {
  return {};
}

IoHandleId known_or_new(Slot& slot, int descriptor, IoParadigm paradigm) noexcept {
  const IoHandleId known = id_of(slot.load(std::memory_order_relaxed));
  return known.defined() ? known : define(slot, descriptor, paradigm, {}, true);
}

std::uint32_t bits_of(int flags, std::initializer_list<std::pair<int, std::uint32_t>> meanings) {
  std::uint32_t bits = 0;
  for (const auto& [flag, bit] : meanings) {
    if (flag != 0 && (flags & flag) == flag) bits |= bit;
  }
  return bits;
}

IoWhence whence_of(int whence) noexcept {
  switch (whence) {
    case SEEK_CUR: return IoWhence::kCurrent;
    case SEEK_END: return IoWhence::kEnd;
    case SEEK_DATA: return IoWhence::kData;
    case SEEK_HOLE: return IoWhence::kHole;
    default: return IoWhence::kStart;
  }
}

template <typename Bit>
constexpr std::uint32_t bit(Bit one) noexcept {
  return static_cast<std::uint32_t>(one);
}

}  // namespace

IoHandleId handle_of(int descriptor) noexcept {
  Entry* const entry = entry_of(descriptor, true);
  if (entry == nullptr) return {};
  return known_or_new(entry->descriptor, descriptor, IoParadigm::kPosix);
}

IoHandleId stream_of(int descriptor) noexcept {
  Entry* const entry = entry_of(descriptor, true);
  return entry == nullptr ? IoHandleId{}
                          : known_or_new(entry->stream, descriptor, IoParadigm::kIsoC);
}

ClosedHandles take_handles(int descriptor) noexcept {
  Entry* const entry = entry_of(descriptor, false);
  if (entry == nullptr) return {};
  const IoHandleId own = id_of(entry->descriptor.exchange(0, std::memory_order_relaxed));
  return {own, id_of(entry->stream.exchange(0, std::memory_order_relaxed))};
}

void destroy_handles(int descriptor, const void* caller) noexcept {
  if (!record::in_measured_process()) return;
  const ClosedHandles closed = take_handles(descriptor);
  record::WrapperScope scope(caller);
  if (scope.wanted()) put_destroyed(scope, closed);
}

void forget_handles(unsigned first, unsigned last) noexcept {
  last = std::min(last, kPages * kPageEntries - 1);
  for (unsigned next = first; next <= last; ++next) {
    if (next % kPageEntries == 0 && g_pages[next / kPageEntries] == nullptr) {
      next += kPageEntries - 1;  // this page is empty
    } else {
      (void)take_handles(static_cast<int>(next));
    }
  }
}

void put_destroyed(record::WrapperScope& scope, const ClosedHandles& closed) noexcept {
  for (const IoHandleId handle : {closed.descriptor, closed.stream}) {
    if (handle.defined()) scope.put(ExtendedKind::kIoDestroy, {handle.value()});
  }
}

void put_seek(record::WrapperScope& scope, IoHandleId handle, const Seek& seek) noexcept {
  if (!handle.defined()) return;
  scope.put(ExtendedKind::kIoSeek,
            {io_word(handle.value(), static_cast<std::uint32_t>(whence_of(seek.whence))),
             static_cast<std::uint64_t>(seek.asked), static_cast<std::uint64_t>(seek.reached)});
}

IoHandleId new_handle(int descriptor, IoHandleId parent) noexcept {
  Entry* const entry = entry_of(descriptor, true);
  if (entry == nullptr) return {};
  return define(entry->descriptor, descriptor, IoParadigm::kPosix, parent, false);
}

IoHandleId new_stream(int descriptor) noexcept {
  Entry* const entry = entry_of(descriptor, true);
  return entry == nullptr ? IoHandleId{}
                          : define(entry->stream, descriptor, IoParadigm::kIsoC, {}, false);
}

IoAccess access_of(int flags) noexcept {
  switch (flags & O_ACCMODE) {
    case O_WRONLY: return IoAccess::kWriteOnly;
    case O_RDWR: return IoAccess::kReadWrite;
    default: return IoAccess::kReadOnly;
  }
}

std::uint32_t creation_of(int flags) noexcept {
  // O_TMPFILE includes the bit of O_DIRECTORY.
  const bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
  return bits_of(flags, {{O_CREAT, bit(IoCreation::kCreate)},
                         {O_TRUNC, bit(IoCreation::kTruncate)},
                         {temporary ? 0 : O_DIRECTORY, bit(IoCreation::kDirectory)},
                         {O_EXCL, bit(IoCreation::kExclusive)},
                         {O_NOCTTY, bit(IoCreation::kNoControllingTerminal)},
                         {O_NOFOLLOW, bit(IoCreation::kNoFollow)},
                         {O_PATH, bit(IoCreation::kPath)},
                         {O_TMPFILE, bit(IoCreation::kTemporary)}});
}

std::uint32_t status_of(int flags) noexcept {
  // O_SYNC includes the bit of O_DSYNC.
  const bool all = (flags & O_SYNC) == O_SYNC;
  return bits_of(flags, {{O_CLOEXEC, bit(IoStatus::kCloseOnExec)},
                         {O_APPEND, bit(IoStatus::kAppend)},
                         {O_NONBLOCK, bit(IoStatus::kNonBlocking)},
                         {O_ASYNC, bit(IoStatus::kAsync)},
                         {O_SYNC, bit(IoStatus::kSync)},
                         {all ? 0 : O_DSYNC, bit(IoStatus::kDataSync)},
                         {O_DIRECT, bit(IoStatus::kAvoidCaching)},
                         {O_NOATIME, bit(IoStatus::kNoAccessTime)}});
}

int flags_of_mode(const char* mode) noexcept {
  const std::string_view text = mode == nullptr ? "" : mode;
  const bool both = text.find('+') != std::string_view::npos;
  int flags = both ? O_RDWR : text.starts_with('r') ? O_RDONLY : O_WRONLY;
  if (text.starts_with('w')) flags |= O_CREAT | O_TRUNC;
  if (text.starts_with('a')) flags |= O_CREAT | O_APPEND;
  if (text.find('x') != std::string_view::npos) flags |= O_EXCL;
  if (text.find('e') != std::string_view::npos) flags |= O_CLOEXEC;
  return flags;
}

}  // namespace timeloom::preload
