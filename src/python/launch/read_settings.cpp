#include "python/launch/read_settings.hpp"

#include <unistd.h>

#include <string>

#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/plan/layout_choice.hpp"
#include "python/launch/python_values.hpp"
#include "python/session/session_plan.hpp"

namespace timeloom::python {
namespace {

void apply_pyproject(PyObject* pyproject, Settings& settings) {
  if (pyproject == Py_None) return;
  PyObject* path = nullptr;
  PyObject* table = nullptr;
  if (!PyArg_ParseTuple(pyproject, "UO!", &path, &PyDict_Type, &table)) throw PythonError();
  apply_values(table, settings, bytes_of(path) + " [tool.timeloom] ");
}

// A misspelt variable is reported, not refused: it may be meant for another program.
void apply_variables(Settings& settings) {
  for (const std::string& note : read_variables(settings, environ)) print_line(note);
}

}  // namespace

Settings read_settings(PyObject* pyproject, const std::function<void(Settings&)>& given,
                       Measured measured) {
  Settings settings;
  apply_pyproject(pyproject, settings);
  apply_variables(settings);
  given(settings);
  layout_of(settings).apply_variables(settings);
  // A directory that a layout describes as a whole is one of a whole program.
  if (measured != Measured::kProgram)
    settings.set(kSettings.layout, run::kTimeloomLayout.name, "layout");
  check(settings, measured);
  check_session(settings);
  return settings;
}

}  // namespace timeloom::python
