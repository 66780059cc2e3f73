#include "python/observe/regions/log_records.hpp"

#include <array>
#include <atomic>
#include <new>
#include <string>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/auxiliary_file.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// A mark is a definition, which a reader has in memory.
constexpr std::uint32_t kMostMarks = 20'000;
constexpr Py_ssize_t kLongestMessage = 500;  // characters

constexpr long kNoLevel = -1;
struct Level {
  std::string_view name;
  long number;  // in the module logging
};
constexpr std::array<Level, 6> kLevels = {{{"off", kNoLevel},
                                           {"debug", 10},
                                           {"info", 20},
                                           {"warning", 30},
                                           {"error", 40},
                                           {"critical", 50}}};

constinit std::atomic<long> g_level = kNoLevel;
constinit std::atomic<std::uint64_t> g_marks = 0;

// "%" calls nothing of the program for these; a __str__ of its own runs only where it asks itself.
bool is_plain(PyObject* value) noexcept {
  return value == Py_None || PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyBool_Check(value);
}

bool are_plain(PyObject* arguments) noexcept {
  if (PyDict_CheckExact(arguments)) {
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(arguments, &at, &key, &value) != 0;) {
      if (!PyUnicode_CheckExact(key) || !is_plain(value)) return false;
    }
    return PyDict_GET_SIZE(arguments) > 0;
  }
  if (!PyTuple_CheckExact(arguments)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i) {
    if (!is_plain(PyTuple_GET_ITEM(arguments, i))) return false;
  }
  return PyTuple_GET_SIZE(arguments) > 0;
}

// The message, with its arguments if they are plain values; a message that is not a text: its type.
std::string message_of(PyObject* record) {
  const Ref message(PyObject_GetAttrString(record, "msg"));
  const Ref arguments(PyObject_GetAttrString(record, "args"));
  PyErr_Clear();
  if (!message) return {};
  if (!PyUnicode_CheckExact(message.get())) return Py_TYPE(message.get())->tp_name;
  const Ref whole(arguments && are_plain(arguments.get())
                      ? PyUnicode_Format(message.get(), arguments.get())
                      : nullptr);
  PyErr_Clear();
  const Ref start(PyUnicode_Substring((whole ? whole : message).get(), 0, kLongestMessage));
  PyErr_Clear();
  return start ? utf8_text(start.get()) : std::string();
}

std::string attribute_text(PyObject* record, const char* name) {
  const Ref value(PyObject_GetAttrString(record, name));
  PyErr_Clear();
  return value && PyUnicode_Check(value.get()) ? utf8_text(value.get()) : std::string("?");
}

long level_of(PyObject* record) noexcept {
  const Ref level(PyObject_GetAttrString(record, "levelno"));
  const long number = level ? PyLong_AsLong(level.get()) : kNoLevel;
  PyErr_Clear();
  return number;
}

// Whether there is room for one more; prints a line the first time that there is none.
bool take_mark() noexcept {
  const std::uint64_t before = g_marks.fetch_add(1, std::memory_order_relaxed);
  if (before >= kMostMarks) record::count_lost(1);
  if (before == kMostMarks) {
    print_line(
        "--logging: the process has 20,000 marks, and gets no more: choose a higher level [TL735]");
  }
  return before < kMostMarks;
}

// Empty: the record is of a lower level, or there is no room for it.
std::string mark_of(PyObject* record, long level) {
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  if (record == nullptr || level_of(record) < level || !take_mark()) return {};
  return attribute_text(record, "levelname") + " " + attribute_text(record, "name") + ": " +
         message_of(record);
}

// callHandlers(self, record)
void on_log_record(InterpreterFrame* frame, bool) noexcept try {
  const long level = g_level.load(std::memory_order_relaxed);
  if (level == kNoLevel || !record::recording()) return;
  const Ref record = Ref::borrow(argument_of(frame, 1));
  const std::string text = mark_of(record.get(), level);
  if (!text.empty()) record::marker(text);
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace

void watch_log_records(std::string_view name) {
  for (const Level& level : kLevels) {
    if (level.name == name) g_level = level.number;
  }
  g_marks = 0;
  if (g_level != kNoLevel) watch_function("logging.Logger.callHandlers", on_log_record);
}

}  // namespace timeloom::python
