// Names of functions in little room.
//
// A plain function. Throws only std::bad_alloc.
#pragma once

#include <string>

#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// A dotted name in at most `width` columns. It loses, as far as necessary, the word <locals>,
// then parts from the middle: the package and the end, a function with its class, tell most.
// "django.db.models.sql.compiler.SQLCompiler.as_sql" becomes "django...SQLCompiler.as_sql".
std::string short_name(const std::string& name, std::size_t width, const Terminal& terminal);

}  // namespace timeloom::tools
