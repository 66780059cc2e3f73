// Reads command lines of doors, by tables of options that Python passes in. Needs the GIL.
//
//   read_options(table, words, help, shortened, of_python) -> (options, flags, program, marked)
//       `table`: an option a row, (names, least, most, accepted, wanted, joined) as in Option,
//       names and accepted values with blanks between them; -m and -c are known besides, and
//       `of_python` the flags of the interpreter. `help`: the command that explains them.
//       `options`: (name, as it was written, values), the last name each; `program`: (kind, target,
//       arguments), or None. Raises Error for wrong usage.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

PyObject* read_options(PyObject*, PyObject* arguments);

}  // namespace timeloom::python
