#include "python/launch/read_options.hpp"

#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "settings/command_line.hpp"
#include "settings/setting_words.hpp"

namespace timeloom::python {
namespace {

Option option_in_row(PyObject* row) {
  const char *names = nullptr, *accepted = nullptr, *wanted = nullptr;
  Py_ssize_t least = 0, most = 0;
  int joined = 0;
  if (!PyArg_ParseTuple(row, "snnssp", &names, &least, &most, &accepted, &wanted, &joined))
    throw PythonError();
  return {.names = split(names, " "),
          .wanted = wanted,
          .least = static_cast<std::size_t>(least),
          .most = static_cast<std::size_t>(most),
          .accepted = split(accepted, " "),
          .joined = joined != 0};
}

OptionTable table_in_rows(PyObject* rows) {
  const Ref fast(checked(PySequence_Fast(rows, "a table of options")));
  OptionTable table;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    table.push_back(option_in_row(PySequence_Fast_GET_ITEM(fast.get(), i)));
  }
  return table;
}

PyObject* list_of_options(const std::vector<OptionWords>& options) {
  Ref list(checked(PyList_New(0)));
  for (const OptionWords& one : options) {
    const Ref entry(
        checked(Py_BuildValue("(NNN)", checked(object_of(one.option->name())),
                              checked(object_of(one.name)), checked(list_of(one.values)))));
    if (PyList_Append(list.get(), entry.get()) != 0) throw PythonError();
  }
  return list.release();
}

const char* kind_word(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kModule: return "module";
    case ProgramKind::kCommand: return "command";
    case ProgramKind::kStdin: return "stdin";
    default: return "file";
  }
}

PyObject* program_tuple(const CommandLine& line) {
  if (line.kind == ProgramKind::kNone) Py_RETURN_NONE;
  return checked(Py_BuildValue("(sNN)", kind_word(line.kind), checked(object_of(line.target)),
                               checked(list_of(line.arguments))));
}

}  // namespace

PyObject* read_options(PyObject*, PyObject* arguments) {
  PyObject *rows = nullptr, *words = nullptr;
  const char* help = nullptr;
  int shortened = 0, of_python = 0;
  if (!PyArg_ParseTuple(arguments, "OOspp", &rows, &words, &help, &shortened, &of_python))
    return nullptr;
  const OptionTable table = table_in_rows(rows);
  OptionGrammar grammar{{&table, &module_options()}, help, shortened != 0};
  if (of_python != 0) grammar.tables.push_back(&interpreter_options());
  const CommandLine line = parse_command_line(words_of(words), grammar);
  return Py_BuildValue("(NNNN)", list_of_options(line.own),
                       checked(list_of(line.interpreter_flags)), program_tuple(line),
                       PyBool_FromLong(line.marked));
}

}  // namespace timeloom::python
