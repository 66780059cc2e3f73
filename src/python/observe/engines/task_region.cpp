#include "python/observe/engines/task_region.hpp"

#include <map>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

void (*g_on_new_task)(const std::string& engine, const std::string& prefix) noexcept = nullptr;

namespace {

// Keys may differ from task to task in a way that an engine finds no prefix in.
constexpr std::size_t kMostPrefixes = 1000;
constexpr char kOtherTasks[] = "(other tasks)";

// No user region has this token: their numbers have 26 bits. Not the one of _core.hidden.
constexpr record::Token kHiding = record::Token{1} << 41 | 1 << 3 | 2;

Region engine_region(const std::string& engine, std::string name, RegionRole role) {
  Region region;
  region.canonical_name = name;
  region.name = std::move(name);
  region.group = engine;
  region.paradigm = Paradigm::kUser;
  region.role = role;
  return region;
}

}  // namespace

EventWord task_word(const std::string& engine, const std::string& prefix) {
  // Also for a prefix that the parent of this process has had.
  if (g_on_new_task != nullptr) g_on_new_task(engine, prefix);
  static auto* const kWords = new std::map<std::pair<std::string, std::string>, EventWord>;
  const auto known = kWords->find({engine, prefix});
  if (known != kWords->end()) return known->second;
  if (kWords->size() >= kMostPrefixes && prefix != kOtherTasks) {
    return task_word(engine, kOtherTasks);
  }
  const Region region = engine_region(engine, prefix, RegionRole::kTask);
  const RegionId id = record::region_id(region);
  note_region_around(id.value());
  return (*kWords)[{engine, prefix}] = record::enter_word(id);
}

EventWord transfer_word(const char* engine, const char* name) {
  return record::enter_word(
      record::region_id(engine_region(engine, name, RegionRole::kDataTransfer)));
}

EventWord scheduler_word(const char* engine, const char* name) {
  return record::enter_word(record::region_id(engine_region(engine, name, RegionRole::kCode)));
}

EventWord other_task_word() { return scheduler_word(kDaskGroup, kDaskOtherTask); }

void hide_functions_of_task() noexcept { record::t_recorder->enter_hiding(kHiding); }

void enter_in_call(InterpreterFrame* frame, bool recorded, EventWord word) {
  record::enter_region(recorded ? record::user_token(word) : token_of(code_of(frame)), word);
}

void put_task_key(const std::string& key) { put_task_text(kKeyParameter, key); }
void put_submitted(const std::string& key) { put_task_text(kSubmitsParameter, key); }
void put_task_need(const std::string& key) { put_task_text(kNeedsParameter, key); }

void put_task_queued(std::uint64_t nanoseconds) { put_task_number(kQueuedParameter, nanoseconds); }

void put_task_text(const char* parameter, const std::string& text) {
  if (record::t_recorder->aggregates() || record::t_recorder->beyond_depth()) return;
  const std::uint64_t words[] = {
      record::define_parameter(parameter, ParameterType::kString).value(),
      record::define_string(text).value()};
  record::t_recorder->extended(ExtendedKind::kParameterString, words);
}

void put_task_number(const char* parameter, std::uint64_t number) {
  if (record::t_recorder->aggregates() || record::t_recorder->beyond_depth()) return;
  const std::uint64_t words[] = {
      record::define_parameter(parameter, ParameterType::kUint64).value(), number};
  record::t_recorder->extended(ExtendedKind::kParameterUint, words);
}

}  // namespace timeloom::python
