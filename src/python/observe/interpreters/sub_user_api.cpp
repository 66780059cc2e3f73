#include "python/observe/interpreters/sub_user_api.hpp"

#include <exception>
#include <map>
#include <string>
#include <utility>

#include "python/api/user_region.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/interpreters/sub_state.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "timeloom/timeloom.h"

namespace timeloom::python {
namespace {

struct SubRegion {
  timeloom_region* region;
  bool excluded;
};

// By name, which gets the lines of its first use; regions live as long as the process.
SubRegion sub_region_of(SubInterpreter& sub, const std::string& name) {
  const CriticalSection critical;
  if (sub.regions == nullptr) sub.regions = new SubRegions;
  timeloom_region*& known = sub.regions->by_name[name];
  if (known == nullptr) {
    const SourceLines lines = source_lines_of(nullptr);
    known = timeloom_region_define(name.c_str(), lines.file.c_str(), lines.first_line);
  }
  if (known == nullptr || !filters_user_regions()) return {known, false};
  Region region;
  region.name = region.canonical_name = name;
  region.file = known->file;
  return {known, excludes_user_region(region)};
}

// Calls `use` with a str argument; the result is None, or a TypeError.
template <typename Use>
PyObject* with_text(PyObject* argument, const char* function, Use use) noexcept try {
  if (!PyUnicode_Check(argument)) {
    return PyErr_Format(PyExc_TypeError, "%s() takes a str, not %.100s", function,
                        Py_TYPE(argument)->tp_name);
  }
  if (timeloom_is_active() != 0) use(utf8_text(argument));
  return Py_NewRef(Py_None);
} catch (const std::exception&) {
  return Py_NewRef(Py_None);  // no memory: it is not recorded
}

PyObject* sub_region_begin(PyObject* module, PyObject* argument) {
  return with_text(argument, "region_begin", [module](const std::string& name) {
    const SubRegion found = sub_region_of(sub_interpreter_of(module), name);
    if (!found.excluded) timeloom_enter(found.region);
  });
}

PyObject* sub_region_end(PyObject* module, PyObject* argument) {
  return with_text(argument, "region_end", [module](const std::string& name) {
    const SubRegion found = sub_region_of(sub_interpreter_of(module), name);
    if (!found.excluded) timeloom_leave(found.region);
  });
}

PyObject* sub_marker(PyObject*, PyObject* argument) {
  return with_text(argument, "marker",
                   [](const std::string& text) { timeloom_marker(text.c_str()); });
}

// An int that does not fit is recorded as its text, never as another number.
PyObject* sub_parameter_number(PyObject* arguments, bool is_signed) {
  PyObject *name = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(arguments, "UO", &name, &value)) return nullptr;
  const Ref number(PyNumber_Index(value));
  if (!number) return nullptr;
  return with_text(name, "parameter", [&](const std::string& text) {
    const long long whole = is_signed ? PyLong_AsLongLong(number.get()) : 0;
    const unsigned long long natural = is_signed ? 0 : PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred() == nullptr) {
      return is_signed ? timeloom_parameter_int(text.c_str(), whole)
                       : timeloom_parameter_uint(text.c_str(), natural);
    }
    PyErr_Clear();
    const Ref digits(PyObject_Str(number.get()));
    PyErr_Clear();
    if (digits) timeloom_parameter_string(text.c_str(), utf8_text(digits.get()).c_str());
  });
}

PyObject* sub_parameter_int(PyObject*, PyObject* arguments) {
  return sub_parameter_number(arguments, true);
}
PyObject* sub_parameter_uint(PyObject*, PyObject* arguments) {
  return sub_parameter_number(arguments, false);
}

PyObject* sub_parameter_float(PyObject*, PyObject* arguments) {
  PyObject* name = nullptr;
  double value = 0;
  if (!PyArg_ParseTuple(arguments, "Ud", &name, &value)) return nullptr;
  return with_text(name, "parameter_float", [value](const std::string& text) {
    timeloom_parameter_float(text.c_str(), value);
  });
}

PyObject* sub_parameter_string(PyObject*, PyObject* arguments) {
  PyObject *name = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(arguments, "UU", &name, &value)) return nullptr;
  return with_text(name, "parameter_string", [value](const std::string& text) {
    timeloom_parameter_string(text.c_str(), utf8_text(value).c_str());
  });
}

// counter(name, value, unit=""): a float makes a metric of doubles, an int one of integers.
PyObject* sub_counter(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* kNames[] = {"name", "value", "unit", nullptr};
  PyObject *name = nullptr, *value = nullptr, *unit = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "UO|U", const_cast<char**>(kNames), &name,
                                   &value, &unit)) {
    return nullptr;
  }
  int overflow = 1;
  const long long whole = PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
  const double number = overflow == 0 ? 0 : PyFloat_AsDouble(value);
  if (PyErr_Occurred() != nullptr) return nullptr;
  return with_text(name, "counter", [&](const std::string& text) {
    const std::string of = unit == nullptr ? std::string() : utf8_text(unit);
    overflow == 0 ? timeloom_counter_int(text.c_str(), whole, of.c_str())
                  : timeloom_counter_float(text.c_str(), number, of.c_str());
  });
}

PyMethodDef kSubUserMethods[] = {
    {"region_begin", sub_region_begin, METH_O, nullptr},
    {"region_end", sub_region_end, METH_O, nullptr},
    {"marker", sub_marker, METH_O, nullptr},
    {"parameter_int", sub_parameter_int, METH_VARARGS, nullptr},
    {"parameter_uint", sub_parameter_uint, METH_VARARGS, nullptr},
    {"parameter_float", sub_parameter_float, METH_VARARGS, nullptr},
    {"parameter_string", sub_parameter_string, METH_VARARGS, nullptr},
    {"counter", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sub_counter)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_sub_user_api(PyObject* module) { return PyModule_AddFunctions(module, kSubUserMethods); }

void forget_sub_regions(PyObject* module) noexcept {
  SubInterpreter& sub = sub_interpreter_of(module);
  delete std::exchange(sub.regions, nullptr);
}

}  // namespace timeloom::python
