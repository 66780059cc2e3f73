#include "python/observe/tasks/engine_tasks.hpp"

#include <map>
#include <string>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Keys may differ from task to task in a way that Dask finds no prefix in.
constexpr std::size_t kMostPrefixes = 1000;
constexpr char kOtherTasks[] = "(other tasks)";

Region engine_region(const char* engine, std::string name, RegionRole role) {
  Region region;
  region.canonical_name = name;
  region.name = std::move(name);
  region.group = engine;
  region.paradigm = Paradigm::kUser;
  region.role = role;
  return region;
}

// The region of all tasks of a prefix. REQUIRES: the caller has the GIL, or is in the section of
// enter_watched().
EventWord word_of_prefix(const char* engine, const std::string& prefix) {
  static auto* const kWords = new std::map<std::pair<std::string, std::string>, EventWord>;
  const auto known = kWords->find({engine, prefix});
  if (known != kWords->end()) return known->second;
  if (kWords->size() >= kMostPrefixes && prefix != kOtherTasks) {
    return word_of_prefix(engine, kOtherTasks);
  }
  const Region region = engine_region(engine, prefix, RegionRole::kTask);
  return (*kWords)[{engine, prefix}] = record::enter_word(record::region_id(region));
}

// Borrowed; null: the frame has no such argument.
PyObject* argument_named(InterpreterFrame* frame, const char* name) noexcept {
  const PyCodeObject* const code = code_of(frame);
  for (int i = 0; i < code->co_argcount + code->co_kwonlyargcount; ++i) {
    if (is_text(PyTuple_GET_ITEM(code->co_localsplusnames, i), name)) return argument_of(frame, i);
  }
  return nullptr;
}

std::string text_of_key(PyObject* key) {
  const Ref text(PyObject_Str(key));
  if (!text) PyErr_Clear();
  return text ? utf8_text(text.get()) : std::string();
}

// The engine's own rule. Empty: it has none, or it fails for this key.
std::string prefix_of_key(PyObject* key) {
  PyObject* const utilities = PyDict_GetItemString(PyImport_GetModuleDict(), "dask.utils");
  if (utilities == nullptr) return {};
  const Ref prefix(PyObject_CallMethod(utilities, "key_split", "(O)", key));
  if (!prefix) PyErr_Clear();
  return prefix && PyUnicode_Check(prefix.get()) ? utf8_text(prefix.get()) : std::string();
}

struct NamedTask {
  std::string prefix, key;
};

// _run_task(task, data, execution_state, key, ...)
NamedTask dask_task(InterpreterFrame* frame) {
  PyObject* const argument = argument_named(frame, "key");
  if (argument == nullptr) return {};
  const Ref key = Ref::borrow(argument);
  NamedTask task{prefix_of_key(key.get()), text_of_key(key.get())};
  if (task.prefix.empty()) task.prefix = task.key;
  return task;
}

// trace_task_ret(name, uuid, ...)
NamedTask celery_task(InterpreterFrame* frame) {
  PyObject* const name = argument_of(frame, 0);
  PyObject* const id = argument_named(frame, "uuid");
  if (name == nullptr || id == nullptr || !PyUnicode_Check(name)) return {};
  return {utf8_text(name), text_of_key(id)};
}

// Ends with the call. Where the function itself is recorded, that is the outer region of both, and
// its leave closes this one.
void enter_in_call(InterpreterFrame* frame, bool recorded, EventWord word) {
  record::enter_region(recorded ? record::user_token(word) : token_of(code_of(frame)), word);
}

// A profile has no place for it: there are as many keys as tasks.
void put_key(const std::string& key) {
  if (record::t_recorder->aggregates() || record::t_recorder->beyond_depth()) return;
  const std::uint64_t words[] = {
      record::define_parameter(kKeyParameter, ParameterType::kString).value(),
      record::define_string(key).value()};
  record::t_recorder->extended(ExtendedKind::kParameterString, words);
}

using NameTask = NamedTask (*)(InterpreterFrame*);

NamedTask named_task(NameTask name, InterpreterFrame* frame) {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  return name(frame);
}

void enter_task_of(const char* engine, NameTask name, InterpreterFrame* frame,
                   bool recorded) noexcept try {
  if (!record::recording()) return;
  const NamedTask task = named_task(name, frame);
  if (task.prefix.empty()) return;
  enter_in_call(frame, recorded, word_of_prefix(engine, task.prefix));
  put_key(task.key);
} catch (const std::exception&) {
  return;  // out of memory: the task is not named
}

void on_dask_task(InterpreterFrame* frame, bool recorded) noexcept {
  enter_task_of(kDaskGroup, dask_task, frame, recorded);
}
void on_celery_task(InterpreterFrame* frame, bool recorded) noexcept {
  enter_task_of(kCeleryGroup, celery_task, frame, recorded);
}

void on_spilling(InterpreterFrame* frame, bool recorded, const char* name) noexcept try {
  if (!record::recording()) return;
  const Region region = engine_region(kDaskGroup, name, RegionRole::kDataTransfer);
  enter_in_call(frame, recorded, record::enter_word(record::region_id(region)));
} catch (const std::exception&) {
  return;
}

void on_spill(InterpreterFrame* frame, bool recorded) noexcept {
  on_spilling(frame, recorded, kDaskSpill);
}
void on_unspill(InterpreterFrame* frame, bool recorded) noexcept {
  on_spilling(frame, recorded, kDaskUnspill);
}

}  // namespace

void watch_engines() {
  watch_function("distributed.worker._run_task", on_dask_task);
  watch_function("distributed.worker.apply_function", on_dask_task);  // versions before 2024.12
  watch_function("distributed.worker._run_actor", on_dask_task);
  watch_function("celery.app.trace.trace_task_ret", on_celery_task);
  watch_function("celery.app.trace.fast_trace_task", on_celery_task);
  watch_function("distributed.spill.Slow.__setitem__", on_spill);
  watch_function("distributed.spill.Slow.__getitem__", on_unspill);
}

}  // namespace timeloom::python
