// Settings between the registry (core) and Python. Needs the GIL. Functions
// that return an object return null with a Python exception set on failure.
#pragma once

#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/text.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// The settings as a dict, as described in run_program.hpp, and back.
PyObject* dict_of(const Settings& settings);
// `where` opens the messages: that of options makes them speak of --buffer-size. Throws
// Error for a name or value that is not accepted, and PythonError.
inline constexpr char kOptions[] = "--";
void apply_dict(PyObject* dict, Settings& settings, const std::string& where);

// The door through which the program came: what its lines on stderr begin with, and
// the exit status of wrong usage. Set before anything is said.
struct Door {
  std::string name = "timeloom";
  int refusal = 2;
};
void set_door(Door door) noexcept;
std::string door_name();   // "timeloom"
std::string line_start();  // "timeloom: "

// One line on stderr, "timeloom: ...".
void say(const std::string& line) noexcept;
// Says it and sets SystemExit; returns null.
PyObject* refuse_usage(const std::string& line) noexcept;

PyObject* parse_command_line_method(PyObject* module, PyObject* arguments);
PyObject* read_settings_method(PyObject* module, PyObject* arguments);
PyObject* nearest_name_method(PyObject* module, PyObject* arguments);
PyObject* scorep_summary_method(PyObject* module, PyObject* none);
PyObject* settings_page_method(PyObject* module, PyObject* none);

}  // namespace timeloom::python
