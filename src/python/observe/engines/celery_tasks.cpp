#include "python/observe/engines/celery_tasks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "core/engines/engine_regions.hpp"
#include "os/process.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/engine_arguments.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/region_style.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Headers of a message: BOOT-RETRIES-NANOSECONDS, on CLOCK_MONOTONIC since the boot of this id. A
// task that is tried again may carry the stamp of an earlier try, which does not count.
constexpr char kSent[] = "timeloom_sent";
constexpr char kCame[] = "timeloom_came";

// The id of the boot, with a hyphen behind it.
const std::string& start_of_stamps() {
  static auto* const kStart = [] {
    const auto [high, low] = os::this_process().boot;
    return new std::string(std::to_string(high) + "." + std::to_string(low) + "-");
  }();
  return *kStart;
}

// "2-": how often the task of these headers was tried before.
std::string try_of(PyObject* headers) {
  PyObject* const retries = PyDict_GetItemString(headers, "retries");
  const Ref text(retries != nullptr ? PyObject_Str(retries) : nullptr);
  PyErr_Clear();
  return (text ? utf8_text(text.get()) : std::string()) + "-";
}

// A stamp of this moment in a dict of headers; anything else stays as it is.
void put_stamp(PyObject* headers, const char* name) {
  if (headers == nullptr || !PyDict_CheckExact(headers)) return;
  if (PyDict_GetItemString(headers, "id") == nullptr) return;  // protocol 1
  const std::string text =
      start_of_stamps() + try_of(headers) + std::to_string(record::monotonic_ns());
  const Ref stamp(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  if (!stamp || PyDict_SetItemString(headers, name, stamp.get()) < 0) PyErr_Clear();
}

// The time of a stamp that begins like this, before now.
std::optional<std::uint64_t> time_of_stamp(const std::string& text, const std::string& start,
                                           std::uint64_t now) {
  if (!text.starts_with(start)) return std::nullopt;
  std::uint64_t time = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data() + start.size(), end, time);
  if (error != std::errc() || read != end || time > now) return std::nullopt;
  return time;
}

// Takes the stamp out of the dict, so that the program does not see it.
std::optional<std::uint64_t> take_stamp(PyObject* request, const char* name, std::uint64_t now) {
  if (request == nullptr || !PyDict_CheckExact(request)) return std::nullopt;
  PyObject* const found = PyDict_GetItemString(request, name);
  if (found == nullptr) return std::nullopt;
  const std::string text = PyUnicode_CheckExact(found) ? utf8_text(found) : std::string();
  if (PyDict_DelItemString(request, name) < 0) PyErr_Clear();
  return time_of_stamp(text, start_of_stamps() + try_of(request), now);
}

// Null: it has none.
Ref headers_of(PyObject* message) {
  const Ref kept = Ref::borrow(message);
  Ref headers(PyObject_GetAttrString(message, "headers"));
  if (!headers) PyErr_Clear();
  return headers;
}

// Other tools, whose runs have no such regions, leave messages as they are.
bool stamps() { return record::recording() && &region_style() == &kTimeloomNames; }

// send_task_message(producer, name, message, ...)
void on_celery_send(InterpreterFrame* frame, bool) noexcept try {
  PyObject* const message = argument_named(frame, "message");
  if (message == nullptr || !stamps()) return;
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  put_stamp(headers_of(message).get(), kSent);
} catch (const std::exception&) {
  return;  // its time in the queue is not known
}

// Request(message, ..., headers=None, ...)
void on_celery_arrival(InterpreterFrame* frame, bool) noexcept try {
  PyObject* const message = argument_named(frame, "message");
  if (message == nullptr || !stamps()) return;
  PyObject* const given = argument_named(frame, "headers");
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const bool has_own = given != nullptr && given != Py_None;
  const Ref headers = has_own ? Ref::borrow(given) : headers_of(message);
  put_stamp(headers.get(), kCame);
} catch (const std::exception&) {
  return;
}

// Message.serializable(self): a message of a virtual transport that goes back to its queue.
void on_celery_return(InterpreterFrame* frame, bool) noexcept {
  PyObject* const message = argument_of(frame, 0);
  if (message == nullptr) return;
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref headers = headers_of(message);
  if (!headers || !PyDict_CheckExact(headers.get())) return;
  if (PyDict_GetItemString(headers.get(), kCame) == nullptr) return;
  if (PyDict_DelItemString(headers.get(), kCame) < 0) PyErr_Clear();
}

struct CeleryTask {
  std::string name, id;
  std::optional<std::uint64_t> sent, came;
};

// trace_task_ret(name, uuid, request, ...)
CeleryTask celery_task(InterpreterFrame* frame, std::uint64_t now) {
  PyObject* const name = argument_of(frame, 0);
  PyObject* const id = argument_named(frame, "uuid");
  if (name == nullptr || id == nullptr || !PyUnicode_Check(name)) return {};
  PyObject* const request = argument_named(frame, "request");
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  CeleryTask task{utf8_text(name), text_of_key(id), {}, {}};
  task.sent = take_stamp(request, kSent, now);
  task.came = take_stamp(request, kCame, now);
  return task;
}

void put_times(const CeleryTask& task, std::uint64_t now) {
  if (!task.sent && !task.came) return;
  put_task_queued(now - std::min(task.sent.value_or(now), task.came.value_or(now)));
  if (task.sent && task.came) put_task_number(kAtWorkerParameter, now - *task.came);
}

void on_celery_task(InterpreterFrame* frame, bool recorded) noexcept try {
  const std::uint64_t now = record::monotonic_ns();
  const CeleryTask task = celery_task(frame, now);
  if (task.name.empty() || !record::recording()) return;
  enter_in_call(frame, recorded, task_word(kCeleryGroup, task.name));
  put_times(task, now);
  put_task_key(task.id);
} catch (const std::exception&) {
  return;  // out of memory: the task is not named
}

}  // namespace

void watch_celery() {
  watch_function("celery.app.amqp.AMQP._create_task_sender.<locals>.send_task_message",
                 on_celery_send);
  watch_function("celery.worker.request.Request.__init__", on_celery_arrival);
  watch_function("kombu.transport.virtual.base.Message.serializable", on_celery_return);
  watch_function("celery.app.trace.trace_task_ret", on_celery_task);
  watch_function("celery.app.trace.fast_trace_task", on_celery_task);
}

}  // namespace timeloom::python
