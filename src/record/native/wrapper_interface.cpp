#include "record/native/wrapper_interface.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "os/process.hpp"
#include "record/measurement_state.hpp"
#include "record/region_state.hpp"

namespace timeloom::record {

constinit std::atomic<bool> detail::g_wrapping = false;
constinit std::atomic<int> detail::g_own_descriptor = -1;
constinit std::atomic<std::uint64_t> detail::g_least_lock = kNoLocks;

namespace {

// The code of the recorder, of the wrappers and of the Python extension.
struct CodeRange {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
};
constinit std::array<CodeRange, 16>
    g_own_code;  // at most: the recorder, its wrappers, Kokkos and GPU

struct Found {
  std::uintptr_t inside;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// A callback of dl_iterate_phdr(); 1 ends the search.
int find_segment(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto& found = *static_cast<Found*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    if (found.inside < begin || found.inside >= begin + header.p_memsz) continue;
    found.begin = begin;
    found.end = begin + header.p_memsz;
    return 1;
  }
  return 0;
}

[[gnu::constructor(200)]] void add_recorder() noexcept {
  add_own_code(reinterpret_cast<const void*>(&find_segment));
}

Region region_of(const WrappedFunction& function) {
  Region region;
  region.name = region.canonical_name = function.name;
  region.file = function.file;
  region.group = function.group;
  region.paradigm = function.paradigm;
  region.role = function.role;
  return region;
}

// The enter word of the function; 0: there is no memory for it.
EventWord word_of(WrappedFunction& function) noexcept try {
  const EventWord known = known_word(function.state, measurement_number());
  if (known != 0) [[likely]]
    return known;
  define_in(function.state, region_of(function));
  return known_word(function.state, measurement_number());
} catch (const std::exception&) {
  return 0;
}

}  // namespace

bool is_own_code(const void* inside) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(inside);
  for (const CodeRange& range : g_own_code) {
    if (range.begin == 0) return false;
    if (address >= range.begin && address < range.end) return true;
  }
  return false;
}

void add_own_code(const void* inside) noexcept {
  Found found{reinterpret_cast<std::uintptr_t>(inside)};
  if (::dl_iterate_phdr(find_segment, &found) == 0 || is_own_code(inside)) return;
  for (CodeRange& range : g_own_code) {
    if (range.begin != 0) continue;
    range.end = found.end;
    range.begin = found.begin;
    return;
  }
}

void set_own_descriptor(int descriptor) noexcept { detail::g_own_descriptor = descriptor; }

namespace {
using OnSwitch = void (*)(bool on) noexcept;
constinit std::array<std::atomic<OnSwitch>, 4> g_on_switch_of_wrapping{};

void call_on_switch(bool on) noexcept {
  for (const auto& function : g_on_switch_of_wrapping) {
    if (const OnSwitch present = function.load()) present(on);
  }
}
}  // namespace

void set_wrapping(bool on) noexcept {
  if (!on) call_on_switch(false);
  detail::g_wrapping = on;
  if (on) call_on_switch(true);
}

void on_switch_of_wrapping(void (*function)(bool on) noexcept) noexcept {
  for (auto& place : g_on_switch_of_wrapping) {
    OnSwitch none = nullptr;
    if (place.compare_exchange_strong(none, function)) break;
  }
  if (wrapping()) function(true);
}

namespace {
constinit std::atomic<bool> g_mpi_on_threads = false;
}  // namespace

void note_mpi_on_threads() noexcept { g_mpi_on_threads = true; }
bool has_mpi_on_threads() noexcept { return g_mpi_on_threads; }

namespace {
constinit std::atomic<bool> g_all_blocks = false;
}  // namespace

void know_all_blocks(bool all) noexcept { g_all_blocks = all; }
bool knows_all_blocks() noexcept { return g_all_blocks; }

namespace {
constinit std::atomic<bool> g_allocations = false;
}  // namespace

void record_allocations(bool on) noexcept { g_allocations = on; }
bool records_allocations() noexcept { return g_allocations; }

void define(WrappedFunction& function) noexcept { (void)word_of(function); }

void record_locks(std::uint64_t least_ns) noexcept { detail::g_least_lock = least_ns; }

void use_signal_stack(std::span<const std::byte> stack) noexcept {
  if (t_recorder->attached()) t_recorder->use_signal_stack(stack);
}

bool in_measured_process() noexcept { return os::process_id() == measured_process(); }

// The child comes first; the thread goes on when that has ended or runs another program.
bool in_child_of_vfork() noexcept {
  if (!t_recorder->attached()) return !in_measured_process();
  if (!t_recorder->vforked()) [[likely]]
    return false;
  if (!in_measured_process()) return true;
  t_recorder->set_vforked(false);
  return false;
}

void note_vfork() noexcept {
  if (t_recorder->in_native_call()) return;
  const NativeCall call;
  if (call.recorder() != nullptr) call.recorder()->set_vforked(true);
}

WrapperScope::WrapperScope(const void* caller) noexcept : error_(errno) {
  if (!recording()) return;
  if (t_recorder->vforked() && in_child_of_vfork()) return;
  if (is_own_code(caller)) return;
  // A handler of a signal may have interrupted the recorder of its thread anywhere.
  const ThreadRecorder& present = *t_recorder;
  if (present.in_native_call() || present.on_signal_stack(__builtin_frame_address(0))) return;
  call_.emplace();
  recorder_ = call_->recorder();
  now_ = os::now();
}

WrapperScope::WrapperScope(const void* caller, std::uint64_t began) noexcept
    : WrapperScope(caller) {
  // Recording may have been switched meanwhile, and no record lies before the last one.
  const bool first = recorder_ == nullptr || recorder_->events() == 0;
  if (recorder_ != nullptr) now_ = first ? began : std::max(began, recorder_->last_ticks());
}

WrapperScope::WrapperScope(Anywhere, const void* caller, std::uint64_t began) noexcept
    : error_(errno) {
  if (!recording()) return;
  const ThreadRecorder& present = *t_recorder;
  if (!present.attached() || present.in_native_call()) return;
  if (present.vforked() && in_child_of_vfork()) return;
  if (present.on_signal_stack(__builtin_frame_address(0))) return;
  if (state().mutex.is_mine() || is_own_code(caller)) return;
  call_.emplace(kAtOnce);
  recorder_ = call_->recorder();
  if (recorder_ == nullptr) return;
  const bool first = recorder_->events() == 0;
  now_ = first ? began : std::max(began, recorder_->last_ticks());
}

WrapperScope::WrapperScope(Again) noexcept : error_(errno) {
  if (t_recorder->in_native_call()) return;
  call_.emplace();
  recorder_ = call_->recorder();
  now_ = os::now();
}

WrapperScope::WrapperScope(Again, std::uint32_t measurement) noexcept : WrapperScope(kAgain) {
  if (measurement != measurement_number()) recorder_ = nullptr;
}

WrapperScope::~WrapperScope() {
  call_.reset();
  errno = error_;
}

void WrapperScope::enter(WrappedFunction& function) noexcept {
  if (const EventWord word = word_of(function)) recorder_->enter(user_token(word), word, now_);
}

bool WrapperScope::knows(const WrappedFunction& function) const noexcept {
  return known_word(function.state, measurement_number()) != 0;
}

void WrapperScope::enter(EventWord word) noexcept {
  recorder_->enter(user_token(word), word, now_);
}

void WrapperScope::put(ExtendedKind kind, std::initializer_list<std::uint64_t> words) noexcept {
  if (takes_events()) recorder_->extended(kind, {words.begin(), words.size()}, now_);
}

void WrapperScope::put_bytes(BytesOf what, std::uint64_t bytes) noexcept {
  if (takes_events()) recorder_->transferred(what, bytes, now_);
}

bool WrapperScope::takes_events() const noexcept {
  return recorder_ != nullptr && recording() && !recorder_->innermost_unrecorded();
}

void WrapperScope::put_for_enter(MemoryAttribute attribute, std::uint64_t value) noexcept {
  if (recorder_->has_depth()) put_for_leave(attribute, value);
}

void WrapperScope::put_for_leave(MemoryAttribute attribute, std::uint64_t value) noexcept {
  put(ExtendedKind::kAttribute, {static_cast<std::uint64_t>(attribute), value});
}

void WrapperScope::leave(WrappedFunction& function) noexcept {
  leave(known_word(function.state, measurement_number()));
}

void WrapperScope::leave(EventWord word) noexcept {
  if (recorder_ == nullptr || word == 0) return;
  const Token token = user_token(word);
  if (recording()) [[likely]] {
    if (!recorder_->leave_last(token, now_)) recorder_->leave_own(token);
  } else {
    recorder_->leave_unrecorded(token);
  }
}

void WrapperScope::end_late(LateEnd end) noexcept { recorder_->end_late(std::move(end)); }

void WrapperScope::settle() noexcept { recorder_->settle(); }

CallPath WrapperScope::call_path() const { return recorder_->call_path(); }

void WrapperScope::begin_below(const CallPath& path) noexcept { recorder_->begin_below(path); }

void WrapperScope::go_on() noexcept { go_on(os::now()); }

void WrapperScope::go_on(std::uint64_t then) noexcept { now_ = std::max(now_, then); }

bool WrapperScope::aggregates() const noexcept {
  return recorder_ != nullptr && recorder_->aggregates();
}

IoHandleId define_io_handle(const IoHandle& handle) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!active() || s.writer == nullptr) return {};
  if (s.profile) return IoHandleId{0};  // no event has a place there, nor the file that it is of
  const IoHandleId id{s.next_io_handle++};
  s.writer->define_io_handle(id, handle);
  return id;
}

}  // namespace timeloom::record
