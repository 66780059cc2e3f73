#include "python/api/user_api.hpp"

#include <bit>
#include <string>
#include <unordered_map>

#include "python/api/user_region.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

PyObject* none() { return Py_NewRef(Py_None); }

// The argument, if it is a str; otherwise nullptr with a TypeError.
PyObject* name_argument(PyObject* argument, const char* function) {
  if (PyUnicode_Check(argument)) return argument;
  PyErr_Format(PyExc_TypeError, "%s() takes a str, not %.100s", function,
               Py_TYPE(argument)->tp_name);
  return nullptr;
}

PyObject* region_begin(PyObject*, PyObject* argument) {
  PyObject* name = name_argument(argument, "region_begin");
  if (name == nullptr) return nullptr;
  if (record::active()) enter_user_region(user_region_word(name));
  return none();
}

PyObject* region_end(PyObject*, PyObject* argument) {
  PyObject* name = name_argument(argument, "region_end");
  if (name == nullptr) return nullptr;
  if (record::active()) leave_user_region(user_region_word(name));
  return none();
}

void put(ExtendedKind kind, std::uint64_t id, std::uint64_t value) noexcept {
  const std::uint64_t words[] = {id, value};
  record::t_recorder->extended(kind, words);
}

void put_parameter(PyObject* name, ParameterType type, ExtendedKind kind, std::uint64_t value) {
  put(kind, record::define_parameter(utf8_text(name), type).value(), value);
}

void put_text_parameter(PyObject* name, PyObject* text) {
  put_parameter(name, ParameterType::kString, ExtendedKind::kParameterString,
                record::define_string(utf8_text(text)).value());
}

// Runs code that may allocate; without memory the event is not recorded.
template <typename Function>
PyObject* recorded(Function function) noexcept {
  if (!record::recording()) return none();
  try {
    function();
  } catch (const std::exception&) {
    return none();
  }
  return none();
}

// The same for events that belong to the current region.
template <typename Function>
PyObject* attached(Function function) noexcept {
  return recorded([&] {
    if (!in_left_out_region()) function();
  });
}

// An int that does not fit is recorded as its text, never as another number.
PyObject* parameter_number(PyObject* arguments, bool is_signed) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "UO", &name, &value)) return nullptr;
  const Ref number(PyNumber_Index(value));
  if (!number) return nullptr;
  return attached([&] {
    const std::uint64_t bits =
        is_signed ? static_cast<std::uint64_t>(PyLong_AsLongLong(number.get()))
                  : static_cast<std::uint64_t>(PyLong_AsUnsignedLongLong(number.get()));
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      const Ref text(PyObject_Str(number.get()));
      if (text) put_text_parameter(name, text.get());
      PyErr_Clear();
      return;
    }
    put_parameter(name, is_signed ? ParameterType::kInt64 : ParameterType::kUint64,
                  is_signed ? ExtendedKind::kParameterInt : ExtendedKind::kParameterUint, bits);
  });
}

PyObject* parameter_int(PyObject*, PyObject* arguments) {
  return parameter_number(arguments, true);
}
PyObject* parameter_uint(PyObject*, PyObject* arguments) {
  return parameter_number(arguments, false);
}

PyObject* parameter_float(PyObject*, PyObject* arguments) {
  PyObject* name = nullptr;
  double value = 0;
  if (!PyArg_ParseTuple(arguments, "Ud", &name, &value)) return nullptr;
  return attached([&] {
    put_parameter(name, ParameterType::kFloat, ExtendedKind::kParameterFloat,
                  std::bit_cast<std::uint64_t>(value));
  });
}

PyObject* parameter_string(PyObject*, PyObject* arguments) {
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  if (!PyArg_ParseTuple(arguments, "UU", &name, &value)) return nullptr;
  return attached([&] { put_text_parameter(name, value); });
}

// counter(name, value, unit=""): a float makes a metric of doubles, an int one
// of 64-bit integers; the two do not mix.
PyObject* counter(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* kNames[] = {"name", "value", "unit", nullptr};
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  PyObject* unit = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "UO|U", const_cast<char**>(kNames), &name,
                                   &value, &unit)) {
    return nullptr;
  }
  MetricValueType type = MetricValueType::kDouble;
  std::uint64_t bits = 0;
  if (PyLong_Check(value)) {
    const long long number = PyLong_AsLongLong(value);
    if (number != -1 || PyErr_Occurred() == nullptr) {
      type = MetricValueType::kInt64;
      bits = static_cast<std::uint64_t>(number);
    }
    PyErr_Clear();
  }
  if (type == MetricValueType::kDouble) {
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != nullptr) return nullptr;
    bits = std::bit_cast<std::uint64_t>(number);
  }
  return recorded([&] {
    const std::string unit_text = unit == nullptr ? std::string() : utf8_text(unit);
    put(ExtendedKind::kMetric, record::define_metric(utf8_text(name), unit_text, type).value(),
        bits);
  });
}

PyObject* marker(PyObject*, PyObject* argument) {
  PyObject* text = name_argument(argument, "marker");
  if (text == nullptr) return nullptr;
  return recorded([&] { record::marker(utf8_text(text)); });
}

PyCFunction with_keywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

}  // namespace

PyMethodDef kUserApiMethods[] = {
    {"region_begin", region_begin, METH_O,
     "region_begin(name, /)\n--\n\nEnter the user region `name`."},
    {"region_end", region_end, METH_O,
     "region_end(name, /)\n--\n\nLeave the user region `name`, and the regions inside it that are "
     "still open."},
    {"parameter_int", parameter_int, METH_VARARGS,
     "parameter_int(name, value, /)\n--\n\nAttach a signed 64-bit integer to the current region."},
    {"parameter_uint", parameter_uint, METH_VARARGS,
     "parameter_uint(name, value, /)\n--\n\nAttach an unsigned 64-bit integer to the current "
     "region."},
    {"parameter_float", parameter_float, METH_VARARGS,
     "parameter_float(name, value, /)\n--\n\nAttach a float to the current region."},
    {"parameter_string", parameter_string, METH_VARARGS,
     "parameter_string(name, value, /)\n--\n\nAttach a text to the current region."},
    {"counter", with_keywords(counter), METH_VARARGS | METH_KEYWORDS,
     "counter(name, value, unit='')\n--\n\nRecord a value of the counter `name`, now."},
    {"marker", marker, METH_O,
     "marker(text, /)\n--\n\nPut a mark with a text on the timeline, now."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
