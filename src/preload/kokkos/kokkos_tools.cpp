// The library that Kokkos loads from KOKKOS_TOOLS_LIBS, libtimeloom-kokkos.so: the functions that
// Kokkos calls, on the threads of the program. Their names and types are Kokkos's.
//
// A guest: Kokkos need not wait for a device on its account, so the program runs as without it, and
// the region of a kernel on a device is its launch.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "os/thread.hpp"
#include "preload/common/wrapped_call.hpp"
#include "preload/kokkos/kokkos_interface.hpp"
#include "preload/kokkos/kokkos_memory.hpp"
#include "preload/kokkos/kokkos_regions.hpp"
#include "preload/kokkos/open_kernels.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

#define KOKKOS_TOOL extern "C" [[gnu::visibility("default")]] void

namespace timeloom::kokkos {
namespace {

using record::WrappedFunction;

// Regions that Kokkos ends without a name; nullptr: one that is not recorded.
using Open = std::vector<WrappedFunction*>;
thread_local Open t_regions;
thread_local Open t_copies;
thread_local OpenKernels t_kernels;

std::string_view text_of(const char* text) noexcept { return text == nullptr ? "" : text; }

std::string_view name_of_space(const SpaceHandle& space) noexcept {
  return {space.name, strnlen(space.name, sizeof space.name)};
}

// nullptr: it is not recorded.
WrappedFunction* enter_region(RegionKind kind, std::string_view name, const void* caller) noexcept {
  if (!record::recording()) return nullptr;
  WrappedFunction* const function = find_region(kind, name);
  const bool entered = function != nullptr && preload::begin_call(*function, caller) != 0;
  return entered ? function : nullptr;
}

void leave_region(WrappedFunction* function) noexcept {
  if (function != nullptr) preload::end_call(*function);
}

void begin_numbered(RegionKind kind, const char* name, std::uint64_t* number,
                    const void* caller) noexcept try {
  if (number == nullptr) return;
  *number = kNoKernel;
  t_kernels.reserve();
  WrappedFunction* const function = enter_region(kind, text_of(name), caller);
  if (function != nullptr) *number = t_kernels.begin(*function);
} catch (const std::exception&) {
  return;  // no memory
}

void end_numbered(std::uint64_t number) noexcept { leave_region(t_kernels.end(number)); }

void begin_nested(Open& open, RegionKind kind, std::string_view name, const void* caller) {
  open.push_back(nullptr);
  open.back() = enter_region(kind, name, caller);
}

void end_nested(Open& open) noexcept {
  if (open.empty()) return;
  leave_region(open.back());
  open.pop_back();
}

// Records a value of a counter in the innermost region.
void put_bytes(const std::string& counter, std::uint64_t bytes) {
  const std::uint32_t measurement = record::measurement_number();
  const MetricId id = record::define_metric(counter, "bytes", MetricValueType::kUint64);
  record::WrapperScope scope(record::kAgain, measurement);
  if (scope.wanted()) scope.put(ExtendedKind::kMetric, {id.value(), bytes});
}

void note_memory(RegionKind kind, const SpaceHandle& handle, std::uint64_t bytes,
                 const void* caller) noexcept try {
  const std::string_view space = name_of_space(handle);
  const bool grows = kind == RegionKind::kAllocate;
  const std::uint64_t present = change_bytes_in(space, bytes, grows);
  const std::string name = (grows ? "allocate in " : "deallocate in ") + std::string(space);
  WrappedFunction* const function = enter_region(kind, name, caller);
  if (function == nullptr) return;
  put_bytes("Kokkos " + std::string(space), present);
  leave_region(function);
} catch (const std::exception&) {
  return;  // no memory
}

void begin_copy(const SpaceHandle& target, const SpaceHandle& source, std::uint64_t bytes,
                const void* caller) noexcept try {
  const std::string name = "copy from " + std::string(name_of_space(source)) + " to " +
                           std::string(name_of_space(target));
  begin_nested(t_copies, RegionKind::kCopy, name, caller);
  if (t_copies.back() != nullptr) put_bytes("Kokkos bytes copied", bytes);
} catch (const std::exception&) {
  return;  // no memory
}

void begin_region(const char* name, const void* caller) noexcept try {
  begin_nested(t_regions, RegionKind::kRegion, text_of(name), caller);
} catch (const std::exception&) {
  return;  // no memory
}

// The sections that the program has created; their numbers are indexes.
class Sections {
 public:
  std::uint32_t create(std::string_view name) {
    WrappedFunction* const function = find_region(RegionKind::kRegion, name);
    const std::lock_guard lock(mutex_);
    functions_.push_back(function);
    return static_cast<std::uint32_t>(functions_.size() - 1);
  }
  // nullptr: there is none of this number.
  WrappedFunction* find(std::uint32_t number) noexcept {
    const std::lock_guard lock(mutex_);
    return number < functions_.size() ? functions_[number] : nullptr;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  std::mutex mutex_;
  std::vector<WrappedFunction*> functions_;
};

// Never destroyed: threads may outlive the static objects of the program.
Sections& sections() noexcept {
  alignas(Sections) static std::byte room[sizeof(Sections)];
  static auto* const kSections = new (room) Sections;
  return *kSections;
}

// A child of a fork has no other thread that could give the mutex back.
[[gnu::constructor]] void handle_forks_of_sections() {
  constexpr auto kUnlock = [] { sections().mutex().unlock(); };
  os::at_fork([] { sections().mutex().lock(); }, kUnlock, kUnlock);
}

}  // namespace
}  // namespace timeloom::kokkos

using namespace timeloom;
using namespace timeloom::kokkos;

KOKKOS_TOOL kokkosp_request_tool_settings(const std::uint32_t, ToolSettings* settings) {
  if (settings != nullptr) settings->requires_global_fencing = false;
}

// The measurement begins and ends with the process or with its Python, not with Kokkos.
KOKKOS_TOOL kokkosp_init_library(const int, const std::uint64_t, const std::uint32_t, DeviceInfo*) {
}
KOKKOS_TOOL kokkosp_finalize_library() {}

KOKKOS_TOOL kokkosp_parse_args(int, char**) {}
KOKKOS_TOOL kokkosp_print_help(char*) {
  std::fputs("timeloom: its library for Kokkos has no options; see timeloom run --help\n", stderr);
}

KOKKOS_TOOL kokkosp_begin_parallel_for(const char* name, const std::uint32_t, std::uint64_t* id) {
  begin_numbered(RegionKind::kParallelFor, name, id, CALLER);
}
KOKKOS_TOOL kokkosp_end_parallel_for(const std::uint64_t id) { end_numbered(id); }

KOKKOS_TOOL kokkosp_begin_parallel_reduce(const char* name, const std::uint32_t,
                                          std::uint64_t* id) {
  begin_numbered(RegionKind::kParallelReduce, name, id, CALLER);
}
KOKKOS_TOOL kokkosp_end_parallel_reduce(const std::uint64_t id) { end_numbered(id); }

KOKKOS_TOOL kokkosp_begin_parallel_scan(const char* name, const std::uint32_t, std::uint64_t* id) {
  begin_numbered(RegionKind::kParallelScan, name, id, CALLER);
}
KOKKOS_TOOL kokkosp_end_parallel_scan(const std::uint64_t id) { end_numbered(id); }

KOKKOS_TOOL kokkosp_begin_fence(const char* name, const std::uint32_t, std::uint64_t* id) {
  begin_numbered(RegionKind::kFence, name, id, CALLER);
}
KOKKOS_TOOL kokkosp_end_fence(const std::uint64_t id) { end_numbered(id); }

KOKKOS_TOOL kokkosp_push_profile_region(const char* name) { begin_region(name, CALLER); }
KOKKOS_TOOL kokkosp_pop_profile_region() { end_nested(t_regions); }

KOKKOS_TOOL kokkosp_begin_deep_copy(SpaceHandle target, const char*, const void*,
                                    SpaceHandle source, const char*, const void*,
                                    std::uint64_t bytes) {
  begin_copy(target, source, bytes, CALLER);
}
KOKKOS_TOOL kokkosp_end_deep_copy() { end_nested(t_copies); }

KOKKOS_TOOL kokkosp_allocate_data(const SpaceHandle space, const char*, const void*,
                                  const std::uint64_t bytes) {
  note_memory(RegionKind::kAllocate, space, bytes, CALLER);
}
KOKKOS_TOOL kokkosp_deallocate_data(const SpaceHandle space, const char*, const void*,
                                    const std::uint64_t bytes) {
  note_memory(RegionKind::kDeallocate, space, bytes, CALLER);
}

KOKKOS_TOOL kokkosp_create_profile_section(const char* name, std::uint32_t* id) try {
  if (id != nullptr) *id = sections().create(text_of(name));
} catch (const std::exception&) {
  *id = UINT32_MAX;  // no memory: there is no section of this number
}
KOKKOS_TOOL kokkosp_start_profile_section(const std::uint32_t id) {
  WrappedFunction* const section = sections().find(id);
  if (section != nullptr) (void)preload::begin_call(*section, CALLER);
}
KOKKOS_TOOL kokkosp_stop_profile_section(const std::uint32_t id) {
  leave_region(sections().find(id));
}
KOKKOS_TOOL kokkosp_destroy_profile_section(const std::uint32_t) {}

KOKKOS_TOOL kokkosp_profile_event(const char* name) try {
  if (record::recording()) record::marker(std::string(text_of(name)));
} catch (const std::exception&) {
  return;  // no memory
}
