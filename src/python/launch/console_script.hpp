// Commands that are scripts of Python, such as those that pip makes of a package (`black`).
//
// Plain functions for any thread; they throw only std::bad_alloc.
#pragma once

#include <string>

namespace timeloom::python {

// The file that the name of a program means: that file, or directory with a __main__.py, if there
// is one, else the first command of this name on PATH that is a script of Python. Otherwise the
// name itself, so that the error about it is python's.
std::string script_of(const std::string& name);

// The package whose command a script is, in a directory bin, as pip and others make them: it
// imports one function ("from sphinx.cmd.build import main": "sphinx"). Empty: it is none.
std::string package_of_script(const std::string& path);

}  // namespace timeloom::python
