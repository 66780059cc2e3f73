#include "python/launch/settings_binding.hpp"

#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "settings/command_line.hpp"
#include "settings/scorep_settings.hpp"
#include "settings/settings_text.hpp"

#ifndef TIMELOOM_VERSION
#define TIMELOOM_VERSION "0.1.0"
#endif

namespace timeloom::python {
namespace {

std::string key_of(const Setting& setting) {
  std::string key(setting.name);
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

PyObject* list_of(const std::vector<std::string>& words) {
  Ref list(checked(PyList_New(0)));
  for (const std::string& word : words) {
    Ref text(checked(object_of(word)));
    if (PyList_Append(list.get(), text.get()) < 0) throw PythonError();
  }
  return list.release();
}

PyObject* value_of(const Settings& settings, const Setting& setting) {
  switch (setting.type) {
    case SettingType::kBool: return PyBool_FromLong(settings.flag(setting.name));
    case SettingType::kInteger:
    case SettingType::kSize:
      if (settings.text(setting.name).empty()) return checked(object_of(""));  // no limit
      return checked(PyLong_FromUnsignedLongLong(settings.number(setting.name)));
    case SettingType::kString:
    case SettingType::kChoice: return checked(object_of(settings.text(setting.name)));
    case SettingType::kList: return list_of(settings.list(setting.name));
  }
  throw std::logic_error("a setting without a type");
}

PyObject* rules_of(const Settings& settings) {
  Ref list(checked(PyList_New(0)));
  for (const FilterRule& rule : settings.rules()) {
    Ref pattern(checked(object_of(rule.pattern)));
    Ref pair(checked(Py_BuildValue("(OO)", rule.include ? Py_True : Py_False, pattern.get())));
    if (PyList_Append(list.get(), pair.get()) < 0) throw PythonError();
  }
  return list.release();
}

PyObject* make_dict(const Settings& settings) {
  Ref dict(checked(PyDict_New()));
  for (const Setting& setting : all_settings()) {
    Ref value(value_of(settings, setting));
    if (PyDict_SetItemString(dict.get(), key_of(setting).c_str(), value.get()) < 0)
      throw PythonError();
  }
  Ref rules(rules_of(settings));
  if (PyDict_SetItemString(dict.get(), "filter", rules.get()) < 0) throw PythonError();
  return dict.release();
}

// A value from TOML or from a caller in the words of the registry.
std::string text_of_value(PyObject* value, const std::string& origin) {
  if (PyBool_Check(value)) return value == Py_True ? "on" : "off";
  if (PyLong_Check(value)) {
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
  throw Error(origin + ": a value of type " + Py_TYPE(value)->tp_name + " is not accepted");
}

void apply_list(const Setting& setting, PyObject* list, Settings& settings,
                const std::string& origin) {
  Ref fast(checked(PySequence_Fast(list, "a list")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    settings.set(setting, text_of_value(PySequence_Fast_GET_ITEM(fast.get(), i), origin), origin);
  }
}

void apply_rules(PyObject* rules, Settings& settings, const std::string& origin) {
  Ref fast(checked(PySequence_Fast(rules, "filter must be a list")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    int include = 0;
    PyObject* pattern = nullptr;
    PyObject* rule = PySequence_Fast_GET_ITEM(fast.get(), i);
    if (!PyTuple_Check(rule) || !PyArg_ParseTuple(rule, "pU", &include, &pattern)) {
      PyErr_Clear();
      throw Error(origin + ": a rule is a pair (include, pattern)");
    }
    settings.set(include != 0 ? "include" : "exclude", bytes_of(pattern), origin);
  }
}

// pyproject: None or (path, table).
void apply_pyproject(PyObject* pyproject, Settings& settings) {
  if (pyproject == nullptr || pyproject == Py_None) return;
  PyObject* path = nullptr;
  PyObject* table = nullptr;
  if (!PyArg_ParseTuple(pyproject, "UO!", &path, &PyDict_Type, &table)) throw PythonError();
  apply_dict(table, settings, bytes_of(path) + " [tool.timeloom] ");
}

// A misspelt variable is said, not refused: it may be meant for another program.
void apply_variables(Settings& settings) {
  for (const std::string& remark : read_variables(settings, environ)) say(remark);
}

// A reader that leaves early has seen enough.
bool write_stdout(const std::string& text) {
  std::fflush(stdout);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written || errno == EPIPE;
}

PyObject* print_and_exit(const std::string& text) {
  const bool written = write_stdout(text);
  if (!written) say(std::string("cannot write to standard output: ") + std::strerror(errno));
  PyErr_SetObject(PyExc_SystemExit, Ref(PyLong_FromLong(written ? 0 : 1)).get());
  return nullptr;
}

const char* kind_name(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kFile: return "file";
    case ProgramKind::kModule: return "module";
    case ProgramKind::kCommand: return "command";
    case ProgramKind::kStdin: return "stdin";
    case ProgramKind::kNative:  // refused by the parser
    case ProgramKind::kNone: break;
  }
  throw Error("no program given; write: timeloom run script.py, or see timeloom run --help");
}

PyObject* parse(PyObject* words, PyObject* pyproject) {
  const std::vector<std::string> arguments = words_of(words);
  const CommandLine line = parse_command_line(arguments, InterpreterFlags::kRefuse);
  if (line.help) return print_and_exit(run_help());
  if (line.version) return print_and_exit("timeloom " TIMELOOM_VERSION "\n");
  Settings settings;
  apply_pyproject(pyproject, settings);
  apply_variables(settings);
  apply(line, settings);
  Ref dict(make_dict(settings));
  Ref target(checked(object_of(line.target)));
  Ref rest(list_of(line.arguments));
  return Py_BuildValue("(O(sOO))", dict.get(), kind_name(line.kind), target.get(), rest.get());
}

}  // namespace

PyObject* dict_of(const Settings& settings) {
  try {
    return make_dict(settings);
  } catch (const PythonError&) {
    return nullptr;
  }
}

void apply_dict(PyObject* dict, Settings& settings, const std::string& where) {
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  // A dict made by dict_of() has its rules in `filter`, and once more by kind.
  const bool has_rules = PyDict_GetItemString(dict, "filter") != nullptr;
  while (PyDict_Next(dict, &position, &key, &value)) {
    if (!PyUnicode_Check(key)) throw Error(where + "the name of a setting must be a str");
    std::string name = bytes_of(key);
    const std::string as_written = where + name;
    if (name == "filter") {
      apply_rules(value, settings, as_written);
      continue;
    }
    std::ranges::replace(name, '_', '-');
    const std::string origin = where == kOptions ? where + name : as_written;
    const bool unset = PyUnicode_Check(value) && PyUnicode_GET_LENGTH(value) == 0;
    if (has_rules && (unset || name == "include" || name == "exclude")) continue;
    const Setting* setting = find_setting(name);
    const bool list = setting && setting->type == SettingType::kList && !PyUnicode_Check(value);
    if (list && (PyList_Check(value) || PyTuple_Check(value))) {
      apply_list(*setting, value, settings, origin);
    } else if (setting == nullptr) {
      settings.set(name, "", origin);  // throws, with the nearest name
    } else {
      settings.set(*setting, text_of_value(value, origin), origin);
    }
  }
}

namespace {
Door g_door;
}

void set_door(Door door) noexcept { g_door = std::move(door); }

std::string door_name() { return g_door.name; }

std::string line_start() { return g_door.name + ": "; }

void say(const std::string& line) noexcept {
  PySys_FormatStderr("%s: %s\n", g_door.name.c_str(), line.c_str());
}

PyObject* refuse_usage(const std::string& line) noexcept {
  say(line);
  PyErr_SetObject(PyExc_SystemExit, Ref(PyLong_FromLong(g_door.refusal)).get());
  return nullptr;
}

PyObject* parse_command_line_method(PyObject*, PyObject* arguments) {
  PyObject* words = nullptr;
  PyObject* pyproject = nullptr;
  if (!PyArg_ParseTuple(arguments, "O|O", &words, &pyproject)) return nullptr;
  try {
    return parse(words, pyproject);
  } catch (const PythonError&) {
    return nullptr;
  } catch (const std::exception& error) {
    return refuse_usage(error.what());
  }
}

PyObject* read_settings_method(PyObject*, PyObject* arguments) {
  PyObject* values = nullptr;
  PyObject* pyproject = nullptr;
  if (!PyArg_ParseTuple(arguments, "O!|O", &PyDict_Type, &values, &pyproject)) return nullptr;
  Settings settings;
  apply_pyproject(pyproject, settings);
  apply_variables(settings);
  apply_dict(values, settings, "");
  return make_dict(settings);
}

PyObject* nearest_name_method(PyObject*, PyObject* arguments) {
  PyObject *name = nullptr, *candidates = nullptr;
  if (!PyArg_ParseTuple(arguments, "UO", &name, &candidates)) return nullptr;
  const std::vector<std::string> words = words_of(candidates);
  const std::vector<std::string_view> views(words.begin(), words.end());
  return object_of(std::string(nearest_name(bytes_of(name), views)));
}

PyObject* scorep_summary_method(PyObject*, PyObject*) { return object_of(scorep_summary_text()); }

PyObject* settings_page_method(PyObject*, PyObject*) { return object_of(settings_page()); }

}  // namespace timeloom::python
