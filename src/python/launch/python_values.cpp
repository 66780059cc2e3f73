#include "python/launch/python_values.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "python/interpreter/python_text.hpp"

namespace timeloom::python {
namespace {

// The value in the words of the registry. A number or a truth value is not a pattern.
std::string text_of_value(PyObject* value, const Setting& setting, const std::string& origin) {
  const bool is_word = setting.type != SettingType::kList;
  if (is_word && PyBool_Check(value)) return value == Py_True ? "on" : "off";
  if (is_word && PyLong_Check(value)) {
    Ref text(checked(PyObject_Str(value)));
    return bytes_of(text.get());
  }
  if (PyUnicode_Check(value)) return bytes_of(value);
  if (PyObject_HasAttrString(value, "__fspath__")) {
    const Ref path(checked(PyOS_FSPath(value)));
    return PyBytes_Check(path.get())
               ? std::string(PyBytes_AS_STRING(path.get()),
                             static_cast<std::size_t>(PyBytes_GET_SIZE(path.get())))
               : bytes_of(path.get());
  }
  throw Error(origin + ": a value of type " + Py_TYPE(value)->tp_name + " is not accepted" +
              (is_word ? "" : "; write a list of strings") + " [TL121]");
}

void apply_list(const Setting& setting, PyObject* list, Settings& settings,
                const std::string& origin) {
  Ref fast(checked(PySequence_Fast(list, "a list")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    settings.set(setting, text_of_value(PySequence_Fast_GET_ITEM(fast.get(), i), setting, origin),
                 origin);
  }
}

}  // namespace

void apply_values(PyObject* dict, Settings& settings, const std::string& where) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (!PyUnicode_Check(key)) throw Error(where + "the name of a setting must be a str [TL121]");
    std::string name = bytes_of(key);
    const std::string origin = where + name;
    std::ranges::replace(name, '_', '-');
    const Setting* setting = find_setting(name);
    if (setting == nullptr) {
      settings.set(name, "", origin);  // throws, with the nearest name
    } else if (setting->type == SettingType::kList &&
               (PyList_Check(value) || PyTuple_Check(value))) {
      apply_list(*setting, value, settings, origin);
    } else {
      settings.set(*setting, text_of_value(value, *setting, origin), origin);
    }
  }
}

}  // namespace timeloom::python
