// The C interface, include/timeloom/timeloom.h.
#include <bit>
#include <cerrno>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "os/thread.hpp"
#include "record/measurement.hpp"
#include "record/native/native_call.hpp"
#include "record/region_state.hpp"
#include "timeloom/timeloom.h"

namespace timeloom::record {
namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }

// The program finds errno as it was.
class SameErrno {
 public:
  SameErrno() noexcept = default;
  ~SameErrno() { errno = value_; }
  SameErrno(const SameErrno&) = delete;
  SameErrno& operator=(const SameErrno&) = delete;

 private:
  int value_ = errno;
};

Region definition_of(const timeloom_region& region) {
  Region result;
  result.name = text_of(region.name);
  result.canonical_name = result.name;
  result.file = text_of(region.file);
  result.first_line = result.last_line = region.line;
  result.paradigm = Paradigm::kUser;
  result.role = RegionRole::kCode;
  return result;
}

bool define(timeloom_region& region) noexcept try {
  define_in(region.state, definition_of(region));
  return true;
} catch (const std::exception&) {
  return false;  // no memory
}

// Calls `record` with the recorder of this thread and the region's enter word, if a
// measurement runs.
template <typename Record>
void with_region(timeloom_region* region, Record record) noexcept {
  if (region == nullptr || !active()) return;
  const SameErrno same_errno;
  do {
    const NativeCall call;
    if (call.recorder() == nullptr) return;
    if (const EventWord word = known_word(region->state, measurement_number())) [[likely]]
      return record(*call.recorder(), word);
  } while (define(*region));
}

// The same with the id that `define` makes, for events of the innermost region.
template <typename Define, typename Record>
void with_definition(Define define, Record record) noexcept try {
  if (!recording()) return;
  const SameErrno same_errno;
  while (true) {
    const std::uint32_t number = measurement_number();
    const auto id = define();
    const NativeCall call;
    if (call.recorder() == nullptr || !recording()) return;
    if (number == measurement_number()) return record(*call.recorder(), id);
  }
} catch (const std::exception&) {
  return;  // no memory: not recorded
}

void put_parameter(const char* name, ParameterType type, ExtendedKind kind,
                   std::uint64_t value) noexcept {
  with_definition([&] { return define_parameter(text_of(name), type); },
                  [&](ThreadRecorder& recorder, ParameterId id) {
                    const std::uint64_t words[] = {id.value(), value};
                    if (!recorder.beyond_depth()) recorder.extended(kind, words);
                  });
}

void put_counter(const char* name, MetricValueType type, const char* unit,
                 std::uint64_t value) noexcept {
  with_definition([&] { return define_metric(text_of(name), text_of(unit), type); },
                  [&](ThreadRecorder& recorder, MetricId id) {
                    const std::uint64_t words[] = {id.value(), value};
                    recorder.extended(ExtendedKind::kMetric, words);
                  });
}

// The regions that are known by name, for the life of the process.
struct NamedRegions {
  using Key = std::tuple<std::string, std::string, std::uint32_t>;
  std::mutex mutex;
  std::map<Key, timeloom_region> regions;  // their names lie in the keys
};

// Never destroyed: threads may outlive the static objects of the program.
NamedRegions& named_regions() {
  static auto* const kInstance = new NamedRegions;
  return *kInstance;
}

// A child of a fork has no other thread that could give the mutex back.
[[gnu::constructor(200)]] void handle_forks_of_native_code() {
  constexpr auto kUnlock = [] { named_regions().mutex.unlock(); };
  os::at_fork([] { named_regions().mutex.lock(); }, kUnlock, kUnlock);
}

timeloom_region* named_region(const char* name, const char* file, std::uint32_t line) noexcept try {
  NamedRegions& named = named_regions();
  const std::lock_guard lock(named.mutex);
  const auto [entry, is_new] = named.regions.try_emplace({text_of(name), text_of(file), line});
  const auto& [kept_name, kept_file, kept_line] = entry->first;
  if (is_new) entry->second = {kept_name.c_str(), kept_file.c_str(), kept_line, 0, 0};
  return &entry->second;
} catch (const std::exception&) {
  return nullptr;
}

}  // namespace
}  // namespace timeloom::record

using namespace timeloom;
using namespace timeloom::record;

timeloom_region* timeloom_region_define(const char* name, const char* file, uint32_t line) {
  const SameErrno same_errno;
  return named_region(name, file, line);
}

void timeloom_enter(timeloom_region* region) {
  with_region(region, [](ThreadRecorder& recorder, EventWord word) {
    if (recording()) [[likely]]
      return recorder.enter(user_token(word), word);
    recorder.enter_unrecorded(user_token(word));
  });
}

void timeloom_leave(timeloom_region* region) {
  bool matched = true;
  with_region(region, [&](ThreadRecorder& recorder, EventWord word) {
    if (recording()) [[likely]] {
      matched = recorder.leave_own(user_token(word));
    } else {
      recorder.leave_unrecorded(user_token(word));
    }
  });
  if (!matched) count_unmatched_leave();
}

void timeloom_region_begin(const char* name) {
  if (active()) timeloom_enter(timeloom_region_define(name, nullptr, 0));
}

void timeloom_region_end(const char* name) {
  if (active()) timeloom_leave(timeloom_region_define(name, nullptr, 0));
}

void timeloom_parameter_int(const char* name, int64_t value) {
  put_parameter(name, ParameterType::kInt64, ExtendedKind::kParameterInt,
                static_cast<std::uint64_t>(value));
}

void timeloom_parameter_uint(const char* name, uint64_t value) {
  put_parameter(name, ParameterType::kUint64, ExtendedKind::kParameterUint, value);
}

void timeloom_parameter_float(const char* name, double value) {
  put_parameter(name, ParameterType::kFloat, ExtendedKind::kParameterFloat,
                std::bit_cast<std::uint64_t>(value));
}

void timeloom_parameter_string(const char* name, const char* value) {
  struct Ids {
    ParameterId parameter;
    StringId text;
  };
  with_definition(
      [&] {
        return Ids{define_parameter(text_of(name), ParameterType::kString),
                   define_string(text_of(value))};
      },
      [](ThreadRecorder& recorder, Ids ids) {
        const std::uint64_t words[] = {ids.parameter.value(), ids.text.value()};
        if (!recorder.beyond_depth()) recorder.extended(ExtendedKind::kParameterString, words);
      });
}

void timeloom_counter_int(const char* name, int64_t value, const char* unit) {
  put_counter(name, MetricValueType::kInt64, unit, static_cast<std::uint64_t>(value));
}

void timeloom_counter_float(const char* name, double value, const char* unit) {
  put_counter(name, MetricValueType::kDouble, unit, std::bit_cast<std::uint64_t>(value));
}

void timeloom_marker(const char* text) try {
  if (!recording()) return;
  const SameErrno same_errno;
  marker(text_of(text));
} catch (const std::exception&) {
  return;  // no memory
}

void timeloom_disable_recording() {
  const SameErrno same_errno;
  switch_recording(false);
}

void timeloom_enable_recording() {
  const SameErrno same_errno;
  switch_recording(true);
}

int timeloom_is_active() { return active() ? 1 : 0; }
int timeloom_is_recording() { return recording() ? 1 : 0; }

const char* timeloom_version() { return TIMELOOM_VERSION; }
